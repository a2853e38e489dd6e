"""The solver for any number of sinks: rows of the sinks' graph are blocks of vectors in memory.

The method is that of `_few_sinks.py`, with Dijkstra's algorithm for the paths, since rounds over
all sinks no longer fit registers; and without samples, since here neither side is small.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from graphmover.transport._lanes import (
    bits,
    load,
    lowest_bit,
    select,
    smallest,
    splat,
    store,
)
from graphmover.transport._problem import (
    INFINITE,
    allocating,
    cost_bound,
    finer_bound,
    ground_distances,
    largest,
    options,
    scale_to_common_total,
    transpose_sinks,
    units_per_cost,
)

#: An all-ones mask of the path lengths: a sink that is closed is never the nearest.
_CLOSED = (1 << 63) - 1

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
        "length",  # (stride,) shortest path from an excess sink, less the difference of prices
        "parent",  # (stride,) the sink before on it; an excess sink is its own
        "closed",  # (stride,) _CLOSED once that length is final
        "lost",  # (stride,) whether a source has left the sink in this phase
        "blocks",  # (W,) in which block of sinks each lane found its least
        "coordinates",  # (d * stride,) the sinks' points, a row per dimension
        "sink_labels",  # (stride,)
    ],
)


@njit(**allocating)
def distances(lanes, above, sources, sinks, ties, swapped, out):
    """Solve all pairs with m > above sinks and n > m sources, or n = m if ties."""
    n_most = largest(sources.offsets)
    state = _state(lanes, n_most, min(n_most, largest(sinks.offsets)), sources.points.shape[1])
    _fill(lanes, above, sources, sinks, ties, swapped, state, out)


@njit(**options)
def _fill(lanes, above, sources, sinks, ties, swapped, state, out):
    for r in range(len(sinks.offsets) - 1):
        m = sinks.offsets[r + 1] - sinks.offsets[r]
        if m <= above or m > len(state.supply):
            continue
        transpose_sinks(sinks, r, _stride(lanes, m), state.coordinates, state.sink_labels)
        for g in range(len(sources.offsets) - 1):
            n = sources.offsets[g + 1] - sources.offsets[g]
            if n < m or (n == m and not ties):
                continue
            distance = _distance(lanes, sources, g, sinks, r, state)
            if swapped:
                out[r, g] = distance
            else:
                out[g, r] = distance


@njit(**allocating)
def plan(lanes, sources, sinks, out):
    """Fill ``out`` with the flows of one pair as shares of all mass; return the distance."""
    n, m = out.shape
    stride = _stride(lanes, m)
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


@njit(**options)
def _stride(lanes, m):
    """The number of sinks, rounded up to whole blocks."""
    return (m + len(lanes) - 1) // len(lanes) * len(lanes)


@njit(**allocating)
def _state(lanes, n, m, n_dimensions):
    stride = _stride(lanes, m)
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
        np.zeros(stride, np.int64),
        np.zeros(stride, np.bool_),
        np.zeros(len(lanes), np.int64),
        np.zeros(n_dimensions * stride),
        np.zeros(stride, np.int64),
    )


@njit(**options)
def _distance(lanes, sources, g, sinks, r, s):
    n = sources.offsets[g + 1] - sources.offsets[g]
    m = sinks.offsets[r + 1] - sinks.offsets[r]
    stride = _stride(lanes, m)
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
                units_per_cost(bound),
                s.cost,
                s.whole,
                block,
            )
        _assign(lanes, n, m, s)
        _balance(lanes, m, s)
        distance = _flow_cost(lanes, m, s) / total
        bound = finer_bound(bound, distance, total)
    return distance


@njit(**options)
def _assign(lanes, n, m, s):
    """Every source to its cheapest sink."""
    stride = _stride(lanes, m)
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


@njit(**options)
def _append_member(k, i, s):
    s.members[k * len(s.supply) + s.n_members[k]] = i
    s.n_members[k] += 1


@njit(**options)
def _forget_moves(lanes, j, stride, s):
    for block in range(0, stride, len(lanes)):
        store(s.best, j * stride + block, splat(lanes, INFINITE))


@njit(**options)
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


@njit(**options)
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


@njit(**options)
def _find_shortest_paths(lanes, m, deficits, s):
    """Dijkstra from all excess sinks until every deficit sink is reached; prices rise with it."""
    stride = _stride(lanes, m)
    for k in range(stride):
        s.length[k] = 0 if s.need[k] < 0 else INFINITE
        s.parent[k] = k
        s.closed[k] = 0 if k < m else _CLOSED
    while True:
        j = _nearest_open_sink(lanes, stride, s)
        s.closed[j] = _CLOSED
        if s.need[j] > 0:
            deficits -= 1
            if deficits == 0:
                break
        here, who = splat(lanes, s.length[j] + s.price[j]), splat(lanes, j)
        for block in range(0, stride, len(lanes)):
            old = load(lanes, s.length, block)
            move = load(lanes, s.best, j * stride + block)
            new = move + (here - load(lanes, s.price, block))
            better = new < old
            store(s.length, block, select(better, new, old))
            store(s.parent, block, select(better, who, load(lanes, s.parent, block)))
    for k in range(m):
        s.price[k] += min(s.length[k], s.length[j])


@njit(**options)
def _nearest_open_sink(lanes, stride, s):
    least, where = splat(lanes, _CLOSED), splat(lanes, 0)
    for block in range(0, stride, len(lanes)):
        length = load(lanes, s.length, block) | load(lanes, s.closed, block)
        better = length < least
        least = select(better, length, least)
        where = select(better, splat(lanes, block), where)
    store(s.blocks, 0, where)
    lane = lowest_bit(bits(least == splat(lanes, smallest(least))))
    return s.blocks[lane] + lane


@njit(**options)
def _draw(lanes, m, sink, s):
    """Move what the path to a deficit sink can carry."""
    stride = _stride(lanes, m)
    amount, k = s.need[sink], sink
    while s.parent[k] != k:
        p = s.parent[k]
        amount = min(amount, s.flow[s.mover[p * stride + k] * stride + p])
        k = p
    amount = min(amount, -s.need[k])
    if amount <= 0:
        return
    s.need[k] += amount
    s.need[sink] -= amount
    k = sink
    while s.parent[k] != k:
        p = s.parent[k]
        i = s.mover[p * stride + k]
        s.flow[i * stride + p] -= amount
        if s.flow[i * stride + p] == 0:
            s.lost[p] = True
        if s.flow[i * stride + k] == 0:
            if not (s.lost[k] and _is_member(k, i, s)):
                _append_member(k, i, s)
            _offer_moves(lanes, stride, k, i, s)
        s.flow[i * stride + k] += amount
        k = p


@njit(**options)
def _is_member(k, i, s):
    """Whether source i, without flow at sink k, is still listed there since it left."""
    first = k * len(s.supply)
    for at in range(first, first + s.n_members[k]):
        if s.members[at] == i:
            return True
    return False


@njit(**options)
def _rescan_moves(lanes, m, j, s):
    """The moves from sink j anew, from the sources that still have flow there."""
    stride = _stride(lanes, m)
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


@njit(**options)
def _flow_cost(lanes, m, s):
    cost = 0.0
    for j in range(m):
        first = j * len(s.supply)
        for at in range(first, first + s.n_members[j]):
            cell = s.members[at] * _stride(lanes, m) + j
            cost += s.flow[cell] * s.cost[cell]
    return cost
