"""Labelled graphlets of three nodes, GL with labels (Shervashidze et al. 2009, 2011)."""

from __future__ import annotations

import numpy as np

from graphmover.graphs.adjacency import neighbours
from graphmover.graphs.batch import GraphBatch
from graphmover.rivals.base import Ints, graph_of_node, node_codes
from graphmover.rivals.counts import Entries, GraphCounts, mixed


class Graphlets(GraphCounts):
    """How often three connected nodes with certain labels form a path or a triangle.

    Every three nodes of which at least two pairs are adjacent are counted once: a path by the
    label in its middle and those of its ends, a triangle by its three labels. Inner products of
    rows are the graphlet kernel. Time is linear in the pairs of neighbours of each node. Without
    labels, degrees take their place.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import Graphlets
    >>> path = gm.Graph(4, [(0, 1), (1, 2), (2, 3)], node_labels=[1, 1, 1, 2])
    >>> triangle = gm.Graph(3, [(0, 1), (1, 2), (0, 2)], node_labels=[1, 1, 1])
    >>> Graphlets().fit_transform([path, triangle]).toarray().sum(axis=1)
    array([2., 1.])
    """

    def _entries(self, batch: GraphBatch) -> Entries:
        middle, one, other = _pairs_of_neighbours(batch)
        labels = node_codes(batch)
        # Both ends of every edge, in the increasing order of a CSR matrix.
        sources = np.repeat(np.arange(batch.n_nodes), np.diff(batch.indptr))
        edges = sources * batch.n_nodes + neighbours(batch)
        wanted = one * batch.n_nodes + other
        place = np.minimum(np.searchsorted(edges, wanted), max(len(edges) - 1, 0))
        closed = edges[place] == wanted if len(edges) else np.zeros(0, bool)
        once = ~closed | (middle < one)  # a triangle has three nodes in the middle
        middle, one, other, closed = middle[once], one[once], other[once], closed[once]
        ends = np.sort(np.stack([labels[one], labels[other]]), axis=0)
        three = np.sort(np.stack([labels[middle], *ends]), axis=0)
        codes = np.where(closed, mixed(1, *three), mixed(0, labels[middle], *ends))
        return Entries(graph_of_node(batch)[middle], codes, np.ones(len(codes), np.int64))


def _pairs_of_neighbours(batch: GraphBatch) -> tuple[Ints, Ints, Ints]:
    """Return each node with each two of its neighbours, the smaller one first."""
    near = neighbours(batch)
    degrees = np.diff(batch.indptr)
    # An entry is paired with those after it in its row.
    rest = np.repeat(batch.indptr[1:], degrees) - np.arange(len(near)) - 1
    first = np.repeat(np.arange(len(near)), rest)
    starts = np.repeat(np.cumsum(rest) - rest, rest)
    second = first + 1 + np.arange(len(first)) - starts
    middle = np.repeat(np.arange(batch.n_nodes), degrees)[first]
    return middle, near[first], near[second]
