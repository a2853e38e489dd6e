"""FEATHER (Rozemberczki and Sarkar 2020): characteristic functions along random walks."""

from __future__ import annotations

import numpy as np

from graphmover._utils.segments import segment_numbers
from graphmover.graphs.adjacency import adjacency
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.structure import degrees_and_triangles
from graphmover.rivals.base import Floats, GraphFeatures


class Feather(GraphFeatures):
    """The characteristic functions of node features around each node, averaged over a graph.

    Features are the logarithm of the degree and the local clustering coefficient. At each of
    ``n_points`` values of theta, the cosine and the sine of theta times a feature are averaged over
    the ends of random walks of 1 to ``order`` steps from a node, and then over the nodes.

    Parameters
    ----------
    order : int
        The number of steps, r.
    n_points : int
        The number of evaluation points.
    largest : float
        The largest evaluation point; the smallest is 0.01.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import Feather
    >>> Feather(order=2, n_points=5).fit_transform([gm.Graph(3, [(0, 1), (1, 2)])]).shape
    (1, 40)
    """

    def __init__(self, order: int = 5, *, n_points: int = 25, largest: float = 2.5) -> None:
        self.order = order
        self.n_points = n_points
        self.largest = largest

    def _reads_node_labels(self, batch: GraphBatch) -> bool:
        return False

    def _rows(self, batch: GraphBatch) -> Floats:
        matrix = adjacency(batch)
        degrees = matrix.sum(axis=1)
        # Isolated nodes have no step to take: their walks end nowhere and add zeros.
        steps = matrix.multiply(1 / np.where(degrees > 0, degrees, 1.0)[:, np.newaxis]).tocsr()
        structure = np.zeros((batch.n_nodes, 3))
        degrees_and_triangles(
            0, len(batch), batch.offsets, batch.indptr, batch.indices, degrees, structure
        )
        theta = np.linspace(0.01, self.largest, self.n_points)
        angles = structure[:, :2, np.newaxis] * theta
        waves = np.concatenate([np.cos(angles), np.sin(angles)], axis=2).reshape(len(angles), -1)
        found = []
        for _ in range(self.order):
            waves = steps @ waves
            found.append(_means(waves, batch))
        return np.concatenate(found, axis=1)


def _means(values: Floats, batch: GraphBatch) -> Floats:
    """Return the mean of each column over the nodes of each graph; 0 without nodes."""
    from scipy.sparse import csr_array

    n = batch.n_nodes
    places = (segment_numbers(batch.offsets), np.arange(n))
    sums = csr_array((np.ones(n), places), shape=(len(batch), n)) @ values
    means: Floats = sums / np.maximum(batch.node_counts, 1)[:, np.newaxis]
    return means
