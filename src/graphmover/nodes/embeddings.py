"""Algorithm 1, lines 1-2: a graph becomes a weighted set of points.

A node's point is, in the paper, its row in the absolute values of the d eigenvectors of the
normalised Laplacian with the smallest eigenvalues (`laplacian/`); `node_points.py` lists what
else it may be. Its mass is its degree, or the same for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover._utils.checks import is_choice_of_labels, is_whole, require_whole
from graphmover._utils.segments import offsets_from_counts, ranges, segment_sums, selected_segments
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.interop import as_graph_batch
from graphmover.nodes.labels import wl_labels
from graphmover.nodes.registry import NODE_EMBEDDINGS, NodeEmbedding, is_node_embedding, points_of

#: What ``node_mass`` may be.
NODE_MASSES = ("degree", "equal")

#: Whole masses up to this total per graph are kept as they are; others are rounded to whole
#: multiples of 2**-53 of their graph's total, an error below 1e-16 of it per node.
LARGEST_TOTAL = 2**53


class NodeEmbeddings:
    """Graphs as weighted, optionally labelled, points: data graphs and random graphs alike.

    Parameters
    ----------
    points : array-like of shape (number of nodes, d)
        The embeddings of all nodes, graph after graph.
    masses : array-like of shape (number of nodes,)
        Non-negative, not all zero within a graph. Whole numbers are kept; others are
        rounded to multiples of 2**-53 of their graph's total.
    offsets : array-like of shape (N + 1,)
        The nodes of graph i are ``offsets[i]`` to ``offsets[i + 1]``.
    labels : array-like of whole numbers, one per node, optional
        Codes of node labels (`wl_labels` makes them).

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

    points: NDArray[np.float64]
    masses: NDArray[np.int64]
    offsets: NDArray[np.int64]
    labels: NDArray[np.int64] | None

    def __init__(
        self,
        points: ArrayLike,
        masses: ArrayLike,
        offsets: ArrayLike,
        labels: ArrayLike | None = None,
    ) -> None:
        self.points = _checked_points(points)
        self.offsets = _checked_offsets(offsets, len(self.points))
        self.masses = _whole_masses(np.asarray(masses), self.offsets)
        self.labels = None if labels is None else _checked_labels(labels, len(self.points))

    @classmethod
    def _trusted(
        cls,
        points: NDArray[np.float64],
        masses: NDArray[np.int64],
        offsets: NDArray[np.int64],
        labels: NDArray[np.int64] | None,
    ) -> NodeEmbeddings:
        """Wrap arrays that are known to be right."""
        nodes = cls.__new__(cls)
        nodes.points, nodes.masses, nodes.offsets, nodes.labels = points, masses, offsets, labels
        return nodes

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def shape(self) -> tuple[int]:
        """``(len(nodes),)``."""
        return (len(self),)

    @property
    def n_dimensions(self) -> int:
        """The dimension d of the points."""
        return int(self.points.shape[1])

    @property
    def node_counts(self) -> NDArray[np.int64]:
        """Number of nodes of each graph."""
        return np.diff(self.offsets)

    @property
    def weights(self) -> NDArray[np.float64]:
        """The masses, divided by their sum in each graph."""
        totals = segment_sums(self.masses, self.offsets)
        shares: NDArray[np.float64] = self.masses / np.repeat(totals, self.node_counts)
        return shares

    def with_labels(self, labels: ArrayLike | None) -> NodeEmbeddings:
        """Return the same points and masses with other labels, or with none."""
        checked = None if labels is None else _checked_labels(labels, len(self.points))
        return self._trusted(self.points, self.masses, self.offsets, checked)

    def divided_by(self, scale: float) -> NodeEmbeddings:
        """Return the same graphs with all coordinates divided by a number."""
        if scale == 1:
            return self
        return self._trusted(self.points / scale, self.masses, self.offsets, self.labels)

    def __getitem__(self, key: Any) -> NodeEmbeddings:
        """Choose graphs; a single index gives a collection of one."""
        if is_whole(key):
            key = [key]
        chosen = selected_segments(key, len(self))
        counts = self.node_counts[chosen]
        nodes = ranges(self.offsets[chosen], counts)
        return self._trusted(
            self.points[nodes],
            self.masses[nodes],
            offsets_from_counts(counts),
            None if self.labels is None else self.labels[nodes],
        )

    def __iter__(self) -> Iterator[NodeEmbeddings]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"NodeEmbeddings({len(self.points)} nodes in {len(self)} graphs, "
            f"d = {self.n_dimensions}{'' if self.labels is None else ', labels'})"
        )


def embed_nodes(
    graphs: Any,
    n_dimensions: int = 4,
    *,
    node_embedding: NodeEmbedding = "laplacian",
    node_mass: Literal["degree", "equal"] = "degree",
    use_node_labels: bool | Literal["auto"] = "auto",
    wl_iterations: int = 0,
    n_jobs: int | None = None,
    progress: str | None = None,
    first_index: int = 0,
) -> NodeEmbeddings:
    """Embed the nodes of every graph: a point, a mass and perhaps a label each.

    Parameters
    ----------
    graphs : GraphBatch or anything `as_graph_batch` takes
    n_dimensions : int
        The paper's d: how many eigenvectors, or steps of random walks. A graph with fewer
        nodes than eigenvectors has zeros in the coordinates it lacks.
    node_embedding : {"laplacian", "return-probability", "degree"} or callable
        What a node's point is. "laplacian": its row in the absolute values of the normalised
        Laplacian's eigenvectors with the smallest eigenvalues, as in the paper.
        "return-probability": the probabilities that a random walk is back after 1 to d steps.
        "degree": log(1 + degree) alone, one dimension. A callable takes a `GraphBatch` and
        returns a list of arrays of real numbers, one row per node; it may be given the graphs
        in parts, so each graph's array must not depend on the others.
    node_mass : {"degree", "equal"}
        "degree": the sum of a node's edge weights, as in the paper. "equal": 1.
    use_node_labels : bool or "auto"
        Whether labels are carried along; "auto": when the graphs have them.
    wl_iterations : int
        Weisfeiler-Lehman iterations on the labels. When labels are not used, or there are
        none, more than 0 iterations refine one common label: structure alone.
    n_jobs : int or None
        Threads; None is 1, -1 is all cores. The result does not depend on it.
    progress : str or None
        The name of a progress bar on standard error; None shows none. With one, graphs of
        20,000 nodes and more tell how far the solver is.
    first_index : int
        The number of the first graph, in error messages.

    Returns
    -------
    NodeEmbeddings
        With masses by degree isolated nodes have mass 0, unless the graph has no edges at
        all: then all its nodes weigh the same.

    Raises
    ------
    numpy.linalg.LinAlgError
        Eigenvectors of a graph, which the message names, were not found: they are never
        returned with larger residuals than stated in docs/node_embedding.md.

    Examples
    --------
    >>> import graphmover as gm
    >>> triangle = gm.Graph(3, [(0, 1), (1, 2), (2, 0)])
    >>> gm.embed_nodes(triangle, n_dimensions=2).points.round(3)
    array([[0.577, 0.577],
           [0.577, 0.577],
           [0.577, 0.577]])
    """
    require_whole("n_dimensions", n_dimensions, least=1)
    require_whole("wl_iterations", wl_iterations, least=0)
    if not is_choice_of_labels(use_node_labels):
        raise ValueError(f'use_node_labels must be True, False or "auto", got {use_node_labels!r}')
    require_node_choices(node_embedding, node_mass)
    batch = as_graph_batch(graphs)
    labels = node_codes(batch, use_node_labels, wl_iterations)
    degrees = node_degrees(batch, first_index)
    points = points_of(node_embedding, batch, degrees, n_dimensions, n_jobs, progress, first_index)
    masses = node_masses(batch, degrees, node_mass)
    return NodeEmbeddings._trusted(points, masses, batch.offsets, labels)


def require_node_choices(node_embedding: Any, node_mass: Any) -> None:
    """Refuse unknown names."""
    if not is_node_embedding(node_embedding):
        raise ValueError(
            f"node_embedding must be one of {', '.join(NODE_EMBEDDINGS)} or a callable, got "
            f"{node_embedding!r}"
        )
    if not (isinstance(node_mass, str) and node_mass in NODE_MASSES):
        raise ValueError(f"node_mass must be one of {', '.join(NODE_MASSES)}, got {node_mass!r}")


def node_codes(
    batch: GraphBatch, use_node_labels: bool | str, wl_iterations: int
) -> NDArray[np.int64] | None:
    """Return the labels of all nodes as codes, refined, or None where there are none."""
    wanted = batch.node_labels is not None if use_node_labels == "auto" else bool(use_node_labels)
    if wanted and batch.node_labels is None and batch.n_nodes:
        raise ValueError("use_node_labels=True, but not all graphs have node labels")
    if not wanted:
        if not wl_iterations:
            return None
        batch = GraphBatch(batch.offsets, batch.indptr, batch.indices)
    return wl_labels(batch, wl_iterations)


def node_degrees(batch: GraphBatch, first_index: int) -> NDArray[np.float64]:
    """Return the sum of each node's edge weights."""
    if batch.edge_weights is None:
        return np.diff(batch.indptr).astype(np.float64)
    degrees: NDArray[np.float64] = segment_sums(batch.edge_weights, batch.indptr)
    overflowing = np.flatnonzero(~np.isfinite(segment_sums(degrees, batch.offsets)))
    if len(overflowing):
        index = first_index + overflowing[0]
        raise ValueError(f"graph {index}: its edge weights add up to more than 1e308")
    return degrees


def node_masses(
    batch: GraphBatch, degrees: NDArray[np.float64], node_mass: str
) -> NDArray[np.int64]:
    """Return what each node weighs, as a whole number."""
    if node_mass == "equal":
        return np.ones(batch.n_nodes, np.int64)
    without_edges = np.repeat(batch.edge_counts == 0, batch.node_counts)
    return _whole_masses(np.where(without_edges, 1.0, degrees), batch.offsets)


def _whole_masses(masses: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Check masses, and turn those that are not whole numbers into whole multiples."""
    if masses.shape != (offsets[-1],):
        raise ValueError(f"masses has the shape {masses.shape}, expected ({offsets[-1]},)")
    if masses.dtype.kind not in "biuf" and masses.size:
        raise TypeError(f"masses must be real numbers, got an array of {masses.dtype}")
    reals = masses.astype(np.float64)
    bad = ~(np.isfinite(reals) & (reals >= 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"graph {np.searchsorted(offsets, at, side='right') - 1}: mass {masses[at]}, "
            f"expected a finite number that is not negative"
        )
    totals = segment_sums(reals, offsets)
    weightless = (totals == 0) & (np.diff(offsets) > 0)
    if weightless.any():
        raise ValueError(f"graph {np.argmax(weightless)}: all masses are zero")
    whole = np.floor(reals) == reals
    keep = (segment_sums((~whole).astype(np.int64), offsets) == 0) & (totals <= LARGEST_TOTAL)
    result = np.where(whole & (reals <= LARGEST_TOTAL), reals, 0).astype(np.int64)
    for index in np.flatnonzero(~keep):
        segment = slice(offsets[index], offsets[index + 1])
        result[segment] = _rounded_to_total(reals[segment])
    return result


def _rounded_to_total(masses: NDArray[np.float64]) -> NDArray[np.int64]:
    """Round to whole numbers that add up to LARGEST_TOTAL: the largest takes up the slack."""
    masses = masses / masses.max()  # no overflow in the sum
    whole: NDArray[np.int64] = np.rint(masses / masses.sum() * LARGEST_TOTAL).astype(np.int64)
    whole[np.argmax(whole)] += LARGEST_TOTAL - whole.sum()
    return whole


def _checked_points(points: ArrayLike) -> NDArray[np.float64]:
    array = np.array(points, dtype=np.float64, order="C")
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"points must have the shape (nodes, dimensions), got {array.shape}")
    if not (np.abs(array) <= 1e150).all():
        bad = array[~(np.abs(array) <= 1e150)][0]
        raise ValueError(f"points must be finite and at most 1e150 in size, got {bad}")
    return array


def _checked_offsets(offsets: ArrayLike, n_nodes: int) -> NDArray[np.int64]:
    array = np.asarray(offsets)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError("offsets must be a one-dimensional array of whole numbers")
    if not len(array) or array[0] != 0 or array[-1] != n_nodes or (np.diff(array) < 0).any():
        raise ValueError(f"offsets must increase from 0 to the number of points, {n_nodes}")
    if np.diff(array).max(initial=0) > np.iinfo(np.int32).max:
        raise ValueError(f"graph {np.argmax(np.diff(array))} has more than 2**31 - 1 nodes")
    return array.astype(np.int64)


def _checked_labels(labels: ArrayLike, n_nodes: int) -> NDArray[np.int64]:
    array = np.asarray(labels)
    if array.shape != (n_nodes,):
        raise ValueError(f"labels has the shape {array.shape}, expected ({n_nodes},)")
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"labels must be whole numbers (see wl_labels), got {array.dtype}")
    return array.astype(np.int64)
