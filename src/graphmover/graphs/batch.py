"""Many graphs as flat arrays.

Every graph here is simple and undirected: self-loops are dropped, repeated edges are merged
(the largest weight stays), and an edge of weight zero is dropped. All later modules rely on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover._utils.checks import is_integer
from graphmover._utils.messages import counted
from graphmover._utils.segments import offsets_from_counts, ranges, selected_segments
from graphmover.graphs.arrays import (
    Arrays,
    are_simple_rows,
    arrays_from_edges,
    directions_of,
    entry_edges,
)
from graphmover.graphs.arrow import arrays_of, pyarrow, table_of
from graphmover.graphs.columns import id_array, joined_ids, on_all_graphs, stacked
from graphmover.graphs.graph import Graph


class GraphBatch:
    """Many graphs as flat, read-only arrays: what `as_graph_batch` returns.

    Build one with `as_graph_batch` or `from_edges`: the constructor takes the arrays below as
    they are and checks nothing.

    ``batch[3]`` is a `Graph`; ``batch[2:9]``, ``batch[[5, 1]]`` and ``batch[mask]`` are
    batches. It has a length and a shape ``(N,)``, and iterates over graphs, so
    scikit-learn's splitters and searches accept it like an array. ``==`` compares all arrays.

    Attributes
    ----------
    offsets : ndarray of shape (N + 1,)
        The nodes of graph i are ``offsets[i]`` to ``offsets[i + 1]`` of all nodes.
    indptr, indices : ndarrays
        Compressed sparse rows over all nodes: the neighbours of node v are
        ``indices[indptr[v]:indptr[v + 1]]``, numbered within their own graph, increasing.
        Each edge appears in the rows of both its ends.
    edge_weights : ndarray parallel to ``indices``, or None when all are 1
    node_labels : ndarray of int64 or object, one per node, or None
    node_attributes : ndarray of shape (number of nodes, k), or None
    edge_labels : ndarray of int64 or object, parallel to ``indices``, or None
    edge_attributes : ndarray of shape (len(indices), k), or None
        Labels and attributes of u -> v and v -> u may differ, as they do in some files.
    ids : ndarray of int64 or object of length N, or None
        What the graphs are called: integers or strings, which need not be unique. None stands for a
        graph without an id among others that have one.

    Examples
    --------
    >>> import graphmover as gm
    >>> batch = gm.as_graph_batch([gm.Graph(2, [(0, 1)]), gm.Graph(3, [(0, 1), (1, 2)])])
    >>> batch
    GraphBatch(3 edges over 5 nodes in 2 graphs)
    >>> batch[1].n_nodes
    3
    """

    __slots__ = Arrays._fields

    def __init__(
        self,
        offsets: NDArray[np.int64],
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        edge_weights: NDArray[np.float64] | None = None,
        node_labels: NDArray[Any] | None = None,
        node_attributes: NDArray[np.float64] | None = None,
        edge_labels: NDArray[Any] | None = None,
        edge_attributes: NDArray[np.float64] | None = None,
        ids: NDArray[Any] | None = None,
    ) -> None:
        self.offsets = _read_only(offsets)
        self.indptr = _read_only(indptr)
        self.indices = _read_only(indices)
        self.edge_weights = None if edge_weights is None else _read_only(edge_weights)
        self.node_labels = None if node_labels is None else _read_only(node_labels)
        self.node_attributes = None if node_attributes is None else _read_only(node_attributes)
        self.edge_labels = None if edge_labels is None else _read_only(edge_labels)
        self.edge_attributes = None if edge_attributes is None else _read_only(edge_attributes)
        self.ids = None if ids is None else _read_only(ids)

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
        edge_labels: Sequence[Any] | NDArray[Any] | None = None,
        edge_attributes: ArrayLike | None = None,
        ids: Iterable[Any] | None = None,
        directed: ArrayLike | None = None,
        keep_direction: bool = False,
    ) -> GraphBatch:
        """Build a batch from the edges of all graphs, graph after graph.

        Parameters
        ----------
        node_counts, edge_counts : array-likes of shape (N,)
            How many nodes, and how many rows of ``edges``, each graph has.
        edges : array-like of shape (sum of edge_counts, 2)
            Node numbers within each graph; any order, repeated edges and self-loops allowed.
        edge_weights, edge_labels, edge_attributes
            Parallel to ``edges``.
        node_labels, node_attributes
            Parallel to the nodes of all graphs.
        ids : sequence of N strings or integers, optional
            What the graphs are called; None for one that has no id.
        directed : array-like of N booleans, optional
            Which graphs come from a directed source. If making them undirected changes any
            of them, there is one warning.
        keep_direction : bool
            Keep the direction of edges as their labels. The entry u -> v has the label 1 if there
            is an edge from u to v only, 2 if there is one from v to u only, 3 if there are both or
            the graph is not directed; with ``edge_labels`` it is a pair of this number and the
            label. Labels that are directions already, of graphs whose edges all go both ways, stay
            as they are. Weisfeiler-Lehman refinement with ``use_edge_labels=True`` then tells in-
            and out-neighbours apart.

        Notes
        -----
        Self-loops and edges of weight 0 are dropped. Of repeated edges, in either direction,
        the largest weight stays. Labels and attributes keep their direction: the entry u -> v
        has those of the first row u, v, or if there is none, of the first row v, u.

        Examples
        --------
        >>> import graphmover as gm
        >>> gm.GraphBatch.from_edges([2, 3], [1, 2], [(0, 1), (0, 1), (1, 2)])
        GraphBatch(3 edges over 5 nodes in 2 graphs)
        >>> gm.GraphBatch.from_edges([2], [1], [(0, 1)], edge_labels=["double"]).edge_labels
        array(['double', 'double'], dtype=object)
        >>> arrow = gm.GraphBatch.from_edges(
        ...     [2], [1], [(0, 1)], directed=[True], keep_direction=True
        ... )
        >>> arrow.edge_labels
        array([1, 2])
        """
        return cls(
            *arrays_from_edges(
                node_counts,
                edge_counts,
                edges,
                edge_weights=edge_weights,
                node_labels=node_labels,
                node_attributes=node_attributes,
                edge_labels=edge_labels,
                edge_attributes=edge_attributes,
                ids=ids,
                directed=directed,
                keep_direction=keep_direction,
            )
        )

    @staticmethod
    def concatenate(batches: Sequence[GraphBatch]) -> GraphBatch:
        """Concatenate batches.

        Labels or attributes that some batches lack are left out, with a warning. Graphs of
        batches without ids have None among the ids of others.

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

        def joined(name: str, *, counts: Sequence[int]) -> NDArray[Any] | None:
            # A batch without nodes, or without edges, has no values to lack.
            full = [k for k, count in enumerate(counts) if count]
            parts, what = [getattr(batches[k], name) for k in full], name.replace("_", " ")
            indices = firsts[full].tolist()
            if not on_all_graphs(parts, what, indices):
                return None
            return stacked(parts, what, indices)

        n_nodes = [batch.n_nodes for batch in batches]
        n_edges = [batch.n_edges for batch in batches]
        weighted = any(batch.edge_weights is not None for batch in batches)
        return GraphBatch(
            offsets_from_counts(np.concatenate([batch.node_counts for batch in batches])),
            offsets_from_counts(np.concatenate([np.diff(batch.indptr) for batch in batches])),
            np.concatenate([batch.indices for batch in batches]),
            np.concatenate([batch.adjacency_weights for batch in batches]) if weighted else None,
            joined("node_labels", counts=n_nodes),
            joined("node_attributes", counts=n_nodes),
            joined("edge_labels", counts=n_edges),
            joined("edge_attributes", counts=n_edges),
            joined_ids([batch.ids for batch in batches], [len(batch) for batch in batches]),
        )

    def with_ids(self, ids: Iterable[Any] | None) -> GraphBatch:
        """Return the same graphs with other ids, or without ids.

        Examples
        --------
        >>> import graphmover as gm
        >>> gm.as_graph_batch(gm.Graph(2, [(0, 1)])).with_ids(["ethane"])[0]
        Graph(n_nodes=2, n_edges=1, no node_labels, no attributes, no weights, id='ethane')
        """
        checked = None if ids is None else id_array(ids, len(self))
        return GraphBatch(*self._arrays()._replace(ids=checked))

    def to_arrow(self, *, schema: Any = None) -> Any:
        """Return a ``pyarrow.Table`` with a row per graph, over this batch's own memory.

        Its columns are ``neighbours`` (a list per node), and where the batch has them
        ``edge_weights``, ``node_labels``, ``node_attributes``, ``edge_labels``,
        ``edge_attributes`` and ``id``.

        Parameters
        ----------
        schema : pyarrow.Schema, optional
            The schema of an earlier table to continue. Labels are then JSON wherever they are
            in the schema, weights of 1 are written out, and columns that this batch lacks,
            because it has no nodes, no edges or no ids, are added.

        Examples
        --------
        >>> import graphmover as gm
        >>> table = gm.as_graph_batch(gm.Graph(3, [(0, 1), (1, 2)])).to_arrow()
        >>> table["neighbours"].to_pylist()
        [[[1], [0, 2], [1]]]
        """
        return table_of(self._arrays(), schema)

    @property
    def directions(self) -> NDArray[np.int64] | None:
        """What ``keep_direction=True`` has kept in ``edge_labels``; None if that was not asked for.

        For the entry u -> v, 1 if there is an edge from u to v only, 2 if from v to u only, 3 if
        there are both or the graph has no directions.
        """
        return directions_of(self.offsets, self.indptr, self.indices, self.edge_labels)

    @classmethod
    def from_arrow(cls, table: Any, *, keep_direction: bool = False) -> GraphBatch:
        """Read a table in the format of `to_arrow`; other columns are ignored.

        Parameters
        ----------
        table : pyarrow.Table, or what ``pyarrow.table`` takes
            Lists and numbers may be of any Arrow type. An edge listed at one end only, or
            twice, is one edge, by the rules of `from_edges`. If rows are sorted and
            symmetric, nothing is copied.
        keep_direction : bool
            Keep the direction of edges as their labels, by the rules of `from_edges`.

        Examples
        --------
        >>> import graphmover as gm
        >>> gm.GraphBatch.from_arrow({"neighbours": [[[1], [0, 2], [1]], [[]]]})
        GraphBatch(2 edges over 4 nodes in 2 graphs)
        """
        read = arrays_of(pyarrow().table(table))
        offsets, indptr, indices, weights = read[:4]
        if weights is not None and (weights == 1).all():
            read = read._replace(edge_weights=None)
        if not keep_direction and are_simple_rows(offsets, indptr, indices, read.edge_weights):
            return cls(*read)
        _, edges = entry_edges(offsets, indptr, indices)
        columns: dict[str, Any] = dict(zip(read._fields[3:], read[3:], strict=True))
        return cls(
            *arrays_from_edges(
                np.diff(offsets),
                np.diff(indptr[offsets]),
                edges,
                directed=np.ones(len(offsets) - 1, bool),
                keep_direction=keep_direction,
                **columns,
            )
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
        """Weights parallel to ``indices``: all ones if the batch has none of its own."""
        return np.ones(len(self.indices)) if self.edge_weights is None else self.edge_weights

    @overload  # ArrayLike includes integers, too, which mypy sees with some versions of NumPy
    def __getitem__(  # type: ignore[overload-overlap, unused-ignore]
        self, key: int | np.integer[Any]
    ) -> Graph: ...

    @overload
    def __getitem__(self, key: slice | ArrayLike | tuple[Any, Any]) -> GraphBatch: ...

    def __getitem__(self, key: Any) -> Graph | GraphBatch:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn asks for batch[rows, ...]
        if is_integer(key):
            index = key + len(self) if key < 0 else key
            if not 0 <= index < len(self):
                raise IndexError(f"there is no graph {key} in a batch of {len(self)} graphs")
            return Graph._of(self._arrays(), int(index))
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self._between(start, max(start, stop))
        return self._take(selected_segments(key, len(self)))

    def _between(self, start: int, stop: int) -> GraphBatch:
        """Return consecutive graphs as views, in time independent of the size of the batch."""
        first, last = self.offsets[start], self.offsets[stop]
        edges = slice(self.indptr[first], self.indptr[last])
        return self._part(
            self.offsets[start : stop + 1] - first,
            self.indptr[first : last + 1] - edges.start,
            slice(start, stop),
            slice(first, last),
            edges,
        )

    def _take(self, chosen: NDArray[np.int64]) -> GraphBatch:
        counts = self.offsets[chosen + 1] - self.offsets[chosen]
        nodes = ranges(self.offsets[chosen], counts)
        degrees = self.indptr[nodes + 1] - self.indptr[nodes]
        edges = ranges(self.indptr[nodes], degrees)
        offsets, indptr = offsets_from_counts(counts), offsets_from_counts(degrees)
        return self._part(offsets, indptr, chosen, nodes, edges)

    def _part(
        self,
        offsets: NDArray[np.int64],
        indptr: NDArray[np.int64],
        graphs: Any,
        nodes: Any,
        edges: Any,
    ) -> GraphBatch:
        """Return the batch of some graphs, their nodes and their entries in ``indices``."""

        def of(values: NDArray[Any] | None, rows: Any) -> NDArray[Any] | None:
            return None if values is None else values[rows]

        return GraphBatch(
            offsets,
            indptr,
            self.indices[edges],
            of(self.edge_weights, edges),
            of(self.node_labels, nodes),
            of(self.node_attributes, nodes),
            of(self.edge_labels, edges),
            of(self.edge_attributes, edges),
            of(self.ids, graphs),
        )

    def _arrays(self) -> Arrays:
        return Arrays(*(getattr(self, name) for name in Arrays._fields))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphBatch):
            return NotImplemented
        return all(map(_are_equal, self._arrays(), other._arrays()))

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Graph]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"GraphBatch({counted(self.n_edges, 'edge')} over {counted(self.n_nodes, 'node')} in "
            + counted(len(self), "graph")
            + ("" if self.node_labels is None else ", node labels")
            + ("" if self.node_attributes is None else ", node attributes")
            + ("" if self.edge_weights is None else ", edge weights")
            + ("" if self.edge_labels is None else ", edge labels")
            + ("" if self.edge_attributes is None else ", edge attributes")
            + ("" if self.ids is None else ", ids")
            + ")"
        )


def _are_equal(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.dtype == other.dtype and np.array_equal(one, other)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
