"""Bounds on chosen pairs never exceed the distance, and beat the relaxed problem."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import graphmover as gm
from graphmover.backends import BACKENDS
from graphmover.transport.cpu.relaxed import relaxed_distances
from graphmover.transport.ground import GroundDistance

CPU = BACKENDS["cpu"]


def sets_of_points(rng, n_sets, n_labels):
    counts = rng.integers(0, 20, size=n_sets)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    points = rng.integers(0, 4, size=(offsets[-1], 3)) / 4  # with ties, and equal points
    labels = rng.integers(3, size=(offsets[-1], n_labels)) if n_labels else None
    return gm.NodeEmbeddings(points, rng.integers(1, 5, size=offsets[-1]), offsets, labels)


def relaxed(x, y, ground):
    """The relaxed problem in both directions, by definition."""
    costs = cdist(x.points, y.points)
    if x.labels is not None:
        differing = (x.labels[:, None] != y.labels[None]).sum(axis=2)
        costs = np.maximum(costs, ground.floor * (differing > 0)) + ground.per_label * differing
    return max(x.weights @ costs.min(axis=1), y.weights @ costs.min(axis=0))


@pytest.mark.parametrize("n_labels", [0, 1, 2])
@pytest.mark.parametrize("ground", [None, GroundDistance(0.0, 0.3), GroundDistance(0.5, 0.1)])
def test_between_the_relaxed_problem_and_the_distance(n_labels, ground):
    rng = np.random.default_rng(n_labels)
    x, y = sets_of_points(rng, 12, n_labels), sets_of_points(rng, 15, n_labels)
    here, there = CPU.prepare(x, ground), CPU.prepare(y, ground)
    rows, columns = np.divmod(np.arange(12 * 15), 15)
    everywhere = np.full(len(rows), np.inf)
    bounds = relaxed_distances(here.side, there.side, rows, columns, ground, everywhere)
    distances = gm.earth_movers_distance(x, y, ground=ground).ravel()
    assert (bounds <= distances * (1 + 1e-9)).all()
    rule = ground or GroundDistance(np.sqrt(3), 0.0)
    for row, column, bound in zip(rows, columns, bounds, strict=True):
        if len(x[row].points) and len(y[column].points):
            assert bound >= relaxed(x[row], y[column], rule) * (1 - 1e-12)
        else:
            assert np.isinf(bound)
    most = np.quantile(distances[np.isfinite(distances)], rng.random(len(rows)))
    limited = relaxed_distances(here.side, there.side, rows, columns, ground, most)
    np.testing.assert_array_equal(limited > most, bounds > most)


def test_chosen_pairs_have_the_bits_of_all_pairs():
    rng = np.random.default_rng(0)
    x, y = sets_of_points(rng, 40, 1), sets_of_points(rng, 50, 1)
    here, there = CPU.prepare(x), CPU.prepare(y)
    every = gm.earth_movers_distance(x, y)
    rows, columns = np.nonzero(rng.random((40, 50)) < 0.2)
    found = CPU.distances_of_pairs(here, there, rows, columns)
    np.testing.assert_array_equal(found, every[rows, columns])
