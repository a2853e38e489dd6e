"""Values of Thrift's compact protocol, in which Parquet writes its footer and page headers.

Arrow ignores what a list says about the kind of its items where it expects a kind, and cuts
integers that are too long. What is ambiguous in these ways is an error here, so that the numbers
checked are those that Arrow goes by.
"""

from __future__ import annotations

from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET = range(1, 11)
STRUCT = 12
_BITS = {I16: 16, I32: 32, I64: 64}

#: The fields of a structure by number, each with its kind: lists are (kind of items, items).
Fields = dict[int, tuple[int, Any]]


class Compact:
    """The values of some bytes, read from a position on.

    Raises
    ------
    IndexError
        The bytes end within a value.
    ValueError
        They are no values, or ambiguous.
    """

    def __init__(self, content: bytes, at: int = 0) -> None:
        self._content, self.at = content, at

    def struct(self) -> Fields:
        """Return the next structure."""
        fields: Fields = {}
        number = 0
        while header := self._byte():
            number = number + (header >> 4) if header >> 4 else self._value(I16)
            if number in fields or not 0 <= number < 2**15:
                raise ValueError(f"field {number} is repeated, or no field")
            kind = header & 15
            fields[number] = kind, self._value(kind)
        return fields

    def varint(self, n_bits: int = 64) -> int:
        """Return the next unsigned integer."""
        number, shift = 0, 0
        while (byte := self._byte()) & 128 and shift < n_bits:
            number |= (byte & 127) << shift
            shift += 7
        number |= byte << shift
        if number >> n_bits:
            raise ValueError(f"an integer has more than {n_bits} bits")
        return number

    def zigzag(self, n_bits: int = 64) -> int:
        """Return the next signed integer."""
        number = self.varint(n_bits)
        return (number >> 1) ^ -(number & 1)

    def take(self, n_bytes: int) -> bytes:
        """Return the next bytes as they are."""
        start, self.at = self.at, self.at + n_bytes
        if self.at > len(self._content):
            raise IndexError("the bytes end within a value")
        return self._content[start : self.at]

    def _value(self, kind: int) -> Any:
        """Return integers, truth values, lists and structures; others are None."""
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind in _BITS:
            return self.zigzag(_BITS[kind])
        if kind in (LIST, SET):
            return self._list()
        if kind == STRUCT:
            return self.struct()
        if kind not in (BYTE, DOUBLE, BINARY):
            raise ValueError(f"there is no kind {kind}")
        self.take({BYTE: 1, DOUBLE: 8}.get(kind) or self.varint(31))
        return None

    def _list(self) -> tuple[int, list[Any]]:
        header = self._byte()
        length, kind = header >> 4, header & 15
        if length == 15:
            length = self.varint(31)
        if kind in (TRUE, FALSE):
            return kind, [self._byte() == TRUE for _ in range(length)]
        return kind, [self._value(kind) for _ in range(length)]

    def _byte(self) -> int:
        byte = self._content[self.at]
        self.at += 1
        return byte


def field(fields: Fields, number: int, kind: int) -> Any:
    """Return the value of a field; a missing field, or another kind, is an error."""
    found, value = fields.get(number, (None, None))
    if found != kind:
        raise ValueError(f"field {number} is missing, or of another kind")
    return value


def items(fields: Fields, number: int, kind: int) -> list[Any]:
    """Return the items of a list that may be missing; another kind of items is an error."""
    if number not in fields:
        return []
    found, values = field(fields, number, LIST)
    if values and found != kind:
        raise ValueError(f"the items of field {number} are of another kind")
    return list(values)
