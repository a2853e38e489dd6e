"""Return probabilities of random walks, exact.

The walk leaves node u along an edge with the probability weight / degree(u); P = D^-1 A.
Coordinate k is the probability (P^k)_uu to be back after k steps, which is (S^k)_uu with the
symmetric matrix S = D^-1/2 A D^-1/2. Twins (`laplacian/_twins.py`) return alike: with Q, the
matrix of their classes, a node of a class c of t nodes has

    (S^k)_uu = (Q^k)_cc / t + (1 - 1/t) e^k,

e = 0 for twins that are not adjacent, -w/degree for those that are. And with x_k = Q^k e_c

    (Q^2k)_cc = x_k . x_k,    (Q^2k+1)_cc = x_k . x_k+1,

so half the steps are enough. Where Q is full, its powers are taken as matrices; elsewhere one
class after the other walks, and only classes that near are visited.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graphmover._utils.jit import JIT
from graphmover.nodes.laplacian.twins import quotient_rows, twin_classes

#: Up to this size, matrices with this share of non-zero entries are multiplied as dense ones.
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
    class_of, members = np.empty(n, np.int64), np.empty(n, np.int64)
    firsts = twin_classes(rows, indices, weights, class_of, members)
    q = len(firsts)
    matrix = quotient_rows(rows, indices, weights, degrees, class_of, members[:q], firsts)
    diagonals = np.zeros((q, steps))
    if q <= _DENSE_CLASSES and len(matrix[1]) >= _FULL * q * q:
        _by_matrices(matrix, diagonals)
    else:
        _by_walking(matrix, diagonals)
    for v in range(n):
        c = class_of[v]
        t = abs(members[c])
        own = -1.0 / degrees[v] if members[c] < 0 else 0.0
        power = 1.0
        for k in range(steps):
            power *= own
            out[v, k] = diagonals[c, k] / t + (1 - 1 / t) * power


@njit(**JIT)
def _by_matrices(matrix, out):
    indptr, indices, data = matrix
    q, steps = out.shape
    itself = np.zeros((q, q))
    for c in range(q):
        for i in range(indptr[c], indptr[c + 1]):
            itself[c, indices[i]] = data[i]
    now = np.eye(q)
    for k in range(0, steps, 2):
        after = np.dot(itself, now) if k else itself
        for c in range(q):
            out[c, k] = np.dot(now[c], after[c])
            if k + 1 < steps:
                out[c, k + 1] = np.dot(after[c], after[c])
        now = after


@njit(**JIT)
def _by_walking(matrix, out):
    indptr, indices, data = matrix
    q, steps = out.shape
    now, after = np.zeros(q), np.zeros(q)
    reached, reached_after = np.empty(q, np.int64), np.empty(q, np.int64)
    seen = np.full(q, -1, np.int64)
    stamp = 0
    for start in range(q):
        now[start], reached[0], count = 1.0, start, 1
        for k in range(0, steps, 2):
            # after = Q now, on the classes next to those reached.
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
