"""The solver for more than 64 sinks: rows are blocks of vectors in memory.

The method is that of `few_sinks.py`, but rounds over all sinks no longer fit registers. So a round
goes on only from the sinks with the shortest paths among those that have become shorter, in between
Bellman and Ford, who would go on from all of them, and Dijkstra, who would take the very shortest;
and no path goes on that is longer than all those to a deficit.

Paths are few where masses consist of few units, as between graphs of as many nodes of equal mass.
Otherwise the problem is given up at once.
"""

from __future__ import annotations

from collections import namedtuple
from math import nan

import numpy as np

from graphmover._utils.jit import JIT, JIT_NO_ALLOCATION, njit
from graphmover.transport.cpu.lanes import (
    JIT_INLINE,
    bits,
    load,
    lowest_bit,
    minimum,
    minimum_of_positive,
    numbers,
    select,
    smallest,
    splat,
    store,
)
from graphmover.transport.cpu.problem import (
    INFINITE,
    SINKS,
    Costs,
    Scaling,
    fill_all_costs,
    fill_costs,
    in_blocks,
    number_of_bits,
)
from graphmover.transport.cpu.residual import (
    along_paths,
    append_member,
    flow_cost,
    improve_arcs,
)
from graphmover.transport.cpu.solver import at_finer_costs, least_sink, over_pairs

#: In a path's low bits: the sink before on the path, and above it the number of arcs. A problem
#: with longer paths is given up.
_ARC_BITS = 6
_MOST_ARCS = (1 << _ARC_BITS) - 1

#: A round goes on from the sinks in the first 2**-_SPREAD of the lengths that are still due.
_SPREAD = 3

#: Paths are faster than the network simplex where masses have at most this many units for each
#: source.
UNITS = 2

#: Of how many sources it is seen whether they have the same cheapest sinks.
_SOME = 32

#: How many numbers may be read, in rows of costs and arcs, for each source and sink before the
#: problem is given up, and how many for each source at most.
_PATIENCE = 250
_MOST_PATIENCE = 20_000

#: Beyond this share of the numbers, a problem is given up if more than this share of the deficits
#: is left. Between random points of four dimensions or more it was at most 0.19 by then, on a line
#: or on circles of 400 points 0.24 or more.
_FIRST_LOOK = 0.2
_DEFICITS_LEFT = 0.22

#: How many tables there are with a number for each source and sink, or for each two sinks.
TABLES = 6

State = namedtuple(
    "State",
    [
        "cost",  # (n * stride,) C_ij as float64
        "integer_cost",  # (n * stride,) C_ij as integers
        "supply",  # (n,) a_i
        "demand",  # (stride,) b_j
        "flow",  # (n * stride,) F_ij
        "members",  # (stride * n,) the sources with flow at sink j, and some that had it
        "n_members",  # (stride,)
        "arc_cost",  # (stride * stride,) the residual graph's arc from sink j to sink k
        "arc_source",  # (stride * stride,) the source that moves along it
        "deficit",  # (stride,) demand less flow; negative: an excess
        "price",  # (stride,) p_j
        "path",  # (stride,) p_j and the length of the shortest path so far, its arcs and parent
        "due",  # (stride,) the length of a path from which arcs are still to be relaxed
        "row",  # (stride,) where the rows of arcs to relax begin
        "here",  # (stride,) the paths that they continue
        "lost",  # (stride,) whether a source has left the sink in this phase
        "blocks",  # (W,) in which block of sinks each lane found its least
    ],
)


@njit(**JIT)
def distances(lanes, memory, pairs, ground, sources, sinks, swapped, out):
    """Solve pairs of any number of sinks."""
    _solve_pairs(lanes, memory, pairs, ground, sources, sinks, swapped, out)


@njit(**JIT)
def _state(lanes, memory, n, m):
    stride = in_blocks(lanes, m)
    return State(
        cost=memory[0].view(np.float64),
        integer_cost=memory[1],
        supply=np.empty(n, np.int64),
        demand=np.empty(stride, np.int64),
        flow=memory[2],
        members=memory[3].view(np.int32),
        n_members=np.zeros(stride, np.int64),
        arc_cost=memory[4],
        arc_source=memory[5],
        deficit=np.zeros(stride, np.int64),
        price=np.zeros(stride, np.int64),
        due=np.zeros(stride, np.int64),
        row=np.zeros(stride, np.int64),
        here=np.zeros(stride, np.int64),
        path=np.zeros(stride, np.int64),
        lost=np.zeros(stride, np.bool_),
        blocks=np.zeros(len(lanes), np.int64),
    )


@njit(**JIT_NO_ALLOCATION)
def _low_bits(m):
    return number_of_bits(m) + _ARC_BITS


@njit(**JIT_NO_ALLOCATION)
def _cost_bits(n, m):
    return 60 - _low_bits(m)


@njit(**JIT_NO_ALLOCATION)
def _solve(lanes, p, units, total, s):
    n, m = p.n, p.sinks.m
    if total > UNITS * n:
        return nan
    scaling = Scaling(units, _cost_bits(n, m), _low_bits(m))
    if p.further != SINKS and _is_crowded(lanes, p, scaling, s):
        return nan
    fill_all_costs(lanes, p, scaling, Costs(s.cost, s.integer_cost))
    for j in range(p.sinks.stride):
        s.deficit[j] = s.demand[j] if j < m else 0
    _assign(lanes, n, m, s)
    patience = min(_PATIENCE * m, _MOST_PATIENCE) * n // p.sinks.stride
    if not _balance(lanes, m, patience, s):
        return nan
    return flow_cost(p.sinks.stride, m, s)


_solve_pairs = over_pairs(_state, at_finer_costs(_cost_bits, _solve, 0.0))


@njit(**JIT_NO_ALLOCATION)
def _is_crowded(lanes, p, scaling, s):
    """Whether nearly all sources have the same few cheapest sinks, as some of them show.

    On lines that cross, for one: there paths get in each other's way, and the network simplex
    starts near the optimum.
    """
    n, stride = min(p.n, _SOME), p.sinks.stride
    nodes = range(p.first, p.first + n)
    fill_costs(lanes, p, nodes, p.sinks, scaling, Costs(s.cost, s.integer_cost), 0)
    for j in range(stride):
        s.lost[j] = False
    different = 0
    for i in range(n):
        j = _take_cheapest(lanes, stride, i, s)
        different += not s.lost[j]
        s.lost[j] = True
    return 8 * different < n


@njit(**JIT_NO_ALLOCATION)
def _assign(lanes, n, m, s):
    """Send every source to its cheapest sink."""
    stride = in_blocks(lanes, m)
    for j in range(stride):
        s.n_members[j] = 0
        s.price[j] = 0
        _remove_arcs(lanes, j, stride, s)
    for i in range(n):
        cheapest = _take_cheapest(lanes, stride, i, s)
        s.deficit[cheapest] -= s.supply[i]
        append_member(cheapest, i, s)
        improve_arcs(lanes, stride, cheapest, i, s)


@njit(**JIT_NO_ALLOCATION)
def _take_cheapest(lanes, stride, i, s):
    """Send all of source i to its cheapest sink, which is returned."""
    least, where = splat(lanes, INFINITE), splat(lanes, 0)
    for block in range(0, stride, len(lanes)):
        cost = load(lanes, s.integer_cost, i * stride + block)
        better = cost < least
        least = select(better, cost, least)
        where = select(better, splat(lanes, block), where)
        store(s.flow, i * stride + block, splat(lanes, 0))
    cheapest = least_sink(lanes, least, where, s.blocks)
    s.flow[i * stride + cheapest] = s.supply[i]
    return cheapest


@njit(**JIT_NO_ALLOCATION)
def _remove_arcs(lanes, j, stride, s):
    for block in range(0, stride, len(lanes)):
        store(s.arc_cost, j * stride + block, splat(lanes, INFINITE))


@njit(**JIT_INLINE)
def _has_lost(_, k, s):
    return s.lost[k]


@njit(**JIT_INLINE)
def _mark_lost(nothing, k, s):
    s.lost[k] = True
    return nothing


_augment = along_paths(_has_lost, _mark_lost)


@njit(**JIT_NO_ALLOCATION)
def _balance(lanes, m, patience, s):
    """Augment along shortest paths until no sink has a deficit; False if it takes too long."""
    stride, parents = in_blocks(lanes, m), (1 << number_of_bits(m)) - 1
    left, at_first = patience, 0
    while True:
        deficits = 0
        for k in range(m):
            s.lost[k] = False
            deficits += s.deficit[k] > 0
        if deficits == 0:
            return True
        at_first = max(at_first, deficits)
        if left < (1 - _FIRST_LOOK) * patience and deficits > _DEFICITS_LEFT * at_first:
            return False
        left -= _find_shortest_paths(lanes, m, s)
        if left < 0:
            return False
        for k in range(m):
            if s.deficit[k] > 0:
                _augment(lanes, stride, parents, k, 0, s)
        for k in range(m):
            if s.lost[k]:
                left -= s.n_members[k]
                _rebuild_arcs(lanes, m, k, s)


@njit(**JIT_NO_ALLOCATION)
def _find_shortest_paths(lanes, m, s):
    """Find paths from the excess sinks to all deficit sinks; update the prices.

    Return how many rows were read: INFINITE if a path has too many arcs.
    """
    stride, low = in_blocks(lanes, m), (1 << _low_bits(m)) - 1
    nothing, never = splat(lanes, 0), splat(lanes, INFINITE)
    for block in range(0, stride, len(lanes)):
        excess = load(lanes, s.deficit, block) < nothing
        start = load(lanes, s.price, block) | (numbers(lanes) + splat(lanes, block))
        store(s.path, block, select(excess, start, never))
        store(s.due, block, select(excess, nothing, never))
    n_read, nearest, farthest = 0, 0, INFINITE
    while nearest < farthest:
        reach = nearest + ((farthest - nearest) >> _SPREAD)
        n_rows = _choose_rows(lanes, m, min(reach + 1, farthest), s)
        if n_rows < 0:
            return INFINITE
        n_read += n_rows + 4  # a round itself takes about as long as this many rows
        nearest, farthest = _relax(lanes, m, n_rows, s)
    for k in range(m):
        s.price[k] += min(s.path[k] - s.price[k], farthest) & ~low
    return n_read


@njit(**JIT_NO_ALLOCATION)
def _choose_rows(lanes, m, below, s):
    """List the rows of arcs out of the sinks that are due below a length; return their number.

    It is -1 if a path has too many arcs.
    """
    stride, parent_bits = in_blocks(lanes, m), number_of_bits(m)
    n_rows = 0
    for block in range(0, stride, len(lanes)):
        due = load(lanes, s.due, block)
        chosen = due < splat(lanes, below)
        store(s.due, block, select(chosen, splat(lanes, INFINITE), due))
        which = bits(chosen)
        while which:
            j = block + lowest_bit(which)
            which &= which - 1
            path = s.path[j] >> parent_bits  # its length and, below, the number of its arcs
            if path & _MOST_ARCS == _MOST_ARCS:
                return -1
            s.row[n_rows] = j * stride
            s.here[n_rows] = (path + 1 << parent_bits) + j
            n_rows += s.n_members[j] > 0
    return n_rows


@njit(**JIT_NO_ALLOCATION)
def _relax(lanes, m, n_rows, s):
    """Relax the arcs of the rows listed.

    Return the least length that is due, and the largest of all deficits.
    """
    nearest, farthest, nothing = splat(lanes, INFINITE), splat(lanes, 0), splat(lanes, 0)
    for block in range(0, in_blocks(lanes, m), len(lanes)):
        old = shorter = load(lanes, s.path, block)
        for at in range(n_rows):
            move = load(lanes, s.arc_cost, s.row[at] + block) + splat(lanes, s.here[at])
            shorter = minimum_of_positive(shorter, move)
        store(s.path, block, shorter)
        length = shorter - load(lanes, s.price, block)
        due = select(shorter < old, length, load(lanes, s.due, block))
        store(s.due, block, due)
        nearest = minimum(nearest, due)
        in_deficit = nothing < load(lanes, s.deficit, block)
        farthest = minimum(farthest, select(in_deficit, nothing - length, nothing))
    return smallest(nearest), -smallest(farthest)


@njit(**JIT_NO_ALLOCATION)
def _rebuild_arcs(lanes, m, j, s):
    """Compute the arcs out of sink j again, from the sources that still have flow there."""
    stride = in_blocks(lanes, m)
    _remove_arcs(lanes, j, stride, s)
    first = j * len(s.supply)
    kept = 0
    for at in range(first, first + s.n_members[j]):
        i = np.int64(s.members[at])
        if s.flow[i * stride + j]:
            s.members[first + kept] = i
            kept += 1
            improve_arcs(lanes, stride, j, i, s)
    s.n_members[j] = kept
