"""Sparse Cholesky factorisation L D L' of the grounded Laplacian of a large graph.

The Laplacian is singular: one node is grounded, that is, its row and column are left out, and
what remains is positive definite (Spielman 2010). The factorisation is left-looking (Davis 2006,
chapter 4) in the order that `minimum_degree.py` found, up to the point where the remaining
columns are more than half full; LAPACK factors that dense core.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphmover._utils.jit import JIT, njit
from graphmover.nodes.laplacian.small.tridiagonal import dot

#: Columns with this share of all rows below them belong to the dense core.
_FULL = 0.5


class Factors(NamedTuple):
    """L D L' of a grounded Laplacian; rows and columns are positions in the order."""

    order: Any  # (n,) the nodes in the order of their elimination; the last one is grounded
    columns: Any  # where each sparse column of L begins in rows and values
    rows: Any  # sorted within a column; the diagonal of ones is not stored
    values: Any
    diagonal: Any  # D, of the sparse columns
    upper: Any  # U, with U' U = the dense core


@njit(**JIT)
def factor(indptr, indices, weights, order, starts, entries):
    """Factor the Laplacian of a connected graph with the last node of the order grounded.

    ``entries[starts[j] : starts[j + 1]]`` are the nodes below the diagonal in column j of L.
    """
    n = len(order)
    sparse = 0  # the number of sparse columns
    while sparse < n - 1 and starts[sparse + 1] - starts[sparse] < _FULL * (n - 1 - sparse):
        sparse += 1
    position = np.empty(n, np.int32)
    for j in range(n):
        position[order[j]] = j
    columns, rows, row_starts, row_columns = _structure(sparse, position, starts, entries)
    values = np.empty(len(rows))
    diagonal = np.empty(sparse)
    # Of each column k, the first entry whose row is not eliminated yet. Row j is the first of
    # them exactly when row j of L has an entry in column k.
    unused = columns[:-1].copy()
    work = np.zeros(n)  # column j, dense; zero between the columns
    for j in range(sparse):
        u = order[j]
        pivot = 0.0
        # Column j of the Laplacian ...
        for i in range(indptr[u], indptr[u + 1]):
            pivot += weights[i]
            work[position[indices[i]]] = -weights[i]
        # ... minus L[:, k] D[k] L[j, k] for each column k that has an entry in row j.
        for i in range(row_starts[j], row_starts[j + 1]):
            k = row_columns[i]
            first = unused[k]
            share = values[first] * diagonal[k]
            pivot -= share * values[first]
            unused[k] = first + 1
            for t in range(first + 1, columns[k + 1]):
                work[rows[t]] -= share * values[t]
        diagonal[j] = pivot
        for t in range(columns[j], columns[j + 1]):
            values[t] = work[rows[t]] / pivot
            work[rows[t]] = 0.0
        # Neighbours that were eliminated before are not rows of this column: clear them as well.
        for i in range(indptr[u], indptr[u + 1]):
            work[position[indices[i]]] = 0.0
    # The dense core: what the sparse columns leave of the Laplacian (the Schur complement).
    core = np.zeros((n - 1 - sparse, n - 1 - sparse))
    for j in range(sparse, n - 1):
        u = order[j]
        for i in range(indptr[u], indptr[u + 1]):
            core[j - sparse, j - sparse] += weights[i]
            other = position[indices[i]]
            if sparse <= other < n - 1:
                core[j - sparse, other - sparse] = -weights[i]
    for k in range(sparse):
        last = columns[k + 1]
        if last > unused[k] and rows[last - 1] == n - 1:  # the grounded node
            last -= 1
        for s in range(unused[k], last):
            share = values[s] * diagonal[k]
            row = core[rows[s] - sparse]
            for t in range(unused[k], last):
                row[rows[t] - sparse] -= share * values[t]
    upper = np.linalg.cholesky(core).T.copy() if len(core) else core
    return Factors(order, columns, rows, values, diagonal, upper)


@njit(**JIT)
def _structure(sparse, position, starts, entries):
    """Where L has entries: by columns with sorted rows, and by rows.

    Two transpositions sort all columns in linear time.
    """
    n = len(position)
    counts = np.zeros(n + 1, np.int64)
    for i in range(starts[sparse]):
        counts[position[entries[i]] + 1] += 1
    row_starts = np.cumsum(counts)
    row_columns = np.empty(starts[sparse], np.int32)
    at = row_starts[:-1].copy()
    for j in range(sparse):
        for i in range(starts[j], starts[j + 1]):
            r = position[entries[i]]
            row_columns[at[r]] = j
            at[r] += 1
    columns = starts[: sparse + 1].copy()
    rows = np.empty(starts[sparse], np.int32)
    at = columns.copy()
    for r in range(n):
        for i in range(row_starts[r], row_starts[r + 1]):
            rows[at[row_columns[i]]] = r
            at[row_columns[i]] += 1
    return columns, rows, row_starts, row_columns


@njit(**JIT)
def _solve_core(upper, x):
    """Solve U' U y = x in place; both loops read U by rows."""
    for j in range(len(x)):
        row = upper[j]
        x[j] /= row[j]
        for t in range(j + 1, len(x)):
            x[t] -= x[j] * row[t]
    for j in range(len(x) - 1, -1, -1):
        x[j] = (x[j] - dot(upper[j, j + 1 :], x[j + 1 :])) / upper[j, j]


@njit(**JIT)
def solve(factors, scale, x, y, work):
    """Set y to the pseudo-inverse of I - Q times x, up to a multiple of the null vector.

    I - Q = S^-1 K S^-1 with the graph's Laplacian K and the diagonal matrix S of ``scale``: y is
    S times the solution of the grounded system with the right-hand side S x.
    """
    n, sparse = len(factors.order), len(factors.diagonal)
    order, columns, rows, values = factors.order, factors.columns, factors.rows, factors.values
    for j in range(n):
        work[j] = x[order[j]] * scale[order[j]]
    for j in range(sparse):
        share = work[j]
        for t in range(columns[j], columns[j + 1]):
            work[rows[t]] -= share * values[t]
    work[n - 1] = 0.0  # the potential of the grounded node
    _solve_core(factors.upper, work[sparse : n - 1])
    for j in range(sparse - 1, -1, -1):
        total = work[j] / factors.diagonal[j]
        for t in range(columns[j], columns[j + 1]):
            total -= values[t] * work[rows[t]]
        work[j] = total
    for j in range(n):
        y[order[j]] = work[j] * scale[order[j]]


@njit(**JIT)
def solve_block(factors, scale, x, y):
    """`solve` for each column of x."""
    n = len(scale)
    column, result, work = np.empty(n), np.empty(n), np.empty(n)
    for k in range(x.shape[1]):
        column[:] = x[:, k]
        solve(factors, scale, column, result, work)
        y[:, k] = result
