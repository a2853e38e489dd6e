"""The geometric random walk kernel, RW (Gärtner, Flach and Wrobel 2003)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphmover._utils.segments import segment_sums
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.labels import label_codes
from graphmover.rivals.base import Floats, GraphKernel, Ints, adjacency
from graphmover.rivals.common_walks import common_walks

#: Walks are counted up to the length beyond which all others add less than this share of the
#: number of pairs of nodes.
_LEFT_OUT = 1e-9

#: A decay for which the sum would diverge is lowered to this share of the largest one allowed.
_SAFE = 0.9


class _Labelled(NamedTuple):
    """Flat arrays of graphs, for `common_walks`."""

    offsets: Ints
    indptr: Ints
    indices: Ints
    weights: Floats
    labels: Ints


class RandomWalks(GraphKernel):
    """How many walks two graphs have in common: ``decay**k`` for each pair of walks of k steps.

    Without labels, any two walks of equal length count, so the sum is an inner product of numbers
    of walks, and time is linear in the graphs. With labels, the nodes that two walks visit must
    have equal labels one by one: each pair of graphs takes a time proportional to the product of
    their numbers of edges. Edges count with their weights.

    Parameters
    ----------
    decay : float
        The weight of each further step. The sum over all walks converges if it is below the
        reciprocal of the product of the largest eigenvalues of the two graphs: beyond that it is
        lowered to 0.9 times the reciprocal of the largest such product in the training set.
    use_node_labels : bool
        False ignores labels. It need not be set for graphs without labels.

    Attributes
    ----------
    decay_ : float
        The decay in use.
    n_steps_ : int
        The length of the longest walks that are counted: longer ones do not matter.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import RandomWalks
    >>> path, triangle = gm.Graph(3, [(0, 1), (1, 2)]), gm.Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> RandomWalks(0.01).kernel([path, triangle]).round(3)
    array([[9.164, 9.247],
           [9.247, 9.375]])
    """

    def __init__(self, decay: float = 0.001, *, use_node_labels: bool = True) -> None:
        self.decay = decay
        self.use_node_labels = use_node_labels

    def _learn_preparation(self, batch: GraphBatch) -> None:
        if not self.decay > 0:
            raise ValueError(f"decay must be a positive number, got {self.decay!r}")
        self.uses_node_labels_ = self.use_node_labels and batch.node_labels is not None
        growth = _largest_eigenvalue(batch) ** 2
        self.decay_ = min(self.decay, _SAFE / growth) if growth else self.decay
        share = self.decay_ * growth
        self.n_steps_ = math.ceil(math.log(_LEFT_OUT * (1 - share), share)) if share else 0

    def _prepared(self, batch: GraphBatch) -> Floats | _Labelled:
        if not self.uses_node_labels_:
            return self._numbers_of_walks(batch)
        if batch.node_labels is None and batch.n_nodes:
            raise ValueError("not all graphs have node labels, but those in fit had them")
        labels = label_codes(batch.node_labels) if batch.n_nodes else np.zeros(0, np.int64)  # type: ignore[arg-type]
        weights = np.ascontiguousarray(batch.adjacency_weights)
        return _Labelled(batch.offsets, batch.indptr, batch.indices, weights, labels)

    def _numbers_of_walks(self, batch: GraphBatch) -> Floats:
        """Return how many walks of 0, 1, ... steps each graph has, times decay**(k / 2)."""
        step = adjacency(batch) * math.sqrt(self.decay_)
        ending, columns = np.ones(batch.n_nodes), []
        for _ in range(self.n_steps_ + 1):
            columns.append(segment_sums(ending, batch.offsets))
            ending = step @ ending
        return np.stack(columns, axis=1)

    def _between(self, rows: Any, columns: Any) -> Floats:
        if not self.uses_node_labels_:
            products: Floats = rows @ columns.T
            return products
        symmetric = rows is columns
        found = np.zeros((len(rows.offsets) - 1, len(columns.offsets) - 1))
        for i in range(len(found)):
            first = i if symmetric else 0  # the other half is the same
            common_walks(i, first, rows, columns, self.decay_, self.n_steps_, found[i])
            if symmetric:
                found[i:, i] = found[i, i:]
        return found


def _largest_eigenvalue(batch: GraphBatch) -> float:
    """Return the largest eigenvalue of an adjacency matrix, over all graphs."""
    from scipy.sparse.linalg import eigsh

    if not len(batch.indices):
        return 0.0
    matrix = adjacency(batch)
    if matrix.shape[0] <= 10:  # too small for Lanczos
        return float(np.linalg.eigvalsh(matrix.toarray())[-1])
    start = np.ones(matrix.shape[0])  # it is not orthogonal to the eigenvector, which is positive
    return float(eigsh(matrix, k=1, which="LA", v0=start, return_eigenvectors=False)[0])
