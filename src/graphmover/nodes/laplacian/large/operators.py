"""Operators with the eigenvectors of a connected graph's Laplacian I - Q.

All map the smallest eigenvalues of I - Q to the largest. `AdjacencyPolynomial` takes Chebyshev
polynomials of Q, and needs products with Q only. `PseudoInverse` takes the pseudo-inverse of
I - Q, by solving linear systems in the grounded Laplacian (`cholesky.py`): then very few products
suffice, however close the eigenvalues are. `trees.py` has a simpler one for trees. Thick-restart
Lanczos (`lanczos.py`) applies an operator to one vector at a time; subspace iteration
(`subspace.py`) filters blocks by polynomials of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from graphmover.nodes.laplacian.large import chebyshev
from graphmover.nodes.laplacian.large.cholesky import Factors, factor, solve_block
from graphmover.nodes.laplacian.large.kernels import multiply, project_out
from graphmover.nodes.laplacian.large.krylov import CompiledOperator
from graphmover.nodes.laplacian.large.minimum_degree import minimum_degree
from graphmover.nodes.laplacian.large.quotient import Floats, QuotientGraph, Rows

#: Entries of a factor per node and edge of its graph, at most: the memory stays linear.
MAX_FILL = 25

#: One polynomial of Lanczos' method amplifies rounding errors along the null vector by this.
_NULL_GROWTH = 1e3

#: Polynomials of blocks let them grow by this before they are projected out.
_NULL_GROWTH_BETWEEN_PROJECTIONS = 1e6


class RitzPairs(NamedTuple):
    """Ritz values in ascending order, their vectors as columns, and the residuals' lengths."""

    values: Floats
    vectors: Floats
    residuals: Floats  # over the distance to the next other value: the error of a vector


class LanczosOperator(NamedTuple):
    """An operator as `lanczos.py` takes it, and what it makes of the Laplacian's eigenvalues."""

    compiled: CompiledOperator
    image: Callable[[float], float]  # decreasing
    eigenvalue: Callable[[float], float]  # the inverse of image
    products: int  # with Q, or linear systems, that one application takes


class SpectralOperator(ABC):
    """What the solvers ask of an operator that has the eigenvectors of I - Q.

    A ``cut`` is an eigenvalue of I - Q: those above it are unwanted.
    """

    name: ClassVar[str]

    def __init__(self, graph: QuotientGraph) -> None:
        self.null_vector = graph.null_vector()
        self.scale = graph.scale
        self.matrix: Rows = graph.matrix()

    def laplacian(self, x: Floats) -> Floats:
        """Return (I - Q) x."""
        y = np.zeros_like(x)
        multiply(*self.matrix, x, -1.0, 1.0, 0.0, y)
        return y

    @abstractmethod
    def for_lanczos(self, cut: float) -> LanczosOperator:
        """Return the operator for single vectors."""

    @abstractmethod
    def chebyshev_argument(self, value: float, cut: float) -> float:
        """Return t(value), where t maps all unwanted eigenvalues to [-1, 1]."""

    @abstractmethod
    def filtered(self, x: Floats, cut: float, degree: int) -> Floats:
        """Apply the Chebyshev polynomial of this degree in t to a block of vectors."""

    def refined(self, x: Floats, residuals: Floats) -> Floats:
        """Return eigenvectors with smaller rounding errors, where the operator allows it."""
        del residuals
        return x

    def ritz_pairs(self, basis: Floats) -> RitzPairs:
        """Return the Ritz pairs of the span of orthonormal columns."""
        image = self.laplacian(basis)
        small = basis.T @ image
        values, rotation = np.linalg.eigh((small + small.T) / 2)
        block, image = basis @ rotation, image @ rotation
        rest = image - block * values
        # Refining vectors that have not converged could make them collapse onto these.
        converged = np.linalg.norm(rest, axis=0) < 1e-8
        block[:, converged] = self.refined(block[:, converged], rest[:, converged])
        image = self.laplacian(block)
        values = (block * image).sum(axis=0)
        order = np.argsort(values, kind="stable")
        residuals = np.linalg.norm(image - block * values, axis=0)
        return RitzPairs(values[order], np.ascontiguousarray(block[:, order]), residuals[order])


class AdjacencyPolynomial(SpectralOperator):
    """Chebyshev polynomials of Q that are small on [-1, 1 - cut]."""

    name = "Chebyshev polynomials of the adjacency matrix"

    def plain(self) -> CompiledOperator:
        """Return Q itself: the polynomial of degree 1 for cut = 0."""
        return self._compiled(0.0, 1)

    def _compiled(self, cut: float, degree: int) -> CompiledOperator:
        half, middle = chebyshev.interval(cut)
        return CompiledOperator(self.matrix, self.scale, _unused_factors(), half, middle, degree)

    def for_lanczos(self, cut: float) -> LanczosOperator:
        """Return the polynomial of the largest degree that keeps the null vector small."""
        at_zero = self.chebyshev_argument(0.0, cut)
        degree = int(np.clip(chebyshev.degree_for(_NULL_GROWTH, at_zero), 1, 64))
        return LanczosOperator(
            self._compiled(cut, degree),
            lambda value: chebyshev.evaluate(degree, self.chebyshev_argument(value, cut)),
            lambda image: 1 - ((2 - cut) * chebyshev.inverse(degree, image) - cut) / 2,
            degree,
        )

    def chebyshev_argument(self, value: float, cut: float) -> float:
        """Map [cut, 2] to [1, -1]."""
        return (2 * (1 - value) + cut) / (2 - cut)

    def filtered(self, x: Floats, cut: float, degree: int) -> Floats:
        """Apply the polynomial that is small on [-1, 1 - cut]."""
        # Rounding brings the null vector back in, and no other eigenvector grows as fast.
        at_zero = self.chebyshev_argument(0.0, cut)
        often = max(1, int(chebyshev.degree_for(_NULL_GROWTH_BETWEEN_PROJECTIONS, at_zero)))
        parameters = (*chebyshev.interval(cut), often)
        polynomial = chebyshev.recurrence(self._step)
        block: Floats = polynomial(parameters, np.zeros_like(x), x.copy(), degree)
        return block

    def _step(
        self,
        parameters: tuple[float, float, int],
        k: int,
        now: Floats,
        before: Floats,
        factor: float,
        keep: float,
    ) -> None:
        half, middle, often = parameters
        multiply(*self.matrix, now, factor / half, -factor * middle / half, keep, before)
        if k and (k - 1) % often == 0:
            project_out(self.null_vector, now)
            project_out(self.null_vector, before)


class PseudoInverse(SpectralOperator):
    """The pseudo-inverse of I - Q, and its Chebyshev polynomials."""

    name = "sparse Cholesky factorisation"

    def __init__(self, graph: QuotientGraph, factors: Factors) -> None:
        super().__init__(graph)
        self.factors = factors

    @classmethod
    def within_budget(cls, graph: QuotientGraph) -> PseudoInverse | None:
        """Factor the grounded Laplacian, if that takes few enough entries (`MAX_FILL`)."""
        budget = MAX_FILL * (len(graph.scale) + len(graph.indices) // 2)
        order, starts, entries = minimum_degree(graph.indptr, graph.indices, budget)
        if not len(order):
            return None
        arrays = (graph.indptr, graph.indices, graph.weights)
        return cls(graph, factor(*arrays, order, starts, entries))

    def for_lanczos(self, cut: float) -> LanczosOperator:
        """Return the pseudo-inverse, whatever the cut."""
        del cut
        inverse = lambda value: 1 / max(value, 1e-300)  # noqa: E731
        compiled = CompiledOperator(self.matrix, self.scale, self.factors, 1.0, 0.0, 0)
        return LanczosOperator(compiled, inverse, inverse, 1)

    def chebyshev_argument(self, value: float, cut: float) -> float:
        """Map the inverses of [cut, inf) to [1, -1]."""
        return 2 * cut / value - 1

    def filtered(self, x: Floats, cut: float, degree: int) -> Floats:
        """Apply the polynomial that is small from the null vector's 0 to 1 / cut."""
        polynomial = chebyshev.recurrence(self._step)
        block: Floats = polynomial(cut, np.zeros_like(x), x.copy(), degree)
        return block

    def _step(
        self, cut: float, k: int, now: Floats, before: Floats, factor: float, keep: float
    ) -> None:
        del k
        before *= keep
        before += factor * (2 * cut * self.solve(now) - now)

    def solve(self, x: Floats) -> Floats:
        """Return the pseudo-inverse times a block of vectors."""
        solution = np.empty_like(x)
        solve_block(self.factors, self.scale, x, solution)
        project_out(self.null_vector, solution)
        return solution

    def refined(self, x: Floats, residuals: Floats) -> Floats:
        """Apply one step of inverse iteration to the residuals.

        Rounding errors of the solution are relative to these, not to x.
        """
        better = x - self.solve(residuals)
        unit: Floats = better / np.linalg.norm(better, axis=0)
        return unit


@cache
def _unused_factors() -> Any:
    """Return factors of the right types: compiled code gets some where none are used."""
    edge = (np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2))
    return factor(*edge, np.arange(2), np.array([0, 1, 1]), np.ones(1, np.int32))
