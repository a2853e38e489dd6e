"""Solving linear systems in the Laplacian of a large graph by elimination.

One node is grounded: its row and column are left out. The factor L D L' has the columns that
`_ordering.py` found, up to the point where what remains is more than half full; that dense core
is factored by LAPACK.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graphmover._utils.jit import JIT
from graphmover.nodes.laplacian.small.tridiagonal import dot

#: Columns with this share of all rows below them belong to the dense core.
_FULL = 0.5


@njit(**JIT)
def factor(indptr, indices, weights, order, starts, entries):
    """Eliminate the nodes of a connected graph in an order, the last one being grounded.

    ``entries[starts[j] : starts[j + 1]]`` are the nodes that the j-th elimination joins.
    Returned are the order, the columns of L below their unit diagonal as compressed columns
    of positions in the order, the diagonal D, and U with U' U = the dense core.
    """
    n = len(order)
    sparse = 0
    while sparse < n - 1 and starts[sparse + 1] - starts[sparse] < _FULL * (n - 1 - sparse):
        sparse += 1
    position = np.empty(n, np.int32)
    for j in range(n):
        position[order[j]] = j
    columns, rows, row_starts, row_columns = _sorted(sparse, position, starts, entries)
    values = np.empty(len(rows))
    diagonal = np.empty(sparse)
    unused = columns[:-1].copy()  # the first entry of a column that no row has taken yet
    work = np.zeros(n)
    for j in range(sparse):
        u = order[j]
        pivot = 0.0
        for i in range(indptr[u], indptr[u + 1]):
            pivot += weights[i]
            work[position[indices[i]]] = -weights[i]
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
        for i in range(indptr[u], indptr[u + 1]):
            work[position[indices[i]]] = 0.0
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
        if last > unused[k] and rows[last - 1] == n - 1:
            last -= 1
        for s in range(unused[k], last):
            share = values[s] * diagonal[k]
            row = core[rows[s] - sparse]
            for t in range(unused[k], last):
                row[rows[t] - sparse] -= share * values[t]
    upper = np.linalg.cholesky(core).T.copy() if len(core) else core
    return order, columns, rows, values, diagonal, upper


@njit(**JIT)
def _sorted(sparse, position, starts, entries):
    """The columns of the factor with sorted rows, and the rows of its sparse part."""
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
    for j in range(len(x)):
        row = upper[j]
        x[j] /= row[j]
        for t in range(j + 1, len(x)):
            x[t] -= x[j] * row[t]
    for j in range(len(x) - 1, -1, -1):
        x[j] = (x[j] - dot(upper[j, j + 1 :], x[j + 1 :])) / upper[j, j]


@njit(**JIT)
def solve(factors, scale, x, y, work):
    """Set y to the pseudo-inverse of I - Q times x, up to a multiple of the kernel."""
    order, columns, rows, values, diagonal, upper = factors
    n, sparse = len(order), len(diagonal)
    for j in range(n):
        work[j] = x[order[j]] * scale[order[j]]
    for j in range(sparse):
        share = work[j]
        for t in range(columns[j], columns[j + 1]):
            work[rows[t]] -= share * values[t]
    work[n - 1] = 0.0
    _solve_core(upper, work[sparse : n - 1])
    for j in range(sparse - 1, -1, -1):
        total = work[j] / diagonal[j]
        for t in range(columns[j], columns[j + 1]):
            total -= values[t] * work[rows[t]]
        work[j] = total
    for j in range(n):
        y[order[j]] = work[j] * scale[order[j]]


@njit(**JIT)
def solve_block(factors, scale, x, y):
    """Do the same for the columns of x."""
    n = len(scale)
    column, result, work = np.empty(n), np.empty(n), np.empty(n)
    for k in range(x.shape[1]):
        column[:] = x[:, k]
        solve(factors, scale, column, result, work)
        y[:, k] = result
