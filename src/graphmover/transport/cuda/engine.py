"""Exact transport on a GPU: the engine of `_cpu.py` over again, its kernels in `transport.cu`.

CuPy compiles them at first use and caches what it compiled. `_cuda_plan.py` sorts pairs of
graphs into launches, `_cuda_side.py` prepares collections on the device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmover._utils.cuda import free_memory, kernel, shared_memory
from graphmover.transport.cuda import schedule as _cuda_plan
from graphmover.transport.cuda.side import prepare

__all__ = ["chunking", "distances", "distances_on_device", "prepare"]

#: Launches in flight at once: the last warps of one overlap with the first of the next.
_STREAMS = 32

#: Blocks of one warp that work off a list of unknown length, for each multiprocessor.
_BLOCKS = 16


def chunking(x_counts: Any, y: Any) -> tuple[Any, int]:
    """The work of each graph of x, and how much of it to do at once: bytes of device memory."""
    return _cuda_plan.chunking(x_counts, len(y.sizes), free_memory())


def distances(x: Any, y: Any, out: Any) -> None:
    """Fill ``out[i, j]`` with the distance between graph i of x and graph j of y.

    Both come from `prepare`. A graph without nodes is infinitely far.
    """
    distances_on_device(x, y).get(out=out)


def distances_on_device(x: Any, y: Any) -> Any:
    """The same as an array on the device."""
    return solve(x, y)[0]


def solve(x: Any, y: Any) -> tuple[Any, Any]:
    """All distances, and how many problems each launch had to solve again with 64 bits."""
    import cupy

    out = cupy.full((len(x.sizes), len(y.sizes)), np.inf)
    plan = _cuda_plan.launches(x.sizes, y.sizes, x.host_totals, y.host_totals)
    again = cupy.empty((sum(launch.n_problems for launch in plan), 2), np.int32)
    counts = cupy.zeros(len(plan), np.int32)
    lists = _upload_lists(plan)
    here = cupy.cuda.get_current_stream()
    ready = here.record()
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(min(_STREAMS, len(plan)))]
    for stream in streams:
        stream.wait_event(ready)
    start = 0
    for number, launch in enumerate(plan):
        stop = start + launch.n_problems
        with streams[number % len(streams)]:
            _launch(launch, lists[number], x, y, out, again[start:stop], counts[number:])
        start = stop
    for stream in streams:
        here.wait_event(stream.record())
    here.synchronize()
    return out, counts


def _upload_lists(plan):
    """The graphs of every launch, moved at once."""
    import cupy

    parts = [graphs for launch in plan for graphs in (launch.x_graphs, launch.y_graphs)]
    if not parts:
        return []
    everything = cupy.asarray(np.concatenate(parts))
    ends = np.cumsum([len(part) for part in parts]).tolist()
    views = [everything[end - len(part) : end] for part, end in zip(parts, ends, strict=True)]
    return list(zip(views[::2], views[1::2], strict=True))


def _launch(launch, lists, x, y, out, again, count):
    """Solve all pairs of a launch."""
    arguments = (launch, lists, x, y, out, again, count)
    if not launch.width:
        _run("solve_many_sinks", launch.many_sinks_bytes(), False, *arguments)
        return
    packed = launch.can_be_packed(shared_memory())
    short = "_short" if packed and launch.short else ""
    _run(f"guess{short}", launch.guess_bytes(packed=packed), packed, *arguments)
    n_bytes = launch.exact_bytes()
    in_shared = _cuda_plan.fits_shared_memory(n_bytes, shared_memory())
    _run("solve_exactly", n_bytes, in_shared, launch, None, x, y, out, again, count)


def _run(step, n_bytes, in_shared, launch, lists, x, y, out, again, count):
    """Launch a kernel with its tables in shared or in scratch memory."""
    import cupy

    n_processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
    blocks = launch.n_warps
    if lists is None:  # a list of unknown length
        blocks = min(blocks, _BLOCKS * n_processors)
    scratch, shared_bytes = None, n_bytes
    if not in_shared:
        shared_bytes = 0
        budget = free_memory() // 8
        blocks = _cuda_plan.scratch_slots(n_bytes, blocks, n_processors, budget)
        scratch = cupy.empty(blocks * n_bytes, np.uint8)
    x_graphs, y_graphs = lists or (None, None)
    name = f"{step}_in_{'shared' if in_shared else 'scratch'}_memory"
    arguments = (
        x.table,
        y.table,
        x_graphs,
        np.int32(len(launch.x_graphs)),
        y_graphs,
        np.int32(len(launch.y_graphs)),
        np.int32(x.n_dimensions),
        np.int32(launch.width or launch.sinks),
        np.int32(launch.rows),
        np.int32(launch.places),
        scratch,
        np.int64(n_bytes),
        out,
        np.int64(out.shape[1]),
        again,
        count,
    )
    kernel(name, shared_memory() if in_shared else 0)(
        (blocks,), (32,), arguments, shared_mem=shared_bytes
    )
