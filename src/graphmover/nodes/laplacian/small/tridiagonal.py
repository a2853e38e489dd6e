"""The smallest eigenvalues of a symmetric tridiagonal matrix, and their eigenvectors.

Eigenvalues come from bisection on Sturm counts, four at a time so that the divisions of one
do not wait for those of another. Eigenvectors come from inverse iteration, orthogonalised
against all before, and are only believed when their residuals are small.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

from graphmover._utils.jit import JIT

#: How far (T - x) v may be from 0, for an eigenvector v of length 1.
RESIDUAL = 1e-13

_TINY = 1e-300


@njit(**JIT)
def smallest_eigenvalues(diagonal, squares, low, high, first, out):
    """Fill out[first], ... with eigenvalues of these numbers, from 0, between low and high.

    ``squares`` are those of the off-diagonal entries, the one above row i at i.
    """
    n = len(diagonal)
    for at in range(first, len(out), 4):
        a0 = a1 = a2 = a3 = low
        b0 = b1 = b2 = b3 = high
        for _ in range(51):  # to 1e-15
            x0, x1, x2, x3 = 0.5 * (a0 + b0), 0.5 * (a1 + b1), 0.5 * (a2 + b2), 0.5 * (a3 + b3)
            n0 = n1 = n2 = n3 = 0
            q0 = q1 = q2 = q3 = 1.0
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
def _factor(diagonal, above, value, upper, second, third, factor, swapped):
    """LU factors of T - value with row exchanges; no pivot is zero."""
    n = len(diagonal)
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
                pivot = 1e-17
            factor[i] = below / pivot
            upper[i], second[i], third[i] = pivot, right, 0.0
            pivot, right = next_pivot - factor[i] * right, next_right
    upper[n - 1] = pivot if abs(pivot) > 1e-17 else 1e-17
    second[n - 1] = third[n - 1] = 0.0


@njit(**JIT)
def _solve(upper, second, third, factor, swapped, x):
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
    n, worst = len(x), 0.0
    for i in range(n):
        r = (diagonal[i] - value) * x[i]
        if i > 0:
            r += above[i - 1] * x[i - 1]
        if i + 1 < n:
            r += above[i] * x[i + 1]
        worst += r * r
    return sqrt(worst)


@njit(**JIT)
def eigenvectors(diagonal, above, values, out, work, swapped):
    """Fill the rows of ``out``; whether all of them have small residuals."""
    n = len(diagonal)
    upper, second, third, factor = work[0, :n], work[1, :n], work[2, :n], work[3, :n]
    seed = np.uint64(1)
    for j in range(len(values)):
        x = out[j]
        _factor(diagonal, above, values[j], upper, second, third, factor, swapped)
        for i in range(n):
            seed = seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            x[i] = np.float64(seed >> np.uint64(11)) * 2.0**-53 - 0.5
        good = False
        for attempt in range(6):
            _solve(upper, second, third, factor, swapped, x)
            largest = 0.0
            for i in range(n):
                largest = max(largest, abs(x[i]))
            x /= largest
            for _ in range(2):
                for k in range(j):
                    overlap = dot(x, out[k])
                    for i in range(n):
                        x[i] -= overlap * out[k, i]
            length = sqrt(dot(x, x))
            if not length > 1e-9:  # nothing but what is known: another start
                for i in range(n):
                    seed = seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                    x[i] = np.float64(seed >> np.uint64(11)) * 2.0**-53 - 0.5
                continue
            x /= length
            if attempt > 0 and _residual(diagonal, above, values[j], x) <= RESIDUAL:
                good = True
                break
        if not good:
            return False
    return True
