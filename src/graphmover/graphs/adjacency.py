"""Adjacency matrices: of all graphs of a batch together, and of one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.arrays import neighbours_over_all
from graphmover.graphs.batch import GraphBatch


def neighbours(batch: GraphBatch) -> NDArray[np.int64]:
    """Return ``indices``, numbered over all nodes of the batch."""
    return neighbours_over_all(batch.offsets, batch.indptr, batch.indices)


def adjacency(batch: GraphBatch) -> Any:
    """Return the adjacency matrix of all graphs, block by block, as a sparse array."""
    from scipy.sparse import csr_array

    n = batch.n_nodes
    return csr_array((batch.adjacency_weights, neighbours(batch), batch.indptr), shape=(n, n))


def graph_adjacency(batch: GraphBatch, number: int) -> Any:
    """Return the adjacency matrix of one graph as a sparse array."""
    from scipy.sparse import csr_array

    first, last = batch.offsets[number], batch.offsets[number + 1]
    rows = batch.indptr[first : last + 1]
    entries = slice(rows[0], rows[-1])
    data = batch.adjacency_weights[entries]
    return csr_array(
        (data, batch.indices[entries], rows - rows[0]), shape=(last - first, last - first)
    )
