"""The nearest of all graphs, where all distances are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.jit import JIT, njit
from graphmover.search.cascade import Limit, Neighbors, nearest_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def nearest_in_rows(distances: Floats, limit: Limit, excluded: Ints | None) -> list[Neighbors]:
    """Return the neighbours of each query, given a row of its distances to all graphs.

    ``excluded`` has a graph for each query that is not its neighbour, or -1.
    """
    n_graphs = distances.shape[1]
    themselves = np.full(len(distances), -1) if excluded is None else excluded
    if limit.n_neighbors is None:
        every = np.arange(n_graphs)
        kept = [every[every != itself] for itself in themselves]
        return [
            nearest_of(row[some], some, limit) for row, some in zip(distances, kept, strict=True)
        ]
    found = np.empty((len(distances), limit.n_neighbors))
    indices = np.empty(found.shape, np.int64)
    _select(distances, themselves, found, indices)
    if limit.rounding is None:
        return [Neighbors(*one) for one in zip(found, indices, strict=True)]
    neighbors = []
    for row, most, itself in zip(distances, limit.beyond(found[:, -1]), themselves, strict=True):
        near = np.flatnonzero(row <= most)
        near = near[near != itself]
        neighbors.append(nearest_of(row[near], near, limit))
    return neighbors


@njit(**JIT)
def _select(rows, excluded, distances, indices):  # type: ignore[no-untyped-def]
    """Keep the least of each row sorted; few of those that are looked at get in."""
    k = distances.shape[1]
    for query in range(len(rows)):
        best, where = distances[query], indices[query]
        count = 0
        for graph in range(rows.shape[1]):
            distance = rows[query, graph]
            if (count == k and distance >= best[k - 1]) or graph == excluded[query]:
                continue
            place = min(count, k - 1)
            while place and best[place - 1] > distance:
                best[place], where[place] = best[place - 1], where[place - 1]
                place -= 1
            best[place], where[place] = distance, graph
            count = min(count + 1, k)
