"""The kernels compiled for the CPU: transport.cu, laplacian.cu in simulator/; tree.cu alone."""

import ctypes
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphmover._utils.cuda import source
from graphmover.nodes.laplacian import cuda_schedule as laplacian_schedule
from graphmover.nodes.masses import node_degrees
from graphmover.transport.cpu.problem import prepare
from graphmover.transport.cuda import schedule
from graphmover.transport.cuda.engine import BY_LANES
from graphmover.transport.ground import default_ground_distance
from graphmover.transport.side import ROUNDED_TOTAL, add_unmatched
from graphmover.transport.tree.histograms import histograms, index_labels

SIMULATOR = Path(__file__).parent / "simulator"
SHARED = "extern __shared__ __align__(16) char shared[];"


def compiler():
    return shutil.which("g++") or shutil.which("clang++")


def build(folder, *options):
    """Compile the kernels and load them."""
    text = source("transport.cu")
    assert SHARED in text
    (folder / "transport.cpp").write_text(text.replace(SHARED, "static char* shared;"))
    library = folder / "kernels.so"
    command = [compiler(), "-std=c++17", "-O1", "-w", "-shared", "-fPIC", *options]
    define = f'-DTRANSPORT="{folder / "transport.cpp"}"'
    harness = str(SIMULATOR / "harness.cpp")
    subprocess.run([*command, define, harness, "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


@dataclass
class HostSide:
    """What `transport.cuda.side.DeviceSide` is, with NumPy's arrays."""

    arrays: list
    sizes: np.ndarray
    totals: np.ndarray
    table: np.ndarray

    @property
    def host_totals(self):
        return self.totals

    @property
    def n_dimensions(self):
        return self.arrays[0].shape[1]

    @property
    def n_labels(self):
        return self.arrays[5].shape[1]


def host_side(nodes):
    side = prepare(nodes.points, nodes.masses, nodes.offsets, nodes.labels)
    d = side.points.shape[1]
    coarse = np.zeros((len(side.points), -(-d // 4) * 4), np.float32)
    coarse[:, :d] = side.points
    sizes = np.diff(side.offsets)
    rounded = np.concatenate(
        [
            np.diff((np.cumsum(masses) / masses.sum() * ROUNDED_TOTAL).astype(np.int64), prepend=0)
            for masses in np.split(side.masses, side.offsets[1:-1])
        ]
    )
    arrays = [
        side.points,
        coarse,
        side.masses,
        rounded,
        side.offsets.astype(np.int32),
        side.labels,
        side.low,
        side.high,
        side.totals,
    ]
    table = np.array([array.ctypes.data for array in arrays], np.uint64)
    return HostSide(arrays, sizes, side.totals, table)


def distances(kernels, x, y, ground=None, *, guess=True, shared=True, pairs=None):
    """All distances as `cuda.engine.solve` computes them, and how many problems each kernel took.

    With ``pairs``, those as `cuda.engine.distances_of_pairs`. A ground distance by counts needs
    kernels that were built with PARTIAL.
    """
    if ground is None:
        ground = default_ground_distance(x.n_dimensions)
    x, y = host_side(x), host_side(y)
    sizes, partial = (x.sizes, y.sizes, x.totals, y.totals), ground.partial
    if pairs is None:
        out = np.full((len(x.sizes), len(y.sizes)), np.inf)
        launches = schedule.launches(*sizes, partial=partial)
    else:
        launches, order = schedule.launches_of_pairs(*pairs, *sizes, partial=partial)
        out = np.full(len(order), np.inf)
    start, taken = 0, Counter()
    for launch in launches:
        stop = start + launch.n_problems
        there = out if pairs is None else out[start:stop]
        start = stop
        taken += solve(kernels, launch, x, y, ground, there, guess=guess, shared=shared)
    if pairs is not None:
        found, out = out, np.full(len(pairs[0]), np.inf)
        out[order] = found
    elif partial:
        add_unmatched(np, out, x.totals[:, np.newaxis], y.totals, ground.unmatched)
    return out, taken


def solve(kernels, launch, x, y, ground, out, *, guess, shared):
    """Solve a launch as `cuda.engine._launch` does; return how many problems each kernel took."""
    steps = launch.steps(10**9 if shared else 0)
    if not guess:
        steps = [step for step in steps if not step.name.startswith("guess")]
    chosen, n_chosen, taken = None, None, Counter()
    for step in steps:
        again, n_again = np.full(launch.n_problems, -1, np.int32), np.zeros(1, np.int32)
        lists = chosen, n_chosen, again, n_again
        taken[step.name] = launch.n_problems if n_chosen is None else int(n_chosen[0])
        run(step, kernels, launch, x, y, ground, out, *lists)
        chosen, n_chosen = again, n_again
    return taken


def run(step, kernels, launch, x, y, ground, out, chosen, n_chosen, again, n_again):
    function = kernels[f"run_{step.name}_in_{'scratch' if step.scratch else 'shared'}_memory"]

    def address(array):
        return None if array is None else ctypes.c_void_p(array.ctypes.data)

    function(
        ctypes.c_int(launch.n_warps),
        ctypes.c_long(step.shared),
        address(x.table),
        address(y.table),
        address(launch.x_graphs),
        address(launch.y_graphs),
        address(launch.rectangles),
        ctypes.c_int(len(launch.rectangles)),
        ctypes.c_int(launch.n_problems),
        ctypes.c_int(x.n_dimensions),
        ctypes.c_int(x.n_labels),
        ctypes.c_double(ground.floor),
        ctypes.c_double(ground.per_label),
        ctypes.c_int(launch.width if step.name in BY_LANES else launch.sinks),
        ctypes.c_int(launch.rows),
        ctypes.c_int(launch.places),
        ctypes.c_longlong(step.scratch),
        address(out),
        ctypes.c_longlong(out.shape[-1]),
        address(chosen),
        address(n_chosen),
        address(again),
        address(n_again),
    )


#: Each block has one thread, so there is nothing to synchronise.
TREE = """
#include <cmath>
using std::fmax;
using std::fmin;
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(threads)
struct Index { long x, y; };
static Index threadIdx = {0, 0}, blockIdx, blockDim = {1, 1}, gridDim;
static void __syncthreads() {}
static double __dmul_rn(double a, double b) { return a * b; }
extern "C" void place(long x, long y, long tiles) { blockIdx = {x, y}; gridDim = {0, tiles}; }
"""


def build_tree(folder):
    """Compile tree.cu and load it."""
    text = source("tree.cu")
    shared = "extern __shared__ double common[];"
    assert shared in text
    (folder / "tree.cpp").write_text(TREE + text.replace(shared, "static double common[6144];"))
    library = folder / "tree.so"
    options = ["-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-ffp-contract=off"]
    subprocess.run([compiler(), *options, str(folder / "tree.cpp"), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def tree_distances(kernel, x, y, *, partial, tile):
    """All distances as `transport.tree.cuda` computes them."""
    index = index_labels(np, y.labels, y.masses, y.offsets)
    found = histograms(np, index, x.labels, x.masses, x.offsets)
    out = np.full((len(x), len(y)), np.inf)
    scales = np.ones(len(y)) if partial else index.totals

    def address(array):
        return None if array is None else ctypes.c_void_p(array.ctypes.data)

    n_tiles = -(-len(y) // tile)
    for i, j in np.ndindex(len(x), n_tiles):
        kernel.place(ctypes.c_long(i), ctypes.c_long(j), ctypes.c_long(n_tiles))
        kernel.tree_distances(
            *map(address, found),
            ctypes.c_int(index.n_depths),
            address(index.totals),
            address(scales),
            *map(address, index[2:]),
            ctypes.c_int(partial),
            ctypes.c_longlong(len(y)),
            ctypes.c_int(tile),
            address(out),
        )
    return out


#: The kernels in the order of laplacian_harness.cpp.
BY_ROTATIONS, IN_SHARED, IN_SCRATCH = range(3)


def build_laplacian(folder, *options):
    """Compile laplacian.cu and load it."""
    text = source("laplacian.cu")
    shared = "extern __shared__ __align__(16) double memory[];"
    assert shared in text
    (folder / "laplacian.cpp").write_text(text.replace(shared, "static double* memory;"))
    library = folder / "laplacian.so"
    define = f'-DLAPLACIAN="{folder / "laplacian.cpp"}"'
    command = [compiler(), "-std=c++17", "-O1", "-w", "-shared", "-fPIC", *options, define]
    harness = str(SIMULATOR / "laplacian_harness.cpp")
    subprocess.run([*command, harness, "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def laplacian_points(kernels, batch, d, available=200_000, *, blocks=3, backwards=False):
    """Points as `nodes.laplacian.cuda` computes them, and the graphs left to another method."""
    points, unsolved = np.zeros((batch.n_nodes, d)), np.zeros(len(batch), np.int32)
    schedule = laplacian_schedule
    for launch in schedule.launches(batch.node_counts, d, available):
        assert launch.shared_bytes <= available
        run_laplacian(
            kernels,
            (IN_SHARED if launch.matrix_in_shared else IN_SCRATCH),
            (min(blocks, len(launch.graphs)), launch.threads, launch.shared_bytes, backwards),
            launch.graphs,
            batch,
            (d, launch.few, launch.scratch_bytes),
            (points, unsolved),
        )
    return points, np.flatnonzero(unsolved)


def rotated_points(kernels, batch, d):
    """Points by Jacobi's method."""
    points, unsolved = np.zeros((batch.n_nodes, d)), np.zeros(len(batch), np.int32)
    for graphs in laplacian_schedule.bins(batch.node_counts):
        n = int(batch.node_counts[graphs].max())
        place = (
            len(graphs),
            laplacian_schedule.threads_for_rotations(n),
            laplacian_schedule.rotation_bytes(n),
            False,
        )
        list_of_graphs = graphs.astype(np.int32)
        results = (points, unsolved)
        run_laplacian(kernels, BY_ROTATIONS, place, list_of_graphs, batch, (d, 0, 0), results)
    return points


def run_laplacian(kernels, kernel, place, graphs, batch, sizes, results):
    degrees, indices = node_degrees(batch), batch.indices.astype(np.int32)

    def address(array):
        return None if array is None else ctypes.c_void_p(array.ctypes.data)

    blocks, threads, shared_bytes, backwards = place
    d, few, scratch_bytes = sizes
    kernels.run(
        ctypes.c_int(kernel),
        ctypes.c_int(blocks),
        ctypes.c_int(threads),
        ctypes.c_long(shared_bytes),
        ctypes.c_int(backwards),
        address(graphs),
        ctypes.c_int(len(graphs)),
        address(batch.offsets),
        address(batch.indptr),
        address(indices),
        address(batch.edge_weights),
        address(degrees),
        ctypes.c_int(d),
        ctypes.c_int(few),
        ctypes.c_longlong(scratch_bytes),
        *map(address, results),
    )
