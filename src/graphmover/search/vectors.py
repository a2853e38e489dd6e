"""Approximate neighbours: those of vectors, found by any index of vectors, and their recall."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from graphmover.search.cascade import Limit, nearest_of
from graphmover.search.library import Library
from graphmover.search.queries import neighbors_within

Floats = NDArray[np.float64]

#: Random graphs of the default embedding.
N_VECTORS = 256

#: How many graphs the recall is measured on.
_RECALL_GRAPHS = 100


def fitted_index(index: Any, vectors: Floats, n_jobs: int | None) -> Any:
    """Return a fitted clone of an index of vectors; None is scikit-learn's."""
    from sklearn.neighbors import NearestNeighbors

    chosen = NearestNeighbors(n_jobs=n_jobs) if index is None else clone(index)
    return chosen.fit(vectors)


def neighbors_of_vectors(index: Any, vectors: Floats | None, limit: Limit) -> tuple[Any, Any]:
    """Return distances and indices as an index of vectors finds them; None: those of its own."""
    if limit.n_neighbors is None:
        distances, indices = index.radius_neighbors(vectors, limit.radius)
    else:
        distances, indices = index.kneighbors(vectors, limit.n_neighbors)
    return distances, indices


def put_empty_graphs_last(
    found: tuple[Any, Any],
    empty_queries: NDArray[np.bool_],
    empty_graphs: NDArray[np.bool_],
    limit: Limit,
    *,
    itself: bool,
) -> None:
    """Set distances from and to graphs without nodes to infinity, in place: vectors are zeros.

    ``itself`` says that the queries are the graphs, none of which is its own neighbour.
    """
    distances, indices = found
    is_wrong = empty_queries.copy()
    if empty_graphs.any():
        is_wrong |= np.array([empty_graphs[row].any() for row in indices], bool)
    for query in np.flatnonzero(is_wrong).tolist():
        order = np.argsort(indices[query])
        graphs, far = indices[query][order], distances[query][order]
        if empty_queries[query]:
            graphs = np.delete(np.arange(len(empty_graphs)), [query] if itself else [])
            far = np.full(len(graphs), np.inf)
        far = np.where(empty_graphs[graphs], np.inf, far)
        distances[query], indices[query] = nearest_of(far, graphs, limit)


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
    by_vectors = index.kneighbors(vectors[chosen], wanted + 1, return_distance=False)
    shares = []
    for itself, one, rough in zip(chosen, exact, by_vectors, strict=True):
        others = rough[rough != itself][:wanted]
        shares.append(np.isin(one.indices, others).mean())
    return float(np.mean(shares))
