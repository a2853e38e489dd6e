"""Optimal assignment of node embeddings: OA-E(A), WL-OA-E(A) (Johansson and Dubhashi 2015).

Two graphs are as similar as the best matching of their nodes by Euclidean distance. It is not
positive semi-definite in general.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.labels import wl_labels
from graphmover.rivals.base import Floats, GraphKernel, Ints
from graphmover.rivals.eigenvectors import eigenvector_points


class _Nodes(NamedTuple):
    points: list[Floats]
    labels: list[Ints]  # a column for each depth; none where labels are not compared


class NodeAssignment(GraphKernel):
    """The sum of the similarities of the nodes that an optimal assignment pairs.

    A node's point is its row in the d eigenvectors of the adjacency matrix A whose eigenvalues are
    largest in absolute value, in absolute values and times the root of the eigenvalue. Two nodes
    are similar by ``exp(-|x - y|)``, times the share of the depths at which their
    Weisfeiler-Lehman labels are equal if ``iterations`` is not None. Nodes of the larger graph
    that are left over add nothing.

    Parameters
    ----------
    n_dimensions : int
        The number of eigenvectors, d.
    iterations : int or None
        Refinements of the labels; 0 compares the labels themselves, None compares none.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import NodeAssignment
    >>> path, triangle = gm.Graph(3, [(0, 1), (1, 2)]), gm.Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> NodeAssignment(2).kernel([path, triangle]).round(2)
    array([[3.  , 2.37],
           [2.37, 3.  ]])
    """

    def __init__(self, n_dimensions: int = 6, *, iterations: int | None = None) -> None:
        self.n_dimensions = n_dimensions
        self.iterations = iterations

    def _reads_node_labels(self, batch: GraphBatch) -> bool:
        return self.iterations is not None

    def _prepared(self, batch: GraphBatch) -> _Nodes:
        codes = np.zeros((batch.n_nodes, 0), np.int64)
        if self.iterations is not None:
            codes = wl_labels(batch, self.iterations, depths="all")
        points = eigenvector_points(batch, self.n_dimensions, scaled=True)
        return _Nodes(
            np.split(points, batch.offsets[1:-1]),
            np.split(codes, batch.offsets[1:-1]),
        )

    def _between(self, rows: _Nodes, columns: _Nodes) -> Floats:
        from scipy.optimize import linear_sum_assignment
        from scipy.spatial.distance import cdist

        similarities = np.zeros((len(rows.points), len(columns.points)))
        for i, (x, x_labels) in enumerate(zip(*rows, strict=True)):
            first = i if rows is columns else 0  # the other half is the same
            for j in range(first, len(columns.points)):
                if not len(x) or not len(columns.points[j]):
                    continue
                similar = np.exp(-cdist(x, columns.points[j]))
                if self.iterations is not None:
                    equal = x_labels[:, np.newaxis] == columns.labels[j]
                    similar = similar * equal.mean(axis=2)
                pairs = linear_sum_assignment(similar, maximize=True)
                similarities[i, j] = similar[pairs].sum()
                if rows is columns:
                    similarities[j, i] = similarities[i, j]
        return similarities
