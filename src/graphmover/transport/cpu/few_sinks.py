"""The solver for at most W sinks, W <= 32: a row of the sinks' graph is one vector.

`_cpu.py` tells the method. Prices, path lengths and costs carry low bits; in a label
they hold the path, in a cost and a price they are zero.
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
    numbers,
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
    largest,
    over_pairs,
    scale_to_common_total,
    units_per_cost,
)

#: In a label's low bits: the sink before on the path, and above it the number of arcs.
_PARENT = 63
_ARC = 64
_LOW_BITS = 12
_LOW = (1 << _LOW_BITS) - 1
_COST_BITS = 60 - _LOW_BITS

#: A half of the sources is solved first while it has this many times as many nodes as sinks.
_COARSE = 16

#: The costs of this many sources are computed at a time.
_AT_A_TIME = 64

State = namedtuple(
    "State",
    [
        "cost",  # (n * W,) C_ij as float64, only of sources that are not settled
        "whole",  # (n * W,) C_ij as whole units, likewise
        "supply",  # (n,) a_i
        "demand",  # (W,) b_j
        "flow",  # (n * W,) F_ij, likewise
        "members",  # (W * n,) the sources with flow at sink j, and some that had it
        "n_members",  # (W,)
        "best",  # (W * W,) cheapest move of a unit from sink j to sink k
        "mover",  # (W * W,) the source that makes it
        "share",  # (W,) demand of the present sample of sources
        "need",  # (W,) demand less flow: positive is a deficit, negative an excess
        "price",  # (W,) p_j
        "before",  # (W,) p_j when the sources were assigned
        "label",  # (W,) length of the shortest path from an excess sink, its arcs and parent
        "coordinates",  # (d * W,) the sinks' points, a row per dimension
        "sink_labels",  # (W,)
    ],
)


@njit(**JIT)
def distances(lanes, pairs, sources, sinks, swapped, out):
    """Solve pairs of at most W sinks."""
    state = _state(len(lanes), largest(sources.offsets), sources.points.shape[1])
    _solve_pairs(lanes, pairs, sources, sinks, swapped, state, out)


@njit(**JIT)
def _state(stride, n, n_dimensions):
    return State(
        np.empty(n * stride),
        np.empty(n * stride, np.int64),
        np.empty(n, np.int64),
        np.zeros(stride, np.int64),
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
        np.zeros(n_dimensions * stride),
        np.zeros(stride, np.int64),
    )


@njit(**JIT_NO_ALLOCATION)
def _distance(lanes, sources, g, sinks, r, s):
    m = sinks.offsets[r + 1] - sinks.offsets[r]
    total = scale_to_common_total(sources, g, sinks, r, s.supply, s.demand)
    bound = cost_bound(sources, g, sinks, r)
    distance = 0.0
    while bound > 0:
        distance = (
            _least_cost(lanes, sources, g, m, units_per_cost(bound, _COST_BITS), total, s) / total
        )
        bound = finer_bound(bound, distance, total, _COST_BITS)
    return distance


_solve_pairs = over_pairs(_distance)


@njit(**JIT_NO_ALLOCATION)
def _least_cost(lanes, sources, g, m, units, total, s):
    """Solve ever larger samples of the sources, each from the prices of the one before."""
    n = sources.offsets[g + 1] - sources.offsets[g]
    for k in range(m):
        s.price[k] = 0
    step, reach = 1, INFINITE
    if m == 1:
        reach = 2 * (_LOW + 1)  # all sources settle at the only sink: no price will move
    while m > 1 and n >= 2 * step * _COARSE * m:
        step *= 2
    while step > 1:
        _share_demand(n, step, m, total, s)
        _, moved = _solve(lanes, sources, g, step, reach, m, units, s)
        reach = min(moved + moved // 4, INFINITE)
        step //= 2
    for k in range(m):
        s.share[k] = s.demand[k]
    settled, _ = _solve(lanes, sources, g, 1, reach, m, units, s)
    return settled + _flow_cost(lanes, m, s)


@njit(**JIT_NO_ALLOCATION)
def _share_demand(n, step, m, total, s):
    """The part of every demand that falls to a sample: every step-th source."""
    rest = 0
    for i in range(0, n, step):
        rest += s.supply[i]
    ratio = rest / total * (1.0 - 1e-12)
    for k in range(m):
        s.share[k] = int(s.demand[k] * ratio)
        rest -= s.share[k]
    s.share[0] += rest


@njit(**JIT_NO_ALLOCATION)
def _solve(lanes, sources, g, step, reach, m, units, s):
    """Balance the sample from the present prices; return settled cost and movement of prices.

    A source for which the second cheapest sink is dearer by more than prices can move against
    each other will stay at its cheapest sink: it is settled at once and costs no more work. How
    far they will move (``reach``) is guessed from the sample before, and checked afterwards.
    """
    while True:
        for k in range(m):
            s.need[k] = s.share[k]
            s.before[k] = s.price[k]
        for k in range(m, len(lanes)):  # padding takes no part
            s.need[k] = 0
            s.price[k] = 0
        settled = _assign(lanes, sources, g, step, reach, m, units, s)
        moved = _price_movement(m, s) if _balance(lanes, m, s) else INFINITE
        if moved < reach or reach == INFINITE:
            _start_prices_at_zero(m, s)
            return settled, moved
        # Too short: settled sources stood in the way, so prices moved by too much, if at all.
        for k in range(m):
            s.price[k] = s.before[k]
        reach = min(2 * reach, INFINITE)


@njit(**JIT_NO_ALLOCATION)
def _assign(lanes, sources, g, step, reach, m, units, s):
    """Every source of the sample to its cheapest sink at the present prices.

    Costs are computed for some sources at a time, and those of settled ones written over: only
    sources that may still move take up memory, numbered anew.
    """
    stride = len(lanes)
    first, last = sources.offsets[g], sources.offsets[g + 1]
    prices, nothing = load(lanes, s.price, 0), splat(lanes, 0)
    settled = 0.0
    for j in range(stride):
        s.n_members[j] = 0
        store(s.best, j * stride, splat(lanes, INFINITE))
    i, node = 0, first
    while node < last:
        stop = min(node + step * _AT_A_TIME, last)
        row = i * stride
        ground_distances(
            lanes,
            sources,
            node,
            stop,
            step,
            s.coordinates,
            s.sink_labels,
            stride,
            0,
            m,
            units,
            _COST_BITS,
            _LOW_BITS,
            s.cost,
            s.whole,
            row,
        )
        while node < stop:
            costs = load(lanes, s.whole, row)
            reduced = (costs - prices) | numbers(lanes)
            least = smallest(reduced)
            k = least & _PARENT
            supply = s.supply[node - first]
            s.need[k] -= supply
            if reach < INFINITE and bits(reduced < splat(lanes, least + reach)) == 1 << k:
                settled += supply * s.cost[row + k]
            else:
                if row > i * stride:
                    store(s.whole, i * stride, costs)
                    store(s.cost, i * stride, load(lanes, s.cost, row))
                store(s.flow, i * stride, nothing)
                s.flow[i * stride + k] = supply
                _append_member(lanes, k, i, s)
                _offer_moves(lanes, k, i, s)
                i += 1
            row += stride
            node += step
    return settled


@njit(**JIT_NO_ALLOCATION)
def _append_member(lanes, k, i, s):
    s.members[k * len(s.supply) + s.n_members[k]] = i
    s.n_members[k] += 1


@njit(**JIT_NO_ALLOCATION)
def _offer_moves(lanes, k, i, s):
    """Let source i, which has come to sink k, improve the moves from there."""
    stride = len(lanes)
    old = load(lanes, s.best, k * stride)
    new = load(lanes, s.whole, i * stride) - splat(lanes, s.whole[i * stride + k])
    better = new < old
    store(s.best, k * stride, select(better, new, old))
    mover = load(lanes, s.mover, k * stride)
    store(s.mover, k * stride, select(better, splat(lanes, i), mover))


@njit(**JIT_NO_ALLOCATION)
def _balance(lanes, m, s):
    """Move mass along shortest paths until no sink has a deficit; False if one has no path."""
    nothing = splat(lanes, 0)
    deficits = bits(nothing < load(lanes, s.need, 0))
    while deficits:
        _find_shortest_paths(lanes, m, s)
        left_by_one = 0  # the sinks that have lost a source, as bits
        while deficits:
            sink = lowest_bit(deficits)
            deficits &= deficits - 1
            if s.label[sink] >= INFINITE:
                return False
            left_by_one |= _draw(lanes, sink, left_by_one, s)
        while left_by_one:
            _rescan_moves(lanes, lowest_bit(left_by_one), s)
            left_by_one &= left_by_one - 1
        deficits = bits(nothing < load(lanes, s.need, 0))
    return True


@njit(**JIT_NO_ALLOCATION)
def _find_shortest_paths(lanes, m, s):
    """Label all sinks with their paths from the excess sinks; lengths become prices."""
    real = (1 << m) - 1
    excess = load(lanes, s.need, 0) < splat(lanes, 0)
    start = load(lanes, s.price, 0) | numbers(lanes)
    labels = select(excess, start, splat(lanes, INFINITE))
    store(s.label, 0, labels)
    frontier = bits(excess)
    while frontier:
        shorter = labels
        while frontier:
            j = lowest_bit(frontier)
            frontier &= frontier - 1
            here = splat(lanes, (s.label[j] & ~_PARENT) + _ARC + j)
            shorter = minimum(shorter, load(lanes, s.best, j * len(lanes)) + here)
        frontier = bits(shorter < labels) & real
        labels = shorter
        store(s.label, 0, labels)
    store(s.price, 0, labels & splat(lanes, ~_LOW))


@njit(**JIT_NO_ALLOCATION)
def _draw(lanes, sink, left_by_one, s):
    """Move what the path to a deficit sink can carry; return the sinks that lost a source."""
    stride = len(lanes)
    amount, k = s.need[sink], sink
    parent = s.label[k] & _PARENT
    while parent != k:
        amount = min(amount, s.flow[s.mover[parent * stride + k] * stride + parent])
        k = parent
        parent = s.label[k] & _PARENT
    amount = min(amount, -s.need[k])
    if amount <= 0:
        return left_by_one
    s.need[k] += amount
    s.need[sink] -= amount
    k = sink
    parent = s.label[k] & _PARENT
    while parent != k:
        i = s.mover[parent * stride + k]
        s.flow[i * stride + parent] -= amount
        if s.flow[i * stride + parent] == 0:
            left_by_one |= 1 << parent
        if s.flow[i * stride + k] == 0:
            if not (left_by_one >> k & 1 and _is_member(lanes, k, i, s)):
                _append_member(lanes, k, i, s)
            _offer_moves(lanes, k, i, s)
        s.flow[i * stride + k] += amount
        k = parent
        parent = s.label[k] & _PARENT
    return left_by_one


@njit(**JIT_NO_ALLOCATION)
def _is_member(lanes, k, i, s):
    """Whether source i, without flow at sink k, is still listed there since it left."""
    first = k * len(s.supply)
    for at in range(first, first + s.n_members[k]):
        if s.members[at] == i:
            return True
    return False


@njit(**JIT_NO_ALLOCATION)
def _rescan_moves(lanes, j, s):
    """The moves from sink j anew, from the sources that still have flow there."""
    stride = len(lanes)
    row, who = splat(lanes, INFINITE), splat(lanes, 0)
    first = j * len(s.supply)
    kept = 0
    for at in range(first, first + s.n_members[j]):
        i = np.int64(s.members[at])
        if s.flow[i * stride + j]:
            s.members[first + kept] = i
            kept += 1
            new = load(lanes, s.whole, i * stride) - splat(lanes, s.whole[i * stride + j])
            better = new < row
            row = select(better, new, row)
            who = select(better, splat(lanes, i), who)
    s.n_members[j] = kept
    store(s.best, j * stride, row)
    store(s.mover, j * stride, who)


@njit(**JIT_NO_ALLOCATION)
def _price_movement(m, s):
    """How much prices have moved against each other."""
    least = most = s.price[0] - s.before[0]
    for k in range(m):
        least = min(least, s.price[k] - s.before[k])
        most = max(most, s.price[k] - s.before[k])
    return most - least + _LOW + 1


@njit(**JIT_NO_ALLOCATION)
def _start_prices_at_zero(m, s):
    """Shift prices to start at 0; a price beyond every cost difference says no more than it."""
    least = s.price[0]
    for k in range(m):
        least = min(least, s.price[k])
    for k in range(m):
        s.price[k] = min(s.price[k] - least, INFINITE >> 2)


@njit(**JIT_NO_ALLOCATION)
def _flow_cost(lanes, m, s):
    cost = 0.0
    for j in range(m):
        first = j * len(s.supply)
        for at in range(first, first + s.n_members[j]):
            cell = s.members[at] * len(lanes) + j
            cost += s.flow[cell] * s.cost[cell]
    return cost
