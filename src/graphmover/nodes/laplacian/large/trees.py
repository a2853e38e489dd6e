"""The pseudo-inverse of a tree's Laplacian, which needs no factorisation.

Eliminated from the leaves up, a tree has no fill, and every entry of L in the factors L D L' is -1,
every pivot the weight of the edge to the parent. Solving is summing what flows through each edge
from the leaves up, then adding the differences of potential from the root down. There are no
cancellations between large pivots, as in general graphs, so that even eigenvalues near the rounding
errors of I - Q itself have accurate vectors. Hence residuals are taken of the pseudo-inverse.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graphmover._utils.jit import JIT
from graphmover.nodes.laplacian.large.cholesky import Factors
from graphmover.nodes.laplacian.large.operators import PseudoInverse, RitzPairs
from graphmover.nodes.laplacian.large.quotient import Floats, QuotientGraph

#: Vectors with smaller errors than this, relative to the pseudo-inverse, have converged.
_CONVERGED = 1e-10


class TreeInverse(PseudoInverse):
    """The pseudo-inverse of I - Q of a tree whose nodes are numbered leaves first."""

    name = "elimination of a tree"

    def __init__(self, graph: QuotientGraph) -> None:
        super().__init__(graph, tree_factors(graph.indptr, graph.indices, graph.weights))

    def ritz_pairs(self, basis: Floats) -> RitzPairs:
        """Return the Ritz pairs of the pseudo-inverse M.

        With s = x - theta M x, the component of x along the eigenvector of another eigenvalue
        lambda is |s_j| lambda / |lambda - theta|: the error is at most 2 |s| max(1, theta / gap).
        Also, |(I - Q) x - theta x| = |(I - Q) s| is at most 2 |s|.
        """
        image = self.solve(basis)
        small = basis.T @ image
        inverses, rotation = np.linalg.eigh((small + small.T) / 2)
        inverses, rotation = inverses[::-1], rotation[:, ::-1]
        block, image = basis @ rotation, image @ rotation
        values = 1.0 / np.maximum(inverses, 0.5)
        errors = np.linalg.norm(block - image * values, axis=0)
        residuals = np.where(errors <= _CONVERGED, 2 * values * errors, 2 * errors)
        return RitzPairs(values, block, residuals)


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
