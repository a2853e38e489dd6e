"""What the row groups of a Parquet file declare, read from its footer.

pyarrow shows the same, but aborts the process where the statistics of a column are damaged. The
footer is a structure in Thrift's compact protocol; fields have numbers, as in ``parquet.thrift``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

#: Numbers of encodings.
DICTIONARIES = {0, 2, 3, 4, 8}  # plain, dictionaries, and those of levels
DELTA_BYTE_ARRAY = 7


class Chunk(NamedTuple):
    """A column of a row group."""

    encodings: set[int]
    n_values: int
    n_bytes: int  #: of its pages, uncompressed


class RowGroup(NamedTuple):
    """A row group."""

    n_rows: int
    chunks: list[Chunk]


def row_groups(path: Path) -> list[RowGroup]:
    """Return all row groups of a file whose footer Arrow has read without an error."""
    with path.open("rb") as file:
        file.seek(-8, 2)
        length = int.from_bytes(file.read(4), "little")
        file.seek(-8 - length, 2)
        footer = _Compact(file.read(length))
    try:
        return [
            RowGroup(group[3], [_chunk(column[3]) for column in group[1]])
            for group in footer.value(_STRUCT)[4]
        ]
    except (IndexError, KeyError, RecursionError, TypeError) as error:
        raise ValueError(f"{path} cannot be read as Parquet: its footer is damaged") from error


def _chunk(column: dict[int, Any]) -> Chunk:
    return Chunk(set(column[2]), column[5], column[6])


_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12


class _Compact:
    """Values of Thrift's compact protocol."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def value(self, kind: int) -> Any:
        """Return the next value: structures by field number, lists, integers; others are None."""
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in (_BYTE, _DOUBLE):
            self._at += 1 if kind == _BYTE else 8
            return None
        if kind == _BINARY:
            length = self._varint()
            self._at += length
            return None
        if kind in (_LIST, _SET):
            return self._list()
        if kind == _STRUCT:
            return self._struct()
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def _list(self) -> list[Any]:
        header = self._byte()
        length, kind = header >> 4, header & 15
        if length == 15:
            length = self._varint()
        if kind in (_TRUE, _FALSE):
            return [self._byte() == _TRUE for _ in range(length)]
        return [self.value(kind) for _ in range(length)]

    def _struct(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while header := self._byte():
            number = number + (header >> 4) if header >> 4 else self.value(5)
            fields[number] = self.value(header & 15)
        return fields

    def _varint(self) -> int:
        number, shift = 0, 0
        while (byte := self._byte()) & 128:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift

    def _byte(self) -> int:
        byte = self._content[self._at]
        self._at += 1
        return byte
