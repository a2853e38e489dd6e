"""Single kernels on the CPU, as their callers launch them, and which took what."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from simulated_gpu import RUBBISH, launch, library, require_compiler

from graphmover._utils.cuda import source
from graphmover.nodes.laplacian import cuda_schedule as laplacian_schedule
from graphmover.nodes.masses import node_degrees
from graphmover.transport.cpu.problem import prepare
from graphmover.transport.cuda import schedule
from graphmover.transport.cuda.engine import BY_LANES
from graphmover.transport.ground import default_ground_distance
from graphmover.transport.side import ROUNDED_TOTAL, add_unmatched
from graphmover.transport.tree.histograms import histograms, index_labels


def build(*options, file="transport.cu"):
    """Compile the kernels and load them."""
    require_compiler()
    return library(source(file), options)


def rubbish(n_bytes):
    return np.full(n_bytes, RUBBISH, np.uint8)


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
    for launched in launches:
        stop = start + launched.n_problems
        there = out if pairs is None else out[start:stop]
        start = stop
        taken += solve(kernels, launched, x, y, ground, there, guess=guess, shared=shared)
    if pairs is not None:
        found, out = out, np.full(len(pairs[0]), np.inf)
        out[order] = found
    elif partial:
        add_unmatched(np, out, x.totals[:, np.newaxis], y.totals, ground.unmatched)
    return out, taken


def solve(kernels, launched, x, y, ground, out, *, guess, shared):
    """Solve a launch as `cuda.engine._launch` does; return how many problems each kernel took."""
    steps = launched.steps(10**9 if shared else 0)
    if not guess:
        steps = [step for step in steps if not step.name.startswith("guess")]
    chosen, n_chosen, taken = None, None, Counter()
    for step in steps:
        again, n_again = np.full(launched.n_problems, -1, np.int32), np.zeros(1, np.int32)
        lists = chosen, n_chosen, again, n_again
        taken[step.name] = launched.n_problems if n_chosen is None else int(n_chosen[0])
        run(step, kernels, launched, x, y, ground, out, *lists)
        chosen, n_chosen = again, n_again
    return taken


def run(step, kernels, launched, x, y, ground, out, chosen, n_chosen, again, n_again):
    arguments = (
        x.table,
        y.table,
        launched.x_graphs,
        launched.y_graphs,
        launched.rectangles,
        np.int32(len(launched.rectangles)),
        np.int32(launched.n_problems),
        np.int32(x.n_dimensions),
        np.int32(x.n_labels),
        np.float64(ground.floor),
        np.float64(ground.per_label),
        np.int32(launched.width if step.name in BY_LANES else launched.sinks),
        np.int32(launched.rows),
        np.int32(launched.places),
        rubbish(step.scratch * launched.n_warps),
        np.int64(step.scratch),
        out,
        np.int64(out.shape[-1]),
        chosen,
        n_chosen,
        again,
        n_again,
    )
    name = f"{step.name}_in_{'scratch' if step.scratch else 'shared'}_memory"
    launch(kernels, name, (launched.n_warps,), 32, arguments, step.shared)


def tree_distances(kernels, x, y, *, partial, tile):
    """All distances as `transport.tree.cuda` computes them."""
    index = index_labels(np, y.labels, y.masses, y.offsets)
    found = histograms(np, index, x.labels, x.masses, x.offsets)
    out = np.full((len(x), len(y)), np.inf)
    scales = np.ones(len(y)) if partial else index.totals
    arguments = (
        *found,
        np.int32(index.n_depths),
        index.totals,
        scales,
        *index[2:],
        np.int32(partial),
        np.int64(len(y)),
        np.int32(tile),
        out,
    )
    grid = (len(x), -(-len(y) // tile))
    launch(kernels, "tree_distances", grid, 256, arguments, 8 * tile)
    return out


def laplacian_points(kernels, batch, d, available=200_000, *, blocks=3, backwards=False):
    """Points as `nodes.laplacian.cuda` computes them, and the graphs left to another method."""
    points, unsolved = np.zeros((batch.n_nodes, d)), np.zeros(len(batch), np.int32)
    for launched in laplacian_schedule.launches(batch.node_counts, d, available):
        assert launched.shared_bytes <= available
        n_blocks = min(blocks, len(launched.graphs))
        arguments = (
            launched.graphs,
            np.int32(len(launched.graphs)),
            *_graphs(batch),
            np.int32(d),
            np.int32(launched.few),
            rubbish(launched.scratch_bytes * n_blocks),
            np.int64(launched.scratch_bytes),
            points,
            unsolved,
        )
        name = f"by_reflections_in_{'shared' if launched.matrix_in_shared else 'scratch'}_memory"
        place = (n_blocks,), launched.threads
        launch(kernels, name, *place, arguments, launched.shared_bytes, backwards=backwards)
    return points, np.flatnonzero(unsolved)


def rotated_points(kernels, batch, d):
    """Points by Jacobi's method."""
    points = np.zeros((batch.n_nodes, d))
    for graphs in laplacian_schedule.bins(batch.node_counts):
        n = int(batch.node_counts[graphs].max())
        numbers = graphs.astype(np.int32), np.int32(len(graphs))
        arguments = (*numbers, *_graphs(batch), np.int32(d), points)
        place = (len(graphs),), laplacian_schedule.threads_for_rotations(n)
        shared_bytes = laplacian_schedule.rotation_bytes(n)
        launch(kernels, "by_rotations", *place, arguments, shared_bytes)
    return points


def _graphs(batch):
    indices = batch.indices.astype(np.int32)
    return batch.offsets, batch.indptr, indices, batch.edge_weights, node_degrees(batch)
