"""From graphs, or embedded nodes, to rows of distances, chunk by chunk in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import numpy as np

from graphmover._utils.parallel import for_each_chunk, single_threaded_blas
from graphmover._utils.progress import Progress
from graphmover.backends.protocol import Backend, Chunking, Floats, Ints, NodesT, PreparedT
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.nodes.recipe import NodeRecipe


def distances_of_graphs(
    backend: Backend[NodesT, PreparedT],
    batch: GraphBatch,
    recipe: NodeRecipe,
    random_graphs: NodeEmbeddings,
    prepared: PreparedT,
    *,
    finish: Callable[[Floats], object] | None = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Floats:
    """Return the distances of graphs: both steps, in the memory of a chunk per thread."""

    def nodes_of(rows: slice) -> NodesT:
        return nodes_of_chunk(backend, batch, rows, recipe, random_graphs)

    shape = (len(batch), len(random_graphs))
    return _in_chunks(
        backend, batch.node_counts, nodes_of, prepared, shape, finish, n_jobs, progress
    )


def nodes_of_chunk(
    backend: Backend[NodesT, PreparedT],
    batch: GraphBatch,
    rows: slice,
    recipe: NodeRecipe,
    random_graphs: NodeEmbeddings,
) -> NodesT:
    """Embed the nodes of some graphs of a batch, which must fit the random graphs."""
    nodes = backend.nodes(batch[rows], recipe, first_index=rows.start)
    if nodes.n_dimensions != random_graphs.n_dimensions:  # a callable may do so
        raise ValueError(
            f"node_embedding returned points of {nodes.n_dimensions} dimensions, expected "
            f"{random_graphs.n_dimensions} as in fit"
        )
    return nodes


def distances_of_nodes(
    backend: Backend[NodesT, PreparedT],
    nodes: NodesT,
    random_graphs: NodeEmbeddings,
    prepared: PreparedT,
    *,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Floats:
    """Return the distances of nodes that are where the back end computes."""
    shape = (len(nodes), len(random_graphs))
    return _in_chunks(
        backend, nodes.node_counts, nodes.__getitem__, prepared, shape, None, n_jobs, progress
    )


def distances_between(
    backend: Backend[NodesT, PreparedT],
    x: NodeEmbeddings,
    prepared: PreparedT,
    n_prepared: int,
    *,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Floats:
    """Return the distances of nodes on the host to prepared graphs."""
    return _in_chunks(
        backend,
        x.node_counts,
        lambda rows: backend.take(x[rows]),
        prepared,
        (len(x), n_prepared),
        None,
        n_jobs,
        progress,
    )


def _in_chunks(
    backend: Backend[NodesT, PreparedT],
    node_counts: Ints,
    nodes_of: Callable[[slice], NodesT],
    prepared: PreparedT,
    shape: tuple[int, int],
    finish: Callable[[Floats], object] | None,
    n_jobs: int | None,
    progress: Progress,
) -> Floats:
    out = np.empty(shape)

    def compute(rows: slice) -> None:
        backend.distances(nodes_of(rows), prepared, finish, out[rows])

    in_chunks(compute, backend.chunking(node_counts, prepared, n_jobs), backend.name, progress)
    return out


def in_chunks(
    compute: Callable[[slice], None], chunking: Chunking, device: str, progress: Progress
) -> None:
    """Call a function for each chunk, in threads."""
    # Set once for all chunks: changed in between, BLAS threads get in each other's way.
    with single_threaded_blas() if chunking.limit_blas else nullcontext():
        for_each_chunk(
            compute,
            chunking.work,
            most=chunking.most,
            n_jobs=chunking.n_threads,
            progress=f"{progress} ({device})" if isinstance(progress, str) else progress,
            release=chunking.release,
        )
