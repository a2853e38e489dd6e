"""Neighbours as a table: a row for each query and each of its neighbours.

While a search runs, a query has one row of numbers, distances and then indices, so that a search is
resumed as embedding is. The table has the columns ``query`` and ``neighbour`` (numbers from 0),
``query_id`` and ``neighbour_id`` where there are ids, ``rank`` (from 1) and ``distance``.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.files import FULL, naming_file, replacing
from graphmover.graphs.arrow import pyarrow
from graphmover.io.output import Finisher, Rows, chunks_of, csv_text, write_bytes
from graphmover.io.partial import Ids, PartialRows

#: A table, column by column.
Table = dict[str, list[Any]]


def as_row(distances: NDArray[np.float64], indices: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return neighbours, a row per query, as rows of numbers: both are exact."""
    return np.hstack([distances, indices.astype(np.float64)])


class HitsWriter:
    """Writes neighbours; ``ids`` are those of the graphs that were searched.

    It is the writer of `write_rows`.
    """

    def __init__(self, ids: NDArray[Any] | None) -> None:
        self._ids = ids

    def finisher_of(self, output: str | os.PathLike[str]) -> Finisher:
        """Return what writes the format that the file extension names."""
        ending = Path(output).suffix.lower()
        if ending not in _FORMATS:
            raise ValueError(
                f"unknown output format of {os.fspath(output)}: it must end in "
                f"{', '.join(_FORMATS)}"
            )
        if ending == ".parquet":
            pyarrow()  # a missing library is an error before the work, not after it
        write = _FORMATS[ending]

        def finish(part: PartialRows, names: NDArray[Any]) -> None:
            ids = part.ids()
            with replacing(part.output) as file:
                write(file, self._tables(part, ids), self._text_columns(ids))

        return finish

    def to_stdout(self, pieces: Iterable[Rows], names: NDArray[Any]) -> int:
        """Write CSV to standard output as rows arrive; return the number of queries."""
        first = 0
        with naming_file("standard output", FULL):
            for rows in pieces:
                table = self._table(rows, first)
                write_bytes(_csv(table, with_header=not first))
                first += len(rows.vectors)
        return first

    def _text_columns(self, ids: Ids | None) -> set[str]:
        """Return the columns that hold text: ids that are not integers."""
        are_text = {"neighbour_id": self._ids is not None and self._ids.dtype == object}
        are_text["query_id"] = ids is not None and ids.are_text
        return {name for name, is_text in are_text.items() if is_text}

    def _tables(self, part: PartialRows, ids: Ids | None) -> Iterable[Table]:
        first = 0
        for rows in chunks_of(part, None, ids):
            yield self._table(rows, first)
            first += len(rows.vectors)
        if not first:
            yield self._table(Rows(np.empty((0, part.n_columns)), None, None), 0)

    def _table(self, rows: Rows, first: int) -> Table:
        n_queries, width = rows.vectors.shape
        k = width // 2
        neighbours = rows.vectors[:, k:].astype(np.int64).ravel()
        table: Table = {"query": np.repeat(np.arange(first, first + n_queries), k).tolist()}
        if rows.ids is not None:
            table["query_id"] = [query for query in rows.ids for _ in range(k)]
        table["rank"] = np.tile(np.arange(1, k + 1), n_queries).tolist()
        table["neighbour"] = neighbours.tolist()
        if self._ids is not None:
            table["neighbour_id"] = self._ids[neighbours].tolist()
        table["distance"] = rows.vectors[:, :k].ravel().tolist()
        return table


def _csv(table: Table, *, with_header: bool) -> bytes:
    header = (",".join(table) + "\n").encode() if with_header else b""
    texts = chain.from_iterable(table[name] for name in table if name.endswith("_id"))
    return header + csv_text(zip(*table.values(), strict=True), texts)


def _write_csv(file: IO[bytes], tables: Iterable[Table], texts: set[str]) -> None:
    for number, table in enumerate(tables):
        file.write(_csv(table, with_header=not number))


def _write_json_lines(file: IO[bytes], tables: Iterable[Table], texts: set[str]) -> None:
    for table in tables:
        for row in zip(*table.values(), strict=True):
            hit = dict(zip(table, row, strict=True))
            if math.isinf(hit["distance"]):
                hit["distance"] = None  # JSON has no infinity
            file.write(json.dumps(hit).encode() + b"\n")


def _write_parquet(file: IO[bytes], tables: Iterable[Table], texts: set[str]) -> None:
    pa = pyarrow()
    import pyarrow.parquet as pq

    kinds = {"distance": pa.float64(), **dict.fromkeys(texts, pa.string())}
    with ExitStack() as stack:
        writer = None
        for table in tables:
            found = pa.table(
                {
                    name: pa.array(values, kinds.get(name, pa.int64()))
                    for name, values in table.items()
                }
            )
            if writer is None:
                writer = stack.enter_context(pq.ParquetWriter(file, found.schema))
            writer.write_table(found)


_FORMATS: dict[str, Callable[[IO[bytes], Iterable[Table], set[str]], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".jsonl": _write_json_lines,
    ".ndjson": _write_json_lines,
}
