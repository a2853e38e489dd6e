"""One graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover._utils.checks import require_integer
from graphmover.graphs.arrays import Arrays, arrays_from_edges, edge_array

#: Names under which networkx, igraph and rustworkx graphs carry what a `Graph` carries.
NODE_LABEL = EDGE_LABEL = "label"
NODE_ATTRIBUTES = EDGE_ATTRIBUTES = "attributes"
EDGE_WEIGHT = "weight"
GRAPH_ID = "id"


class Graph:
    """One undirected graph.

    Parameters
    ----------
    n_nodes : int
        Number of nodes; they are numbered from 0.
    edges : array-like of shape (m, 2)
        Pairs of node numbers; an edge may be given in either direction or in both, with a label
        and attributes for each.
    node_labels : sequence of n_nodes hashables, optional
        Integers, strings, tuples, ... Labels that are equal in Python are the same label.
    node_attributes : array-like of shape (n_nodes, k), optional
        Finite real numbers.
    edge_weights : array-like of shape (m,), optional
        Finite, non-negative real numbers.
    edge_labels : sequence of m hashables, optional
    edge_attributes : array-like of shape (m, k), optional
        Finite real numbers.
    id : str or int, optional
        What the graph is called, such as the title of a molecule.

    Attributes
    ----------
    edges : ndarray of shape (n_edges, 2)
        Each edge once, the smaller node first, in increasing order.
    edge_weights : ndarray of shape (n_edges,) or None
        None when all are 1.
    edge_labels : ndarray of shape (n_edges,) or None
    edge_attributes : ndarray of shape (n_edges, k) or None
        Parallel to ``edges``. If the values of u -> v and v -> u differ, these are those of u -> v
        with u < v; `as_graph_batch` and `to_networkx` give both.

    Examples
    --------
    >>> import graphmover as gm
    >>> triangle = gm.Graph(3, [(0, 1), (1, 2), (2, 0)], node_labels=["C", "C", "O"])
    >>> triangle
    Graph(n_nodes=3, n_edges=3, node_labels, no attributes, no weights)
    """

    __slots__ = (
        "_behind",
        "edge_attributes",
        "edge_labels",
        "edge_weights",
        "edges",
        "id",
        "n_nodes",
        "node_attributes",
        "node_labels",
    )

    n_nodes: int
    edges: NDArray[np.int64]
    edge_weights: NDArray[np.float64] | None
    node_labels: NDArray[Any] | None
    node_attributes: NDArray[np.float64] | None
    edge_labels: NDArray[Any] | None
    edge_attributes: NDArray[np.float64] | None
    id: str | int | None
    #: Labels and attributes of v -> u, parallel to edges; None if they are those of u -> v.
    _behind: tuple[NDArray[Any] | None, NDArray[np.float64] | None] | None

    def __init__(
        self,
        n_nodes: int,
        edges: ArrayLike,
        *,
        node_labels: Sequence[Any] | NDArray[Any] | None = None,
        node_attributes: ArrayLike | None = None,
        edge_weights: ArrayLike | None = None,
        edge_labels: Sequence[Any] | NDArray[Any] | None = None,
        edge_attributes: ArrayLike | None = None,
        id: str | int | None = None,
    ) -> None:
        require_integer("n_nodes", n_nodes, least=0)
        pairs = edge_array(edges)
        try:
            arrays = arrays_from_edges(
                [n_nodes],
                [len(pairs)],
                pairs,
                edge_weights=edge_weights,
                node_labels=node_labels,
                node_attributes=node_attributes,
                edge_labels=edge_labels,
                edge_attributes=edge_attributes,
                ids=None if id is None else [id],
            )
        except (TypeError, ValueError) as error:  # there is only one graph: no index to name
            raise type(error)(str(error).removeprefix("graph 0: ")) from None
        self._take_from(arrays, 0)

    @classmethod
    def _of(cls, arrays: Arrays, index: int) -> Graph:
        """Return one graph of many."""
        graph = cls.__new__(cls)
        graph._take_from(arrays, index)
        return graph

    def _take_from(self, arrays: Arrays, index: int) -> None:
        first, last = (int(x) for x in arrays.offsets[index : index + 2])
        rows = slice(int(arrays.indptr[first]), int(arrays.indptr[last]))
        degrees = np.diff(arrays.indptr[first : last + 1])
        sources = np.repeat(np.arange(last - first), degrees)
        targets = arrays.indices[rows].astype(np.int64)
        once = sources < targets

        def of_nodes(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else values[first:last]

        def of_edges(values: NDArray[Any] | None, entries: Any = once) -> NDArray[Any] | None:
            return None if values is None else values[rows][entries]

        weights = of_edges(arrays.edge_weights)
        self.n_nodes = last - first
        self.edges = np.column_stack([sources[once], targets[once]])
        self.edge_weights = None if weights is None or (weights == 1).all() else weights
        self.node_labels = of_nodes(arrays.node_labels)
        self.node_attributes = of_nodes(arrays.node_attributes)
        self.edge_labels = of_edges(arrays.edge_labels)
        self.edge_attributes = of_edges(arrays.edge_attributes)
        self._behind = None
        ahead = (self.edge_labels, self.edge_attributes)
        if any(values is not None for values in ahead):
            back = np.argsort(targets, kind="stable")[once]  # see reverse_entries
            behind = of_edges(arrays.edge_labels, back), of_edges(arrays.edge_attributes, back)
            pairs = zip(ahead, behind, strict=True)
            if not all(a is None or b is None or np.array_equal(a, b) for a, b in pairs):
                self._behind = behind
        self.id = None if arrays.ids is None else arrays.ids[index : index + 1].tolist()[0]

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        self._behind = None  # which graphs that were pickled earlier do not have
        for name, value in state[1].items():
            setattr(self, name, value)

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return len(self.edges)

    def _arcs(self) -> tuple[NDArray[np.int64], list[NDArray[Any] | None]]:
        """Return edges and what they carry, in both directions if labels or attributes differ."""
        ahead = self.edge_weights, self.edge_labels, self.edge_attributes
        if self._behind is None:
            return self.edges, list(ahead)
        behind = self.edge_weights, *self._behind
        both = [
            None if values is None else np.concatenate([values, others])
            for values, others in zip(ahead, behind, strict=True)
        ]
        return np.concatenate([self.edges, self.edges[:, ::-1]]), both

    def to_scipy(self) -> Any:
        """Return the adjacency matrix as a ``scipy.sparse.csr_array`` of floats."""
        from scipy.sparse import coo_array

        weights = np.ones(self.n_edges) if self.edge_weights is None else self.edge_weights
        u, v = self.edges.T
        both = (np.concatenate([u, v]), np.concatenate([v, u]))
        shape = (self.n_nodes, self.n_nodes)
        return coo_array((np.concatenate([weights, weights]), both), shape=shape).tocsr()

    def to_networkx(self) -> Any:
        """Return a ``networkx.Graph`` that `as_graph_batch` reads back unchanged.

        It is a ``networkx.DiGraph`` if the labels or attributes of edges depend on the direction.
        Labels and attributes of nodes and edges are stored under ``"label"`` and
        ``"attributes"``, weights under ``"weight"``, the id under the graph's ``"id"``.
        """
        try:
            import networkx as nx
        except ImportError:
            raise ImportError(
                "to_networkx needs networkx: pip install 'graphmover[networkx]'"
            ) from None
        arcs, (weights, labels, attributes) = self._arcs()
        kind = nx.Graph if self._behind is None else nx.DiGraph
        graph = kind() if self.id is None else kind(**{GRAPH_ID: self.id})
        graph.add_nodes_from(range(self.n_nodes))
        graph.add_edges_from(arcs.tolist())
        for name, of_nodes in (
            (NODE_LABEL, _listed(self.node_labels)),
            (NODE_ATTRIBUTES, self.node_attributes),
        ):
            if of_nodes is not None:
                nx.set_node_attributes(graph, dict(enumerate(of_nodes)), name)
        for name, of_edges in (
            (EDGE_WEIGHT, _listed(weights)),
            (EDGE_LABEL, _listed(labels)),
            (EDGE_ATTRIBUTES, attributes),
        ):
            if of_edges is not None:
                values = dict(zip(map(tuple, arcs.tolist()), of_edges, strict=True))
                nx.set_edge_attributes(graph, values, name)
        return graph

    def __repr__(self) -> str:
        return (
            f"Graph(n_nodes={self.n_nodes}, n_edges={self.n_edges}, "
            + ("no node_labels, " if self.node_labels is None else "node_labels, ")
            + ("no attributes, " if self.node_attributes is None else "attributes, ")
            + ("no weights" if self.edge_weights is None else "weights")
            + ("" if self.edge_labels is None else ", edge_labels")
            + ("" if self.edge_attributes is None else ", edge_attributes")
            + ("" if self.id is None else f", id={self.id!r}")
            + ")"
        )


def _listed(values: NDArray[Any] | None) -> list[Any] | None:
    """Return Python values: networkx's users expect no NumPy numbers."""
    return None if values is None else values.tolist()
