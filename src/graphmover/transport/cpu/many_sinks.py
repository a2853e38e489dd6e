"""The solver for more than 32 sinks and more sources: rows are blocks of vectors in memory.

The method is that of `few_sinks.py`, with Dijkstra's algorithm for the paths: rounds over all
sinks no longer fit registers.
"""

from __future__ import annotations

from collections import namedtuple
from math import nan

import numpy as np

from graphmover._utils.jit import JIT, JIT_NO_ALLOCATION, njit
from graphmover.transport.cpu.lanes import JIT_INLINE, load, minimum, select, splat, store
from graphmover.transport.cpu.problem import (
    INFINITE,
    Costs,
    Scaling,
    fill_all_costs,
    in_blocks,
    number_of_bits,
)
from graphmover.transport.cpu.residual import (
    along_paths,
    append_member,
    flow_cost,
    improve_arcs,
)
from graphmover.transport.cpu.solver import at_finer_costs, for_plan, least_sink, over_pairs

#: Replaces the length of a sink whose shortest path is final: no path is shorter, and one less
#: than it wraps around to the largest number there is, which is never the least.
_CLOSED = -(1 << 63)

#: In a path's low bits: the sink before on the path, and above it the number of arcs, which stops
#: counting at the most that these bits can hold.
_ARC_BITS = 6
_MOST_ARCS = (1 << _ARC_BITS) - 1

#: How many numbers may be read, in rows of costs and arcs, for each source and sink before the
#: problem is given up.
_PATIENCE = 60

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
        "tentative",  # (stride,) length of the shortest path found so far, its arcs and parent
        "path",  # (stride,) the same once it is final; an excess sink is its own parent
        "lost",  # (stride,) whether a source has left the sink in this phase
        "blocks",  # (W,) in which block of sinks each lane found its least
    ],
)


@njit(**JIT)
def distances(lanes, pairs, ground, sources, sinks, swapped, out):
    """Solve pairs of any number of sinks."""
    _solve_pairs(lanes, pairs, ground, sources, sinks, swapped, out)


@njit(**JIT)
def plan(lanes, ground, sources, sinks, out):
    """Fill ``out`` with the flows of one pair as shares of all mass; return the distance."""
    return _plan(lanes, ground, sources, sinks, out)


@njit(**JIT)
def _state(lanes, n, m):
    stride = in_blocks(lanes, m)
    return State(
        cost=np.empty(n * stride),
        integer_cost=np.empty(n * stride, np.int64),
        supply=np.empty(n, np.int64),
        demand=np.empty(stride, np.int64),
        flow=np.empty(n * stride, np.int64),
        members=np.empty(n * stride, np.int32),
        n_members=np.zeros(stride, np.int64),
        arc_cost=np.empty(stride * stride, np.int64),
        arc_source=np.zeros(stride * stride, np.int64),
        deficit=np.zeros(stride, np.int64),
        price=np.zeros(stride, np.int64),
        tentative=np.zeros(stride, np.int64),
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
    scaling = Scaling(units, _cost_bits(n, m), _low_bits(m))
    fill_all_costs(lanes, p, scaling, Costs(s.cost, s.integer_cost))
    for j in range(p.sinks.stride):
        s.deficit[j] = s.demand[j] if j < m else 0
    _assign(lanes, n, m, s)
    if not _balance(lanes, m, _PATIENCE * n * m // p.sinks.stride, s):
        return nan
    return flow_cost(p.sinks.stride, m, s)


@njit(**JIT_NO_ALLOCATION)
def _write_flows(stride, total, s, out):
    n, m = out.shape
    for i in range(n):
        for j in range(m):
            out[i, j] = s.flow[i * stride + j] / total


_distance = at_finer_costs(_cost_bits, _solve, 1e-300)
_solve_pairs = over_pairs(_state, _distance)
_plan = for_plan(_state, _distance, _write_flows)


@njit(**JIT_NO_ALLOCATION)
def _assign(lanes, n, m, s):
    """Send every source to its cheapest sink."""
    stride = in_blocks(lanes, m)
    for j in range(stride):
        s.n_members[j] = 0
        s.price[j] = 0
        _remove_arcs(lanes, j, stride, s)
    for i in range(n):
        cheapest = 0
        for j in range(stride):
            s.flow[i * stride + j] = 0
            if s.integer_cost[i * stride + j] < s.integer_cost[i * stride + cheapest]:
                cheapest = j
        s.flow[i * stride + cheapest] = s.supply[i]
        s.deficit[cheapest] -= s.supply[i]
        append_member(cheapest, i, s)
        improve_arcs(lanes, stride, cheapest, i, s)


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
    while True:
        deficits = 0
        for k in range(m):
            s.lost[k] = False
            deficits += s.deficit[k] > 0
        if deficits == 0:
            return True
        if patience < 0:
            return False
        patience -= m + _find_shortest_paths(lanes, m, deficits, s)
        for k in range(m):
            if s.deficit[k] > 0:
                _augment(lanes, stride, parents, k, 0, s)
        for k in range(m):
            if s.lost[k]:
                patience -= s.n_members[k]
                _rebuild_arcs(lanes, m, k, s)


@njit(**JIT_NO_ALLOCATION)
def _find_shortest_paths(lanes, m, deficits, s):
    """Dijkstra from all excess sinks until every deficit sink is reached; update the prices.

    Arcs have their reduced costs, which are never negative. Return how many sinks were reached.
    """
    j = reached = 0
    for k in range(in_blocks(lanes, m)):
        s.tentative[k] = INFINITE if k < m else _CLOSED
        s.path[k] = INFINITE
        if s.deficit[k] < 0:
            s.tentative[k] = j = k
    while True:
        s.path[j] = s.tentative[j]
        s.tentative[j] = _CLOSED
        reached += 1
        if s.deficit[j] > 0:
            deficits -= 1
            if deficits == 0:
                break
        j = _relax(lanes, m, j, s)
    low = (1 << _low_bits(m)) - 1
    farthest = s.path[j] & ~low
    for k in range(m):
        s.price[k] += min(s.path[k] & ~low, farthest)
    return reached


@njit(**JIT_NO_ALLOCATION)
def _relax(lanes, m, j, s):
    """Relax the arcs out of sink j; return the nearest sink whose path is not final."""
    stride = in_blocks(lanes, m)
    parent_bits = number_of_bits(m)
    path = s.path[j] >> parent_bits  # its length and, below, the number of its arcs
    if path & _MOST_ARCS < _MOST_ARCS:
        path += 1
    here = splat(lanes, (path << parent_bits) + s.price[j] + j)
    least, where, one = splat(lanes, INFINITE), splat(lanes, 0), splat(lanes, 1)
    for block in range(0, stride, len(lanes)):
        move = load(lanes, s.arc_cost, j * stride + block) + here
        shorter = minimum(load(lanes, s.tentative, block), move - load(lanes, s.price, block))
        store(s.tentative, block, shorter)
        shorter = shorter - one
        better = shorter < least
        least = select(better, shorter, least)
        where = select(better, splat(lanes, block), where)
    return least_sink(lanes, least, where, s.blocks)


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
