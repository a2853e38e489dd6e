"""Local Topological Profile, LTP (Adamczyk and Czech 2023): histograms for a random forest.

It extends the Local Degree Profile (Cai and Wang 2018) by three numbers of each edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmover.graphs.adjacency import adjacency
from graphmover.graphs.batch import GraphBatch
from graphmover.rivals.base import Floats, GraphMethod, Ints, graph_of_node
from graphmover.rivals.betweenness import edge_betweenness

#: Of each node: the degree, and the smallest, largest and mean degree of its neighbours and their
#: standard deviation. Of each edge: its betweenness, the Jaccard index of its ends' neighbours and
#: its local degree score.
_OF_NODES, _OF_EDGES = 5, 3


class LocalTopologicalProfile(GraphMethod):
    """Histograms over a graph of what is near its nodes and edges.

    Of nodes: the degree, and the minimum, maximum, mean and standard deviation of the neighbours'
    degrees. Of edges: edge betweenness, Jaccard index, local degree score (Lindner et al. 2015).
    Labels are not used; add `VertexHistogram` if they should be. Meant for a random forest.

    Parameters
    ----------
    n_bins : int
        Bins of each histogram.
    logarithmic : bool
        Take logarithms of degrees, whose distribution has a long tail.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import LocalTopologicalProfile
    >>> graphs = gm.make_graph_families(12, random_state=0).graphs
    >>> LocalTopologicalProfile(n_bins=10).fit_transform(graphs).shape
    (12, 80)
    """

    def __init__(self, n_bins: int = 50, *, logarithmic: bool = True) -> None:
        self.n_bins = n_bins
        self.logarithmic = logarithmic

    def _reads_node_labels(self, batch: GraphBatch) -> bool:
        return False

    def _learn_rows(self, batch: GraphBatch, y: Any) -> Floats:
        values = self._values(batch)
        ends = [(v.min(), v.max()) if len(v) else (0.0, 0.0) for v in values]
        self.ranges_ = np.array([(a, b if b > a else a + 1) for a, b in ends])
        self.n_features_ = self.n_bins * len(values)
        return self._histograms(batch, values)

    def _learn(self, batch: GraphBatch, y: Any) -> None:
        self._learn_rows(batch, y)

    def _rows(self, batch: GraphBatch) -> Floats:
        return self._histograms(batch, self._values(batch))

    def _values(self, batch: GraphBatch) -> list[Floats]:
        """Return what is counted: first of all nodes, then of all edges."""
        return [*self._of_nodes(batch).T, *_of_edges(batch).T]

    def _histograms(self, batch: GraphBatch, values: list[Floats]) -> Floats:
        nodes, edges = graph_of_node(batch), _graph_of_edge(batch)
        found = []
        for number, (low, high) in enumerate(self.ranges_):
            # What is beyond the training range is in the outermost bin.
            shares = (values[number] - low) / (high - low)
            bins = np.clip(shares * self.n_bins, 0, self.n_bins - 1).astype(np.int64)
            place = (nodes if number < _OF_NODES else edges) * self.n_bins + bins
            counts = np.bincount(place, minlength=len(batch) * self.n_bins)
            found.append(counts.reshape(len(batch), self.n_bins))
        return np.concatenate(found, axis=1).astype(np.float64)

    def _of_nodes(self, batch: GraphBatch) -> Floats:
        matrix = adjacency(batch)
        matrix.data = np.ones_like(matrix.data)
        degrees = np.diff(batch.indptr).astype(np.float64)
        count = np.maximum(degrees, 1)
        mean = matrix @ degrees / count
        variance = np.maximum(matrix @ degrees**2 / count - mean**2, 0.0)
        around = degrees[matrix.indices]
        lowest, highest = np.zeros(len(degrees)), np.zeros(len(degrees))
        has = np.flatnonzero(degrees)
        if len(has):
            starts = batch.indptr[has]
            lowest[has] = np.minimum.reduceat(around, starts)
            highest[has] = np.maximum.reduceat(around, starts)
        columns = np.stack([degrees, lowest, highest, mean, np.sqrt(variance)], axis=1)
        return np.log1p(columns) if self.logarithmic else columns


def _graph_of_edge(batch: GraphBatch) -> Ints:
    """Return the graph of each entry of ``indices`` that leads to a larger node."""
    sources = np.repeat(np.arange(batch.n_nodes), np.diff(batch.indptr))
    graphs: Ints = graph_of_node(batch)[sources][_is_upward(batch)]
    return graphs


def _is_upward(batch: GraphBatch) -> Any:
    starts = np.repeat(batch.offsets[:-1], batch.node_counts)
    sources = np.repeat(np.arange(batch.n_nodes) - starts, np.diff(batch.indptr))
    return sources < batch.indices


def _of_edges(batch: GraphBatch) -> Floats:
    """Return a row for each edge, each edge once."""
    matrix = adjacency(batch)
    matrix.data = np.ones_like(matrix.data)
    up = _is_upward(batch)
    degrees = np.diff(batch.indptr).astype(np.float64)
    sources = np.repeat(np.arange(batch.n_nodes), np.diff(batch.indptr))
    u, v = sources[up], matrix.indices[up]
    common = np.zeros(0)
    if len(u):
        shared = (matrix @ matrix).multiply(matrix).tocsr()
        common = np.asarray(shared[u, v]).ravel()
    jaccard = common / np.maximum(degrees[u] + degrees[v] - common, 1)
    between = edge_betweenness(batch.offsets, batch.indptr, batch.indices)[up]
    score = _local_degree_scores(matrix, degrees)
    return np.stack([between, jaccard, score[up]], axis=1)


def _local_degree_scores(matrix: Any, degrees: Floats) -> Floats:
    """Return 1 - log(rank of the neighbour by degree) / log(degree), the larger of both ends."""
    sources = np.repeat(np.arange(len(degrees)), np.diff(matrix.indptr))
    order = np.lexsort((-degrees[matrix.indices], sources))
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order)) - np.repeat(matrix.indptr[:-1], np.diff(matrix.indptr)) + 1
    bottom = np.log(np.maximum(degrees[sources], 2))
    one_end = matrix.copy()
    one_end.data = 1 - np.log(rank) / bottom
    other = one_end.T.tocsr()
    other.sort_indices()
    one_end.sort_indices()
    larger: Floats = np.maximum(one_end.data, other.data)
    return larger
