"""Small graphs: one compiled loop, one LAPACK call for each.

The quotient's Laplacian (`_twins.py`) is brought to tridiagonal form by LAPACK's ``dsytrd``;
only the eigenvalues and eigenvectors that the first d columns need are then computed
(`_tridiagonal.py`). Where these are many, or inverse iteration finds no good vectors, LAPACK
computes them all.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graphmover._utils.jit import JIT
from graphmover.nodes.laplacian.eigenspaces import eigenvalues_needed, fill_columns
from graphmover.nodes.laplacian.small.lapack import call_with_ten_pointers
from graphmover.nodes.laplacian.small.tridiagonal import dot, eigenvectors, smallest_eigenvalues
from graphmover.nodes.laplacian.twins import quotient_laplacian, twin_classes, twin_values

#: Up to this share of the eigenvectors is computed one by one, beyond it all together.
_FEW = 0.3

_BLOCK = 32  # columns that dsytrd takes at a time


@njit(**JIT)
def embed(first, last, most, offsets, indptr, indices, weights, degrees, same, dsytrd, out):
    """Fill the rows of ``out`` for the graphs first to last - 1 of at most ``most`` nodes."""
    largest = 0
    for g in range(first, last):
        n = offsets[g + 1] - offsets[g]
        if n <= most:
            largest = max(largest, n)
    space = _space(largest)
    for g in range(first, last):
        a, b = offsets[g], offsets[g + 1]
        if 0 < b - a <= most:
            rows = indptr[a : b + 1]
            _embed_one(rows, indices, weights, degrees[a:b], same, dsytrd, space, out[a:b])


@njit(**JIT)
def _space(n):
    """Working memory for graphs of up to n nodes."""
    return (
        np.empty(n, np.int64),  # the class of each node
        np.empty(n, np.int64),  # the members of each class
        np.empty(n),  # the eigenvalue of each class
        np.empty(n * n),  # the matrix
        np.empty((4, n)),
        np.empty((4, n)),
        np.empty(n, np.bool_),
        np.empty(_BLOCK * n),
    )


@njit(**JIT)
def _embed_one(rows, indices, weights, degrees, same, dsytrd, space, out):
    class_of, members, twins = space[0][: len(degrees)], space[1], space[2]
    firsts = twin_classes(rows, indices, weights, class_of, members)
    q = len(firsts)
    members, twins = members[:q], twins[:q]
    twin_values(firsts, members, degrees, twins)
    order = sorted_twins(twins)
    matrix = space[3][: q * q].reshape((q, q))
    quotient_laplacian(rows, indices, weights, degrees, class_of, members, firsts, matrix)
    values, vectors = smallest(matrix, twins, members, order, out.shape[1], same, dsytrd, space)
    fill_columns(values, vectors, twins, members, order, class_of, same, out)


@njit(**JIT)
def sorted_twins(twins):
    """The classes that have eigenvalues of their own, by these."""
    count = 0
    for value in twins:
        count += value < np.inf
    if count == 0:
        return np.empty(0, np.int64)
    return np.argsort(twins, kind="mergesort")[:count]


@njit(**JIT)
def smallest(matrix, twins, members, order, d, same, dsytrd, space):
    """The eigenvalues needed for d columns, and their eigenvectors as rows; destroys matrix."""
    q = len(matrix)
    limit = int(_FEW * q) + 4
    enough = min(q, (d + 4) // 4 * 4)  # one more than d, in fours
    if enough > limit:
        return _all(matrix)
    diagonal, above, tau, squares = space[4][0, :q], space[4][1, :q], space[4][2, :q], space[4][3]
    kept = matrix.copy()
    size = np.full(1, q, np.int32)
    # As much for a matrix alone as for one among larger ones: dsytrd's blocks depend on it.
    room = np.full(1, _BLOCK * q, np.int32)
    info = np.zeros(1, np.int32)
    letter = np.full(1, ord("L"), np.uint8)
    call_with_ten_pointers(
        dsytrd, letter, size, matrix, size, diagonal, above, tau, space[7], room, info
    )
    squares = squares[:q]
    squares[0] = 0.0
    for i in range(1, q):
        squares[i] = above[i - 1] * above[i - 1]
    values = np.empty(0)
    needed = -1
    while needed < 0:
        known = len(values)
        grown = np.empty(enough)
        grown[:known] = values
        values = grown
        smallest_eigenvalues(diagonal, squares, -1e-3, 2.001, known, values)
        needed = eigenvalues_needed(values, enough < q, twins, members, order, d, same)
        if needed > limit or (needed < 0 and 2 * enough > limit):
            return _all(kept)
        enough = min(q, 2 * enough)
    values = values[:needed]
    vectors = np.empty((needed, q))
    if not eigenvectors(diagonal, above, values, vectors, space[5], space[6]):
        return _all(kept)
    for j in range(needed):
        _undo_reflections(matrix, tau, vectors[j])
    return values, vectors


@njit(**JIT)
def _undo_reflections(matrix, tau, x):
    """From an eigenvector of the tridiagonal form to one of the matrix itself."""
    for i in range(len(x) - 2, -1, -1):
        v = matrix[i, i + 1 :]
        v[0] = 1.0
        tail = x[i + 1 :]
        scale = tau[i] * dot(v, tail)
        for k in range(len(tail)):
            tail[k] -= scale * v[k]


@njit(**JIT)
def _all(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return values, np.ascontiguousarray(vectors.T)
