"""The shortest-path kernel, SP (Borgwardt and Kriegel 2005), also with refined labels, WL-SP."""

from __future__ import annotations

import numpy as np

from graphmover.graphs.adjacency import graph_adjacency
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.labels import wl_labels
from graphmover.rivals.base import Floats, Ints
from graphmover.rivals.counts import Entries, GraphCounts, mixed


class ShortestPaths(GraphCounts):
    """How often two nodes with certain labels are a certain number of edges apart.

    Ordered pairs of different, connected nodes are counted by the labels of both and by their
    distance. Inner products of rows are the shortest-path kernel. All pairs of a graph are
    visited: time is quadratic in its nodes, and linear in the number of graphs.

    Parameters
    ----------
    iterations : int
        Weisfeiler-Lehman refinements of the labels, h. Pairs are counted by the labels of each
        depth from 0 to h: WL-SP (Shervashidze et al. 2011).
    use_node_labels : bool
        False counts pairs by their distance alone, or refines one label for all nodes. It need not
        be set for graphs without labels.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import ShortestPaths
    >>> path, triangle = gm.Graph(3, [(0, 1), (1, 2)]), gm.Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> ShortestPaths().kernel([path, triangle])
    array([[20., 24.],
           [24., 36.]])
    """

    def __init__(self, iterations: int = 0, *, use_node_labels: bool = True) -> None:
        self.iterations = iterations
        self.use_node_labels = use_node_labels

    def _entries(self, batch: GraphBatch) -> Entries:
        labels = wl_labels(batch, self.iterations, depths="all")
        graphs, codes, counts = [], [], []
        for number in range(len(batch)):
            first, last = batch.offsets[number], batch.offsets[number + 1]
            lengths = _path_lengths(batch, number)
            for depth in range(self.iterations + 1):
                own, count = _pairs(lengths, labels[first:last, depth])
                codes.append(mixed(own, depth))
                counts.append(count)
                graphs.append(np.full(len(own), number))
        none = np.zeros(0, np.int64)
        return Entries(*(np.concatenate([none, *parts]) for parts in (graphs, codes, counts)))


def _path_lengths(batch: GraphBatch, number: int) -> Ints:
    """Return the numbers of edges between all nodes of a graph; 0 for those out of reach."""
    from scipy.sparse.csgraph import shortest_path

    if not batch.node_counts[number]:
        return np.zeros((0, 0), np.int64)
    steps: Floats = shortest_path(graph_adjacency(batch, number), directed=False, unweighted=True)
    return np.where(np.isfinite(steps), steps, 0.0).astype(np.int64)


def _pairs(lengths: Ints, labels: Ints) -> tuple[Ints, Ints]:
    """Return the codes of the pairs of a graph, and how many there are of each."""
    if not len(labels):
        return labels, labels
    kinds, kind = np.unique(labels, return_inverse=True)
    # Small numbers are counted first: there are far fewer codes than pairs.
    n_kinds, n_lengths = len(kinds), int(lengths.max()) + 1
    all_keys = ((kind[:, np.newaxis] * n_kinds + kind) * n_lengths + lengths).ravel()
    if n_kinds**2 * n_lengths <= 4 * len(all_keys):  # no sorting
        counts = np.bincount(all_keys)
        keys = np.flatnonzero(counts)
        counts = counts[keys]
    else:
        keys, counts = np.unique(all_keys, return_counts=True)
    apart = keys % n_lengths > 0  # neither a node with itself nor one out of reach
    keys, counts = keys[apart], counts[apart]
    pairs = keys // n_lengths
    codes = mixed(kinds[pairs // n_kinds], kinds[pairs % n_kinds], keys % n_lengths)
    return codes, counts
