"""Lanczos' method with thick restarts: a few of a connected graph's smallest eigenpairs.

It works on an operator whose largest eigenvalues belong to the Laplacian's smallest
(`_operators.py`). Every new vector is made orthogonal to all others, twice. One start sees one
copy of a repeated eigenvalue; so the method starts again, orthogonal to what was found, until
what it finds first lies beyond the eigenvalues wanted.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from graphmover.nodes.laplacian.large.krylov import extend, orthogonal_start
from graphmover.nodes.laplacian.large.operators import Floats, Mapped, Products, Say

#: The error of an eigenvector, at most: its residual over the distance to the next eigenvalue.
_ERROR = 1e-10

#: After so many starts, eigenvalues repeat more often than single vectors can soon find out.
_STARTS = 5

#: By this share of its distance to the eigenvalues found, what follows them may be uncertain.
_UNCERTAIN = 0.001


class Leading(NamedTuple):
    """What Lanczos' method found of the smallest eigenpairs."""

    vectors: Floats  # as columns
    bound: float  # no other eigenvalue is below it; 0 where this is not known
    products: int


class _Run(NamedTuple):
    """What one start found: Ritz values, the largest first, and their vectors as rows."""

    values: Floats
    vectors: Floats
    n_found: int  # of those that are wanted and accurate
    next_value: float  # all others are at most this; infinite: not converged
    products: int


def first_look(operator: Products, steps: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return upper bounds on the smallest eigenvalues, and vectors that have them, as rows."""
    n = len(operator.kernel)
    basis, projected = np.empty((steps + 1, n)), np.zeros((steps, steps))
    basis[0] = orthogonal_start(operator.kernel[np.newaxis], rng.standard_normal(n))
    extend(operator.itself(), operator.kernel[np.newaxis], basis, projected, 0)
    values, turn = np.linalg.eigh(projected)
    return 1.0 - values[::-1], turn[:, ::-1].T @ basis[:-1]


def leading_eigenvectors(
    operator: Mapped, kernel: Floats, start: Floats, want: int, same: float, most: int, say: Say
) -> Leading:
    """Find the first ``want`` eigenvectors with all copies, or vectors to go on from."""
    known = kernel[np.newaxis]
    found: Floats = np.empty(0)
    rng = np.random.default_rng(1)
    beyond, products = -inf, 0
    for _ in range(_STARTS):
        run = _from_one_start(operator, known, start, want, same, beyond, most - products, say)
        products += run.products
        if run.next_value == inf:
            vectors = np.concatenate([known[1:], run.vectors])
            return Leading(vectors.T, 0.0, products)
        if run.n_found == 0:
            return Leading(known[1:].T, operator.eigenvalue(run.next_value), products)
        known = np.concatenate([known, run.vectors])
        found = np.sort(np.concatenate([found, run.values[: run.n_found]]))
        beyond = float(found[-want]) - _margin(operator, float(found[-want]), same)
        if len(known) + 2 * _size(want) > len(start):
            break  # hardly anything is left to be orthogonal in
        start = rng.standard_normal(len(start))
    return Leading(known[1:].T, 0.0, products)


def _size(want: int) -> int:
    """How many vectors a basis has before it is restarted."""
    return 2 * want + 14


def _margin(operator: Mapped, value: float, same: float) -> float:
    """How far below an operator's eigenvalue those begin that do not count as the same."""
    return value - operator.image(operator.eigenvalue(value) + same)


def _are_copies(operator: Mapped, pair: Floats, same: float) -> bool:
    """Tell whether two eigenvalues of the operator count as one."""
    return bool(pair[0] - pair[1] <= _margin(operator, float(pair[0]), same))


def _from_one_start(
    operator: Mapped,
    known: Floats,
    start: Floats,
    want: int,
    same: float,
    beyond: float,
    most: int,
    say: Say,
) -> _Run:
    """Extend and restart one basis until all values above ``beyond``, or ``want``, are found."""
    n = len(start)
    size = _size(want)
    basis, projected = np.empty((size + 1, n)), np.zeros((size, size))
    basis[0] = orthogonal_start(known, start)
    count = products = 0
    while True:
        length = extend(operator.compiled, known, basis, projected, count)
        products += (size - count) * operator.products
        values, turn = np.linalg.eigh(projected)
        values, turn = values[::-1], turn[:, ::-1].T
        residuals = length * np.abs(turn[:, -1])
        need = want if beyond == -inf else min(want, int((values + residuals >= beyond).sum()))
        while 0 < need < size - 1 and _are_copies(operator, values[need - 1 : need + 1], same):
            need += 1
        worst = inf
        if need < size - 1:
            margins = [_margin(operator, float(value), same) for value in values[: need + 1]]
            worst = _largest_error(values, residuals, need, beyond, np.array(margins))
        say(f"{worst:.1e} times the error allowed after {products} products")
        if worst <= 1.0 or products >= most or need > size // 2 + want:
            following = values[need] + residuals[need] if worst <= 1.0 else inf
            return _Run(values, turn[:need] @ basis[:size], need, float(following), products)
        count = want + (size - want) // 2
        basis[:count] = turn[:count] @ basis[:size]
        basis[count] = basis[size]
        projected[:] = 0.0
        np.fill_diagonal(projected[:count, :count], values[:count])


def _largest_error(
    values: Floats, residuals: Floats, need: int, beyond: float, margins: Floats
) -> float:
    """How far the first ``need`` pairs, and the gap that follows, are from accurate; 1: are."""
    last = values[need - 1] if need else beyond
    gaps = values[: need + 1] - values[1 : need + 2]
    gaps[gaps <= margins] = inf  # between copies
    gaps[1:] = np.minimum(gaps[1:], gaps[:-1])
    allowed = np.maximum(_ERROR * gaps[:need], 1e-16 * values[0])
    errors = residuals[:need] / allowed
    next_one = residuals[need] / (_UNCERTAIN * max(last - values[need], 1e-300))
    return float(max(errors.max(initial=0.0), next_one))
