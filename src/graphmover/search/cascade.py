"""Candidates in the order of their lower bounds, solved until no other can be nearer.

Round by round, each query takes its next candidates, those with the least bounds. Once the nearest
so far are known, a candidate whose bound exceeds the farthest of them needs no solving, nor does
any after it. Candidates that tie with the farthest are solved, so that ties are broken by index.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.backends import AnyBackend

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Candidates that a query takes in its first round, as multiples of the neighbours wanted, and at
#: least; and in further rounds.
_FIRST_MULTIPLE = 2
_FIRST = 16
_NEXT = 96

#: Bounds are compared with a slack: rounding never excludes a graph.
_SLACK = 1e-9


class Limit(NamedTuple):
    """Which neighbours are wanted: a number of the nearest, or all within a radius."""

    n_neighbors: int | None
    radius: float = np.inf


class Neighbors(NamedTuple):
    """The neighbours of one graph, nearest first, ties by index."""

    distances: Floats
    indices: Ints


def nearest_of(distances: Floats, indices: Ints, limit: Limit) -> Neighbors:
    """Choose the neighbours among graphs whose distances are known; indices increase."""
    if limit.n_neighbors is None:
        kept = np.flatnonzero(distances <= limit.radius)
    elif limit.n_neighbors < len(distances):
        farthest = np.partition(distances, limit.n_neighbors - 1)[limit.n_neighbors - 1]
        kept = np.flatnonzero(distances <= farthest)
    else:
        kept = np.arange(len(distances))
    kept = kept[np.argsort(distances[kept], kind="stable")][: limit.n_neighbors]
    return Neighbors(distances[kept], indices[kept])


class _Query:
    """The search for the neighbours of one graph."""

    def __init__(self, bounds: Floats, limit: Limit, excluded: int | None) -> None:
        if excluded is not None:
            bounds[excluded] = np.nan  # less than nothing, and sorted last
        self._bounds, self._limit = bounds, limit
        self._n = len(bounds) - (excluded is not None)
        self._is_first = limit.n_neighbors is not None
        self._order: Ints | None = None  # candidates after the first, by bound
        self._place = 0
        self._indices: Ints = np.empty(0, np.int64)
        self._distances: Floats = np.empty(0)

    @property
    def reach(self) -> float:
        """Beyond this distance nothing is wanted."""
        wanted = self._limit.n_neighbors
        if wanted is None:
            farthest = self._limit.radius
        elif len(self._distances) < wanted:
            return np.inf
        else:
            farthest = float(np.partition(self._distances, wanted - 1)[wanted - 1])
        return farthest * (1 + _SLACK)

    def next_candidates(self) -> Ints:
        """Return the next candidates, none of which was returned before."""
        if self._is_first:
            self._is_first = False
            first = max(_FIRST, _FIRST_MULTIPLE * (self._limit.n_neighbors or 0))
            if first < self._n:
                chosen = np.argpartition(self._bounds, first)[:first]
                self._bounds[chosen] = np.nan
                return chosen
        reach = self.reach
        if self._order is None:
            left = np.flatnonzero(self._bounds <= reach)
            self._order = left[np.argsort(self._bounds[left], kind="stable")]
        chosen = self._order[self._place : self._place + _NEXT]
        self._place += _NEXT
        return chosen[self._bounds[chosen] <= reach]

    def add(self, indices: Ints, distances: Floats) -> None:
        """Take note of distances; those that were not solved are infinite."""
        self._indices = np.concatenate([self._indices, indices])
        self._distances = np.concatenate([self._distances, distances])

    def result(self) -> Neighbors:
        """Return the neighbours."""
        order = np.argsort(self._indices)
        return nearest_of(self._distances[order], self._indices[order], self._limit)


def solve_in_order(
    backend: AnyBackend,
    queries: object,
    graphs: object,
    bounds: Floats,
    limit: Limit,
    excluded: Ints | None,
) -> tuple[list[Neighbors], int]:
    """Return the neighbours of some graphs, and how many pairs were solved.

    Parameters
    ----------
    queries, graphs
        Prepared by the back end.
    bounds : ndarray of shape (queries, graphs)
        Lower bounds, which are overwritten.
    excluded : ndarray of shape (queries,) or None
        A graph for each query that is not its neighbour: the query itself.
    """
    running = {
        number: _Query(row, limit, None if excluded is None else int(excluded[number]))
        for number, row in enumerate(bounds)
    }
    done: dict[int, Neighbors] = {}
    n_solved = 0
    while running:
        chosen = {number: query.next_candidates() for number, query in running.items()}
        for number in [number for number, candidates in chosen.items() if not len(candidates)]:
            done[number] = running.pop(number).result()
            del chosen[number]
        if not chosen:
            break
        counts = [len(candidates) for candidates in chosen.values()]
        rows = np.repeat(np.array(list(chosen), np.int64), counts)
        columns = np.concatenate(list(chosen.values()))
        most = np.repeat([running[number].reach for number in chosen], counts)
        out = np.empty(len(rows))
        n_solved += backend.pairs(queries, graphs, rows, columns, most, out)
        parts = np.split(out, np.cumsum(counts)[:-1])
        for (number, candidates), distances in zip(chosen.items(), parts, strict=True):
            running[number].add(candidates, distances)
    return [done[number] for number in range(len(bounds))], n_solved
