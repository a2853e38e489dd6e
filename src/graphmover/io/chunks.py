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


@contextmanager
def naming(file: str | os.PathLike[str], first: int = 0) -> Iterator[None]:
    """Name the file in errors about its content, and count graphs from its beginning."""
    try:
        yield
    except (TypeError, ValueError) as error:
        message = re.sub(r"^graph (\d+)", lambda m: f"graph {int(m[1]) + first}", str(error))
        kind = TypeError if isinstance(error, TypeError) else ValueError
        is_named = os.fspath(file) in message and not message.startswith("graph ")
        raise kind(message if is_named else f"{os.fspath(file)}: {message}") from error


def library(name: str, what: str, extra: str) -> ImportError:
    """Return the error to raise if a library is not installed."""
    return ImportError(f"{what} needs {name}: pip install 'graphmover[{extra}]'")


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
    """Return targets as an array, or None if no graph has one."""
    lacking = [value is None for value in values]
    if all(lacking):
        return None
    if any(lacking):
        raise ValueError(f"graph {lacking.index(True)} has no target while others have")
    try:
        array = np.asarray(values)
    except ValueError:  # unequal lengths
        array = np.empty(0, object)
    if array.ndim not in (1, 2) or array.dtype.kind not in "biufU":
        raise ValueError(
            f"graph 0 has the target {values[0]!r}, expected in all graphs a number, a string, "
            f"or equally many numbers"
        )
    return array.astype(np.int64) if array.dtype.kind in "biu" else array
