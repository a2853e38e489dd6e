"""Compiled loops over the compressed rows of a large sparse matrix."""

from __future__ import annotations

import numpy as np

from graphmover._utils.jit import JIT, njit


@njit(**JIT)
def multiply(indptr, indices, data, x, alpha, beta, gamma, y):
    """Set y to alpha Q x + beta x + gamma y, for a block x of vectors."""
    width = x.shape[1]
    row = np.empty(width)
    for u in range(len(indptr) - 1):
        row[:] = 0.0
        for i in range(indptr[u], indptr[u + 1]):
            a, v = data[i], indices[i]
            for k in range(width):
                row[k] += a * x[v, k]
        for k in range(width):
            y[u, k] = alpha * row[k] + beta * x[u, k] + gamma * y[u, k]


@njit(**JIT)
def project_out(direction, x):
    """Make the columns of x orthogonal to a unit vector."""
    share = np.zeros(x.shape[1])
    for u in range(len(direction)):
        for k in range(x.shape[1]):
            share[k] += direction[u] * x[u, k]
    for u in range(len(direction)):
        for k in range(x.shape[1]):
            x[u, k] -= direction[u] * share[k]


@njit(**JIT)
def _breadth_first_search(indptr, indices, start, step, mark, queue):
    """Mark all nodes within reach of ``start``, each with ``step`` more than its predecessor.

    ``mark[start]`` is set already; nodes not visited yet have negative marks. ``queue`` holds
    the nodes in the order of their visits. Returned is how many were visited.
    """
    queue[0] = start
    first, last = 0, 1
    while first < last:
        u = queue[first]
        first += 1
        for i in range(indptr[u], indptr[u + 1]):
            v = indices[i]
            if mark[v] < 0:
                mark[v] = mark[u] + step
                queue[last] = v
                last += 1
    return last


@njit(**JIT)
def components(indptr, indices):
    """The component of each node, numbered in the order of their first nodes."""
    n = len(indptr) - 1
    label, queue = np.full(n, -1, np.int64), np.empty(n, np.int64)
    count = 0
    for start in range(n):
        if label[start] < 0:
            label[start] = count
            _breadth_first_search(indptr, indices, start, 0, label, queue)
            count += 1
    return label


@njit(**JIT)
def eccentricity(indptr, indices, start):
    """The distance from ``start`` to the farthest node that it reaches."""
    n = len(indptr) - 1
    distance, queue = np.full(n, -1, np.int64), np.empty(n, np.int64)
    distance[start] = 0
    n_visited = _breadth_first_search(indptr, indices, start, 1, distance, queue)
    return distance[queue[n_visited - 1]]
