import itertools
import subprocess
import sys

import naive
import numpy as np
import pytest
from graph_zoo import random_nodes
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmover as gm


def assert_equal_to_linear_programme(x, y):
    distances = gm.earth_movers_distance(x, y)
    for i, j in itertools.product(range(len(x)), range(len(y))):
        expected = naive.earth_movers_distance(x[i], y[j])
        assert distances[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12 * expected + 1e-300)


@pytest.mark.parametrize("labels", [0, 3])
@pytest.mark.parametrize(
    "largest_x, largest_y",
    [(30, 6), (4, 20), (12, 12), (1, 8), (9, 1), (40, 30), (45, 45), (45, 150), (150, 45)],
)
def test_equals_the_linear_programme(labels, largest_x, largest_y):
    rng = np.random.default_rng(largest_x * 100 + largest_y)
    x = random_nodes(rng, 6, largest_x, labels=labels)
    y = random_nodes(rng, 6, largest_y, labels=labels)
    assert_equal_to_linear_programme(x, y)


@pytest.mark.parametrize("grid", [1, 2, 3])
def test_equal_points_and_equal_costs(grid):
    rng = np.random.default_rng(grid)
    x = random_nodes(rng, 8, 12, d=2, grid=grid, labels=2)
    y = random_nodes(rng, 8, 8, d=2, grid=grid, labels=2)
    distances = gm.earth_movers_distance(x, y)
    for i, j in itertools.product(range(len(x)), range(len(y))):
        assert distances[i, j] == pytest.approx(
            naive.earth_movers_distance(x[i], y[j]), rel=1e-9, abs=1e-12
        )


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_huge_and_tiny_scales(scale):
    rng = np.random.default_rng(7)
    x, y = random_nodes(rng, 4, 10, scale=scale), random_nodes(rng, 4, 5, scale=scale)
    assert_equal_to_linear_programme(x, y)


@pytest.mark.parametrize("shift", [1e-3, 1e-6, 1e-9, 1e-12])
def test_distances_far_smaller_than_the_graph_are_accurate_too(shift):
    """All but one node stay: the distance is known, and tiny beside the largest cost."""
    rng = np.random.default_rng(11)
    for n in (5, 12, 25, 50):
        points = rng.random((n, 3))
        moved = points.copy()
        moved[0, 0] += shift
        x, y = (gm.NodeEmbeddings(p, np.ones(n, int), [0, n]) for p in (points, moved))
        expected = (moved[0, 0] - points[0, 0]) / n
        assert gm.earth_movers_distance(x, y)[0, 0] == pytest.approx(expected, rel=1e-9)


def test_one_huge_mass_among_small_ones_takes_no_more_steps():
    """Small flows on near-equal costs must not make it move a huge mass in small steps."""
    rng = np.random.default_rng(12)
    for huge in (10**4, 10**9, 10**15):
        masses = rng.integers(1, 6, 25)
        masses[3] = huge
        x = gm.NodeEmbeddings(rng.random((25, 3)) * 1e-9 + 0.5, masses, [0, 25])
        y = random_nodes(rng, 30, 30, most_mass=0)
        gm.earth_movers_distance(x, y)
        graph = gm.Graph(
            6, [(i, j) for i in range(6) for j in range(i)], edge_weights=[huge] + [1] * 14
        )
        nodes = gm.embed_nodes(graph, 3)
        assert_equal_to_linear_programme(nodes, y[:5])


def test_masses_that_do_not_fit_a_common_total_exactly():
    rng = np.random.default_rng(3)
    x = gm.NodeEmbeddings(rng.random((9, 2)), rng.integers(1, 2**48, 9), [0, 9])
    y = gm.NodeEmbeddings(rng.random((5, 2)), rng.integers(1, 2**48, 5), [0, 5])
    assert_equal_to_linear_programme(x, y)


def test_real_masses_are_rounded_to_the_stated_error():
    rng = np.random.default_rng(4)
    for decades in (0, 12):
        masses = 10.0 ** -(decades * rng.random(20))
        nodes = gm.NodeEmbeddings(rng.random((20, 2)), masses, [0, 20])
        assert np.abs(nodes.weights - masses / masses.sum()).max() < 20 * 2.0**-53
        assert_equal_to_linear_programme(nodes, random_nodes(rng, 3, 6, d=2))


@st.composite
def pairs_of_collections(draw):
    """Two collections with every kind of degeneracy, small enough for many examples."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    options = {
        "d": draw(st.integers(1, 4)),
        "grid": draw(st.integers(0, 3)),
        "labels": draw(st.integers(0, 3)),
        "most_mass": draw(st.integers(0, 5)),
    }
    x = random_nodes(rng, 2, draw(st.integers(1, 15)), **options)
    y = random_nodes(rng, 2, draw(st.integers(1, 10)), **options)
    return x, y


@settings(max_examples=60, deadline=None)
@given(pairs_of_collections())
def test_properties_of_an_optimum(pair):
    x, y = pair
    distances = gm.earth_movers_distance(x, y)
    # A metric: symmetric, zero to itself, bounded by the triangle through any third graph.
    assert distances == pytest.approx(gm.earth_movers_distance(y, x).T, rel=1e-12, abs=1e-14)
    within_x, within_y = gm.earth_movers_distance(x, x), gm.earth_movers_distance(y, y)
    assert np.abs(np.diag(within_x)).max() < 1e-14
    assert (distances[0, 0] <= within_x[0, 1] + distances[1, 0] + 1e-12).all()
    assert (distances[0, 0] <= distances[0, 1] + within_y[1, 0] + 1e-12).all()
    plan, cost = gm.transport_plan(x[0], y[0])
    assert cost == pytest.approx(distances[0, 0], rel=1e-13, abs=1e-15)
    assert (plan >= 0).all()
    assert plan.sum(axis=1) == pytest.approx(x[0].weights, abs=1e-14)
    assert plan.sum(axis=0) == pytest.approx(y[0].weights, abs=1e-14)
    # No assignment of a dual price can beat it: strong duality against the linear programme.
    assert cost == pytest.approx(naive.earth_movers_distance(x[0], y[0]), rel=1e-9, abs=1e-11)


def test_one_sink_is_a_mean_and_one_dimension_is_a_sort():
    rng = np.random.default_rng(5)
    x = random_nodes(rng, 5, 20, d=1)
    one = gm.NodeEmbeddings([[0.3]], [1], [0, 1])
    means = [np.sum(g.weights * np.abs(g.points[:, 0] - 0.3)) for g in x]
    assert gm.earth_movers_distance(x, one)[:, 0] == pytest.approx(means, rel=1e-12)
    from scipy.stats import wasserstein_distance

    y = random_nodes(rng, 5, 9, d=1)
    expected = [
        [wasserstein_distance(a.points[:, 0], b.points[:, 0], a.weights, b.weights) for b in y]
        for a in x
    ]
    assert gm.earth_movers_distance(x, y) == pytest.approx(np.array(expected), rel=1e-10)


def test_a_hundred_thousand_degenerate_problems():
    """Equal points, equal costs, zero masses, more sinks than sources: it ends, and is right."""
    rng = np.random.default_rng(6)
    n_problems = 0
    for grid, largest, most_mass in itertools.product((1, 2, 3, 0), (2, 7, 20), (0, 1, 3)):
        x = random_nodes(rng, 70, largest, d=2, grid=grid, labels=2, most_mass=most_mass)
        y = random_nodes(rng, 40, 12, d=2, grid=grid, labels=2, most_mass=0)
        distances = gm.earth_movers_distance(x, y)
        n_problems += distances.size
        # Each pair alone gives the same bits: nothing is carried from pair to pair.
        assert (gm.earth_movers_distance(x[5], y[7]) == distances[5, 7]).all()
        for i, j in zip(rng.integers(0, 70, 8), rng.integers(0, 40, 8), strict=True):
            expected = naive.earth_movers_distance(x[i], y[j])
            assert distances[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert n_problems > 100_000


@pytest.mark.parametrize("most_mass", [1, 3])
@pytest.mark.parametrize("n, m", [(36, 36), (60, 40), (150, 37), (40, 90)])
def test_many_sinks_on_a_grid(n, m, most_mass):
    """Equal costs and equal partial sums in the solvers for more than 32 sinks."""
    rng = np.random.default_rng(100 * n + m + most_mass)
    cells = np.stack(np.meshgrid(*[np.arange(13.0)] * 2), axis=-1).reshape(-1, 2)

    def on_cells(size):
        points = cells[rng.permutation(len(cells))[:size]]
        return gm.NodeEmbeddings(points, rng.integers(1, most_mass + 1, size), [0, size])

    for _ in range(6):
        x, y = on_cells(n), on_cells(m)
        expected = naive.earth_movers_distance(x, y)
        assert gm.earth_movers_distance(x, y)[0, 0] == pytest.approx(expected, rel=1e-9)
        plan, cost = gm.transport_plan(x, y)
        assert cost == pytest.approx(expected, rel=1e-9)
        assert plan.min() >= 0
        assert plan.sum(axis=1) == pytest.approx(x.weights, abs=1e-14)
        assert plan.sum(axis=0) == pytest.approx(y.weights, abs=1e-14)


def test_no_mass_is_too_small_to_count():
    """Totals whose common multiple is beyond 62 bits: rounded, and every node keeps a share."""
    rng = np.random.default_rng(11)
    x, y = (
        gm.NodeEmbeddings(rng.random((40, 3)), [2**52 - odd] + [1] * 39, [0, 40]) for odd in (0, 3)
    )
    plan, cost = gm.transport_plan(x, y)
    assert cost == gm.earth_movers_distance(x, y)[0, 0]
    assert plan.sum(axis=0).min() > 0 < plan.sum(axis=1).min()
    assert plan.sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("n", [300, 3000])
def test_many_sources_are_solved_by_samples(n):
    """Where samples and settled sources come in: checked by the dual, not by another solver."""
    rng = np.random.default_rng(n)
    for m, grid in itertools.product((2, 5, 8, 20), (0, 4)):
        points = rng.integers(0, grid, (n, 3)) / grid if grid else rng.random((n, 3))
        x = gm.NodeEmbeddings(points, rng.integers(1, 4, n), [0, n])
        y = gm.NodeEmbeddings(rng.random((m, 3)), np.ones(m, int), [0, m])
        distance = gm.earth_movers_distance(x, y)[0, 0]
        plan, cost = gm.transport_plan(x, y)
        assert distance == pytest.approx(cost, rel=1e-12)
        # Prices from the plan's shortest moves between sinks: the dual's value is the distance.
        costs = np.linalg.norm(x.points[:, None] - y.points[None], axis=2)
        moves = np.array(
            [[(costs[plan[:, j] > 0, k] - costs[plan[:, j] > 0, j]).min() for k in range(m)]
             for j in range(m)]
        )  # fmt: skip
        for middle in range(m):
            moves = np.minimum(moves, moves[:, [middle]] + moves[[middle], :])
        assert np.diag(moves).min() > -1e-12  # no cycle of moves would gain: optimal


def test_threads_and_order_change_nothing():
    rng = np.random.default_rng(8)
    x, y = random_nodes(rng, 300, 30, labels=2), random_nodes(rng, 40, 9, labels=2)
    expected = gm.earth_movers_distance(x, y)
    for n_jobs in (2, 3, -1):
        assert (gm.earth_movers_distance(x, y, n_jobs=n_jobs) == expected).all()
    shuffled, columns = rng.permutation(300), rng.permutation(40)
    other = gm.earth_movers_distance(x[shuffled], y[columns], n_jobs=2)
    assert (other == expected[np.ix_(shuffled, columns)]).all()


def test_graphs_without_nodes_are_infinitely_far():
    x = gm.NodeEmbeddings(np.zeros((1, 2)), [1], [0, 0, 1])
    assert gm.earth_movers_distance(x, x).tolist() == [[np.inf, np.inf], [np.inf, 0.0]]
    with pytest.raises(ValueError, match="x has no nodes"):
        gm.transport_plan(x[0], x[1])


def test_ground_distance_is_the_papers():
    """Between graphs of one node each the earth mover's distance is the ground distance."""
    rng = np.random.default_rng(9)
    x, y = (
        gm.NodeEmbeddings(rng.random((9, 3)) * 3, [1] * 9, range(10), rng.integers(0, 2, 9))
        for _ in range(2)
    )
    distances = gm.earth_movers_distance(x, y)
    for i, j in np.ndindex(distances.shape):
        expected = naive.ground_distance(x.points[i], y.points[j], x.labels[i], y.labels[j])
        assert distances[i, j] == pytest.approx(expected, rel=1e-14)


def test_bad_input_is_named():
    nodes = gm.NodeEmbeddings([[0.0, 1.0]], [1], [0, 1])
    with pytest.raises(TypeError, match="y must be NodeEmbeddings, got list"):
        gm.earth_movers_distance(nodes, [1])
    with pytest.raises(ValueError, match="x has 2 dimensions, y has 1"):
        gm.earth_movers_distance(nodes, gm.NodeEmbeddings([[0.0]], [1], [0, 1]))
    with pytest.raises(ValueError, match="one side has labels"):
        gm.earth_movers_distance(nodes, nodes.with_labels([3]))
    with pytest.raises(ValueError, match="device must be one of auto, cpu, cuda, got 'tpu'"):
        gm.earth_movers_distance(nodes, nodes, device="tpu")
    with pytest.raises(ValueError, match=r"x must be one graph, got 0; choose one: x\[0\]"):
        gm.transport_plan(nodes[[]], nodes)


@pytest.mark.slow
def test_processes_say_what_they_compile_until_nothing_is_left(tmp_path):
    import os

    code = (
        "import graphmover as gm, graphmover.transport as t;"
        "n = gm.NodeEmbeddings([[0.0]], [1], [0, 1]); gm.earth_movers_distance(n, n)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(3)
    ]
    # A first run makes do with one copy of the solver, which fits more sinks.
    assert "compiling the transport engine for up to 32 sinks (once" in runs[0].stderr
    assert "compiling the transport engine for up to 8 sinks (once" in runs[1].stderr
    assert "compiling" not in runs[2].stderr
