"""Chebyshev polynomials of matrices: the filters of both iterative solvers.

T_n is at most 1 on [-1, 1] and grows faster beyond than any other polynomial with that bound. So
T_n(t(M)) x, where t maps the unwanted eigenvalues of M to [-1, 1], amplifies the wanted
eigenvectors in x relative to all others (Zhou, Saad, Tiago and Chelikowsky 2006).
"""

from __future__ import annotations

from collections.abc import Callable
from math import acosh, cosh, log
from typing import Any

from graphmover._utils.jit import JIT, njit


def recurrence(step: Callable[..., None]) -> Callable[..., Any]:
    """Return a function that computes T_degree(t(M)) x by T_k+1 = 2 t T_k - T_k-1.

    ``step(parameters, k, now, before, factor, keep)`` sets before to
    factor * t(M) now + keep * before. Numba compiles the result if ``step`` is compiled.
    """

    def polynomial(parameters: Any, before: Any, now: Any, degree: int) -> Any:
        # From before = 0 and now = x; both are overwritten.
        for k in range(degree):
            factor, keep = (2.0, -1.0) if k else (1.0, 0.0)
            step(parameters, k, now, before, factor, keep)
            before, now = now, before
        return now

    return polynomial


def evaluate(degree: int, t: float) -> float:
    """Return T_degree(t), for t of at least 1."""
    return cosh(degree * acosh(max(1.0, t)))


def inverse(degree: int, value: float) -> float:
    """Return the t of at least 1 with T_degree(t) = value."""
    return cosh(acosh(max(1.0, value)) / degree)


def degree_for(growth: float, t: float) -> float:
    """Return the degree, unrounded, for which T_degree(t) is about ``growth`` / 2."""
    return log(growth) / acosh(t)


def interval(cut: float) -> tuple[float, float]:
    """Return half the length and the middle of [-1, 1 - cut], the unwanted eigenvalues of Q."""
    return (2 - cut) / 2, -cut / 2


@njit(**JIT)
def _vector_step(parameters, k, now, before, factor, keep):
    """A step for one vector, with t(Q) = (Q - middle) / half."""
    (indptr, indices, data), half, middle = parameters
    scale = factor / half
    for u in range(len(now)):
        total = -middle * now[u]
        for i in range(indptr[u], indptr[u + 1]):
            total += data[i] * now[indices[i]]
        before[u] = scale * total + keep * before[u]


# Not cached on disk itself, but as a part of its callers.
_vector_polynomial = njit(**JIT | {"cache": False})(recurrence(_vector_step))


@njit(**JIT)
def filter_vector(matrix, half, middle, degree, x, y, work):
    """Set y to the polynomial of Q that is small on middle - half to middle + half, times x."""
    work[0] = 0.0
    work[1] = x
    y[:] = _vector_polynomial((matrix, half, middle), work[0], work[1], degree)
