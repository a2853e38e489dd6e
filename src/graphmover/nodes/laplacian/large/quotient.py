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
    """A graph of classes of twins as compressed rows: the whole quotient, or a part of it.

    The last node may be grounded: I - Q is then taken with zeros in its row and column.
    """

    indptr: Ints
    indices: NDArray[np.int32]
    weights: Floats  # between two classes, summed over their nodes; beside indices
    scale: Floats  # the square root of a class's summed degrees; (I - Q) scale = 0
    diagonal: Floats  # of Q
    grounded: bool = False

    @property
    def is_tree(self) -> bool:
        """Whether a connected graph is a tree."""
        return len(self.indices) == 2 * (len(self.scale) - 1)

    def null_vector(self) -> Floats:
        """Return the unit eigenvector of I - Q with the eigenvalue 0, of a connected graph."""
        unit: Floats
        if self.grounded:
            unit = np.zeros(len(self.scale))
            unit[-1] = 1.0
            return unit
        unit = self.scale / np.linalg.norm(self.scale)
        return unit

    def matrix(self) -> Rows:
        """Return Q = D^-1/2 A D^-1/2 with its diagonal."""
        rows = np.repeat(np.arange(len(self.scale)), np.diff(self.indptr))
        data = self._entries(rows)
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
        matrix[rows, self.indices] = -self._entries(rows)
        return matrix

    def _entries(self, rows: Ints) -> Floats:
        """Return the entries of Q outside its diagonal; ``rows`` are those of the indices."""
        entries: Floats = self.weights / (self.scale[rows] * self.scale[self.indices])
        if self.grounded:
            last = len(self.scale) - 1
            entries[(rows == last) | (self.indices == last)] = 0.0
        return entries

    def component(self, classes: Ints) -> QuotientGraph:
        """Return one component as a graph of its own; its classes are given in sorted order."""
        if len(classes) == len(self.scale):
            return self
        rows = self._rows(classes)
        return rows._replace(indices=np.searchsorted(classes, rows.indices).astype(np.int32))

    def branch(self, nodes: Ints, parent: int) -> QuotientGraph:
        """Return one branch, its nodes given in sorted order, with its parent grounded."""
        part = self._rows(nodes)
        n = len(nodes)
        upwards = int(np.flatnonzero(part.indices == parent)[0])
        indices = np.searchsorted(nodes, part.indices)
        indices[upwards] = n
        root = np.searchsorted(part.indptr, upwards, side="right") - 1
        return QuotientGraph(
            np.append(part.indptr, part.indptr[-1] + 1),
            np.append(indices, root).astype(np.int32),
            np.append(part.weights, part.weights[upwards]),
            np.append(part.scale, 1.0),
            np.append(part.diagonal, 1.0),
            grounded=True,
        )

    def without_copies(self, kept: Ints, copies: Ints) -> QuotientGraph:
        """Return the graph of some of the nodes, each of which now stands for several."""
        part = self._rows(kept)
        number = np.full(len(self.scale), -1, np.int64)
        number[kept] = np.arange(len(kept))
        rows = np.repeat(np.arange(len(kept)), np.diff(part.indptr))
        stays = number[part.indices] >= 0
        rows, indices, copies = rows[stays], number[part.indices[stays]], copies[kept]
        # An edge of a branch has as many copies as its lower end.
        weights = part.weights[stays] * np.maximum(copies[rows], copies[indices])
        return QuotientGraph(
            offsets_from_counts(np.bincount(rows, minlength=len(kept))),
            indices.astype(np.int32),
            weights,
            part.scale * np.sqrt(copies),
            part.diagonal,
        )

    def renumbered(self, order: Ints) -> QuotientGraph:
        """Return the same graph with node ``order[i]`` as node i; a grounded one stays the last."""
        position = np.empty(len(order), np.int32)
        position[order] = np.arange(len(order))
        rows = self._rows(order)
        return rows._replace(indices=position[rows.indices], grounded=self.grounded)

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
