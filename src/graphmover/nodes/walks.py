"""Return probabilities of random walks (Zhang et al. 2018, RetGK), computed exactly.

The walk leaves node u along an edge with the probability weight / degree(u); P = D^-1 A.
Coordinate k is the probability (P^k)_uu of being back after k steps, which equals (S^k)_uu with
the symmetric matrix S = D^-1/2 A D^-1/2. Twins (`laplacian/twins.py`) have equal probabilities:
with Q, the quotient matrix of their classes, a node of a class c of t nodes has

    (S^k)_uu = (Q^k)_cc / t + (1 - 1/t) e^k,

e = 0 for open twins, -w/degree for closed ones. And with x_k = Q^k e_c

    (Q^2k)_cc = x_k . x_k,    (Q^2k+1)_cc = x_k . x_k+1,

so half as many steps suffice. Where Q is not sparse, its powers are computed as dense matrices.
Elsewhere the walks from one class after the other are followed, and visit near classes only.
"""

from __future__ import annotations

import numpy as np

from graphmover._utils.jit import JIT, njit
from graphmover.nodes.laplacian.twins import quotient_rows, twin_classes

#: Matrices of up to this size with at least this share of non-zero entries are taken as dense.
_DENSE_CLASSES = 1000
_FULL = 0.1


@njit(**JIT)
def return_probabilities(first, last, offsets, indptr, indices, weights, degrees, out):
    """Fill the rows of ``out`` that belong to the graphs first to last - 1."""
    for g in range(first, last):
        a, b = offsets[g], offsets[g + 1]
        if b > a:
            _of_one_graph(indptr[a : b + 1], indices, weights, degrees[a:b], out[a:b])


@njit(**JIT)
def _of_one_graph(rows, indices, weights, degrees, out):
    n, steps = out.shape
    class_of, members = np.empty(n, np.int64), np.empty(n, np.int64)  # negative: closed twins
    firsts = twin_classes(rows, indices, weights, class_of, members)
    q = len(firsts)
    matrix = quotient_rows(rows, indices, weights, degrees, class_of, members[:q], firsts)
    diagonals = np.zeros((q, steps))
    if q <= _DENSE_CLASSES and len(matrix[1]) >= _FULL * q * q:
        _by_dense_powers(matrix, diagonals)
    else:
        _by_sparse_walks(matrix, diagonals)
    for v in range(n):
        c = class_of[v]
        t = abs(members[c])
        eigenvalue = -1.0 / degrees[v] if members[c] < 0 else 0.0  # e; weights are 1 then
        power = 1.0
        for k in range(steps):
            power *= eigenvalue
            out[v, k] = diagonals[c, k] / t + (1 - 1 / t) * power


@njit(**JIT)
def _by_dense_powers(matrix, out):
    """Fill out[c, k - 1] with (Q^k)_cc by powers of the dense matrix."""
    indptr, indices, data = matrix
    q, steps = out.shape
    dense = np.zeros((q, q))
    for c in range(q):
        for i in range(indptr[c], indptr[c + 1]):
            dense[c, indices[i]] = data[i]
    now = np.eye(q)
    for k in range(0, steps, 2):
        after = np.dot(dense, now) if k else dense
        for c in range(q):
            out[c, k] = np.dot(now[c], after[c])
            if k + 1 < steps:
                out[c, k + 1] = np.dot(after[c], after[c])
        now = after


@njit(**JIT)
def _by_sparse_walks(matrix, out):
    """Fill out[c, k - 1] with (Q^k)_cc by sparse vectors x_k = Q^k e_c."""
    indptr, indices, data = matrix
    q, steps = out.shape
    now, after = np.zeros(q), np.zeros(q)  # x_k, x_k+1; zero outside the classes reached
    reached, reached_after = np.empty(q, np.int64), np.empty(q, np.int64)
    seen = np.full(q, -1, np.int64)  # the last product (stamp) that reached a class
    stamp = 0
    for start in range(q):
        now[start], reached[0], count = 1.0, start, 1
        for k in range(0, steps, 2):
            # after = Q now, on the neighbours of the classes reached.
            count_after = 0
            for i in range(count):
                c = reached[i]
                for j in range(indptr[c], indptr[c + 1]):
                    other = indices[j]
                    if seen[other] != stamp:
                        seen[other] = stamp
                        reached_after[count_after] = other
                        count_after += 1
                    after[other] += now[c] * data[j]
            stamp += 1
            odd = even = 0.0
            for i in range(count):
                odd += now[reached[i]] * after[reached[i]]
                now[reached[i]] = 0.0
            for i in range(count_after):
                even += after[reached_after[i]] * after[reached_after[i]]
            out[start, k] = odd
            if k + 1 < steps:
                out[start, k + 1] = even
            now, after = after, now
            reached, reached_after, count = reached_after, reached, count_after
        for i in range(count):
            now[reached[i]] = 0.0
