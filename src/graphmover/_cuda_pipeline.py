"""From graphs to distances or features on a GPU, chunk by chunk: points never leave the device.

What a chunk needs is moved there once, and its rows of the result come back once.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover._graph_arrays import ranges
from graphmover._parallel import for_each_chunk
from graphmover.graphs import GraphBatch
from graphmover.node_embedding import (
    NodeEmbeddings,
    _codes,
    _degree_masses,
    _degrees,
    embed_nodes,
)
from graphmover.transport import _cuda, _cuda_plan
from graphmover.transport._cuda_kernels import free_memory, release_memory
from graphmover.transport._cuda_laplacian import most_nodes, smallest_eigenvectors
from graphmover.transport._cuda_side import prepare_on_device

#: Threads that prepare chunks: while one waits for the device, another works on the host.
_THREADS = 3


def embed_nodes_on_gpu(
    batch: GraphBatch,
    n_dimensions: int,
    *,
    use_node_labels: bool,
    wl_iterations: int,
    progress: str | None = None,
) -> NodeEmbeddings:
    """Return what `embed_nodes` returns, with the points of small graphs from the GPU."""
    labels = _codes(batch, use_node_labels, wl_iterations)
    degrees = _degrees(batch)
    points = np.empty((batch.n_nodes, n_dimensions))

    def embed(rows: slice) -> None:
        first, last = batch.offsets[[rows.start, rows.stop]]
        _points(batch[rows], degrees[first:last], n_dimensions).get(out=points[first:last])

    work, most = _cuda_plan.chunking(batch.node_counts, n_dimensions, free_memory())
    _run(embed, work, most, progress)
    return NodeEmbeddings._trusted(points, _degree_masses(degrees, batch), batch.offsets, labels)


def distances_on_gpu(
    batch: GraphBatch,
    random_graphs: NodeEmbeddings,
    *,
    use_node_labels: bool,
    wl_iterations: int,
    gamma: float | None = None,
    progress: str | None = None,
) -> NDArray[np.float64]:
    """Return all distances, or with gamma the features exp(-gamma * distance) / sqrt(R)."""
    out = np.empty((len(batch), len(random_graphs)))
    no_labels = np.empty(0, np.int64)
    y = _cuda.prepare(
        random_graphs.points,
        random_graphs.masses,
        random_graphs.offsets,
        no_labels if random_graphs.labels is None else random_graphs.labels,
    )

    def compute(rows: slice) -> None:
        import cupy

        part = batch[rows]
        labels = _codes(part, use_node_labels, wl_iterations)
        degrees = _degrees(part)
        x = prepare_on_device(
            _points(part, degrees, random_graphs.n_dimensions),
            cupy.asarray(_degree_masses(degrees, part)),
            part.offsets,
            None if labels is None else cupy.asarray(labels),
        )
        result = _cuda.distances_on_device(x, y)
        if gamma is not None:  # Algorithm 1, lines 6-8
            result *= -gamma
            cupy.exp(result, out=result)
            result /= math.sqrt(len(random_graphs))
        result.get(out=out[rows])

    work, most = _cuda.chunking(batch.node_counts, y)
    _run(compute, work, most, progress)
    return out


def _points(batch: GraphBatch, degrees: NDArray[np.float64], n_dimensions: int) -> Any:
    """Points on the device; graphs too large for the kernel are embedded on the CPU."""
    import cupy

    points = smallest_eigenvectors(
        batch.offsets, batch.indptr, batch.indices, batch.edge_weights, degrees, n_dimensions
    )
    large = np.flatnonzero(batch.node_counts > most_nodes())
    if len(large):
        nodes = ranges(batch.offsets[large], batch.node_counts[large])
        on_host = embed_nodes(batch[large], n_dimensions, use_node_labels=False).points
        points[cupy.asarray(nodes)] = cupy.asarray(on_host)
    return points


def _run(function: Any, work: NDArray[np.int64], most: int, progress: str | None) -> None:
    """Work on all chunks; after an error or Ctrl-C, leave no memory of the device taken."""
    stopped = threading.Event()

    def chunk(rows: slice) -> None:
        try:
            function(rows)
        finally:
            if stopped.is_set():
                release_memory()

    try:
        for_each_chunk(chunk, work, most=most, n_jobs=_THREADS, progress=progress)
    except BaseException:
        stopped.set()
        release_memory()
        raise
