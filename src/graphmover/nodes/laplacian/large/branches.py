"""Equal branches: rooted subtrees that hang at the same node are merged, as twins are.

The pendant forest of a graph is what repeatedly removing leaves takes away; a branch is one of its
nodes u with all nodes below it, hung at the parent v of u. Let t branches at v be isomorphic,
weights and numbers of twins included, and let B be the matrix I - Q restricted to one of them
(with the degrees of the whole graph, that is, with v grounded). The eigenvectors of I - Q are

- those that are equal on the t branches: they come from the quotient in which the branches are one,
  with t times the nodes and edges;
- for each eigenpair (lambda, x) of B, those that are multiples of x on the branches, with a sum of
  zero: t - 1 dimensions, whose projector has (t - 1)/t x_i^2 on the diagonal.

Branches of one node are open twins, for which B = 1. Equal branches of a branch are merged, too;
B is then the matrix of the merged branch. Twins come first, so that a branch may contain some that
are adjacent: triangles, for example, that share one node with the rest.

B has as many eigenvalues below a number as negative pivots, minus that number on its diagonal, when
it is eliminated from the leaves up (Jacobs and Trevisan 2011). One pass counts for all branches, so
that only those needed are solved. They are few: disjoint branches have together no more eigenvalues
below a number than the whole quotient (Cauchy's interlacing theorem), and each level of branches
within branches at least doubles the number of nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphmover.nodes.laplacian.large.forest import (
    branch_nodes,
    branch_types,
    merged_siblings,
    negative_pivots,
    peel,
)
from graphmover.nodes.laplacian.large.quotient import Ints, QuotientGraph


class Branches(NamedTuple):
    """The smaller graph that a graph becomes when equal branches are merged."""

    graph: QuotientGraph
    kept: Ints  # the nodes of the given graph that it consists of
    node_of: Ints  # its node that each node of the given graph is merged into
    copies: Ints  # the number of nodes merged into each node
    equal: Ints  # t: the number of branches of one parent merged into this one
    parent: Ints  # -1: not in the pendant forest, or the root of a tree
    order: Ints  # the nodes that have parents, leaves first

    def with_eigenvalues_below(self, bound: float) -> list[tuple[int, int]]:
        """Return the roots of branches that were merged, and have eigenvalues below a number.

        Beside each root is their number, without the t - 1.
        """
        graph, parent = self.graph, self.parent
        rows = np.repeat(np.arange(len(parent)), np.diff(graph.indptr))
        upwards = np.flatnonzero(graph.indices == parent[rows])
        rows = rows[upwards]
        entries = np.zeros(len(parent))  # of Q, between a node and its parent
        entries[rows] = graph.weights[upwards] / (graph.scale[rows] * graph.scale[parent[rows]])
        counts = negative_pivots(self.order, parent, entries, 1.0 - graph.diagonal - bound)
        roots = np.flatnonzero((self.equal > 1) & (counts > 0))
        return list(zip(roots.tolist(), counts[roots].tolist(), strict=True))

    def multiplicity(self, root: int) -> int:
        """Return the multiplicity of each eigenvalue of a branch in the whole graph."""
        return int(self.copies[root] - self.copies[root] // self.equal[root])

    def nodes(self, root: int) -> Ints:
        """Return the nodes of one branch in sorted order."""
        nodes: Ints = branch_nodes(self.graph.indptr, self.graph.indices, self.parent, root)
        return np.sort(nodes)


def merge_equal_branches(graph: QuotientGraph, sizes: Ints) -> Branches | None:
    """Return the smaller graph, or None if no two branches are equal.

    ``sizes`` are the numbers of twins that the nodes stand for.
    """
    parent, order = peel(graph.indptr, graph.indices)
    starts, children, types = branch_types(
        graph.indptr, graph.indices, graph.weights, graph.diagonal, sizes, parent, order
    )
    image, equal, copies = merged_siblings(parent, order, starts, children, types)
    kept = np.flatnonzero(image == np.arange(len(image)))
    if len(kept) == len(image):
        return None
    number = np.empty(len(image), np.int64)
    number[kept] = np.arange(len(kept))
    return Branches(
        graph.without_copies(kept, copies),
        kept,
        number[image],
        copies[kept],
        equal[kept],
        np.where(parent[kept] >= 0, number[parent[kept]], -1),
        number[order[image[order] == order]],
    )
