"""Parse tables of numbers from text: a row per line, commas between numbers, nothing else.

Text comes in blocks of complete lines, so a file of any size needs memory for one block and for
its numbers. The kernels read bytes and return the position of a bad line; the message is made
from its text, outside of them. Floats are equal to Python's: a number with few digits is exact
in one multiplication or division of doubles (Clinger 1990), all others are left to `float`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.jit import JIT, njit

#: Integers, integers that fit 32 bits, and finite real numbers.
Kind = Literal["integer", "id", "real"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SPACE, _TAB, _NEWLINE, _RETURN, _COMMA = 32, 9, 10, 13, 44
_PLUS, _MINUS, _POINT, _ZERO, _NINE, _E, _SMALL_E = 43, 45, 46, 48, 57, 69, 101

#: Integers below 10**18 never overflow 64 bits.
_MOST_DIGITS = 18
#: Integers below 2**53 and powers of ten up to 10**22 are exact as doubles.
_EXACT = 2.0**53
_POWERS = 10.0 ** np.arange(23)
_FAR = 10**9  # an exponent that means: leave the number to `float`


_PATTERNS = {
    "integer": re.compile(rb"[+-]?[0-9]{1,18}"),
    "id": re.compile(rb"[+-]?[0-9]{1,18}"),
    "real": re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"),
}
_WORDS = {"integer": "an integer", "id": "an integer", "real": "a finite number"}
_TYPES = {"integer": np.int64, "id": np.int32, "real": np.float64}


class BadLineError(ValueError):
    """A malformed line: its number, from 1, and what is wrong."""

    def __init__(self, number: int, complaint: str) -> None:
        super().__init__(f"line {number}: {complaint}")


class _Outcome(NamedTuple):
    """The result of a kernel for a block."""

    n_rows: int  #: lines with numbers
    n_lines: int  #: lines in all, up to the first bad one
    bad_start: int  #: offset of the first bad line, or -1


def read_table(pieces: Iterable[bytes], kind: Kind, n_columns: int | None = None) -> NDArray[Any]:
    """Read a table whose rows all have ``n_columns`` numbers, or as many as the first row.

    Empty lines are skipped.

    Raises
    ------
    BadLineError
    """
    tables = []
    n_lines, wanted = 0, n_columns
    for block in complete_lines(pieces):
        if wanted is None:
            wanted = _fields_of_first_row(block)
            if wanted is None:  # only empty lines so far
                n_lines += _count_lines(block)
                continue
        table, outcome = _parse(block, kind, wanted)
        if outcome.bad_start >= 0:
            expected = f"{wanted}" + ("" if n_columns else " as in the lines before")
            complaint = _complaint(_line_at(block, outcome.bad_start), kind, wanted, expected)
            raise BadLineError(n_lines + outcome.n_lines + 1, complaint)
        bits = np.dtype(_TYPES[kind]).itemsize * 8
        fits = np.isfinite(table) if kind == "real" else np.abs(table) < 2 ** (bits - 1)
        if not fits.all():
            number, line = next(_rows([block], int(np.argmin(fits.all(axis=1)))))
            raise BadLineError(n_lines + number, f"{_shown(line)} does not fit {bits} bits")
        tables.append(table.astype(_TYPES[kind], copy=False))
        n_lines += outcome.n_lines
    return np.concatenate(tables) if tables else np.empty((0, wanted or 1), _TYPES[kind])


def complete_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Regroup a stream of bytes into blocks of complete lines; terminate the last line."""
    held = [b""]  # joined only at the end of a line: lines may be of any length
    mark = _BYTE_ORDER_MARK
    for piece in pieces:
        # A carriage return at the very end may be the first half of a line break.
        end = (piece.rfind(b"\n") + 1) or (piece.rfind(b"\r", 0, max(len(piece) - 1, 0)) + 1)
        if not end:
            held.append(piece)
            continue
        yield b"".join([*held, piece[:end]]).removeprefix(mark)
        held, mark = [piece[end:]], b""
    rest = b"".join(held).removeprefix(mark)
    if rest:
        yield rest + b"\n"


def line_of_row(pieces: Iterable[bytes], row: int) -> int:
    """Return the line number, from 1, of a row of a table."""
    return next(_rows(complete_lines(pieces), row))[0]


def _rows(blocks: Iterable[bytes], first: int) -> Iterator[tuple[int, bytes]]:
    """Yield non-empty lines with their line numbers, from row ``first`` on."""
    number, row = 0, 0
    for block in blocks:
        for line in block.splitlines():
            number += 1
            if line.strip(b" \t"):
                if row >= first:
                    yield number, line
                row += 1


def _fields_of_first_row(block: bytes) -> int | None:
    for _, line in _rows([block], 0):
        return line.count(b",") + 1
    return None


def _count_lines(block: bytes) -> int:
    return len(block.splitlines())


def _line_at(block: bytes, start: int) -> bytes:
    ends = [end for end in (block.find(b"\n", start), block.find(b"\r", start)) if end >= 0]
    return block[start : min(ends, default=len(block))]


def _complaint(line: bytes, kind: Kind, n_columns: int, expected: str) -> str:
    for field in line.split(b",", maxsplit=n_columns)[:n_columns]:
        if not _PATTERNS[kind].fullmatch(field.strip(b" \t")):
            return f"{_shown(field)} is not {_WORDS[kind]}"
    return f"{line.count(b',') + 1} numbers, expected {expected}"


def _shown(text: bytes) -> str:
    return repr(text.strip(b" \t")[:40].decode("utf-8", "replace"))


def _parse(block: bytes, kind: Kind, n_columns: int) -> tuple[NDArray[Any], _Outcome]:
    text = np.frombuffer(block, np.uint8)
    n_ends = block.count(b"\n") + block.count(b"\r")
    # A number and its comma take two bytes, which bounds the number of rows.
    shape = (min(n_ends, len(block) // (2 * n_columns)) + 1, n_columns)
    if kind != "real":
        integers = np.empty(shape, np.int64)
        outcome = _Outcome(*_parse_integers(text, integers))
        return integers[: outcome.n_rows], outcome
    reals = np.empty(shape, np.float64)
    hard = np.empty((len(block) // 4 + 1, 3), np.int64)  # the shortest is 1e23
    *counts, n_hard = _parse_reals(text, reals, _POWERS, hard)
    flat = reals.reshape(-1)
    for place, start, end in hard[:n_hard].tolist():
        flat[place] = float(block[start:end])
    outcome = _Outcome(*counts)
    return reals[: outcome.n_rows], outcome


# The kernels look ahead without bounds checks: the last byte of the text ends a line.


@njit(**JIT)
def _after_blanks(text, i):
    while text[i] == _SPACE or text[i] == _TAB:
        i += 1
    return i


@njit(**JIT)
def _ends_line(character):
    return character in (_NEWLINE, _RETURN)


@njit(**JIT)
def _after_line(text, i):
    is_pair = text[i] == _RETURN and i + 1 < len(text) and text[i + 1] == _NEWLINE
    return i + 2 if is_pair else i + 1


@njit(**JIT)
def _parse_integers(text, out):
    """Fill ``out`` from the text; return an `_Outcome`."""
    i, row, line, last = 0, 0, 0, out.shape[1] - 1
    while i < len(text):
        start = i
        i = _after_blanks(text, i)
        if not _ends_line(text[i]):
            for column in range(last + 1):
                i = _after_blanks(text, i)
                negative = text[i] == _MINUS
                i += negative or text[i] == _PLUS
                first, value = i, 0
                while _ZERO <= text[i] <= _NINE:
                    value = value * 10 + (text[i] - _ZERO)
                    i += 1
                n_digits = i - first
                i = _after_blanks(text, i)
                ends_well = text[i] == _COMMA if column < last else _ends_line(text[i])
                if not (ends_well and 0 < n_digits <= _MOST_DIGITS):
                    return row, line, start
                i += column < last
                out[row, column] = -value if negative else value
            row += 1
        i = _after_line(text, i)
        line += 1
    return row, line, -1


@njit(**JIT)
def _parse_reals(text, out, powers, hard):
    """Fill ``out``, and ``hard`` with (place in out, start, end); return how many are hard too."""
    i, row, line, n_hard, last = 0, 0, 0, 0, out.shape[1] - 1
    while i < len(text):
        start = i
        i = _after_blanks(text, i)
        if not _ends_line(text[i]):
            for column in range(last + 1):
                first = _after_blanks(text, i)
                end, mantissa, exponent = _scan_real(text, first)
                i = _after_blanks(text, end)
                ends_well = text[i] == _COMMA if column < last else _ends_line(text[i])
                if not (ends_well and end > first):
                    return row, line, start, n_hard
                i += column < last
                if abs(exponent) >= len(powers):
                    hard[n_hard, 0] = row * (last + 1) + column
                    hard[n_hard, 1] = first
                    hard[n_hard, 2] = end
                    n_hard += 1
                    continue
                value = (
                    mantissa / powers[-exponent] if exponent < 0 else mantissa * powers[exponent]
                )
                out[row, column] = -value if text[first] == _MINUS else value
            row += 1
        i = _after_line(text, i)
        line += 1
    return row, line, -1, n_hard


@njit(**JIT)
def _scan_real(text, first):
    """Return the end of a number, or ``first`` if there is none, and mantissa and exponent.

    The exponent is _FAR where the mantissa is not a double.
    """
    i = first + (text[first] == _MINUS or text[first] == _PLUS)
    mantissa, exponent, n_digits, has_point, is_exact = 0.0, 0, 0, False, True
    while _ZERO <= text[i] <= _NINE or (text[i] == _POINT and not has_point):
        if text[i] == _POINT:
            has_point = True
        else:
            mantissa = mantissa * 10 + (text[i] - _ZERO)
            is_exact = is_exact and mantissa < _EXACT
            exponent -= has_point
            n_digits += 1
        i += 1
    if n_digits == 0:
        return first, 0.0, 0
    if text[i] == _E or text[i] == _SMALL_E:
        sign = i + 1
        i = sign + (text[sign] == _MINUS or text[sign] == _PLUS)
        n_digits, power = i, 0
        while _ZERO <= text[i] <= _NINE:
            power = min(power * 10 + (text[i] - _ZERO), _FAR)
            i += 1
        if i == n_digits:
            return first, 0.0, 0
        exponent += -power if text[sign] == _MINUS else power
    if mantissa == 0:
        exponent = 0
    return i, mantissa, exponent if is_exact else _FAR
