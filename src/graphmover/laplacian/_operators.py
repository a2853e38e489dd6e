"""Two operators with the eigenvectors of a connected graph's Laplacian I - Q.

A Chebyshev polynomial of an operator multiplies a block of vectors so that the eigenvectors of
the Laplacian's smallest eigenvalues grow, and all those beyond a cut do not. `Products` takes
Q itself. `Elimination` takes the pseudo-inverse of I - Q: the solution of a linear system in
the graph's Laplacian with one node grounded, by a sparse factorisation; then very few
products do, however close the eigenvalues lie.
"""

from __future__ import annotations

from math import acosh, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.laplacian._kernels import multiply, project_out
from graphmover.laplacian._ordering import minimum_degree

Floats = NDArray[np.float64]

#: Entries of a factor per node and edge of its graph, at most: the memory stays linear.
FILL = 25


class Component(NamedTuple):
    """A connected graph of classes of twins as compressed rows."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: Floats  # between two classes, summed over their nodes; beside indices
    scale: Floats  # sqrt of the summed degrees of a class: the kernel of I - Q
    diagonal: Floats  # of Q

    def kernel(self) -> Floats:
        """Return the eigenvector of the eigenvalue 0."""
        unit: Floats = self.scale / np.linalg.norm(self.scale)
        return unit

    def renumbered(self, order: NDArray[np.int64]) -> Component:
        """Return the same graph with node ``order[i]`` as node i."""
        position = np.empty(len(order), np.int32)
        position[order] = np.arange(len(order))
        lengths = np.diff(self.indptr)[order]
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        at = np.arange(indptr[-1]) + np.repeat(self.indptr[order] - indptr[:-1], lengths)
        return Component(
            indptr,
            position[self.indices[at]],
            self.weights[at],
            self.scale[order],
            self.diagonal[order],
        )


class Products:
    """Polynomials of Q."""

    name = "products with the matrix"

    def __init__(self, graph: Component) -> None:
        self.kernel = graph.kernel()
        self.matrix = _entries_of_q(graph)

    def laplacian(self, x: Floats) -> Floats:
        """Return (I - Q) x."""
        y = np.zeros_like(x)
        multiply(*self.matrix, x, -1.0, 1.0, 0.0, y)
        return y

    def reach(self, low: float, cut: float) -> float:
        """Where an eigenvalue lies when those beyond the cut are mapped to [-1, 1]."""
        return (2 * (1 - low) + cut) / (2 - cut)

    def filtered(self, x: Floats, cut: float, degree: int) -> Floats:
        """Apply the Chebyshev polynomial that is small on [-1, 1 - cut]."""
        half, middle = (2 - cut) / 2, -cut / 2
        before, now = x.copy(), np.zeros_like(x)
        multiply(*self.matrix, x, 1 / half, -middle / half, 0.0, now)
        # Rounding brings the kernel back in, and no other eigenvector grows as fast.
        often = max(1, int(log(1e6) / acosh(self.reach(0.0, cut))))
        for step in range(degree - 1):
            multiply(*self.matrix, now, 2 / half, -2 * middle / half, -1.0, before)
            before, now = now, before
            if step % often == 0:
                project_out(self.kernel, before)
                project_out(self.kernel, now)
        return now


class Elimination(Products):
    """Polynomials of the pseudo-inverse of I - Q."""

    name = "elimination"

    def __init__(self, graph: Component, order: NDArray[np.int64]) -> None:
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        super().__init__(graph)
        n = len(graph.scale)
        self.scale = graph.scale[:, np.newaxis]
        self.order = order[:-1]  # the last node is grounded
        position = np.full(n, -1)
        position[self.order] = np.arange(n - 1)
        rows = np.repeat(position, np.diff(graph.indptr))
        columns = position[graph.indices]
        kept = (rows >= 0) & (columns >= 0)
        degrees = np.add.reduceat(graph.weights, graph.indptr[:-1])  # connected: no row is empty
        loops = np.arange(n - 1)
        entries = np.concatenate([-graph.weights[kept], degrees[self.order]])
        where = (np.concatenate([rows[kept], loops]), np.concatenate([columns[kept], loops]))
        self.factors = splu(
            csc_array((entries, where), shape=(n - 1, n - 1)),
            permc_spec="NATURAL",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def _solve(self, x: Floats) -> Floats:
        solution = np.zeros_like(x)
        solution[self.order] = self.factors.solve((self.scale * x)[self.order])
        solution *= self.scale
        project_out(self.kernel, solution)
        return solution

    def reach(self, low: float, cut: float) -> float:
        """Where an eigenvalue's inverse lies when those beyond the cut are mapped to [-1, 1]."""
        return 2 * cut / low - 1

    def filtered(self, x: Floats, cut: float, degree: int) -> Floats:
        """Apply the Chebyshev polynomial that is small from the kernel's 0 to 1 / cut."""
        before, now = x, 2 * cut * self._solve(x) - x
        for _ in range(degree - 1):
            before, now = now, 2 * (2 * cut * self._solve(now) - now) - before
        return now


def operator_for(graph: Component) -> tuple[Products, NDArray[np.int64] | None]:
    """Choose elimination where its factor has at most FILL entries per node and edge.

    Elsewhere nodes are renumbered so that neighbours lie near each other in memory, which
    makes products twice as fast; the second result is the order of nodes in vectors.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    budget = FILL * (len(graph.scale) + len(graph.indices) // 2)
    order = minimum_degree(graph.indptr, graph.indices, budget)
    if len(order):
        return Elimination(graph, order), None
    matrix = csr_array((graph.weights, graph.indices, graph.indptr))
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True).astype(np.int64)
    return Products(graph.renumbered(order)), order


def _entries_of_q(
    graph: Component,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
    """Compressed rows of Q with its diagonal."""
    rows = np.repeat(np.arange(len(graph.scale)), np.diff(graph.indptr))
    data = graph.weights / (graph.scale[rows] * graph.scale[graph.indices])
    loops = np.flatnonzero(graph.diagonal)
    at = graph.indptr[loops]
    counts = np.diff(graph.indptr)
    counts[loops] += 1
    return (
        np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
        np.insert(graph.indices, at, loops.astype(np.int32)),
        np.insert(data, at, graph.diagonal[loops]),
    )
