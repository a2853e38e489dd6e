"""The solver for at most W sinks, W <= 64: a row of the residual graph is one vector.

`engine.py` explains the method. Prices, path lengths and integer costs carry low bits: in a path
they hold its number of arcs and its last parent, in a cost and a price they are zero.
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
    minimum_of_positive,
    numbers,
    select,
    smallest,
    splat,
    store,
)
from graphmover.transport.cpu.problem import (
    AT_A_TIME,
    INFINITE,
    SINKS,
    Costs,
    Scaling,
    Sinks,
    fill_costs,
)
from graphmover.transport.cpu.residual import (
    along_paths,
    append_member,
    flow_cost,
    improve_arcs,
)
from graphmover.transport.cpu.solver import at_finer_costs, over_pairs

#: In a path's low bits: the sink before on the path, and above it the number of arcs.
_PARENT = 63
_ARC = 64
_LOW_BITS = 12
_LOW = (1 << _LOW_BITS) - 1
_COST_BITS = 60 - _LOW_BITS

#: A sample of half the sources is solved first while it has this many times as many as sinks.
_COARSE = 16

#: How many numbers may be read, in rows of costs and arcs, for each source and sink before the
#: problem is given up.
_PATIENCE = 256

#: With more sinks, problems are given up at once where sources crowd at a few of them.
_FEW = 32

#: The most sinks of each compiled copy. Costs take 16 lanes at a time where there are more than 32.
WIDTHS = (8, 16, 24, 32, 48, 64)

#: How many tables there are with a number for each source and sink.
TABLES = 4

State = namedtuple(
    "State",
    [
        "cost",  # (n * W,) C_ij as float64, only of sources that are not settled
        "integer_cost",  # (n * W,) C_ij as integers, likewise
        "supply",  # (n,) a_i
        "demand",  # (W,) b_j
        "flow",  # (n * W,) F_ij, likewise
        "members",  # (W * n,) the sources with flow at sink j, and some that had it
        "n_members",  # (W,)
        "arc_cost",  # (W * W,) the residual graph's arc from sink j to sink k
        "arc_source",  # (W * W,) the source that moves along it
        "sample_demand",  # (W,) demand of the present sample of sources
        "deficit",  # (W,) demand less flow; negative: an excess
        "price",  # (W,) p_j
        "start_price",  # (W,) p_j when the sources were assigned
        "path",  # (W,) length of the shortest path from an excess sink, its arcs and parent
        "patience",  # (1,) how many more rows of costs or arcs may be read
    ],
)


@njit(**JIT)
def distances(lanes, memory, pairs, ground, sources, sinks, swapped, out):
    """Solve pairs of at most W sinks."""
    _solve_pairs(lanes, memory, pairs, ground, sources, sinks, swapped, out)


@njit(**JIT)
def _state(lanes, memory, n, m):
    """Tables for any m up to W."""
    stride = len(lanes)
    return State(
        cost=memory[0].view(np.float64),
        integer_cost=memory[1],
        supply=np.empty(n, np.int64),
        demand=np.zeros(stride, np.int64),
        flow=memory[2],
        members=memory[3].view(np.int32),
        n_members=np.zeros(stride, np.int64),
        arc_cost=np.empty(stride * stride, np.int64),
        arc_source=np.zeros(stride * stride, np.int64),
        sample_demand=np.zeros(stride, np.int64),
        deficit=np.zeros(stride, np.int64),
        price=np.zeros(stride, np.int64),
        start_price=np.zeros(stride, np.int64),
        path=np.zeros(stride, np.int64),
        patience=np.zeros(1, np.int64),
    )


@njit(**JIT_NO_ALLOCATION)
def _cost_bits(n, m):
    return _COST_BITS


@njit(**JIT_NO_ALLOCATION)
def _solve(lanes, p, units, total, s):
    """Solve ever larger samples of the sources, each from the prices of the one before."""
    n, m = p.n, p.sinks.m
    s.patience[0] = _PATIENCE * n * m // _own_width(p)
    for k in range(m):
        s.price[k] = 0
    step, reach = 1, INFINITE
    if m == 1:
        reach = 2 * (_LOW + 1)  # all sources settle at the only sink: no price will move
    while m > 1 and n >= 2 * step * _COARSE * m:
        step *= 2
    while step > 1:
        _share_demand(n, step, m, total, s)
        _, moved = _solve_sample(lanes, p, step, reach, units, s)
        if s.patience[0] < 0:
            return nan
        reach = min(moved + moved // 4, INFINITE)
        step //= 2
    for k in range(m):
        s.sample_demand[k] = s.demand[k]
    settled, _ = _solve_sample(lanes, p, 1, reach, units, s)
    if s.patience[0] < 0:
        return nan
    return settled + flow_cost(len(lanes), m, s)


@njit(**JIT_INLINE)
def _own_width(p):
    """The width of the copy meant for a problem: a wider one gives up neither sooner nor later."""
    most = p.sinks.m - (p.further == SINKS) + p.ground.partial
    for width in WIDTHS:
        if most <= width:
            return width
    return WIDTHS[-1]


_solve_pairs = over_pairs(_state, at_finer_costs(_cost_bits, _solve, 0.0))


@njit(**JIT_NO_ALLOCATION)
def _share_demand(n, step, m, total, s):
    """Split off the part of every demand that a sample, every step-th source, can meet."""
    rest = 0
    for i in range(0, n, step):
        rest += s.supply[i]
    ratio = rest / total * (1.0 - 1e-12)
    for k in range(m):
        s.sample_demand[k] = int(s.demand[k] * ratio)
        rest -= s.sample_demand[k]
    s.sample_demand[0] += rest


@njit(**JIT_NO_ALLOCATION)
def _solve_sample(lanes, p, step, reach, units, s):
    """Solve the sample from the present prices; return the settled cost and how prices moved.

    A source whose second cheapest sink is dearer by more than prices can move relative to each
    other will stay at its cheapest sink: it is settled at once and takes no more work. How far
    prices will move (``reach``) is guessed from the sample before, and checked afterwards.
    """
    m = p.sinks.m
    while True:
        for k in range(m):
            s.deficit[k] = s.sample_demand[k]
            s.start_price[k] = s.price[k]
        for k in range(m, len(lanes)):  # padding takes no part
            s.deficit[k] = 0
            s.price[k] = 0
        settled = _assign(lanes, p, step, reach, units, s)
        if m > _FEW and reach == INFINITE and p.further != SINKS and _is_crowded(m, s):
            s.patience[0] = -1
        moved = _price_movement(m, s) if _balance(lanes, m, s) else INFINITE
        if moved < reach or reach == INFINITE or s.patience[0] < 0:
            _start_prices_at_zero(m, s)
            return settled, moved
        # The reach was too short: settled sources were in the way, so prices moved too far.
        for k in range(m):
            s.price[k] = s.start_price[k]
        reach = min(2 * reach, INFINITE)


@njit(**JIT_NO_ALLOCATION)
def _assign(lanes, p, step, reach, units, s):
    """Send every source of the sample to its cheapest sink at the present prices.

    Costs are computed for some sources at a time, and those of settled ones overwritten: only
    sources that may still move take up memory, and are renumbered.
    """
    stride = len(lanes)
    first, last = p.first, p.first + p.n
    # The stride and the bits as constants: the compiler makes better code of them.
    sinks = Sinks(p.sinks.coordinates, p.sinks.labels, stride, p.sinks.m)
    scaling = Scaling(units, _COST_BITS, _LOW_BITS)
    costs = Costs(s.cost, s.integer_cost)
    prices, nothing = load(lanes, s.price, 0), splat(lanes, 0)
    settled = 0.0
    for j in range(stride):
        s.n_members[j] = 0
        store(s.arc_cost, j * stride, splat(lanes, INFINITE))
    i, node = 0, first
    while node < last:
        stop = min(node + step * AT_A_TIME, last)
        row = i * stride
        fill_costs(lanes, p, range(node, stop, step), sinks, scaling, costs, row)
        while node < stop:
            here = load(lanes, s.integer_cost, row)
            reduced = (here - prices) | numbers(lanes)
            least = smallest(reduced)
            k = least & _PARENT
            supply = s.supply[node - first]
            s.deficit[k] -= supply
            if reach < INFINITE and bits(reduced < splat(lanes, least + reach)) == 1 << k:
                settled += supply * s.cost[row + k]
            else:
                if row > i * stride:
                    store(s.integer_cost, i * stride, here)
                    store(s.cost, i * stride, load(lanes, s.cost, row))
                store(s.flow, i * stride, nothing)
                s.flow[i * stride + k] = supply
                append_member(k, i, s)
                improve_arcs(lanes, stride, k, i, s)
                i += 1
            row += stride
            node += step
    return settled


@njit(**JIT_NO_ALLOCATION)
def _is_crowded(m, s):
    """Whether nearly all sources have the same few cheapest sinks.

    On lines that cross, for one: there paths get in each other's way, and the network simplex
    starts near the optimum.
    """
    missing = wanted = 0
    for k in range(m):
        missing += max(s.deficit[k], 0)
        wanted += s.sample_demand[k]
    return missing > wanted - wanted // 8


@njit(**JIT_INLINE)
def _has_lost(lost, k, s):
    return lost >> k & 1


@njit(**JIT_INLINE)
def _mark_lost(lost, k, s):
    return lost | 1 << k


_augment = along_paths(_has_lost, _mark_lost)


@njit(**JIT_NO_ALLOCATION)
def _balance(lanes, m, s):
    """Augment along shortest paths until no sink has a deficit.

    False if a sink has no path, or if there is no patience left.
    """
    nothing, patience = splat(lanes, 0), s.patience[0]
    deficits = bits(nothing < load(lanes, s.deficit, 0))
    while deficits:
        if patience < 0:
            break
        patience -= _find_shortest_paths(lanes, m, s)
        lost = 0  # the sinks that have lost a source, as bits
        while deficits:
            sink = lowest_bit(deficits)
            deficits &= deficits - 1
            if s.path[sink] >= INFINITE:
                s.patience[0] = patience
                return False
            lost = _augment(lanes, len(lanes), _PARENT, sink, lost, s)
        while lost:
            sink = lowest_bit(lost)
            lost &= lost - 1
            patience -= s.n_members[sink]
            _rebuild_arcs(lanes, sink, s)
        deficits = bits(nothing < load(lanes, s.deficit, 0))
    s.patience[0] = patience
    return patience >= 0


@njit(**JIT_NO_ALLOCATION)
def _find_shortest_paths(lanes, m, s):
    """Bellman-Ford from all excess sinks; path lengths become prices.

    Return how many relaxations it took.
    """
    relaxed = 0
    real = bits(numbers(lanes) < splat(lanes, m))
    excess = load(lanes, s.deficit, 0) < splat(lanes, 0)
    start = load(lanes, s.price, 0) | numbers(lanes)
    paths = select(excess, start, splat(lanes, INFINITE))
    store(s.path, 0, paths)
    frontier = bits(excess)
    while frontier:
        shorter = paths
        while frontier:
            j = lowest_bit(frontier)
            frontier &= frontier - 1
            relaxed += 1
            here = splat(lanes, (s.path[j] & ~_PARENT) + _ARC + j)
            shorter = minimum_of_positive(shorter, load(lanes, s.arc_cost, j * len(lanes)) + here)
        frontier = bits(shorter < paths) & real
        paths = shorter
        store(s.path, 0, paths)
    store(s.price, 0, paths & splat(lanes, ~_LOW))
    return relaxed


@njit(**JIT_NO_ALLOCATION)
def _rebuild_arcs(lanes, j, s):
    """Compute the arcs out of sink j again, from the sources that still have flow there."""
    stride = len(lanes)
    row, who = splat(lanes, INFINITE), splat(lanes, 0)
    first = j * len(s.supply)
    kept = 0
    for at in range(first, first + s.n_members[j]):
        i = np.int64(s.members[at])
        if s.flow[i * stride + j]:
            s.members[first + kept] = i
            kept += 1
            here = splat(lanes, s.integer_cost[i * stride + j])
            new = load(lanes, s.integer_cost, i * stride) - here
            better = new < row
            row = select(better, new, row)
            who = select(better, splat(lanes, i), who)
    s.n_members[j] = kept
    store(s.arc_cost, j * stride, row)
    store(s.arc_source, j * stride, who)


@njit(**JIT_NO_ALLOCATION)
def _price_movement(m, s):
    """How far prices have moved relative to each other."""
    least = most = s.price[0] - s.start_price[0]
    for k in range(m):
        least = min(least, s.price[k] - s.start_price[k])
        most = max(most, s.price[k] - s.start_price[k])
    return most - least + _LOW + 1


@njit(**JIT_NO_ALLOCATION)
def _start_prices_at_zero(m, s):
    """Shift prices to start at 0, and cut those beyond every cost difference."""
    least = s.price[0]
    for k in range(m):
        least = min(least, s.price[k])
    for k in range(m):
        s.price[k] = min(s.price[k] - least, INFINITE >> 2)
