"""The launch schedule: pairs of graphs in bins of similar sizes, and the memory each launch needs.

Problems of one launch have the same number of lanes (``width``) and of rows in memory, so that
a small problem neither waits for a large one in its warp nor takes up as much memory. Nothing here
needs a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

#: Lanes of a problem with at most 32 sinks: those at which one problem more fits a warp of 32.
WIDTHS = (1, 2, 3, 4, 5, 6, 8, 10, 16, 32)

#: Graphs from one of these sizes, exclusive, to the next, inclusive, share a bin; beyond the last,
#: each bin ends at twice the size of the one before.
_EDGES = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128)

#: Tables above this many bytes go to scratch memory: in shared memory too few warps would fit.
_MOST_SHARED = 100 * 1024

#: Sources that the low bits of a packed arc can number: 2**LOW_BITS in problem.cuh.
_MOST_PACKED = 1024

#: Problems with more sources than this get a warp each: none has to wait for another.
_LARGE = 112

#: Bytes of device memory for one chunk of graphs.
_MOST_AT_ONCE = 2**28

#: The most problems of one launch: their numbers fit 31 bits.
_MOST_PROBLEMS = 2**30


@dataclass(frozen=True)
class Launch:
    """All pairs of some graphs of x and some graphs of y, solved by one kernel."""

    x_graphs: NDArray[np.int32]
    y_graphs: NDArray[np.int32]
    width: int  # lanes of a problem, or 0: more than 32 sinks
    rows: int  # sources of the largest problem
    sinks: int  # sinks of the largest problem
    short: bool  # whether all flows fit 16 bits

    @property
    def n_problems(self) -> int:
        """How many pairs."""
        return len(self.x_graphs) * len(self.y_graphs)

    @property
    def places(self) -> int:
        """How many problems share a warp: as many small ones as fit its lanes, or one large one."""
        return 32 // self.width if self.width and self.rows <= _LARGE else 1

    @property
    def n_warps(self) -> int:
        """How many warps solve them."""
        return -(-self.n_problems // self.places)

    def guess_bytes(self, *, packed: bool) -> int:
        """Memory of one warp with 32-bit costs: `lay_out` in few_sinks.cuh.

        Packed: the number of a source is in the low bits of an arc.
        """
        if packed:
            return _few_sinks_bytes(self, cost=4, arc=4, flow=2 if self.short else 4)
        return _few_sinks_bytes(self, cost=4, arc=8, flow=4)

    def can_be_packed(self, available: int) -> bool:
        """Whether sources fit the low bits, and the packed tables the shared memory of a block."""
        fits = fits_shared_memory(self.guess_bytes(packed=True), available)
        return self.rows <= _MOST_PACKED and fits

    def exact_bytes(self) -> int:
        """The same with 64 bits."""
        return _few_sinks_bytes(self, cost=8, arc=12, flow=8)

    def many_sinks_bytes(self) -> int:
        """Memory of one problem with more than 32 sinks: `lay_out_many` in many_sinks.cuh."""
        stride = _rounded_up(self.sinks, 32)
        cells = self.rows * stride
        per_sink = 8 + 8 + 8 + 4 + 4
        words = _rounded_up(self.rows, 32) // 32
        return _rounded_up(
            cells * (8 + 8) + stride * stride * (8 + 4) + stride * (per_sink + 4 * words), 16
        )


def launches(
    x_sizes: NDArray[np.int64],
    y_sizes: NDArray[np.int64],
    x_totals: NDArray[np.int64],
    y_totals: NDArray[np.int64],
    *,
    partial: bool = False,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
) -> list[Launch]:
    """Return the launches for all pairs of graphs that have nodes, the most work first.

    If ``partial``, either side of a problem may have a further node, and masses stay as they are.
    With ``pairs``, rows that do not decrease and columns, only for those: each row has launches of
    its own.
    """
    schedule = []
    for x_bins, y_bins in _groups(x_sizes, y_sizes, pairs):
        for x_graphs, y_graphs in product(x_bins, y_bins):
            most = sorted((int(x_sizes[x_graphs[-1]]), int(y_sizes[y_graphs[-1]])))
            most = [size + partial for size in most]
            width = next((w for w in WIDTHS if w >= most[0]), 0)
            totals = int(x_totals[x_graphs].max()), int(y_totals[y_graphs].max())
            total = max(totals) if partial else totals[0] * totals[1]
            at_once = max(1, _MOST_PROBLEMS // len(y_graphs))
            for start in range(0, len(x_graphs), at_once):
                chosen = x_graphs[start : start + at_once]
                schedule.append(Launch(chosen, y_graphs, width, most[1], most[0], total < 2**16))
    schedule.sort(key=lambda launch: -launch.n_warps * launch.rows * launch.sinks)
    return schedule


def fits_shared_memory(n_bytes: int, available: int) -> bool:
    """Whether a warp's tables go to shared memory, given how much of it a block can have."""
    return n_bytes <= min(available, _MOST_SHARED)


def scratch_slots(n_bytes: int, n_warps: int, n_processors: int, budget: int) -> int:
    """How many warps work at once in scratch memory of at most ``budget`` bytes."""
    if n_bytes > budget:
        raise MemoryError(
            f"one transport problem needs {n_bytes / 2**30:.1f} GiB of device memory, and "
            f'{budget / 2**30:.1f} GiB are free: use device="cpu", or smaller graphs'
        )
    return int(min(n_warps, 16 * n_processors, budget // n_bytes))


def chunking(
    x_counts: NDArray[np.int64], n_y_graphs: int, free_bytes: int, node_bytes: int = 400
) -> tuple[NDArray[np.int64], int]:
    """The bytes that each graph of x takes on the device, and how many to use at once.

    A pair takes 8 bytes for its distance and 8 on the list of pairs to solve again; a node takes
    about 400, intermediate results included.
    """
    work = 16 * n_y_graphs + node_bytes * (x_counts + 1)
    return work, min(free_bytes // 8, _MOST_AT_ONCE)


def _groups(
    x_sizes: NDArray[np.int64],
    y_sizes: NDArray[np.int64],
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
) -> Iterator[tuple[list[NDArray[np.int32]], list[NDArray[np.int32]]]]:
    """Yield bins of graphs of x and of y, all of whose pairs are wanted."""
    if pairs is None:
        yield _bins(x_sizes), _bins(y_sizes)
        return
    rows, columns = pairs
    starts = np.flatnonzero(np.diff(rows, prepend=-1)).tolist()
    for start, stop in pairwise([*starts, len(rows)]):
        row, chosen = rows[start : start + 1], columns[start:stop].astype(np.int32)
        if x_sizes[row[0]]:
            y_bins = [chosen[places] for places in _bins(y_sizes[chosen])]
            yield [row.astype(np.int32)], y_bins


def _bins(sizes: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    """The graphs that have nodes in bins of similar sizes, each in order of size."""
    edges = list(_EDGES)
    while edges[-1] < sizes.max(initial=0):
        edges.append(2 * edges[-1])
    order = np.argsort(sizes, kind="stable").astype(np.int32)
    cuts = np.searchsorted(sizes[order], edges, side="right")
    return [order[a:b] for a, b in pairwise(cuts) if b > a]


def _few_sinks_bytes(launch: Launch, *, cost: int, arc: int, flow: int) -> int:
    rows, width = launch.rows, launch.width
    columns = (width * launch.places + 1) | 1
    words = _rounded_up(rows, 32) // 32
    costs = _rounded_up(columns * max(rows * cost + width * arc, width * 8), 8)
    flows = _rounded_up(columns * rows * flow, 8)
    return _rounded_up(costs + flows + columns * 4 * (words + 1), 16)


def _rounded_up(number: int, step: int) -> int:
    return -(-number // step) * step
