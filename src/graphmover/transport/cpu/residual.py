"""The residual graph on the sinks, which `few_sinks.py` and `many_sinks.py` search.

Its arc from sink j to sink k is the cheapest way to take a unit of flow from j to k:

    arc_cost[j, k] = least C_ik - C_ij over the sources i with flow at j,
    arc_source[j, k] = that source.

Rows of both tables, of the costs and of the flow have ``stride`` entries. ``s`` is the state of
either solver.
"""

from __future__ import annotations

from graphmover._utils.jit import JIT_NO_ALLOCATION, njit
from graphmover.transport.cpu.lanes import JIT_INLINE, load, select, splat, store


@njit(**JIT_INLINE)
def append_member(k, i, s):
    """List source i at sink k."""
    s.members[k * len(s.supply) + s.n_members[k]] = i
    s.n_members[k] += 1


@njit(**JIT_NO_ALLOCATION)
def is_member(k, i, s):
    """Whether source i, without flow at sink k, is still listed there since it left."""
    first = k * len(s.supply)
    for at in range(first, first + s.n_members[k]):
        if s.members[at] == i:
            return True
    return False


@njit(**JIT_INLINE)
def improve_arcs(lanes, stride, k, i, s):
    """Let source i, which now has flow at sink k, improve the arcs out of it."""
    here, who = splat(lanes, s.integer_cost[i * stride + k]), splat(lanes, i)
    for block in range(0, stride, len(lanes)):
        cell = k * stride + block
        old = load(lanes, s.arc_cost, cell)
        new = load(lanes, s.integer_cost, i * stride + block) - here
        better = new < old
        store(s.arc_cost, cell, select(better, new, old))
        store(s.arc_source, cell, select(better, who, load(lanes, s.arc_source, cell)))


def along_paths(has_lost, mark_lost):
    """Compose the augmentation for one way to remember which sinks have lost a source.

    ``has_lost(lost, k, s)`` says whether sink k has, ``mark_lost(lost, k, s)`` returns ``lost``
    with it: bits in a register where they fit, or nothing, with marks in the state.
    """

    @njit(**(JIT_INLINE | {"cache": False}))  # it is cached as a part of the solver
    def augment(lanes, stride, parents, sink, lost, s):
        """Send what the path to a deficit sink can carry; return ``lost`` with what it adds.

        ``parents`` masks the bits of a path that hold the sink before; an excess sink is its own.
        """
        amount, k = s.deficit[sink], sink
        parent = s.path[k] & parents
        while parent != k:
            amount = min(amount, s.flow[s.arc_source[parent * stride + k] * stride + parent])
            k = parent
            parent = s.path[k] & parents
        amount = min(amount, -s.deficit[k])
        if amount <= 0:
            return lost
        s.deficit[k] += amount
        s.deficit[sink] -= amount
        k = sink
        parent = s.path[k] & parents
        while parent != k:
            i = s.arc_source[parent * stride + k]
            s.flow[i * stride + parent] -= amount
            if s.flow[i * stride + parent] == 0:
                lost = mark_lost(lost, parent, s)
            if s.flow[i * stride + k] == 0:
                if not (has_lost(lost, k, s) and is_member(k, i, s)):
                    append_member(k, i, s)
                improve_arcs(lanes, stride, k, i, s)
            s.flow[i * stride + k] += amount
            k = parent
            parent = s.path[k] & parents
        return lost

    return augment


@njit(**JIT_NO_ALLOCATION)
def flow_cost(stride, m, s):
    """The cost of all flow, by the float64 costs."""
    cost = 0.0
    for j in range(m):
        first = j * len(s.supply)
        for at in range(first, first + s.n_members[j]):
            cell = s.members[at] * stride + j
            cost += s.flow[cell] * s.cost[cell]
    return cost
