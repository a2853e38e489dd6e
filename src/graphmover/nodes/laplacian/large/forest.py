"""Compiled loops over trees and pendant forests, for `branches.py` and `trees.py`."""

from __future__ import annotations

import numpy as np

from graphmover._utils.hashing import GOLDEN, mix64
from graphmover._utils.jit import JIT, njit
from graphmover.nodes.laplacian.large.cholesky import Factors

#: `mix64`, compiled.
_mixed = njit(**JIT)(mix64)

#: Up to so many children are sorted by insertion.
_FEW_CHILDREN = 24


@njit(**JIT)
def peel(indptr, indices):
    """Remove leaves until none is left; return their parents (-1: no leaf), and their order.

    They are removed in rounds, so that what is left of a tree is its centre.
    """
    n = len(indptr) - 1
    degree = indptr[1:] - indptr[:-1]
    parent, queue = np.full(n, -1, np.int64), np.empty(n, np.int64)
    last = 0
    for u in range(n):
        if degree[u] == 1:
            queue[last] = u
            last += 1
    first = count = 0
    while first < last:
        u = queue[first]
        first += 1
        if degree[u] == 0:  # the root
            continue
        queue[count] = u  # the queue behind its first entry becomes the order
        count += 1
        degree[u] = 0
        for i in range(indptr[u], indptr[u + 1]):
            v = indices[i]
            if degree[v] > 0:  # the one neighbour that is left
                parent[u] = v
                degree[v] -= 1
                if degree[v] == 1:
                    queue[last] = v
                    last += 1
                break
    return parent, queue[:count]


@njit(**JIT)
def branch_types(indptr, indices, weights, diagonal, sizes, parent, order):
    """The types of all branches: two are equal exactly if their branches are isomorphic.

    A type is the number of the first node that has it. Returned are the children of node u as
    ``children[starts[u] : starts[u + 1]]``, sorted by their types, and the types. The degree
    needs no comparison: it follows from the weights.
    """
    n = len(parent)
    starts = np.zeros(n + 1, np.int64)
    for u in order:
        starts[parent[u] + 1] += 1
    starts = np.cumsum(starts)
    children, at = np.empty(len(order), np.int64), starts[:-1].copy()
    types, weight, codes = np.full(n, -1, np.int64), np.zeros(n), np.zeros(n, np.uint64)
    mask = 1
    while mask < 2 * len(order):
        mask *= 2
    table = np.full(mask, -1, np.int64)  # linear probing, at most half full
    mask -= 1
    for u in order:
        p = parent[u]
        for i in range(indptr[u], indptr[u + 1]):
            if indices[i] == p:
                weight[u] = weights[i]
        _sort_by_type(children[starts[u] : starts[u + 1]], types)
        code = np.uint64(hash(weight[u])) ^ (np.uint64(hash(diagonal[u])) * GOLDEN)
        code = _mixed(code + np.uint64(sizes[u]) * GOLDEN)
        for i in range(starts[u], starts[u + 1]):
            code = _mixed(code ^ (np.uint64(types[children[i]] + 1) * GOLDEN))
        codes[u] = code
        slot = np.int64(code >> np.uint64(7)) & mask
        while table[slot] >= 0:
            v = table[slot]
            if (
                codes[v] == code
                and weight[v] == weight[u]
                and diagonal[v] == diagonal[u]
                and sizes[v] == sizes[u]
                and _same_children(u, v, starts, children, types)
            ):
                break
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = u
        types[u] = table[slot]
        children[at[p]] = u
        at[p] += 1
    for u in range(n):
        if parent[u] < 0:
            _sort_by_type(children[starts[u] : starts[u + 1]], types)
    return starts, children, types


@njit(**JIT)
def _sort_by_type(nodes, types):
    """Sort nodes by their types, in place; those of one type keep their order."""
    if len(nodes) > _FEW_CHILDREN:
        nodes[:] = nodes[np.argsort(types[nodes], kind="mergesort")]
        return
    for i in range(1, len(nodes)):
        u, k = nodes[i], i
        while k > 0 and types[nodes[k - 1]] > types[u]:
            nodes[k] = nodes[k - 1]
            k -= 1
        nodes[k] = u


@njit(**JIT)
def _same_children(u, v, starts, children, types):
    """Whether the children of u and v have the same types."""
    if starts[u + 1] - starts[u] != starts[v + 1] - starts[v]:
        return False
    for k in range(starts[u + 1] - starts[u]):
        if types[children[starts[u] + k]] != types[children[starts[v] + k]]:
            return False
    return True


@njit(**JIT)
def merged_siblings(parent, order, starts, children, types):
    """Merge siblings of one type, from the roots down.

    Returned are the node that each node becomes a part of; of those that stay, how many siblings
    became one, and how many nodes in all.
    """
    n = len(parent)
    image, equal, copies = np.arange(n), np.ones(n, np.int64), np.ones(n, np.int64)
    for step in range(-n, len(order)):
        # Nodes without parents first, then the others from the roots down.
        p = step + n if step < 0 else order[len(order) - 1 - step]
        if step < 0 and parent[p] >= 0:
            continue
        # The children of p and of its image have the same types, in the same order.
        shift = starts[image[p]] - starts[p]
        first = -1  # among the image's children, of its type
        for i in range(starts[p], starts[p + 1]):
            v = children[i + shift]
            if first >= 0 and types[first] == types[v]:
                equal[first] += image[p] == p
            else:
                first = v
            image[children[i]] = first
        if image[p] == p:
            for i in range(starts[p], starts[p + 1]):
                v = children[i]
                if image[v] == v:
                    copies[v] = copies[p] * equal[v]
    return image, equal, copies


@njit(**JIT)
def branch_nodes(indptr, indices, parent, root):
    """The nodes of one branch."""
    size = np.int64(1)
    nodes = np.empty(64, np.int64)
    nodes[0] = root
    first = 0
    while first < size:
        u = nodes[first]
        first += 1
        if size + indptr[u + 1] - indptr[u] > len(nodes):
            grown = np.empty(2 * (size + indptr[u + 1] - indptr[u]), np.int64)
            grown[:size] = nodes[:size]
            nodes = grown
        for i in range(indptr[u], indptr[u + 1]):
            if indices[i] != parent[u]:
                nodes[size] = indices[i]
                size += 1
    return nodes[:size]


@njit(**JIT)
def negative_pivots(order, parent, couplings, pivots):
    """The number of negative pivots in each branch; ``pivots`` is the diagonal, overwritten."""
    counts = np.zeros(len(parent), np.int64)
    for u in order:
        if pivots[u] == 0.0:
            pivots[u] = -1e-200
        counts[u] += pivots[u] < 0
        counts[parent[u]] += counts[u]
        pivots[parent[u]] -= couplings[u] * couplings[u] / pivots[u]
    return counts


@njit(**JIT)
def leaves_first(indptr, indices):
    """Order the nodes of a tree so that parents follow their children; the last node stays last.

    This is a breadth-first search from the last node, reversed, so that neighbours are close.
    """
    n = len(indptr) - 1
    order, parent = np.empty(n, np.int64), np.empty(n, np.int64)
    order[n - 1] = n - 1
    parent[n - 1] = -1
    free = n - 2
    for k in range(n - 1, -1, -1):
        u = order[k]
        for i in range(indptr[u], indptr[u + 1]):
            v = indices[i]
            if v != parent[u]:
                parent[v] = u
                order[free] = v
                free -= 1
    return order


@njit(**JIT)
def tree_factors(indptr, indices, weights):
    """The factors of a tree whose nodes are numbered leaves first, with the last node grounded."""
    n = len(indptr) - 1
    rows, diagonal = np.empty(n - 1, np.int32), np.empty(n - 1)
    for u in range(n - 1):
        for i in range(indptr[u], indptr[u + 1]):
            if indices[i] > u:
                rows[u], diagonal[u] = indices[i], weights[i]
    order, columns = np.arange(n), np.arange(n)
    return Factors(order, columns, rows, np.full(n - 1, -1.0), diagonal, np.empty((0, 0)))
