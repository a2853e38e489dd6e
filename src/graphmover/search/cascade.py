"""Candidates in the order of their lower bounds, solved until no other can be nearer.

Each query first solves the pairs with the least bounds. Then it takes the next candidates in the
order of these bounds, has better bounds computed, and solves those that are left in the order of
the better ones. Once the nearest so far are known, a candidate whose bound exceeds the farthest of
them needs no solving. Candidates that tie with the farthest are solved, so that ties are broken by
index. All queries of a chunk take these steps together, so that each is one call.

Ties. Two graphs with renumbered nodes are equally far from a third, but their distances are sums in
another order, and differ in the last digits. Such distances count as equal: those that follow each
other by less than rounding may add are one tie, in order of index, and have the least of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.backends import AnyBackend

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Pairs that a query solves first, as multiples of the neighbours wanted, and at least.
_FIRST_MULTIPLE = 2
_FIRST = 16

#: Candidates whose better bounds are computed at a time, and that are solved at a time.
_BOUNDED = 192
_SOLVED = 96

#: Bounds are compared with a slack: rounding never excludes a graph.
_SLACK = 1e-9


#: What rounding may add to a distance, relative to it: the engine is exact to 1e-10.
_ROUNDING = 2e-10


class Limit(NamedTuple):
    """Which neighbours are wanted: a number of the nearest, or all within a radius."""

    n_neighbors: int | None
    radius: float = np.inf
    rounding: float | None = None  # and what else it may add; None: nothing, ties are exact

    def beyond(self, farthest: Any) -> Any:
        """Return a distance that is surely farther than what ties with the farthest."""
        return farthest * (1 + _SLACK) + 4 * (self.rounding or 0.0)


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
        kept = np.flatnonzero(distances <= limit.beyond(farthest))
    else:
        kept = np.arange(len(distances))
    kept = kept[np.argsort(distances[kept], kind="stable")]
    return settled(distances[kept], indices[kept], limit)


def settled(distances: Floats, indices: Ints, limit: Limit) -> Neighbors:
    """Put ties in the order of their indices, and keep as many as are wanted.

    Distances increase, and those that are equal to the bit are in order already.
    """
    if limit.rounding is not None:
        with np.errstate(invalid="ignore"):  # infinity less infinity is not more than anything
            apart = np.diff(distances) > _ROUNDING * distances[:-1] + limit.rounding
        if not apart.all():
            tie = np.concatenate([[0], np.cumsum(apart)])
            distances = distances[np.searchsorted(tie, tie)]
            indices = indices[np.lexsort((indices, tie))]
    return Neighbors(distances[: limit.n_neighbors], indices[: limit.n_neighbors])


class _Query:
    """The search for the neighbours of one graph."""

    def __init__(self, bounds: Floats, limit: Limit, excluded: int | None) -> None:
        if excluded is not None:
            bounds[excluded] = np.nan  # less than nothing, and sorted last
        self._bounds, self._limit = bounds, limit
        self._indices: Ints = np.empty(0, np.int64)
        self._distances: Floats = np.empty(0)
        self._order: Ints | None = None  # candidates after the first, by bound
        self._place = 0
        self._pool: Ints = np.empty(0, np.int64)  # to be solved, in the order of better bounds
        self._pool_bounds: Floats = np.empty(0)
        first = max(_FIRST, _FIRST_MULTIPLE * (limit.n_neighbors or 0))
        if limit.n_neighbors is not None and first < len(bounds) - (excluded is not None):
            self._pool = np.argpartition(bounds, first)[:first]
            self._pool_bounds = np.zeros(first)
            bounds[self._pool] = np.nan

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
        return float(self._limit.beyond(farthest))

    def next_to_bound(self) -> Ints:
        """Return candidates that need better bounds: none while others are to be solved."""
        if len(self._pool):
            return self._pool[:0]
        reach = self.reach
        if self._order is None:
            left = np.flatnonzero(self._bounds <= reach)
            self._order = left[np.argsort(self._bounds[left], kind="stable")]
        chosen = self._order[self._place : self._place + _BOUNDED]
        self._place += _BOUNDED
        return chosen[self._bounds[chosen] <= reach]

    def put(self, candidates: Ints, bounds: Floats) -> None:
        """Take note of better bounds."""
        order = np.argsort(bounds, kind="stable")
        self._pool, self._pool_bounds = candidates[order], bounds[order]

    def next_to_solve(self) -> Ints:
        """Return the next candidates to solve."""
        within = int(np.searchsorted(self._pool_bounds, self.reach, side="right"))
        chosen, rest = self._pool[: min(within, _SOLVED)], slice(_SOLVED, within)
        self._pool, self._pool_bounds = self._pool[rest], self._pool_bounds[rest]
        return chosen

    def add(self, indices: Ints, distances: Floats) -> None:
        """Take note of distances."""
        self._indices = np.concatenate([self._indices, indices])
        self._distances = np.concatenate([self._distances, distances])

    @property
    def is_done(self) -> bool:
        """Whether no candidate is left."""
        nothing = self._order is not None and self._place >= len(self._order)
        return nothing and not len(self._pool)

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
    every = [
        _Query(row, limit, None if excluded is None else int(excluded[number]))
        for number, row in enumerate(bounds)
    ]
    running = dict(enumerate(every))
    n_solved = 0
    while running:
        rows, columns, parts = _joined({n: query.next_to_bound() for n, query in running.items()})
        if len(rows):
            most = np.array([every[number].reach for number in range(len(every))])[rows]
            found = backend.bounds_of_pairs(queries, graphs, rows, columns, most)
            for number, part in parts.items():
                every[number].put(columns[part], found[part])
        rows, columns, parts = _joined({n: query.next_to_solve() for n, query in running.items()})
        if len(rows):
            found = backend.distances_of_pairs(queries, graphs, rows, columns)
            n_solved += int(np.isfinite(found).sum())
            for number, part in parts.items():
                every[number].add(columns[part], found[part])
        running = {number: query for number, query in running.items() if not query.is_done}
    return [query.result() for query in every], n_solved


def _joined(chosen: dict[int, Ints]) -> tuple[Ints, Ints, dict[int, slice]]:
    """Return the pairs of queries and candidates, and where those of each query are."""
    rows = np.repeat(np.array(list(chosen), np.int64), [len(some) for some in chosen.values()])
    columns = np.concatenate([np.empty(0, np.int64), *chosen.values()])
    parts, start = {}, 0
    for number, some in chosen.items():
        if len(some):
            parts[number] = slice(start, start + len(some))
            start += len(some)
    return rows, columns, parts
