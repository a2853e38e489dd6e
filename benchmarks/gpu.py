"""The GPU engine: problems per second, the whole way from graphs to features, agreement, peers.

Run with GRAPHMOVER_DATA set: ``python benchmarks/gpu.py [kernel] [whole] [tree] [pipeline]
[million] [auto] [agreement] [peers]``; without a name, all of it. Device times are CUDA events,
medians after a warm-up; host times are wall-clock medians. ``nci1_once`` and ``enzymes_once`` solve
the problems of a bar once, for a profiler: ``ncu --kernel-name regex:guess --launch-count 1``
before that command looks at the largest launch.
"""

import ctypes
import gc
import importlib.util
import multiprocessing
import os
import sys
import threading
import time
from pathlib import Path

import cupy as cp
import numpy as np

import graphmover as gm
from graphmover._utils.parallel import chunks
from graphmover.backends import BACKENDS
from graphmover.backends.rows import distances_between
from graphmover.nodes.embed import node_codes
from graphmover.nodes.masses import node_degrees, node_masses
from graphmover.nodes.recipe import NodeRecipe
from graphmover.nodes.registry import NODE_EMBEDDINGS, Work
from graphmover.random_graphs import sample_random_graphs
from graphmover.transport import TreeDistance
from graphmover.transport.cuda import engine, schedule
from graphmover.transport.cuda.side import prepare_on_device
from graphmover.transport.tree.cuda import distances_on_device
from graphmover.transport.tree.histograms import histograms

PARTS = ("kernel", "whole", "tree", "pipeline", "million", "auto", "agreement", "peers")
DATASETS = ("MUTAG", "ENZYMES", "NCI1", "IMDB-BINARY", "PROTEINS", "COLLAB")


#: What the parts that embed use: the setting of the paper's figure of scaling.
SETTING = {"max_random_nodes": 10, "n_dimensions": 6, "random_state": 0}


def load(name):
    try:
        return gm.load_dataset(name).graphs
    except (FileNotFoundError, OSError, ImportError):
        return None


def sides(graphs, n_random, most_nodes, labels="auto"):
    nodes = gm.embed_nodes(graphs, 6, use_node_labels=labels, n_jobs=-1)
    rng = np.random.default_rng(0)
    drawn = sample_random_graphs(
        nodes, n_random, max_random_nodes=most_nodes, sampling="anchor", random_state=rng
    )
    return nodes, drawn


def on_device(nodes):
    labels = np.empty(0, np.int64) if nodes.labels is None else nodes.labels
    return engine.prepare(nodes.points, nodes.masses, nodes.offsets, labels)


def device_ms(function, rounds=7):
    """Return the median of the rounds; of fewer, at least three, where they take long."""
    function()
    times = []
    while len(times) < rounds and (len(times) < 3 or sum(times) < 3000):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        function()
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop))
    return float(np.median(times))


def wall_seconds(function, rounds=5):
    function()
    times = []
    for _ in range(rounds):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        function()
        cp.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def kernel():
    print("| data, D_max, R | n merged | GPU M/s | again % | CPU M/s, all cores | ratio |")
    print("|---|---|---|---|---|---|")
    for name in DATASETS:
        graphs = load(name)
        if graphs is None:
            continue
        for most_nodes in (10, 30):
            n_random = max(512, 2**21 // len(graphs) // 2 * 2)
            nodes, drawn = sides(graphs, n_random, most_nodes)
            x, y = on_device(nodes), on_device(drawn)
            ms = device_ms(lambda: engine.solve(x, y))
            out, again = engine.solve(x, y)
            some = drawn[: max(8, int(2e5 // len(graphs)))]
            gm.earth_movers_distance(nodes[:3], some[:8], n_jobs=-1)
            start = time.perf_counter()
            gm.earth_movers_distance(nodes, some, n_jobs=-1)
            cpu = len(nodes) * len(some) / (time.perf_counter() - start) / 1e6
            rate = out.size / ms / 1e3
            print(
                f"| {name}, {most_nodes}, {n_random} | {x.sizes.mean():.1f} | {rate:.1f} | "
                f"{100 * int(again.sum()) / out.size:.2f} | {cpu:.2f} | {rate / cpu:.0f} |",
                flush=True,
            )


def whole():
    """Whole training graphs as random graphs: problems with as many sinks as sources."""
    print("| data, R = 512 | n merged | GPU M/s | again % |")
    print("|---|---|---|---|")
    for name in DATASETS:
        graphs = load(name)
        if graphs is None:
            continue
        nodes, drawn = sides(graphs, 512, None)
        x, y = on_device(nodes), on_device(drawn)
        ms = device_ms(lambda: engine.solve(x, y), 3)
        out, again = engine.solve(x, y)
        print(
            f"| {name} | {x.sizes.mean():.1f} | {out.size / ms / 1e3:.2f} | "
            f"{100 * int(again.sum()) / out.size:.2f} |",
            flush=True,
        )
    reserved = cp.get_default_memory_pool().total_bytes()
    print(f"\nCuPy's memory pool holds {reserved / 1e9:.1f} GB.", flush=True)


def tree():
    """Labels of depths 0 to 3 alone, whole graphs against whole graphs."""
    print(
        "| data, R | kernel M/s | with histograms M/s | to host M/s | CPU M/s, all cores | ratio |"
    )
    print("|---|---|---|---|---|---|")
    backend = BACKENDS["cuda"]
    for name in DATASETS:
        graphs = load(name)
        if graphs is None:
            continue
        nodes = gm.embed_nodes(
            graphs, node_embedding=None, node_mass="equal", wl_iterations=3, wl_depths="all"
        )
        for n_random in sorted({min(1024, len(nodes)), min(4110, len(nodes))}):
            y = nodes[np.random.default_rng(0).permutation(len(nodes))[:n_random]]
            x, prepared = backend.take(nodes), backend.prepare(y, TreeDistance())
            index = prepared.labels

            def found(x=x, index=index):
                return histograms(cp, index, x.labels, x.masses, x.offsets)

            once = found()
            size = len(nodes) * n_random / 1e6
            kernel_ms = device_ms(lambda: distances_on_device(once, index, partial=False))
            both_ms = device_ms(lambda: distances_on_device(found(), index, partial=False))
            there = wall_seconds(lambda: distances_between(backend, nodes, prepared, n_random))
            host = BACKENDS["cpu"]
            ready = host.prepare(y, TreeDistance())
            cpu = wall_seconds(lambda: distances_between(host, nodes, ready, n_random, n_jobs=-1))
            same = distances_between(backend, nodes, prepared, n_random)
            assert (same == distances_between(host, nodes, ready, n_random, n_jobs=-1)).all()
            print(
                f"| {name}, {n_random} | {1e3 * size / kernel_ms:.0f} | {1e3 * size / both_ms:.0f} "
                f"| {size / there:.0f} | {size / cpu:.0f} | {cpu / there:.1f} |",
                flush=True,
            )


def pipeline():
    print(
        "| data, R = 512 | host arrays | node embedding | prepare | transport | features |", end=""
    )
    print(" to host | transform | fit_transform | CPU, all cores |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in ("NCI1", "ENZYMES", "PROTEINS"):
        graphs = load(name)
        model = gm.RandomGraphEmbedding(512, device="cuda", **SETTING).fit(graphs)
        y = on_device(model.random_graphs_)

        def host_arrays():
            degrees = node_degrees(graphs, 0)
            masses = node_masses(graphs, degrees, "degree")
            return degrees, masses, node_codes(graphs, NodeRecipe(6))

        degrees, masses, labels = host_arrays()
        eigenvectors = NODE_EMBEDDINGS["laplacian"].points_on_gpu
        points = eigenvectors(Work(graphs, degrees, 6))
        arrays = points, cp.asarray(masses), graphs.offsets, cp.asarray(labels)
        x = prepare_on_device(*arrays)
        distances = engine.distances_on_device(x, y)
        out = np.empty(distances.shape)
        parts = [
            host_arrays,
            lambda: eigenvectors(Work(graphs, degrees, 6)),
            lambda: prepare_on_device(*arrays),
            lambda: engine.distances_on_device(x, y),
            lambda: cp.exp(distances * -model.gamma_),
            lambda: distances.get(out=out),
            lambda: model.transform(graphs),
            lambda: gm.RandomGraphEmbedding(512, device="cuda", **SETTING).fit_transform(graphs),
        ]
        times = [wall_seconds(part) for part in parts]
        on_cpu = gm.RandomGraphEmbedding(512, n_jobs=-1, **SETTING).fit(graphs)
        times.append(wall_seconds(lambda: on_cpu.transform(graphs), 1))
        print(f"| {name} | " + " | ".join(f"{1e3 * t:.1f} ms" for t in times) + " |", flush=True)


def renumbered(graphs, copies, rng):
    """Return copies of a collection, each node at a random place of its graph."""
    batch = graphs[np.tile(np.arange(len(graphs)), copies)]
    order = np.lexsort(
        (rng.random(batch.n_nodes), np.repeat(np.arange(len(batch)), batch.node_counts))
    )
    place = np.empty(batch.n_nodes, np.int64)
    place[order] = np.arange(batch.n_nodes)
    degrees = np.diff(batch.indptr)
    starts = np.repeat(batch.offsets[:-1], np.diff(batch.indptr[batch.offsets]))
    u = np.repeat(np.arange(batch.n_nodes), degrees)
    once = u < batch.indices + starts
    edges = np.column_stack([place[u[once]], place[(batch.indices + starts)[once]]])
    first = starts[once]
    return gm.GraphBatch.from_edges(
        batch.node_counts,
        np.bincount(
            np.repeat(np.arange(len(batch)), np.diff(batch.indptr[batch.offsets]))[once],
            minlength=len(batch),
        ),
        edges - first[:, None],
        node_labels=None if batch.node_labels is None else batch.node_labels[order],
    )


def memory_of(function):
    """Return a function's result and the most host memory that it took on the way, in bytes."""

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def watch():
        while not done.wait(0.005):
            samples.append(resident())

    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what is free must not hide what is taken
    done, samples = threading.Event(), [resident()]
    thread = threading.Thread(target=watch)
    thread.start()
    try:
        result = function()
    finally:
        done.set()
        thread.join()
    return result, max(samples) - samples[0]


def n_bytes(batch):
    arrays = (batch.offsets, batch.indptr, batch.indices, batch.node_labels)
    return sum(array.nbytes for array in arrays)


def million():
    graphs = load("NCI1")
    renumberings = renumbered(graphs, 8, np.random.default_rng(0))
    batch = renumberings[np.arange(1_000_000) % len(renumberings)]
    model = gm.RandomGraphEmbedding(256, device="cuda", **SETTING).fit(graphs)
    model.transform(batch[:200_000])
    start = time.perf_counter()
    features, taken = memory_of(lambda: model.transform(batch))
    seconds = time.perf_counter() - start
    expected = model.transform(graphs)
    error = np.abs(features[: len(graphs)] - expected).max() / expected.max()
    backend = BACKENDS["cuda"]
    chunking = backend.chunking(batch.node_counts, backend.prepare(model.random_graphs_), None)
    parts = list(chunks(chunking.work, chunking.most))
    print(f"{len(batch)} graphs of NCI1, renumbered, R = 256: {seconds:.2f} s; ", end="")
    print(f"largest difference to the originals {error:.1e} of the largest feature")
    print(
        f"host memory: the graphs {n_bytes(batch) / 1e6:.0f} MB, Z {features.nbytes / 1e6:.0f} MB, "
        f"all else {(taken - features.nbytes) / 1e6:.0f} MB at its peak; {len(parts)} chunks, "
        f"{chunking.n_threads} at a time, of {n_bytes(batch[parts[0]]) / 1e6:.0f} MB of "
        f"graphs and {8 * 256 * parts[0].stop / 1e6:.0f} MB of Z each",
        flush=True,
    )


def auto():
    """From how many problems on a GPU is faster than all cores: `_WORTH_A_GPU`."""
    print("| data, R | problems | transform: GPU | CPU | distances: GPU | CPU |")
    print("|---|---|---|---|---|---|")
    for name, n_random in (("MUTAG", 64), ("MUTAG", 256), ("NCI1", 64), ("NCI1", 256)):
        graphs = load(name)
        model = gm.RandomGraphEmbedding(n_random, n_jobs=-1, **SETTING).fit(graphs)
        for n_problems in (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000):
            n_graphs = -(-n_problems // n_random)
            some = graphs[np.arange(n_graphs) % len(graphs)]
            nodes = gm.embed_nodes(some, 6, n_jobs=-1)
            times = []
            for device in ("cuda", "cpu"):
                model.set_params(device=device)
                times.append(wall_seconds(lambda: model.transform(some), 3))
            for device in ("cuda", "cpu"):
                options = {"device": device, "n_jobs": -1}
                times.append(
                    wall_seconds(
                        lambda: gm.earth_movers_distance(nodes, model.random_graphs_, **options), 3
                    )
                )
            row = " | ".join(f"{1e3 * t:.1f} ms" for t in times)
            print(f"| {name}, {n_random} | {n_graphs * n_random} | {row} |", flush=True)


def solve_once(name, most_nodes, n_random):
    nodes, drawn = sides(load(name), n_random, most_nodes)
    x, y = on_device(nodes), on_device(drawn)
    out, again = engine.solve(x, y)
    first = schedule.launches(x.sizes, y.sizes, x.host_totals, y.host_totals)[0]
    print(
        f"{name}, D_max {most_nodes}: {out.size} problems, {int(again.sum())} again; the first "
        f"launch: {first.n_problems}, {first.places} a warp, to {first.rows} x {first.sinks} nodes"
    )


def nci1_once():
    solve_once("NCI1", 10, 64)


def enzymes_once():
    solve_once("ENZYMES", 30, 256)


def agreement():
    print("| data | problems | largest relative difference to the CPU | same bits twice |")
    print("|---|---|---|---|")
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 41, 1000), rng.integers(1, 33, 1000)
    cases = [("random", *(random_nodes(rng, s) for s in sizes))]
    for name in DATASETS:
        graphs = load(name)
        if graphs is not None:
            cases.append((name, *sides(graphs, max(64, 200_000 // len(graphs)), 30)))
    for name, x, y in cases:
        once = gm.earth_movers_distance(x, y, device="cuda")
        twice = gm.earth_movers_distance(x, y, device="cuda")
        expected = gm.earth_movers_distance(x, y, n_jobs=-1)
        equal = once == expected
        error = np.abs(once - expected)[~equal] / expected[~equal]
        same = np.array_equal(once, twice)
        print(f"| {name} | {once.size} | {error.max(initial=0):.1e} | {same} |", flush=True)


def random_nodes(rng, sizes):
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    masses = rng.integers(1, 6, offsets[-1])
    return gm.NodeEmbeddings(rng.random((offsets[-1], 6)), masses, offsets)


def pot_row(i):
    """Distances of one graph to all random graphs; the pool's processes are forks."""
    import ot

    x, ys = POT_PROBLEMS
    points, weights = x[i]
    return [ot.emd2(weights, b, ot.dist(points, q, metric="euclidean")) for q, b in ys]


def in_a_pool_of_pot(x, y):
    """Solve all problems with POT in as many processes as there are cores."""
    global POT_PROBLEMS  # noqa: PLW0603 - what forks share
    POT_PROBLEMS = [[(g.points, g.weights) for g in side] for side in (x, y)]
    with multiprocessing.get_context("fork").Pool() as pool:
        pool.map(pot_row, range(os.cpu_count()), chunksize=1)
        start = time.perf_counter()
        distances = np.array(pool.map(pot_row, range(len(x)), chunksize=1))
        return distances, time.perf_counter() - start


def sinkhorn(x_points, x_weights, y_points, y_weights, regularisation, rounds):
    """Solve entropic problems of the same shape on the GPU, in the log domain."""
    cost = cp.sqrt(((x_points[:, :, None] - y_points[:, None]) ** 2).sum(-1))
    f, g = cp.zeros_like(x_weights), cp.zeros_like(y_weights)

    def soft(values, axis):
        most = values.max(axis, keepdims=True)
        return (cp.log(cp.exp(values - most).sum(axis, keepdims=True)) + most).squeeze(axis)

    for _ in range(rounds):
        f = regularisation * (cp.log(x_weights) - soft((g[:, None] - cost) / regularisation, 2))
        g = regularisation * (cp.log(y_weights) - soft((f[:, :, None] - cost) / regularisation, 1))
    plan = cp.exp((f[:, :, None] + g[:, None] - cost) / regularisation)
    return (plan * cost).sum((1, 2))


def peers():
    rng = np.random.default_rng(0)
    count, n, m = 20_000, 30, 10
    x, y = (random_nodes(rng, np.full(count, size)) for size in (n, m))
    exact = np.array([gm.earth_movers_distance(x[i], y[i])[0, 0] for i in range(1000)])
    for regularisation, rounds, kind in ((0.1, 100, np.float32), (0.01, 1000, np.float64)):
        arrays = [
            cp.asarray(values.reshape(count, size, -1), kind)
            for side, size in ((x, n), (y, m))
            for values in (side.points, side.weights)
        ]
        arrays[1::2] = [weights[:, :, 0] for weights in arrays[1::2]]
        ms = device_ms(lambda: sinkhorn(*arrays, regularisation, rounds), 3)
        found = sinkhorn(*arrays, regularisation, rounds).get()[: len(exact)]
        error = np.abs(found - exact) / exact
        print(
            f"Sinkhorn on the GPU, {count} problems of {n} x {m} at once, {kind.__name__}, "
            f"regularisation {regularisation}, {rounds} rounds: {count / ms / 1e3:.3f} M/s, "
            f"relative error {error.mean():.1e} (mean), {error.max():.1e} (largest)",
            flush=True,
        )
    nci1 = sides(load("NCI1"), 512, 10, labels=False)
    for name, (xs, ys) in (("30 x 10", (x[:2000], y[:1000])), ("NCI1, D_max 10, no labels", nci1)):
        gx, gy = on_device(xs), on_device(ys)
        ms = device_ms(lambda: engine.solve(gx, gy))
        rate = len(xs) * len(ys) / ms / 1e3
        print(f"ours, exact, {name}: {rate:.1f} M/s", flush=True)
        if importlib.util.find_spec("ot") is None:
            print("POT in a process pool: POT is not installed")
            continue
        some = xs[:320]
        found, seconds = in_a_pool_of_pot(some, ys)
        expected = gm.earth_movers_distance(some, ys, n_jobs=-1)
        error = np.abs(found - expected).max() / expected.max()
        peer = found.size / seconds / 1e6
        print(
            f"POT in {os.cpu_count()} processes, {name}: {peer:.3f} M/s, largest difference "
            f"{error:.1e} of the largest distance; ours is {rate / peer:.0f} times as fast",
            flush=True,
        )


if __name__ == "__main__":
    print(f"{cp.cuda.runtime.getDeviceProperties(0)['name'].decode()}, {os.cpu_count()} CPU cores")
    for part in sys.argv[1:] or PARTS:
        print(f"\n## {part}\n")
        globals()[part]()
