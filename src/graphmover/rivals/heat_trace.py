"""NetLSD (Tsitsulin et al. 2018): the heat trace of the normalised Laplacian, by their library."""

from __future__ import annotations

import numpy as np

from graphmover.graphs.adjacency import graph_adjacency
from graphmover.graphs.batch import GraphBatch
from graphmover.rivals.base import Floats, GraphFeatures
from graphmover.rivals.optional import optional


class NetLSD(GraphFeatures):
    """The heat trace of a graph at some times.

    Parameters
    ----------
    n_times : int
        How many times there are, logarithmically spaced from 0.01 to 100.
    normalization : {"empty", "complete", "none"}
        What traces are divided by: the trace of the empty graph, of the complete graph, or
        nothing.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import NetLSD
    >>> NetLSD(n_times=3).fit_transform([gm.Graph(3, [(0, 1), (1, 2)])]).round(2)
    array([[0.99, 0.5 , 0.33]])
    """

    def __init__(self, n_times: int = 250, *, normalization: str = "empty") -> None:
        self.n_times = n_times
        self.normalization = normalization

    def _reads_node_labels(self, batch: GraphBatch) -> bool:
        return False

    def _rows(self, batch: GraphBatch) -> Floats:
        heat = optional("netlsd", "NetLSD").heat
        times = np.logspace(-2, 2, self.n_times)
        divisor = False if self.normalization == "none" else self.normalization
        rows = np.zeros((len(batch), self.n_times))
        for number, count in enumerate(batch.node_counts):
            if count:
                matrix = graph_adjacency(batch, number)
                rows[number] = heat(matrix, timescales=times, normalization=divisor)
        return rows
