"""Exact transport between many small sets of points, on the CPU.

One problem: sources i with whole-number supplies a_i, sinks j with demands b_j of the same
total, costs C_ij; find flows F_ij >= 0 with these row and column sums that minimise
sum F_ij C_ij. The smaller side are the sinks: there are few of them (m <= n).

Method: successive shortest paths on the sinks alone. Every source starts with all its
supply at its cheapest sink, which is optimal but overfills some sinks and underfills
others. Mass at sink j can go to sink k by moving a source i that is at j, for
C_ik - C_ij; ``exit_cost[j, k]`` is the least of these over the sources at j, and
``mover[j, k]`` the source. A shortest path from the overfull sinks to the nearest underfull
one is found by Dijkstra's algorithm on m nodes, and as much mass as possible moves along it.

Why it is exact: prices v_j keep exit_cost[j, k] + v_j - v_k >= 0 for all j, k, which says
that every source is at sinks where C_ij - v_j is smallest: complementary slackness. The
start fulfils it with v = 0, and raising v by the path lengths found preserves it.

Why it ends: flows are whole numbers and every path moves at least one unit from an
overfull to an underfull sink. Rounding errors in the prices can make a length slightly
negative; lengths are clamped at zero, so they can cost accuracy of 1e-16 but no step.
"""

from __future__ import annotations

from collections import namedtuple
from math import sqrt

import numpy as np
from numba import njit

_options = {"nogil": True, "cache": True, "error_model": "numpy"}

#: Supplies and demands are scaled to a common total of at most this; above it, they are
#: rounded to multiples of 1 / _ROUNDED_TOTAL.
_LARGEST_TOTAL = 2**62
_ROUNDED_TOTAL = 2**52

Workspace = namedtuple(
    "Workspace",
    [
        "cost",  # (n, m) C: distance from source i to sink j
        "supply",  # (n,) a, scaled
        "demand",  # (m,) b, scaled to the same total
        "flow",  # (n, m) F
        "members",  # (m, n) the sources with flow at sink j, in no order
        "place",  # (m, n) where source i stands in members[j]
        "n_members",  # (m,)
        "excess",  # (m,) flow into sink j less its demand
        "price",  # (m,) v, the sinks' dual values
        "exit_cost",  # (m, m) cheapest move of one unit from sink j to sink k
        "mover",  # (m, m) the source that makes it
        "stale",  # (m,) whether row j of the two must be computed anew
        "length",  # (m,) shortest path from an overfull sink
        "parent",  # (m,) the sink before j on it, -1 at its start
        "settled",  # (m,) whether that length is final
    ],
)


@njit(**_options)
def distances(
    x_points, x_masses, x_offsets, x_labels, y_points, y_masses, y_offsets, y_labels, out
):
    """Fill ``out[i, j]`` with the distance between graph i of x and graph j of y.

    Labels are empty arrays when there are none. A graph without nodes is infinitely far.
    """
    x_most, y_most = _largest(x_offsets), _largest(y_offsets)
    work = _workspace(max(x_most, y_most), min(x_most, y_most))
    for i in range(len(x_offsets) - 1):
        x = slice(x_offsets[i], x_offsets[i + 1])
        for j in range(len(y_offsets) - 1):
            y = slice(y_offsets[j], y_offsets[j + 1])
            if x.stop == x.start or y.stop == y.start:
                out[i, j] = np.inf
            elif x.stop - x.start >= y.stop - y.start:
                out[i, j] = _distance(
                    x_points[x],
                    x_masses[x],
                    x_labels[x],
                    y_points[y],
                    y_masses[y],
                    y_labels[y],
                    work,
                )
            else:
                out[i, j] = _distance(
                    y_points[y],
                    y_masses[y],
                    y_labels[y],
                    x_points[x],
                    x_masses[x],
                    x_labels[x],
                    work,
                )


@njit(**_options)
def plan(x_points, x_masses, x_labels, y_points, y_masses, y_labels, out):
    """Fill ``out`` with the optimal flows from x to y as shares of all mass; return the cost."""
    n_x, n_y = out.shape
    work = _workspace(max(n_x, n_y), min(n_x, n_y))
    if n_x >= n_y:
        cost = _distance(x_points, x_masses, x_labels, y_points, y_masses, y_labels, work)
    else:
        cost = _distance(y_points, y_masses, y_labels, x_points, x_masses, x_labels, work)
    total = work.demand.sum()
    for i in range(n_x):
        for j in range(n_y):
            out[i, j] = (work.flow[i, j] if n_x >= n_y else work.flow[j, i]) / total
    return cost


@njit(**_options)
def ground_distances(x_points, x_labels, y_points, y_labels, out):
    """Distance of every node of x to every node of y.

    Euclidean; where labels differ, at least sqrt(d), the diameter of the unit cube.
    """
    n_dimensions = x_points.shape[1]
    diameter = sqrt(n_dimensions)
    labelled = len(x_labels) > 0
    for i in range(len(x_points)):
        for j in range(len(y_points)):
            total = 0.0
            for c in range(n_dimensions):
                difference = x_points[i, c] - y_points[j, c]
                total += difference * difference
            out[i, j] = sqrt(total)
            if labelled and x_labels[i] != y_labels[j]:
                out[i, j] = max(out[i, j], diameter)


@njit(**_options)
def _largest(offsets):
    largest = 0
    for i in range(len(offsets) - 1):
        largest = max(largest, offsets[i + 1] - offsets[i])
    return largest


@njit(**_options)
def _workspace(n, m):
    return Workspace(
        np.empty((n, m)),
        np.empty(n, np.int64),
        np.empty(m, np.int64),
        np.empty((n, m), np.int64),
        np.empty((m, n), np.int64),
        np.empty((m, n), np.int64),
        np.empty(m, np.int64),
        np.empty(m, np.int64),
        np.empty(m),
        np.empty((m, m)),
        np.empty((m, m), np.int64),
        np.empty(m, np.bool_),
        np.empty(m),
        np.empty(m, np.int64),
        np.empty(m, np.bool_),
    )


@njit(**_options)
def _distance(points, masses, labels, sink_points, sink_masses, sink_labels, work):
    n, m = len(points), len(sink_points)
    ground_distances(points, labels, sink_points, sink_labels, work.cost)
    total = _scale_to_common_total(masses, sink_masses, work)
    _start_at_cheapest_sinks(n, m, work)
    while True:
        target = _nearest_underfull_sink(m, work)
        if target < 0:
            break
        _move_along_path(target, m, work)
    return _total_cost(m, work) / total


@njit(**_options)
def _scale_to_common_total(masses, sink_masses, work):
    """Supplies and demands as whole numbers with the same sum, exactly where they fit."""
    here, there = masses.sum(), sink_masses.sum()
    divisor, rest = here, there
    while rest:
        divisor, rest = rest, divisor % rest
    if there // divisor <= _LARGEST_TOTAL // here:
        for i in range(len(masses)):
            work.supply[i] = masses[i] * (there // divisor)
        for j in range(len(sink_masses)):
            work.demand[j] = sink_masses[j] * (here // divisor)
        return here * (there // divisor)
    _round_to_total(masses, here, work.supply)
    _round_to_total(sink_masses, there, work.demand)
    return _ROUNDED_TOTAL


@njit(**_options)
def _round_to_total(masses, total, out):
    """Round the running sums, so that the sum of all is exact."""
    below, running = 0, 0
    for i in range(len(masses)):
        running += masses[i]
        upto = int(running / total * _ROUNDED_TOTAL)
        out[i] = upto - below
        below = upto


@njit(**_options)
def _start_at_cheapest_sinks(n, m, work):
    for j in range(m):
        work.n_members[j] = 0
        work.excess[j] = -work.demand[j]
        work.price[j] = 0.0
        work.stale[j] = True
    for i in range(n):
        cheapest = 0
        for j in range(m):
            work.flow[i, j] = 0
            if work.cost[i, j] < work.cost[i, cheapest]:
                cheapest = j
        if work.supply[i] > 0:
            _add_flow(i, cheapest, work.supply[i], work)
            work.excess[cheapest] += work.supply[i]


@njit(**_options)
def _add_flow(i, j, amount, work):
    if work.flow[i, j] == 0:
        work.members[j, work.n_members[j]] = i
        work.place[j, i] = work.n_members[j]
        work.n_members[j] += 1
    work.flow[i, j] += amount


@njit(**_options)
def _remove_flow(i, j, amount, work):
    work.flow[i, j] -= amount
    if work.flow[i, j] == 0:
        work.n_members[j] -= 1
        last = work.members[j, work.n_members[j]]
        work.members[j, work.place[j, i]] = last
        work.place[j, last] = work.place[j, i]
        work.stale[j] = True


@njit(**_options)
def _price_exits(j, m, work):
    """Compute row j of exit_cost and mover from the sources at sink j."""
    for k in range(m):
        work.exit_cost[j, k] = np.inf
    for t in range(work.n_members[j]):
        _offer_exits(work.members[j, t], j, m, work)
    work.stale[j] = False


@njit(**_options)
def _offer_exits(i, j, m, work):
    here = work.cost[i, j]
    for k in range(m):
        exit_cost = work.cost[i, k] - here
        if exit_cost < work.exit_cost[j, k]:
            work.exit_cost[j, k] = exit_cost
            work.mover[j, k] = i


@njit(**_options)
def _nearest_underfull_sink(m, work):
    """Dijkstra from all overfull sinks; returns where it ends, or -1 when none is overfull."""
    balanced = True
    for j in range(m):
        overfull = work.excess[j] > 0
        balanced = balanced and not overfull
        work.length[j] = 0.0 if overfull else np.inf
        work.parent[j] = -1
        work.settled[j] = False
    if balanced:
        return -1
    while True:
        j = -1
        for k in range(m):
            if not work.settled[k] and (j < 0 or work.length[k] < work.length[j]):
                j = k
        work.settled[j] = True
        if work.excess[j] < 0:
            break
        if work.stale[j]:
            _price_exits(j, m, work)
        for k in range(m):
            step = max(work.exit_cost[j, k] + work.price[j] - work.price[k], 0.0)
            if not work.settled[k] and work.length[j] + step < work.length[k]:
                work.length[k] = work.length[j] + step
                work.parent[k] = j
    for k in range(m):
        work.price[k] += min(work.length[k], work.length[j])
    return j


@njit(**_options)
def _move_along_path(target, m, work):
    amount = -work.excess[target]
    k = target
    while work.parent[k] >= 0:
        j = work.parent[k]
        amount = min(amount, work.flow[work.mover[j, k], j])
        k = j
    amount = min(amount, work.excess[k])
    work.excess[k] -= amount
    work.excess[target] += amount
    k = target
    while work.parent[k] >= 0:
        j = work.parent[k]
        i = work.mover[j, k]
        _remove_flow(i, j, amount, work)
        _add_flow(i, k, amount, work)
        if not work.stale[k]:
            _offer_exits(i, k, m, work)
        k = j


@njit(**_options)
def _total_cost(m, work):
    total = 0.0
    for j in range(m):
        for t in range(work.n_members[j]):
            i = work.members[j, t]
            total += work.flow[i, j] * work.cost[i, j]
    return total
