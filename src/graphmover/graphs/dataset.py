"""A collection of graphs with targets, as loaders and generators return it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover._utils.checks import is_integer, is_missing, shown
from graphmover._utils.messages import counted
from graphmover._utils.segments import selected_segments
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.graph import Graph


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A named collection of graphs, optionally with one target per graph.

    ``graphs, y = data`` unpacks it. ``data[:10]``, ``data[mask]`` and ``data[indices]`` are data
    sets, with the targets and ids of their graphs; ``data[3]`` is a `Graph` and its target. It has
    a length and a shape ``(N,)``, so that scikit-learn's splitters accept it. Wherever graphs are
    expected, a data set stands for its graphs: ``fit(data)`` ignores targets.

    Attributes
    ----------
    name : str
    graphs : GraphBatch
    target : ndarray or None
        Integers are classes, floats are values to predict; one row per graph. Lists become
        arrays.
    target_names : tuple of str or None
        ``target_names[c]`` is the name of class c.
    ids, edge_labels, edge_attributes : ndarray or None
        Those of ``graphs``.

    Examples
    --------
    >>> import graphmover as gm
    >>> graphs = gm.GraphBatch.from_edges([2, 1], [1, 0], [(0, 1)])
    >>> data = gm.Dataset("pair", graphs, ["x", "y"])
    >>> data
    Dataset('pair', 2 graphs, 2 classes)
    >>> graphs, target = data[1:]
    >>> target
    array(['y'], dtype=object)
    """

    name: str
    graphs: GraphBatch
    target: NDArray[Any] | None = None
    target_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a string, got {self.name!r:.80}")
        if not isinstance(self.graphs, GraphBatch):
            raise TypeError(
                f"graphs must be a GraphBatch, got an object of type "
                f"{type(self.graphs).__name__}: make one by gm.as_graph_batch(graphs)"
            )
        if self.target is not None:
            object.__setattr__(self, "target", as_target(self.target, len(self.graphs)))
        if self.target_names is not None:
            object.__setattr__(self, "target_names", _names(self.target_names))

    @property
    def ids(self) -> NDArray[Any] | None:
        """``graphs.ids``."""
        return self.graphs.ids

    @property
    def edge_labels(self) -> NDArray[Any] | None:
        """``graphs.edge_labels``."""
        return self.graphs.edge_labels

    @property
    def edge_attributes(self) -> NDArray[np.float64] | None:
        """``graphs.edge_attributes``."""
        return self.graphs.edge_attributes

    def __len__(self) -> int:
        return len(self.graphs)

    @property
    def shape(self) -> tuple[int]:
        """``(len(data),)``, as NumPy and scikit-learn expect of a collection."""
        return (len(self),)

    def __iter__(self) -> Iterator[Any]:
        """Yield the graphs and the target, for ``graphs, target = data``."""
        return iter((self.graphs, self.target))

    @overload  # ArrayLike includes integers, too, which mypy sees with some versions of NumPy
    def __getitem__(  # type: ignore[overload-overlap, unused-ignore]
        self, key: int | np.integer[Any]
    ) -> tuple[Graph, Any]: ...

    @overload
    def __getitem__(self, key: slice | ArrayLike | tuple[Any, Any]) -> Dataset: ...

    def __getitem__(self, key: Any) -> tuple[Graph, Any] | Dataset:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn asks for data[rows, ...]
        if is_integer(key):
            return self.graphs[key], None if self.target is None else self.target[key]
        rows = key if isinstance(key, slice) else selected_segments(key, len(self))
        target = None if self.target is None else self.target[rows]
        return Dataset(self.name, self.graphs[rows], target, self.target_names)

    def __repr__(self) -> str:
        ids = "" if self.ids is None else ", ids"
        graphs = counted(len(self), "graph")
        return f"Dataset({self.name!r}, {graphs}, {self._describe_target()}{ids})"

    def _describe_target(self) -> str:
        if self.target is None:
            return "no target"
        if self.target.dtype.kind != "f" and self.target.ndim > 1:
            return counted(self.target.shape[1], "column of classes", "columns of classes")
        if self.target.dtype.kind != "f":
            return counted(len(set(self.target.ravel().tolist())), "class", "classes")
        return counted(1 if self.target.ndim == 1 else self.target.shape[1], "real target")


def as_target(target: Any, n_graphs: int | None = None) -> NDArray[Any]:
    """Return a target as an array with a row per graph; text in lists becomes Python objects.

    Objects become numbers if they are, and a missing one is NaN among numbers, None among texts.
    """
    try:
        array = _as_array(target)
        if array.dtype == object and array.ndim == 1 and _are_rows(array):
            array = _as_array(array.tolist())
    except ValueError:
        raise ValueError("target has rows of different lengths") from None
    if array.dtype.kind not in "biufOU":
        raise TypeError(f"target is an array of {array.dtype}, expected numbers or strings")
    if array.ndim not in (1, 2) or n_graphs not in (None, len(array)):
        graphs = "the graphs" if n_graphs is None else f"{n_graphs} graphs"
        raise ValueError(f"target has the shape {array.shape}, expected a row for each of {graphs}")
    if array.dtype == object:
        return _of_one_kind(array)
    is_listed_text = array.dtype.kind == "U" and not isinstance(target, np.ndarray)
    return array.astype(object) if is_listed_text else array


def _as_array(target: Any) -> NDArray[Any]:
    """Return an array; a list of texts and others as objects, which NumPy would make texts of."""
    array = np.asarray(target)
    if array.dtype.kind in "US" and isinstance(target, list | tuple):
        array = np.asarray(target, dtype=object)
    return array


def _are_rows(array: NDArray[Any]) -> bool:
    return any(isinstance(value, list | tuple | np.ndarray) for value in array)


def _of_one_kind(target: NDArray[Any]) -> NDArray[Any]:
    """Return objects as numbers, or as texts."""
    listed = target.ravel().tolist()
    if set(map(type, listed)) <= {str, type(None)}:
        return target
    values: list[Any] = [None if is_missing(value) else value for value in listed]
    is_text = isinstance(next((value for value in values if value is not None), None), str)
    for place, value in enumerate(values):
        graph = f"graph {place // (len(values) // len(target))}: the target is"
        if is_integer(value) and not -(2**63) <= value < 2**63:
            raise ValueError(f"{graph} {shown(value):.80}, expected a number that fits 64 bits")
        if value is not None and not isinstance(value, str if is_text else Real | np.bool_):
            raise TypeError(
                f"{graph} {value!r:.80}, expected a number in all graphs, or a string in all"
            )
    if is_text:
        texts = np.empty(len(values), object)
        texts[:] = [None if value is None else str(value) for value in values]
        return texts.reshape(target.shape)
    numbers = np.array([np.nan if value is None else value for value in values])
    return (numbers.astype(np.float64) if numbers.dtype == object else numbers).reshape(
        target.shape
    )


def _names(names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"target_names must be a tuple of strings, got {names!r:.80}")
    listed = tuple(names)
    for name in listed:
        if not isinstance(name, str):
            raise TypeError(f"target_names has {name!r:.80}, expected strings")
    return listed
