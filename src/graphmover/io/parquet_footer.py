"""What the row groups of a Parquet file declare, read from its footer.

pyarrow shows the same, but aborts the process where the statistics of a column are damaged. Fields
have numbers, as in ``parquet.thrift``.
"""

from __future__ import annotations

from typing import NamedTuple

from graphmover.io.reading import Readable
from graphmover.io.thrift import BINARY, I32, I64, STRUCT, Compact, Fields, field, items


class Chunk(NamedTuple):
    """A column of a row group."""

    codec: int  #: the number of its compression
    n_values: int
    start: int  #: of its first page in the file


class RowGroup(NamedTuple):
    """A row group."""

    n_rows: int
    chunks: list[Chunk]


def footer_of(path: Readable) -> bytes:
    """Return the footer of a file whose footer Arrow has read without an error."""
    with path.open("rb") as file:
        file.seek(-8, 2)
        length = int.from_bytes(file.read(4), "little")
        file.seek(-8 - length, 2)
        content: bytes = file.read(length)
        return content


def row_groups(path: Readable) -> list[RowGroup]:
    """Return all row groups of a file whose footer Arrow has read without an error."""
    footer = Compact(footer_of(path))
    try:
        fields = footer.struct()
        for number in (2, 5, 7):  # schema, key-value pairs, orders
            items(fields, number, STRUCT)
        return [_row_group(group) for group in items(fields, 4, STRUCT)]
    except (IndexError, RecursionError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as Parquet: its footer is damaged") from error


def _row_group(group: Fields) -> RowGroup:
    items(group, 4, STRUCT)  # sorting
    columns = items(group, 1, STRUCT)
    return RowGroup(field(group, 3, I64), [_chunk(field(column, 3, STRUCT)) for column in columns])


def _chunk(column: Fields) -> Chunk:
    for number, kind in {2: I32, 3: BINARY, 8: STRUCT, 13: STRUCT}.items():
        items(column, number, kind)  # encodings, path, key-value pairs, statistics of encodings
    for number, lists in {16: {2: I64, 3: I64}, 17: {2: I32}}.items():  # statistics
        for place, kind in lists.items() if number in column else ():
            items(field(column, number, STRUCT), place, kind)
    start = field(column, 9, I64)
    if 11 in column and 0 < field(column, 11, I64) < start:  # a dictionary
        start = field(column, 11, I64)
    chunk = Chunk(field(column, 4, I32), field(column, 5, I64), start)
    if min(chunk) < 0:
        raise ValueError("it declares negative sizes")
    return chunk
