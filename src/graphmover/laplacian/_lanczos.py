"""Lanczos' method with thick restarts: a few of a connected graph's smallest eigenpairs.

It works on an operator whose largest eigenvalues belong to the Laplacian's smallest
(`_operators.py`). Every new vector is made orthogonal to all others, twice. One start sees one
copy of a repeated eigenvalue; so the method starts again, orthogonal to what was found, until
what it finds first lies beyond the eigenvalues wanted.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit

from graphmover.laplacian._kernels import chebyshev
from graphmover.laplacian._operators import Floats, Mapped, Products, Say
from graphmover.laplacian._triangular import solve
from graphmover.laplacian._twins import options

#: The error of an eigenvector, at most: its residual over the distance to the next eigenvalue.
_ERROR = 1e-10

#: After so many starts, eigenvalues repeat more often than single vectors can soon find out.
_STARTS = 5

#: By this share of its distance to the eigenvalues found, what follows them may be uncertain.
_UNCERTAIN = 0.001


class _Run(NamedTuple):
    """What one start found: Ritz values, the largest first, and their vectors as rows."""

    values: Floats
    vectors: Floats
    count: int  # of those that are wanted and accurate
    converged: bool
    products: int


def first_look(operator: Products, steps: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return upper bounds on the smallest eigenvalues, and vectors that have them, as rows."""
    n = len(operator.kernel)
    basis, projected = np.empty((steps + 1, n)), np.zeros((steps, steps))
    basis[0] = _orthogonal_start(operator.kernel[np.newaxis], rng.standard_normal(n))
    _extend(operator.itself(), operator.kernel[np.newaxis], basis, projected, 0)
    values, turn = np.linalg.eigh(projected)
    return 1.0 - values[::-1], turn[:, ::-1].T @ basis[:-1]


def leading_eigenvectors(
    operator: Mapped, kernel: Floats, start: Floats, want: int, same: float, most: int, say: Say
) -> tuple[Floats, bool, int]:
    """Find the first ``want`` eigenvectors, with all copies, and what follows them.

    Returned are vectors as columns, whether all wanted are there, and the number of products.
    """
    known = kernel[np.newaxis]
    found: Floats = np.empty(0)
    rng = np.random.default_rng(1)
    beyond, products = -inf, 0
    for _ in range(_STARTS):
        run = _from_one_start(operator, known, start, want, beyond, most - products, say)
        products += run.products
        if not run.converged:
            break
        if run.count == 0:
            return np.concatenate([known[1:], run.vectors[:2]]).T, True, products
        known = np.concatenate([known, run.vectors[: run.count]])
        found = np.sort(np.concatenate([found, run.values[: run.count]]))
        beyond = operator.image(operator.eigenvalue(float(found[-want])) + same)
        start = rng.standard_normal(len(start))
    return np.concatenate([known[1:], run.vectors[run.count * run.converged :]]).T, False, products


def _from_one_start(
    operator: Mapped, known: Floats, start: Floats, want: int, beyond: float, most: int, say: Say
) -> _Run:
    """Extend and restart one basis until all values above ``beyond``, or ``want``, are found."""
    n = len(start)
    size = 2 * want + 14
    basis, projected = np.empty((size + 1, n)), np.zeros((size, size))
    basis[0] = _orthogonal_start(known, start)
    count = products = 0
    while True:
        length = _extend(operator.compiled, known, basis, projected, count)
        products += (size - count) * operator.products
        values, turn = np.linalg.eigh(projected)
        values, turn = values[::-1], turn[:, ::-1].T
        residuals = length * np.abs(turn[:, -1])
        need = want if beyond == -inf else min(want, int((values + residuals >= beyond).sum()))
        worst = _largest_error(values, residuals, need, beyond)
        say(f"{worst:.1e} times the error allowed after {products} products")
        converged = worst <= 1.0
        if converged or products >= most:
            return _Run(values, turn[: want + 3] @ basis[:size], need, converged, products)
        count = want + (size - want) // 2
        basis[:count] = turn[:count] @ basis[:size]
        basis[count] = basis[size]
        projected[:] = 0.0
        np.fill_diagonal(projected[:count, :count], values[:count])


def _largest_error(values: Floats, residuals: Floats, need: int, beyond: float) -> float:
    """How far the first ``need`` pairs, and the gap that follows, are from accurate; 1: are."""
    last = values[need - 1] if need else beyond
    gaps = values[: need + 1] - values[1 : need + 2]
    gaps[1:] = np.minimum(gaps[1:], gaps[:-1])
    allowed = np.maximum(_ERROR * gaps[:need], 1e-16 * values[0])
    errors = residuals[:need] / allowed
    next_one = residuals[need] / (_UNCERTAIN * max(last - values[need], 1e-300))
    return float(max(errors.max(initial=0.0), next_one))


@njit(**options)
def _orthogonal_start(known, start):
    w = start.copy()
    for _ in range(2):
        _orthogonalise(known, w)
        w /= sqrt(np.dot(w, w))
    return w


@njit(**options)
def _extend(operator, known, basis, projected, count):
    """Fill rows count + 1 to the last of the basis, and the operator projected on all but it.

    Returned is the length of the last row before it was made a unit vector.
    """
    n = basis.shape[1]
    w, work = np.empty(n), np.empty((2, n))
    length = 0.0
    for k in range(count, len(projected)):
        _apply(operator, basis[k], w, work)
        before = sqrt(np.dot(w, w))
        _orthogonalise(known, w)
        share = _orthogonalise(basis[: k + 1], w)
        share += _orthogonalise(basis[: k + 1], w)
        _orthogonalise(known, w)  # last: the pseudo-inverse makes much of traces of the kernel
        projected[: k + 1, k] = share
        projected[k, : k + 1] = share
        length = sqrt(np.dot(w, w))
        if length <= 1e-14 * before:  # the basis is all that the start can reach
            length = 0.0
            for u in range(n):
                w[u] = ((u + 1) * (k + 12345) * 0.6180339887498949) % 1.0 - 0.5
            for _ in range(2):
                _orthogonalise(known, w)
                _orthogonalise(basis[: k + 1], w)
                w /= sqrt(np.dot(w, w))
            basis[k + 1] = w
        else:
            basis[k + 1] = w / length
    return length


@njit(**options)
def _orthogonalise(basis, w):
    """Take the rows of an orthonormal basis out of w; their shares."""
    share = np.dot(basis, w)
    w -= np.dot(share, basis)
    return share


@njit(**options)
def _apply(operator, x, y, work):
    matrix, scale, factors, cut, degree = operator
    if degree == 0:
        solve(factors, scale, x, y, work[0])
    else:
        chebyshev(matrix, x, cut, degree, y, work)
