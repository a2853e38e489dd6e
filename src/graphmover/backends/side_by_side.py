"""Rows of several embeddings at once: nodes that they share are embedded once per chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from graphmover._utils.progress import Progress
from graphmover.backends import backend_for
from graphmover.backends.fitted import DistancesToRandomGraphs
from graphmover.backends.protocol import Floats
from graphmover.backends.rows import in_chunks, nodes_of_chunk
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embeddings import Nodes


def features_of_graphs(
    batch: GraphBatch,
    embeddings: Sequence[DistancesToRandomGraphs],
    finish: Sequence[Callable[[Floats], object]],
    out: Sequence[Floats],
    *,
    device: str = "cpu",
    n_jobs: int | None = None,
    progress: Progress = None,
) -> None:
    """Fill a matrix for each embedding, a row per graph; they may be columns of a larger one.

    ``finish`` turns the distances of each embedding into features, in place and on the device.
    """
    if not embeddings:
        return
    for embedding in embeddings:
        embedding.require_carried(batch)
    n_columns = [len(embedding.random_graphs) for embedding in embeddings]
    backend = backend_for(device, len(batch) * sum(n_columns))
    prepared = [embedding.prepared_for(backend) for embedding in embeddings]

    def compute(rows: slice) -> None:
        shared: dict[object, Nodes] = {}
        for embedding, ready, done, part in zip(embeddings, prepared, finish, out, strict=True):
            key = embedding.recipe.key
            if key not in shared:
                shared[key] = nodes_of_chunk(
                    backend, batch, rows, embedding.recipe, embedding.random_graphs
                )
            block = np.empty((rows.stop - rows.start, part.shape[1]))  # engines fill whole rows
            backend.distances(shared[key], ready, done, block)
            part[rows] = block

    chunkings = [backend.chunking(batch.node_counts, ready, n_jobs) for ready in prepared]
    chunking = max(chunkings, key=lambda one: float(one.work.sum()) / one.most)  # the smallest
    in_chunks(compute, chunking, backend.name, progress)
