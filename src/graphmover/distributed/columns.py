"""The types of ids and targets in a file, and in all files of a source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray


class Columns(NamedTuple):
    """Types of ids and targets, as Arrow names them; None if there are none."""

    id: str | None
    target: str | None
    target_width: int | None  # of targets that are lists


def merged(columns: Sequence[Columns], files: Sequence[str], *, allow_missing: bool) -> Columns:
    """Return the types that hold the ids and targets of all files, or raise a ValueError."""
    ids = {column.id for column in columns} - {None}
    having = [number for number, column in enumerate(columns) if column.target is not None]
    if not having:
        return Columns(_ids(ids), None, None)
    like = columns[having[0]]
    kind = like.target
    for number, column in enumerate(columns):
        if column.target is None and not allow_missing:
            raise ValueError(f"{files[number]} has no target, but {files[having[0]]} has one")
        if column.target is None:
            continue
        if column.target_width != like.target_width:
            raise ValueError(
                f"{files[number]} has {column.target_width or 1} targets per graph, expected "
                f"{like.target_width or 1} as in {files[having[0]]}"
            )
        if {kind, column.target} == {"int64", "double"}:
            kind = "double"
        if kind not in (column.target, "double"):
            raise ValueError(
                f"the target of {files[number]} holds {column.target}, expected {kind} as in "
                f"{files[having[0]]}"
            )
    return Columns(_ids(ids), kind, like.target_width)


def _ids(kinds: set[str | None]) -> str | None:
    return None if not kinds else "int64" if kinds == {"int64"} else "string"


def kind_of_values(values: NDArray[Any] | None) -> str | None:
    """Return the type of targets or ids that an array of NumPy holds."""
    if values is None:
        return None
    if values.dtype == object:
        known = [value for value in values.ravel().tolist() if value is not None]
        return "int64" if known and all(isinstance(value, int) for value in known) else "string"
    return {"b": "bool", "i": "int64", "u": "int64", "f": "double"}.get(values.dtype.kind, "string")
