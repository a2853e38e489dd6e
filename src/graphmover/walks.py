"""Return probabilities of random walks, exact.

The walk leaves node u along an edge with the probability weight / degree(u); P = D^-1 A.
Coordinate k is the probability (P^k)_uu to be back after k steps. With the symmetric matrix
S = D^-1/2 A D^-1/2 and its powers' columns x_k = S^k e_u

    (P^2k)_uu = x_k . x_k,    (P^2k+1)_uu = x_k . x_k+1,

so half the steps are enough, and only nodes that near are visited. Twins return alike, so one
of each class (`laplacian/_twins.py`) walks.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

from graphmover.laplacian._twins import options, twin_classes


@njit(**options)
def return_probabilities(first, last, offsets, indptr, indices, weights, degrees, out):
    """Fill the rows of ``out`` that belong to the graphs first to last - 1."""
    for g in range(first, last):
        a, b = offsets[g], offsets[g + 1]
        if b > a:
            _of_one_graph(indptr[a : b + 1], indices, weights, degrees[a:b], out[a:b])


@njit(**options)
def _of_one_graph(rows, indices, weights, degrees, out):
    n, steps = out.shape
    class_of, members = np.empty(n, np.int64), np.empty(n, np.int64)
    firsts = twin_classes(rows, indices, weights, class_of, members)
    now, after = np.zeros(n), np.zeros(n)
    reached, reached_after = np.empty(n, np.int64), np.empty(n, np.int64)
    seen = np.full(n, -1, np.int64)
    stamp = 0
    for u in firsts:
        now[u], reached[0], count = 1.0, u, 1
        for k in range(0, steps, 2):
            # after = S now, on the nodes next to those reached.
            count_after = 0
            for i in range(count):
                v = reached[i]
                for j in range(rows[v], rows[v + 1]):
                    w = indices[j]
                    if seen[w] != stamp:
                        seen[w] = stamp
                        reached_after[count_after] = w
                        count_after += 1
                    weight = weights[j] if len(weights) else 1.0
                    after[w] += now[v] * (weight / (sqrt(degrees[v]) * sqrt(degrees[w])))
            stamp += 1
            odd = even = 0.0
            for i in range(count):
                odd += now[reached[i]] * after[reached[i]]
                now[reached[i]] = 0.0
            for i in range(count_after):
                even += after[reached_after[i]] * after[reached_after[i]]
            out[u, k] = odd
            if k + 1 < steps:
                out[u, k + 1] = even
            now, after = after, now
            reached, reached_after, count = reached_after, reached, count_after
        for i in range(count):
            now[reached[i]] = 0.0
    for v in range(n):
        out[v] = out[firsts[class_of[v]]]
