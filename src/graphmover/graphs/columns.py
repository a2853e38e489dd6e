"""Labels and attributes of nodes or edges, and ids of graphs, checked and concatenated.

Messages start with ``graph i:`` so that the culprit among many can be found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover._utils.checks import is_integer, is_missing
from graphmover._utils.messages import counted, warn

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Labels in files may be lists of lists this deep. Hashing deeper ones would exhaust the stack.
MAX_DEPTH = 20

#: What to do about weights that are negative, such as correlations.
NEGATIVE_WEIGHTS = "take absolute values, or keep only edges above a threshold"


class Carriers(NamedTuple):
    """The nodes or edges that carry the values of a column."""

    kind: str  #: "node" or "edge"
    n: int
    name: Callable[[int], str]  #: how messages call the one at a position


def nodes_of(offsets: Ints) -> Carriers:
    """Return the nodes of all graphs."""

    def name(position: int) -> str:
        index = int(np.searchsorted(offsets, position, side="right")) - 1
        return f"graph {index}: node {position - offsets[index]}"

    return Carriers("node", int(offsets[-1]), name)


def edges_of(graph_of_edge: Ints, edges: Ints) -> Carriers:
    """Return the rows of an edge list."""

    def name(position: int) -> str:
        return f"graph {graph_of_edge[position]}: edge {tuple(edges[position].tolist())}"

    return Carriers("edge", len(edges), name)


def label_array(labels: Sequence[Any] | NDArray[Any], carriers: Carriers) -> NDArray[Any]:
    """Return labels as int64 if all are integers, and as Python objects otherwise."""
    kind = carriers.kind
    values: Any = labels if isinstance(labels, np.ndarray) else list(labels)
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ValueError(
                f"{kind}_labels must have one entry per {kind}, got the shape {values.shape}; to "
                f"combine several columns give a tuple per {kind}"
            )
        if values.dtype.kind not in "bi":
            values = values.tolist()
    if len(values) != carriers.n:
        entries, expected = counted(len(values), "entry", "entries"), counted(carriers.n, kind)
        raise ValueError(f"{kind}_labels has {entries} for {expected}")
    if isinstance(values, np.ndarray):
        return values.astype(np.int64)
    if all(issubclass(kind, int | np.integer | np.bool_) for kind in set(map(type, values))):
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass  # integers beyond 64 bits stay Python objects
    try:
        usable = all(label == label for label in set(values))  # noqa: PLR0124 - NaN is not
    except TypeError:  # not hashable
        usable = False
    if not usable:
        for position, label in enumerate(values):
            _check_label(label, carriers.name(position))
    return np.fromiter(values, dtype=object, count=len(values))


def _check_label(label: Any, carrier: str) -> None:
    try:
        hash(label)
    except TypeError:
        raise TypeError(f"{carrier} has the label {label!r}, expected a hashable value") from None
    if label != label:  # noqa: PLR0124 - that is what NaN means
        raise ValueError(
            f"{carrier} has the label {label!r}, which is not equal to itself: "
            "replace missing labels"
        )


def is_id(value: Any) -> bool:
    """Return whether a value can be the id of a graph: text that UTF-8 can hold, or 64 bits."""
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
    return is_integer(value) and -(2**63) <= value < 2**63


def as_id(value: Any) -> Any:
    """Return None for a missing id, a date or time as text, and anything else as it is."""
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64):
        return str(value)
    return value.isoformat() if isinstance(value, date) else value


def id_array(ids: Iterable[Any], n_graphs: int) -> NDArray[Any]:
    """Return ids as int64 if all are integers, and as Python objects otherwise.

    A graph without an id has None; integers among strings become text. Text is never of fixed
    width: one long id would set the size of all.
    """
    if isinstance(ids, str | bytes | Mapping) or not isinstance(ids, Iterable):
        raise TypeError(f"ids must be a list or an array, got {ids!r:.80}")
    if isinstance(ids, np.ndarray) and ids.ndim != 1:
        raise ValueError(f"ids must have one entry per graph, got the shape {ids.shape}")
    values = list(map(as_id, ids))
    if len(values) != n_graphs:
        raise ValueError(f"{len(values)} ids for {n_graphs} graphs, expected one for each")
    for index, value in enumerate(values):
        if value is not None and not is_id(value):
            raise TypeError(
                f"graph {index}: the id is {value!r:.80}, expected a string or an integer of 64 "
                f"bits"
            )
    if values and all(map(is_integer, values)):
        return np.array(values, dtype=np.int64)
    if any(isinstance(value, str) for value in values):
        values = [None if value is None else str(value) for value in values]
    return np.fromiter(values, dtype=object, count=len(values))


def joined_ids(parts: Sequence[NDArray[Any] | None], counts: Sequence[int]) -> NDArray[Any] | None:
    """Concatenate ids; graphs of parts without them have none."""
    if all(part is None for part in parts):
        return None
    if all(part is not None and part.dtype != object for part in parts):
        return np.concatenate([part for part in parts if part is not None])
    values = (
        [None] * count if part is None else part.tolist()
        for part, count in zip(parts, counts, strict=True)
    )
    return id_array(chain.from_iterable(values), sum(counts))


def nested_tuple(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Turn lists of a label that was read from a file, which has no tuples, into tuples."""
    if not isinstance(value, list):
        return value
    if not depth:
        raise ValueError(f"a label is nested more than {MAX_DEPTH} deep")
    return tuple(nested_tuple(part, depth - 1) for part in value)


def attribute_array(attributes: ArrayLike, carriers: Carriers) -> Floats:
    """Return attributes as finite floats, one row per node or edge."""
    kind = carriers.kind
    try:
        array = np.asarray(attributes)
    except ValueError:
        raise ValueError(
            f"{kind}_attributes has rows of different lengths, expected equally many numbers for "
            f"each {kind}"
        ) from None
    if array.dtype == object and array.ndim and len(array) == carriers.n:
        array = objects_as_floats(
            array, lambda place: carriers.name(place // (array.size // len(array)))
        )
    if array.dtype.kind not in "biuf" and array.size:
        raise TypeError(f"{kind} attributes must be real numbers, got an array of {array.dtype}")
    array = array.astype(np.float64)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or len(array) != carriers.n:
        raise ValueError(
            f"{kind}_attributes has the shape {array.shape}, expected a row for each of "
            f"{carriers.n} {kind}s"
        )
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        position = int(np.argmax(bad))
        raise ValueError(
            f"{carriers.name(position)} has the attributes {array[position].tolist()}, expected "
            f"finite numbers"
        )
    return array


def objects_as_floats(array: NDArray[Any], name: Callable[[int], str]) -> NDArray[Any]:
    """Return Python's numbers, of which some do not fit 64 bits, as floats, others as they are.

    ``name`` says what carries the value at a position of the flat array.
    """
    if not all(isinstance(value, Real) for value in array.flat):
        return array
    for place, value in enumerate(array.flat):
        try:
            float(value)
        except OverflowError:
            raise ValueError(
                f"{name(place)} has an attribute that is too large for a float"
            ) from None
    return array.astype(np.float64)


def on_all_graphs(parts: Sequence[Any], what: str, graph_indices: Sequence[int]) -> bool:
    """Return whether all parts have something; warn if only some have it."""
    n_present = sum(part is not None for part in parts)
    if 0 < n_present < len(parts):
        lacking = next(i for part, i in zip(parts, graph_indices, strict=True) if part is None)
        warn(
            f"graph {lacking} has no {what} while others have: {what} are left out of the "
            f"whole batch. Give them to all graphs, or to none."
        )
    return 0 < n_present == len(parts)


def stacked(
    parts: Sequence[NDArray[Any] | None], what: str, graph_indices: Sequence[int]
) -> NDArray[Any]:
    """Stack tables of equal width; ``what`` is their name, such as "edge attributes"."""
    tables = [part for part in parts if part is not None]
    for table, index in zip(tables, graph_indices, strict=True):
        if table.shape[1:] != tables[0].shape[1:]:
            kind, _, _ = what.partition(" ")
            raise ValueError(
                f"graph {index}: {table.shape[1]} {what} per {kind}, expected "
                f"{tables[0].shape[1]} as in the graphs before it"
            )
    return np.concatenate(tables)
