"""Equal branches: rooted subtrees that hang at the same node are merged, as twins are.

The pendant forest of a graph is what repeatedly removing leaves takes away; a branch is one of its
nodes u with all nodes below it, hung at the parent v of u. Let t branches at v be isomorphic,
weights and numbers of twins included, and let B be the matrix I - Q restricted to one of them
(with the degrees of the whole graph, that is, with v grounded). The eigenvectors of I - Q are

- those that are equal on the t branches: they come from the quotient in which the branches are one,
  with t times the nodes and edges;
- for each eigenpair (lambda, x) of B, those that are multiples of x on the branches, with a sum of
  zero: t - 1 dimensions, whose projector has (t - 1)/t x_i^2 on the diagonal.

Branches of one node are open twins, for which B = 1. All levels are merged at once: within B, equal
branches of branches are merged, too. A graph whose levels of branches all have t >= 2 has at least
twice as many nodes per level, so levels are few.

How many eigenvalues of each B lie below a number is the number of negative pivots when its
matrix is eliminated from the leaves up (Jacobs and Trevisan 2011). One pass counts for all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from graphmover._utils.hashing import GOLDEN, mix64
from graphmover._utils.jit import JIT
from graphmover.nodes.laplacian.large.quotient import Ints, QuotientGraph

#: `mix64`, compiled.
_mixed = njit(**JIT)(mix64)

#: Up to so many children are sorted by insertion.
_FEW_CHILDREN = 24


class Forest(NamedTuple):
    """The pendant forest of a graph."""

    parent: Ints  # of each node; -1: the node lies on a cycle, between cycles, or is a tree's root
    order: Ints  # the nodes that have parents, leaves first


class Branches(NamedTuple):
    """Equal branches of a graph, merged into the branches of a smaller one."""

    kept: Ints  # the nodes that the smaller graph is made of
    merged: Ints  # the node of the smaller graph that each node becomes a part of
    copies: Ints  # how many nodes each node of the smaller graph is made of
    equal: Ints  # how many of these branches hang at one parent: t; 1: nothing was merged
    forest: Forest  # of the smaller graph
    sizes: Ints  # how many nodes of the smaller graph the branch has

    def roots(self) -> Ints:
        """Return the roots of the branches that were merged, in the smaller graph."""
        return np.flatnonzero(self.equal > 1)

    def multiplicity(self, root: int) -> int:
        """Return the multiplicity of each eigenvalue of a branch in the whole graph."""
        return int(self.copies[root] - self.copies[root] // self.equal[root])

    def nodes(self, root: int, graph: QuotientGraph) -> Ints:
        """Return the nodes of one branch of the smaller graph in sorted order."""
        forest = self.forest
        return np.sort(_branch(graph.indptr, graph.indices, forest.parent, root, self.sizes[root]))

    def eigenvalues_below(self, bound: float, graph: QuotientGraph) -> Ints:
        """Count the eigenvalues below a number of each branch, with its parent grounded."""
        parent, order = self.forest
        rows = np.repeat(np.arange(len(parent)), np.diff(graph.indptr))
        upwards = np.flatnonzero(graph.indices == parent[rows])
        couplings = np.zeros(len(parent))
        couplings[rows[upwards]] = graph.weights[upwards]
        couplings[order] /= graph.scale[order] * graph.scale[parent[order]]
        return _negative_pivots(order, parent, couplings, 1.0 - graph.diagonal - bound)


def merge_equal_branches(
    graph: QuotientGraph, sizes: Ints
) -> tuple[QuotientGraph, Branches | None]:
    """Return the graph of merged branches; the graph itself and None if no two are equal.

    ``sizes`` are the numbers of twins that the nodes stand for.
    """
    parent, order = forest = Forest(*_peeled(graph.indptr, graph.indices))
    starts, children, types = _branch_types(
        graph.indptr, graph.indices, graph.weights, graph.diagonal, sizes, parent, order
    )
    image, equal, copies = _merged(parent, order, starts, children, types)
    kept = np.flatnonzero(image == np.arange(len(image)))
    if len(kept) == len(image):
        return graph, None
    number = np.empty(len(image), np.int64)
    number[kept] = np.arange(len(kept))
    parent = np.where(forest.parent[kept] >= 0, number[forest.parent[kept]], -1)
    order = number[order[image[order] == order]]
    smaller = graph.without_copies(kept, copies)
    branches = Branches(
        kept, number[image], copies[kept], equal[kept], Forest(parent, order), _sizes(order, parent)
    )
    return smaller, branches


@njit(**JIT)
def _peeled(indptr, indices):
    """The fields of a Forest. Leaves are removed in rounds, so that a tree's root is its centre."""
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
def _branch_types(indptr, indices, weights, diagonal, sizes, parent, order):
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
def _merged(parent, order, starts, children, types):
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
def _sizes(order, parent):
    """The number of nodes of each branch."""
    sizes = np.ones(len(parent), np.int64)
    for u in order:
        sizes[parent[u]] += sizes[u]
    return sizes


@njit(**JIT)
def _branch(indptr, indices, parent, root, size):
    """The nodes of the branch of so many nodes below ``root``."""
    nodes = np.empty(size, np.int64)
    nodes[0] = root
    last = 1
    for first in range(size):
        u = nodes[first]
        for i in range(indptr[u], indptr[u + 1]):
            if indices[i] != parent[u]:
                nodes[last] = indices[i]
                last += 1
    return nodes


@njit(**JIT)
def _negative_pivots(order, parent, couplings, pivots):
    """The number of negative pivots in each branch; ``pivots`` is the diagonal, overwritten."""
    counts = np.zeros(len(parent), np.int64)
    for u in order:
        if pivots[u] == 0.0:
            pivots[u] = -1e-200
        counts[u] += pivots[u] < 0
        counts[parent[u]] += counts[u]
        pivots[parent[u]] -= couplings[u] * couplings[u] / pivots[u]
    return counts
