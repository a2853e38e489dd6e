"""Edge betweenness: the share of shortest paths that use an edge (Brandes 2001)."""

from __future__ import annotations

import numpy as np

from graphmover._utils.jit import JIT, njit


@njit(**JIT)
def edge_betweenness(offsets, indptr, indices):
    """Return the betweenness beside ``indices``, as a share of the pairs of nodes of its graph.

    Both entries of an edge have the same value.
    """
    found = np.zeros(len(indices))
    for g in range(len(offsets) - 1):
        a, b = offsets[g], offsets[g + 1]
        rows = indptr[a : b + 1]
        for source in range(b - a):
            _add_paths_from(source, rows, indices, found)
        pairs = (b - a) * (b - a - 1.0)
        for e in range(indptr[a], indptr[b]):
            found[e] /= pairs
    # Of the entries of an edge, each holds the paths in one direction.
    both = np.empty(len(indices))
    for g in range(len(offsets) - 1):
        a, b = offsets[g], offsets[g + 1]
        rows = indptr[a : b + 1]
        for v in range(b - a):
            for e in range(rows[v], rows[v + 1]):
                both[e] = found[e] + found[_entry(rows, indices, indices[e], v)]
    return both


@njit(**JIT)
def _add_paths_from(source, rows, indices, found):
    """Add to each entry the share of the shortest paths from a node that use it backwards."""
    n = len(rows) - 1
    queue = np.empty(n, np.int64)
    distance = np.full(n, -1, np.int64)
    paths = np.zeros(n)  # the number of shortest paths from the source
    credit = np.zeros(n)  # the targets beyond a node, each divided among its shortest paths
    distance[source], paths[source], queue[0] = 0, 1.0, source
    first, last = 0, 1
    while first < last:
        v = queue[first]
        first += 1
        for e in range(rows[v], rows[v + 1]):
            w = indices[e]
            if distance[w] < 0:
                distance[w] = distance[v] + 1
                queue[last] = w
                last += 1
            if distance[w] == distance[v] + 1:
                paths[w] += paths[v]
    for i in range(last - 1, 0, -1):
        w = queue[i]
        for e in range(rows[w], rows[w + 1]):
            v = indices[e]
            if distance[v] == distance[w] - 1:
                share = paths[v] / paths[w] * (1.0 + credit[w])
                credit[v] += share
                found[e] += share


@njit(**JIT)
def _entry(rows, indices, v, w):
    """Return the place of w among the neighbours of v, by bisection."""
    low, high = rows[v], rows[v + 1]
    while low < high - 1:
        middle = (low + high) // 2
        if indices[middle] <= w:
            low = middle
        else:
            high = middle
    return low
