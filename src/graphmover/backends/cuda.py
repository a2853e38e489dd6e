"""From graphs to distances or features on a GPU, chunk by chunk: points never leave the device.

What a chunk needs is moved there once, and its rows of the result come back once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.cuda import free_memory, release_memory
from graphmover._utils.parallel import for_each_chunk
from graphmover._utils.segments import ranges
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embeddings import (
    NodeEmbeddings,
    embed_nodes,
    node_codes,
    node_degrees,
    node_masses,
)
from graphmover.nodes.laplacian import DENSE_NODES
from graphmover.nodes.laplacian.cuda import most_nodes, smallest_eigenvectors
from graphmover.transport.cuda import engine as _cuda
from graphmover.transport.cuda import schedule as _cuda_plan
from graphmover.transport.cuda.side import prepare_on_device

#: Threads that prepare chunks: while one waits for the device, another works on the host.
_THREADS = 3


#: What is done to distances, in place, before they leave the device.
Finish = Callable[[Any], Any]


def embed_nodes_on_gpu(
    batch: GraphBatch,
    n_dimensions: int,
    *,
    node_embedding: Any = "laplacian",
    node_mass: Literal["degree", "equal"] = "degree",
    use_node_labels: bool | Literal["auto"] = "auto",
    wl_iterations: int = 0,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> NodeEmbeddings:
    """Return what `embed_nodes` returns, the eigenvectors of small graphs from the GPU."""
    if node_embedding != "laplacian":
        return embed_nodes(
            batch,
            n_dimensions,
            node_embedding=node_embedding,
            node_mass=node_mass,
            use_node_labels=use_node_labels,
            wl_iterations=wl_iterations,
            n_jobs=n_jobs,
            progress=progress,
        )
    labels = node_codes(batch, use_node_labels, wl_iterations)
    degrees = node_degrees(batch, 0)
    points = np.empty((batch.n_nodes, n_dimensions))

    def embed(rows: slice) -> None:
        first, last = batch.offsets[[rows.start, rows.stop]]
        part = _eigenvectors(batch[rows], degrees[first:last], n_dimensions, rows.start)
        part.get(out=points[first:last])

    work, most = _cuda_plan.chunking(batch.node_counts, n_dimensions, free_memory())
    _for_each_chunk(embed, work, most, progress)
    masses = node_masses(batch, degrees, node_mass)
    return NodeEmbeddings._trusted(points, masses, batch.offsets, labels)


def rows_on_gpu(
    batch: GraphBatch,
    random_graphs: NodeEmbeddings,
    choices: dict[str, Any],
    scale: float,
    finish: Finish,
    progress: str | None,
) -> NDArray[np.float64]:
    """Return the distances of all graphs, finished, for the given choices of `embed_nodes`."""
    out = np.empty((len(batch), len(random_graphs)))
    no_labels = np.empty(0, np.int64)
    y = _cuda.prepare(
        random_graphs.points,
        random_graphs.masses,
        random_graphs.offsets,
        no_labels if random_graphs.labels is None else random_graphs.labels,
    )

    def compute(rows: slice) -> None:
        nodes = _nodes(batch[rows], random_graphs.n_dimensions, choices, scale, rows.start)
        result = _cuda.distances_on_device(prepare_on_device(*nodes), y)
        finish(result)
        result.get(out=out[rows])

    work, most = _cuda.chunking(batch.node_counts, y)
    _for_each_chunk(compute, work, most, progress)
    return out


def _nodes(
    batch: GraphBatch, n_dimensions: int, choices: dict[str, Any], scale: float, first_index: int
) -> tuple[Any, ...]:
    """Points, masses, offsets and labels, all but the offsets on the device."""
    import cupy

    if choices["node_embedding"] == "laplacian":
        labels = node_codes(batch, choices["use_node_labels"], choices["wl_iterations"])
        degrees = node_degrees(batch, first_index)
        points = _eigenvectors(batch, degrees, n_dimensions, first_index)
        masses = node_masses(batch, degrees, choices["node_mass"])
    else:
        nodes = embed_nodes(batch, n_dimensions, **choices, first_index=first_index)
        points = cupy.asarray(nodes.divided_by(scale).points)
        labels, masses = nodes.labels, nodes.masses
    codes = None if labels is None else cupy.asarray(labels)
    return points, cupy.asarray(masses), batch.offsets, codes


def _eigenvectors(
    batch: GraphBatch, degrees: NDArray[np.float64], n_dimensions: int, first_index: int
) -> Any:
    """Points on the device; graphs too large for the kernel are embedded on the CPU."""
    import cupy

    points = smallest_eigenvectors(
        batch.offsets, batch.indptr, batch.indices, batch.edge_weights, degrees, n_dimensions
    )
    counts = batch.node_counts
    medium = np.flatnonzero((counts > most_nodes()) & (counts <= DENSE_NODES))
    large = np.flatnonzero(counts > DENSE_NODES)  # one by one: a solver's error names the graph
    for graphs in (medium, *large[:, np.newaxis]):
        if len(graphs):
            number = first_index + int(graphs[0])
            on_host = embed_nodes(
                batch[graphs], n_dimensions, use_node_labels=False, first_index=number
            )
            nodes = cupy.asarray(ranges(batch.offsets[graphs], counts[graphs]))
            points[nodes] = cupy.asarray(on_host.points)
    return points


def _for_each_chunk(
    function: Callable[[slice], None], work: NDArray[np.int64], most: int, progress: str | None
) -> None:
    for_each_chunk(
        function, work, most=most, n_jobs=_THREADS, progress=progress, release=release_memory
    )
