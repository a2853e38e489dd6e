"""Minimum-degree ordering for sparse Cholesky factorisation, within a budget of entries.

Approximate minimum degree (Amestoy, Davis and Duff 1996) on a graph of variables and elements: an
eliminated node becomes an element, the list of nodes that its elimination joins. The degree of a
node is bounded by the sizes of its elements, each counted outside the newest one. All elements
together are the entries of the factor, so the search stops as soon as these, and the edges that
the remaining nodes must still have, exceed the budget. Supervariables are not formed: twins are
merged beforehand (`twins.py`).
"""

from __future__ import annotations

import numpy as np

from graphmover._utils.jit import JIT, njit


@njit(**JIT)
def minimum_degree(indptr, indices, budget):
    """An ordering with at most ``budget`` entries in the factor; empty where none was found.

    The graph is symmetric, without loops. Returned are order, starts and entries: the nodes
    below the diagonal in column j of the factor are ``entries[starts[j] : starts[j + 1]]``.
    """
    n = len(indptr) - 1
    # A node's slice of `lists` holds its elements, then its neighbours that no element covers.
    # It never grows: each elimination replaces at least one of either by the new element.
    lists = indices.copy()
    n_elements = np.zeros(n, np.int64)
    n_listed = indptr[1:] - indptr[:-1]
    # An element is numbered as the node that it was.
    start = np.full(n, -1, np.int64)  # of an element in the arena; -1: none, or absorbed
    size = np.zeros(n, np.int64)  # of an element
    arena = np.empty(budget + n, np.int32)  # all elements, one after the other
    used = 0
    outside = np.zeros(n, np.int64)  # of an element: nodes not in the newest one
    seen_by = np.full(n, -1, np.int64)  # the newest element for which `outside` is valid
    joined_by = np.full(n, -1, np.int64)  # the newest element that a node belongs to
    # Nodes by degree, in doubly linked lists.
    head = np.full(n, -1, np.int64)
    after, before = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    degree = n_listed.copy()  # an upper bound once the node has elements
    for v in range(n):
        _insert(v, degree[v], head, after, before)
    order = np.empty(n, np.int64)
    starts = np.zeros(n + 1, np.int64)
    kept = np.empty(n, np.int32)
    least = 0
    for step in range(n):
        while head[least] < 0:
            least += 1
        # Every edge between the remaining nodes becomes an entry. Degrees are upper bounds, so
        # this may give up a little too early.
        if used + least * (n - step) // 2 > budget:
            return order[:0], starts[:0], arena[:0]
        p = head[least]
        _remove(p, degree[p], head, after, before)
        order[step] = p
        # The new element p: the union of the elements of p, which it absorbs, and its neighbours.
        first = used
        joined_by[p] = p
        for k in range(indptr[p], indptr[p] + n_listed[p]):
            e = lists[k]
            if k < indptr[p] + n_elements[p]:
                if start[e] >= 0:
                    for i in range(start[e], start[e] + size[e]):
                        v = arena[i]
                        if joined_by[v] != p:
                            joined_by[v] = p
                            arena[used] = v
                            used += 1
                    start[e] = -1
            elif joined_by[e] != p:
                joined_by[e] = p
                arena[used] = e
                used += 1
        start[p], size[p] = first, used - first
        starts[step + 1] = used
        # |e \ p| for all elements e that share nodes with p: each shared node subtracts 1.
        for i in range(first, used):
            v = arena[i]
            for k in range(indptr[v], indptr[v] + n_elements[v]):
                e = lists[k]
                if start[e] >= 0:
                    if seen_by[e] != p:
                        seen_by[e] = p
                        outside[e] = size[e]
                    outside[e] -= 1
        # Rewrite the lists of the nodes of p, and bound their degrees:
        # |p \ v| + the neighbours outside p + the sum of |e \ p| over their other elements.
        for i in range(first, used):
            v = arena[i]
            bound = size[p] - 1
            at = indptr[v]
            n_kept = 0
            for k in range(at + n_elements[v], at + n_listed[v]):
                u = lists[k]
                if joined_by[u] != p:
                    kept[n_kept] = u
                    n_kept += 1
            count = 0
            for k in range(at, at + n_elements[v]):
                e = lists[k]
                if start[e] >= 0 and outside[e] > 0:  # elements within p are redundant
                    lists[at + count] = e
                    count += 1
                    bound += outside[e]
            lists[at + count] = p
            count += 1
            for k in range(n_kept):
                lists[at + count + k] = kept[k]
            n_elements[v], n_listed[v] = count, count + n_kept
            _remove(v, degree[v], head, after, before)
            degree[v] = min(bound + n_kept, n - step - 2)
            _insert(v, degree[v], head, after, before)
            least = min(least, degree[v])
        least = max(least, 0)
    return order, starts, arena[:used]


@njit(**JIT)
def _insert(v, degree, head, after, before):
    after[v], before[v] = head[degree], -1
    if head[degree] >= 0:
        before[head[degree]] = v
    head[degree] = v


@njit(**JIT)
def _remove(v, degree, head, after, before):
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        head[degree] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]
