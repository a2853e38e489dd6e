"""The spanning tree of the network simplex: a pivot replaces one of its arcs.

Nodes are numbered: sources from 0, sinks from n. The root is a sink; above a source is a sink and
above a sink a source. ``s`` is the state of `simplex.py`.

Preorder. The sinks are listed in preorder, parents before children, so that those of a subtree are
neighbours: a node has ``size`` sinks below it (a sink counts itself), from its own place on, or
from that of the ``first`` sink below a source. So whether a node is above another is a comparison
of places, and a pivot needs neither the depths of nodes nor lists of children: it copies pieces
of the list. Sources without children are not part of it, and their moves cost nothing; what a
pivot visits depends on the number of sinks, not on that of sources.
"""

from __future__ import annotations

import numpy as np

from graphmover._utils.jit import JIT_NO_ALLOCATION, njit
from graphmover.transport.cpu.lanes import JIT_INLINE, load, store
from graphmover.transport.cpu.problem import INFINITE

#: Above the root, and below a node without children. Nodes and places are unsigned: otherwise Numba
#: looks at every index whether it is negative, which takes a sixth of all time.
NONE = (1 << 32) - 1


@njit(**JIT_NO_ALLOCATION)
def list_in_preorder(n, m, root, s):
    """List the sinks in preorder, by the parents of all nodes."""
    for node in range(n + m):
        s.child[node] = NONE
        s.size[node] = 0
    for node in range(n, n + m):
        if node != root:
            _link(node, s)
    for i in range(n):
        s.first[i] = n
        if s.child[i] != NONE:
            s.first[i] = s.child[i]
            _link(i, s)
    here, place = np.uint32(root), 0
    while here != NONE:
        if here >= n:
            _put(here, place, s)
            place += 1
        here = _next_in_preorder(here, s)
    for at in range(m - 1, 0, -1):
        sink = s.preorder[at]
        source = s.parent[sink]
        s.size[sink] += 1
        s.size[source] += s.size[sink]
        if s.first[source] == sink:  # its last one to be counted
            s.size[s.parent[source]] += s.size[source]
    s.size[root] += 1


@njit(**JIT_INLINE)
def _link(node, s):
    """Make a node the first child of its parent."""
    s.next[node] = s.child[s.parent[node]]
    s.child[s.parent[node]] = node


@njit(**JIT_INLINE)
def _next_in_preorder(node, s):
    if s.child[node] != NONE:
        return s.child[node]
    while s.parent[node] != NONE and s.next[node] == NONE:
        node = s.parent[node]
    return s.next[node] if s.parent[node] != NONE else s.parent[node]


@njit(**JIT_INLINE)
def pivot(lanes, n, source, sink, gain, s):
    """Let the arc from source to sink enter the tree; the gain is its reduced cost, negated.

    Return how many sinks begin the list ``s.moved``, and what their prices change by.
    """
    source, sink = np.uint32(source), np.uint32(sink)
    top, leaving, amount, below_source = _leaving_arc(source, sink, s)
    _push_flow(source, top, amount, s)
    _push_flow(sink, top, amount, s)
    if below_source:
        if leaving == source and s.size[source] == 0:
            s.parent[source] = sink
            s.flow[source] = amount
            return 0, gain
        node, parent, change = source, sink, gain
    else:
        node, parent, change = sink, source, -gain
    return _reattach(lanes, n, node, parent, leaving, top, amount, s), change


@njit(**JIT_INLINE)
def _leaving_arc(source, sink, s):
    """The top of the cycle; the node whose arc to its parent leaves; the flow of that arc.

    The cycle goes from the top down to the source, over the entering arc, and from the sink up to
    the top. Flow shrinks where it meets an arc head-on: on the way down, between a source and the
    sink above it; on the way up, between a sink and the source above it. Returned last is whether
    the leaving arc is on the way down.
    """
    place = np.int64(s.place[sink])
    down, leaving_down, least_down = source, source, INFINITE
    while not 0 <= place - s.place[s.first[down]] < s.size[down]:
        if s.flow[down] < least_down:  # met last first: keep it if equal
            least_down, leaving_down = s.flow[down], down
        down = s.parent[down]
        if 0 <= place - s.place[down] < s.size[down]:
            break
        down = s.parent[down]
    up, leaving_up, least_up = sink, sink, INFINITE
    while up != down:
        if s.flow[up] <= least_up:
            least_up, leaving_up = s.flow[up], up
        up = s.parent[up]
        if up == down:
            break
        up = s.parent[up]
    if least_down < least_up:
        return down, leaving_down, least_down, True
    return down, leaving_up, least_up, False


@njit(**JIT_INLINE)
def _push_flow(node, top, amount, s):
    """Push flow round one side of the cycle: every other arc is met head-on."""
    while node != top:
        s.flow[node] -= amount
        node = s.parent[node]
        if node == top:
            return
        s.flow[node] += amount
        node = s.parent[node]


@njit(**JIT_INLINE)
def _begin(n, node, s):
    """The place of the first sink below a node that has any; a sink is below itself."""
    return np.int64(s.place[s.first[node]] if node < n else s.place[node])


@njit(**JIT_INLINE)
def _reattach(lanes, n, node, parent, last, top, flow, s):
    """Attach a node to a new parent; reverse the path from it up to the last node.

    Return how many sinks that moves: they begin the list ``s.moved``, in their new order.
    """
    begin, count = _begin(n, last, s), s.size[last]
    if parent < n and s.size[parent] > 0:
        front = _begin(n, parent, s)
        back = front + s.size[parent]
    else:  # below a sink, or below a source that has had none below it, but one above
        above = parent if parent >= n else s.parent[parent]
        front = np.int64(s.place[above]) + 1
        back = front - 1 + s.size[above]
    _take_away(n, last, begin, count, top, s)
    _reverse_path(lanes, n, node, parent, last, flow, s)
    if parent < n and (begin < back or s.size[parent] == 0):
        s.first[parent] = node
    while parent != top:
        s.size[parent] += count
        parent = s.parent[parent]
    if begin < front:
        for place in range(begin + count, front):
            _put(s.preorder[place], place - count, s)
        begin = front - count
    else:
        target = front if begin < back else back
        for place in range(begin - 1, target - 1, -1):
            _put(s.preorder[place], place + count, s)
        begin = target
    for at in range(count):
        _put(s.moved[at], begin + at, s)
    return count


@njit(**JIT_INLINE)
def _put(sink, place, s):
    s.preorder[place] = sink
    s.place[sink] = place


@njit(**JIT_INLINE)
def _take_away(n, last, begin, count, top, s):
    """Take a subtree away from the nodes above it, up to the top of the cycle."""
    above = s.parent[last]
    if above < n and s.first[above] == last and s.size[above] > count:
        s.first[above] = s.preorder[begin + count]
    while above != top:
        s.size[above] -= count
        above = s.parent[above]


@njit(**JIT_INLINE)
def _reverse_path(lanes, n, node, parent, last, flow, s):
    """Reverse the path from a node, which gets a new parent, up to the last node.

    The sinks below the last node come to ``s.moved`` as they are listed from now on: first those
    below the node, then those below its former parent that are not below the node, and so on.
    """
    count, listed = s.size[last], s.size[node]
    above, carried = s.parent[node], s.flow[node]
    begin = _begin(n, node, s)
    if listed == 0:  # a source: its former parent becomes its only child
        s.first[node] = above
        begin = np.int64(s.place[above]) + 1
    _copy(lanes, begin, begin + listed, 0, s)
    s.parent[node], s.flow[node], s.size[node] = parent, flow, count
    below, end, at = listed, begin + listed, listed
    while node != last:
        parent, node, flow = node, above, carried
        above, carried = s.parent[node], s.flow[node]
        start, size = _begin(n, node, s), s.size[node]
        listed = _copy(lanes, start, begin, at, s)
        listed = _copy(lanes, end, start + size, listed, s)
        s.parent[node], s.flow[node], s.size[node] = parent, flow, count - below
        if node < n:
            s.first[node] = s.moved[at] if listed > at else above
        below, begin, end, at = size, start, start + size, listed


@njit(**JIT_INLINE)
def _copy(lanes, begin, end, at, s):
    """Copy a piece of the list of sinks to ``s.moved``; return where it ends there.

    Whole vectors are copied, since most pieces are short; both lists are longer by one.
    """
    for place in range(begin, end, len(lanes)):
        store(s.moved, at + place - begin, load(lanes, s.preorder, place))
    return at + end - begin
