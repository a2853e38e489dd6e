"""The solver for more than 32 sinks and many more sources: rows are blocks of vectors in memory.

The method is that of `_few_sinks.py`, with Dijkstra's algorithm for the paths, since rounds over
all sinks no longer fit registers.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from graphmover._utils.jit import JIT, JIT_NO_ALLOCATION
from graphmover.transport.cpu.lanes import (
    bits,
    load,
    lowest_bit,
    minimum,
    select,
    smallest,
    splat,
    store,
)
from graphmover.transport.cpu.problem import (
    INFINITE,
    cost_bound,
    finer_bound,
    ground_distances,
    in_blocks,
    largest,
    number_of_bits,
    over_pairs,
    scale_to_common_total,
    transpose_sinks,
    units_per_cost,
)

#: Stands for the length of a sink whose shortest path is known: no path is shorter, and one less
#: than it, the largest number there is, is never the least.
_CLOSED = -(1 << 63)

#: In a label's low bits: the sink before on the path, and above it the number of arcs, which goes
#: no higher than these bits can tell.
_ARC_BITS = 6
_MOST_ARCS = (1 << _ARC_BITS) - 1

State = namedtuple(
    "State",
    [
        "cost",  # (n * stride,) C_ij as float64
        "whole",  # (n * stride,) C_ij as whole units
        "supply",  # (n,) a_i
        "flow",  # (n * stride,) F_ij
        "members",  # (stride * n,) the sources with flow at sink j, and some that had it
        "n_members",  # (stride,)
        "best",  # (stride * stride,) cheapest move of a unit from sink j to sink k
        "mover",  # (stride * stride,) the source that makes it
        "need",  # (stride,) demand less flow: positive is a deficit, negative an excess
        "price",  # (stride,) p_j
        "open",  # (stride,) length of the shortest path found so far, and its last parent
        "label",  # (stride,) the same once it is final; an excess sink is its own parent
        "lost",  # (stride,) whether a source has left the sink in this phase
        "blocks",  # (W,) in which block of sinks each lane found its least
        "coordinates",  # (d * stride,) the sinks' points, a row per dimension
        "sink_labels",  # (stride,)
    ],
)


@njit(**JIT)
def distances(lanes, pairs, sources, sinks, swapped, out):
    """Solve pairs of any number of sinks."""
    n_most = largest(sources.offsets)
    state = _state(lanes, n_most, min(n_most, largest(sinks.offsets)), sources.points.shape[1])
    _solve_pairs(lanes, pairs, sources, sinks, swapped, state, out)


@njit(**JIT)
def plan(lanes, sources, sinks, out):
    """Fill ``out`` with the flows of one pair as shares of all mass; return the distance."""
    n, m = out.shape
    stride = in_blocks(lanes, m)
    state = _state(lanes, n, m, sources.points.shape[1])
    transpose_sinks(sinks, 0, stride, state.coordinates, state.sink_labels)
    distance = _distance(lanes, sources, 0, sinks, 0, state)
    total = 0
    for i in range(n):
        total += state.supply[i]
    for i in range(n):
        for j in range(m):
            out[i, j] = state.flow[i * stride + j] / total
    return distance


@njit(**JIT)
def _state(lanes, n, m, n_dimensions):
    stride = in_blocks(lanes, m)
    return State(
        np.empty(n * stride),
        np.empty(n * stride, np.int64),
        np.empty(n, np.int64),
        np.empty(n * stride, np.int64),
        np.empty(n * stride, np.int32),
        np.zeros(stride, np.int64),
        np.empty(stride * stride, np.int64),
        np.zeros(stride * stride, np.int64),
        np.zeros(stride, np.int64),
        np.zeros(stride, np.int64),
        np.zeros(stride, np.int64),
        np.zeros(stride, np.int64),
        np.zeros(stride, np.bool_),
        np.zeros(len(lanes), np.int64),
        np.zeros(n_dimensions * stride),
        np.zeros(stride, np.int64),
    )


@njit(**JIT_NO_ALLOCATION)
def _distance(lanes, sources, g, sinks, r, s):
    n = sources.offsets[g + 1] - sources.offsets[g]
    m = sinks.offsets[r + 1] - sinks.offsets[r]
    stride = in_blocks(lanes, m)
    low_bits = number_of_bits(m) + _ARC_BITS
    cost_bits = 60 - low_bits
    bound = max(cost_bound(sources, g, sinks, r), 1e-300)  # zero: any flow will do, but one must be
    distance = 0.0
    while bound > 0:
        s.need[:] = 0
        total = scale_to_common_total(sources, g, sinks, r, s.supply, s.need)
        for block in range(0, stride, len(lanes)):
            ground_distances(
                lanes,
                sources,
                sources.offsets[g],
                sources.offsets[g + 1],
                1,
                s.coordinates,
                s.sink_labels,
                stride,
                block,
                m,
                units_per_cost(bound, cost_bits),
                cost_bits,
                low_bits,
                s.cost,
                s.whole,
                block,
            )
        _assign(lanes, n, m, s)
        _balance(lanes, m, s)
        distance = _flow_cost(lanes, m, s) / total
        bound = finer_bound(bound, distance, total, cost_bits)
    return distance


_solve_pairs = over_pairs(_distance)


@njit(**JIT_NO_ALLOCATION)
def _assign(lanes, n, m, s):
    """Every source to its cheapest sink."""
    stride = in_blocks(lanes, m)
    for j in range(stride):
        s.n_members[j] = 0
        s.price[j] = 0
        _forget_moves(lanes, j, stride, s)
    for i in range(n):
        cheapest = 0
        for j in range(stride):
            s.flow[i * stride + j] = 0
            if s.whole[i * stride + j] < s.whole[i * stride + cheapest]:
                cheapest = j
        s.flow[i * stride + cheapest] = s.supply[i]
        s.need[cheapest] -= s.supply[i]
        _append_member(cheapest, i, s)
        _offer_moves(lanes, stride, cheapest, i, s)


@njit(**JIT_NO_ALLOCATION)
def _append_member(k, i, s):
    s.members[k * len(s.supply) + s.n_members[k]] = i
    s.n_members[k] += 1


@njit(**JIT_NO_ALLOCATION)
def _forget_moves(lanes, j, stride, s):
    for block in range(0, stride, len(lanes)):
        store(s.best, j * stride + block, splat(lanes, INFINITE))


@njit(**JIT_NO_ALLOCATION)
def _offer_moves(lanes, stride, k, i, s):
    """Let source i, which has come to sink k, improve the moves from there."""
    here, who = splat(lanes, s.whole[i * stride + k]), splat(lanes, i)
    for block in range(0, stride, len(lanes)):
        cell = k * stride + block
        old = load(lanes, s.best, cell)
        new = load(lanes, s.whole, i * stride + block) - here
        better = new < old
        store(s.best, cell, select(better, new, old))
        store(s.mover, cell, select(better, who, load(lanes, s.mover, cell)))


@njit(**JIT_NO_ALLOCATION)
def _balance(lanes, m, s):
    """Move mass along shortest paths until no sink has a deficit."""
    while True:
        deficits = 0
        for k in range(m):
            s.lost[k] = False
            deficits += s.need[k] > 0
        if deficits == 0:
            return
        _find_shortest_paths(lanes, m, deficits, s)
        for k in range(m):
            if s.need[k] > 0:
                _draw(lanes, m, k, s)
        for k in range(m):
            if s.lost[k]:
                _rescan_moves(lanes, m, k, s)


@njit(**JIT_NO_ALLOCATION)
def _find_shortest_paths(lanes, m, deficits, s):
    """Dijkstra from all excess sinks until every deficit sink is reached; prices rise with it.

    A length is less the difference of the prices at its ends, so never negative, and carries the
    last parent in its low bits.
    """
    j = 0
    for k in range(in_blocks(lanes, m)):
        s.open[k] = INFINITE if k < m else _CLOSED
        s.label[k] = INFINITE
        if s.need[k] < 0:
            s.open[k] = j = k
    while True:
        s.label[j] = s.open[j]
        s.open[j] = _CLOSED
        if s.need[j] > 0:
            deficits -= 1
            if deficits == 0:
                break
        j = _relax(lanes, m, j, s)
    low = (1 << (number_of_bits(m) + _ARC_BITS)) - 1
    farthest = s.label[j] & ~low
    for k in range(m):
        s.price[k] += min(s.label[k] & ~low, farthest)


@njit(**JIT_NO_ALLOCATION)
def _relax(lanes, m, j, s):
    """Try the paths that go on from sink j; return the nearest sink that is still open."""
    stride = in_blocks(lanes, m)
    parent_bits = number_of_bits(m)
    path = s.label[j] >> parent_bits  # its length and, below, the number of its arcs
    if path & _MOST_ARCS < _MOST_ARCS:
        path += 1
    here = splat(lanes, (path << parent_bits) + s.price[j] + j)
    least, where, one = splat(lanes, INFINITE), splat(lanes, 0), splat(lanes, 1)
    for block in range(0, stride, len(lanes)):
        move = load(lanes, s.best, j * stride + block) + here
        shorter = minimum(load(lanes, s.open, block), move - load(lanes, s.price, block))
        store(s.open, block, shorter)
        shorter = shorter - one
        better = shorter < least
        least = select(better, shorter, least)
        where = select(better, splat(lanes, block), where)
    store(s.blocks, 0, where)
    lane = lowest_bit(bits(least == splat(lanes, smallest(least))))
    return s.blocks[lane] + lane


@njit(**JIT_NO_ALLOCATION)
def _draw(lanes, m, sink, s):
    """Move what the path to a deficit sink can carry."""
    stride = in_blocks(lanes, m)
    parents = (1 << number_of_bits(m)) - 1
    amount, k = s.need[sink], sink
    parent = s.label[k] & parents
    while parent != k:
        amount = min(amount, s.flow[s.mover[parent * stride + k] * stride + parent])
        k = parent
        parent = s.label[k] & parents
    amount = min(amount, -s.need[k])
    if amount <= 0:
        return
    s.need[k] += amount
    s.need[sink] -= amount
    k = sink
    parent = s.label[k] & parents
    while parent != k:
        i = s.mover[parent * stride + k]
        s.flow[i * stride + parent] -= amount
        if s.flow[i * stride + parent] == 0:
            s.lost[parent] = True
        if s.flow[i * stride + k] == 0:
            if not (s.lost[k] and _is_member(k, i, s)):
                _append_member(k, i, s)
            _offer_moves(lanes, stride, k, i, s)
        s.flow[i * stride + k] += amount
        k = parent
        parent = s.label[k] & parents


@njit(**JIT_NO_ALLOCATION)
def _is_member(k, i, s):
    """Whether source i, without flow at sink k, is still listed there since it left."""
    first = k * len(s.supply)
    for at in range(first, first + s.n_members[k]):
        if s.members[at] == i:
            return True
    return False


@njit(**JIT_NO_ALLOCATION)
def _rescan_moves(lanes, m, j, s):
    """The moves from sink j anew, from the sources that still have flow there."""
    stride = in_blocks(lanes, m)
    _forget_moves(lanes, j, stride, s)
    first = j * len(s.supply)
    kept = 0
    for at in range(first, first + s.n_members[j]):
        i = np.int64(s.members[at])
        if s.flow[i * stride + j]:
            s.members[first + kept] = i
            kept += 1
            _offer_moves(lanes, stride, j, i, s)
    s.n_members[j] = kept


@njit(**JIT_NO_ALLOCATION)
def _flow_cost(lanes, m, s):
    cost = 0.0
    for j in range(m):
        first = j * len(s.supply)
        for at in range(first, first + s.n_members[j]):
            cell = s.members[at] * in_blocks(lanes, m) + j
            cost += s.flow[cell] * s.cost[cell]
    return cost
