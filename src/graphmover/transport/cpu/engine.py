"""Exact transport between many small sets of points, on the CPU.

    minimise  sum_ij F_ij C_ij   with   sum_j F_ij = a_i,  sum_i F_ij = b_j,  F >= 0

between n sources and m <= n sinks: the smaller side are the sinks. Masses and costs are whole
numbers (`_problem.py`), so nothing here has a tolerance.

Prices. With a price p_j for every sink, each source goes to its cheapest sink, the one with
the least C_ij - p_j. This flow is optimal among all with the same load on every sink. Only, it
loads some sinks too much (excess) and others too little (deficit). From then on mass moves from
excess to deficit along shortest paths of the residual graph, which keeps it optimal for its
loads; when no excess is left, it is the optimum (successive shortest paths).

A graph of sinks. A step of such a path takes a source i with flow at sink j over to sink k, for
C_ik - C_ij. So the residual graph has only m nodes, and its arcs are two tables:

    best[j, k] = least C_ik - C_ij over the sources i with flow at j,   mover[j, k] = that source.

When a source comes to j, one vector minimum brings row j up to date; when one has left, the
sources at j are scanned again.

A phase. First, shortest paths from all excess sinks together: Bellman and Ford's rounds over at
most 32 sinks (`_few_sinks.py`), where a row of ``best`` is one vector in registers, a relaxation
an addition and a minimum; Dijkstra's algorithm over more (`_many_sinks.py`). The low bits of a
length hold the path itself, so that the minimum keeps the tree too, and of equally short paths
the one with the fewest arcs: short paths seldom get in each other's way. Then each deficit sink
draws along its path what that can carry: all arcs of the tree are tight, so it may. Then rows
that have lost a source are scanned again.

Why it ends. The first path drawn in a phase carries at least one unit, for its movers have flow,
its root excess, its end a deficit; no excess ever grows; and all are whole numbers. Lengths are
whole numbers too, and every arc adds one in the low bits, so no cycle has a length of zero or
less, and a search ends after at most m rounds. Equal costs, equal points and degenerate masses
can therefore neither stall it nor make it cycle.

Even sides. With more than 32 sinks and at most twice as many sources, the simplex method takes
over (`_simplex.py`).

Many sources. While n is much larger than m, every second source is solved first, and so on down;
the prices found start the larger problem, in which few sources then have to move. A source whose
second cheapest sink is out of reach of the movement of prices is settled at once.
"""

from __future__ import annotations

import numpy as np
from numba import typeof

from graphmover._utils.compiling import telling_if_compiling
from graphmover.transport.cpu import few_sinks as _few_sinks
from graphmover.transport.cpu import many_sinks as _many_sinks
from graphmover.transport.cpu import simplex as _simplex
from graphmover.transport.cpu.problem import prepare, prepare_one
from graphmover.transport.cpu.solver import Pairs
from graphmover.transport.ground import default_ground_distance

#: Numbers of sinks that a compiled copy of `_few_sinks` serves, and the block of the others.
_WIDTHS = (8, 16, 32)
_BLOCK = 8

#: With so many sources for each of many sinks, or fewer, the simplex method is faster than paths.
_EVEN = 2

__all__ = ["distances", "plan", "prepare"]

#: Which part of the engine each kernel is, in words for who waits for its compilation.
_PARTS = {
    _few_sinks.distances: "for up to {} sinks",
    _many_sinks.distances: f"for more than {_WIDTHS[-1]} sinks",
    _simplex.distances: f"for even sides of more than {_WIDTHS[-1]}",
    _many_sinks.plan: "for plans",
    _simplex.plan: "for plans of even sides",
}

_loaded: set[tuple[object, int]] = set()


def distances(x, y, out, ground=None):
    """Fill ``out[i, j]`` with the distance between graph i of x and graph j of y.

    Both come from `prepare`. A graph without nodes is infinitely far. The ground distance is a
    `GroundDistance`; None is the paper's.
    """
    out[...] = np.inf
    if ground is None:
        ground = default_ground_distance(x.points.shape[1])
    _solve_where_sinks_are_fewer(ground, x, y, True, False, out)
    _solve_where_sinks_are_fewer(ground, y, x, False, True, out)


def _solve_where_sinks_are_fewer(ground, sources, sinks, ties, swapped, out):
    """Give each pair to the copy of the solver for its number of sinks."""
    n, m = np.sort(np.diff(sources.offsets)), np.diff(sinks.offsets)
    fewest = m if ties else m + 1
    below = np.full_like(m, n.max(initial=0) + 1)
    uneven = np.clip(_EVEN * m + 1, fewest, below)

    def run(solver, width, chosen, fewest, below):
        below = np.where(chosen, below, fewest)
        if (np.searchsorted(n, fewest) < np.searchsorted(n, below)).any():
            pairs = Pairs(fewest, below)
            _run(solver.distances, width, pairs, ground, sources, sinks, swapped, out)

    above = 0
    for width in _WIDTHS:
        run(_few_sinks, width, (above < m) & (m <= width), fewest, below)
        above = width
    run(_simplex, _BLOCK, m > above, fewest, uneven)
    run(_many_sinks, _BLOCK, m > above, uneven, below)


def plan(points, masses, labels, sink_points, sink_masses, sink_labels, ground=None):
    """Return the optimal flows between two graphs, as shares of all mass, and their cost."""
    if len(points) < len(sink_points):
        flows, cost = plan(sink_points, sink_masses, sink_labels, points, masses, labels, ground)
        return flows.T, cost
    if ground is None:
        ground = default_ground_distance(points.shape[1])
    sources = prepare_one(points, masses, labels)
    sinks = prepare_one(sink_points, sink_masses, sink_labels)
    out = np.empty((len(points), len(sink_points)))
    solver = _simplex if len(points) <= _EVEN * len(sink_points) else _many_sinks
    return out, _run(solver.plan, _BLOCK, ground, sources, sinks, out)


def _run(kernel, width, *arguments):
    """Call a kernel; if compiling it, the first time ever, takes long, tell the user."""
    lanes = (0,) * width
    if (kernel, width) in _loaded:
        return kernel(lanes, *arguments)
    with telling_if_compiling(kernel, f"the transport engine {_PARTS[kernel].format(width)}"):
        kernel.compile((typeof(lanes), *map(typeof, arguments)))
    _loaded.add((kernel, width))
    return kernel(lanes, *arguments)
