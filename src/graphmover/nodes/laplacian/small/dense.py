"""Small graphs: one compiled loop, one LAPACK call for each.

LAPACK's ``dsytrd`` reduces the quotient's Laplacian (`twins.py`) to tridiagonal form by
Householder reflections (Golub and Van Loan 2013, section 8.3). Only the eigenvalues and
eigenvectors that the first d columns need are then computed (`tridiagonal.py`). Where these are
many, or inverse iteration does not converge, LAPACK computes all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphmover._utils.jit import JIT, njit
from graphmover.nodes.laplacian.eigenspaces import eigenvalues_needed, fill_columns
from graphmover.nodes.laplacian.small.lapack import call_with_ten_pointers
from graphmover.nodes.laplacian.small.tridiagonal import dot, eigenvectors, smallest_eigenvalues
from graphmover.nodes.laplacian.twins import quotient_laplacian, twin_classes, twin_eigenvalues

#: Up to this share of the eigenvectors is computed one by one, beyond it all together.
_FEW = 0.3

_BLOCK = 32  # columns that dsytrd reduces at a time
_LOWER = ord("L")  # the triangle that it reads


class _Workspace(NamedTuple):
    """Working memory for the graphs of one chunk, of up to n nodes each."""

    class_of: Any  # (n,) the class of twins of each node
    members: Any  # (n,) the size of each class, negative for closed twins
    twins: Any  # (n,) the eigenvalue of each class
    matrix: Any  # (n * n,) the quotient's Laplacian, then dsytrd's reflections
    tridiagonal: Any  # (4, n) diagonal, off-diagonal, tau, squares of the off-diagonal
    factors: Any  # (4, n) LU factors for inverse iteration
    swapped: Any  # (n,) which rows these have exchanged
    dsytrd: Any  # (_BLOCK * n,) LAPACK's own


@njit(**JIT)
def embed(first, last, most, offsets, indptr, indices, weights, degrees, tolerance, dsytrd, out):
    """Fill the rows of ``out`` for the graphs first to last - 1 of at most ``most`` nodes."""
    largest = 0
    for g in range(first, last):
        n = offsets[g + 1] - offsets[g]
        if n <= most:
            largest = max(largest, n)
    space = _workspace(largest)
    for g in range(first, last):
        a, b = offsets[g], offsets[g + 1]
        if 0 < b - a <= most:
            rows = indptr[a : b + 1]
            _embed_one(rows, indices, weights, degrees[a:b], tolerance, dsytrd, space, out[a:b])


@njit(**JIT)
def _workspace(n):
    return _Workspace(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n * n),
        np.empty((4, n)),
        np.empty((4, n)),
        np.empty(n, np.bool_),
        np.empty(_BLOCK * n),
    )


@njit(**JIT)
def _embed_one(rows, indices, weights, degrees, tolerance, dsytrd, space, out):
    class_of = space.class_of[: len(degrees)]
    firsts = twin_classes(rows, indices, weights, class_of, space.members)
    q = len(firsts)
    members, twins = space.members[:q], space.twins[:q]
    twin_eigenvalues(firsts, members, degrees, twins)
    order = _order_of_twins(twins)
    matrix = space.matrix[: q * q].reshape((q, q))
    quotient_laplacian(rows, indices, weights, degrees, class_of, members, firsts, matrix)
    values, vectors = _smallest_eigenpairs(
        matrix, twins, members, order, out.shape[1], tolerance, dsytrd, space
    )
    fill_columns(values, vectors, twins, members, order, class_of, tolerance, out)


@njit(**JIT)
def _order_of_twins(twins):
    """The classes that have eigenvalues of their own, sorted by these."""
    order = np.empty(len(twins), np.int64)
    count = 0
    for c in range(len(twins)):
        if twins[c] < np.inf:
            place = count
            while place > 0 and twins[order[place - 1]] > twins[c]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = c
            count += 1
    return order[:count]


@njit(**JIT)
def _smallest_eigenpairs(matrix, twins, members, order, d, tolerance, dsytrd, space):
    """The eigenvalues needed for d columns, and their eigenvectors as rows; destroys matrix."""
    q = len(matrix)
    limit = int(_FEW * q) + 4
    enough = min(q, (d + 4) // 4 * 4)  # bisection takes four at a time; one more shows the gap
    if enough > limit:
        return _all_eigenpairs(matrix)
    diagonal, above = space.tridiagonal[0, :q], space.tridiagonal[1, :q]
    tau, squares = space.tridiagonal[2, :q], space.tridiagonal[3, :q]
    kept = matrix.copy()
    size = np.full(1, q, np.int32)
    # dsytrd's block size depends on its working memory. This is that of q, not of the largest
    # graph in the chunk, so that the result does not depend on the other graphs.
    room = np.full(1, _BLOCK * q, np.int32)
    info = np.zeros(1, np.int32)
    letter = np.full(1, _LOWER, np.uint8)
    call_with_ten_pointers(
        dsytrd, letter, size, matrix, size, diagonal, above, tau, space.dsytrd, room, info
    )
    squares[0] = 0.0
    for i in range(1, q):
        squares[i] = above[i - 1] * above[i - 1]
    # Twice as many eigenvalues, until a gap ends the last eigenspace that is needed.
    values = np.empty(0)
    needed = -1
    while needed < 0:
        known = len(values)
        grown = np.empty(enough)
        for i in range(known):  # a slice would bring its error messages: a second to compile
            grown[i] = values[i]
        values = grown
        smallest_eigenvalues(diagonal, squares, -1e-3, 2.001, known, values)
        needed = eigenvalues_needed(values, enough < q, twins, members, order, d, tolerance)
        if needed > limit or (needed < 0 and 2 * enough > limit):
            return _all_eigenpairs(kept)
        enough = min(q, 2 * enough)
    values = values[:needed]
    vectors = np.empty((needed, q))
    if not eigenvectors(diagonal, above, values, vectors, space.factors, space.swapped):
        return _all_eigenpairs(kept)
    for j in range(needed):
        _undo_reflections(matrix, tau, vectors[j])
    return values, vectors


@njit(**JIT)
def _undo_reflections(matrix, tau, x):
    """Turn an eigenvector of the tridiagonal form into one of the matrix itself.

    dsytrd leaves the Householder vector v of reflection i, H = I - tau v v', in its column i
    below the off-diagonal (here a row: the matrix is symmetric), without its leading 1.
    """
    for i in range(len(x) - 2, -1, -1):
        v = matrix[i, i + 1 :]
        v[0] = 1.0
        tail = x[i + 1 :]
        scale = tau[i] * dot(v, tail)
        for k in range(len(tail)):
            tail[k] -= scale * v[k]


@njit(**JIT)
def _all_eigenpairs(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return values, np.ascontiguousarray(vectors.T)
