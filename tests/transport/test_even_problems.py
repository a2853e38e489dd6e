"""As many sinks as sources, or nearly: graph against graph, at the limits of the CPU's solvers.

Up to 64 sinks are solved in registers, more in memory where masses have few units, else by the
network simplex.
"""

import itertools

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from test_hard_problems import by_paths

import graphmover as gm
from graphmover.transport import GroundDistance


def graph_of(points, masses=None):
    masses = np.ones(len(points), int) if masses is None else masses
    return gm.NodeEmbeddings(np.asarray(points, float), masses, [0, len(points)])


def collection_of(graphs):
    return gm.NodeEmbeddings(
        np.concatenate([graph.points for graph in graphs]),
        np.concatenate([graph.masses for graph in graphs]),
        np.cumsum([0] + [len(graph.points) for graph in graphs]),
    )


def by_assignment(x, y):
    costs = cdist(x.points, y.points)
    return costs[linear_sum_assignment(costs)].mean()


def assert_plan_of(x, y, expected):
    plan, cost = gm.transport_plan(x, y)
    assert cost == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert cost == pytest.approx((plan * cdist(x.points, y.points)).sum(), rel=1e-12, abs=1e-14)
    assert plan.min() >= 0
    assert plan.sum(axis=1) == pytest.approx(x.weights, abs=1e-14)
    assert plan.sum(axis=0) == pytest.approx(y.weights, abs=1e-14)


@pytest.mark.parametrize("d", [1, 3, 40])
@pytest.mark.parametrize("n", [32, 33, 40, 63, 64, 65, 96, 97, 128, 129, 200])
def test_equal_masses_are_an_assignment(n, d):
    rng = np.random.default_rng(n + d)
    x, y = graph_of(rng.random((n, d))), graph_of(rng.random((n, d)))
    expected = by_assignment(x, y)
    assert gm.earth_movers_distance(x, y)[0, 0] == pytest.approx(expected, rel=1e-9)
    assert_plan_of(x, y, expected)


@pytest.mark.parametrize("most_mass", [2, 5, 10**6])
@pytest.mark.parametrize("n, m", [(33, 33), (64, 64), (66, 63), (66, 65), (90, 80), (130, 129)])
def test_masses_equal_the_linear_programme(n, m, most_mass):
    rng = np.random.default_rng(n + m + most_mass)
    x, y = (
        graph_of(rng.random((size, 4)), rng.integers(1, most_mass + 1, size)) for size in (n, m)
    )
    expected = naive.earth_movers_distance(x, y)
    assert gm.earth_movers_distance(x, y)[0, 0] == pytest.approx(expected, rel=1e-9)
    assert gm.earth_movers_distance(y, x)[0, 0] == pytest.approx(expected, rel=1e-9)
    assert_plan_of(x, y, expected)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(60, 72),
    st.integers(60, 72),
    st.sampled_from([2, 9, 12]),
    st.sampled_from([1, 2, 1000]),
)
def test_grids_equal_the_linear_programme(seed, n, m, cells, most_mass):
    """Points that coincide, within a graph and between graphs, and costs that are equal."""
    rng = np.random.default_rng(seed)
    x, y = (
        graph_of(rng.integers(0, cells, (size, 2)), rng.integers(1, most_mass + 1, size))
        for size in (n, m)
    )
    expected = naive.earth_movers_distance(x, y)
    distance = gm.earth_movers_distance(x, y)[0, 0]
    assert distance == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert_plan_of(x, y, expected)


@pytest.mark.parametrize("n, m", [(63, 63), (64, 63), (64, 64), (65, 64), (70, 66), (140, 135)])
def test_counts_equal_the_linear_programme(n, m):
    """A further source or sink may need one lane more than the solver's vectors have."""
    rng = np.random.default_rng(n + m)
    ground = GroundDistance(0.0, 0.0, unmatched=1.5)
    for most_mass in (1, 3):
        x, y = (
            graph_of(rng.random((size, 3)), rng.integers(1, most_mass + 1, size)) for size in (n, m)
        )
        for a, b in ((x, y), (y, x)):
            expected = naive.partial_distance(a, b, ground)
            distance = gm.earth_movers_distance(a, b, ground=ground)[0, 0]
            assert distance == pytest.approx(expected, rel=1e-9)


def test_each_pair_has_the_same_bits_alone():
    """Sizes of all solvers in one call, some on a grid: nothing is carried from pair to pair."""
    rng = np.random.default_rng(5)
    graphs = [graph_of(rng.random((n, 2))) for n in (30, 33, 64, 65, 90, 130, 140)]
    graphs += [
        graph_of(rng.permutation(400)[:n, None] // [20, 1] % 20, rng.integers(1, 4, n))
        for n in (40, 70, 135)
    ]
    whole = collection_of(graphs)
    distances = gm.earth_movers_distance(whole, whole)
    assert (distances == distances.T).all()
    assert (gm.earth_movers_distance(whole, whole, n_jobs=2) == distances).all()
    backwards = gm.earth_movers_distance(collection_of(graphs[::-1]), whole)[::-1]
    assert (backwards == distances).all()
    for i, j in itertools.product(range(len(graphs)), repeat=2):
        assert gm.earth_movers_distance(graphs[i], graphs[j])[0, 0] == distances[i, j]


def chain(n):
    """Two distant parallel lines: every source moves on by one sink, in one path over all."""
    x, y = np.zeros((n, 2)), np.full((n, 2), 50.0)
    x[:, 0], y[:, 0] = np.arange(n), np.arange(n) + 0.75
    return graph_of(x), graph_of(y)


@pytest.mark.parametrize("n", [33, 64, 65, 100, 200])
def test_one_path_over_all_sinks(n):
    x, y = chain(n)
    expected = by_assignment(x, y)
    assert gm.earth_movers_distance(x, y)[0, 0] == pytest.approx(expected, rel=1e-9)
    assert gm.earth_movers_distance(y, x)[0, 0] == pytest.approx(expected, rel=1e-9)
    assert_plan_of(x, y, expected)


def test_which_problems_paths_give_up_at_once():
    rng = np.random.default_rng(8)
    x, y = (graph_of(rng.random((65, 3)), rng.integers(1, 6, 65)) for _ in range(2))
    assert np.isnan(by_paths(x, y))
    x, y = (graph_of(rng.random((130, 3))) for _ in range(2))
    assert by_paths(x, y) == gm.earth_movers_distance(x, y)[0, 0]
    assert np.isnan(by_paths(*chain(100)))
