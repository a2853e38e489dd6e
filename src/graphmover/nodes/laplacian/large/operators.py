"""Two operators with the eigenvectors of a connected graph's Laplacian I - Q.

`Products` takes Q itself, `Elimination` the pseudo-inverse of I - Q: the solution of a linear
system in the graph's Laplacian with one node grounded (`_triangular.py`); then very few products
do, however close the eigenvalues lie. Lanczos' method takes one vector at a time, and either the
pseudo-inverse or a Chebyshev polynomial of Q, which makes the eigenvectors of the Laplacian's
smallest eigenvalues grow, and not those beyond a cut. Subspace iteration filters a block of
vectors by polynomials of either.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import acosh, cosh, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.segments import offsets_from_counts, ranges
from graphmover.nodes.laplacian.large.cholesky import factor, solve_block
from graphmover.nodes.laplacian.large.kernels import multiply, project_out
from graphmover.nodes.laplacian.large.minimum_degree import minimum_degree

Floats = NDArray[np.float64]
Say = Callable[[str], None]
Factors = tuple[Any, ...]  # order, columns, rows, values, diagonal, dense core: see _triangular.py

#: Entries of a factor per node and edge of its graph, at most: the memory stays linear.
FILL = 25

#: By how much a polynomial in Lanczos' method lets the kernel, a rounding error, grow.
_KERNEL_GROWTH = 1e3


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
        at = ranges(self.indptr[order], lengths)
        return Component(
            offsets_from_counts(lengths),
            position[self.indices[at]],
            self.weights[at],
            self.scale[order],
            self.diagonal[order],
        )


@cache
def _no_factors() -> Factors:
    """Return factors of the right types for where none are used."""
    edge = (np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2))
    factors: Factors = factor(*edge, np.arange(2), np.array([0, 1, 1]), np.ones(1, np.int32))
    return factors


class Mapped(NamedTuple):
    """One operator as Lanczos' method takes it, and what it makes of eigenvalues."""

    compiled: tuple[Any, ...]  # matrix, scale, factors, cut, degree; degree 0: the pseudo-inverse
    image: Callable[[float], float]
    eigenvalue: Callable[[float], float]  # the inverse of image
    products: int


class Products:
    """Polynomials of Q."""

    name = "products with the matrix"

    def __init__(self, graph: Component) -> None:
        self.kernel = graph.kernel()
        self.scale = graph.scale
        self.matrix = _entries_of_q(graph)

    def itself(self) -> tuple[Any, ...]:
        """Return Q as `_lanczos.py` takes it."""
        return self.matrix, self.scale, _no_factors(), 0.0, 1

    def mapped(self, cut: float) -> Mapped:
        """Return the Chebyshev polynomial of Q that is small on [-1, 1 - cut]."""
        degree = int(np.clip(log(_KERNEL_GROWTH) / acosh(self.reach(0.0, cut)), 1, 64))
        return Mapped(
            (self.matrix, self.scale, _no_factors(), cut, degree),
            lambda value: cosh(degree * acosh(max(1.0, self.reach(value, cut)))),
            lambda image: 1 - ((2 - cut) * cosh(acosh(max(1.0, image)) / degree) - cut) / 2,
            degree,
        )

    def laplacian(self, x: Floats) -> Floats:
        """Return (I - Q) x."""
        y = np.zeros_like(x)
        multiply(*self.matrix, x, -1.0, 1.0, 0.0, y)
        return y

    def corrected(self, x: Floats, residuals: Floats) -> Floats:
        """Return eigenvectors with smaller rounding errors, where the operator can tell them."""
        del residuals
        return x

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

    def __init__(self, graph: Component, factors: Factors) -> None:
        super().__init__(graph)
        self.factors = factors

    def mapped(self, cut: float) -> Mapped:
        """Return the pseudo-inverse, whatever the cut."""
        del cut
        inverse = lambda value: 1 / max(value, 1e-300)  # noqa: E731
        return Mapped((self.matrix, self.scale, self.factors, 0.0, 0), inverse, inverse, 1)

    def _solve(self, x: Floats) -> Floats:
        solution = np.empty_like(x)
        solve_block(self.factors, self.scale, x, solution)
        project_out(self.kernel, solution)
        return solution

    def corrected(self, x: Floats, residuals: Floats) -> Floats:
        """Iterate inversely on the residuals: rounding errors are relative to these, not to x."""
        better = x - self._solve(residuals)
        unit: Floats = better / np.linalg.norm(better, axis=0)
        return unit

    def reach(self, low: float, cut: float) -> float:
        """Where an eigenvalue's inverse lies when those beyond the cut are mapped to [-1, 1]."""
        return 2 * cut / low - 1

    def filtered(self, x: Floats, cut: float, degree: int) -> Floats:
        """Apply the Chebyshev polynomial that is small from the kernel's 0 to 1 / cut."""
        before, now = x, 2 * cut * self._solve(x) - x
        for _ in range(degree - 1):
            before, now = now, 2 * (2 * cut * self._solve(now) - now) - before
        return now


def elimination(graph: Component) -> Elimination | None:
    """Eliminate, where the factor has at most FILL entries per node and edge."""
    budget = FILL * (len(graph.scale) + len(graph.indices) // 2)
    order, starts, entries = minimum_degree(graph.indptr, graph.indices, budget)
    if not len(order):
        return None
    arrays = (graph.indptr, graph.indices, graph.weights)
    return Elimination(graph, factor(*arrays, order, starts, entries))


def neighbours_nearby(graph: Component) -> NDArray[np.int64]:
    """Return an order of nodes that puts neighbours near each other in memory."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    matrix = csr_array((graph.weights, graph.indices, graph.indptr))
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    return np.asarray(order, dtype=np.int64)


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
        offsets_from_counts(counts),
        np.insert(graph.indices, at, loops.astype(np.int32)),
        np.insert(data, at, graph.diagonal[loops]),
    )
