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
)
from graphmover.transport.cuda import schedule as _schedule
from graphmover.transport.cuda.side import prepare
from graphmover.transport.ground import GroundDistance, default_ground_distance
from graphmover.transport.side import add_unmatched

__all__ = ["distances_on_device", "prepare"]

#: Launches in flight at once: the last warps of one overlap with the first of the next.
_STREAMS = 32

#: Blocks of one warp for each multiprocessor that share a list of unknown length.
_BLOCKS = 16


def distances_on_device(x: Any, y: Any, ground: GroundDistance | None = None) -> Any:
    """The distance between every graph of x and every graph of y, as an array on the device.

    Both come from `prepare`. A graph without nodes is infinitely far. The default ground distance
    is the paper's.
    """
    return solve(x, y, ground)[0]


def distances_of_pairs(
    x: Any, y: Any, rows: Any, columns: Any, ground: GroundDistance | None = None
) -> Any:
    """The distances between graphs ``rows[t]`` of x and ``columns[t]`` of y, on the host.

    Rows do not decrease. The table of all pairs is on the device, but only these are solved.
    """
    import cupy

    out = solve(x, y, ground, (rows, columns))[0]
    return out[cupy.asarray(rows), cupy.asarray(columns)].get()


def solve(
    x: Any, y: Any, ground: GroundDistance | None = None, pairs: Any = None
) -> tuple[Any, Any]:
    """All distances, and how many problems each launch had to solve again with 64 bits.

    With ``pairs``, rows that do not decrease and columns, only those; the others are infinite.
    """
    import cupy

    if ground is None:
        ground = default_ground_distance(x.n_dimensions)
    out = cupy.full((len(x.sizes), len(y.sizes)), np.inf)
    schedule = _schedule.launches(
        x.sizes, y.sizes, x.host_totals, y.host_totals, partial=ground.partial, pairs=pairs
    )
    again = cupy.empty((sum(launch.n_problems for launch in schedule), 2), np.int32)
    counts = cupy.zeros(len(schedule), np.int32)
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
            results = _Results(out, again[start:stop], counts[number:])
            _launch(launch, lists[number], _Sides(x, y, ground), results)
        start = stop
    for stream in streams:
        here.wait_event(stream.record())
    if ground.unmatched is not None:
        add_unmatched(cupy, out, x.totals, y.totals, ground.unmatched)
    here.synchronize()
    return out, counts


def _upload_lists(schedule):
    """The graphs of every launch, in one transfer."""
    import cupy

    parts = [graphs for launch in schedule for graphs in (launch.x_graphs, launch.y_graphs)]
    if not parts:
        return []
    everything = cupy.asarray(np.concatenate(parts))
    ends = np.cumsum([len(part) for part in parts]).tolist()
    views = [everything[end - len(part) : end] for part, end in zip(parts, ends, strict=True)]
    return list(zip(views[::2], views[1::2], strict=True))


class _Sides(NamedTuple):
    """What a launch compares."""

    x: Any
    y: Any
    ground: GroundDistance


class _Results(NamedTuple):
    """Where a launch leaves its results."""

    out: Any  # (graphs of x, graphs of y) distances
    again: Any  # (problems, 2) pairs to solve again
    count: Any  # how many there are


def _launch(launch, lists, sides, results):
    """Solve all pairs of a launch."""
    arguments = (launch, lists, sides, results)
    if not launch.width:
        _run("solve_many_sinks", launch.many_sinks_bytes(), False, *arguments)
        return
    packed = launch.can_be_packed(shared_memory())
    short = "_short" if packed and launch.short else ""
    _run(f"guess{short}", launch.guess_bytes(packed=packed), packed, *arguments)
    n_bytes = launch.exact_bytes()
    in_shared = _schedule.fits_shared_memory(n_bytes, shared_memory())
    _run("solve_exactly", n_bytes, in_shared, launch, None, sides, results)


def _scratch_budget(n_bytes, n_warps):
    """The bytes that a launch may take for its tables: an eighth of what is free.

    Launches before this one have left theirs in CuPy's memory pool, each for its own stream. They
    are reclaimed where they hold more than what is free and all warps could use, and before a
    single problem would not fit. That waits for the device, so it is not done for every launch.
    """
    free = free_memory()
    is_short = n_bytes * n_warps > free // 8 and pooled_memory() > free
    if is_short or n_bytes > free // 8:
        reclaim_memory()
        free = free_memory()
    return free // 8


def _run(step, n_bytes, in_shared, launch, lists, sides, results):
    """Launch a kernel with its tables in shared or in scratch memory."""
    import cupy

    n_processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
    blocks = launch.n_warps
    if lists is None:  # a list of unknown length
        blocks = min(blocks, _BLOCKS * n_processors)
    scratch, shared_bytes = None, n_bytes
    if not in_shared:
        shared_bytes = 0
        budget = _scratch_budget(n_bytes, min(blocks, _BLOCKS * n_processors))
        blocks = _schedule.scratch_slots(n_bytes, blocks, n_processors, budget)
        scratch = cupy.empty(blocks * n_bytes, np.uint8)
    x_graphs, y_graphs = lists or (None, None)
    name = f"{step}_in_{'shared' if in_shared else 'scratch'}_memory"
    x, y, ground = sides
    arguments = (
        x.table,
        y.table,
        x_graphs,
        np.int32(len(launch.x_graphs)),
        y_graphs,
        np.int32(len(launch.y_graphs)),
        np.int32(x.n_dimensions),
        np.int32(x.n_labels),
        np.float64(ground.floor),
        np.float64(ground.per_label),
        np.int32(launch.width or launch.sinks),
        np.int32(launch.rows),
        np.int32(launch.places),
        scratch,
        np.int64(n_bytes),
        results.out,
        np.int64(results.out.shape[1]),
        results.again,
        results.count,
    )
    options = _compiled_for(x.n_labels, partial=ground.partial)
    kernel(name, shared_memory() if in_shared else 0, options=options)(
        (blocks,), (32,), arguments, shared_mem=shared_bytes
    )


def _compiled_for(n_labels, *, partial):
    labels = (LABELS[n_labels],) if n_labels in LABELS else ()
    return (*labels, PARTIAL) if partial else labels
