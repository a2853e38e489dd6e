"""The launch schedule: pairs of graphs in bins of similar sizes, and the memory each launch needs.

Problems of one launch have the same solver and tables of similar sizes, so that a small problem
neither waits for a large one in its warp nor takes up as much memory. Which solver takes a pair
depends on its two bins alone, not on what else is in them: so do its last bits.
Nothing here needs a GPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Lanes of a problem with at most 32 sinks: those at which one problem more fits a warp of 32.
WIDTHS = (1, 2, 3, 4, 5, 6, 8, 10, 16, 32)

#: Sources or sinks that the simplex method can number: 2**INDEX_BITS in simplex.cuh, a few spare.
_MOST_NUMBERED = 1016

#: Problems with more sinks than this are solved by the simplex method; those with more sources
#: than _MANY_SOURCES, which share a warp with fewer others, from fewer sinks on.
MOST_FEW, _MANY_SOURCES, _MOST_FEW_OF_MANY = 16, 48, 5

#: Graphs from one of these sizes, exclusive, to the next, inclusive, share a bin; beyond the last,
#: each bin ends at twice the size of the one before.
_EDGES = (
    *(0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128),
    *(160, 192, 256, 320, 384, 512, 640, 768, _MOST_NUMBERED - 1),
)

#: Tables above this many bytes go to scratch memory: in shared memory too few warps would fit.
_MOST_SHARED = 100 * 1024

#: The same for the simplex method: more would take from the cache through which points are read.
#: Beyond it only costs go to scratch memory, where they are read in order; launches are for costs
#: of up to so many bytes.
MOST_SHARED_BY_SIMPLEX = 7040
_COST_KINDS = (2**14, 2**16, 2**19, 2**40)

#: Problems with few sinks share a launch up to one of these numbers of sources.
_ROW_KINDS = (16, 32, 48, 64, 112, 256, 512, _MOST_NUMBERED, 2**62)

#: Sources that the low bits of a packed arc can number: 2**LOW_BITS in problem.cuh.
_MOST_PACKED = 1024

#: Problems with more sources than this get a warp each: none has to wait for another.
_LARGE = 112

#: Warps with tables in scratch memory on one multiprocessor.
_MOST_WARPS = 24

#: Blocks of one warp on one multiprocessor that share what a kernel before them has left.
_BLOCKS_FOR_REST = 16

#: Bytes of device memory for one chunk of graphs.
_MOST_AT_ONCE = 2**28

#: The most problems of one launch: their numbers fit 31 bits.
_MOST_PROBLEMS = 2**30


class Solver(Enum):
    """What solves a problem first, with short integers."""

    FEW_SINKS = "few_sinks.cuh"
    SIMPLEX = "simplex.cuh"
    NONE = ""


class Step(NamedTuple):
    """A kernel of a launch, without the place of its tables, and their bytes for one warp."""

    name: str
    shared: int
    scratch: int


class Rectangle(NamedTuple):
    """All pairs of consecutive graphs of two lists, which are in order of size."""

    x: slice
    y: slice
    solver: Solver
    edges: tuple[int, int]  # the most sinks and sources of its bins
    rows: int  # sources of the largest problem
    sinks: int  # sinks of the largest problem
    short: bool  # whether all flows fit 16 bits

    @property
    def n_problems(self) -> int:
        """How many pairs."""
        n_x: int = self.x.stop - self.x.start
        n_y: int = self.y.stop - self.y.start
        return n_x * n_y

    @property
    def simplex_bytes(self) -> tuple[int, int]:
        """Memory of one warp of the simplex method: for nodes, and for costs.

        `lay_out_basis` in simplex.cuh.
        """
        nodes = self.rows + self.sinks
        return _rounded_up(nodes * (8 + 8 + 4 + 4), 16), _rounded_up(4 * self.rows * self.sinks, 16)


@dataclass(frozen=True, eq=False)
class Launch:
    """Pairs of graphs that one kernel solves: those of some rectangles.

    Without rectangles, the graphs at equal places of both lists.
    """

    x_graphs: NDArray[np.int32]
    y_graphs: NDArray[np.int32]
    rectangles: NDArray[np.int32]  # (rectangles, 5): `Rectangle` in problem.cuh
    n_problems: int
    solver: Solver
    numbered: bool  # whether the simplex method can solve what others leave
    width: int  # lanes of a problem with few sinks, or 0
    rows: int  # sources of the largest problem
    sinks: int  # sinks of the largest problem
    short: bool  # whether all flows fit 16 bits
    simplex_bytes: tuple[int, int, int]  # for nodes, for costs, and for both of one problem

    @property
    def places(self) -> int:
        """How many problems share a warp: as many small ones as fit its lanes, or one large one."""
        return WIDTHS[-1] // self.width if self.width and self.rows <= _LARGE else 1

    @property
    def n_warps(self) -> int:
        """How many warps solve them."""
        places = self.places if self.solver is Solver.FEW_SINKS else 1
        return -(-self.n_problems // places)

    def n_blocks(self, number: int, n_processors: int) -> int:
        """How many blocks of one warp the kernel with this number among the steps has at most."""
        return min(self.n_warps, _BLOCKS_FOR_REST * n_processors) if number else self.n_warps

    def scratch_needed(self, available: int, n_processors: int) -> tuple[int, int]:
        """Bytes of scratch memory for one warp, and for all that can be at work, at most."""
        steps = self.steps(available)
        slots = [
            min(self.n_blocks(number, n_processors), _MOST_WARPS * n_processors)
            for number in range(len(steps))
        ]
        return (
            max(step.scratch for step in steps),
            max(n * step.scratch for n, step in zip(slots, steps, strict=True)),
        )

    def steps(self, available: int) -> list[Step]:
        """Return the kernels, each for what those before it have left: guess and prove.

        ``available`` is the shared memory that a block can have.
        """
        found = []
        if self.solver is Solver.FEW_SINKS:
            packed = self.can_be_packed(available)
            short = "_short" if packed and self.short else ""
            n_bytes = self.guess_bytes(packed=packed)
            found.append(_step(f"guess{short}", n_bytes, in_shared=packed))
        if self.numbered:
            nodes, costs, together = self.simplex_bytes
            in_shared = together <= min(MOST_SHARED_BY_SIMPLEX, available)
            tables = (together, 0) if in_shared else (nodes, costs)
            found.append(Step("guess_by_simplex", *tables))
        if self.width:
            n_bytes = self.exact_bytes()
            in_shared = fits_shared_memory(n_bytes, available)
            found.append(_step("solve_exactly", n_bytes, in_shared=in_shared))
        else:
            found.append(Step("solve_many_sinks", 0, self.many_sinks_bytes()))
        return found

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
        """Memory of one warp with 64 bits."""
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
) -> list[Launch]:
    """Return the launches for all pairs of graphs that have nodes, the most work first.

    If ``partial``, either side of a problem may have a further node, and masses stay as they are.
    """
    x_order, y_order = (np.argsort(s, kind="stable").astype(np.int32) for s in (x_sizes, y_sizes))
    x_bins, y_bins = _bins(x_sizes[x_order]), _bins(y_sizes[y_order])
    rectangles = []
    for (x_edge, x), (y_edge, y) in product(x_bins, y_bins):
        at_once = max(1, _MOST_PROBLEMS // (y.stop - y.start))
        for start in range(x.start, x.stop, at_once):
            part = slice(start, min(start + at_once, x.stop))
            most = int(x_sizes[x_order[part.stop - 1]]), int(y_sizes[y_order[y.stop - 1]])
            totals = int(x_totals[x_order[part]].max()), int(y_totals[y_order[y]].max())
            rectangles.append(_rectangle(part, y, (x_edge, y_edge), most, totals, partial))
    return _the_most_work_first(
        _launch(x_order, y_order, group, _table(group)) for group in _groups(rectangles)
    )


def launches_of_pairs(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    x_sizes: NDArray[np.int64],
    y_sizes: NDArray[np.int64],
    x_totals: NDArray[np.int64],
    y_totals: NDArray[np.int64],
    *,
    partial: bool = False,
) -> tuple[list[Launch], NDArray[np.int64]]:
    """Return the launches for graphs ``rows[t]`` of x and ``columns[t]`` of y, and the order.

    Problem number t of the launches, one after another, is the pair ``order[t]``. Pairs with a
    graph without nodes are not among them.
    """
    x_edges, y_edges = _edges(x_sizes), _edges(y_sizes)
    x_bin = np.searchsorted(x_edges, x_sizes[rows], side="left")
    y_bin = np.searchsorted(y_edges, y_sizes[columns], side="left")
    kinds = np.where((x_bin > 0) & (y_bin > 0), x_bin * len(y_edges) + y_bin, 0)
    order = np.argsort(kinds, kind="stable")
    cuts = np.flatnonzero(np.diff(kinds[order], prepend=-1))
    runs = []  # of pairs of the same two bins
    for start, stop in pairwise([*cuts.tolist(), len(order)]):
        x_kind, y_kind = divmod(int(kinds[order[start]]), len(y_edges))
        for at in range(start, stop, _MOST_PROBLEMS) if x_kind else ():
            part = slice(at, min(at + _MOST_PROBLEMS, stop))
            x, y = rows[order[part]], columns[order[part]]
            edges = x_edges[x_kind], y_edges[y_kind]
            most = int(x_sizes[x].max()), int(y_sizes[y].max())
            totals = int(x_totals[x].max()), int(y_totals[y].max())
            runs.append(_rectangle(slice(0, 1), part, edges, most, totals, partial))
    parts = {}
    for group in _groups(runs):
        chosen = np.concatenate([order[run.y] for run in group])
        graphs = rows[chosen].astype(np.int32), columns[chosen].astype(np.int32)
        parts[_launch(*graphs, group, np.empty((0, 5), np.int32))] = chosen
    schedule = _the_most_work_first(parts)
    there = [parts[launch] for launch in schedule]
    return schedule, np.concatenate([*there, np.empty(0, np.int64)]).astype(np.int64)


def _rectangle(
    x: slice,
    y: slice,
    bins: tuple[int, int],
    most: tuple[int, int],
    totals: tuple[int, int],
    partial: bool,
) -> Rectangle:
    """Pairs of graphs of two bins, which end at ``bins``: the largest, and their most mass."""
    edges = min(bins) + partial, max(bins) + partial
    most_few = _MOST_FEW_OF_MANY if edges[1] > _MANY_SOURCES else MOST_FEW
    if edges[0] > most_few and edges[1] <= _MOST_NUMBERED:
        solver = Solver.SIMPLEX
    else:
        solver = Solver.FEW_SINKS if edges[0] <= WIDTHS[-1] else Solver.NONE
    total = max(totals) if partial else totals[0] * totals[1]
    rows, sinks = max(most) + partial, min(most) + partial
    return Rectangle(x, y, solver, edges, rows, sinks, total < 2**16)


def _groups(rectangles: list[Rectangle]) -> Iterator[list[Rectangle]]:
    """Rectangles that share a launch: those with tables of similar sizes.

    In each, large problems come first: none is left to be waited for.
    """
    groups: dict[tuple[object, ...], list[Rectangle]] = {}
    for rectangle in sorted(rectangles, key=lambda one: -one.rows * one.sinks):
        kind = _kind(rectangle)
        group = groups.setdefault(kind, [])
        if group and sum(one.n_problems for one in group) + rectangle.n_problems > _MOST_PROBLEMS:
            yield groups.pop(kind)
            group = groups.setdefault(kind, [])
        group.append(rectangle)
    yield from groups.values()


def _kind(rectangle: Rectangle) -> tuple[object, ...]:
    solver, (sinks, rows) = rectangle.solver, rectangle.edges
    if solver is Solver.FEW_SINKS:
        width = next(w for w in WIDTHS if w >= sinks)
        return solver, width, next(most for most in _ROW_KINDS if rows <= most), rectangle.short
    if solver is Solver.NONE:
        return solver, sinks, rows
    nodes, costs = rectangle.simplex_bytes
    if nodes + costs <= MOST_SHARED_BY_SIMPLEX:
        return solver, 0
    return solver, next(most for most in _COST_KINDS if costs <= most)


def _table(group: list[Rectangle]) -> NDArray[np.int32]:
    sizes = [rectangle.n_problems for rectangle in group]
    return np.array(
        [
            (first, one.x.start, one.x.stop - one.x.start, one.y.start, one.y.stop - one.y.start)
            for first, one in zip(accumulate([0, *sizes]), group, strict=False)
        ],
        np.int32,
    )


def _launch(
    x_graphs: NDArray[np.int32],
    y_graphs: NDArray[np.int32],
    group: list[Rectangle],
    table: NDArray[np.int32],
) -> Launch:
    solver, (_, rows) = group[0].solver, group[0].edges
    sinks = max(one.sinks for one in group)
    nodes, costs = (max(sizes) for sizes in zip(*(one.simplex_bytes for one in group), strict=True))
    together = max(sum(one.simplex_bytes) for one in group)
    return Launch(
        x_graphs,
        y_graphs,
        table,
        sum(one.n_problems for one in group),
        solver,
        rows <= _MOST_NUMBERED,
        next(w for w in WIDTHS if w >= sinks) if solver is Solver.FEW_SINKS else 0,
        max(one.rows for one in group),
        sinks,
        all(one.short for one in group),
        (nodes, costs, together),
    )


def _the_most_work_first(schedule: Iterable[Launch]) -> list[Launch]:
    return sorted(schedule, key=lambda launch: -launch.n_warps * launch.rows * launch.sinks)


def _step(name: str, n_bytes: int, *, in_shared: bool) -> Step:
    return Step(name, n_bytes, 0) if in_shared else Step(name, 0, n_bytes)


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
    return int(min(n_warps, _MOST_WARPS * n_processors, budget // n_bytes))


def chunking(
    x_counts: NDArray[np.int64], n_y_graphs: int, free_bytes: int, node_bytes: int = 400
) -> tuple[NDArray[np.int64], int]:
    """The bytes that each graph of x takes on the device, and how many to use at once.

    A pair takes 8 bytes for its distance and 8 on the lists of pairs to solve again; a node takes
    about 400, intermediate results included.
    """
    work = 16 * n_y_graphs + node_bytes * (x_counts + 1)
    return work, min(free_bytes // 8, _MOST_AT_ONCE)


def _edges(sizes: NDArray[np.int64]) -> list[int]:
    edges = list(_EDGES)
    while edges[-1] < sizes.max(initial=0):
        edges.append(2 * edges[-1])
    return edges


def _bins(sizes: NDArray[np.int64]) -> list[tuple[int, slice]]:
    """Bins of sizes in order, without 0: where they end, and which sizes they hold."""
    edges = _edges(sizes)
    cuts = np.searchsorted(sizes, edges, side="right").tolist()
    return [
        (edge, slice(a, b)) for edge, (a, b) in zip(edges[1:], pairwise(cuts), strict=True) if b > a
    ]


def _few_sinks_bytes(launch: Launch, *, cost: int, arc: int, flow: int) -> int:
    rows, width = launch.rows, launch.width
    columns = (width * launch.places + 1) | 1
    words = _rounded_up(rows, 32) // 32
    costs = _rounded_up(columns * max(rows * cost + width * arc, width * 8), 8)
    flows = _rounded_up(columns * rows * flow, 8)
    return _rounded_up(costs + flows + columns * 4 * (words + 1), 16)


def _rounded_up(number: int, step: int) -> int:
    return -(-number // step) * step
