"""Graphs as data: one graph, and many graphs as flat arrays.

Every graph here is simple and undirected: self-loops are dropped, repeated edges are
merged (the largest weight stays), an edge of weight zero is no edge. This is the only
module that decides so; everything after it may rely on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover._utils.checks import is_whole, require_whole
from graphmover._utils.segments import offsets_from_counts, ranges, selected_segments
from graphmover.graphs import arrays
from graphmover.graphs import arrow as _arrow

#: Names under which networkx, igraph and rustworkx graphs carry what a `Graph` carries.
NODE_LABEL = "label"
NODE_ATTRIBUTES = "attributes"
EDGE_WEIGHT = "weight"


class Graph:
    """One undirected graph.

    Parameters
    ----------
    n_nodes : int
        Number of nodes; they are numbered from 0.
    edges : array-like of shape (m, 2)
        Pairs of node numbers, each edge in either direction or in both.
    node_labels : sequence of n_nodes hashables, optional
        Integers, strings, tuples, ... Labels that are equal in Python are the same label.
    node_attributes : array-like of shape (n_nodes, k), optional
        Finite real numbers.
    edge_weights : array-like of shape (m,), optional
        Finite, non-negative real numbers.

    Attributes
    ----------
    edges : ndarray of shape (n_edges, 2)
        Each edge once, the smaller node first, in increasing order.
    edge_weights : ndarray of shape (n_edges,) or None
        None when all are 1.

    Examples
    --------
    >>> import graphmover as gm
    >>> triangle = gm.Graph(3, [(0, 1), (1, 2), (2, 0)], node_labels=["C", "C", "O"])
    >>> triangle
    Graph(n_nodes=3, n_edges=3, node_labels, no attributes, no weights)
    """

    __slots__ = ("edge_weights", "edges", "n_nodes", "node_attributes", "node_labels")

    n_nodes: int
    edges: NDArray[np.int64]
    edge_weights: NDArray[np.float64] | None
    node_labels: NDArray[Any] | None
    node_attributes: NDArray[np.float64] | None

    def __init__(
        self,
        n_nodes: int,
        edges: ArrayLike,
        *,
        node_labels: Sequence[Any] | NDArray[Any] | None = None,
        node_attributes: ArrayLike | None = None,
        edge_weights: ArrayLike | None = None,
    ) -> None:
        require_whole("n_nodes", n_nodes, least=0)
        pairs = arrays.edge_array(edges)
        try:
            batch = GraphBatch.from_edges(
                [n_nodes],
                [len(pairs)],
                pairs,
                edge_weights=edge_weights,
                node_labels=node_labels,
                node_attributes=node_attributes,
            )
        except (TypeError, ValueError) as error:  # there is only one graph: no index to name
            raise type(error)(str(error).removeprefix("graph 0: ")) from None
        self._take_from(batch, 0)

    def _take_from(self, batch: GraphBatch, index: int) -> None:
        first, last = (int(x) for x in batch.offsets[index : index + 2])
        rows = slice(int(batch.indptr[first]), int(batch.indptr[last]))
        degrees = np.diff(batch.indptr[first : last + 1])
        sources = np.repeat(np.arange(last - first), degrees)
        targets = batch.indices[rows].astype(np.int64)
        once = sources < targets
        weights = None if batch.edge_weights is None else batch.edge_weights[rows][once]
        self.n_nodes = last - first
        self.edges = np.column_stack([sources[once], targets[once]])
        self.edge_weights = None if weights is None or (weights == 1).all() else weights
        self.node_labels = None if batch.node_labels is None else batch.node_labels[first:last]
        self.node_attributes = (
            None if batch.node_attributes is None else batch.node_attributes[first:last]
        )

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return len(self.edges)

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

        Labels, attributes and weights are stored under ``"label"``, ``"attributes"`` and
        ``"weight"``.
        """
        try:
            import networkx as nx
        except ImportError:
            raise ImportError(
                "to_networkx needs networkx: pip install 'graphmover[networkx]'"
            ) from None
        graph = nx.Graph()
        graph.add_nodes_from(range(self.n_nodes))
        graph.add_edges_from(self.edges.tolist())
        if self.edge_weights is not None:
            values = dict(zip(graph.edges, self.edge_weights.tolist(), strict=True))
            nx.set_edge_attributes(graph, values, EDGE_WEIGHT)
        if self.node_labels is not None:
            nx.set_node_attributes(graph, dict(enumerate(self.node_labels.tolist())), NODE_LABEL)
        if self.node_attributes is not None:
            nx.set_node_attributes(graph, dict(enumerate(self.node_attributes)), NODE_ATTRIBUTES)
        return graph

    def __repr__(self) -> str:
        return (
            f"Graph(n_nodes={self.n_nodes}, n_edges={self.n_edges}, "
            + ("no node_labels, " if self.node_labels is None else "node_labels, ")
            + ("no attributes, " if self.node_attributes is None else "attributes, ")
            + ("no weights)" if self.edge_weights is None else "weights)")
        )


class GraphBatch:
    """Many graphs as flat, read-only arrays: what `as_graph_batch` returns.

    Build one by `as_graph_batch` or `from_edges`: the constructor takes these very arrays and
    checks nothing.

    ``batch[3]`` is a `Graph`; ``batch[2:9]``, ``batch[[5, 1]]`` and ``batch[mask]`` are
    batches. It has a length, a shape ``(N,)``, and iterates over graphs, so that
    scikit-learn's splitters and searches take it as they take an array.

    Attributes
    ----------
    offsets : ndarray of shape (N + 1,)
        The nodes of graph i are ``offsets[i]`` to ``offsets[i + 1]`` of all nodes.
    indptr, indices : ndarrays
        Compressed sparse rows over all nodes: the neighbours of node v are
        ``indices[indptr[v]:indptr[v + 1]]``, numbered within their own graph, increasing.
        Each edge stands in both of its rows.
    edge_weights : ndarray beside ``indices``, or None when all are 1
    node_labels : ndarray of int64 or object, one per node, or None
    node_attributes : ndarray of shape (number of nodes, k), or None

    Examples
    --------
    >>> import graphmover as gm
    >>> batch = gm.as_graph_batch([gm.Graph(2, [(0, 1)]), gm.Graph(3, [(0, 1), (1, 2)])])
    >>> batch
    GraphBatch(3 edges over 5 nodes in 2 graphs)
    >>> batch[1].n_nodes
    3
    """

    __slots__ = ("edge_weights", "indices", "indptr", "node_attributes", "node_labels", "offsets")

    def __init__(
        self,
        offsets: NDArray[np.int64],
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        edge_weights: NDArray[np.float64] | None = None,
        node_labels: NDArray[Any] | None = None,
        node_attributes: NDArray[np.float64] | None = None,
    ) -> None:
        self.offsets = _read_only(offsets)
        self.indptr = _read_only(indptr)
        self.indices = _read_only(indices)
        self.edge_weights = None if edge_weights is None else _read_only(edge_weights)
        self.node_labels = None if node_labels is None else _read_only(node_labels)
        self.node_attributes = None if node_attributes is None else _read_only(node_attributes)

    @classmethod
    def from_edges(
        cls,
        node_counts: ArrayLike,
        edge_counts: ArrayLike,
        edges: ArrayLike,
        *,
        edge_weights: ArrayLike | None = None,
        node_labels: Sequence[Any] | NDArray[Any] | None = None,
        node_attributes: ArrayLike | None = None,
        directed: ArrayLike | None = None,
    ) -> GraphBatch:
        """Build a batch from the edges of all graphs, graph after graph.

        Parameters
        ----------
        node_counts, edge_counts : array-likes of shape (N,)
            How many nodes, and how many rows of ``edges``, each graph has.
        edges : array-like of shape (sum of edge_counts, 2)
            Node numbers within each graph; any order, repeated edges and self-loops allowed.
        edge_weights, node_labels, node_attributes
            Beside ``edges`` and the nodes of all graphs.
        directed : array-like of N booleans, optional
            Graphs in whose source an edge has a direction: one warning is given if
            dropping it changes any of them.

        Examples
        --------
        >>> import graphmover as gm
        >>> gm.GraphBatch.from_edges([2, 3], [1, 2], [(0, 1), (0, 1), (1, 2)])
        GraphBatch(3 edges over 5 nodes in 2 graphs)
        """
        nodes = arrays.count_array("node_counts", node_counts)
        per_graph = arrays.count_array("edge_counts", edge_counts)
        if len(nodes) != len(per_graph):
            raise ValueError(f"node_counts has {len(nodes)} entries, edge_counts {len(per_graph)}")
        if len(nodes) and nodes.max() > np.iinfo(np.int32).max:
            index = int(np.argmax(nodes))
            raise ValueError(f"graph {index}: {nodes[index]} nodes are more than 2**31 - 1")
        offsets = offsets_from_counts(nodes)
        pairs = arrays.edge_array(edges)
        graph_of_edge = np.repeat(np.arange(len(nodes)), per_graph)
        if len(pairs) != len(graph_of_edge):
            raise ValueError(f"edges has {len(pairs)} rows, expected {len(graph_of_edge)}")
        weights = None if edge_weights is None else arrays.weight_array(edge_weights)
        arrays.check_edges(nodes, graph_of_edge, pairs, weights)
        oriented = None if directed is None else np.asarray(directed, dtype=bool)
        if oriented is not None and oriented.shape != nodes.shape:
            raise ValueError(f"directed has the shape {oriented.shape}, expected {nodes.shape}")
        indptr, indices, merged = arrays.undirected_rows(
            offsets, graph_of_edge, pairs, weights, oriented
        )
        labels = None if node_labels is None else arrays.label_array(node_labels, offsets)
        attributes = (
            None if node_attributes is None else arrays.attribute_array(node_attributes, offsets)
        )
        return cls(offsets, indptr, indices, merged, labels, attributes)

    @staticmethod
    def concatenate(batches: Sequence[GraphBatch]) -> GraphBatch:
        """Put batches one after another.

        Labels or attributes that some batches have and others lack are left out, with a
        warning.

        Examples
        --------
        >>> import graphmover as gm
        >>> one = gm.as_graph_batch(gm.Graph(2, [(0, 1)]))
        >>> gm.GraphBatch.concatenate([one, one, one])
        GraphBatch(3 edges over 6 nodes in 3 graphs)
        """
        if not batches:
            raise ValueError("need at least one batch to concatenate, got none")
        firsts = offsets_from_counts([len(batch) for batch in batches])
        # A batch without nodes has no labels to lack.
        full = [(b, int(i)) for b, i in zip(batches, firsts[:-1], strict=True) if b.n_nodes]
        indices = [index for _, index in full]

        def joined(name: str) -> NDArray[Any] | None:
            parts, what = [getattr(b, name) for b, _ in full], name.replace("_", " ")
            if not arrays.on_all_graphs(parts, what, indices):
                return None
            return arrays.stacked(parts, what, indices)

        weighted = any(batch.edge_weights is not None for batch in batches)
        return GraphBatch(
            offsets_from_counts(np.concatenate([batch.node_counts for batch in batches])),
            offsets_from_counts(np.concatenate([np.diff(batch.indptr) for batch in batches])),
            np.concatenate([batch.indices for batch in batches]),
            np.concatenate([batch.adjacency_weights for batch in batches]) if weighted else None,
            joined("node_labels"),
            joined("node_attributes"),
        )

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table`` with a row per graph, over this batch's own memory.

        Its columns are ``neighbours`` (a list per node), and where the batch has them
        ``edge_weights``, ``node_labels`` and ``node_attributes``.

        Examples
        --------
        >>> import graphmover as gm
        >>> table = gm.as_graph_batch(gm.Graph(3, [(0, 1), (1, 2)])).to_arrow()
        >>> table["neighbours"].to_pylist()
        [[[1], [0, 2], [1]]]
        """
        return _arrow.table_of(
            _arrow.Arrays(*(getattr(self, name) for name in _arrow.Arrays._fields))
        )

    @classmethod
    def from_arrow(cls, table: Any) -> GraphBatch:
        """Read a table as `to_arrow` makes it; other columns are ignored.

        Parameters
        ----------
        table : pyarrow.Table, or what ``pyarrow.table`` takes
            Any kind of list and of number will do. An edge that stands in one row only is
            read as an edge; where rows are sorted and symmetric, nothing is copied.

        Examples
        --------
        >>> import graphmover as gm
        >>> gm.GraphBatch.from_arrow({"neighbours": [[[1], [0, 2], [1]], [[]]]})
        GraphBatch(2 edges over 4 nodes in 2 graphs)
        """
        read = _arrow.arrays_of(_arrow.pyarrow().table(table))
        offsets, indptr, indices, weights, labels, attributes = read
        if weights is not None and (weights == 1).all():
            weights = None
        if attributes is not None:
            attributes = arrays.attribute_array(attributes, offsets)
        if arrays.are_simple_rows(offsets, indptr, indices, weights):
            return cls(offsets, indptr, indices, weights, labels, attributes)
        node_counts, degrees = np.diff(offsets), np.diff(indptr)
        numbers = ranges(np.zeros(len(node_counts), np.int64), node_counts)
        return cls.from_edges(
            node_counts,
            np.diff(indptr[offsets]),
            np.column_stack([np.repeat(numbers, degrees), indices]),
            edge_weights=weights,
            node_labels=labels,
            node_attributes=attributes,
            directed=np.ones(len(node_counts), bool),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def shape(self) -> tuple[int]:
        """``(len(batch),)``, as NumPy and scikit-learn expect of a collection."""
        return (len(self),)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all graphs together."""
        return int(self.offsets[-1] - self.offsets[0])

    @property
    def n_edges(self) -> int:
        """Number of undirected edges of all graphs together."""
        return len(self.indices) // 2

    @property
    def node_counts(self) -> NDArray[np.int64]:
        """Number of nodes of each graph."""
        return np.diff(self.offsets)

    @property
    def edge_counts(self) -> NDArray[np.int64]:
        """Number of undirected edges of each graph."""
        counts: NDArray[np.int64] = np.diff(self.indptr[self.offsets]) // 2
        return counts

    @property
    def adjacency_weights(self) -> NDArray[np.float64]:
        """Weights beside ``indices``: ones where the batch has none of its own."""
        return np.ones(len(self.indices)) if self.edge_weights is None else self.edge_weights

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> Graph: ...

    @overload
    def __getitem__(self, key: slice | ArrayLike | tuple[Any, Any]) -> GraphBatch: ...

    def __getitem__(self, key: Any) -> Graph | GraphBatch:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn asks for batch[rows, ...]
        if is_whole(key):
            index = key + len(self) if key < 0 else key
            if not 0 <= index < len(self):
                raise IndexError(f"graph {key} of a batch of {len(self)} graphs")
            graph = Graph.__new__(Graph)
            graph._take_from(self, int(index))
            return graph
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self._between(start, max(start, stop))
        return self._take(selected_segments(key, len(self)))

    def _between(self, start: int, stop: int) -> GraphBatch:
        """Return consecutive graphs as views: the work does not grow with the whole batch."""
        first, last = self.offsets[start], self.offsets[stop]
        nodes, edges = slice(first, last), slice(self.indptr[first], self.indptr[last])
        return GraphBatch(
            self.offsets[start : stop + 1] - first,
            self.indptr[first : last + 1] - edges.start,
            *self._values_of(nodes, edges),
        )

    def _take(self, chosen: NDArray[np.int64]) -> GraphBatch:
        counts = self.offsets[chosen + 1] - self.offsets[chosen]
        nodes = ranges(self.offsets[chosen], counts)
        degrees = self.indptr[nodes + 1] - self.indptr[nodes]
        edges = ranges(self.indptr[nodes], degrees)
        return GraphBatch(
            offsets_from_counts(counts),
            offsets_from_counts(degrees),
            *self._values_of(nodes, edges),
        )

    def _values_of(self, nodes: Any, edges: Any) -> tuple[Any, ...]:
        """Return what the constructor takes after ``indptr``, for some nodes and their edges."""
        return (
            self.indices[edges],
            None if self.edge_weights is None else self.edge_weights[edges],
            None if self.node_labels is None else self.node_labels[nodes],
            None if self.node_attributes is None else self.node_attributes[nodes],
        )

    def __iter__(self) -> Iterator[Graph]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"GraphBatch({self.n_edges} edges over {self.n_nodes} nodes in {len(self)} graphs"
            + ("" if self.node_labels is None else ", node labels")
            + ("" if self.node_attributes is None else ", node attributes")
            + ("" if self.edge_weights is None else ", edge weights")
            + ")"
        )


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
