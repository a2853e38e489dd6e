"""Parquet files: the columns of `GraphBatch.to_arrow`, and ``target``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.arrow import COLUMNS, NEIGHBOURS, is_json, pyarrow
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.io.chunks import TARGET, naming, require_one_column, text_array
from graphmover.io.limits import PER_OBJECT, Limit, graph_bytes
from graphmover.io.parquet_footer import DELTA_BYTE_ARRAY, DICTIONARIES, RowGroup, row_groups

_TARGET_NAMES = b"graphmover.target_names"
#: Arrow's levels and offsets of lists, for each value.
_PER_LEVELS = 12
#: What pyarrow raises on damaged files beside its own exceptions.
_BROKEN = (UnicodeDecodeError, KeyError, IndexError, OverflowError, RuntimeError, MemoryError)


def read_parquet(
    path: Path, batch_size: int, target_column: str | None, limit: Limit
) -> Iterator[Dataset]:
    """Yield the graphs of a file, with a batch and the pages of a row group in memory."""
    pa = pyarrow()
    import pyarrow.parquet as pq

    first = 0
    with _naming_broken(path):
        metadata = pq.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
        require_one_column(schema.names, target_column, path)
        target = target_column or (TARGET if TARGET in schema.names else None)
        columns = [name for name in (*COLUMNS, target) if name is not None and name in schema.names]
        for name in columns:
            require_one_column(schema.names, name, path)
        leaves = _leaves(metadata, columns)
        names = _target_names(schema)
        for rows in _batches(path, metadata, leaves, columns, batch_size, limit):
            with naming(path, first):
                table = pa.Table.from_batches([rows], rows.schema)
                limit.require(*_table_bytes(table))
                graphs = GraphBatch.from_arrow(table)
                values = None if target is None else _target(table.column(target))
            yield Dataset(path.stem, graphs, values, names)
            first += len(graphs)


def _batches(
    path: Path,
    metadata: Any,
    leaves: list[_Leaf],
    columns: list[str],
    batch_size: int,
    limit: Limit,
) -> Iterator[Any]:
    """Yield record batches; row groups whose texts may expand are read as dictionaries."""
    import pyarrow.parquet as pq

    def opened(texts: list[str]) -> Any:
        return pq.ParquetFile(
            path, metadata=metadata, read_dictionary=texts, page_checksum_verification=True
        )

    declared = row_groups(path)
    if any(len(group.chunks) != metadata.num_columns for group in declared):
        raise ValueError(f"{path} cannot be read as Parquet: a row group lacks columns")
    texts = [leaf.path for leaf in leaves if _has_dictionary(declared, leaf)]
    with opened([]) as plain, opened(texts) as as_dictionary:
        for groups, may_expand in _runs(declared, leaves, limit):
            options = {"row_groups": groups, "columns": columns, "use_threads": False}
            n_done = 0
            if may_expand:
                try:
                    for rows in as_dictionary.iter_batches(batch_size, **options):
                        yield rows
                        n_done += len(rows)
                    continue
                except pyarrow().ArrowNotImplementedError:
                    pass  # lists of texts that are in a dictionary only in part
            n_read = 0
            for rows in plain.iter_batches(batch_size, **options):
                if n_read + len(rows) > n_done:
                    yield rows.slice(max(0, n_done - n_read))
                n_read += len(rows)


def _runs(
    declared: list[RowGroup], leaves: list[_Leaf], limit: Limit
) -> Iterator[tuple[list[int], bool]]:
    """Yield row groups to read together, and whether their texts may expand beyond the limit."""
    run: list[int] = []
    n_bytes = 0
    for number, group in enumerate(declared):
        expanded = _check_row_group(group, number, leaves, limit)
        if run and n_bytes + expanded > limit.most:
            yield run, False
            run, n_bytes = [], 0
        if expanded > limit.most:
            yield [number], True
        else:
            run.append(number)
            n_bytes += expanded
    if run:
        yield run, False


class _Leaf(NamedTuple):
    """A column of numbers or texts, in which Parquet stores a column of ours or a part of it."""

    position: int
    path: str
    is_text: bool
    n_bytes: int  #: of a value, with the levels of its lists
    list_size: int  #: numbers in each fixed-size list; a null list takes as many
    is_per_graph: bool  #: at most one list, or one value, per graph


def _leaves(metadata: Any, columns: list[str]) -> list[_Leaf]:
    pa = pyarrow()
    schema = metadata.schema.to_arrow_schema()
    leaves = []
    for index in range(metadata.num_columns):
        column = metadata.schema.column(index)
        name = column.path.partition(".")[0]
        if name not in columns:
            continue
        width = column.length if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else 8
        list_size, depth, kind = 1, 0, schema.field(name).type
        while pa.types.is_nested(kind) and kind.num_fields == 1:
            if pa.types.is_fixed_size_list(kind):
                list_size *= max(1, kind.list_size)
            else:
                depth += 1
            kind = kind.field(0).type
        is_text = column.physical_type == "BYTE_ARRAY"
        leaf = _Leaf(index, column.path, is_text, width + _PER_LEVELS, list_size, depth == 0)
        leaves.append(leaf)
    return leaves


def _check_row_group(group: RowGroup, number: int, leaves: list[_Leaf], limit: Limit) -> int:
    """Compare what a row group declares with what is stored, before anything is decoded.

    Repeated values are stored once, with their number, so 1 kB may declare 10**8 of them. Return
    how much memory the values may take if all texts are as long as a text can be.
    """
    counts = [group.chunks[leaf.position].n_values for leaf in leaves]
    n_lists = max([n for n, leaf in zip(counts, leaves, strict=True) if leaf.list_size == 1] or [0])
    expanded = 0
    for count, leaf in zip(counts, leaves, strict=True):
        chunk = group.chunks[leaf.position]
        n_stored = chunk.n_bytes
        if min(group.n_rows, count, n_stored) < 0:
            raise ValueError(f"{limit.source}: row group {number} declares negative sizes")
        n_parents = group.n_rows if leaf.is_per_graph else n_lists
        n_values = max(count, n_parents * leaf.list_size if leaf.list_size > 1 else 0)
        n_bytes = n_values * leaf.n_bytes + n_stored
        longest = n_values * n_stored if leaf.is_text else 0
        if DELTA_BYTE_ARRAY in chunk.encodings:  # a text may repeat the one before it
            n_bytes = longest
        what = f"row group {number}, which declares {n_values} values of {leaf.path},"
        limit.require(n_bytes, what)
        expanded += max(n_bytes, longest)
    return expanded


def _has_dictionary(declared: list[RowGroup], leaf: _Leaf) -> bool:
    """Return whether all row groups hold a column's texts in a way that Arrow reads as one."""
    chunks = [group.chunks[leaf.position] for group in declared]
    return leaf.is_text and all(DICTIONARIES.issuperset(chunk.encodings) for chunk in chunks)


def _table_bytes(table: Any) -> tuple[int, str]:
    """Estimate the memory for a decoded batch, and describe it."""
    n_lists, n_values, n_bytes = 0, 0, 0
    for name in table.column_names:
        for chunk in table.column(name).chunks:
            lists, values, objects = _extent(chunk)
            n_bytes += objects
            if name == NEIGHBOURS:
                n_lists, n_values = n_lists + lists, n_values + values
    n_bytes += graph_bytes(len(table), n_lists, n_values) + 2 * table.nbytes
    return n_bytes, f"a batch of {len(table)} graphs, {n_lists} nodes and {n_values} neighbours"


def _extent(array: Any) -> tuple[int, int, int]:
    """Return the lists in the lists of an array, all values, and bytes of Python objects."""
    pa = pyarrow()
    from pyarrow import compute

    n_lists, depth = len(array), 0
    while pa.types.is_nested(array.type) and not pa.types.is_struct(array.type):
        array, depth = array.flatten(), depth + 1
        n_lists = len(array) if depth == 1 else n_lists
    n_objects = 0
    if pa.types.is_dictionary(array.type):
        lengths = compute.binary_length(array.dictionary).fill_null(0).to_numpy(False)
        places = array.indices.fill_null(0).to_numpy(False)
        n_objects = int(lengths[places].sum(dtype=np.int64)) if len(lengths) else 0
        n_objects += PER_OBJECT * len(array)
    return n_lists, len(array), n_objects


def count_parquet(path: Path) -> int:
    """Return the number of graphs without reading them."""
    pyarrow()
    import pyarrow.parquet as pq

    with _naming_broken(path):
        return int(pq.read_metadata(path).num_rows)


@contextmanager
def _naming_broken(path: Path) -> Iterator[None]:
    """Turn errors about the file's content into a ValueError that names it."""
    try:
        yield
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


def _target(column: Any) -> NDArray[Any]:
    pa = pyarrow()
    from pyarrow import compute

    if column.null_count:
        nulls = column.is_null().to_numpy()
        raise ValueError(f"graph {int(np.argmax(nulls))}: the target is null")
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
