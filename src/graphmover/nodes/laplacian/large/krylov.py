"""Bases of Krylov spaces, every vector orthogonal to all others: the loops of `_lanczos.py`."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

from graphmover._utils.jit import JIT
from graphmover.nodes.laplacian.large.cholesky import solve
from graphmover.nodes.laplacian.large.kernels import chebyshev


@njit(**JIT)
def orthogonal_start(known, start):
    """A unit vector from start, orthogonal to the rows of known."""
    w = start.copy()
    for _ in range(2):
        _orthogonalise(known, w)
        w /= sqrt(np.dot(w, w))
    return w


@njit(**JIT)
def extend(operator, known, basis, projected, count):
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


@njit(**JIT)
def _orthogonalise(basis, w):
    """Take the rows of an orthonormal basis out of w; their shares."""
    share = np.dot(basis, w)
    w -= np.dot(share, basis)
    return share


@njit(**JIT)
def _apply(operator, x, y, work):
    matrix, scale, factors, cut, degree = operator
    if degree == 0:
        solve(factors, scale, x, y, work[0])
    else:
        chebyshev(matrix, x, cut, degree, y, work)
