"""The graph of the classes of twins (`twins.py`), which the large solver works on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.segments import offsets_from_counts, ranges
from graphmover.nodes.laplacian.twins import quotient_graph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rows = tuple[Ints, NDArray[np.int32], Floats]  # a sparse matrix: indptr, indices, data


class QuotientGraph(NamedTuple):
    """A graph of classes of twins as compressed rows: the whole quotient, or one component."""

    indptr: Ints
    indices: NDArray[np.int32]
    weights: Floats  # between two classes, summed over their nodes; beside indices
    scale: Floats  # the square root of a class's summed degrees; (I - Q) scale = 0
    diagonal: Floats  # of Q

    def null_vector(self) -> Floats:
        """Return the unit eigenvector of I - Q with the eigenvalue 0, of a connected graph."""
        unit: Floats = self.scale / np.linalg.norm(self.scale)
        return unit

    def matrix(self) -> Rows:
        """Return Q = D^-1/2 A D^-1/2 with its diagonal."""
        rows = np.repeat(np.arange(len(self.scale)), np.diff(self.indptr))
        data = self.weights / (self.scale[rows] * self.scale[self.indices])
        loops = np.flatnonzero(self.diagonal)
        at = self.indptr[loops]
        counts = np.diff(self.indptr)
        counts[loops] += 1
        return (
            offsets_from_counts(counts),
            np.insert(self.indices, at, loops.astype(np.int32)),
            np.insert(data, at, self.diagonal[loops]),
        )

    def dense_laplacian(self) -> Floats:
        """Return I - Q."""
        n = len(self.scale)
        rows = np.repeat(np.arange(n), np.diff(self.indptr))
        matrix: Floats = np.diag(1.0 - self.diagonal)
        matrix[rows, self.indices] = -self.weights / (self.scale[rows] * self.scale[self.indices])
        return matrix

    def component(self, classes: Ints) -> QuotientGraph:
        """Return one component as a graph of its own; its classes are given in sorted order."""
        if len(classes) == len(self.scale):
            return self
        rows = self._rows(classes)
        return rows._replace(indices=np.searchsorted(classes, rows.indices).astype(np.int32))

    def renumbered(self, order: Ints) -> QuotientGraph:
        """Return the same graph with node ``order[i]`` as node i."""
        position = np.empty(len(order), np.int32)
        position[order] = np.arange(len(order))
        rows = self._rows(order)
        return rows._replace(indices=position[rows.indices])

    def _rows(self, nodes: Ints) -> QuotientGraph:
        """Take the rows of some nodes, with the neighbours' numbers of before."""
        lengths = np.diff(self.indptr)[nodes]
        at = ranges(self.indptr[nodes], lengths)
        return QuotientGraph(
            offsets_from_counts(lengths),
            self.indices[at],
            self.weights[at],
            self.scale[nodes],
            self.diagonal[nodes],
        )


def quotient_of(
    rows: Ints,
    indices: NDArray[np.int32],
    weights: Floats,
    degrees: Floats,
    class_of: Ints,
    members: Ints,
    firsts: Ints,
) -> QuotientGraph:
    """Build the graph of classes; all weights are divided by the largest degree.

    So sums of weights cannot overflow, and Q stays the same.
    """
    largest = max(float(degrees.max()), 5e-324)
    indptr, neighbours, sums = quotient_graph(
        rows, indices, weights / largest, class_of, members, firsts
    )
    if not len(weights):
        sums = sums / largest
    own = degrees[firsts]
    loops = (members < 0) * (np.abs(members) - 1) / np.where(own > 0, own, 1.0)
    scale = np.sqrt(own / largest * np.abs(members))
    return QuotientGraph(indptr, neighbours, sums, scale, loops)


def bandwidth_reducing_order(graph: QuotientGraph) -> Ints:
    """Order nodes by reverse Cuthill-McKee (1969), so that neighbours are close in memory."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    matrix = csr_array((graph.weights, graph.indices, graph.indptr))
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    return np.asarray(order, dtype=np.int64)
