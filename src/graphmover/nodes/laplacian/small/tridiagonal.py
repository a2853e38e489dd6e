"""The smallest eigenvalues of a symmetric tridiagonal matrix, and their eigenvectors.

Eigenvalues come from bisection on Sturm counts (Parlett 1998, chapter 3; Golub and Van Loan 2013,
section 8.4): the number of negative pivots of T - x is the number of eigenvalues below x.
Eigenvectors come from inverse iteration (Parlett 1998, chapter 4), each orthogonalised against
all before it, and are accepted only with small residuals.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from graphmover._utils.jit import JIT, njit

#: The largest residual |(T - x) v| accepted, for an eigenvector v of length 1.
RESIDUAL = 1e-13

_TINY = 1e-300  # in place of a pivot of 0 in Sturm counts
_SMALL_PIVOT = 1e-17  # in place of a pivot of 0 in inverse iteration
_ATTEMPTS = 6  # iterations of one eigenvector, restarts included


@njit(**JIT)
def smallest_eigenvalues(diagonal, squares, low, high, first, out):
    """Fill out[first], out[first + 1], ... with these eigenvalues, counted from 0.

    All lie between low and high. ``squares[i]`` is the square of the entry above diagonal[i].
    """
    n = len(diagonal)
    # Four at a time, in separate variables: the divisions of one, which depend on each other,
    # then overlap with those of the others.
    for at in range(first, len(out), 4):
        a0 = a1 = a2 = a3 = low
        b0 = b1 = b2 = b3 = high
        for _ in range(51):  # halves [low, high] to an interval of 1e-15
            x0, x1, x2, x3 = 0.5 * (a0 + b0), 0.5 * (a1 + b1), 0.5 * (a2 + b2), 0.5 * (a3 + b3)
            n0 = n1 = n2 = n3 = 0
            q0 = q1 = q2 = q3 = 1.0
            # The pivots of T - x, by the recurrence q_i = d_i - x - s_i / q_i-1.
            for i in range(n):
                s, d = squares[i], diagonal[i]
                q0 = d - x0 - s / q0
                q1 = d - x1 - s / q1
                q2 = d - x2 - s / q2
                q3 = d - x3 - s / q3
                if q0 == 0.0:
                    q0 = -_TINY
                if q1 == 0.0:
                    q1 = -_TINY
                if q2 == 0.0:
                    q2 = -_TINY
                if q3 == 0.0:
                    q3 = -_TINY
                n0 += q0 < 0.0
                n1 += q1 < 0.0
                n2 += q2 < 0.0
                n3 += q3 < 0.0
            # Eigenvalue number k lies below x if more than k eigenvalues do.
            a0, b0 = (a0, x0) if n0 > at else (x0, b0)
            a1, b1 = (a1, x1) if n1 > at + 1 else (x1, b1)
            a2, b2 = (a2, x2) if n2 > at + 2 else (x2, b2)
            a3, b3 = (a3, x3) if n3 > at + 3 else (x3, b3)
        out[at] = 0.5 * (a0 + b0)
        if at + 1 < len(out):
            out[at + 1] = 0.5 * (a1 + b1)
        if at + 2 < len(out):
            out[at + 2] = 0.5 * (a2 + b2)
        if at + 3 < len(out):
            out[at + 3] = 0.5 * (a3 + b3)


@njit(fastmath={"reassoc", "contract"}, **JIT)
def dot(x, y):
    """The inner product."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@njit(**JIT)
def _lu_factor(diagonal, above, value, upper, second, third, factor, swapped):
    """LU factors of T - value with partial pivoting; pivots of zero become tiny ones.

    Row i of U is upper[i], second[i], third[i]; ``factor`` holds the multipliers, ``swapped``
    says which rows were exchanged with the next.
    """
    n = len(diagonal)
    # pivot and right: what elimination has left of the current row.
    pivot, right = diagonal[0] - value, above[0] if n > 1 else 0.0
    for i in range(n - 1):
        below, next_pivot = above[i], diagonal[i + 1] - value
        next_right = above[i + 1] if i + 2 < n else 0.0
        swapped[i] = abs(below) > abs(pivot)
        if swapped[i]:
            factor[i] = pivot / below
            upper[i], second[i], third[i] = below, next_pivot, next_right
            pivot, right = right - factor[i] * next_pivot, -factor[i] * next_right
        else:
            if pivot == 0.0:
                pivot = _SMALL_PIVOT
            factor[i] = below / pivot
            upper[i], second[i], third[i] = pivot, right, 0.0
            pivot, right = next_pivot - factor[i] * right, next_right
    upper[n - 1] = pivot if abs(pivot) > _SMALL_PIVOT else _SMALL_PIVOT
    second[n - 1] = third[n - 1] = 0.0


@njit(**JIT)
def _lu_solve(upper, second, third, factor, swapped, x):
    """Solve (T - value) y = x in place."""
    n = len(x)
    for i in range(n - 1):
        if swapped[i]:
            x[i], x[i + 1] = x[i + 1], x[i] - factor[i] * x[i + 1]
        else:
            x[i + 1] -= factor[i] * x[i]
    x[n - 1] /= upper[n - 1]
    if n > 1:
        x[n - 2] = (x[n - 2] - second[n - 2] * x[n - 1]) / upper[n - 2]
    for i in range(n - 3, -1, -1):
        x[i] = (x[i] - second[i] * x[i + 1] - third[i] * x[i + 2]) / upper[i]


@njit(**JIT)
def _residual(diagonal, above, value, x):
    """The length of (T - value) x."""
    n, total = len(x), 0.0
    for i in range(n):
        r = (diagonal[i] - value) * x[i]
        if i > 0:
            r += above[i - 1] * x[i - 1]
        if i + 1 < n:
            r += above[i] * x[i + 1]
        total += r * r
    return sqrt(total)


@njit(**JIT)
def _random_start(seed, x):
    """Fill x with numbers from [-0.5, 0.5); return the next seed of the generator.

    A linear congruential generator with Knuth's multiplier: the same in every process.
    """
    for i in range(len(x)):
        seed = seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        x[i] = np.float64(seed >> np.uint64(11)) * 2.0**-53 - 0.5
    return seed


@njit(**JIT)
def eigenvectors(diagonal, above, values, out, work, swapped):
    """Fill the rows of ``out``; whether all of them have small residuals."""
    n = len(diagonal)
    upper, second, third, factor = work[0, :n], work[1, :n], work[2, :n], work[3, :n]
    seed = np.uint64(1)
    for j in range(len(values)):
        x = out[j]
        _lu_factor(diagonal, above, values[j], upper, second, third, factor, swapped)
        seed = _random_start(seed, x)
        good = False
        for attempt in range(_ATTEMPTS):
            _lu_solve(upper, second, third, factor, swapped, x)
            # T - value is almost singular: scale first, so that no square overflows.
            largest = 0.0
            for i in range(n):
                largest = max(largest, abs(x[i]))
            x /= largest
            # Twice is enough (Parlett 1998, chapter 6).
            for _ in range(2):
                for k in range(j):
                    overlap = dot(x, out[k])
                    for i in range(n):
                        x[i] -= overlap * out[k, i]
            length = sqrt(dot(x, x))
            if not length > 1e-9:  # x was in the span of the vectors found before: restart
                seed = _random_start(seed, x)
                continue
            x /= length
            # One solve may amplify too little of the eigenvector in the start: never stop there.
            if attempt > 0 and _residual(diagonal, above, values[j], x) <= RESIDUAL:
                good = True
                break
        if not good:
            return False
    return True
