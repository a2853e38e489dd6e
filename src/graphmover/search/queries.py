"""From graphs to their neighbours in a library, chunk by chunk in threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.cuda import release_memory
from graphmover._utils.parallel import number_of_threads
from graphmover._utils.progress import Progress
from graphmover.backends import AnyBackend, backend_for
from graphmover.backends.cuda import DeviceNodes, distances_on_device
from graphmover.backends.cuda import PreparedTree as TreeOnDevice
from graphmover.backends.protocol import Chunking
from graphmover.backends.rows import in_chunks, nodes_of_chunk
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.nodes.input_warnings import UnknownLabels
from graphmover.search.cascade import Limit, Neighbors, solve_in_order
from graphmover.search.labels import neighbors_by_labels
from graphmover.search.library import Library
from graphmover.search.on_device import pairs_at_a_time
from graphmover.search.rounds import nearest_by_bounds, nearest_by_distances
from graphmover.search.selection import nearest_in_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Queries of one chunk, more in the closed form, and pairs whose bounds or distances are in memory
#: at once for each thread.
_CHUNK_QUERIES = 32
_CHUNK_ON_DEVICE = 1024
_CHUNK_LABELLED = 256
_CHUNK_PAIRS = 2**22


def neighbors_of_graphs(
    library: Library,
    batch: GraphBatch,
    limit: Limit,
    *,
    device: str = "cpu",
    n_jobs: int | None = None,
    progress: Progress = None,
    unknown: UnknownLabels | None = None,
) -> tuple[list[Neighbors], int]:
    """Return the neighbours of each graph in a library, and how many pairs were solved.

    ``unknown`` counts the graphs that have no label in common with any.
    """
    library.to_pivots.require_carried(batch)
    backend = backend_for(device, len(batch) * len(library))

    def nodes_of(rows: slice) -> tuple[NodeEmbeddings, None]:
        random_graphs = library.to_pivots.random_graphs
        there = nodes_of_chunk(backend, batch, rows, library.recipe, random_graphs)
        return there.on_host(np.arange(len(there))), None

    return _in_chunks(
        library, backend, nodes_of, len(batch), limit, None, n_jobs, progress, unknown
    )


def neighbors_within(
    library: Library,
    limit: Limit,
    chosen: Ints | None = None,
    *,
    device: str = "cpu",
    n_jobs: int | None = None,
    progress: Progress = None,
) -> tuple[list[Neighbors], int]:
    """Return the neighbours of each graph of a library, or of chosen ones, among the others."""
    themselves = np.arange(len(library)) if chosen is None else chosen
    n_queries = len(themselves)
    backend = backend_for(device, len(library) * n_queries)

    def nodes_of(rows: slice) -> tuple[NodeEmbeddings, Floats]:
        return library.nodes[themselves[rows]], library.pivots[themselves[rows]]

    return _in_chunks(library, backend, nodes_of, n_queries, limit, themselves, n_jobs, progress)


def _in_chunks(
    library: Library,
    backend: AnyBackend,
    nodes_of: Callable[[slice], tuple[NodeEmbeddings, Floats | None]],
    n_queries: int,
    limit: Limit,
    excluded: Ints | None,
    n_jobs: int | None,
    progress: Progress,
    unknown: UnknownLabels | None = None,
) -> tuple[list[Neighbors], int]:
    found: dict[int, list[Neighbors]] = {}
    n_solved: list[int] = []
    lock = threading.Lock()
    if n_queries:
        library.prepared_for(backend)
    limit = limit._replace(rounding=library.rounding)

    def compute(rows: slice) -> None:
        nodes, pivots = nodes_of(rows)
        there = None if excluded is None else excluded[rows]
        search = _neighbors_on_device if backend.name == "cuda" else _neighbors
        neighbors, solved = search(library, backend, nodes, pivots, limit, there, n_jobs)
        n_unknown = 0
        if unknown is not None:
            nearest = np.array([next(iter(one.distances), np.inf) for one in neighbors])
            n_unknown = library.n_unknown(nodes, nearest)
        with lock:
            found[rows.start] = neighbors
            n_solved.append(solved)
            if unknown is not None:
                unknown.count(len(neighbors), n_unknown)

    work = np.ones(n_queries, np.int64)
    if backend.name == "cuda":
        most = min(_CHUNK_ON_DEVICE, pairs_at_a_time() // max(1, len(library)))
        chunking = Chunking(work, max(1, most), None, release_memory)
    else:
        n_threads = min(number_of_threads(n_jobs), max(1, n_queries))
        largest = _CHUNK_LABELLED if library.has_closed_form else _CHUNK_QUERIES
        most = min(largest, _CHUNK_PAIRS // max(1, len(library)), -(-n_queries // n_threads))
        chunking = Chunking(work, max(1, most), n_jobs, limit_blas=True)
    in_chunks(compute, chunking, backend.name, progress)
    return [one for start in sorted(found) for one in found[start]], sum(n_solved)


def _neighbors(
    library: Library,
    backend: AnyBackend,
    nodes: NodeEmbeddings,
    pivots: Floats | None,
    limit: Limit,
    excluded: Ints | None,
    n_jobs: int | None,
) -> tuple[list[Neighbors], int]:
    """Return neighbours, and how many pairs were solved; pivots are computed if not known.

    ``n_jobs`` does not concern the threads of the CPU, each of which has queries of its own.
    """
    if library.has_closed_form:
        return neighbors_by_labels(library, backend, nodes, limit, excluded)
    prepared = library.prepared_for(backend)
    if prepared.is_quick:
        distances = np.empty((len(nodes), len(library)))
        backend.distances(backend.take(nodes), prepared.graphs, None, distances)
        n_pairs = distances.size - (0 if excluded is None else len(nodes))
        return nearest_in_rows(distances, limit, excluded), n_pairs
    if pivots is None:
        pivots = library.distances_to_pivots(backend, nodes, n_jobs=None)
    bounds = library.lower_bounds(backend, nodes, pivots)
    bounds[nodes.node_counts == 0] = np.inf
    queries = backend.prepare(nodes, library.ground)
    return solve_in_order(backend, queries, prepared.graphs, bounds, limit, excluded)


def _neighbors_on_device(
    library: Library,
    backend: AnyBackend,
    nodes: NodeEmbeddings,
    pivots: Floats | None,
    limit: Limit,
    excluded: Ints | None,
    n_jobs: int | None,
) -> tuple[list[Neighbors], int]:
    """Return the same on a GPU, where the tables of all pairs stay."""
    import cupy

    graphs = library.prepared_for(backend).graphs
    if isinstance(graphs, TreeOnDevice):
        there = backend.take(nodes)
        assert isinstance(there, DeviceNodes)
        rows = distances_on_device(there, graphs)
        n_pairs = rows.size - (0 if excluded is None else len(nodes))
        return nearest_by_distances(cupy, rows, limit, excluded), n_pairs
    if pivots is None:
        pivots = library.distances_to_pivots(backend, nodes, n_jobs=None)
    bounds = library.lower_bounds_on_device(nodes, pivots, n_jobs)
    bounds[cupy.asarray(np.flatnonzero(nodes.node_counts == 0))] = np.inf
    queries = backend.prepare(nodes, library.ground)

    def solve(rows: Ints, columns: Ints) -> Floats:
        return backend.distances_of_pairs(queries, graphs, rows, columns)

    return nearest_by_bounds(cupy, bounds, limit, excluded, solve)
