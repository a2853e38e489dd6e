"""The ground distance for any number of label columns, in every solver of the CPU."""

import itertools

import naive
import numpy as np
import pytest
from graph_zoo import random_nodes

import graphmover as gm
from graphmover.transport import GroundDistance
from graphmover.transport.cpu import engine
from graphmover.transport.side import merge_nodes

#: The paper's rule in three dimensions, labels of all Weisfeiler-Lehman depths, and both at once.
GROUNDS = [GroundDistance(3**0.5, 0.0), GroundDistance(0.0, 1 / 3), GroundDistance(0.6, 0.25)]


def with_columns(rng, nodes, columns, n_labels=2):
    """The same nodes with random labels in this many columns."""
    labels = rng.integers(0, n_labels, (len(nodes.points), columns))
    return gm.NodeEmbeddings._trusted(nodes.points, nodes.masses, nodes.offsets, labels)


def assert_equal_to_linear_programme(x, y, ground):
    distances = gm.earth_movers_distance(x, y, ground=ground)
    for i, j in itertools.product(range(len(x)), range(len(y))):
        expected = naive.earth_movers_distance(x[i], y[j], ground)
        assert distances[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("columns", [0, 1, 4])
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("n, m", [(20, 6), (25, 14), (40, 30), (50, 40), (80, 70)])
def test_every_solver_equals_the_linear_programme(n, m, ground, columns):
    """Up to 8, 16, 32 and 64 sinks, and more."""
    rng = np.random.default_rng(n + m + columns)
    x, y = (
        with_columns(
            rng,
            gm.NodeEmbeddings(rng.random((size, 3)), rng.integers(1, 4, size), [0, size]),
            columns,
        )
        for size in (n, m)
    )
    assert_equal_to_linear_programme(x, y, ground)
    assert_equal_to_linear_programme(y, x, ground)
    plan, cost = gm.transport_plan(x, y, ground=ground)
    assert cost == pytest.approx(naive.earth_movers_distance(x, y, ground), rel=1e-9)
    assert plan.min() >= 0
    assert plan.sum(axis=1) == pytest.approx(x.weights, abs=1e-14)
    assert plan.sum(axis=0) == pytest.approx(y.weights, abs=1e-14)


@pytest.mark.parametrize("grid", [1, 2])
@pytest.mark.parametrize("ground", GROUNDS)
def test_equal_points_and_equal_costs(ground, grid):
    rng = np.random.default_rng(grid)
    x = with_columns(rng, random_nodes(rng, 5, 12, grid=grid), 3)
    y = with_columns(rng, random_nodes(rng, 5, 9, grid=grid), 3)
    assert_equal_to_linear_programme(x, y, ground)


@pytest.mark.parametrize("columns", [0, 1, 2, 5])
@pytest.mark.parametrize("ground", GROUNDS)
def test_between_single_nodes_it_is_the_rule(ground, columns):
    rng = np.random.default_rng(columns)
    x, y = (
        with_columns(rng, gm.NodeEmbeddings(rng.random((9, 3)), [1] * 9, range(10)), columns)
        for _ in range(2)
    )
    distances = gm.earth_movers_distance(x, y, ground=ground)
    for i, j in np.ndindex(distances.shape):
        expected = naive.labelled_ground_distance(
            x.points[i], y.points[j], x.labels[i], y.labels[j], *ground[:2]
        )
        assert distances[i, j] == pytest.approx(expected, rel=1e-14)


def test_one_column_is_the_same_as_flat_labels_and_no_column_as_none():
    rng = np.random.default_rng(0)
    x, y = random_nodes(rng, 20, 30, labels=3), random_nodes(rng, 20, 9, labels=3)
    column = [s._trusted(s.points, s.masses, s.offsets, s.labels[:, None]) for s in (x, y)]
    assert (gm.earth_movers_distance(*column) == gm.earth_movers_distance(x, y)).all()
    none = [s.with_labels(None) for s in (x, y)]
    empty = [with_columns(rng, s, 0) for s in (x, y)]
    assert (gm.earth_movers_distance(*empty) == gm.earth_movers_distance(*none)).all()


def test_nodes_are_merged_only_where_all_labels_are_equal():
    points, masses = np.zeros((4, 2)), np.array([1, 2, 3, 4])
    labels = np.array([[5, 6], [5, 7], [5, 6], [4, 6]])
    side = engine.prepare(points, masses, np.array([0, 4]), labels)
    merged = {tuple(row): mass for row, mass in zip(side.labels, side.masses, strict=True)}
    assert merged == {(5, 6): 4, (5, 7): 2, (4, 6): 4}
    assert len(engine.prepare(points, masses, np.array([0, 4]), labels[:, :1]).points) == 2
    assert len(engine.prepare(points, masses, np.array([0, 4]), None).points) == 1


def test_nodes_are_merged_graph_by_graph_and_massless_ones_dropped():
    points = np.array([[0.0], [-0.0], [0.0], [1.0]])
    nodes = merge_nodes(
        np, points, np.array([1, 2, 4, 0]), np.zeros((4, 0), int), np.array([0, 0, 2, 2]), 3
    )
    assert nodes.masses.tolist() == [3, 4]
    assert nodes.offsets.tolist() == [0, 1, 1, 2]
    assert nodes.graphs.tolist() == [0, 2]
    assert nodes.labels.shape == (2, 0)


def test_bad_ground_distances_are_named():
    nodes = gm.NodeEmbeddings([[0.0]], [1], [0, 1], labels=[1])
    with pytest.raises(TypeError, match="ground must be a GroundDistance, a TreeDistance or None"):
        gm.earth_movers_distance(nodes, nodes, ground=(1.0, 0.0))
    with pytest.raises(ValueError, match=r"ground: floor must be between 0 and 1e150, got -1\.0"):
        gm.transport_plan(nodes, nodes, ground=GroundDistance(-1.0, 0.0))
    rng = np.random.default_rng(0)
    two, three = with_columns(rng, nodes, 2), with_columns(rng, nodes, 3)
    with pytest.raises(ValueError, match=r"shape \(2,\) in x and \(3,\) in y"):
        gm.earth_movers_distance(two, three)
