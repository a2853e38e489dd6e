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


def fitted_index(index: Any, vectors: Floats, n_jobs: int | None) -> Any:
    """Return a fitted clone of an index of vectors; None is scikit-learn's."""
    from sklearn.neighbors import NearestNeighbors

    chosen = NearestNeighbors(n_jobs=n_jobs) if index is None else clone(index)
    return chosen.fit(vectors)


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
