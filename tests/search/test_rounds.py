"""Searches on a device: candidates in rounds, with NumPy in the place of CuPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmover.search import rounds
from graphmover.search.cascade import Limit


def nearest(distances, limit, excluded):
    found = []
    for number, row in enumerate(distances):
        order = np.argsort(row, kind="stable")
        if excluded is not None:
            order = order[order != excluded[number]]
        kept = order[row[order] <= limit.radius][: limit.n_neighbors]
        found.append((row[kept], kept))
    return found


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, (distances, indices) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.indices, indices)
        np.testing.assert_array_equal(one.distances, distances)


def table(rng, n_queries, n_graphs, n_values, is_empty):
    """Distances, many of them equal, and bounds on them."""
    distances = rng.integers(1, n_values + 1, (n_queries, n_graphs)) / n_values
    bounds = distances * rng.random((n_queries, n_graphs)).round(1) - 1e-9
    empty = rng.random(n_graphs) < is_empty
    distances[:, empty] = bounds[:, empty] = np.inf
    return distances, bounds


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n_graphs=st.integers(12, 3000),
    n_values=st.sampled_from([1, 3, 50, 10**6]),
    limit=st.sampled_from([Limit(1), Limit(3), Limit(11), Limit(None, 0.2), Limit(None, np.inf)]),
    has_excluded=st.booleans(),
    is_empty=st.sampled_from([0.0, 0.1, 0.99]),
)
def test_rounds_find_the_nearest_of_all(seed, n_graphs, n_values, limit, has_excluded, is_empty):
    rng = np.random.default_rng(seed)
    distances, bounds = table(rng, 7, n_graphs, n_values, is_empty)
    excluded = rng.integers(n_graphs, size=7) if has_excluded else None
    expected = nearest(distances, limit, excluded)
    solved = np.zeros(distances.shape, int)

    def solve(rows, columns):
        assert (np.diff(rows) >= 0).all()
        np.add.at(solved, (rows, columns), 1)
        return distances[rows, columns]

    found, n_solved = rounds.nearest_by_bounds(np, bounds.copy(), limit, excluded, solve)
    assert_same(found, expected)
    assert solved.max(initial=0) <= 1
    assert n_solved == solved[np.isfinite(distances)].sum()
    assert_same(rounds.nearest_by_distances(np, distances, limit, excluded), expected)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), limit=st.sampled_from([Limit(1), Limit(5), Limit(None, 0.51)]))
def test_ties_to_rounding_are_broken_by_index(seed, limit):
    rng = np.random.default_rng(seed)
    distances, bounds = table(rng, 5, 300, 40, 0.1)
    noisy = distances + 1e-14 * rng.random(distances.shape)
    found, _ = rounds.nearest_by_bounds(
        np, bounds, limit._replace(rounding=1e-12), None, lambda x, y: noisy[x, y]
    )
    for one, (values, indices) in zip(found, nearest(distances, limit, None), strict=True):
        np.testing.assert_array_equal(one.indices, indices)
        np.testing.assert_allclose(one.distances, values, atol=1e-13)
        assert len(np.unique(one.distances)) == len(np.unique(values))


def test_good_bounds_spare_most_pairs():
    rng = np.random.default_rng(0)
    distances = rng.random((20, 40_000))
    calls = []

    def solve(rows, columns):
        calls.append(len(rows))
        return distances[rows, columns]

    found, n_solved = rounds.nearest_by_bounds(np, 0.9 * distances, Limit(10), None, solve)
    assert_same(found, nearest(distances, Limit(10), None))
    assert n_solved == sum(calls) < 20 * 100
    assert len(calls) <= 3


@pytest.mark.parametrize("n_columns", [5, 600, 5000])
def test_a_number_that_enough_values_do_not_exceed(n_columns):
    values = np.random.default_rng(0).random((4, n_columns))
    least = rounds._at_least(np, values, 6)
    if n_columns < 6:
        assert np.isinf(least).all()
    else:
        counts = (values <= least[:, np.newaxis]).sum(axis=1)
        assert ((counts >= 6) & (counts <= 9)).all()
