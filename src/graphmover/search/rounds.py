"""The search of `cascade.py` for many queries at once, in few calls, as a GPU needs it.

The table of all bounds stays where it was computed. Each query first solves the pairs with the
least bounds. Candidates that are left are sorted by query and bound, and solved in rounds: a
multiple of the pairs in each. Pairs of all queries are solved in one call.

Functions take the array module ``xp``, NumPy or CuPy, of the tables they are given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.search.cascade import Limit, Neighbors, settled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Solve = Callable[[Ints, Ints], Floats]

#: Pairs that a query solves first, as multiples of the neighbours wanted, and at least.
_FIRST_MULTIPLE = 2
_FIRST = 32

#: Pairs that a query solves in the next round, and by how much each round is larger.
_ROUND = 128
_GROWTH = 4

#: Of this many groups of graphs for each that is wanted, the least bounds are found.
_GROUPS = 64


def nearest_by_bounds(
    xp: Any, bounds: Any, limit: Limit, excluded: Ints | None, solve: Solve
) -> tuple[list[Neighbors], int]:
    """Return the neighbours of some graphs, and how many pairs were solved.

    Parameters
    ----------
    bounds : array of xp of shape (queries, graphs)
        Lower bounds, which are overwritten.
    excluded : ndarray of shape (queries,) or None
        A graph for each query that is not its neighbour: the query itself.
    solve : callable
        Takes queries, which do not decrease, and as many graphs; returns their distances. All
        three are on the host.
    """
    found, n_solved = _Nearest(len(bounds), limit), 0

    def solved(rows: Ints, columns: Ints) -> int:
        distances = solve(rows, columns)
        found.add(rows, columns, distances)
        return int(np.isfinite(distances).sum())

    wanted = limit.n_neighbors
    most = None
    if wanted is not None:
        n_first = max(_FIRST, _FIRST_MULTIPLE * wanted)
        most = _at_least(xp, bounds, n_first + 1)
    _exclude(xp, bounds, excluded)
    if most is not None:
        rows, columns, _ = _candidates(xp, bounds, most)
        first = _ranks(rows, len(bounds)) < n_first
        rows, columns = rows[first], columns[first]
        n_solved += solved(rows, columns)
        bounds[xp.asarray(rows), xp.asarray(columns)] = xp.nan
    rows, columns, values = _candidates(xp, bounds, found.reach)
    n_round = _ROUND
    while len(rows):
        now = _ranks(rows, len(bounds)) < n_round
        n_solved += solved(rows[now], columns[now])
        left = np.flatnonzero(~now & (values <= found.reach[rows]))
        rows, columns, values = rows[left], columns[left], values[left]
        n_round *= _GROWTH
    return found.result(), n_solved


def nearest_by_distances(
    xp: Any, distances: Any, limit: Limit, excluded: Ints | None
) -> list[Neighbors]:
    """Return the neighbours of some graphs, given the distances to all, which are overwritten."""
    found, most = _Nearest(len(distances), limit), limit.radius
    if limit.n_neighbors is not None:
        most = _at_least(xp, distances, limit.n_neighbors + 1)
    _exclude(xp, distances, excluded)
    found.add(*_candidates(xp, distances, most))
    return found.result()


class _Nearest:
    """The nearest graphs so far of each query."""

    def __init__(self, n_queries: int, limit: Limit) -> None:
        self._n_queries, self._limit = n_queries, limit
        self._rows: Ints = np.empty(0, np.int64)
        self._columns: Ints = np.empty(0, np.int64)
        self._distances: Floats = np.empty(0)

    @property
    def reach(self) -> Floats:
        """Beyond this distance nothing is wanted, for each query."""
        wanted = self._limit.n_neighbors
        if wanted is None:
            return np.full(self._n_queries, self._limit.beyond(self._limit.radius))
        reach = np.full(self._n_queries, np.inf)
        firsts = np.searchsorted(self._rows, np.arange(self._n_queries))
        full = np.bincount(self._rows, minlength=self._n_queries) >= wanted
        reach[full] = self._limit.beyond(self._distances[firsts[full] + wanted - 1])
        return reach

    def add(self, rows: Ints, columns: Ints, distances: Floats) -> None:
        """Take note of distances; the nearest stay, sorted by query, distance and index.

        So does what may tie with the last of them.
        """
        near = np.flatnonzero(distances <= self.reach[rows])
        rows = np.concatenate([self._rows, rows[near]])
        columns = np.concatenate([self._columns, columns[near]])
        distances = np.concatenate([self._distances, distances[near]])
        order = np.lexsort((columns, distances, rows))
        if self._limit.n_neighbors is not None:
            is_near = _ranks(rows[order], self._n_queries) < self._limit.n_neighbors
        else:
            is_near = distances[order] <= self._limit.radius
        self._keep(rows[order], columns[order], distances[order])
        if self._limit.n_neighbors is not None and self._limit.rounding is not None:
            is_near |= self._distances <= self.reach[self._rows]
        self._keep(self._rows[is_near], self._columns[is_near], self._distances[is_near])

    def _keep(self, rows: Ints, columns: Ints, distances: Floats) -> None:
        self._rows, self._columns, self._distances = rows, columns, distances

    def result(self) -> list[Neighbors]:
        """Return the neighbours."""
        cuts = np.searchsorted(self._rows, np.arange(1, self._n_queries))
        parts = (np.split(self._distances, cuts), np.split(self._columns, cuts))
        return [settled(*one, self._limit) for one in zip(*parts, strict=True)]


def _exclude(xp: Any, table: Any, excluded: Ints | None) -> None:
    if excluded is not None:
        table[xp.arange(len(table)), xp.asarray(excluded)] = xp.nan  # within no limit


def _at_least(xp: Any, table: Any, count: int) -> Any:
    """Return a number for each row that at least ``count`` of its values do not exceed, or all.

    It is the one in this place among the least of many groups.
    """
    n_groups, n_rows = _GROUPS * count, len(table)
    n_each = table.shape[1] // n_groups
    if n_each > 1:
        table = table[:, : n_each * n_groups].reshape(n_rows, n_each, n_groups).min(axis=1)
    if count > table.shape[1]:
        return xp.full(n_rows, np.inf)
    return xp.sort(table, axis=1)[:, count - 1]


def _candidates(xp: Any, table: Any, most: Any) -> tuple[Ints, Ints, Floats]:
    """Return the rows, columns and values of a table that do not exceed the most of each row.

    They are on the host, by row and value.
    """
    within = table <= xp.broadcast_to(xp.asarray(most), (len(table),))[:, np.newaxis]
    places = xp.flatnonzero(within)
    if not len(places):
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    rows, columns = places // table.shape[1], places % table.shape[1]
    values = table.ravel()[places]
    order = xp.lexsort(xp.stack([values, rows.astype(np.float64)]))
    there = (rows[order], columns[order], values[order])
    return there if xp is np else tuple(xp.asnumpy(array) for array in there)


def _ranks(rows: Ints, n_rows: int) -> Ints:
    """Return the place of each entry among those of its row; rows do not decrease."""
    firsts = np.searchsorted(rows, np.arange(n_rows))
    ranks: Ints = np.arange(len(rows)) - firsts[rows]
    return ranks
