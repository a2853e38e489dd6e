"""The CUDA kernels without a GPU: compiled by NVRTC, and run on the CPU lane by lane."""

import ctypes
import importlib.metadata
import sys

import cuda_simulator
import numpy as np
import pytest
from graph_zoo import random_nodes
from test_ground import GROUNDS, with_columns
from test_tree import label_tree

import graphmover as gm
from graphmover._utils import cuda as _cuda_kernels
from graphmover.transport import GroundDistance, TreeDistance

#: What transport.cu may be compiled with.
OF_TRANSPORT = (_cuda_kernels.PARTIAL, *_cuda_kernels.LABELS.values())


def nvrtc():
    try:
        files = importlib.metadata.files("nvidia-cuda-nvrtc") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("nvidia-cuda-nvrtc is not installed")
    # Loaded first: some versions do not look for their builtins beside themselves.
    for name in ("libnvrtc-builtins.so", "libnvrtc.so"):
        [path] = [f.locate() for f in files if f.name.startswith(name)]
        library = ctypes.CDLL(str(path))
    return library


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("defined", [(), *((option,) for option in OF_TRANSPORT)])
@pytest.mark.parametrize("file", _cuda_kernels.SOURCES)
def test_nvrtc_compiles_without_a_warning(file, defined, architecture):
    if defined and file != "transport.cu":
        pytest.skip("its kernels are compiled once for all")
    library = nvrtc()
    program = ctypes.c_void_p()
    text = _cuda_kernels.source(file).encode()
    assert library.nvrtcCreateProgram(ctypes.byref(program), text, b"", 0, None, None) == 0
    options = [
        *_cuda_kernels.OPTIONS,
        *defined,
        f"--gpu-architecture={architecture.replace('sm', 'compute')}",
    ]
    encoded = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    result = library.nvrtcCompileProgram(program, len(options), encoded)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    assert (result, log.value.decode().strip()) == (0, "")
    library.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    library.nvrtcGetPTX(program, ptx)
    assert f".target {architecture}".encode() in ptx.value


@pytest.fixture(scope="module")
def kernels():
    return cuda_simulator.build()


@pytest.fixture(scope="module", params=[0, 1], ids="{} labels".format)
def kernels_for_labels(request):
    return request.param, cuda_simulator.build(_cuda_kernels.LABELS[request.param])


@pytest.fixture(scope="module")
def counting_kernels():
    return cuda_simulator.build(_cuda_kernels.PARTIAL)


def assert_equal_to_the_cpu(kernels, x, y, ground=None, **choice):
    """The simulator aborts where a warp diverges around an operation of all lanes."""
    distances, taken = cuda_simulator.distances(kernels, x, y, ground, **choice)
    expected = gm.earth_movers_distance(x, y, ground=ground)
    np.testing.assert_allclose(distances, expected, rtol=1e-9)
    return taken


@pytest.mark.parametrize("labels, grid", [(0, 0), (3, 0), (0, 2), (3, 3)])
@pytest.mark.parametrize("largest_x, largest_y", [(40, 32), (12, 32), (60, 5), (3, 3)])
def test_equals_the_cpu_engine(kernels, labels, grid, largest_x, largest_y):
    rng = np.random.default_rng(largest_x + largest_y)
    x = random_nodes(rng, 7, largest_x, labels=labels, grid=grid)
    y = random_nodes(rng, 9, largest_y, labels=labels, grid=grid)
    assert_equal_to_the_cpu(kernels, x, y)


@pytest.mark.slow
@pytest.mark.parametrize("guess", [True, False])
@pytest.mark.parametrize("largest_x, largest_y", [(40, 32), (60, 5), (45, 40)])
def test_kernels_for_a_number_of_labels(kernels_for_labels, largest_x, largest_y, guess):
    n_labels, kernels = kernels_for_labels
    rng = np.random.default_rng(largest_x + largest_y)
    x, y = (random_nodes(rng, 6, n, labels=3 * n_labels) for n in (largest_x, largest_y))
    assert_equal_to_the_cpu(kernels, x, y, guess=guess)


@pytest.mark.parametrize(
    "guess, shared", [(True, True), (True, False), (False, True), (False, False)]
)
def test_all_kernels_give_the_same(kernels, guess, shared):
    rng = np.random.default_rng(3)
    x, y = random_nodes(rng, 6, 40), random_nodes(rng, 8, 32)
    assert_equal_to_the_cpu(kernels, x, y, guess=guess, shared=shared)


@pytest.mark.parametrize(
    "n_x, n_y, first",
    [(40, 16, "guess_short"), (40, 17, "guess_by_simplex"), (60, 8, "guess_by_simplex")],
)
def test_the_simplex_method_takes_many_sinks_and_many_sources(kernels, n_x, n_y, first):
    rng = np.random.default_rng(n_x + n_y)
    x, y = same_size(rng, 3, n_x, 4), same_size(rng, 3, n_y, 4)
    assert assert_equal_to_the_cpu(kernels, x, y)[first] == 9


@pytest.mark.parametrize("most_mass, all_again", [(4, False), (2**9, False), (2**45, True)])
def test_masses_of_16_32_and_64_bits(kernels, most_mass, all_again):
    rng = np.random.default_rng(4)
    x, y = (random_nodes(rng, 5, n, most_mass=most_mass) for n in (30, 20))
    taken = assert_equal_to_the_cpu(kernels, x, y)
    left = taken["solve_exactly"] + taken["solve_many_sinks"]
    assert left == (25 if all_again else 0)


@pytest.mark.slow
def test_many_sources_are_sampled_and_settled(kernels):
    rng = np.random.default_rng(5)
    assert_equal_to_the_cpu(kernels, random_nodes(rng, 2, 900), random_nodes(rng, 6, 12))


def same_size(rng, count, n, most_mass):
    """Graphs of exactly n nodes."""
    masses = rng.integers(1, most_mass + 1, count * n)
    return gm.NodeEmbeddings(rng.random((count * n, 3)), masses, n * np.arange(count + 1))


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("most_mass", [1, 5])
@pytest.mark.parametrize(
    "n, m", [(17, 17), (33, 31), (49, 47), (65, 63), (80, 65), (200, 18), (500, 17)]
)
def test_the_simplex_method(kernels, n, m, most_mass, shared):
    """Sizes around those at which a lane has another node; equal masses make pivots degenerate."""
    rng = np.random.default_rng(n)
    x, y = same_size(rng, 2, n, most_mass), same_size(rng, 2, m, most_mass)
    taken = assert_equal_to_the_cpu(kernels, x, y, shared=shared)
    assert taken == {"guess_by_simplex": 4}
    assert_equal_to_the_cpu(kernels, x, y, guess=False)


@pytest.mark.slow
def test_more_sinks_than_the_simplex_method_can_number(kernels):
    rng = np.random.default_rng(6)
    x, y = same_size(rng, 1, 1100, 3), same_size(rng, 2, 33, 3)
    assert assert_equal_to_the_cpu(kernels, x, y) == {"solve_many_sinks": 2}


def test_chosen_pairs(kernels):
    """The same bits as in a table of all pairs; a graph without nodes is infinitely far."""
    rng = np.random.default_rng(11)
    x, y = random_nodes(rng, 9, 50, labels=2), random_nodes(rng, 7, 30, labels=2)
    y = gm.NodeEmbeddings(y.points, y.masses, [0, *y.offsets], y.labels)
    table, _ = cuda_simulator.distances(kernels, x, y)
    pairs = rng.integers(0, 9, 40), rng.integers(0, 8, 40)
    chosen, _ = cuda_simulator.distances(kernels, x, y, pairs=pairs)
    np.testing.assert_array_equal(chosen, table[pairs])
    assert np.isinf(chosen).any() and np.isfinite(chosen).any()


@pytest.mark.parametrize("columns", [0, 1, 3])
@pytest.mark.parametrize("ground", GROUNDS)
def test_every_ground_distance(kernels, ground, columns):
    rng = np.random.default_rng(columns)
    for largest_x, largest_y, choice in (
        (30, 9, {}),
        (20, 25, {"guess": False}),
        (12, 6, {"shared": False}),
        (50, 40, {}),
    ):
        x = with_columns(rng, random_nodes(rng, 4, largest_x), columns)
        y = with_columns(rng, random_nodes(rng, 4, largest_y), columns)
        assert_equal_to_the_cpu(kernels, x, y, ground, **choice)


@pytest.mark.parametrize(
    "guess, shared", [(True, True), (True, False), (False, True), (False, False)]
)
@pytest.mark.parametrize(
    "largest_x, largest_y, most_mass",
    [(40, 32, 4), (12, 32, 1), (60, 5, 4), (5, 60, 9), (3, 3, 2), (70, 50, 4), (30, 20, 2**40)],
)
def test_counts_equal_the_cpu_engine(
    counting_kernels, guess, shared, largest_x, largest_y, most_mass
):
    rng = np.random.default_rng(largest_x + most_mass % 7)
    x = with_columns(rng, random_nodes(rng, 6, largest_x, most_mass=most_mass), 2)
    y = with_columns(rng, random_nodes(rng, 6, largest_y, most_mass=most_mass), 2)
    ground = GroundDistance(0.6, 0.25, unmatched=1.5)
    assert_equal_to_the_cpu(counting_kernels, x, y, ground, guess=guess, shared=shared)


@pytest.mark.parametrize("size", [1, 8, 16, 31, 32, 33])
def test_counts_with_a_sink_more_than_lanes_without(counting_kernels, size):
    """A graph against more and against fewer copies of its nodes, and against as many."""
    rng = np.random.default_rng(size)
    ground = GroundDistance(0.0, 0.0, unmatched=2.0)
    x, y = (
        gm.NodeEmbeddings(
            rng.random((3 * size, 2)), np.repeat([1, 2, 1], size), [0, size, 2 * size, 3 * size]
        )
        for _ in range(2)
    )
    assert_equal_to_the_cpu(counting_kernels, x, y, ground)


@pytest.mark.slow
def test_counts_of_many_sources_are_sampled_and_settled(counting_kernels):
    rng = np.random.default_rng(9)
    x, y = random_nodes(rng, 1, 900), random_nodes(rng, 3, 12)
    heavy = gm.NodeEmbeddings(y.points, y.masses * 1000, y.offsets)
    ground = GroundDistance(0.0, 0.0, unmatched=2.0)
    assert_equal_to_the_cpu(counting_kernels, x, y, ground)
    assert_equal_to_the_cpu(counting_kernels, x, heavy, ground)
    assert_equal_to_the_cpu(counting_kernels, heavy, x, ground)


def test_a_guess_that_cannot_be_proven_is_solved_again(kernels):
    """Costs differ only in their last digits: 18 bits cannot tell which flow is best.

    Nor can the 22 bits of the simplex method, which goes on with exact costs.
    """
    rng = np.random.default_rng(7)
    points = 1 + 1e-6 * rng.random((24, 1))
    x = gm.NodeEmbeddings(points, np.ones(24, int), [0, 12, 24])
    y = gm.NodeEmbeddings([[0.0], *(1 + 1e-6 * rng.random((5, 1)))], np.ones(6, int), [0, 6])
    taken = assert_equal_to_the_cpu(kernels, x, y)
    assert taken == {"guess_short": 2, "guess_by_simplex": 2}
    points = [[0.0, 0.0], *(1 + 1e-7 * rng.random((59, 2)))]
    x, y = (
        gm.NodeEmbeddings(part, np.ones(30, int), [0, 30]) for part in np.split(np.array(points), 2)
    )
    assert assert_equal_to_the_cpu(kernels, x, y) == {"guess_by_simplex": 1}


def test_distances_far_below_the_largest_cost(kernels):
    rng = np.random.default_rng(8)
    x = random_nodes(rng, 4, 12)
    near = gm.NodeEmbeddings(x.points + 1e-13 * rng.random(x.points.shape), x.masses, x.offsets)
    assert_equal_to_the_cpu(kernels, x, near)


@pytest.mark.parametrize("n", [12, 40])
@pytest.mark.parametrize("apart", [1e-9, 1e-13, 1e-16])
def test_graphs_that_are_equal_up_to_rounding(kernels, n, apart):
    """Isomorphic graphs, say: exact costs prove even those distances, without 64-bit kernels."""
    x = same_size(np.random.default_rng(n), 3, n, 4)
    rng = np.random.default_rng(0)
    near = gm.NodeEmbeddings(x.points + apart * rng.random(x.points.shape), x.masses, x.offsets)
    taken = assert_equal_to_the_cpu(kernels, x, near)
    assert not taken["solve_exactly"] + taken["solve_many_sinks"]


@pytest.mark.parametrize("labels", [0, 2])
@pytest.mark.parametrize("origin", [1e2, 1e5, 1e8])
def test_points_far_from_the_origin(kernels, origin, labels):
    """Single precision leaves few digits of their distances, so integer costs prove nothing."""
    rng = np.random.default_rng(int(origin))
    x, y = (random_nodes(rng, 3, n, labels=labels) for n in (45, 36))
    x, y = (
        gm.NodeEmbeddings(side.points + origin, side.masses, side.offsets, side.labels)
        for side in (x, y)
    )
    taken = assert_equal_to_the_cpu(kernels, x, y)
    assert not taken["solve_exactly"] + taken["solve_many_sinks"]


@pytest.mark.parametrize("tile", [7, 100])
@pytest.mark.parametrize("partial", [False, True])
def test_the_closed_form_has_the_bits_of_the_cpu(partial, tile):
    rng = np.random.default_rng(tile)
    x, y = label_tree(rng, 20, 9, 3, most_mass=2**40), label_tree(rng, 30, 9, 3)
    x = gm.NodeEmbeddings(x.points, x.masses, [0, *x.offsets], x.labels)  # the first has no nodes
    expected = gm.earth_movers_distance(x, y, ground=TreeDistance(partial))
    kernels = cuda_simulator.build(file="tree.cu")
    out = cuda_simulator.tree_distances(kernels, x, y, partial=partial, tile=tile)
    np.testing.assert_array_equal(out, expected)


def test_without_cupy_or_gpu_the_error_says_what_to_do(monkeypatch):
    x = gm.NodeEmbeddings([[0.0]], [1], [0, 1])
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match=r"needs CuPy: pip install 'graphmover\[cuda\]'"):
        gm.earth_movers_distance(x, x, device="cuda")
    graphs = gm.make_graph_families(6, random_state=0, return_X_y=True)[0]
    with pytest.raises(ImportError, match="needs CuPy"):
        gm.RandomGraphEmbedding(4, device="cuda").fit(graphs)


def test_without_a_gpu_auto_is_the_cpu(monkeypatch, capsys, terminal):
    monkeypatch.setitem(sys.modules, "cupy", None)
    graphs = gm.make_graph_families(40, random_state=0, return_X_y=True)[0]
    embedding = gm.RandomGraphEmbedding(600, random_state=0, verbose=True)
    expected = embedding.fit_transform(graphs)
    chosen = embedding.set_params(device="auto").fit_transform(graphs)
    np.testing.assert_array_equal(chosen, expected)
    assert "(cpu)" in capsys.readouterr().err
