"""Thick-restart Lanczos (Wu and Simon 2000): a few of a connected graph's smallest eigenpairs.

It works on an operator whose largest eigenvalues belong to the Laplacian's smallest
(`operators.py`). When the basis is full, it is replaced by its leading Ritz vectors and the next
Lanczos vector, and extended again. The Krylov subspace of one start vector contains one
eigenvector of a multiple eigenvalue. So the method runs again, orthogonal to all vectors found,
until the first eigenvalue of a run lies beyond those wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

import numpy as np

from graphmover.nodes.laplacian.large.krylov import extend, orthogonal_start
from graphmover.nodes.laplacian.large.operators import AdjacencyPolynomial, LanczosOperator
from graphmover.nodes.laplacian.large.quotient import Floats

Report = Callable[[str], None]  # takes messages about the solver's progress

#: The error of an eigenvector, at most: its residual over the distance to the next eigenvalue.
_ERROR = 1e-10

#: After this many runs, multiplicities are too high for single start vectors.
_RUNS = 5

#: The uncertainty of the first eigenvalue behind those found, relative to its distance to them.
_UNCERTAINTY = 0.001


class LanczosResult(NamedTuple):
    """What all runs together found of the smallest eigenpairs."""

    vectors: Floats  # as columns
    lower_bound: float  # of all other eigenvalues of the Laplacian; 0 where none is known
    products: int


class _Run(NamedTuple):
    """What one run found: Ritz values, the largest first, and their vectors as rows."""

    values: Floats
    vectors: Floats
    n_found: int  # of those that are wanted and accurate
    next_value: float  # an upper bound of all others; infinite: not converged
    products: int


def ritz_estimates(
    operator: AdjacencyPolynomial, steps: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return upper bounds on the smallest eigenvalues, and their Ritz vectors as rows.

    One run of Lanczos' method on Q itself, without a restart.
    """
    n = len(operator.null_vector)
    null_vector = operator.null_vector[np.newaxis]
    basis, projected = np.empty((steps + 1, n)), np.zeros((steps, steps))
    basis[0] = orthogonal_start(null_vector, rng.standard_normal(n))
    extend(operator.plain(), null_vector, basis, projected, 0)
    values, rotation = np.linalg.eigh(projected)
    return 1.0 - values[::-1], rotation[:, ::-1].T @ basis[:-1]


def thick_restart_lanczos(
    operator: LanczosOperator,
    null_vector: Floats,
    start: Floats,
    want: int,
    tolerance: float,
    most_products: int,
    report: Report,
) -> LanczosResult:
    """Find the first ``want`` eigenvectors with all multiplicities, or approximate ones."""
    known = null_vector[np.newaxis]  # and all vectors found; later runs are orthogonal to them
    found: Floats = np.empty(0)
    rng = np.random.default_rng(1)
    threshold, products = -inf, 0  # later runs look for eigenvalues above the threshold only
    for _ in range(_RUNS):
        run = _run(
            operator, known, start, want, tolerance, threshold, most_products - products, report
        )
        products += run.products
        if run.next_value == inf:
            vectors = np.concatenate([known[1:], run.vectors])
            return LanczosResult(vectors.T, 0.0, products)
        if run.n_found == 0:
            lower_bound = operator.eigenvalue(run.next_value)
            return LanczosResult(known[1:].T, lower_bound, products)
        known = np.concatenate([known, run.vectors])
        found = np.sort(np.concatenate([found, run.values[: run.n_found]]))
        threshold = float(found[-want]) - _margin(operator, float(found[-want]), tolerance)
        if len(known) + 2 * _basis_size(want) > len(start):
            break  # the orthogonal complement is too small for another run
        start = rng.standard_normal(len(start))
    return LanczosResult(known[1:].T, 0.0, products)


def _basis_size(want: int) -> int:
    """How many vectors a basis has when it is restarted."""
    return 2 * want + 14


def _margin(operator: LanczosOperator, value: float, tolerance: float) -> float:
    """The tolerance at an eigenvalue of the operator, in the operator's terms."""
    return value - operator.image(operator.eigenvalue(value) + tolerance)


def _count_as_one(operator: LanczosOperator, pair: Floats, tolerance: float) -> bool:
    """Whether two consecutive eigenvalues of the operator belong to one eigenspace."""
    return bool(pair[0] - pair[1] <= _margin(operator, float(pair[0]), tolerance))


def _run(
    operator: LanczosOperator,
    known: Floats,
    start: Floats,
    want: int,
    tolerance: float,
    threshold: float,
    most_products: int,
    report: Report,
) -> _Run:
    """Extend and restart one basis until all values above the threshold, or ``want``, are found."""
    n = len(start)
    size = _basis_size(want)
    basis, projected = np.empty((size + 1, n)), np.zeros((size, size))
    basis[0] = orthogonal_start(known, start)
    count = products = 0
    while True:
        length = extend(operator.compiled, known, basis, projected, count)
        products += (size - count) * operator.products
        values, rotation = np.linalg.eigh(projected)
        values, rotation = values[::-1], rotation[:, ::-1].T
        # |A x - theta x| of a Ritz pair: only the last Lanczos vector sticks out of the basis.
        residuals = length * np.abs(rotation[:, -1])
        # How many pairs this run must find; the last eigenspace among them is needed whole.
        first_run = threshold == -inf
        need = want if first_run else min(want, int((values + residuals >= threshold).sum()))
        while 0 < need < size - 1 and _count_as_one(
            operator, values[need - 1 : need + 1], tolerance
        ):
            need += 1
        worst = inf
        if need < size - 1:
            margins = [_margin(operator, float(value), tolerance) for value in values[: need + 1]]
            worst = _largest_error(values, residuals, need, threshold, np.array(margins))
        report(f"{worst:.1e} times the error allowed after {products} products")
        if worst <= 1.0 or products >= most_products or need > size // 2 + want:
            following = values[need] + residuals[need] if worst <= 1.0 else inf
            return _Run(values, rotation[:need] @ basis[:size], need, float(following), products)
        # Thick restart: keep the Ritz vectors wanted, half of the others, and the next Lanczos
        # vector. The operator projected on Ritz vectors is diagonal; `extend` adds the rest.
        count = want + (size - want) // 2
        basis[:count] = rotation[:count] @ basis[:size]
        basis[count] = basis[size]
        projected[:] = 0.0
        np.fill_diagonal(projected[:count, :count], values[:count])


def _largest_error(
    values: Floats, residuals: Floats, need: int, threshold: float, margins: Floats
) -> float:
    """The errors of the first ``need`` pairs, and of the gap that follows; 1: all are allowed."""
    last = values[need - 1] if need else threshold
    gaps = values[: need + 1] - values[1 : need + 2]
    gaps[gaps <= margins] = inf  # within an eigenspace
    gaps[1:] = np.minimum(gaps[1:], gaps[:-1])
    allowed = np.maximum(_ERROR * gaps[:need], 1e-16 * values[0])
    errors = residuals[:need] / allowed
    next_one = residuals[need] / (_UNCERTAINTY * max(last - values[need], 1e-300))
    return float(max(errors.max(initial=0.0), next_one))
