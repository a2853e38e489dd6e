"""The GPU back end against the CPU's: on a GPU (``make test-gpu``), or else a simulated one.

A simulated GPU is far slower, so it gets small data.
"""

import gc
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import simulated_gpu
from graph_zoo import (
    complete,
    cycle,
    disjoint_union,
    hypercube,
    path,
    random_graph,
    random_nodes,
    star,
)

import graphmover as gm
from graphmover._utils.cuda import gpu_available
from graphmover.backends import BACKENDS
from graphmover.nodes import registry
from graphmover.nodes.recipe import NodeRecipe
from graphmover.transport import GroundDistance, TreeDistance
from graphmover.transport.cuda import schedule

SIMULATED = not gpu_available()

pytestmark = pytest.mark.slow if SIMULATED else pytest.mark.gpu


def real_gpu(test):
    """Mark what a simulated GPU cannot tell: memory, interruptions, the sanitizer's findings."""
    return pytest.mark.gpu(pytest.mark.skipif(SIMULATED, reason="no GPU, or no CuPy")(test))


@pytest.fixture(autouse=True)
def gpu():
    if not SIMULATED:
        yield
    else:
        with simulated_gpu.installed():
            yield


def at_most(number, on_a_gpu):
    """How many graphs a test takes."""
    return number if SIMULATED else on_a_gpu


def assert_agree(x, y, ground=None):
    on_gpu = gm.earth_movers_distance(x, y, ground=ground, device="cuda")
    on_cpu = gm.earth_movers_distance(x, y, ground=ground, n_jobs=-1)
    np.testing.assert_allclose(on_gpu, on_cpu, rtol=1e-9)
    again = gm.earth_movers_distance(x, y, ground=ground, device="cuda")
    np.testing.assert_array_equal(again, on_gpu)


@pytest.mark.parametrize("d", [1, 3, 6, 9])
@pytest.mark.parametrize("labels", [0, 3])
@pytest.mark.parametrize("grid", [0, 3])
def test_random_problems(d, labels, grid):
    rng = np.random.default_rng(d)
    x = random_nodes(rng, at_most(7, 300), 60, d=d, labels=labels, grid=grid)
    assert_agree(x, random_nodes(rng, at_most(5, 220), 32, d=d, labels=labels, grid=grid))


@pytest.mark.parametrize("most_mass", [1, 4, 2**20, 2**40])
@pytest.mark.parametrize("n_x, n_y", [(60, 32), (5, 60), (90, 70), (900, 12)])
def test_counts(n_x, n_y, most_mass):
    rng = np.random.default_rng(n_x)
    x = random_nodes(rng, at_most(3, 60), n_x, labels=3, most_mass=most_mass)
    y = random_nodes(rng, at_most(3, 40), n_y, labels=3, most_mass=most_mass)
    assert_agree(x, y, GroundDistance(0.6, 0.25, unmatched=1.5))


@pytest.mark.parametrize("most_mass", [2**9, 2**20, 2**45])
def test_heavy_masses(most_mass):
    rng = np.random.default_rng(1)
    x, y = (random_nodes(rng, at_most(4, 100), n, most_mass=most_mass) for n in (60, 32))
    assert_agree(x, y)


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_huge_and_tiny_scales(scale):
    rng = np.random.default_rng(2)
    assert_agree(*(random_nodes(rng, at_most(4, 50), n, scale=scale) for n in (60, 32)))


@pytest.mark.parametrize("n_x, n_y", [(1000, 32), (5000, 30), (90, 70), (300, 250)])
def test_large_graphs(n_x, n_y):
    n_x = min(n_x, at_most(1100, n_x))
    rng = np.random.default_rng(3)
    assert_agree(random_nodes(rng, at_most(1, 6), n_x), random_nodes(rng, at_most(2, 8), n_y))


def test_graphs_without_nodes():
    x = gm.NodeEmbeddings(np.zeros((1, 2)), [1], [0, 0, 1])
    distances = gm.earth_movers_distance(x, x, device="cuda")
    np.testing.assert_array_equal(distances, [[np.inf, np.inf], [np.inf, 0]])
    empty = gm.NodeEmbeddings(np.zeros((0, 2)), np.zeros(0, int), [0])
    assert gm.earth_movers_distance(empty, x, device="cuda").shape == (0, 2)


def test_points_of_small_and_large_graphs():
    graphs = gm.make_graph_families(at_most(12, 60), random_state=0, return_X_y=True)[0]
    star = gm.Graph(400, [(0, i) for i in range(1, 400)])
    batch = gm.as_graph_batch([*graphs, star, gm.Graph(1, []), gm.Graph(0, [])])
    on_gpu = BACKENDS["cuda"].nodes(batch, NodeRecipe(6, use_node_labels=False))
    expected = gm.embed_nodes(batch, 6, use_node_labels=False)
    np.testing.assert_allclose(on_gpu.points.get(), expected.points, atol=1e-8)
    np.testing.assert_array_equal(on_gpu.masses.get(), expected.masses)


def graphs_up_to_350_nodes():
    """Sizes around every switch of the kernels, and spectra full of repeated eigenvalues."""
    rng = np.random.default_rng(0)
    sizes = [*range(2, 20), 31, 33, 49, 97, 119, 120, 127, 128, 144, 145, 146, 147, 160, 161]
    sizes += [176, 200, 208, 209, 224, 257, 288, 304, 305, 333, 349, 350, 351, 400]
    graphs = [random_graph(rng, n, weighted=weighted) for n in sizes for weighted in (0, 1)]
    across = [(i, i + 1) for i in range(288) if i % 17 != 16]
    grid = gm.Graph(289, across + [(i, i + 17) for i in range(272)])
    tree = gm.Graph(255, [(i, (i - 1) // 2) for i in range(1, 255)])
    graphs += [path(300), cycle(301), grid, tree, hypercube(7), hypercube(8)]
    graphs += [star(40), star(250), complete(30), complete(110), complete(200)]
    graphs += [
        disjoint_union(*[cycle(9)] * 30),
        disjoint_union(*[cycle(7)] * 4, path(150)),
        disjoint_union(path(80), path(80), star(9), cycle(5), gm.Graph(5, [])),
        disjoint_union(path(120), path(2), gm.Graph(40, [])),
        gm.Graph(130, []),
        gm.Graph(0, []),
    ]
    return graphs[1::9] if SIMULATED else graphs


@pytest.mark.parametrize("d", [1, 6, 20, 60])
def test_points_of_graphs_up_to_350_nodes(d):
    graphs = [g for g in graphs_up_to_350_nodes() if g.edge_weights is None]
    weighted = [g for g in graphs_up_to_350_nodes() if g.edge_weights is not None]
    for some in (graphs, weighted):
        batch = gm.as_graph_batch(some)
        recipe = NodeRecipe(d, use_node_labels=False)
        on_gpu = BACKENDS["cuda"].nodes(batch, recipe).points.get()
        expected = gm.embed_nodes(batch, d, use_node_labels=False).points
        np.testing.assert_allclose(on_gpu, expected, rtol=0, atol=1e-8)
        np.testing.assert_array_equal(BACKENDS["cuda"].nodes(batch, recipe).points.get(), on_gpu)


def test_points_do_not_depend_on_the_other_graphs():
    graphs = graphs_up_to_350_nodes()[:: at_most(2, 3)]
    recipe = NodeRecipe(6, use_node_labels=False)
    together = BACKENDS["cuda"].nodes(gm.as_graph_batch(graphs), recipe)
    for number, graph in enumerate(graphs):
        alone = BACKENDS["cuda"].nodes(gm.as_graph_batch([graph]), recipe)
        points = together[number : number + 1].points.get()
        np.testing.assert_array_equal(alone.points.get(), points)


def test_only_graphs_with_many_equal_eigenvalues_are_left_to_the_cpu(monkeypatch):
    """Paths are solved on the device; of stars, those too large for Jacobi's method are not."""
    solved = []
    on_cpu = registry._laplacian
    monkeypatch.setattr(
        registry, "_laplacian", lambda work: solved.extend(work.batch.node_counts) or on_cpu(work)
    )
    graphs = [path(30), path(120), path(350), star(60), star(200)]
    BACKENDS["cuda"].nodes(gm.as_graph_batch(graphs), NodeRecipe(6, use_node_labels=False))
    assert solved == [200]


@pytest.mark.parametrize("wl_iterations, sampling", [(0, "anchor"), (2, "anchor"), (0, "uniform")])
def test_the_whole_way_from_graphs_to_features(wl_iterations, sampling):
    graphs = gm.make_graph_families(at_most(12, 120), random_state=0, return_X_y=True)[0]
    options = {"wl_iterations": wl_iterations, "sampling": sampling, "random_state": 0}
    model = gm.RandomGraphEmbedding(at_most(8, 64), gamma=1.0, device="cuda", **options)
    features = model.fit_transform(graphs)
    np.testing.assert_allclose(model.transform(graphs), features, rtol=1e-12)
    np.testing.assert_array_equal(model.transform(graphs)[5:9], model.transform(graphs[5:9]))
    expected = model.set_params(device="cpu").transform(graphs)
    np.testing.assert_allclose(features, expected, rtol=1e-7)


def test_weighted_graphs():
    """Weights enter points and, as weighted degrees, masses."""
    rng = np.random.default_rng(5)
    graphs = [
        gm.Graph(g.n_nodes, g.edges, edge_weights=rng.uniform(0.1, 9, g.n_edges))
        for g in gm.make_graph_families(at_most(12, 60), random_state=0, return_X_y=True)[0]
    ]
    model = gm.RandomGraphEmbedding(at_most(8, 64), random_state=0, device="cuda").fit(graphs)
    on_gpu = model.distances(graphs)
    expected = model.set_params(device="cpu").distances(graphs)
    np.testing.assert_allclose(on_gpu, expected, rtol=1e-7)
    plain = [gm.Graph(g.n_nodes, g.edges) for g in graphs]
    assert not np.allclose(model.distances(plain), expected)


@pytest.mark.parametrize("node_embedding", ["return-probability", "degree", "structure,degree:2"])
@pytest.mark.parametrize("smoothing", [0, 2])
def test_every_choice_of_points_and_masses(node_embedding, smoothing):
    graphs = gm.make_graph_families(at_most(12, 120), random_state=0, return_X_y=True)[0]
    model = gm.RandomGraphEmbedding(
        at_most(8, 64),
        node_embedding=node_embedding,
        smoothing=smoothing,
        node_mass="equal",
        random_state=0,
        device="cuda",
    ).fit(graphs)
    on_gpu = model.distances(graphs)
    expected = model.set_params(device="cpu").distances(graphs)
    np.testing.assert_allclose(on_gpu, expected, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("n_y", [1, 300, 7000])
def test_the_closed_form_has_the_bits_of_the_cpu(partial, n_y):
    graphs = gm.make_graph_families(at_most(8, 400), random_state=0, return_X_y=True)[0]
    options = {"node_embedding": None, "wl_iterations": 3, "wl_depths": "all"}
    nodes = gm.embed_nodes([*graphs, gm.Graph(0, [])], **options)
    y = nodes[np.random.default_rng(0).integers(0, len(nodes), n_y)]
    ground = TreeDistance(partial)
    on_gpu = gm.earth_movers_distance(nodes, y, ground=ground, device="cuda")
    np.testing.assert_array_equal(on_gpu, gm.earth_movers_distance(nodes, y, ground=ground))
    heavy = gm.NodeEmbeddings(nodes.points, nodes.masses * 0.3, nodes.offsets, nodes.labels)
    if partial:
        for pair in ((heavy, y), (y, heavy)):
            with pytest.raises(ValueError, match="partial transport counts masses"):
                gm.earth_movers_distance(*pair, ground=ground, device="cuda")
    else:
        on_gpu = gm.earth_movers_distance(heavy, y, ground=ground, device="cuda")
        expected = gm.earth_movers_distance(heavy, y, ground=ground)
        np.testing.assert_allclose(on_gpu, expected, rtol=1e-9, atol=1e-12)
    engine = GroundDistance(0.0, 1 / 4, unmatched=1.0 if partial else None)
    on_gpu = gm.earth_movers_distance(nodes[:50], y[:50], ground=engine, device="cuda")
    expected = gm.earth_movers_distance(nodes[:50], y[:50], ground=ground)
    np.testing.assert_allclose(on_gpu, expected, rtol=1e-9, atol=1e-12)
    none = nodes[:0]
    assert gm.earth_movers_distance(none, y, ground=ground, device="cuda").shape == (0, n_y)
    assert gm.earth_movers_distance(y, none, ground=ground, device="cuda").shape == (n_y, 0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"node_embedding": None, "max_random_nodes": None, "partial": True},
        {"node_embedding": None, "max_random_nodes": None, "spread_anchors": True},
        {"node_embedding": None},
        {"node_embedding": "laplacian"},
        {"node_embedding": "laplacian", "partial": True},
        {"node_embedding": "structure", "partial": True, "max_random_nodes": None},
    ],
)
def test_labels_of_all_depths(parameters):
    graphs = gm.make_graph_families(at_most(12, 120), random_state=0, return_X_y=True)[0]
    model = gm.RandomGraphEmbedding(
        at_most(8, 64),
        wl_iterations=2,
        wl_depths="all",
        random_state=0,
        device="cuda",
        **parameters,
    ).fit(graphs)
    on_gpu = model.distances(graphs)
    expected = model.set_params(device="cpu").distances(graphs)
    np.testing.assert_allclose(on_gpu, expected, rtol=1e-7, atol=1e-12)
    random_graphs = model.random_graphs_
    if model.node_embedding is None:
        np.testing.assert_array_equal(on_gpu, expected)
        again = model.fit(graphs).random_graphs_
        np.testing.assert_array_equal(again.labels, random_graphs.labels)
        np.testing.assert_array_equal(again.masses, random_graphs.masses)


def test_attributes_read_as_labels():
    graphs = gm.make_graph_families(at_most(12, 120), random_state=0, return_X_y=True)[0]
    degrees = np.minimum(np.diff(graphs.indptr), 4)
    batch = gm.GraphBatch(
        graphs.offsets, graphs.indptr, graphs.indices, node_attributes=np.eye(5)[degrees]
    )
    options = {"wl_iterations": 1, "attributes_as_labels": "nodes", "random_state": 0}
    model = gm.RandomGraphEmbedding(at_most(8, 64), device="cuda", **options).fit(batch)
    assert model.uses_node_labels_
    on_gpu = model.distances(batch)
    expected = model.set_params(device="cpu").distances(batch)
    np.testing.assert_allclose(on_gpu, expected, rtol=1e-7, atol=1e-12)


def test_many_chunks_give_the_same_bits(monkeypatch):
    graphs = gm.make_graph_families(at_most(18, 300), random_state=0, return_X_y=True)[0]
    model = gm.RandomGraphEmbedding(at_most(8, 64), random_state=0, device="cuda").fit(graphs)
    at_once = model.transform(graphs)
    monkeypatch.setattr(schedule, "_MOST_AT_ONCE", 2**18)
    np.testing.assert_array_equal(model.transform(graphs), at_once)


@real_gpu
def test_scratch_memory_in_the_pool_is_used_again():
    """One problem takes 12 MB; but for 64 MB, all memory is in a block of another stream."""
    import cupy

    rng = np.random.default_rng(6)
    x, y = random_nodes(rng, 9, 3000), random_nodes(rng, 9, 250)
    expected = gm.earth_movers_distance(x, y, device="cuda")
    cupy.get_default_memory_pool().free_all_blocks()
    free = cupy.cuda.Device().mem_info[0]
    with cupy.cuda.Stream(non_blocking=True):
        cupy.empty(free - 2**26, np.uint8)
    np.testing.assert_array_equal(gm.earth_movers_distance(x, y, device="cuda"), expected)


@real_gpu
def test_auto_takes_the_gpu_for_much_work_and_says_so(capsys, terminal):
    rng = np.random.default_rng(4)
    x, y = random_nodes(rng, 100, 9), random_nodes(rng, 100, 9)
    gm.earth_movers_distance(x, y, device="auto", progress="distances")
    assert "distances (cuda)" in capsys.readouterr().err
    gm.earth_movers_distance(x[:99], y, device="auto", progress="distances")
    assert "distances (cpu)" in capsys.readouterr().err


def interrupted(*_):
    """Stand in for the progress of a bar: Ctrl-C comes when the first chunk is done."""
    raise KeyboardInterrupt


@real_gpu
@pytest.mark.parametrize("what", ["graphs to features", "distances", "fit"])
def test_ctrl_c_frees_the_device(what, monkeypatch):
    import cupy

    graphs = gm.make_graph_families(600, random_state=0, return_X_y=True)[0]
    model = gm.RandomGraphEmbedding(64, random_state=0, device="cuda").fit(graphs)
    nodes = gm.embed_nodes(graphs, use_node_labels=False)
    pool = cupy.get_default_memory_pool()
    gc.collect()
    pool.free_all_blocks()
    before = pool.used_bytes()
    monkeypatch.setattr(schedule, "_MOST_AT_ONCE", 2**19)
    monkeypatch.setattr("graphmover._utils.progress.Bar.advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        if what == "distances":
            gm.earth_movers_distance(nodes, nodes[:64], device="cuda")
        else:
            (model.fit if what == "fit" else model.transform)(graphs)
    deadline = time.monotonic() + 10
    # What chunks had is back on the device; what the other side had, in CuPy's reserve.
    while pool.used_bytes() > before or pool.total_bytes() > before + 2**20:
        gc.collect()  # the traceback holds the other side
        assert time.monotonic() < deadline, (pool.used_bytes(), pool.total_bytes(), before)
        time.sleep(0.01)


@real_gpu
def test_sigint_ends_a_long_run_within_two_seconds(tmp_path):
    script = tmp_path / "long.py"
    script.write_text(
        "import time, cupy, numpy as np, graphmover as gm\n"
        "graphs = gm.make_graph_families(600, random_state=0, return_X_y=True)[0]\n"
        "model = gm.RandomGraphEmbedding(2048, random_state=0, device='cuda').fit(graphs[:60])\n"
        "many = graphs[np.arange(400_000) % 600]\n"
        "pool = cupy.get_default_memory_pool()\n"
        "before = pool.used_bytes()  # the random graphs of the model stay on the device\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    model.transform(many)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', time.time(), flush=True)\n"
        "while pool.used_bytes() > before and time.sleep(0.1) is None: pass\n"
        "print('in use', pool.used_bytes() - before, flush=True)\n"
    )
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "ready\n"
        time.sleep(2)
        sent = time.time()
        run.send_signal(signal.SIGINT)
        rest = run.communicate(timeout=60)[0]
    stopped, in_use = rest.splitlines()
    assert float(stopped.removeprefix("stopped ")) - sent < 2  # the chunks at work end first
    assert in_use == "in use 0"
    assert run.returncode == 0


@real_gpu
@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_compute_sanitizer(tool):
    """Every kind of kernel on few problems: racecheck is slow."""
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer is None:
        pytest.skip("compute-sanitizer is not installed")
    script = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "import numpy as np, graphmover as gm\n"
        "from graph_zoo import random_nodes\n"
        "from graphmover.transport import GroundDistance\n"
        "rng = np.random.default_rng(0)\n"
        "for n, m, most_mass in ((40, 40, 4), (150, 12, 2**40), (150, 12, 4)):\n"
        "    x, y = random_nodes(rng, 3, n), random_nodes(rng, 4, m, most_mass=most_mass)\n"
        "    gm.earth_movers_distance(x, y, device='cuda')\n"
        "    counts = GroundDistance(1.0, 0.0, unmatched=2.0)\n"
        "    gm.earth_movers_distance(x, y, ground=counts, device='cuda')\n"
        "graphs = gm.make_graph_families(12, random_state=0, return_X_y=True)[0]\n"
        "gm.RandomGraphEmbedding(4, random_state=0, device='cuda').fit_transform(graphs)\n"
        "path, star = ([(i * k, i + 1) for i in range(159)] for k in (1, 0))\n"
        "large = [gm.Graph(160, path), gm.Graph(160, star), gm.Graph(60, star[:59])]\n"
        "gm.RandomGraphEmbedding(4, random_state=0, device='cuda').fit_transform(large)\n"
    )
    command = [sanitizer, "--tool", tool, sys.executable, "-c", script]
    folder = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert re.search(r"SUMMARY:.*\b0 errors", done.stdout), done.stdout[-3000:]


@pytest.mark.parametrize("name", ["labels", "depths", "paper"])
def test_nearest_graphs_are_those_of_the_cpu(name):
    embedding = {
        "labels": gm.RandomGraphEmbedding(
            16, node_embedding=None, wl_iterations=2, wl_depths="all", max_random_nodes=None
        ),
        "depths": gm.RandomGraphEmbedding(16, wl_iterations=2, wl_depths="all"),
        "paper": gm.RandomGraphEmbedding(16),
    }[name]
    n = at_most(20, 500)
    graphs = gm.make_graph_families(n + n // 5, random_state=0).graphs
    near = gm.NearestGraphs(5, embedding=embedding, random_state=0).fit(graphs[:n])
    distances, indices = near.kneighbors(graphs[n:])
    on_gpu = near.set_params(device="cuda").kneighbors(graphs[n:])
    np.testing.assert_allclose(on_gpu[0], distances, rtol=1e-7)
    assert (on_gpu[1] == indices).mean() > 0.99  # near ties may be rounded to either order
    assert near.n_solved_ <= near.n_pairs_
    among = [near.set_params(device=device).kneighbors() for device in ("cpu", "cuda")]
    np.testing.assert_allclose(among[1][0], among[0][0], rtol=1e-7, atol=1e-12)
    radius = float(distances[:, -1].mean())
    by_device = [
        near.set_params(device=device).radius_neighbors(graphs[n:], radius)
        for device in ("cpu", "cuda")
    ]
    for expected, found in zip(*(both[0] for both in by_device), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)
