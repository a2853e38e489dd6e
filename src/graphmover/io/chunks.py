"""Shared by all readers of files: chunks of graphs with targets, and errors naming the file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.graphs.interop import as_graph_batch

Item = TypeVar("Item")

#: The default name of the column, or attribute of a graph, that is the target.
TARGET = "target"

_LONGEST_MESSAGE = 1000


@contextmanager
def naming(file: str | os.PathLike[str], first: int = 0) -> Iterator[None]:
    """Name the file in errors about its content, and count graphs from its beginning."""
    try:
        yield
    except (TypeError, ValueError) as error:
        message = re.sub(r"^graph (\d+)", lambda m: f"graph {int(m[1]) + first}", str(error))
        if len(message) > _LONGEST_MESSAGE:  # it shows a value of any length
            message = f"{message[:_LONGEST_MESSAGE]} ..."
        kind = TypeError if isinstance(error, TypeError) else ValueError
        is_named = os.fspath(file) in message and not message.startswith("graph ")
        raise kind(message if is_named else f"{os.fspath(file)}: {message}") from error


def library(name: str, what: str, extra: str) -> ImportError:
    """Return the error to raise if a library is not installed."""
    return ImportError(f"{what} needs {name}: pip install 'graphmover[{extra}]'")


def require_one_column(names: Sequence[str], name: str | None, file: Path) -> None:
    """Reject a table that lacks a column, or has several of that name."""
    n_columns = 1 if name is None else names.count(name)
    if n_columns != 1:
        what = "are several columns" if n_columns else "is no column"
        raise ValueError(f"{file}: there {what} {name!r} among {shown_names(names)}")


def shown_names(names: Sequence[str]) -> str:
    """Return the first names of columns, for messages."""
    shown = ", ".join(repr(name[:40]) for name in names[:20])
    return f"[{shown}{', ...' if len(names) > 20 else ''}]"


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of ``size`` items; the last may be shorter."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def rows_of(data: Dataset, start: int, stop: int | None = None) -> Dataset:
    """Return consecutive graphs of a data set with their targets."""
    rows = slice(start, stop)
    target = None if data.target is None else data.target[rows]
    return Dataset(data.name, data.graphs[rows], target, data.target_names)


def joined(parts: Sequence[Dataset]) -> Dataset:
    """Return the graphs of several data sets as one, under the name of the first."""
    targets = [part.target for part in parts if part.target is not None]
    if 0 < len(targets) < len(parts):
        raise ValueError("some graphs have a target and others have none")
    first = 0
    for part in parts:
        if part.target is not None and (part.target.dtype == object) != (
            targets[0].dtype == object
        ):
            raise ValueError(
                f"graph {first} has the target {_shown(part.target[0])}, but graph 0 has "
                f"{_shown(targets[0][0])}: expected text in all graphs, or numbers in all"
            )
        first += len(part.graphs)
    return Dataset(
        parts[0].name,
        GraphBatch.concatenate([part.graphs for part in parts]),
        np.concatenate(targets) if targets else None,
        parts[0].target_names,
    )


def chunks_of(graphs: Iterable[tuple[Any, Any]], path: Path, batch_size: int) -> Iterator[Dataset]:
    """Convert pairs of graph and target, ``batch_size`` at a time."""
    first = 0
    for pairs in in_batches(graphs, batch_size):
        with naming(path, first):
            batch = as_graph_batch([graph for graph, _ in pairs])
            target = target_array([target for _, target in pairs])
        yield Dataset(path.stem, batch, target)
        first += len(pairs)


def target_array(values: Sequence[Any]) -> NDArray[Any] | None:
    """Return targets as an array, or None if no graph has one.

    Text stays Python objects: in a fixed-width array one long text would set the size of all.
    """
    lacking = [value is None for value in values]
    if all(lacking):
        return None
    if any(lacking):
        raise ValueError(f"graph {lacking.index(True)} has no target while others have")
    width = len(values[0]) if isinstance(values[0], list | tuple) else None
    flat: list[Any] = []
    for index, value in enumerate(values):
        row = value if isinstance(value, list | tuple) else (value,)
        is_alike = isinstance(value, list | tuple) == (width is not None)
        if not is_alike or len(row) != (width or 1) or not all(map(_is_plain, row)):
            raise ValueError(
                f"graph {index} has the target {_shown(value)}, expected in all graphs a number, "
                f"a string, or equally many numbers"
            )
        flat.extend(row)
    array = _array(flat, width or 1)
    return array if width is None else array.reshape(len(values), width)


def _array(flat: list[Any], per_graph: int) -> NDArray[Any]:
    """Return text as objects, integers as int64, and other numbers as floats."""
    is_text = isinstance(flat[0], str)
    for place, value in enumerate(flat):
        if isinstance(value, str) != is_text:
            raise ValueError(
                f"graph {place // per_graph} has the target {_shown(value)}, but graph 0 has "
                f"{_shown(flat[0])}: expected text in all graphs, or numbers in all"
            )
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ValueError(
                f"graph {place // per_graph} has the target {_shown(value)}, expected a number "
                f"that fits 64 bits"
            )
    if is_text:
        return text_array(flat)
    return np.array(flat, np.float64 if float in map(type, flat) else np.int64)


def text_array(texts: Sequence[str | bytes | None]) -> NDArray[np.object_]:
    """Return texts as an array of Python strings."""
    array = np.empty(len(texts), object)
    array[:] = texts
    return array


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)


def _shown(value: Any) -> str:
    """Return at most 80 characters of a value; an integer may have any number of digits."""
    if isinstance(value, int) and abs(value) >= 10**80:
        return "an integer of more than 80 digits"
    return repr(value)[:80]
