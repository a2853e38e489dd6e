"""Problems on which augmenting paths take long: they give up, and the network simplex takes over.

Points on lines, circles and in far clusters, where sources are about equally far from every sink.
"""

import itertools

import naive
import numpy as np
import pytest

import graphmover as gm
from graphmover.transport.cpu import engine, few_sinks, many_sinks
from graphmover.transport.cpu.memory import working_memory
from graphmover.transport.cpu.solver import Pairs

KINDS = ("crossing lines", "skew lines", "line and plane", "linked circles", "grid lines")


def points(rng, kind, n, m):
    """Sources and sinks in three dimensions."""
    x, y = np.zeros((n, 3)), np.zeros((m, 3))
    x[:, 0], y[:, 1] = rng.random(n) - 0.5, rng.random(m) - 0.5
    if kind == "skew lines":
        y[:, 2] = 0.3
    elif kind == "line and plane":
        y[:, 2] = rng.random(m) - 0.5
    elif kind == "linked circles":
        there, here = 2 * np.pi * rng.random(n), 2 * np.pi * rng.random(m)
        x = np.column_stack([np.cos(there), np.sin(there), np.zeros(n)])
        y = np.column_stack([1 + np.cos(here), np.zeros(m), np.sin(here)])
    elif kind == "grid lines":  # with equal costs
        x[:, 0], y[:, 1] = rng.permutation(2 * n)[:n] - n, rng.permutation(2 * m)[:m] - m
    elif kind == "cube":
        x, y = rng.random((n, 3)), rng.random((m, 3))
    return x, y


def problem(rng, kind, n, m, most_mass=1000):
    return tuple(
        gm.NodeEmbeddings(p, rng.integers(1, most_mass + 1, len(p)), [0, len(p)])
        for p in points(rng, kind, n, m)
    )


def by_paths(x, y):
    """The distance that augmenting paths find; NaN if they give up."""
    sides = [engine.prepare(s.points, s.masses, s.offsets, None) for s in (x, y)]
    solver, width = (few_sinks, 64) if len(y.points) <= 64 else (many_sinks, 32)
    pairs, out = Pairs(np.array([0]), np.array([len(x.points) + 1]), False), np.empty((1, 1))
    ground = engine.rule_of(None, x.n_dimensions)
    memory = working_memory(solver.TABLES, len(x.points), -(-len(y.points) // width) * width)
    solver.distances((0,) * width, memory, pairs, ground, *sides, False, out)
    return out[0, 0]


@pytest.mark.parametrize("n, m", [(75, 30), (1000, 30), (1000, 64)])
def test_paths_give_up_on_lines_and_not_in_a_cube(n, m):
    rng = np.random.default_rng(n + m)
    for kind in KINDS:
        assert np.isnan(by_paths(*problem(rng, kind, n, m))), kind
    x, y = problem(rng, "cube", n, m, most_mass=4)
    assert by_paths(x, y) == gm.earth_movers_distance(x, y)[0, 0]


@pytest.mark.parametrize("n, m", [(100, 100), (300, 100)])
def test_paths_with_many_sinks_give_up_on_lines_and_not_in_a_cube(n, m):
    rng = np.random.default_rng(n + m)
    for kind in KINDS:
        assert np.isnan(by_paths(*problem(rng, kind, n, m, most_mass=1))), kind
    x, y = problem(rng, "cube", n, m, most_mass=1)
    assert by_paths(x, y) == gm.earth_movers_distance(x, y)[0, 0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n, m", [(75, 30), (120, 40)])
def test_what_paths_give_up_is_exact(kind, n, m):
    rng = np.random.default_rng(1)
    x, y = problem(rng, kind, n, m)
    assert np.isnan(by_paths(x, y))
    expected = naive.earth_movers_distance(x, y)
    assert gm.earth_movers_distance(x, y)[0, 0] == pytest.approx(expected, rel=1e-9)
    assert gm.earth_movers_distance(y, x)[0, 0] == pytest.approx(expected, rel=1e-9)
    plan, cost = gm.transport_plan(x, y)
    assert cost == pytest.approx(expected, rel=1e-9)
    assert plan.min() >= 0
    assert plan.sum(axis=1) == pytest.approx(x.weights, abs=1e-14)
    assert plan.sum(axis=0) == pytest.approx(y.weights, abs=1e-14)
    assert (gm.transport_plan(x, y)[0] == plan).all()


def test_hard_and_easy_pairs_in_one_call():
    """Each pair has the same bits alone, on either side, and in threads."""
    rng = np.random.default_rng(2)
    kinds = ("cube", "crossing lines", "cube", "linked circles")
    graphs = [problem(rng, kind, 80, m) for kind, m in zip(kinds, (30, 20, 35, 36), strict=True)]
    x, y = (
        gm.NodeEmbeddings(
            np.concatenate([g.points for g in side]),
            np.concatenate([g.masses for g in side]),
            np.cumsum([0] + [len(g.points) for g in side]),
        )
        for side in zip(*graphs, strict=True)
    )
    distances = gm.earth_movers_distance(x, y)
    for i, j in itertools.product(range(4), range(4)):
        assert gm.earth_movers_distance(x[i], y[j])[0, 0] == distances[i, j]
    assert (distances == gm.earth_movers_distance(y, x).T).all()
    assert (gm.earth_movers_distance(x, y, n_jobs=2) == distances).all()
    assert np.isfinite(distances).all()


@pytest.mark.parametrize("kind", ["crossing lines", "linked circles", "cube"])
def test_the_simplex_solves_samples_of_many_sources(kind):
    """More arcs than paths may take: no cycle of moves between sinks gains, so it is optimal."""
    rng = np.random.default_rng(3)
    n, m = 4100, 33
    x, y = problem(rng, kind, n, m)
    plan, cost = gm.transport_plan(x, y)
    assert cost == pytest.approx(gm.earth_movers_distance(x, y)[0, 0], rel=1e-12)
    assert plan.sum(axis=1) == pytest.approx(x.weights, abs=1e-14)
    assert plan.sum(axis=0) == pytest.approx(y.weights, abs=1e-14)
    costs = np.linalg.norm(x.points[:, None] - y.points[None], axis=2)
    assert cost == pytest.approx((plan * costs).sum(), rel=1e-12)
    moves = np.array([(costs - costs[:, [j]])[plan[:, j] > 0].min(axis=0) for j in range(m)])
    for middle in range(m):
        moves = np.minimum(moves, moves[:, [middle]] + moves[[middle], :])
    assert np.diag(moves).min() > -1e-11
