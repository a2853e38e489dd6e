"""The solver for more than 32 sinks and at most twice as many sources: the network simplex.

Where neither side is small, augmenting paths get in each other's way, and a spanning tree does
better (Ahuja, Magnanti and Orlin 1993, chapter 11).

The tree. A basis of the problem is a spanning tree of all sources and sinks. Only its arcs carry
flow; the tree determines the flow and, up to a constant, dual prices u_i of the sources and p_j of
the sinks such that every arc of the tree has the reduced cost C_ij - u_i - p_j = 0.

Pricing. An arc with a negative reduced cost may enter. Vectors find the best sink of a source.
Candidate-list pricing: from the best arcs of a number of sources a few pivots are made, the most
negative first; then it is the turn of the next sources. When all have had their turn in vain, the
flow is optimal.

Pivot. The entering arc closes a cycle. Flow is pushed round it until an arc of the tree has none
left. That arc leaves. The subtree that it held is attached by the entering arc instead, and its
dual prices are shifted by the entering arc's reduced cost.

Start. Each source in turn fills its cheapest sinks that still have demand. These become its
children; its parent is the sink that it does not fill.

Why it ends. Trees stay strongly feasible (Cunningham 1976): every arc from a source down to a sink
below it has flow; only arcs that lead up may have none. The start is such a tree, since all masses
are positive. Pivots keep it so if, of several arcs that could leave, the last one does, on the way
from the top of the cycle along the entering arc and back. Then no tree occurs twice, even where a
pivot moves nothing.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from graphmover._utils.jit import JIT, JIT_NO_ALLOCATION, njit
from graphmover.transport.cpu.lanes import load, select, splat
from graphmover.transport.cpu.problem import (
    FORBIDDEN,
    INFINITE,
    Costs,
    Scaling,
    fill_all_costs,
    in_blocks,
    number_of_bits,
)
from graphmover.transport.cpu.solver import at_finer_costs, for_plan, least_sink, over_pairs

#: The most bits of a cost. Prices can sum up as many costs as the tree is deep: fewer bits for more
#: than 2**12 nodes.
_COST_BITS = 48

#: The length of the candidate list, and how many pivots are made from each. Time hardly depends
#: on either.
_CANDIDATES = 64
_PIVOTS = 16

#: The nodes of the tree are numbered: sources from 0, sinks from n.
State = namedtuple(
    "State",
    [
        "cost",  # (n * stride,) C_ij as float64
        "integer_cost",  # (n * stride,) C_ij as integers
        "supply",  # (n,) a_i
        "demand",  # (stride,) b_j; while starting, what is left of it
        "price",  # (stride,) p_j
        "source_price",  # (n,) u_i
        "parent",  # (n + m,) the node above; -1 at the root
        "flow",  # (n + m,) F_ij on the arc between a node and its parent
        "depth",  # (n + m,) number of arcs up to the root
        "child",  # (n + m,) the first child, or -1
        "previous",  # (n + m,) the sibling before, or -1
        "next",  # (n + m,) the sibling after, or -1
        "candidates",  # (2, _CANDIDATES) sources and sinks of arcs that may enter
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
        demand=np.zeros(stride, np.int64),
        price=np.zeros(stride, np.int64),
        source_price=np.empty(n, np.int64),
        parent=np.empty(n + m, np.int64),
        flow=np.empty(n + m, np.int64),
        depth=np.empty(n + m, np.int64),
        child=np.empty(n + m, np.int64),
        previous=np.empty(n + m, np.int64),
        next=np.empty(n + m, np.int64),
        candidates=np.empty((2, _CANDIDATES), np.int64),
        blocks=np.zeros(len(lanes), np.int64),
    )


@njit(**JIT_NO_ALLOCATION)
def _cost_bits(n, m):
    return min(_COST_BITS, 60 - number_of_bits(n + m))


@njit(**JIT_NO_ALLOCATION)
def _solve(lanes, p, units, total, s):
    n, m = p.n, p.sinks.m
    scaling = Scaling(units, _cost_bits(n, m), 0)
    fill_all_costs(lanes, p, scaling, Costs(s.cost, s.integer_cost))
    _start(lanes, n, m, s)
    _optimise(lanes, n, m, s)
    return _flow_cost(n, m, p.sinks.stride, s)


@njit(**JIT_NO_ALLOCATION)
def _write_flows(stride, total, s, out):
    n, m = out.shape
    out[...] = 0.0
    for node in range(n + m):
        if s.parent[node] >= 0:
            i, j = _ends(n, node, s)
            out[i, j] = s.flow[node] / total


_distance = at_finer_costs(_cost_bits, _solve, 1e-300)
_solve_pairs = over_pairs(_state, _distance)
_plan = for_plan(_state, _distance, _write_flows)


@njit(**JIT_NO_ALLOCATION)
def _start(lanes, n, m, s):
    """Send each source in turn to its cheapest sinks that still have demand."""
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
            _attach(n + j, i, s.demand[j], s)
            left -= s.demand[j]
            s.price[j] = -FORBIDDEN
            j = _cheapest_sink(lanes, stride, i, s)
        _attach(i, n + j, left, s)
        s.demand[j] -= left
        root = n + j
    s.depth[root] = 0
    s.price[root - n] = 0
    node = _next_in_preorder(root, root, s)
    while node >= 0:
        s.depth[node] = s.depth[s.parent[node]] + 1
        i, j = _ends(n, node, s)
        if node < n:
            s.source_price[i] = s.integer_cost[i * stride + j] - s.price[j]
        else:
            s.price[j] = s.integer_cost[i * stride + j] - s.source_price[i]
        node = _next_in_preorder(root, node, s)


@njit(**JIT_NO_ALLOCATION)
def _cheapest_sink(lanes, stride, i, s):
    """The sink with the least C_ij - p_j."""
    least, where = splat(lanes, INFINITE), splat(lanes, 0)
    for block in range(0, stride, len(lanes)):
        reduced = load(lanes, s.integer_cost, i * stride + block) - load(lanes, s.price, block)
        better = reduced < least
        least = select(better, reduced, least)
        where = select(better, splat(lanes, block), where)
    return least_sink(lanes, least, where, s.blocks)


@njit(**JIT_NO_ALLOCATION)
def _optimise(lanes, n, m, s):
    """Pivot until no arc has a negative reduced cost."""
    stride = in_blocks(lanes, m)
    i = 0
    while True:
        count = turns = 0
        while count < _CANDIDATES and turns < n:
            j = _cheapest_sink(lanes, stride, i, s)
            if s.integer_cost[i * stride + j] < s.source_price[i] + s.price[j]:
                s.candidates[0, count] = i
                s.candidates[1, count] = j
                count += 1
            i = i + 1 if i + 1 < n else 0
            turns += 1
        if count == 0:
            return
        for _ in range(_PIVOTS):
            count, best, gain = _best_candidate(count, stride, s)
            if count == 0:
                break
            _pivot(n, s.candidates[0, best], n + s.candidates[1, best], gain, s)


@njit(**JIT_NO_ALLOCATION)
def _best_candidate(count, stride, s):
    """Keep the candidates that may still enter: how many, which is best, what it gains.

    The gain of an arc is its reduced cost, negated.
    """
    kept = best = most = 0
    for at in range(count):
        i, j = s.candidates[0, at], s.candidates[1, at]
        gain = s.source_price[i] + s.price[j] - s.integer_cost[i * stride + j]
        if gain > 0:
            s.candidates[0, kept] = i
            s.candidates[1, kept] = j
            if gain > most:
                most, best = gain, kept
            kept += 1
    return kept, best, most


@njit(**JIT_NO_ALLOCATION)
def _pivot(n, source, sink, gain, s):
    """Let the arc from source to sink enter the tree."""
    top, leaving, amount = _leaving_arc(n, source, sink, s)
    below_source = _push_flow(n, source, sink, top, leaving, amount, s)
    if below_source:
        _reattach_path(source, sink, leaving, amount, s)
        _shift_prices(n, source, -gain, s)
    else:
        _reattach_path(sink, source, leaving, amount, s)
        _shift_prices(n, sink, gain, s)


@njit(**JIT_NO_ALLOCATION)
def _leaving_arc(n, source, sink, s):
    """The top of the cycle; the node whose arc to its parent leaves; the flow of that arc.

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
def _push_flow(n, source, sink, top, leaving, amount, s):
    """Push flow round the cycle; return whether the leaving arc is on the source's side."""
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
def _reattach_path(node, parent, last, flow, s):
    """Attach a node to a new parent; reverse the path from it up to the last node."""
    while True:
        above, carried = s.parent[node], s.flow[node]
        _detach(node, s)
        _attach(node, parent, flow, s)
        if node == last:
            return
        node, parent, flow = above, node, carried


@njit(**JIT_NO_ALLOCATION)
def _shift_prices(n, top, by, s):
    """Shift the dual prices in a subtree: those of sources up, those of sinks down."""
    node = top
    while node >= 0:
        s.depth[node] = s.depth[s.parent[node]] + 1
        if node < n:
            s.source_price[node] += by
        else:
            s.price[node - n] -= by
        node = _next_in_preorder(top, node, s)


@njit(**JIT_NO_ALLOCATION)
def _attach(node, parent, flow, s):
    s.parent[node] = parent
    s.flow[node] = flow
    s.previous[node] = -1
    s.next[node] = s.child[parent]
    if s.child[parent] >= 0:
        s.previous[s.child[parent]] = node
    s.child[parent] = node


@njit(**JIT_NO_ALLOCATION)
def _detach(node, s):
    before, after = s.previous[node], s.next[node]
    if before >= 0:
        s.next[before] = after
    else:
        s.child[s.parent[node]] = after
    if after >= 0:
        s.previous[after] = before


@njit(**JIT_NO_ALLOCATION)
def _next_in_preorder(top, node, s):
    """The next node of the subtree under the top, parents before children; -1 after the last."""
    if s.child[node] >= 0:
        return s.child[node]
    while node != top:
        if s.next[node] >= 0:
            return s.next[node]
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
