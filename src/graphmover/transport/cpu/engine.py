"""Exact transport between many small sets of points, on the CPU.

    minimise  sum_ij F_ij C_ij   with   sum_j F_ij = a_i,  sum_i F_ij = b_j,  F >= 0

between n sources with supplies a and m <= n sinks with demands b: the smaller side are the sinks.
Masses and costs are integers (`problem.py`), so nothing here has a tolerance. The method is
successive shortest paths (Ahuja, Magnanti and Orlin 1993, section 9.7).

Dual prices. Given a price p_j for every sink, each source sends its supply to the sink with the
least reduced cost C_ij - p_j. This flow is optimal among all with the same load on every sink, but
some sinks get too much (excess) and others too little (deficit). Augmenting along shortest paths of
the residual graph, from excess to deficit, keeps the flow optimal for its loads; when no excess
is left, it is the optimum.

A residual graph of sinks. A step of such a path moves a source i with flow at sink j over to sink
k, for C_ik - C_ij. So the residual graph needs only m nodes, and its arcs are two tables
(`residual.py`): the least of these costs over all sources at j, and the source that attains it.
When a source arrives at j, one vector minimum updates row j; when one has left, the sources at j
are scanned again.

A phase. First, shortest paths from all excess sinks together, by Bellman-Ford. For at most 64
sinks (`few_sinks.py`) a row of the residual graph is one vector in registers, and a relaxation an
addition and a minimum; for more (`many_sinks.py`) the shorter paths go first. The low bits of a
length hold the path itself, so that the minimum keeps the tree too, and of equally short paths the
one with the fewest arcs: short paths seldom get in each other's way. Then each deficit sink draws
along its path what that can carry; it may, since all arcs of the tree have a reduced cost of zero.
Then rows that have lost a source are scanned again.

Why it ends. The first augmentation of a phase carries at least one unit, for the sources on its
path have flow, its root has excess and its end a deficit; no excess ever grows; and all are
integers. Lengths are integers too, and every arc adds one in the low bits, so every cycle has a
positive length, and a search ends after at most m rounds. Equal costs, equal points and degenerate
masses can therefore neither stall it nor make it cycle.

Counts. By counts instead of shares (`ground.py`), the side with less mass gets a further node at no
cost to anyone, and the solvers see an ordinary problem (`problem.py`).

Giving up. On some problems paths get in each other's way, and most carry little: sources on one
line and sinks on another that crosses it, for one. So the solvers count the rows of costs and arcs
that they read, and give a problem up, with the distance NaN, when they have read more than easy
problems of its size need, or with more than 32 sinks when nearly all sources have the same cheapest
ones. The network simplex (`simplex.py`) then solves it from the beginning. A count, unlike a clock,
makes the same choice for a pair every time.

Large problems. With more than 64 sinks, the network simplex takes a problem at once if it has very
many arcs, or if masses do not consist of few units: then many paths carry little. It also finds all
plans.

Many sources. While n is much larger than m, the problem is coarsened: every second source is
solved first, and so on down. The prices found there start the larger problem, in which few sources
then have to move. A source whose second cheapest sink is out of reach of the movement of prices
is settled at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter

import numpy as np
from numba import typeof

from graphmover._utils.compiling import notify_if_compiling
from graphmover._utils.jit import require_compiled
from graphmover.transport.cpu import few_sinks as _few_sinks
from graphmover.transport.cpu import many_sinks as _many_sinks
from graphmover.transport.cpu import simplex as _simplex
from graphmover.transport.cpu.ground import Rule
from graphmover.transport.cpu.memory import working_memory
from graphmover.transport.cpu.problem import prepare, prepare_one
from graphmover.transport.cpu.solver import Pairs
from graphmover.transport.ground import default_ground_distance
from graphmover.transport.side import add_unmatched

#: The vector width of the solvers for any number of sinks.
_BLOCK = 32

#: In a first run, the copy of `few_sinks` that stands in for narrower ones, and the seconds of work
#: for which it does not pay to compile those.
_STAND_IN = 32
_WORTH_A_COPY = 20.0

#: With more sinks, paths are tried where there are at most this many arcs.
_MOST_ARCS = 1 << 18

__all__ = ["distances", "plan", "prepare"]

#: What each kernel is for, shown to users who wait for its compilation.
_PURPOSES = {
    _few_sinks.distances: "for up to {} sinks",
    _many_sinks.distances: f"for more than {_few_sinks.WIDTHS[-1]} sinks",
    _simplex.distances: "for large or hard problems",
    _simplex.plan: "for plans",
}

_TABLES = {
    _few_sinks.distances: _few_sinks.TABLES,
    _many_sinks.distances: _many_sinks.TABLES,
    _simplex.distances: _simplex.TABLES,
    _simplex.plan: _simplex.TABLES,
}

_loaded: set[tuple[object, int]] = set()


def distances(x, y, out, ground=None):
    """Fill ``out[i, j]`` with the distance between graph i of x and graph j of y.

    Both come from `prepare`. A graph without nodes is infinitely far. The ground distance is a
    `GroundDistance`; None is the paper's.
    """
    out[...] = np.inf
    _solve(x, y, out, ground, False)


def chosen_distances(x, y, out, ground=None):
    """Fill in the distances that are NaN, as `distances` does, and leave the others.

    Graphs of pairs that are NaN have nodes.
    """
    _solve(x, y, out, ground, True)


def _solve(x, y, out, ground, chosen):
    rule = rule_of(ground, x.points.shape[1])
    _solve_where_sinks_are_fewer(rule, x, y, True, False, chosen, out)
    _solve_where_sinks_are_fewer(rule, y, x, False, True, chosen, out)
    if rule.partial:
        add_unmatched(np, out, x.totals[:, np.newaxis], y.totals, ground.unmatched)


def rule_of(ground, n_dimensions):
    """Return a ground distance as compiled code takes it; None is the paper's."""
    if ground is None:
        ground = default_ground_distance(n_dimensions)
    return Rule(ground.floor, ground.per_label, ground.partial)


def _solve_where_sinks_are_fewer(ground, sources, sinks, ties, swapped, chosen, out):
    """Give each pair to the copy of the solver for its number of sinks, with a further one.

    If ``chosen``, only pairs whose distance is NaN: those are solved that a solver gives up, too.
    """
    n, m = np.sort(np.diff(sources.offsets)), np.diff(sinks.offsets)
    fewest, most = m if ties else m + 1, m + (ground.partial & (m > 0))
    below = np.full_like(m, n.max(initial=0) + 1)
    large = np.clip(_MOST_ARCS // np.maximum(m, 1) + 1, fewest, below)
    if not _some_have_few_units(ground, sources):
        large = fewest

    def run(solver, width, sized, fewest, below, only_nan=chosen):
        below = np.where(sized, below, fewest)
        if (np.searchsorted(n, fewest) < np.searchsorted(n, below)).any():
            pairs = Pairs(fewest, below, only_nan)
            size = n[-1] + ground.partial, most[sized].max()
            _run(solver.distances, width, size, pairs, ground, sources, sinks, swapped, out)

    above = 0
    for width in _few_sinks.WIDTHS:
        run(_few_sinks, width, (above < most) & (most <= width), fewest, below)
        above = width
    run(_many_sinks, _BLOCK, most > above, fewest, large)
    run(_simplex, _BLOCK, most > above, large, below)
    if np.isnan(out).any():
        run(_simplex, _BLOCK, m > 0, fewest, below, only_nan=True)


def _some_have_few_units(ground, side):
    """Whether paths between more than 64 sinks may be tried: masses are scaled up, if at all."""
    units = _many_sinks.UNITS * (np.diff(side.offsets) + ground.partial)
    return bool((side.totals <= units).any())


def plan(points, masses, labels, sink_points, sink_masses, sink_labels, ground=None):
    """Return the optimal flows between two graphs, as shares of the larger mass, and their cost.

    By counts, the cost is the mean of the mass that is matched.
    """
    if len(points) < len(sink_points):
        flows, cost = plan(sink_points, sink_masses, sink_labels, points, masses, labels, ground)
        return flows.T, cost
    rule = rule_of(ground, points.shape[1])
    sources = prepare_one(points, masses, labels)
    sinks = prepare_one(sink_points, sink_masses, sink_labels)
    n, m = len(points), len(sink_points)
    further = sources.totals[0] - sinks.totals[0] if rule.partial else 0
    out = np.empty((n + (further < 0), m + (further > 0)))
    size = n + rule.partial, m + rule.partial
    cost = _run(_simplex.plan, _BLOCK, size, rule, sources, sinks, out)
    return out[:n, :m], cost


def kernels() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield, for each kernel, what it is for and a function that loads or compiles it."""
    side = prepare_one(np.zeros((2, 1)), np.ones(2, np.int64), None)
    rule, out = rule_of(None, 1), np.empty((2, 2))
    pairs = Pairs(np.zeros(1, np.int64), np.zeros(1, np.int64), False)
    several, one = (pairs, rule, side, side, False, out), (rule, side, side, out)
    for width in _few_sinks.WIDTHS:
        yield _described(_few_sinks.distances, width, several)
    yield _described(_many_sinks.distances, _BLOCK, several)
    yield _described(_simplex.distances, _BLOCK, several)
    yield _described(_simplex.plan, _BLOCK, one)


def _described(kernel, width, arguments):
    return _purpose(kernel, width), partial(_load, kernel, width, arguments)


def _purpose(kernel, width):
    return f"the transport engine {_PURPOSES[kernel].format(width)}"


def _run(kernel, width, size, *arguments):
    """Call a kernel, or the one that stands in for it in a first run.

    Problems have at most ``size`` sources and sinks.
    """
    if (kernel, width) not in _loaded and _first_run.serves(kernel, width, arguments):
        return _first_run.run(kernel, size, arguments)
    return _call(kernel, width, size, arguments)


def _call(kernel, width, size, arguments):
    _load(kernel, width, arguments)
    memory = working_memory(_TABLES[kernel], *_rows_and_stride(width, *size))
    return kernel((0,) * width, memory, *arguments)


def _rows_and_stride(width, n, m):
    stride = -(-min(n, m) // width) * width
    return max(n, stride), stride  # tables of arcs have a row for each sink, padding included


def bytes_of_large_pair(n: int, m: int) -> int:
    """Return the memory for one pair of graphs of so many nodes, if the network simplex takes it.

    Equal nodes of a graph count as one: they are merged.
    """
    n_rows, stride = _rows_and_stride(_BLOCK, n, m)
    n_bytes: int = _simplex.TABLES * n_rows * stride * np.dtype(np.int64).itemsize
    return n_bytes


def _load(kernel, width, arguments):
    """Return a kernel; say so if it has to be compiled first and that takes long."""
    if (kernel, width) not in _loaded:
        with notify_if_compiling(kernel, _purpose(kernel, width)):
            kernel.compile(_signature(width, arguments))
        _loaded.add((kernel, width))
    return kernel


def _signature(width, arguments):
    return typeof((0,) * width), typeof(working_memory(1, 0, 0)), *map(typeof, arguments)


class _FirstRun:
    """Spares the process that finds an empty cache the copies of `few_sinks` for few sinks.

    A wider one solves what they solve, to the same bit, in a quarter more time. When it has done
    so for long, and in every later process, they are compiled.
    """

    def __init__(self):
        self.seconds = 0.0
        self._is_first = None

    def serves(self, kernel, width, arguments):
        """Whether the wider copy stands in for one that is not loaded."""
        if kernel is not _few_sinks.distances or width >= _STAND_IN:
            return False
        require_compiled(kernel)
        if self._is_first is None:
            self._is_first = not kernel.is_stored(_signature(_STAND_IN, arguments))
        return (
            self._is_first
            and self.seconds < _WORTH_A_COPY
            and not kernel.is_stored(_signature(width, arguments))
        )

    def run(self, kernel, size, arguments):
        """Call the wider copy."""
        _load(kernel, _STAND_IN, arguments)
        start = perf_counter()
        _call(kernel, _STAND_IN, size, arguments)
        self.seconds += perf_counter() - start


_first_run = _FirstRun()
