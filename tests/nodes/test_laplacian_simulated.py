"""The Laplacian's CUDA kernels, run on the CPU thread by thread, against the CPU's solver."""

import cuda_simulator
import numpy as np
import pytest
from graph_zoo import SYMMETRIC, complete, cycle, disjoint_union, path, random_graph, star
from test_laplacian import HARD, grid

import graphmover as gm
from graphmover.nodes.laplacian import cuda_schedule as schedule

pytestmark = pytest.mark.slow  # the kernels' 1,024 threads run one after another

#: Shared memory in which the matrices of graphs of up to 17 nodes fit, at six dimensions.
LITTLE = 9_000
#: That of a block on an H200.
MUCH = 231_424

#: Graphs with repeated eigenvalues that are solved by reflections.
REPEATED = [
    *SYMMETRIC.values(),
    *(star(n) for n in (2, 17, 30)),
    *(complete(n) for n in (3, 18, 32)),
    grid(5, 5),
    grid(4, 7),
    disjoint_union(*[cycle(5)] * 6),
    disjoint_union(*[path(3)] * 9, gm.Graph(4, [])),
    disjoint_union(*[grid(3, 3)] * 3, star(6)),
]


@pytest.fixture(scope="module")
def kernels():
    return cuda_simulator.build(file="laplacian.cu")


def on_cpu(batch, d):
    return gm.embed_nodes(batch, d, use_node_labels=False).points


def random_graphs(sizes):
    rng = np.random.default_rng(0)
    return [random_graph(rng, n, weighted=weighted) for n in sizes for weighted in (False, True)]


@pytest.mark.parametrize("available", [LITTLE, MUCH])
@pytest.mark.parametrize("d", [1, 6, 20])
def test_random_graphs(kernels, d, available):
    batch = gm.as_graph_batch(random_graphs([1, 2, 3, 8, 9, 17, 18, 33, 60]))
    points, left = cuda_simulator.laplacian_points(kernels, batch, d, available)
    assert not len(left)
    np.testing.assert_allclose(points, on_cpu(batch, d), rtol=0, atol=1e-8)


@pytest.mark.parametrize("available", [LITTLE, MUCH])
@pytest.mark.parametrize("d", [1, 6, 12])
def test_repeated_eigenvalues(kernels, d, available):
    batch = gm.as_graph_batch(REPEATED)
    points, left = cuda_simulator.laplacian_points(kernels, batch, d, available)
    assert not len(left)
    np.testing.assert_allclose(points, on_cpu(batch, d), rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", [name for name, graph in HARD.items() if graph.n_nodes <= 350])
def test_hard_spectra_up_to_350_nodes(kernels, name):
    """Graphs that are left to another method need more eigenvectors than are computed singly."""
    batch = gm.as_graph_batch(HARD[name])
    points, left = cuda_simulator.laplacian_points(kernels, batch, 6, MUCH)
    if len(left):
        assert not points.any()
    else:
        np.testing.assert_allclose(points, on_cpu(batch, 6), rtol=0, atol=1e-8)


@pytest.mark.parametrize("n", [119, 120, 145, 146, 209, 350])
def test_sizes_around_the_switches(kernels, n):
    batch = gm.as_graph_batch(random_graphs([n])[n % 2 :][:1])
    points, left = cuda_simulator.laplacian_points(kernels, batch, 6, MUCH)
    assert not len(left)
    np.testing.assert_allclose(points, on_cpu(batch, 6), rtol=0, atol=1e-8)


def test_graphs_that_need_many_eigenvectors_are_left(kernels):
    batch = gm.as_graph_batch([star(60), path(60), complete(50)])
    points, left = cuda_simulator.laplacian_points(kernels, batch, 6)
    assert left.tolist() == [0, 2]
    inside = slice(60, 120)
    np.testing.assert_allclose(points[inside], on_cpu(batch, 6)[inside], rtol=0, atol=1e-8)
    rotated = cuda_simulator.rotated_points(kernels, batch, 6)
    np.testing.assert_allclose(rotated, on_cpu(batch, 6), rtol=0, atol=1e-8)


def test_rotations(kernels):
    batch = gm.as_graph_batch([*REPEATED[:12], *random_graphs([1, 9, 20, 41])])
    points = cuda_simulator.rotated_points(kernels, batch, 6)
    np.testing.assert_allclose(points, on_cpu(batch, 6), rtol=0, atol=1e-8)


@pytest.mark.parametrize("available", [LITTLE, MUCH])
def test_the_same_bits_alone_in_any_order_and_with_any_blocks(kernels, available):
    """The order of threads is arbitrary: where results depend on it, a barrier is missing."""
    graphs = [*random_graphs([5, 16, 30, 50]), grid(5, 5), disjoint_union(*[cycle(5)] * 6)]
    batch = gm.as_graph_batch(graphs)
    points, _ = cuda_simulator.laplacian_points(kernels, batch, 6, available)
    for choice in ({"backwards": True}, {"blocks": 1}):
        again, _ = cuda_simulator.laplacian_points(kernels, batch, 6, available, **choice)
        np.testing.assert_array_equal(again, points)
    alone = [
        cuda_simulator.laplacian_points(kernels, gm.as_graph_batch(g), 6, available)[0]
        for g in graphs
    ]
    np.testing.assert_array_equal(np.concatenate(alone), points)


def test_the_schedule_takes_every_graph_once_and_fits():
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 351, 500)
    for d, available in ((1, MUCH), (6, MUCH), (6, 100_000), (40, MUCH), (350, MUCH)):
        launches = schedule.launches(sizes, d, available)
        listed = np.concatenate([launch.graphs for launch in launches])
        np.testing.assert_array_equal(np.sort(listed), np.flatnonzero(sizes))
        for launch in launches:
            assert launch.n >= sizes[launch.graphs].max()
            assert launch.shared_bytes <= available
            assert launch.threads <= 1024
            slots = schedule.scratch_slots(launch, 132, 2**30)
            assert 1 <= slots <= len(launch.graphs)
            assert slots == 1 or slots * launch.scratch_bytes <= 2**30


def test_where_tables_go_depends_on_the_graph_alone():
    sizes = np.arange(1, 351)

    def places(chosen):
        return {
            int(chosen[graph]): (launch.n, launch.matrix_in_shared, launch.few, launch.threads)
            for launch in schedule.launches(chosen, 6, MUCH)
            for graph in launch.graphs
        }

    together = places(sizes)
    for n in (1, 100, 145, 146, 230, 350):
        assert places(np.array([n]))[n] == together[n]


@pytest.mark.parametrize("available", [48 * 1024, 163 * 1024, 227 * 1024])
def test_matrices_of_small_graphs_fit_a_block_for_rotations(available):
    most = schedule.most_nodes_for_rotations(available)
    assert most >= 50
    assert schedule.rotation_bytes(most) <= available < schedule.rotation_bytes(most + 1)
