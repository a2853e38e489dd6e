"""Counts in place of shares, in every solver of the CPU, against linear programmes."""

import itertools

import naive
import numpy as np
import pytest
from graph_zoo import random_nodes
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmover as gm
from graphmover.transport import GroundDistance, TreeDistance

GROUND = GroundDistance(0.6, 0.25, unmatched=1.5)


def graph_of(rng, size, *, most_mass=3, columns=2):
    labels = rng.integers(0, 2, (size, columns))
    masses = rng.integers(1, most_mass + 1, size)
    return gm.NodeEmbeddings(rng.random((size, 3)), masses, [0, size], labels)


def assert_equal_to_linear_programme(x, y, ground=GROUND):
    distances = gm.earth_movers_distance(x, y, ground=ground)
    for i, j in itertools.product(range(len(x)), range(len(y))):
        expected = naive.partial_distance(x[i], y[j], ground)
        assert distances[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("most_x, most_y", [(1, 1), (9, 1), (1, 9), (3, 3)])
@pytest.mark.parametrize(
    "n, m",
    [
        (20, 6),
        (9, 8),
        (8, 8),
        (16, 16),
        (40, 30),
        (33, 32),
        (32, 32),
        (50, 40),
        (40, 40),
        (90, 36),
        (80, 70),
    ],
)
def test_every_solver_equals_the_linear_programme(n, m, most_x, most_y):
    """With a further source or sink on either side, also where it needs one lane more."""
    rng = np.random.default_rng(n + m + most_x)
    x, y = graph_of(rng, n, most_mass=most_x), graph_of(rng, m, most_mass=most_y)
    assert_equal_to_linear_programme(x, y)
    assert_equal_to_linear_programme(y, x)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 12), st.sampled_from([0, 1, 3])
)
def test_many_graphs_at_once_equal_the_linear_programme(seed, largest_x, largest_y, grid):
    """Equal points, equal costs and equal masses among them."""
    rng = np.random.default_rng(seed)
    x = random_nodes(rng, 3, largest_x, grid=grid, labels=2)
    y = random_nodes(rng, 3, largest_y, grid=grid, labels=2)
    assert_equal_to_linear_programme(x, y)


def assert_plan_is_optimal(x, y, ground):
    plan, cost = gm.transport_plan(x, y, ground=ground)
    general = ground.by_columns(x.labels.shape[1]) if isinstance(ground, TreeDistance) else ground
    distance = gm.earth_movers_distance(x, y, ground=ground)[0, 0]
    assert cost == pytest.approx(distance, rel=1e-9, abs=1e-12)
    mass = y.masses.sum()
    assert (plan >= 0).all()
    assert (plan.sum(axis=1) * mass <= x.masses + 1e-9).all()
    assert (plan.sum(axis=0) * mass <= y.masses + 1e-9).all()
    assert plan.sum() * mass == pytest.approx(min(x.masses.sum(), mass), rel=1e-9)
    paid = (plan * naive.labelled_costs(x, y, general)).sum()
    assert paid + (1 - plan.sum()) * general.unmatched == pytest.approx(cost, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("most_x, most_y", [(1, 1), (9, 1), (1, 9)])
@pytest.mark.parametrize("n, m", [(1, 1), (6, 6), (20, 6), (31, 32), (32, 32), (70, 64), (130, 90)])
def test_plans_by_counts_are_optimal(n, m, most_x, most_y):
    rng = np.random.default_rng(n + m + most_x)
    x, y = graph_of(rng, n, most_mass=most_x), graph_of(rng, m, most_mass=most_y)
    for ground in (GROUND, GROUND._replace(unmatched=0.0), GROUND._replace(unmatched=40.0)):
        assert_plan_is_optimal(x, y, ground)
        assert_plan_is_optimal(y, x, ground)


def test_plans_of_large_problems_and_of_labels_alone():
    rng = np.random.default_rng(5)
    assert_plan_is_optimal(graph_of(rng, 700), graph_of(rng, 500), GROUND)
    fine = rng.integers(0, 6, 40)
    labels = np.stack([fine // 3, fine], axis=1)
    x = gm.NodeEmbeddings(np.zeros((25, 0)), [1] * 25, [0, 25], labels[:25])
    y = gm.NodeEmbeddings(np.zeros((15, 0)), [1] * 15, [0, 15], labels[25:])
    assert_plan_is_optimal(x, y, TreeDistance(partial=True))
    assert_plan_is_optimal(y, x, TreeDistance(partial=True))


def test_many_more_sources_than_sinks():
    rng = np.random.default_rng(1)
    x, y = graph_of(rng, 700), graph_of(rng, 4)
    heavy = gm.NodeEmbeddings(y.points, y.masses * 1000, y.offsets, y.labels)
    for small in (y, heavy):
        assert_equal_to_linear_programme(x, small)
        assert_equal_to_linear_programme(small, x)


@pytest.mark.parametrize("columns", [1, 4])
def test_labels_alone_equal_the_closed_form(columns):
    rng = np.random.default_rng(columns)
    sizes = rng.integers(1, 45, 40)
    digits = rng.integers(0, 3, (sizes.sum(), columns))
    labels = np.cumsum(digits * 5 ** np.arange(columns), axis=1)
    nodes = gm.NodeEmbeddings(
        np.zeros((sizes.sum(), 0)),
        rng.integers(1, 4, sizes.sum()),
        np.concatenate([[0], np.cumsum(sizes)]),
        labels,
    )
    tree = gm.earth_movers_distance(nodes, nodes, ground=TreeDistance(partial=True))
    ground = GroundDistance(0.0, 1 / columns, unmatched=1.0)
    assert gm.earth_movers_distance(nodes, nodes, ground=ground) == pytest.approx(tree, abs=1e-12)


def test_equal_masses_are_the_same_by_shares_and_by_counts():
    rng = np.random.default_rng(3)
    x, y = (graph_of(rng, size, most_mass=1) for size in (12, 12))
    by_shares = gm.earth_movers_distance(x, y, ground=GROUND._replace(unmatched=None))
    assert gm.earth_movers_distance(x, y, ground=GROUND) == by_shares


def test_tiny_distances_are_accurate():
    """All of y is in x but for a shift of one node; the rest of x, far away, is left over."""
    rng = np.random.default_rng(4)
    for shift in (1e-6, 1e-12):
        points = rng.random((40, 3))
        moved = points[:10].copy()
        moved[0, 0] += shift
        x = gm.NodeEmbeddings(points, np.ones(40, int), [0, 40])
        y = gm.NodeEmbeddings(moved, np.ones(10, int), [0, 10])
        found = gm.earth_movers_distance(x, y, ground=GroundDistance(0.0, 0.0, unmatched=2.0))
        assert found[0, 0] == pytest.approx((moved[0, 0] - points[0, 0]) / 10, rel=1e-9)


def test_neither_threads_nor_batches_nor_numbering_change_a_bit(monkeypatch):
    from graphmover.backends import threads

    rng = np.random.default_rng(5)
    x, y = random_nodes(rng, 30, 40, labels=2), random_nodes(rng, 20, 36, labels=2)
    whole = gm.earth_movers_distance(x, y, ground=GROUND)
    with monkeypatch.context() as patch:
        patch.setattr(threads, "_CHUNK_NODES", 50)
        assert (gm.earth_movers_distance(x, y, ground=GROUND, n_jobs=2) == whole).all()
    for i, j in itertools.product((0, 17, 29), (3, 19)):
        assert gm.earth_movers_distance(x[i], y[j], ground=GROUND)[0, 0] == whole[i, j]
        order = rng.permutation(len(x[i].points))
        mixed = gm.NodeEmbeddings(
            x[i].points[order], x[i].masses[order], [0, len(order)], x[i].labels[order]
        )
        assert gm.earth_movers_distance(mixed, y[j], ground=GROUND)[0, 0] == whole[i, j]


def test_a_graph_without_nodes_is_infinitely_far():
    nodes = gm.NodeEmbeddings([[0.5]], [2], [0, 0, 1, 1])
    distances = gm.earth_movers_distance(nodes, nodes, ground=GROUND)
    assert distances[1, 1] == 0
    assert np.isinf(np.delete(distances, 4)).all()
    assert gm.earth_movers_distance(nodes[:0], nodes, ground=GROUND).shape == (0, 3)


def test_what_cannot_be_counted_is_named():
    nodes = gm.NodeEmbeddings([[0.0], [1.0]], [0.5, 0.25], [0, 2], labels=[1, 2])
    whole = gm.NodeEmbeddings([[0.0], [1.0]], [1, 2], [0, 2], labels=[1, 2])
    for x, y in ((nodes, whole), (whole, nodes)):
        with pytest.raises(ValueError, match="partial transport counts masses, but those of a gr"):
            gm.earth_movers_distance(x, y, ground=GROUND)
    alone = [s._trusted(s.points[:, :0], s.masses, s.offsets, s.labels) for s in (nodes, whole)]
    for x, y in (alone, alone[::-1]):
        with pytest.raises(ValueError, match="partial transport counts masses"):
            gm.earth_movers_distance(x, y, ground=TreeDistance(partial=True))
    with pytest.raises(ValueError, match="partial transport counts masses"):
        gm.transport_plan(nodes, whole, ground=GROUND)
    with pytest.raises(ValueError, match=r"ground: unmatched must be between 0 and 1e150, got -1"):
        gm.earth_movers_distance(whole, whole, ground=GroundDistance(0.0, 0.0, -1))
