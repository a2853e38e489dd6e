"""Columns of CSV files: what is a number, and what stays text.

A column is read as a whole, so that no value depends on the others' spelling by accident: ``01``
and ``1`` stay two names, and ``1.50`` stays what it is wherever it is not a number to compute with.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_REAL = re.compile(
    r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.I
)
#: What tables write for a number that is missing.
_MISSING = {"NA", "N/A", "#N/A", "#NA", "NULL", "null", "n/a"}


def labels_of(texts: Sequence[str]) -> list[Any]:
    """Return labels as integers if all are integers in canonical form, and as text otherwise."""
    return list(map(int, texts)) if all(map(is_integer, texts)) else list(texts)


def ids_of(texts: Iterable[str | None]) -> list[Any]:
    """Return ids as integers if all are integers in canonical form; an empty field is None."""
    fields = [text or None for text in texts]
    parse = kind_of_ids(fields)
    return [None if text is None else parse(text) for text in fields]


def kind_of_ids(texts: Iterable[str | None]) -> Callable[[str], Any]:
    """Return the function that parses every id of a column: `int` or `str`."""
    return int if all(is_integer(text) for text in texts if text) else str


def targets_of(texts: Iterable[str | None]) -> list[Any]:
    """Return targets as integers, as floats or as text, the first of these that fits them all.

    An empty field is None, and so is "NA" beside numbers.
    """
    fields = [text or None for text in texts]
    parse = kind_of_targets(fields)
    return [None if text is None else parse(text) for text in fields]


def kind_of_targets(texts: Iterable[str | None]) -> Callable[[str], Any]:
    """Return the function that parses every field of a column."""
    kind: Callable[[str], Any] | None = None
    are_exact = True  # as floats
    for text in texts:
        if not text or text in _MISSING:
            continue
        is_canonical = is_integer(text)
        are_exact = are_exact and is_real(text)
        if kind is not float and is_canonical:
            kind = int
        elif are_exact:
            kind = float
        else:
            return str
    return str if kind is None else partial(_number, kind)


def _number(kind: Callable[[str], Any], text: str) -> Any:
    return None if text in _MISSING else kind(text)


def is_integer(text: str) -> bool:
    """Return whether a text is an integer as `str` writes it, of at most 64 bits."""
    return _INTEGER.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63


def is_real(text: str) -> bool:
    """Return whether a text is a number without leading zeros that is not too large for a float.

    Integers beyond 2**53 are none, unless they fit exactly.
    """
    match = _REAL.fullmatch(text)
    if match is None:
        return False
    value = float(text)
    if match[5] or not math.isfinite(value):  # spelled out, or overflowing
        return bool(match[5])
    is_canonical = match[2] and not (match[3] or match[4])
    return not is_canonical or int(value) == int(text)
