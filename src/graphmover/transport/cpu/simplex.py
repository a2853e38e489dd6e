"""The solver for more than 32 sinks and at most twice as many sources: the simplex method.

Where neither side is small, paths get in each other's way, and a tree does better.

The tree. A basis of the problem is a tree of all sources and sinks; only its arcs carry flow,
and given the tree there is one flow and, up to a constant, one price p_j for every sink and one
charge u_i for every source, such that C_ij = u_i + p_j on every arc of the tree.

Pricing. An arc from i to j with C_ij < u_i + p_j is worth entering. For one source, the best of
all sinks is found by vectors. From the best arcs of a number of sources, a few pivots are made,
the most worthwhile first; then it is the turn of the next sources. When all of them have had
their turn in vain, the flow is optimal.

Pivot. The entering arc closes a cycle. Flow goes round it until an arc of the tree has none left;
that one leaves, and the part of the tree that it held is hung up by the entering arc, its prices
and charges shifted by what the arc was worth.

Start. Each source in turn goes to its cheapest sinks that still have demand. The sinks that it
fills are hung under it, it is hung under the one that it does not fill.

Why it ends. Every arc that leads down the tree, from a source to a sink below it, has flow; only
arcs that lead up may have none (Cunningham's strongly feasible trees). The start is such a tree,
since all masses are positive, and pivots keep it so if, of several arcs that could leave, the
last goes, on the way from the top of the cycle along the entering arc and back. No tree comes
twice then, even where a pivot moves nothing.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from graphmover._utils.jit import JIT, JIT_NO_ALLOCATION
from graphmover.transport.cpu.lanes import bits, load, lowest_bit, select, smallest, splat, store
from graphmover.transport.cpu.problem import (
    FORBIDDEN,
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

#: The most bits of a cost. Prices can sum up as many costs as the tree is deep: fewer bits for more
#: than 2**12 nodes.
_COST_BITS = 48

#: From the best arcs of so many sources, so many pivots are made at a time. Time hardly depends
#: on either.
_CANDIDATES = 64
_PIVOTS = 16

#: The nodes of the tree are numbered: sources from 0, sinks from n.
State = namedtuple(
    "State",
    [
        "cost",  # (n * stride,) C_ij as float64
        "whole",  # (n * stride,) C_ij as whole units
        "supply",  # (n,) a_i
        "demand",  # (stride,) b_j; while starting, what is left of it
        "price",  # (stride,) p_j
        "charge",  # (n,) u_i
        "parent",  # (n + m,) the node above; -1 at the root
        "flow",  # (n + m,) F_ij on the arc between a node and its parent
        "depth",  # (n + m,) arcs up to the root
        "child",  # (n + m,) the first node below, or -1
        "older",  # (n + m,) the child of the same parent that comes before, or -1
        "younger",  # (n + m,) the one that comes after, or -1
        "candidates",  # (2, _CANDIDATES) sources and sinks of arcs that may enter
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
    state = _state(lanes, n, m, sources.points.shape[1])
    transpose_sinks(sinks, 0, in_blocks(lanes, m), state.coordinates, state.sink_labels)
    distance = _distance(lanes, sources, 0, sinks, 0, state)
    total = state.supply.sum()
    out[...] = 0.0
    for node in range(n + m):
        if state.parent[node] >= 0:
            i, j = _ends(n, node, state)
            out[i, j] = state.flow[node] / total
    return distance


@njit(**JIT)
def _state(lanes, n, m, n_dimensions):
    stride = in_blocks(lanes, m)
    return State(
        np.empty(n * stride),
        np.empty(n * stride, np.int64),
        np.empty(n, np.int64),
        np.zeros(stride, np.int64),
        np.zeros(stride, np.int64),
        np.empty(n, np.int64),
        np.empty(n + m, np.int64),
        np.empty(n + m, np.int64),
        np.empty(n + m, np.int64),
        np.empty(n + m, np.int64),
        np.empty(n + m, np.int64),
        np.empty(n + m, np.int64),
        np.empty((2, _CANDIDATES), np.int64),
        np.zeros(len(lanes), np.int64),
        np.zeros(n_dimensions * stride),
        np.zeros(stride, np.int64),
    )


@njit(**JIT_NO_ALLOCATION)
def _distance(lanes, sources, g, sinks, r, s):
    n = sources.offsets[g + 1] - sources.offsets[g]
    m = sinks.offsets[r + 1] - sinks.offsets[r]
    stride = in_blocks(lanes, m)
    cost_bits = min(_COST_BITS, 60 - number_of_bits(n + m))
    bound = max(cost_bound(sources, g, sinks, r), 1e-300)  # zero: any flow will do, but one must be
    distance = 0.0
    while bound > 0:
        total = scale_to_common_total(sources, g, sinks, r, s.supply, s.demand)
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
                0,
                s.cost,
                s.whole,
                block,
            )
        _start(lanes, n, m, s)
        _optimise(lanes, n, m, s)
        distance = _flow_cost(n, m, stride, s) / total
        bound = finer_bound(bound, distance, total, cost_bits)
    return distance


_solve_pairs = over_pairs(_distance)


@njit(**JIT_NO_ALLOCATION)
def _start(lanes, n, m, s):
    """Each source in turn to its cheapest sinks that still have demand."""
    stride = in_blocks(lanes, m)
    for node in range(n + m):
        s.parent[node] = s.child[node] = -1
    for j in range(stride):
        s.price[j] = 0 if j < m else -FORBIDDEN
    root = n
    for i in range(n):
        left = s.supply[i]
        j = _cheapest_sink(lanes, stride, i, s)
        # At the very end supply and demand run out together: that sink is the root.
        while left > 0 and s.demand[j] <= left and not (i == n - 1 and s.demand[j] == left):
            _hang(n + j, i, s.demand[j], s)
            left -= s.demand[j]
            s.price[j] = -FORBIDDEN
            j = _cheapest_sink(lanes, stride, i, s)
        _hang(i, n + j, left, s)
        s.demand[j] -= left
        root = n + j
    s.depth[root] = 0
    s.price[root - n] = 0
    node = _next_below(root, root, s)
    while node >= 0:
        s.depth[node] = s.depth[s.parent[node]] + 1
        i, j = _ends(n, node, s)
        if node < n:
            s.charge[i] = s.whole[i * stride + j] - s.price[j]
        else:
            s.price[j] = s.whole[i * stride + j] - s.charge[i]
        node = _next_below(root, node, s)


@njit(**JIT_NO_ALLOCATION)
def _cheapest_sink(lanes, stride, i, s):
    """The sink with the least C_ij - p_j."""
    least, where = splat(lanes, INFINITE), splat(lanes, 0)
    for block in range(0, stride, len(lanes)):
        reduced = load(lanes, s.whole, i * stride + block) - load(lanes, s.price, block)
        better = reduced < least
        least = select(better, reduced, least)
        where = select(better, splat(lanes, block), where)
    store(s.blocks, 0, where)
    lane = lowest_bit(bits(least == splat(lanes, smallest(least))))
    return s.blocks[lane] + lane


@njit(**JIT_NO_ALLOCATION)
def _optimise(lanes, n, m, s):
    """Pivot until no source finds a sink worth entering."""
    stride = in_blocks(lanes, m)
    i = 0
    while True:
        count = turns = 0
        while count < _CANDIDATES and turns < n:
            j = _cheapest_sink(lanes, stride, i, s)
            if s.whole[i * stride + j] < s.charge[i] + s.price[j]:
                s.candidates[0, count] = i
                s.candidates[1, count] = j
                count += 1
            i = i + 1 if i + 1 < n else 0
            turns += 1
        if count == 0:
            return
        for _ in range(_PIVOTS):
            count, best, worth = _most_worthwhile(count, stride, s)
            if count == 0:
                break
            _pivot(n, s.candidates[0, best], n + s.candidates[1, best], worth, s)


@njit(**JIT_NO_ALLOCATION)
def _most_worthwhile(count, stride, s):
    """Keep the candidates that are still worth entering: how many, which is best, its worth."""
    kept = best = most = 0
    for at in range(count):
        i, j = s.candidates[0, at], s.candidates[1, at]
        worth = s.charge[i] + s.price[j] - s.whole[i * stride + j]
        if worth > 0:
            s.candidates[0, kept] = i
            s.candidates[1, kept] = j
            if worth > most:
                most, best = worth, kept
            kept += 1
    return kept, best, most


@njit(**JIT_NO_ALLOCATION)
def _pivot(n, source, sink, worth, s):
    """Let the arc from source to sink enter the tree."""
    top, leaving, amount = _leaving_arc(n, source, sink, s)
    below_source = _send_round(n, source, sink, top, leaving, amount, s)
    if below_source:
        _hang_up_from(source, sink, leaving, amount, s)
        _shift(n, source, -worth, s)
    else:
        _hang_up_from(sink, source, leaving, amount, s)
        _shift(n, sink, worth, s)


@njit(**JIT_NO_ALLOCATION)
def _leaving_arc(n, source, sink, s):
    """The top of the cycle; the node whose arc to its parent leaves; what it carries.

    The cycle goes from the top down to the source, over the entering arc, and from the sink up to
    the top. Flow shrinks where it meets an arc head-on: on the way down, between a source and the
    sink above it; on the way up, between a sink and the source above it.
    """
    down, up = source, sink
    leaving_down = leaving_up = -1
    least_down = least_up = INFINITE
    while down != up:
        if s.depth[down] >= s.depth[up]:
            if down < n and s.flow[down] < least_down:  # met last first: keep it if equal
                least_down, leaving_down = s.flow[down], down
            down = s.parent[down]
        else:
            if up >= n and s.flow[up] <= least_up:
                least_up, leaving_up = s.flow[up], up
            up = s.parent[up]
    if least_down < least_up:
        return down, leaving_down, least_down
    return down, leaving_up, least_up


@njit(**JIT_NO_ALLOCATION)
def _send_round(n, source, sink, top, leaving, amount, s):
    """Send flow round the cycle; tell whether the leaving arc is on the source's side."""
    below_source = False
    node = source
    while node != top:
        s.flow[node] += -amount if node < n else amount
        below_source |= node == leaving
        node = s.parent[node]
    node = sink
    while node != top:
        s.flow[node] += amount if node < n else -amount
        node = s.parent[node]
    return below_source


@njit(**JIT_NO_ALLOCATION)
def _hang_up_from(node, parent, last, flow, s):
    """Hang a node, and all above it up to the last, the other way round: under a new parent."""
    while True:
        above, carried = s.parent[node], s.flow[node]
        _take_down(node, s)
        _hang(node, parent, flow, s)
        if node == last:
            return
        node, parent, flow = above, node, carried


@njit(**JIT_NO_ALLOCATION)
def _shift(n, top, by, s):
    """Shift the charges under a node, itself included; prices go the other way."""
    node = top
    while node >= 0:
        s.depth[node] = s.depth[s.parent[node]] + 1
        if node < n:
            s.charge[node] += by
        else:
            s.price[node - n] -= by
        node = _next_below(top, node, s)


@njit(**JIT_NO_ALLOCATION)
def _hang(node, parent, flow, s):
    s.parent[node] = parent
    s.flow[node] = flow
    s.older[node] = -1
    s.younger[node] = s.child[parent]
    if s.child[parent] >= 0:
        s.older[s.child[parent]] = node
    s.child[parent] = node


@njit(**JIT_NO_ALLOCATION)
def _take_down(node, s):
    older, younger = s.older[node], s.younger[node]
    if older >= 0:
        s.younger[older] = younger
    else:
        s.child[s.parent[node]] = younger
    if younger >= 0:
        s.older[younger] = older


@njit(**JIT_NO_ALLOCATION)
def _next_below(top, node, s):
    """The node that follows, parents before children, under the top; -1 after the last."""
    if s.child[node] >= 0:
        return s.child[node]
    while node != top:
        if s.younger[node] >= 0:
            return s.younger[node]
        node = s.parent[node]
    return -1


@njit(**JIT_NO_ALLOCATION)
def _ends(n, node, s):
    """The source and the sink of the arc between a node and its parent."""
    if node < n:
        return node, s.parent[node] - n
    return s.parent[node], node - n


@njit(**JIT_NO_ALLOCATION)
def _flow_cost(n, m, stride, s):
    cost = 0.0
    for node in range(n + m):
        if s.parent[node] >= 0:
            i, j = _ends(n, node, s)
            cost += s.flow[node] * s.cost[i * stride + j]
    return cost
