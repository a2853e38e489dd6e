"""The network simplex: for large problems, and for those on which augmenting paths take too long.

Paths get in each other's way where neither side is small, or where many sources are equally far
from every sink, as on two lines that cross. A spanning tree does better there (Ahuja, Magnanti and
Orlin 1993, chapter 11).

The tree. A basis of the problem is a spanning tree of all sources and sinks. Only its arcs carry
flow; the tree determines the flow and, up to a constant, dual prices u_i of the sources and p_j of
the sinks such that every arc of the tree has the reduced cost C_ij - u_i - p_j = 0. The root is a
sink, so every source has a sink j above it, and its price is C_ij - p_j: only prices of sinks are
kept. Of many sources few have children, and only these are listed below their sink: what a pivot
visits depends on the number of sinks, not on that of sources.

Pricing. An arc with a negative reduced cost may enter. Vectors find the best sink of a source.
Candidate-list pricing: from the best arcs of some sources a few pivots are made, the most
negative first; then it is the turn of the next sources. When all have had their turn in vain, the
flow is optimal.

Pivot. The entering arc closes a cycle. Flow is pushed round it until an arc of the tree has none
left. That arc leaves. The subtree that it held is attached by the entering arc instead, and its
dual prices are shifted by the entering arc's reduced cost.

Start. Each source in turn fills its cheapest sinks that still have demand. These become its
children; its parent is the sink that it does not fill. First come the sources with the largest
regret: those whose second cheapest sink is much dearer than the cheapest (Vogel's rule).

Many sources. As in `engine.py`, samples of the sources are solved first; their prices make the
start of the next sample good.

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
from graphmover.transport.cpu.lanes import (
    JIT_INLINE,
    bits,
    load,
    lowest_bit,
    minimum,
    numbers,
    select,
    smallest,
    splat,
)
from graphmover.transport.cpu.problem import (
    FORBIDDEN,
    INFINITE,
    Costs,
    Scaling,
    fill_all_costs,
    in_blocks,
    number_of_bits,
    scale_masses,
)
from graphmover.transport.cpu.solver import at_finer_costs, for_plan, least_sink, over_pairs

#: The most bits of a cost. Prices can sum up as many costs as the tree is deep: fewer bits for more
#: than 2**11 sinks.
_COST_BITS = 48

#: From how many sources the candidates come, and how many pivots are made with them.
_CANDIDATES = 32
_PIVOTS = 8

#: A sample of half the sources is solved first while it has this many times as many as sinks.
_COARSE = 16

#: How many tables there are with a number for each source and sink.
TABLES = 2

Sample = namedtuple(
    "Sample",
    [
        "n",  # number of its sources
        "m",  # number of sinks
        "stride",  # the length of a row of costs
        "step",  # its sources are every step-th of all
    ],
)

#: The nodes of the tree are numbered: sources from 0, sinks from n.
State = namedtuple(
    "State",
    [
        "cost",  # (n * stride,) C_ij as float64
        "integer_cost",  # (n * stride,) C_ij as integers
        "supply",  # (n,) a_i
        "demand",  # (stride,) b_j
        "left",  # (stride,) what is left of the sample's demands while starting
        "regret",  # (n,) how much dearer the second cheapest sink is
        "order",  # (n,) the sources by regret
        "price",  # (stride,) p_j
        "parent",  # (n + m,) the node above; -1 at the root
        "flow",  # (n + m,) F_ij on the arc between a node and its parent
        "depth",  # (n + m,) number of arcs up to the root, except of sources without children
        "child",  # (n + m,) the first child that is a sink or has children, or -1
        "previous",  # (n + m,) the sibling before, or -1
        "next",  # (n + m,) the sibling after, or -1
        "candidates",  # (2, _CANDIDATES) sources and sinks of arcs that may enter
        "blocks",  # (W,) in which block of sinks each lane found its least
    ],
)


@njit(**JIT)
def distances(lanes, memory, pairs, ground, sources, sinks, swapped, out):
    """Solve pairs of any number of sinks."""
    _solve_pairs(lanes, memory, pairs, ground, sources, sinks, swapped, out)


@njit(**JIT)
def plan(lanes, memory, ground, sources, sinks, out):
    """Fill ``out`` with the flows of one pair as shares of all mass; return the distance."""
    return _plan(lanes, memory, ground, sources, sinks, out)


@njit(**JIT)
def _state(lanes, memory, n, m):
    stride = in_blocks(lanes, m)
    return State(
        cost=memory[0].view(np.float64),
        integer_cost=memory[1],
        supply=np.empty(n, np.int64),
        demand=np.zeros(stride, np.int64),
        left=np.zeros(stride, np.int64),
        regret=np.empty(n, np.int64),
        order=np.empty(n, np.int64),
        price=np.zeros(stride, np.int64),
        parent=np.empty(n + m, np.int32),
        flow=np.empty(n + m, np.int64),
        depth=np.empty(n + m, np.int32),
        child=np.empty(n + m, np.int32),
        previous=np.empty(n + m, np.int32),
        next=np.empty(n + m, np.int32),
        candidates=np.empty((2, _CANDIDATES), np.int64),
        blocks=np.zeros(len(lanes), np.int64),
    )


@njit(**JIT_NO_ALLOCATION)
def _cost_bits(n, m):
    return min(_COST_BITS, 60 - number_of_bits(2 * m))


@njit(**JIT_NO_ALLOCATION)
def _solve(lanes, p, units, total, s):
    n, m = p.n, p.sinks.m
    scaling = Scaling(units, _cost_bits(n, m), 0)
    fill_all_costs(lanes, p, scaling, Costs(s.cost, s.integer_cost))
    for j in range(m):
        s.price[j] = 0
    step = 1
    while n >= 2 * step * _COARSE * m:
        step *= 2
    while step > 0:
        sample = Sample((n + step - 1) // step, m, p.sinks.stride, step)
        _start(lanes, sample, total, s)
        _optimise(lanes, sample, s)
        step //= 2
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
def _start(lanes, sample, total, s):
    """Send each source in turn to its cheapest sinks that still have demand.

    Prices say which are cheap; the tree then makes new ones.
    """
    n, m, stride, step = sample
    for node in range(n + m):
        s.parent[node] = s.child[node] = -1
    for j in range(m, stride):
        s.price[j] = -FORBIDDEN
    supply = 0
    for i in range(n):
        supply += s.supply[i * step]
        s.regret[i] = _regret(lanes, sample, i, s)
        s.order[i] = i
    scale_masses(s.demand, 0, m, total, supply, step == 1, s.left)
    _sort_by_regret(n, s)
    root = n
    for at in range(n):
        i = s.order[at]
        left = s.supply[i * step]
        j = _cheapest_sink(lanes, sample, i, s)
        # At the very end supply and demand run out together: that sink is the root.
        while left > 0 and s.left[j] <= left and not (at == n - 1 and s.left[j] == left):
            _attach_sink(n + j, i, s.left[j], s)
            left -= s.left[j]
            s.price[j] = -FORBIDDEN
            j = _cheapest_sink(lanes, sample, i, s)
        _attach_source(i, n + j, left, s)
        s.left[j] -= left
        root = n + j
    s.depth[root] = 0
    s.price[root - n] = 0
    node = _next_in_preorder(root, root, s)
    while node >= 0:
        s.depth[node] = s.depth[s.parent[node]] + 1
        if node >= n:
            i, j = s.parent[node], node - n
            s.price[j] = _cost(sample, i, j, s) - _source_price(sample, i, s)
        node = _next_in_preorder(root, node, s)


@njit(**JIT_NO_ALLOCATION)
def _cheapest_sink(lanes, sample, i, s):
    """The sink with the least C_ij - p_j."""
    least, where = splat(lanes, INFINITE), splat(lanes, 0)
    row = i * sample.step * sample.stride
    for block in range(0, sample.stride, len(lanes)):
        reduced = load(lanes, s.integer_cost, row + block) - load(lanes, s.price, block)
        better = reduced < least
        least = select(better, reduced, least)
        where = select(better, splat(lanes, block), where)
    return least_sink(lanes, least, where, s.blocks)


@njit(**JIT_NO_ALLOCATION)
def _regret(lanes, sample, i, s):
    """How much dearer the second cheapest sink is than the cheapest."""
    least = second = splat(lanes, INFINITE)
    row = i * sample.step * sample.stride
    for block in range(0, sample.stride, len(lanes)):
        reduced = load(lanes, s.integer_cost, row + block) - load(lanes, s.price, block)
        second = minimum(second, select(reduced < least, least, reduced))
        least = minimum(least, reduced)
    cheapest = smallest(least)
    lane = lowest_bit(bits(least == splat(lanes, cheapest)))
    others = select(numbers(lanes) == splat(lanes, lane), second, least)
    return smallest(others) - cheapest


@njit(**JIT_NO_ALLOCATION)
def _sort_by_regret(n, s):
    """Sort the order of the sources by Shell's method, the largest regret first."""
    gap = 1
    while gap < n:
        gap = 3 * gap + 1
    while gap > 0:
        for last in range(gap, n):
            i, at = s.order[last], last
            while at >= gap and s.regret[s.order[at - gap]] < s.regret[i]:
                s.order[at] = s.order[at - gap]
                at -= gap
            s.order[at] = i
        gap //= 3


@njit(**JIT_NO_ALLOCATION)
def _optimise(lanes, sample, s):
    """Pivot until no arc has a negative reduced cost."""
    n = sample.n
    i = 0
    while True:
        count = turns = 0
        while turns < n and (turns < _CANDIDATES or count == 0):
            j = _cheapest_sink(lanes, sample, i, s)
            if _gain(sample, i, j, s) > 0:
                s.candidates[0, count] = i
                s.candidates[1, count] = j
                count += 1
            i = i + 1 if i + 1 < n else 0
            turns += 1
        if count == 0:
            return
        for _ in range(_PIVOTS):
            count, best, gain = _best_candidate(sample, count, s)
            if count == 0:
                break
            _pivot(n, s.candidates[0, best], n + s.candidates[1, best], gain, s)


@njit(**JIT_NO_ALLOCATION)
def _best_candidate(sample, count, s):
    """Keep the candidates that may still enter: how many, which is best, what it gains.

    The gain of an arc is its reduced cost, negated.
    """
    kept = best = most = 0
    for at in range(count):
        i, j = s.candidates[0, at], s.candidates[1, at]
        gain = _gain(sample, i, j, s)
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
        _reattach_path(n, source, sink, leaving, amount, s)
        _shift_prices(n, source, -gain, s)
    else:
        _reattach_path(n, sink, source, leaving, amount, s)
        _shift_prices(n, sink, gain, s)


@njit(**JIT_NO_ALLOCATION)
def _leaving_arc(n, source, sink, s):
    """The top of the cycle; the node whose arc to its parent leaves; the flow of that arc.

    The cycle goes from the top down to the source, over the entering arc, and from the sink up to
    the top. Flow shrinks where it meets an arc head-on: on the way down, between a source and the
    sink above it; on the way up, between a sink and the source above it.
    """
    s.depth[source] = s.depth[s.parent[source]] + 1  # a leaf's is not kept up to date
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
def _reattach_path(n, node, parent, last, flow, s):
    """Attach a node to a new parent; reverse the path from it up to the last node."""
    while True:
        above, carried = s.parent[node], s.flow[node]
        if node < n:
            if s.child[node] >= 0:
                _unlink(node, s)
            _attach_source(node, parent, flow, s)
        else:
            _unlink(node, s)
            if s.child[above] < 0:
                _unlink(above, s)
            _attach_sink(node, parent, flow, s)
        if node == last:
            return
        node, parent, flow = above, node, carried


@njit(**JIT_NO_ALLOCATION)
def _shift_prices(n, top, by, s):
    """Shift the dual prices in a subtree: those of sources up, those of sinks down."""
    node = top
    while node >= 0:
        s.depth[node] = s.depth[s.parent[node]] + 1
        if node >= n:
            s.price[node - n] -= by
        node = _next_in_preorder(top, node, s)


@njit(**JIT_NO_ALLOCATION)
def _attach_source(i, sink, flow, s):
    """Attach source i to a sink; it is linked there only if it has children itself."""
    s.parent[i] = sink
    s.flow[i] = flow
    if s.child[i] >= 0:
        _link(i, s)


@njit(**JIT_NO_ALLOCATION)
def _attach_sink(node, source, flow, s):
    s.parent[node] = source
    s.flow[node] = flow
    if s.child[source] < 0 and s.parent[source] >= 0:
        _link(source, s)
    _link(node, s)


@njit(**JIT_NO_ALLOCATION)
def _link(node, s):
    """Make a node the first child of its parent."""
    parent = s.parent[node]
    s.previous[node] = -1
    s.next[node] = s.child[parent]
    if s.child[parent] >= 0:
        s.previous[s.child[parent]] = node
    s.child[parent] = node


@njit(**JIT_NO_ALLOCATION)
def _unlink(node, s):
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


@njit(**JIT_INLINE)
def _cost(sample, i, j, s):
    return s.integer_cost[i * sample.step * sample.stride + j]


@njit(**JIT_INLINE)
def _source_price(sample, i, s):
    """The dual price u_i, by the arc from source i to its parent."""
    j = s.parent[i] - sample.n
    return _cost(sample, i, j, s) - s.price[j]


@njit(**JIT_INLINE)
def _gain(sample, i, j, s):
    """The reduced cost of an arc, negated."""
    return _source_price(sample, i, s) + s.price[j] - _cost(sample, i, j, s)


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
