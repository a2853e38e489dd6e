"""Columns of a file that no reader has a use for: candidates for a target or an id."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from graphmover.graphs.arrow import COLUMNS
from graphmover.io.chunks import TARGET
from graphmover.io.reading import ID_NAMES

#: A header, or a line of JSON, of more characters is not looked at.
_LONGEST = 1_000_000


def other_columns(
    source: Any, target_column: str | None = None, id_column: str | None = None
) -> list[str]:
    """Return what a file says of each graph beside the graph, its id and its target.

    That is columns of CSV tables of SMILES and of Parquet files, and attributes of the first
    graph of JSON lines. What cannot be read has none: the reader will say so.
    """
    if not isinstance(source, str | os.PathLike):
        return []
    names_of = _NAMES.get(Path(source).suffix.lower())
    try:
        names = [] if names_of is None else list(names_of(Path(source)))
    except Exception:  # a damaged file, or a library that is not there
        return []
    target = target_column or TARGET
    id = id_column or next(
        (name for wanted in ID_NAMES for name in names if name.lower() == wanted), None
    )
    return [name for name in names if name not in (target, id)]


def not_lined_up(source: Any, target_column: str | None = None) -> str:
    """Say that rows are those of the source with gaps, and how to tell which are which."""
    names = [repr(name[:40]) for name in other_columns(source, target_column)[:8]]
    remedy = 'pass errors="empty", which keeps their rows'
    if names:
        others = f" (there are {', '.join(names)})" if names[1:] else ""
        remedy += f", or name a column of ids, as in id_column={names[0]}{others}"
    return f"rows without ids no longer line up with the source where graphs are left out: {remedy}"


def _of_csv(path: Path) -> Iterable[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        names = next(csv.reader([file.readline(_LONGEST)]), [])
    is_smiles = [name.lower() == "smiles" for name in names]
    others = (name for name, is_known in zip(names, is_smiles, strict=True) if not is_known)
    return others if any(is_smiles) else ()  # or a table of edges


def _of_parquet(path: Path) -> Iterable[str]:
    import pyarrow.parquet

    schema = pyarrow.parquet.read_schema(path)
    return (name for name in schema.names if name not in COLUMNS)


def _of_json(path: Path) -> Iterable[str]:
    with path.open(encoding="utf-8-sig") as file:
        lines = (line for line in iter(lambda: file.readline(_LONGEST), "") if line.strip())
        first = json.loads(next(islice(lines, 1), "{}"))
    attributes: dict[str, Any] = first.get("graph", {})
    return attributes


_NAMES = {".csv": _of_csv, ".parquet": _of_parquet, ".jsonl": _of_json, ".ndjson": _of_json}
