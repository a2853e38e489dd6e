"""Orthonormal bases of Krylov subspaces: the compiled loops of `lanczos.py`.

Lanczos' method with full reorthogonalisation (Parlett 1998, chapter 13): every new vector is made
orthogonal to all others, twice. The operator projected on the basis is therefore computed as a
full matrix rather than assumed to be tridiagonal, which thick restarts would break anyway.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from graphmover._utils.jit import JIT, njit
from graphmover.nodes.laplacian.large.chebyshev import filter_vector
from graphmover.nodes.laplacian.large.cholesky import solve


class CompiledOperator(NamedTuple):
    """An operator as the compiled loops take it: a polynomial of Q, or its pseudo-inverse."""

    matrix: Any  # compressed rows of Q: indptr, indices, data
    scale: Any  # the square roots of the degrees
    factors: Any  # of the grounded Laplacian; see `cholesky.py`
    half: float  # the polynomial is small on middle - half to middle + half
    middle: float
    degree: int  # of the polynomial; 0: the pseudo-inverse of I - Q


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

    Rows up to ``count`` and the projection on those before it are given. All are orthogonal to
    the rows of ``known``. Returned is the length of the last row before its normalisation.
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
        # Last, because the pseudo-inverse amplifies what rounding leaves of the null vector.
        _orthogonalise(known, w)
        projected[: k + 1, k] = share
        projected[k, : k + 1] = share
        length = sqrt(np.dot(w, w))
        if length <= 1e-14 * before:
            # An invariant subspace: the basis spans all that the start can reach. Continue with
            # a new direction; length 0 makes all residuals 0.
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
    """Subtract from w its projection on the rows of an orthonormal basis; its coefficients."""
    share = np.dot(basis, w)
    w -= np.dot(share, basis)
    return share


@njit(**JIT)
def _apply(operator, x, y, work):
    if operator.degree == 0:
        solve(operator.factors, operator.scale, x, y, work[0])
    else:
        filter_vector(operator.matrix, operator.half, operator.middle, operator.degree, x, y, work)
