"""What is near a node, in three numbers: its degree, its clustering and its triangles.

Triangles are counted once each. Edges point from the node of smaller degree (ties: of the smaller
number) to the other. For each node v its successors are marked; for each predecessor u of v, every
marked successor of u closes a triangle. An edge u -> v costs at most deg(u) = min(deg(u), deg(v))
steps, and these minima add up to at most 2 a m, a the arboricity (Chiba and Nishizeki 1985).
"""

from __future__ import annotations

import math

import numpy as np

from graphmover._utils.jit import JIT, njit


@njit(**JIT)
def degrees_and_triangles(first, last, offsets, indptr, indices, degrees, out):
    """Fill the rows of the graphs first to last - 1.

    Columns are log(1 + degree), the local clustering coefficient (the share of pairs of neighbours
    that are neighbours of each other; 0 for fewer than two) and log(1 + number of triangles).
    """
    for g in range(first, last):
        a, b = offsets[g], offsets[g + 1]
        triangles = triangle_counts(indptr[a : b + 1], indices)
        for v in range(a, b):
            k = indptr[v + 1] - indptr[v]
            t = triangles[v - a]
            out[v, 0] = math.log1p(degrees[v])
            out[v, 1] = 2.0 * t / (k * (k - 1.0)) if k > 1 else 0.0
            out[v, 2] = math.log1p(t)


@njit(**JIT)
def triangle_counts(rows, indices):
    """Return how many triangles each node of a graph is in; weights do not count."""
    n = len(rows) - 1
    ends, successors = _successors(rows, indices)
    counts = np.zeros(n, np.int64)
    mark = np.full(n, -1, np.int64)  # the last node whose successor it was marked as
    for v in range(n):
        for j in range(ends[v], ends[v + 1]):
            mark[successors[j]] = v
        for i in range(rows[v], rows[v + 1]):
            u = indices[i]
            if mark[u] == v:
                continue  # a successor; the others are predecessors
            found = 0
            for j in range(ends[u], ends[u + 1]):
                w = successors[j]
                if mark[w] == v:
                    counts[w] += 1
                    found += 1
            counts[u] += found
            counts[v] += found
    return counts


@njit(**JIT)
def _successors(rows, indices):
    """Return the successors of all nodes: those of v are successors[ends[v] : ends[v + 1]]."""
    n = len(rows) - 1
    ends = np.zeros(n + 1, np.int64)
    successors = np.empty((rows[n] - rows[0]) // 2, np.int32)
    count = 0
    for v in range(n):
        degree = rows[v + 1] - rows[v]
        for i in range(rows[v], rows[v + 1]):
            w = indices[i]
            other = rows[w + 1] - rows[w]
            if degree < other or (degree == other and v < w):
                successors[count] = w
                count += 1
        ends[v + 1] = count
    return ends, successors
