"""Optimal assignment of node embeddings: OA-E(A), WL-OA-E(A) (Johansson and Dubhashi 2015).

Two graphs are as similar as the best matching of their nodes by Euclidean distance. It is not
positive semi-definite in general.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.labels import wl_labels
from graphmover.rivals.base import Floats, GraphKernel, Ints, graph_adjacency


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

    def _prepared(self, batch: GraphBatch) -> _Nodes:
        codes = np.zeros((batch.n_nodes, 0), np.int64)
        if self.iterations is not None:
            codes = wl_labels(batch, self.iterations, depths="all")
        return _Nodes(
            [eigenvector_points(batch, g, self.n_dimensions) for g in range(len(batch))],
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


def eigenvector_points(batch: GraphBatch, number: int, n_dimensions: int) -> Floats:
    """Return ``|u| sqrt(|eigenvalue|)`` for the eigenvectors u of the largest |eigenvalues| of A.

    Columns of a multiple eigenvalue are the root of the mean of their squares, as in the Laplacian
    embedding: no other choice is independent of the numbering of the nodes. A graph with fewer
    nodes has zeros in the coordinates it lacks.
    """
    matrix = graph_adjacency(batch, number).toarray()
    points = np.zeros((len(matrix), n_dimensions))
    if not len(matrix):
        return points
    values, vectors = np.linalg.eigh(matrix)
    squares = vectors**2
    starts = np.flatnonzero(np.concatenate([[True], np.diff(values) > 1e-7]))
    sizes = np.diff(np.append(starts, len(values)))
    means = np.add.reduceat(squares, starts, axis=1) / sizes
    lengths = np.repeat(np.sqrt(means), sizes, axis=1) * np.sqrt(np.abs(values))
    # Rounding must not decide between eigenvalues of opposite sign: the positive one is first.
    order = np.lexsort((-values, -np.abs(values).round(7)))[:n_dimensions]
    points[:, : len(order)] = lengths[:, order]
    return points
