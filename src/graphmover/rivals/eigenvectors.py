"""Eigenvectors of the adjacency matrix as points of nodes: OA-E(A) and the pyramid match."""

from __future__ import annotations

import numpy as np

from graphmover._utils.checks import require_integer
from graphmover._utils.parallel import single_threaded_blas
from graphmover.graphs.adjacency import graph_adjacency
from graphmover.graphs.batch import GraphBatch
from graphmover.rivals.base import Floats


def eigenvector_points(batch: GraphBatch, n_dimensions: int, *, scaled: bool) -> Floats:
    """Return ``|u|`` for the eigenvectors u of A whose eigenvalues are largest in absolute value.

    If ``scaled``, ``|u| sqrt(|eigenvalue|)``. Columns of a multiple eigenvalue are the root of the
    mean of their squares, as in the Laplacian embedding: no other choice is independent of the
    numbering of the nodes. A graph with fewer nodes has zeros in the coordinates it lacks.
    """
    require_integer("n_dimensions", n_dimensions, least=1)
    points = np.zeros((batch.n_nodes, n_dimensions))
    with single_threaded_blas():
        for number in np.flatnonzero(batch.node_counts).tolist():
            values, lengths = _eigenspaces(graph_adjacency(batch, number).toarray())
            if scaled:
                lengths = lengths * np.sqrt(np.abs(values))
            # Rounding must not decide between eigenvalues of opposite sign: first the positive one.
            order = np.lexsort((-values, -np.abs(values).round(7)))[:n_dimensions]
            first, last = batch.offsets[number], batch.offsets[number + 1]
            points[first:last, : len(order)] = lengths[:, order]
    return points


def _eigenspaces(matrix: Floats) -> tuple[Floats, Floats]:
    """Return all eigenvalues, increasing, and the columns that stand for their eigenvectors."""
    values, vectors = np.linalg.eigh(matrix)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(values) > 1e-7]))
    sizes = np.diff(np.append(starts, len(values)))
    means = np.add.reduceat(vectors**2, starts, axis=1) / sizes
    return values, np.repeat(np.sqrt(means), sizes, axis=1)
