"""The pseudo-inverse of a tree's Laplacian, which needs no factorisation.

Eliminated from the leaves up, a tree has no fill, and every entry of L in the factors L D L' is -1,
every pivot the weight of the edge to the parent. Solving is summing what flows through each edge
from the leaves up, then adding the differences of potential from the root down. There are no
cancellations between large pivots, as in general graphs, so that even eigenvalues near the rounding
errors of I - Q itself have accurate vectors. Hence residuals are taken of the pseudo-inverse.
"""

from __future__ import annotations

import numpy as np

from graphmover.nodes.laplacian.large.forest import tree_factors
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
