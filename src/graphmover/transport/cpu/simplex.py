"""The network simplex: for large problems, and for those on which augmenting paths take too long.

Paths get in each other's way where neither side is small, or where many sources are equally far
from every sink, as on two lines that cross. A spanning tree does better there (Ahuja, Magnanti and
Orlin 1993, chapter 11).

The tree. A basis of the problem is a spanning tree of all sources and sinks. Only its arcs carry
flow; the tree determines the flow and, up to a constant, dual prices u_i of the sources and p_j of
the sinks such that every arc of the tree has the reduced cost C_ij - u_i - p_j = 0. The root is a
sink, so every source has a sink j above it, and its price is C_ij - p_j: only prices of sinks are
kept.

Pricing. An arc with a negative reduced cost may enter. Vectors find the best sink of a source.
Candidate-list pricing: from the best arcs of some sources a few pivots are made, the most
negative first; then it is the turn of the next sources. When all have had their turn in vain, the
flow is optimal. The best sinks are found by costs rounded to 32 bits, of which a processor reads
and compares twice as many at a time. What an arc gains is computed exactly, and when rounded costs
show no more that do, exact ones go on.

Pivot. The entering arc closes a cycle. Flow is pushed round it until an arc of the tree has none
left. That arc leaves. The subtree that it held is attached by the entering arc instead
(`spanning_tree.py`), and its dual prices are shifted by the entering arc's reduced cost.

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
    narrow,
    numbers,
    select,
    smallest,
    splat,
    splat_like,
    store,
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
from graphmover.transport.cpu.spanning_tree import NONE, list_in_preorder, pivot

#: The most bits of a cost. Prices can sum up as many costs as the tree is deep: fewer bits for more
#: than 2**11 sinks.
_COST_BITS = 48

#: From how many sources the candidates come, and how many pivots are made with them.
_CANDIDATES = 32
_PIVOTS = 8

#: A sample of half the sources is solved first while it has this many times as many as sinks.
_COARSE = 16

#: The bits of a rough cost, and the largest one, which forbids padding. Rough prices are cut to
#: half of it on either side, so that no difference overflows: one that is cut may hide an arc, but
#: only until exact prices go on.
_ROUGH_BITS = 27
_MOST_ROUGH = 1 << 30

#: How many tables there are with a number for each source and sink.
TABLES = 3

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
        "rough_cost",  # (n * stride,) these rounded to 32 bits
        "supply",  # (n,) a_i
        "demand",  # (stride,) b_j
        "left",  # (stride,) what is left of the sample's demands while starting
        "regret",  # (n,) how much dearer the second cheapest sink is
        "order",  # (n,) the sources by regret
        "price",  # (stride,) p_j
        "rough_price",  # (stride,) these rounded likewise
        "parent",  # (n + m,) the node above; NONE at the root
        "flow",  # (n + m,) F_ij on the arc between a node and its parent
        "preorder",  # (m + W,) the sinks, those of a subtree side by side
        "place",  # (n + m,) where a sink is in that list
        "size",  # (n + m,) how many sinks are below a node; a sink is below itself
        "first",  # (n,) the one of them that is listed first below a source; any, if there is none
        "moved",  # (m + W,) the sinks that a pivot moves
        "child",  # (n + m,) while starting: a node's first child, or NONE
        "next",  # (n + m,) while starting: its next sibling, or NONE
        "candidates",  # (_CANDIDATES,) the sources of arcs that may enter
        "candidate_sinks",  # (_CANDIDATES,) their sinks
        "candidate_costs",  # (_CANDIDATES,) their integer costs
        "blocks",  # (W,) in which block of sinks each lane found its least
        "rough_blocks",  # (W,) likewise
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
        rough_cost=memory[2].view(np.int32),
        supply=np.empty(n, np.int64),
        demand=np.zeros(stride, np.int64),
        left=np.zeros(stride, np.int64),
        regret=np.empty(n, np.int64),
        order=np.empty(n, np.int64),
        price=np.zeros(stride, np.int64),
        rough_price=np.zeros(stride, np.int32),
        parent=np.empty(n + m, np.uint32),
        flow=np.empty(n + m, np.int64),
        preorder=np.empty(m + len(lanes), np.uint32),
        place=np.empty(n + m, np.uint32),
        size=np.empty(n + m, np.int32),
        first=np.empty(n, np.uint32),
        moved=np.empty(m + len(lanes), np.uint32),
        child=np.empty(n + m, np.uint32),
        next=np.empty(n + m, np.uint32),
        candidates=np.empty(_CANDIDATES, np.uint32),
        candidate_sinks=np.empty(_CANDIDATES, np.uint32),
        candidate_costs=np.empty(_CANDIDATES, np.int64),
        blocks=np.zeros(len(lanes), np.int64),
        rough_blocks=np.zeros(len(lanes), np.int32),
    )


@njit(**JIT_NO_ALLOCATION)
def _cost_bits(n, m):
    return min(_COST_BITS, 60 - number_of_bits(2 * m))


@njit(**JIT_NO_ALLOCATION)
def _solve(lanes, p, units, total, s):
    n, m = p.n, p.sinks.m
    scaling = Scaling(units, _cost_bits(n, m), 0)
    fill_all_costs(lanes, p, scaling, Costs(s.cost, s.integer_cost))
    shift = max(scaling.cost_bits - _ROUGH_BITS, 0)
    for cell in range(0, n * p.sinks.stride, len(lanes)):
        cost = load(lanes, s.integer_cost, cell) >> splat(lanes, shift)
        store(s.rough_cost, cell, narrow(minimum(cost, splat(lanes, _MOST_ROUGH))))
    for j in range(m):
        s.price[j] = 0
    step = 1
    while n >= 2 * step * _COARSE * m:
        step *= 2
    while step > 0:
        sample = Sample((n + step - 1) // step, m, p.sinks.stride, step)
        _start(lanes, sample, total, s)
        _optimise(lanes, sample, shift, s)
        step //= 2
    return _flow_cost(n, m, p.sinks.stride, s)


@njit(**JIT_NO_ALLOCATION)
def _write_flows(stride, total, s, out):
    n, m = out.shape
    out[...] = 0.0
    for node in range(n + m):
        if s.parent[node] != NONE:
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
        j = _cheapest_sink(lanes, sample, s.integer_cost, s.price, s.blocks, i)
        # At the very end supply and demand run out together: that sink is the root.
        while left > 0 and s.left[j] <= left and not (at == n - 1 and s.left[j] == left):
            s.parent[n + j], s.flow[n + j] = i, s.left[j]
            left -= s.left[j]
            s.price[j] = -FORBIDDEN
            j = _cheapest_sink(lanes, sample, s.integer_cost, s.price, s.blocks, i)
        s.parent[i], s.flow[i] = n + j, left
        s.left[j] -= left
        root = n + j
    s.parent[root] = NONE
    list_in_preorder(n, m, root, s)
    s.price[root - n] = 0
    for place in range(1, m):
        j = s.preorder[place] - n
        i = s.parent[n + j]
        s.price[j] = _cost(sample, i, j, s) - _source_price(sample, i, s)


@njit(**JIT_NO_ALLOCATION)
def _cheapest_sink(lanes, sample, cost, price, blocks, i):
    """The sink with the least C_ij - p_j."""
    row = i * sample.step * sample.stride
    least = load(lanes, cost, row) - load(lanes, price, 0)
    where = splat_like(least, 0)
    for block in range(len(lanes), sample.stride, len(lanes)):
        reduced = load(lanes, cost, row + block) - load(lanes, price, block)
        better = reduced < least
        least = select(better, reduced, least)
        where = select(better, splat_like(least, block), where)
    return least_sink(lanes, least, where, blocks)


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
def _optimise(lanes, sample, shift, s):
    """Pivot until no arc has a negative reduced cost."""
    n = sample.n
    for j in range(sample.stride):
        s.rough_price[j] = _rough(s.price[j], shift)
    i, exact = 0, False
    while True:
        n_left = turns = 0
        while turns < n and (turns < _CANDIDATES or n_left == 0):
            if exact:
                j = _cheapest_sink(lanes, sample, s.integer_cost, s.price, s.blocks, i)
            else:
                j = _cheapest_sink(lanes, sample, s.rough_cost, s.rough_price, s.rough_blocks, i)
            if _gain(sample, i, j, s) > 0:
                s.candidates[n_left] = i
                s.candidate_sinks[n_left] = j
                s.candidate_costs[n_left] = _cost(sample, i, j, s)
                n_left += 1
            i = i + 1 if i + 1 < n else 0
            turns += 1
        if n_left == 0:
            if exact:
                return
            exact = True
        for _ in range(_PIVOTS):
            n_left, best, gain = _best_candidate(sample, n_left, s)
            if n_left == 0:
                break
            source, sink = s.candidates[best], n + s.candidate_sinks[best]
            count, change = pivot(lanes, n, source, sink, gain, s)
            for at in range(count):
                j = s.moved[at] - n
                s.price[j] += change
                s.rough_price[j] = _rough(s.price[j], shift)


@njit(**JIT_INLINE)
def _rough(price, shift):
    return min(max(price >> shift, -_MOST_ROUGH // 2), _MOST_ROUGH // 2)


@njit(**JIT_INLINE)
def _best_candidate(sample, count, s):
    """Keep the candidates that may still enter: how many, which is best, what it gains.

    The gain of an arc is its reduced cost, negated.
    """
    kept = best = most = 0
    for at in range(count):
        i, j, cost = s.candidates[at], s.candidate_sinks[at], s.candidate_costs[at]
        gain = _source_price(sample, i, s) + s.price[j] - cost
        s.candidates[kept] = i
        s.candidate_sinks[kept] = j
        s.candidate_costs[kept] = cost
        if gain > most:
            most, best = gain, kept
        kept += gain > 0
    return kept, best, most


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
        if s.parent[node] != NONE:
            i, j = _ends(n, node, s)
            cost += s.flow[node] * s.cost[i * stride + j]
    return cost
