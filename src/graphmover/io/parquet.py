"""Parquet files: the columns of `GraphBatch.to_arrow`, and ``target``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.arrow import (
    COLUMNS,
    ID,
    NEIGHBOURS,
    is_id_type,
    is_json,
    no_neighbours,
    pyarrow,
)
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.io.chunks import (
    TARGET,
    missing_targets,
    naming,
    one_by_one,
    require_one_column,
    text_array,
)
from graphmover.io.limits import PER_OBJECT, Limit, graph_bytes
from graphmover.io.parquet_footer import row_groups
from graphmover.io.parquet_sizes import leaves_of, row_group_bytes
from graphmover.io.reading import Readable, Reading, id_column_of

_TARGET_NAMES = b"graphmover.target_names"
#: Python objects for each byte of a text: four for a character beyond ASCII in a long text, and
#: lists in lists, from JSON, for three characters each.
_PER_TEXT_BYTE, _PER_JSON_BYTE = 4, 40
#: What pyarrow raises on damaged files beside its own exceptions.
_BROKEN = (UnicodeDecodeError, KeyError, IndexError, OverflowError, RuntimeError, MemoryError)


class Wanted(NamedTuple):
    """The columns of a file that are read."""

    columns: list[str]
    target: str | None
    id: str | None


def read_parquet(path: Path, how: Reading) -> Iterator[Dataset]:
    """Yield the graphs of a file, with a batch and the pages of a row group in memory."""
    first = 0
    with naming_broken(path):
        metadata = metadata_of(path)
        schema = metadata.schema.to_arrow_schema()
        wanted = wanted_columns(schema, path, how)
        names = _target_names(schema)
        for rows in record_batches(path, metadata, wanted.columns, how):
            data = graphs_of_rows(rows, wanted, path, first, how)
            if data is not None:
                yield Dataset(data.name, data.graphs, data.target, names)
            first += len(rows)


def metadata_of(path: Readable) -> Any:
    """Return what pyarrow makes of the footer of a file."""
    pyarrow()
    import pyarrow.parquet as pq

    if isinstance(path, Path):
        return pq.read_metadata(path)
    with path.open("rb") as file:
        return pq.read_metadata(file)


def wanted_columns(schema: Any, path: Readable, how: Reading) -> Wanted:
    """Return the columns to read: those of graphs, and those with the target and the id."""
    target = how.target_column or (TARGET if TARGET in schema.names else None)
    if NEIGHBOURS not in schema.names:
        raise ValueError(f"{os.fspath(path)}: {no_neighbours(schema.names)}")
    with naming(path):
        id = _id_column(schema, how, target)
    wanted = [*(name for name in COLUMNS if name in schema.names), target, id]
    columns = list(dict.fromkeys(name for name in wanted if name is not None))
    for name in columns:
        require_one_column(schema.names, name, path)
    return Wanted(columns, target, id)


def graphs_of_rows(
    rows: Any, wanted: Wanted, path: os.PathLike[str], first: int, how: Reading
) -> Dataset | None:
    """Return the graphs of a ``pyarrow.RecordBatch``, or None if none is left.

    ``first`` is the index of the first of them in the file.
    """
    pa = pyarrow()
    with naming(path, first):
        table = pa.Table.from_batches([rows], rows.schema)
        how.limit.require(*_table_bytes(table))
        data = _data_of(table, wanted.target, wanted.id, first, how)
    return None if data is None else Dataset(Path(path).stem, *data)


def _id_column(schema: Any, how: Reading, target: str | None) -> str | None:
    """Return the column with the ids, which holds strings or integers."""
    if how.id_column in schema.names:
        kind = schema.field(how.id_column).type
        if not is_id_type(kind):
            raise TypeError(
                f"the column {how.id_column!r} holds {kind}, expected strings or integers as ids"
            )
    usable = [field.name for field in schema if is_id_type(field.type)]
    return id_column_of(usable, how, (target, *COLUMNS))


def _data_of(
    table: Any, target: str | None, id: str | None, first: int, how: Reading
) -> tuple[GraphBatch, NDArray[Any] | None] | None:
    """Return the graphs of a table with their targets, or None if none is left."""
    allow_missing = not how.bad.are_raised
    values = None if target is None else _target(table.column(target), allow_missing=allow_missing)
    ids = None if id is None else table.column(id)
    table = table.select([name for name in table.column_names if name in COLUMNS])
    if ids is not None:
        table = table.append_column(ID, ids)
    graphs_of = partial(GraphBatch.from_arrow, keep_direction=how.keep_direction)
    try:
        return graphs_of(table), values
    except (TypeError, ValueError):
        if how.bad.are_raised:
            raise
    names = [None] * len(table) if ids is None else ids.to_pylist()
    how.bad.counted = "graph"
    places = [(first + index, name) for index, name in enumerate(names)]
    graphs, kept = one_by_one(lambda index: graphs_of(table.slice(index, 1)), places, how.bad)
    return (graphs, None if values is None else values[kept]) if kept else None


def record_batches(
    path: Readable,
    metadata: Any,
    columns: list[str],
    how: Reading,
    groups: range | None = None,
) -> Iterator[Any]:
    """Yield record batches of row groups, by default of all, that have been checked."""
    import pyarrow.parquet as pq

    options = {"columns": columns, "use_threads": False}
    opened = nullcontext(path) if isinstance(path, Path) else path.open("rb")
    with (
        opened as source,
        pq.ParquetFile(source, metadata=metadata, page_checksum_verification=True) as file,
    ):
        for run in _runs(path, metadata, columns, how.limit, groups):
            yield from file.iter_batches(how.batch_size, row_groups=run, **options)


def _runs(
    path: Readable, metadata: Any, columns: list[str], limit: Limit, groups: range | None
) -> Iterator[list[int]]:
    """Yield row groups to read together, which the limit allows."""
    declared = row_groups(path)
    if any(len(group.chunks) != metadata.num_columns for group in declared):
        raise ValueError(f"{path} cannot be read as Parquet: a row group lacks columns")
    leaves = leaves_of(metadata, columns)
    run: list[int] = []
    n_bytes = 0
    with path.open("rb") as file:
        for number in range(len(declared)) if groups is None else groups:
            more = row_group_bytes(file, declared[number], number, leaves, limit)
            if run and n_bytes + more > limit.most:
                yield run
                run, n_bytes = [], 0
            run.append(number)
            n_bytes += more
    if run:
        yield run


def _table_bytes(table: Any) -> tuple[int, str]:
    """Estimate the memory for a decoded batch, and describe it."""
    n_lists, n_values, n_bytes = 0, 0, 0
    for field, column in zip(table.schema, table.columns, strict=True):
        per_byte = _PER_JSON_BYTE if is_json(field) else _PER_TEXT_BYTE
        for chunk in column.chunks:
            lists, values, texts = _extent(chunk)
            if texts is not None:
                n_bytes += PER_OBJECT * values + per_byte * texts
            if field.name == NEIGHBOURS:
                n_lists, n_values = n_lists + lists, n_values + values
    n_bytes += graph_bytes(len(table), n_lists, n_values) + 2 * table.nbytes
    return n_bytes, f"a batch of {len(table)} graphs, {n_lists} nodes and {n_values} neighbours"


def _extent(array: Any) -> tuple[int, int, int | None]:
    """Return the lists in the lists of an array, all values, and the bytes of texts, if it has."""
    pa = pyarrow()
    from pyarrow import compute

    n_lists, depth = len(array), 0
    while pa.types.is_nested(array.type) and not pa.types.is_struct(array.type):
        array, depth = array.flatten(), depth + 1
        n_lists = len(array) if depth == 1 else n_lists
    n_values, places = len(array), None
    if pa.types.is_dictionary(array.type):
        places, array = array.indices.fill_null(0).to_numpy(False), array.dictionary
    if pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type):
        array = array.cast(pa.large_binary())  # Arrow does not know the lengths of views
    try:
        lengths = compute.binary_length(array).fill_null(0).to_numpy(False)
    except pa.ArrowNotImplementedError:  # numbers
        return n_lists, n_values, None
    if places is not None:
        lengths = lengths[places] if len(lengths) else lengths
    return n_lists, n_values, int(lengths.sum(dtype=np.int64))


def count_parquet(path: Path) -> int:
    """Return the number of graphs without reading them."""
    with naming_broken(path):
        return int(metadata_of(path).num_rows)


@contextmanager
def naming_broken(path: Readable) -> Iterator[None]:
    """Turn errors about the file's content into a ValueError that names it."""
    try:
        yield
    except PermissionError as error:
        raise PermissionError(f"cannot read {path}: permission denied") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise ValueError(f"{path} cannot be read as Parquet: {error}") from error
    except (pyarrow().ArrowException, *_BROKEN) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {error}") from error


def write_parquet(file: IO[bytes], chunks: Iterator[Dataset]) -> int:
    """Write each chunk as a row group; return the number of graphs."""
    pyarrow()
    import pyarrow.parquet as pq

    n_graphs, writer = 0, None
    try:
        for chunk in chunks:
            table = _table(chunk, None if writer is None else writer.schema)
            if writer is None:
                writer = pq.ParquetWriter(
                    file, table.schema, compression="zstd", write_page_checksum=True
                )
            elif not table.schema.equals(writer.schema, check_metadata=True):
                raise ValueError(
                    f"from graph {n_graphs} on, the columns are {_kinds(table.schema)}, expected "
                    f"{_kinds(writer.schema)} as before: labels and targets must be of one kind"
                )
            writer.write_table(table, row_group_size=max(1, len(table)))
            n_graphs += len(table)
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        pq.write_table(_table(Dataset("", GraphBatch.from_edges([], [], []))), file)
    return n_graphs


def _table(chunk: Dataset, schema: Any = None) -> Any:
    pa = pyarrow()
    table = chunk.graphs.to_arrow(schema=schema)
    if chunk.target is None:
        return table
    target = chunk.target
    if target.ndim == 1:
        column = pa.array(target, None if len(target) or target.dtype != object else pa.string())
    else:
        column = pa.FixedSizeListArray.from_arrays(pa.array(target.ravel()), target.shape[1])
    table = table.append_column(TARGET, column)
    if chunk.target_names is None:
        return table
    return table.replace_schema_metadata({_TARGET_NAMES: json.dumps(chunk.target_names)})


def _kinds(schema: Any) -> str:
    return ", ".join(f"{f.name}: {f.type}{' as JSON' if is_json(f) else ''}" for f in schema)


def _target(column: Any, *, allow_missing: bool) -> NDArray[Any]:
    pa = pyarrow()
    from pyarrow import compute

    if column.null_count and allow_missing:
        lacking = column.is_null().to_numpy()
        present = _target(column.drop_null(), allow_missing=True)
        target = missing_targets(len(column), present)
        target[~lacking] = present
        return target
    if column.null_count:
        nulls = column.is_null().to_numpy()
        raise ValueError(
            f'graph {int(np.argmax(nulls))}: the target is null; with errors="skip" a missing '
            f"one is NaN, or None among strings"
        )
    if pa.types.is_nested(column.type) and not pa.types.is_struct(column.type):
        rows = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
        lengths = compute.list_value_length(rows).to_numpy(zero_copy_only=False)
        width = int(lengths[0]) if len(lengths) else 1
        if (lengths != width).any():
            index = int(np.argmax(lengths != width))
            raise ValueError(f"graph {index}: {lengths[index]} targets, expected {width}")
        flat = rows.flatten()
        if flat.null_count:
            raise ValueError(f"graph {_first_null(flat) // max(1, width)}: a target is null")
        return _flat_target(flat).reshape(len(rows), width)
    chunks = [_flat_target(chunk) for chunk in column.chunks]
    return np.concatenate(chunks) if chunks else np.empty(0)


def _flat_target(values: Any) -> NDArray[Any]:
    pa = pyarrow()
    kind = values.type
    places = None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        values = values.dictionary_encode()  # equal texts become one object
    if pa.types.is_dictionary(values.type):
        places, values = values.indices.to_numpy(zero_copy_only=False), values.dictionary
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        array = text_array(values.to_pylist())
    elif (
        pa.types.is_integer(values.type)
        or pa.types.is_floating(values.type)
        or pa.types.is_boolean(values.type)
    ):
        array = np.asarray(values.to_numpy(zero_copy_only=False))
    else:
        raise TypeError(f"the target holds {kind}, expected numbers or strings")
    return array if places is None else array[places]


def _first_null(values: Any) -> int:
    return int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))


def _target_names(schema: Any) -> tuple[str, ...] | None:
    text = (schema.metadata or {}).get(_TARGET_NAMES)
    try:
        return None if text is None else tuple(map(str, json.loads(text)))
    except (TypeError, ValueError):
        return None  # not written by us; names of classes are optional
