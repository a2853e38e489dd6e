"""Exact transport on a GPU: the method of `cpu/engine.py`, with kernels in `transport.cu`.

CuPy compiles the kernels at first use and caches them. `schedule.py` sorts pairs of graphs into
launches, `side.py` prepares collections on the device.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from graphmover._utils.cuda import (
    LABELS,
    PARTIAL,
    free_memory,
    kernel,
    pooled_memory,
    reclaim_memory,
    shared_memory,
)
from graphmover.transport.cuda import schedule as _schedule
from graphmover.transport.cuda.schedule import Solver
from graphmover.transport.cuda.side import prepare
from graphmover.transport.ground import GroundDistance, default_ground_distance
from graphmover.transport.side import add_unmatched

__all__ = ["distances_on_device", "prepare"]

#: Launches in flight at once: the last warps of one overlap with the first of the next.
_STREAMS = 32

#: Blocks of one warp for each multiprocessor that share a list of unknown length.
_BLOCKS = 16

#: Bytes of scratch memory for one launch, unless a single problem needs more.
_MOST_SCRATCH = 2**30

#: Solvers that may leave a problem to the next.
_LEFT = 2

#: Kernels for few sinks, which are lanes.
BY_LANES = ("guess", "guess_short", "solve_exactly")


def distances_on_device(x: Any, y: Any, ground: GroundDistance | None = None) -> Any:
    """The distance between every graph of x and every graph of y, as an array on the device.

    Both come from `prepare`. A graph without nodes is infinitely far. The default ground distance
    is the paper's.
    """
    return solve(x, y, ground)[0]


def distances_of_pairs(
    x: Any, y: Any, rows: Any, columns: Any, ground: GroundDistance | None = None
) -> Any:
    """The distances between graphs ``rows[t]`` of x and ``columns[t]`` of y, on the host."""
    import cupy

    if ground is None:
        ground = default_ground_distance(x.n_dimensions)
    sizes = (x.sizes, y.sizes, x.host_totals, y.host_totals)
    schedule, order = _schedule.launches_of_pairs(rows, columns, *sizes, partial=ground.partial)
    there = cupy.full(len(order), np.inf)
    _solve(schedule, _Sides(x, y, ground), there)
    out = np.full(len(rows), np.inf)
    out[order] = there.get()
    if ground.unmatched is not None:
        add_unmatched(np, out, x.host_totals[rows], y.host_totals[columns], ground.unmatched)
    return out


def solve(x: Any, y: Any, ground: GroundDistance | None = None) -> tuple[Any, Any]:
    """All distances, and how many problems the first solver of each launch left to the next."""
    import cupy

    if ground is None:
        ground = default_ground_distance(x.n_dimensions)
    out = cupy.full((len(x.sizes), len(y.sizes)), np.inf)
    sizes = (x.sizes, y.sizes, x.host_totals, y.host_totals)
    schedule = _schedule.launches(*sizes, partial=ground.partial)
    counts = _solve(schedule, _Sides(x, y, ground), out)
    if ground.unmatched is not None:
        add_unmatched(cupy, out, x.totals[:, np.newaxis], y.totals, ground.unmatched)
        cupy.cuda.get_current_stream().synchronize()
    return out, counts


def _solve(schedule, sides, out):
    """Solve all launches: into a table, or, for those of lists, one after another."""
    import cupy

    n_problems = sum(launch.n_problems for launch in schedule)
    again = cupy.empty((2, n_problems), np.int32)
    counts = cupy.zeros((2, len(schedule)), np.int32)
    lists = _upload_lists(schedule)
    here = cupy.cuda.get_current_stream()
    ready = here.record()
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(min(_STREAMS, len(schedule)))]
    for stream in streams:
        stream.wait_event(ready)
    start = 0
    for number, launch in enumerate(schedule):
        stop = start + launch.n_problems
        with streams[number % len(streams)]:
            there = out if len(launch.rectangles) else out[start:stop]
            results = _Results(there, again[:, start:stop], counts[:, number:])
            _launch(launch, lists[number], sides, results)
        start = stop
    for stream in streams:
        here.wait_event(stream.record())
    here.synchronize()
    return counts[0]


def _upload_lists(schedule):
    """The graphs and rectangles of every launch, in one transfer; arrays in common only once."""
    import cupy

    parts = {}
    for launch in schedule:
        for array in (launch.x_graphs, launch.y_graphs, launch.rectangles):
            parts[id(array)] = array.ravel()
    if not parts:
        return []
    everything = cupy.asarray(np.concatenate(list(parts.values())))
    ends = np.cumsum([len(part) for part in parts.values()]).tolist()
    views = {
        key: everything[end - len(part) : end]
        for (key, part), end in zip(parts.items(), ends, strict=True)
    }
    return [
        [views[id(a)] for a in (launch.x_graphs, launch.y_graphs, launch.rectangles)]
        for launch in schedule
    ]


class _Sides(NamedTuple):
    """What a launch compares."""

    x: Any
    y: Any
    ground: GroundDistance


class _Results(NamedTuple):
    """Where a launch leaves its results."""

    out: Any  # (graphs of x, graphs of y) distances, or (problems,)
    again: Any  # (2, problems) numbers of those that the first and the second solver left
    counts: Any  # (2, 1 or more) how many there are


def _launch(launch, lists, sides, results):
    """Solve all pairs of a launch: guess and prove; each solver takes what the one before left."""
    run = partial(_run, launch, lists, sides, results)
    left = 0  # how many solvers have left something
    if launch.solver is Solver.FEW_SINKS:
        packed = launch.can_be_packed(shared_memory())
        short = "_short" if packed and launch.short else ""
        n_bytes = launch.guess_bytes(packed=packed)
        run(f"guess{short}", _one_kind(n_bytes, in_shared=packed), left)
        left += 1
    if launch.numbered:
        nodes, costs, together = launch.simplex_bytes
        in_shared = together <= _schedule.MOST_SHARED_BY_SIMPLEX
        run("guess_by_simplex", _Memory(together, 0) if in_shared else _Memory(nodes, costs), left)
        left += 1
    if launch.width:
        n_bytes = launch.exact_bytes()
        in_shared = _schedule.fits_shared_memory(n_bytes, shared_memory())
        run("solve_exactly", _one_kind(n_bytes, in_shared=in_shared), left)
    else:
        run("solve_many_sinks", _Memory(0, launch.many_sinks_bytes()), left)


class _Memory(NamedTuple):
    """Bytes for the tables of one warp."""

    shared: int
    scratch: int


def _one_kind(n_bytes, *, in_shared):
    return _Memory(n_bytes, 0) if in_shared else _Memory(0, n_bytes)


def _scratch_budget(n_bytes, n_warps):
    """The bytes that a launch may take for its tables: at most an eighth of what is free.

    Launches before this one have left theirs in CuPy's memory pool, each for its own stream. They
    are reclaimed where they hold more than what is free and all warps could use, and before a
    single problem would not fit. That waits for the device, so it is not done for every launch.
    """
    free = free_memory()
    is_short = n_bytes * n_warps > free // 8 and pooled_memory() > free
    if is_short or n_bytes > free // 8:
        reclaim_memory()
        free = free_memory()
    return max(min(free // 8, _MOST_SCRATCH), min(free // 8, n_bytes))


def _run(launch, lists, sides, results, step, memory, left):
    """Launch a kernel with its tables in shared or in scratch memory.

    It solves what as many solvers as ``left`` before it have left.
    """
    import cupy

    n_processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
    blocks = launch.n_warps
    if left:  # a list of unknown length
        blocks = min(blocks, _BLOCKS * n_processors)
    scratch = None
    if memory.scratch:
        budget = _scratch_budget(memory.scratch, min(blocks, _BLOCKS * n_processors))
        blocks = _schedule.scratch_slots(memory.scratch, blocks, n_processors, budget)
        scratch = cupy.empty(blocks * memory.scratch, np.uint8)
    name = f"{step}_in_{'scratch' if memory.scratch else 'shared'}_memory"
    x, y, ground = sides
    arguments = (
        x.table,
        y.table,
        *lists,
        np.int32(len(launch.rectangles)),
        np.int32(launch.n_problems),
        np.int32(x.n_dimensions),
        np.int32(x.n_labels),
        np.float64(ground.floor),
        np.float64(ground.per_label),
        np.int32(launch.width if step in BY_LANES else launch.sinks),
        np.int32(launch.rows),
        np.int32(launch.places),
        scratch,
        np.int64(memory.scratch),
        results.out,
        np.int64(results.out.shape[-1]),
        *((results.again[left - 1], results.counts[left - 1]) if left else (None, None)),
        *((results.again[left], results.counts[left]) if left < _LEFT else (None, None)),
    )
    options = _compiled_for(x.n_labels, partial=ground.partial)
    kernel(name, shared_memory() if memory.shared else 0, options=options)(
        (blocks,), (32,), arguments, shared_mem=memory.shared
    )


def _compiled_for(n_labels, *, partial):
    labels = (LABELS[n_labels],) if n_labels in LABELS else ()
    return (*labels, PARTIAL) if partial else labels
