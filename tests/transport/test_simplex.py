"""The network simplex alone, also on problems that paths solve, and its spanning tree."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import graphmover as gm
from graphmover._utils.jit import njit
from graphmover.transport.cpu import engine, simplex, spanning_tree
from graphmover.transport.cpu.memory import working_memory
from graphmover.transport.cpu.problem import Pair, Sinks, in_blocks, lay_out_sinks

LANES = (0,) * 32


@njit(nogil=True)
def solve(lanes, memory, ground, sources, sinks):
    """The distance, and the spanning tree at the end."""
    n, m = len(sources.points), len(sinks.points)
    stride = in_blocks(lanes, m)
    laid_out = Sinks(np.empty(sinks.points.shape[1] * stride), np.empty(0, np.int64), stride, m)
    lay_out_sinks(lanes, sinks, 0, laid_out)
    state = simplex._state(lanes, memory, n, m)
    pair = Pair(sources, 0, sinks, 0)
    found = simplex._distance(lanes, ground, pair, laid_out, state)
    tree = state.parent, state.flow, state.preorder, state.place, state.size, state.first
    return found, tree


def by_simplex(x, y):
    sides = [engine.prepare_one(s.points, np.asarray(s.masses, np.int64), None) for s in (x, y)]
    n, m = len(x.points), len(y.points)
    memory = working_memory(simplex.TABLES, n, -(-m // 32) * 32)
    return solve(LANES, memory, engine.rule_of(None, x.n_dimensions), *sides)


def graph_of(points, masses):
    return gm.NodeEmbeddings(np.asarray(points, float), masses, [0, len(points)])


def check_tree(n, m, tree):
    parent, flow, preorder, place, size, first = tree
    preorder = preorder[:m]  # padding for vectors follows
    parent = np.where(parent == spanning_tree.NONE, -1, parent.astype(np.int64))
    assert sorted(preorder) == list(range(n, n + m))
    assert (place[preorder] == np.arange(m)).all()
    root = preorder[0]
    assert np.flatnonzero(parent < 0).tolist() == [root]
    assert (parent[:n] >= n).all()
    assert (np.delete(parent[n:], root - n) < n).all()
    below = [set() for _ in range(n + m)]
    for sink in range(n, n + m):
        node = sink
        for _ in range(2 * m):
            below[node].add(sink)
            if node == root:
                break
            node = parent[node]
        assert node == root
    for node in range(n + m):
        assert size[node] == len(below[node])
        if below[node]:
            begin = place[first[node]] if node < n else place[node]
            assert set(preorder[begin : begin + size[node]]) == below[node]
    sources, sinks = np.arange(n), np.delete(np.arange(n, n + m), root - n)
    assert (flow[sources] >= 0).all()
    assert (flow[sinks] > 0).all()  # strongly feasible


@pytest.mark.parametrize("most_mass", [1, 5, 1000])
@pytest.mark.parametrize("n, m", [(1, 1), (7, 1), (5, 5), (40, 33), (90, 90), (700, 20)])
def test_random_problems_equal_the_linear_programme(n, m, most_mass):
    rng = np.random.default_rng(n + m + most_mass)
    x, y = (
        graph_of(rng.random((size, 3)), rng.integers(1, most_mass + 1, size)) for size in (n, m)
    )
    found, tree = by_simplex(x, y)
    assert found == pytest.approx(naive.earth_movers_distance(x, y), rel=1e-9)
    check_tree(n, m, tree)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.integers(0, 40),
    st.sampled_from([1, 3, 30]),
    st.sampled_from([1, 2, 50]),
)
def test_points_that_coincide(seed, m, more, cells, most_mass):
    """Equal costs and partial sums of masses: pivots that move nothing."""
    rng = np.random.default_rng(seed)
    x, y = (
        graph_of(rng.integers(0, cells, (size, 1)), rng.integers(1, most_mass + 1, size))
        for size in (m + more, m)
    )
    found, tree = by_simplex(x, y)
    check_tree(m + more, m, tree)
    on_a_line = np.unique(np.concatenate([x.points, y.points]))
    shares = [
        np.array([graph.weights[graph.points[:, 0] <= t].sum() for t in on_a_line[:-1]])
        for graph in (x, y)
    ]
    expected = np.abs(shares[0] - shares[1]) @ np.diff(on_a_line)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("far", [0.0, 1e3, 1e7])
@pytest.mark.parametrize("n", [50, 200])
def test_costs_that_differ_only_beyond_32_bits(n, far):
    """Far clusters: rough costs are all alike, and exact ones decide."""
    rng = np.random.default_rng(n)
    x, y = (graph_of(rng.random((n, 2)), np.ones(n, int)) for _ in range(2))
    y = graph_of(y.points + far, y.masses)
    found, tree = by_simplex(x, y)
    check_tree(n, n, tree)
    costs = cdist(x.points, y.points)
    expected = costs[linear_sum_assignment(costs)].mean()
    assert found == pytest.approx(expected, rel=1e-12)
