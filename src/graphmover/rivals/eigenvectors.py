"""Eigenvectors of the adjacency matrix as points of nodes: OA-E(A) and the pyramid match."""

from __future__ import annotations

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.rivals.base import Floats, graph_adjacency


def eigenvector_points(batch: GraphBatch, n_dimensions: int, *, scaled: bool) -> Floats:
    """Return ``|u|`` for the eigenvectors u of A whose eigenvalues are largest in absolute value.

    If ``scaled``, ``|u| sqrt(|eigenvalue|)``. Columns of a multiple eigenvalue are the root of the
    mean of their squares, as in the Laplacian embedding: no other choice is independent of the
    numbering of the nodes. A graph with fewer nodes has zeros in the coordinates it lacks.
    """
    points = np.zeros((batch.n_nodes, n_dimensions))
    for number, first in enumerate(batch.offsets[:-1]):
        own = points[first : batch.offsets[number + 1]]
        if not len(own):
            continue
        values, vectors = np.linalg.eigh(graph_adjacency(batch, number).toarray())
        starts = np.flatnonzero(np.concatenate([[True], np.diff(values) > 1e-7]))
        sizes = np.diff(np.append(starts, len(values)))
        means = np.add.reduceat(vectors**2, starts, axis=1) / sizes
        lengths = np.repeat(np.sqrt(means), sizes, axis=1)
        if scaled:
            lengths = lengths * np.sqrt(np.abs(values))
        # Rounding must not decide between eigenvalues of opposite sign: the positive one is first.
        order = np.lexsort((-values, -np.abs(values).round(7)))[:n_dimensions]
        own[:, : len(order)] = lengths[:, order]
    return points
