"""The geometric random walk kernel, RW (Gärtner, Flach and Wrobel 2003)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphmover._utils.parallel import for_each_chunk
from graphmover._utils.segments import segment_numbers, segment_sums
from graphmover.graphs.adjacency import adjacency
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.labels import label_codes
from graphmover.rivals.base import Floats, GraphKernel
from graphmover.rivals.common_walks import LabelledGraphs, common_walks

#: Walks are counted up to the length beyond which all others add less than this share of the
#: number of pairs of nodes.
_LEFT_OUT = 1e-9

#: A decay for which the sum would diverge is lowered to this share of the largest one allowed, so
#: that it converges for graphs beyond the training set, too.
_SAFE = 0.5

#: Steps of power iteration for bounds of eigenvalues.
_POWERS = 50

#: Pairs of graphs in a chunk of work.
_PAIRS = 2**14


class _Walkers(NamedTuple):
    """Graphs, and how fast the numbers of their walks grow."""

    graphs: LabelledGraphs
    step: Any  # the adjacency matrix of all graphs
    growth: Floats  # a bound of the largest eigenvalue of each graph


class RandomWalks(GraphKernel):
    """How many walks two graphs have in common: ``decay**k`` for each pair of walks of k steps.

    Without labels, any two walks of equal length count, so the sum is an inner product of numbers
    of walks, and time is linear in the graphs. With labels, the nodes that two walks visit must
    have equal labels one by one: each pair of graphs takes a time proportional to the product of
    their numbers of edges. Edges count with their weights. Walks are counted up to a length beyond
    which the others add less than 1e-9 of the number of pairs of nodes.

    Parameters
    ----------
    decay : float
        The weight of each further step. The sum over all walks converges if it is below the
        reciprocal of the product of the largest eigenvalues of the two graphs. If that does not
        hold for all pairs of training graphs, it is lowered to half of what does; a graph to
        transform for which it does not hold is an error.
    use_node_labels : bool
        False ignores labels. It need not be set for graphs without labels.
    n_jobs : int or None
        Number of threads, for graphs with labels; None means 1, -1 means all cores.

    Attributes
    ----------
    decay_ : float
        The decay in use.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import RandomWalks
    >>> path, triangle = gm.Graph(3, [(0, 1), (1, 2)]), gm.Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> RandomWalks(0.01).kernel([path, triangle]).round(3)
    array([[9.164, 9.247],
           [9.247, 9.375]])
    """

    def __init__(
        self, decay: float = 0.001, *, use_node_labels: bool = True, n_jobs: int | None = None
    ) -> None:
        self.decay = decay
        self.use_node_labels = use_node_labels
        self.n_jobs = n_jobs

    def _learn_preparation(self, batch: GraphBatch) -> None:
        if not (isinstance(self.decay, float | int) and 0 < self.decay < math.inf):
            raise ValueError(f"decay must be a positive number, got {self.decay!r}")
        product = float(_growth(batch).max(initial=0.0)) ** 2
        converges = self.decay * product < 1
        self.decay_ = float(self.decay if converges else _SAFE / product)

    def _prepared(self, batch: GraphBatch) -> _Walkers:
        labels = np.zeros(batch.n_nodes, np.int64)
        if batch.node_labels is not None:
            labels = label_codes(batch.node_labels)
        weights = np.ascontiguousarray(batch.adjacency_weights)
        graphs = LabelledGraphs(batch.offsets, batch.indptr, batch.indices, weights, labels)
        return _Walkers(graphs, adjacency(batch), _growth(batch))

    def _between(self, rows: _Walkers, columns: _Walkers) -> Floats:
        n_steps = self._n_steps(rows, columns)
        if not self.uses_node_labels_:
            of_rows = self._numbers_of_walks(rows, n_steps)
            of_columns = of_rows if rows is columns else self._numbers_of_walks(columns, n_steps)
            products: Floats = of_rows @ of_columns.T
            return products
        is_symmetric = rows is columns
        found = np.zeros((len(rows.growth), len(columns.growth)))

        def fill(chunk: slice) -> None:
            for i in range(chunk.start, chunk.stop):
                first = i if is_symmetric else 0
                common_walks(i, first, rows.graphs, columns.graphs, self.decay_, n_steps, found[i])

        work = np.full(len(found), len(columns.growth))
        for_each_chunk(fill, work, most=_PAIRS, n_jobs=self.n_jobs)
        return np.triu(found) + np.triu(found, 1).T if is_symmetric else found

    def _n_steps(self, rows: _Walkers, columns: _Walkers) -> int:
        """Return the length of the longest walks to count."""
        most = float(columns.growth.max(initial=0.0))
        shares = self.decay_ * rows.growth * most
        share = float(shares.max(initial=0.0))
        if share >= 1:
            raise ValueError(
                f"graph {np.argmax(shares)}: the sum over the walks that it has in common with "
                f"training graphs may diverge, since its largest eigenvalue is up to "
                f"{rows.growth[np.argmax(shares)]:.4g}: set decay to less than "
                f"{1 / (most * rows.growth.max()):.3g}"
            )
        return math.ceil(math.log(_LEFT_OUT * (1 - share), share)) if share else 0

    def _numbers_of_walks(self, walkers: _Walkers, n_steps: int) -> Floats:
        """Return how many walks of 0, 1, ... steps each graph has, times decay**(k / 2)."""
        ending, columns = np.ones(len(walkers.graphs.labels)), []
        for _ in range(n_steps + 1):
            columns.append(segment_sums(ending, walkers.graphs.offsets))
            ending = math.sqrt(self.decay_) * (walkers.step @ ending)
        return np.stack(columns, axis=1)


def _growth(batch: GraphBatch) -> Floats:
    """Return an upper bound of the largest eigenvalue of each adjacency matrix, close to it.

    For any positive vector x, the largest eigenvalue of A is at most max((A x)_v / x_v) (Collatz
    1942). Power iteration of A + 1 makes x an eigenvector, for all graphs at once.
    """
    step, graph = adjacency(batch), segment_numbers(batch.offsets)
    x, bounds = np.ones(batch.n_nodes), np.zeros(len(batch))
    if not batch.n_nodes:
        return bounds
    filled = np.flatnonzero(batch.node_counts)
    starts = batch.offsets[filled]
    for _ in range(_POWERS):
        longer = step @ x + x
        bounds[filled] = np.maximum.reduceat(longer / x, starts) - 1.0
        largest = np.ones(len(batch))
        largest[filled] = np.maximum.reduceat(longer, starts)
        x = np.maximum(longer / largest[graph], 1e-150)
    return bounds
