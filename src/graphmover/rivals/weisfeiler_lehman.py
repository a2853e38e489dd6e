"""Bags of Weisfeiler-Lehman labels: WL-ST (Shervashidze et al. 2011), in linear time."""

from __future__ import annotations

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.labels import wl_labels
from graphmover.rivals.base import Ints, graph_of_node, node_codes
from graphmover.rivals.counts import Entries, GraphCounts, mixed, occurrences


class _WLCounts(GraphCounts):
    """What counts of Weisfeiler-Lehman labels have in common."""

    def __init__(self, iterations: int = 3, *, use_edge_labels: bool = False) -> None:
        self.iterations = iterations
        self.use_edge_labels = use_edge_labels

    def _words(self, batch: GraphBatch) -> tuple[Ints, Ints]:
        return wl_words(batch, self.iterations, use_edge_labels=self.use_edge_labels)


class BagOfWLLabels(_WLCounts):
    """How often each Weisfeiler-Lehman label of depths 0 to ``iterations`` occurs in a graph.

    Inner products of rows are the Weisfeiler-Lehman subtree kernel, WL-ST.

    Parameters
    ----------
    iterations : int
        The number of refinements, h.
    use_edge_labels : bool
        Whether neighbours along edges with different labels are told apart.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import BagOfWLLabels
    >>> path, triangle = gm.Graph(3, [(0, 1), (1, 2)]), gm.Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> BagOfWLLabels(iterations=1).kernel([path, triangle])
    array([[14., 12.],
           [12., 18.]])
    """

    def _entries(self, batch: GraphBatch) -> Entries:
        graphs, codes = self._words(batch)
        return Entries(graphs, codes, np.ones(len(codes), np.int64))


class WLOptimalAssignment(_WLCounts):
    """The Weisfeiler-Lehman optimal assignment kernel, WL-OA (Kriege, Giscard and Wilson 2016).

    Its value is the histogram intersection of the bags of Weisfeiler-Lehman labels: the sum of
    ``min(a, b)`` over labels. With a column for the first node of a label, one for the second and
    so on, each 0 or 1, this is an inner product too: time is linear in the graphs.

    With ``iterations=0`` it is V-OA, the assignment of nodes by their labels.

    Parameters
    ----------
    iterations : int
        The number of refinements, h.
    use_edge_labels : bool
        Whether neighbours along edges with different labels are told apart.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import WLOptimalAssignment
    >>> path, triangle = gm.Graph(3, [(0, 1), (1, 2)]), gm.Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> WLOptimalAssignment(iterations=1).kernel([path, triangle])
    array([[6., 4.],
           [4., 6.]])
    """

    def _entries(self, batch: GraphBatch) -> Entries:
        graphs, codes = self._words(batch)
        numbered = mixed(codes, occurrences(graphs, codes))
        return Entries(graphs, numbered, np.ones(len(codes), np.int64))


class VertexHistogram(GraphCounts):
    """How often each node label occurs, or each degree where graphs have no labels.

    Sugiyama and Borgwardt (2015). It sees no structure: a baseline that every method should beat.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import VertexHistogram
    >>> VertexHistogram().fit_transform([gm.Graph(3, [(0, 1), (1, 2)])]).toarray()
    array([[2., 1.]])
    """

    def _entries(self, batch: GraphBatch) -> Entries:
        codes = node_codes(batch)
        return Entries(graph_of_node(batch), codes, np.ones(len(codes), np.int64))


def wl_words(
    batch: GraphBatch, iterations: int, *, use_edge_labels: bool = False
) -> tuple[Ints, Ints]:
    """Return the labels of all depths as words: the graph of each, and its code.

    Words of one node stand one after the other, from depth 0 on; those of different depths
    differ.
    """
    labels = wl_labels(batch, iterations, depths="all", use_edge_labels=use_edge_labels)
    words = mixed(labels, np.arange(iterations + 1))
    return np.repeat(graph_of_node(batch), iterations + 1), words.ravel()
