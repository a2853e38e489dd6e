"""Parquet files: the columns of `GraphBatch.to_arrow`, and ``target``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.arrow import COLUMNS, is_json, pyarrow
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.io.chunks import TARGET, naming

_TARGET_NAMES = b"graphmover.target_names"


def read_parquet(path: Path, batch_size: int, target_column: str | None) -> Iterator[Dataset]:
    """Yield the graphs of a file, with a batch and the pages of a row group in memory."""
    pa = pyarrow()
    import pyarrow.parquet as pq

    first = 0
    with _naming_broken(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        schema = file.schema_arrow
        if target_column is not None and target_column not in schema.names:
            raise ValueError(f"{path}: there is no column {target_column!r} among {schema.names}")
        target = target_column or (TARGET if TARGET in schema.names else None)
        columns = [name for name in (*COLUMNS, target) if name in schema.names]
        names = _target_names(schema)
        for rows in file.iter_batches(batch_size, columns=columns):
            with naming(path, first):
                table = pa.Table.from_batches([rows], rows.schema)
                graphs = GraphBatch.from_arrow(table)
                values = None if target is None else _target(table.column(target))
            yield Dataset(path.stem, graphs, values, names)
            first += len(graphs)


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
    except (pyarrow().ArrowException, UnicodeDecodeError) as error:
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
        column = pa.array(target)
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
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        nulls = column.is_null().to_numpy()
        raise ValueError(f"graph {int(np.argmax(nulls))}: the target is null")
    if pa.types.is_fixed_size_list(column.type):
        chunk = pa.concat_arrays(column.chunks) if column.num_chunks else None
        width = column.type.list_size
        flat = np.empty(0) if chunk is None else chunk.flatten().to_numpy(zero_copy_only=False)
        return np.asarray(flat).reshape(-1, width)
    values = column.to_numpy()
    if values.dtype == object:
        values = np.asarray(values.tolist())
    if values.dtype.kind not in "biufU":
        raise TypeError(f"the target holds {column.type}, expected numbers or strings")
    return np.asarray(values)


def _target_names(schema: Any) -> tuple[str, ...] | None:
    text = (schema.metadata or {}).get(_TARGET_NAMES)
    try:
        return None if text is None else tuple(map(str, json.loads(text)))
    except (TypeError, ValueError):
        return None  # not written by us; names of classes are optional
