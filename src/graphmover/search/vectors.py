"""Approximate neighbours: those of vectors, found by any index of vectors, and their recall."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from graphmover.search.cascade import Limit
from graphmover.search.library import Library
from graphmover.search.queries import neighbors_within

Floats = NDArray[np.float64]

#: Random graphs of the default embedding.
N_VECTORS = 256

#: How many graphs the recall is measured on.
_RECALL_GRAPHS = 100


def fitted_index(
    index: Any, vectors: Floats, empty_graphs: NDArray[np.bool_], n_jobs: int | None
) -> Any:
    """Return a clone of an index, fitted to the vectors of graphs that have nodes, if any has.

    None is scikit-learn's index.
    """
    from sklearn.neighbors import NearestNeighbors

    chosen = NearestNeighbors(n_jobs=n_jobs) if index is None else clone(index)
    is_mixed = empty_graphs.any() and not empty_graphs.all()
    return chosen.fit(vectors[~empty_graphs] if is_mixed else vectors)


def neighbors_of_vectors(
    index: Any,
    vectors: Floats | None,
    empty_queries: NDArray[np.bool_],
    empty_graphs: NDArray[np.bool_],
    limit: Limit,
) -> tuple[Any, Any]:
    """Return distances and indices as an index of vectors finds them; None: those of its own.

    The index knows only graphs with nodes. From and to the others, distances are infinite.
    """
    n_others = int((~empty_graphs).sum()) - (vectors is None)
    if limit.n_neighbors is None:
        find, wanted = index.radius_neighbors, limit.radius
    else:
        find, wanted = index.kneighbors, min(limit.n_neighbors, n_others)
    found: Any = ((), ())
    if not empty_queries.all() and n_others > 0:
        asked = None if vectors is None else vectors[~empty_queries]
        found = find(asked, wanted)
    is_any_empty = empty_queries.any() or empty_graphs.any()
    if limit.n_neighbors is not None and len(found[0]) and not is_any_empty:
        return found[0], found[1]
    return _with_empty_graphs(found, empty_queries, empty_graphs, limit, itself=vectors is None)


def _with_empty_graphs(
    found: tuple[Any, Any],
    empty_queries: NDArray[np.bool_],
    empty_graphs: NDArray[np.bool_],
    limit: Limit,
    *,
    itself: bool,
) -> tuple[Any, Any]:
    """Return what was found among graphs with nodes as neighbours among all graphs.

    ``itself`` says that the queries are the graphs, none of which is its own neighbour.
    """
    with_nodes, without = np.flatnonzero(~empty_graphs), np.flatnonzero(empty_graphs)
    everything = np.arange(len(empty_graphs))
    rows = zip(*found, strict=True)
    nothing = np.empty(0), np.empty(0, np.int64)
    distances, indices = [], []
    for query, is_empty in enumerate(empty_queries.tolist()):
        if is_empty:
            near, graphs = nothing
            far = np.delete(everything, [query] if itself else [])
        else:
            near, graphs = next(rows, nothing)
            far = without
        if limit.n_neighbors is not None:
            far = far[: limit.n_neighbors - len(graphs)]
        else:
            order = np.lexsort((graphs, near))
            near, graphs = near[order], graphs[order]
            far = far if limit.radius == np.inf else far[:0]
        distances.append(np.concatenate([near, np.full(len(far), np.inf)]))
        indices.append(np.concatenate([with_nodes[graphs], far]))
    if limit.n_neighbors is not None:
        shape = len(empty_queries), limit.n_neighbors
        return np.reshape(distances, shape), np.reshape(indices, shape)
    return array_of_arrays(distances), array_of_arrays(indices)


def measured_recall(
    index: Any, vectors: Floats, library: Library, n_neighbors: int, **settings: Any
) -> float:
    """Return the share of the exact neighbours that an index finds, of some graphs of a library."""
    n_graphs = len(library)
    wanted = min(n_neighbors, n_graphs - 1)
    if not wanted:
        return 1.0
    chosen = np.linspace(0, n_graphs - 1, min(_RECALL_GRAPHS, n_graphs)).astype(np.int64)
    exact, _ = neighbors_within(library, Limit(wanted), chosen, **settings)
    empty = library.nodes.node_counts == 0
    _, by_vectors = neighbors_of_vectors(
        index, vectors[chosen], empty[chosen], empty, Limit(wanted + 1)
    )
    shares = []
    for itself, one, rough in zip(chosen, exact, by_vectors, strict=True):
        others = rough[rough != itself][:wanted]
        shares.append(np.isin(one.indices, others).mean())
    return float(np.mean(shares))


def array_of_arrays(parts: list[NDArray[Any]]) -> NDArray[np.object_]:
    """Return arrays of any lengths as the elements of one."""
    array = np.empty(len(parts), dtype=object)
    array[:] = parts
    return array
