"""Loops over the rows of a large sparse matrix."""

from __future__ import annotations

import numpy as np
from numba import njit

from graphmover._utils.jit import JIT


@njit(**JIT)
def multiply(indptr, indices, data, x, alpha, beta, gamma, y):
    """Set y to alpha Q x + beta x + gamma y."""
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
    """Take the direction of a unit vector out of the columns of x."""
    share = np.zeros(x.shape[1])
    for u in range(len(direction)):
        for k in range(x.shape[1]):
            share[k] += direction[u] * x[u, k]
    for u in range(len(direction)):
        for k in range(x.shape[1]):
            x[u, k] -= direction[u] * share[k]


@njit(**JIT)
def components(indptr, indices):
    """The component of each node, numbered in the order of their first nodes."""
    n = len(indptr) - 1
    label = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    count = 0
    for start in range(n):
        if label[start] >= 0:
            continue
        label[start], queue[0] = count, start
        first, last = 0, 1
        while first < last:
            u = queue[first]
            first += 1
            for i in range(indptr[u], indptr[u + 1]):
                v = indices[i]
                if label[v] < 0:
                    label[v] = count
                    queue[last] = v
                    last += 1
        count += 1
    return label


@njit(**JIT)
def eccentricity(indptr, indices, start):
    """How far the farthest node is that can be reached."""
    distance = np.full(len(indptr) - 1, -1, np.int64)
    queue = np.empty(len(indptr) - 1, np.int64)
    queue[0], distance[start] = start, 0
    first, last = 0, 1
    while first < last:
        u = queue[first]
        first += 1
        for i in range(indptr[u], indptr[u + 1]):
            v = indices[i]
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                queue[last] = v
                last += 1
    return distance[queue[last - 1]]


@njit(**JIT)
def chebyshev(matrix, x, cut, degree, y, work):
    """Set y to the Chebyshev polynomial of Q that is small on [-1, 1 - cut], times x."""
    indptr, indices, data = matrix
    half, middle = (2 - cut) / 2, -cut / 2
    before, now = work[0], work[1]
    before[:] = 0.0
    now[:] = x
    for step in range(degree):
        factor, back = (2 / half, 1.0) if step else (1 / half, 0.0)
        for u in range(len(x)):
            total = -middle * now[u]
            for i in range(indptr[u], indptr[u + 1]):
                total += data[i] * now[indices[i]]
            before[u] = factor * total - back * before[u]
        before, now = now, before
    y[:] = now
