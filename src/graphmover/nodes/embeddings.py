"""Graphs as weighted sets of points: the one type for data graphs and random graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover._utils.checks import is_integer
from graphmover._utils.segments import (
    offsets_from_counts,
    ranges,
    segment_sums,
    selected_segments,
)
from graphmover.nodes.masses import integer_masses

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Nodes(Protocol):
    """Embedded nodes of many graphs, wherever they are: `NodeEmbeddings`, or arrays on a GPU."""

    @property
    def offsets(self) -> Ints:
        """The nodes of graph i are ``offsets[i]`` to ``offsets[i + 1]``; on the host."""

    def __len__(self) -> int:
        """Return the number of graphs."""

    def __getitem__(self, key: slice) -> Self:
        """Select consecutive graphs."""

    @property
    def n_dimensions(self) -> int:
        """The dimension of the points."""

    @property
    def node_counts(self) -> Ints:
        """Number of nodes of each graph."""

    @property
    def has_labels(self) -> bool:
        """Whether nodes have labels."""

    @property
    def extent(self) -> tuple[float, float]:
        """The smallest and the largest coordinate of all nodes."""

    def divided_by(self, scale: float) -> Self:
        """Return the same graphs with all coordinates divided by a number."""

    def nodes_at(self, places: Ints) -> tuple[Floats, Ints | None]:
        """Return the points and labels of some nodes on the host."""

    def on_host(self, graphs: Ints) -> NodeEmbeddings:
        """Return some graphs on the host."""


class FlatNodes:
    """What nodes in flat arrays have in common, wherever the arrays are."""

    __slots__ = ()

    points: Floats
    masses: Ints
    offsets: Ints
    labels: Ints | None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_dimensions(self) -> int:
        """The dimension d of the points."""
        return int(self.points.shape[1])

    @property
    def node_counts(self) -> Ints:
        """Number of nodes of each graph."""
        return np.diff(self.offsets)

    @property
    def has_labels(self) -> bool:
        """Whether nodes have labels."""
        return self.labels is not None

    @property
    def extent(self) -> tuple[float, float]:
        """The smallest and the largest coordinate of all nodes; 0 and 0 if there are none."""
        if not self.points.size:
            return 0.0, 0.0
        return float(self.points.min()), float(self.points.max())


class NodeEmbeddings(FlatNodes):
    """Graphs as weighted, optionally labelled, points: data graphs and random graphs alike.

    Parameters
    ----------
    points : array-like of shape (number of nodes, d)
        The embeddings of all nodes, graph after graph; d may be 0 where there are labels.
    masses : array-like of shape (number of nodes,)
        Non-negative, not all zero within a graph. Integers are kept; other numbers are
        rounded to multiples of 2**-53 of their graph's total.
    offsets : array-like of shape (N + 1,)
        The nodes of graph i are ``offsets[i]`` to ``offsets[i + 1]``.
    labels : array-like of integers, of shape (number of nodes,) or (number of nodes, k), optional
        Codes of node labels (see `wl_labels`), in one or in several columns.

    Examples
    --------
    >>> import graphmover as gm
    >>> nodes = gm.NodeEmbeddings([[0.0], [1.0], [0.5]], [1, 3, 1], [0, 2, 3])
    >>> nodes
    NodeEmbeddings(3 nodes in 2 graphs, d = 1)
    >>> nodes.weights
    array([0.25, 0.75, 1.  ])
    """

    __slots__ = ("labels", "masses", "offsets", "points")

    def __init__(
        self,
        points: ArrayLike,
        masses: ArrayLike,
        offsets: ArrayLike,
        labels: ArrayLike | None = None,
    ) -> None:
        self.points = _checked_points(points, has_labels=labels is not None)
        self.offsets = _checked_offsets(offsets, len(self.points))
        self.masses = integer_masses(np.asarray(masses), self.offsets)
        self.labels = None if labels is None else _checked_labels(labels, len(self.points))

    @classmethod
    def _trusted(
        cls,
        points: Floats,
        masses: Ints,
        offsets: Ints,
        labels: Ints | None,
    ) -> Self:
        """Wrap arrays that need no check."""
        nodes = cls.__new__(cls)
        nodes.points, nodes.masses, nodes.offsets, nodes.labels = points, masses, offsets, labels
        return nodes

    @staticmethod
    def concatenate(parts: Sequence[NodeEmbeddings]) -> NodeEmbeddings:
        """Return the graphs of several collections, which have the same columns, as one."""
        labels = [part.labels for part in parts if part.labels is not None]
        return NodeEmbeddings._trusted(
            np.concatenate([part.points for part in parts]),
            np.concatenate([part.masses for part in parts]),
            offsets_from_counts(np.concatenate([part.node_counts for part in parts])),
            np.concatenate(labels) if labels else None,
        )

    @property
    def shape(self) -> tuple[int]:
        """``(len(nodes),)``."""
        return (len(self),)

    @property
    def weights(self) -> Floats:
        """The masses, divided by their sum in each graph."""
        totals = segment_sums(self.masses, self.offsets)
        shares: Floats = self.masses / np.repeat(totals, self.node_counts)
        return shares

    def with_labels(self, labels: ArrayLike | None) -> Self:
        """Return the same points and masses with other labels, or with none."""
        checked = None if labels is None else _checked_labels(labels, len(self.points))
        return self._trusted(self.points, self.masses, self.offsets, checked)

    def divided_by(self, scale: float) -> Self:
        """Return the same graphs with all coordinates divided by a number."""
        if scale == 1:
            return self
        return self._trusted(self.points / scale, self.masses, self.offsets, self.labels)

    def nodes_at(self, places: Ints) -> tuple[Floats, Ints | None]:
        """Return the points and labels of some nodes, numbered over all graphs."""
        return self.points[places], None if self.labels is None else self.labels[places]

    def on_host(self, graphs: Ints) -> Self:
        """Return some graphs: they are here."""
        return self[graphs]

    def __getitem__(self, key: Any) -> Self:
        """Select graphs; a single index gives a collection of one, a slice shares memory."""
        if is_integer(key):
            key = [key]
        if isinstance(key, slice) and key.step in (None, 1):
            start, stop, _ = key.indices(len(self))
            offsets = self.offsets[start : max(start, stop) + 1]
            places: Any = slice(offsets[0], offsets[-1])
            offsets = offsets - offsets[0]
        else:
            selected = selected_segments(key, len(self))
            counts = self.node_counts[selected]
            places, offsets = ranges(self.offsets[selected], counts), offsets_from_counts(counts)
        points, labels = self.nodes_at(places)
        return self._trusted(points, self.masses[places], offsets, labels)

    def __iter__(self) -> Iterator[Self]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self.points)} nodes in {len(self)} graphs, "
            f"d = {self.n_dimensions}{'' if self.labels is None else ', labels'})"
        )


def _checked_points(points: ArrayLike, *, has_labels: bool) -> Floats:
    array = np.array(points, dtype=np.float64, order="C")
    if array.ndim != 2 or (array.shape[1] == 0 and not has_labels):
        raise ValueError(f"points must have the shape (nodes, dimensions), got {array.shape}")
    if not (np.abs(array) <= 1e150).all():
        bad = array[~(np.abs(array) <= 1e150)][0]
        raise ValueError(f"points must be finite and at most 1e150 in size, got {bad}")
    return array


def _checked_offsets(offsets: ArrayLike, n_nodes: int) -> Ints:
    array = np.asarray(offsets)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError("offsets must be a one-dimensional array of integers")
    # Compared, not subtracted: differences of unsigned or huge numbers wrap around.
    falls = np.flatnonzero(array[1:] < array[:-1])
    if not len(array) or array[0] != 0 or array[-1] != n_nodes or len(falls):
        message = f"offsets must increase from 0 to the number of points, {n_nodes}"
        if len(falls):
            message += f"; offset {falls[0] + 1} is {array[falls[0] + 1]} after {array[falls[0]]}"
        raise ValueError(message)
    checked = array.astype(np.int64)
    if np.diff(checked).max(initial=0) > np.iinfo(np.int32).max:
        raise ValueError(f"graph {np.argmax(np.diff(checked))} has more than 2**31 - 1 nodes")
    return checked


def _checked_labels(labels: ArrayLike, n_nodes: int) -> Ints:
    array = np.asarray(labels)
    if array.ndim not in (1, 2) or len(array) != n_nodes:
        raise ValueError(
            f"labels has the shape {array.shape}, expected ({n_nodes},) or ({n_nodes}, columns)"
        )
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"labels must be integers (see wl_labels), got {array.dtype}")
    return array.astype(np.int64, order="C")
