"""Shared by all readers of files: chunks of graphs with targets, and errors naming the file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.graphs.interop import converted
from graphmover.graphs.parts import USUAL_NAMES
from graphmover.io.reading import BadGraphs, Readable, Reading

Item = TypeVar("Item")

#: The default name of the column, or attribute of a graph, that is the target.
TARGET = "target"

_LONGEST_MESSAGE = 1000
_NO_NODES = GraphBatch.from_edges([0], [0], [])


class Record(NamedTuple):
    """One graph of a source, and where it was."""

    graph: Any
    target: Any
    id: str | int | None
    position: int | str
    error: Exception | None = None  # why it could not be read, unless that was raised


def name_of(source: Any) -> str:
    """Return what messages call a source."""
    return os.fspath(source) if isinstance(source, str | os.PathLike) else "graphs"


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


def require_one_column(names: Sequence[str], name: str | None, file: os.PathLike[str]) -> None:
    """Reject a table that lacks a column, or has several of that name."""
    n_columns = 1 if name is None else names.count(name)
    if n_columns != 1:
        what = "are several columns" if n_columns else "is no column"
        raise ValueError(f"{os.fspath(file)}: there {what} {name!r} among {shown_names(names)}")


def shown_names(names: Sequence[str]) -> str:
    """Return the first names of columns, for messages."""
    shown = ", ".join(repr(name[:40]) for name in names[:20])
    return f"[{shown}{', ...' if len(names) > 20 else ''}]"


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of ``size`` items; the last may be shorter."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def joined(parts: Sequence[Dataset], *, allow_missing: bool = False) -> Dataset:
    """Return the graphs of several data sets as one, under the name of the first."""
    targets = [part.target for part in parts if part.target is not None]
    if 0 < len(targets) < len(parts):
        if not allow_missing:
            raise ValueError("some graphs have a target and others have none")
        like = targets[0]
        targets = [
            missing_targets(len(part), like) if part.target is None else part.target
            for part in parts
        ]
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


def chunks_of(
    records: Iterable[Record], path: Readable, how: Reading, *, own_ids: bool = False
) -> Iterator[Dataset]:
    """Convert graphs, ``batch_size`` at a time.

    ``own_ids``: those of the graphs themselves are used, and not those of the records.
    """
    first = 0
    if not how.bad.are_raised:
        records = _with_usable_targets(records)
    for chunk in in_batches(records, how.batch_size):
        with naming(path, first):
            data = _converted(chunk, path.stem, how, own_ids=own_ids)
        if data is not None:
            yield data
        first += len(chunk)


def _with_usable_targets(records: Iterable[Record]) -> Iterator[Record]:
    """Yield graphs, of which those with another kind of target than the first are bad."""
    like = None
    for record in records:
        problem = None
        if record.target is not None:
            problem = _target_problem(record.target, record.target if like is None else like)
            like = record.target if like is None and problem is None else like
        if problem is None or record.error is not None:
            yield record
        else:
            yield record._replace(target=None, error=ValueError(problem))


def _converted(
    chunk: Sequence[Record], name: str, how: Reading, *, own_ids: bool
) -> Dataset | None:
    """Return graphs as a batch, or None if none is left. Errors are recorded in their order."""
    graphs = [record.graph if record.error is None else _NO_NODES[0] for record in chunk]
    ids = None
    if not own_ids and any(record.id is not None for record in chunk):
        ids = [record.id for record in chunk]
    bad = how.bad
    as_batch = partial(
        converted,
        names=USUAL_NAMES if own_ids else USUAL_NAMES._replace(graph_id=None),
        keep_direction=how.keep_direction,
        by_reader=True,
        in_file=how.is_file,
    )

    def read(index: int) -> GraphBatch:
        error = chunk[index].error
        if error is not None:
            raise error
        own = None if ids is None else ids[index : index + 1]
        return as_batch([graphs[index]], ids=own)

    try:
        batch = as_batch(graphs, ids=ids)
    except (TypeError, ValueError) as error:
        if bad.are_raised:
            raise bad.with_remedy(error) from error
        places = [(record.position, record.id) for record in chunk]
        batch, kept = one_by_one(read, places, bad)
    else:
        kept = [index for index, record in enumerate(chunk) if not _is_left_out(record, bad)]
        batch = batch if len(kept) == len(chunk) else batch[kept]
    if not kept:
        return None
    targets = [chunk[index].target for index in kept]
    return Dataset(name, batch, target_array(targets, allow_missing=not bad.are_raised))


def _is_left_out(record: Record, bad: BadGraphs) -> bool:
    return record.error is not None and bad.leaves_out(record.error, record.position, record.id)


def one_by_one(
    read: Callable[[int], GraphBatch],
    places: Sequence[tuple[int | str, str | int | None]],
    bad: BadGraphs,
) -> tuple[GraphBatch, list[int]]:
    """Read graphs of which some are bad; return a batch, and which graphs are in it.

    ``places`` are the positions and ids of all of them.
    """
    batches, kept = [_NO_NODES[:0]], []
    widths: dict[str, int] = {}
    for index, (position, id) in enumerate(places):
        try:
            batch = read(index)
            _require_width(batch, widths)
        except (TypeError, ValueError) as error:
            if bad.leaves_out(error, position, id, "graph 0"):
                continue
            batch = _NO_NODES if id is None else _NO_NODES.with_ids([id])
        batches.append(batch)
        kept.append(index)
    return GraphBatch.concatenate(batches), kept


def _require_width(batch: GraphBatch, widths: dict[str, int]) -> None:
    """Reject a graph with more or fewer attributes than those before it."""
    for name in ("node_attributes", "edge_attributes"):
        values = getattr(batch, name)
        if values is not None and len(values):
            width = widths.setdefault(name, values.shape[1])
            if values.shape[1] != width:
                raise ValueError(
                    f"{values.shape[1]} {name.replace('_', ' ')}, expected {width} as in the "
                    f"graphs before it"
                )


def target_array(values: Sequence[Any], *, allow_missing: bool = False) -> NDArray[Any] | None:
    """Return targets as an array, or None if no graph has one.

    Text stays Python objects: in a fixed-width array one long text would set the size of all.
    A missing target, if it is allowed, is NaN among numbers and None among strings.
    """
    lacking = [value is None for value in values]
    if all(lacking):
        return None
    if any(lacking) and not allow_missing:
        raise ValueError(
            f"graph {lacking.index(True)} has no target while others have: give it one, or pass "
            'errors="skip", with which a missing one is NaN, or None among strings'
        )
    like = values[lacking.index(False)]
    for index, value in enumerate(values):
        problem = None if value is None else _target_problem(value, like)
        if problem is not None:
            raise ValueError(f"graph {index} {problem}")
    width = len(like) if isinstance(like, list | tuple) else None
    flat: list[Any] = []
    for value in values:
        row = value if width is not None else (value,)
        flat.extend([None] * (width or 1) if value is None else row)
    array = _array(flat)
    return array if width is None else array.reshape(len(values), width)


def missing_targets(n_graphs: int, like: NDArray[Any]) -> NDArray[Any]:
    """Return targets of graphs that have none, beside others that have: None, or NaN."""
    shape = (n_graphs, *like.shape[1:])
    return np.full(shape, None, object) if like.dtype == object else np.full(shape, np.nan)


def _target_problem(value: Any, like: Any) -> str | None:
    """Say what is wrong with a target, where graph 0 has a target like this, or None."""
    row = value if isinstance(value, list | tuple) else (value,)
    first = like if isinstance(like, list | tuple) else (like,)
    is_alike = isinstance(value, list | tuple) == isinstance(like, list | tuple)
    if not is_alike or len(row) != len(first) or not all(map(_is_plain, row)):
        return (
            f"has the target {_shown(value)}, expected in all graphs a number, a string, or "
            f"equally many numbers"
        )
    for part in row:
        if isinstance(part, str) != isinstance(first[0], str):
            return (
                f"has the target {_shown(part)}, but graph 0 has {_shown(first[0])}: expected "
                f"text in all graphs, or numbers in all"
            )
        if isinstance(part, int) and not -(2**63) <= part < 2**63:
            return f"has the target {_shown(part)}, expected a number that fits 64 bits"
    return None


def _array(flat: list[Any]) -> NDArray[Any]:
    """Return text as objects, integers as int64, booleans as such, and other numbers as floats."""
    kinds = set(map(type, flat))
    if str in kinds:
        return text_array(flat)
    if type(None) in kinds:
        flat = [np.nan if value is None else value for value in flat]
    if kinds == {bool}:
        return np.array(flat, np.bool_)
    return np.array(flat, np.float64 if kinds & {float, type(None)} else np.int64)


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
