"""Exact transport on a GPU: the method of `cpu/engine.py`, with kernels in `transport.cu`.

CuPy compiles the kernels at first use and caches them. `schedule.py` sorts pairs of graphs into
launches, `side.py` prepares collections on the device.
"""

from __future__ import annotations

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
    side_streams,
)
from graphmover.transport.cuda import schedule as _schedule
from graphmover.transport.cuda.side import prepare
from graphmover.transport.ground import GroundDistance, default_ground_distance
from graphmover.transport.side import add_unmatched

__all__ = ["distances_on_device", "prepare"]

#: Launches in flight at once: the last warps of one overlap with the first of the next.
_STREAMS = 32

#: Bytes of scratch memory for one stream, unless a single problem needs more.
_MOST_SCRATCH = 2**30

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
    device = _Device(cupy.cuda.Device().attributes["MultiProcessorCount"], shared_memory())
    n_streams = min(_STREAMS, len(schedule))
    scratch = [_scratch_memory(schedule[first::n_streams], device) for first in range(n_streams)]
    start = 0
    with side_streams(n_streams) as streams:
        for number, launch in enumerate(schedule):
            stop = start + launch.n_problems
            there = out if len(launch.rectangles) else out[start:stop]
            results = _Results(there, again[:, start:stop], counts[:, number:])
            with streams[number % n_streams]:
                _launch(launch, lists[number], sides, scratch[number % n_streams], results, device)
            start = stop
    cupy.cuda.get_current_stream().synchronize()
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


class _Device(NamedTuple):
    """What launches need to know of the device."""

    n_processors: int
    shared_memory: int  # bytes that a block can have


def _scratch_memory(schedule, device):
    """Memory for the tables of launches on one stream, whose kernels run one after another."""
    import cupy

    needed = [
        launch.scratch_needed(device.shared_memory, device.n_processors) for launch in schedule
    ]
    one, all_of_them = (max(n_bytes) for n_bytes in zip(*needed, strict=True))
    budget = _scratch_budget(one, all_of_them) if one else 0
    return cupy.empty(min(all_of_them, budget), np.uint8)


def _scratch_budget(one, all_of_them):
    """The bytes that the tables of a stream may take: at most an eighth of what is free.

    Memory that other streams have left in CuPy's memory pool is reclaimed where it is more than
    what is free and all warps could use it, and before the tables of one warp would not fit. That
    waits for the device.
    """
    free = free_memory()
    is_short = all_of_them > free // 8 and pooled_memory() > free
    if is_short or one > free // 8:
        reclaim_memory()
        free = free_memory()
    return max(min(free // 8, _MOST_SCRATCH), min(free // 8, one))


def _launch(launch, lists, sides, scratch, results, device):
    """Solve all pairs of a launch: each kernel takes what the one before left."""
    x, y, ground = sides
    options = _compiled_for(x.n_labels, partial=ground.partial)
    for number, step in enumerate(launch.steps(device.shared_memory)):
        blocks = launch.n_blocks(number, device.n_processors)
        if step.scratch:
            slots = (step.scratch, blocks, device.n_processors, scratch.nbytes)
            blocks = _schedule.scratch_slots(*slots)
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
            np.int32(launch.width if step.name in BY_LANES else launch.sinks),
            np.int32(launch.rows),
            np.int32(launch.places),
            scratch if step.scratch else None,
            np.int64(step.scratch),
            results.out,
            np.int64(results.out.shape[-1]),
            *_list(results, number - 1),
            *_list(results, number),
        )
        name = f"{step.name}_in_{'scratch' if step.scratch else 'shared'}_memory"
        kernel(name, device.shared_memory if step.shared else 0, options=options)(
            (blocks,), (32,), arguments, shared_mem=step.shared
        )


def _list(results, number):
    """What the kernel with this number leaves, and how much that is; the last leaves nothing."""
    there = 0 <= number < len(results.again)
    return (results.again[number], results.counts[number]) if there else (None, None)


def _compiled_for(n_labels, *, partial):
    labels = (LABELS[n_labels],) if n_labels in LABELS else ()
    return (*labels, PARTIAL) if partial else labels
