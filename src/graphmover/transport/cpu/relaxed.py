"""Lower bounds on the distances of pairs of graphs, for the price of their costs alone.

Prices u of the nodes of one graph and v of those of the other, with u_i + v_j <= C_ij for each pair
of nodes, bound the distance from below: it is at least sum_i a_i u_i + sum_j b_j v_j (weak
duality). Three choices, none of which needs more than a minimum over rows or columns of the costs:

- All of one kind are 0: each node's mass moves to the nearest node of the other graph, the relaxed
  problem of the word mover's distance (Kusner et al. 2015), in both directions.
- From there, the other prices are raised as far as they can be, as the first steps of an assignment
  by the Hungarian method do (Jonker and Volgenant 1987).
- The same from half of the prices v_j = min_i C_ij, which shares what two nodes save between them.

A pair is done as soon as one of them is beyond its limit.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.compiling import notify_if_compiling
from graphmover._utils.jit import JIT, JIT_NO_ALLOCATION, njit
from graphmover.transport.cpu.ground import Rule, distances_to_sinks
from graphmover.transport.cpu.lanes import JIT_INLINE, load, numbers, select, splat, store
from graphmover.transport.cpu.problem import (
    NEITHER,
    Problem,
    Side,
    Sinks,
    in_blocks,
    largest,
    lay_out_sinks,
)
from graphmover.transport.ground import GroundDistance, default_ground_distance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The vector width.
_LANES = (0,) * 8

#: Above every cost.
_FAR = 1e300

#: Differences of costs are rounded by less than this, relative to the largest.
_ROUNDING = 1e-14

Tables = namedtuple(
    "Tables",
    [
        "cost",  # (n * stride,) C_ij between the nodes of y, row by row, and those of x
        "supply",  # (n,) shares of mass of y's nodes
        "demand",  # (stride,) of x's; 0 for padding
        "nearest",  # (stride,) prices of columns to start from: min_i C_ij, or half of it
        "start",  # (n,) prices of rows to start from: min_j C_ij
        "row_price",  # (n,) u_i
        "column_price",  # (stride,) v_j
        "lane",  # (W,) a vector
    ],
)


def relaxed_distances(
    x: Side, y: Side, rows: Ints, columns: Ints, ground: GroundDistance | None, most: Floats
) -> Floats:
    """Return lower bounds on the distances of graphs ``rows`` of x to graphs ``columns`` of y.

    Masses are shares. Where a bound exceeds ``most``, it need not be the largest that there is. A
    graph without nodes is infinitely far. ``rows`` do not decrease.
    """
    ground = ground or default_ground_distance(x.points.shape[1])
    rule = Rule(ground.floor, ground.per_label, False)
    out = np.empty(len(rows))
    arguments = (_LANES, rule, x, y, rows, columns, most, out)
    if getattr(_fill_bounds, "signatures", False):
        _fill_bounds(*arguments)
    else:  # not loaded yet
        with notify_if_compiling(_fill_bounds, "bounds on distances"):
            _fill_bounds(*arguments)
    return out


@njit(**JIT)
def _fill_bounds(lanes, rule, x, y, rows, columns, most, out):  # type: ignore[no-untyped-def]
    """The nodes of x, in vectors, are the columns of costs; those of y are the rows."""
    n, m = largest(y.offsets), in_blocks(lanes, largest(x.offsets))
    coordinates = np.empty(x.points.shape[1] * m)
    labels = np.empty(x.labels.shape[1] * m, np.int64)
    tables = Tables(
        np.empty(n * m), np.empty(n), np.empty(m), np.empty(m), np.empty(n), np.empty(n),
        np.empty(m), np.empty(len(lanes)),
    )  # fmt: skip
    row, laid_out = -1, Sinks(coordinates, labels, 0, 0)
    for t in range(len(rows)):
        if rows[t] != row:
            row = rows[t]
            here = x.offsets[row + 1] - x.offsets[row]
            laid_out = Sinks(coordinates, labels, in_blocks(lanes, here), here)
            _lay_out(lanes, x, row, laid_out, tables)
        first, last = y.offsets[columns[t]], y.offsets[columns[t] + 1]
        if not laid_out.m or first == last:
            out[t] = np.inf
            continue
        for i in range(last - first):
            tables.supply[i] = y.masses[first + i] / y.totals[columns[t]]
        problem = Problem(rule, y.points, y.labels, first, last - first, NEITHER, laid_out)
        out[t] = _bound(lanes, problem, most[t], tables)


@njit(**JIT_NO_ALLOCATION)
def _lay_out(lanes, x, graph, laid_out, s):  # type: ignore[no-untyped-def]
    lay_out_sinks(lanes, x, graph, laid_out)
    for j in range(laid_out.stride):
        mass = x.masses[x.offsets[graph] + j] if j < laid_out.m else 0
        s.demand[j] = mass / x.totals[graph]


@njit(**JIT_NO_ALLOCATION)
def _bound(lanes, p, most, s):  # type: ignore[no-untyped-def]
    """Return a lower bound, the first one beyond ``most`` or the best."""
    n, stride = p.n, p.sinks.stride
    for j in range(stride):
        s.nearest[j] = _FAR
    moved = 0.0
    for i in range(n):
        s.start[i] = _fill_row(lanes, p, i, s)
        moved += s.start[i] * s.supply[i]
        if moved > most:
            return moved
    for j in range(p.sinks.m, stride):
        s.nearest[j] = 0.0
    back = _dot(s.demand, s.nearest, stride)
    if back > most:
        return back
    slack = 0.0  # of the differences below, which are rounded
    for i in range(n):
        slack = max(slack, _ROUNDING * s.start[i])
    for j in range(stride):
        slack = max(slack, _ROUNDING * s.nearest[j])
    _raise_columns(lanes, n, stride, s.start, s)
    best = max(back, moved, moved + _dot(s.demand, s.column_price, stride) - slack)
    if best > most:
        return best
    best = max(best, _from_columns(lanes, n, stride, s) - slack)
    if best > most:
        return best
    for j in range(stride):
        s.nearest[j] *= 0.5
    return max(best, _from_columns(lanes, n, stride, s) - slack)


@njit(**JIT_INLINE)
def _fill_row(lanes, p, i, s):  # type: ignore[no-untyped-def]
    """Fill the costs of one node of y; return the least of them, and lower those of columns."""
    stride, far = p.sinks.stride, splat(lanes, _FAR)
    least = far
    for block in range(0, stride, len(lanes)):
        cost = distances_to_sinks(lanes, p, p.first + i, p.sinks, block)
        padding = splat(lanes, p.sinks.m - 1 - block) < numbers(lanes)
        cost = select(padding, far, cost)
        store(s.cost, i * stride + block, cost)
        least = _smaller(cost, least)
        store(s.nearest, block, _smaller(cost, load(lanes, s.nearest, block)))
    return _smallest(lanes, least, s)


@njit(**JIT_NO_ALLOCATION)
def _from_columns(lanes, n, stride, s):  # type: ignore[no-untyped-def]
    """Return the bound from prices ``nearest``: first rows are raised, and then columns."""
    value = 0.0
    for i in range(n):
        least = splat(lanes, _FAR)
        for block in range(0, stride, len(lanes)):
            left = load(lanes, s.cost, i * stride + block) - load(lanes, s.nearest, block)
            least = _smaller(left, least)
        s.row_price[i] = _smallest(lanes, least, s)
        value += s.row_price[i] * s.supply[i]
    _raise_columns(lanes, n, stride, s.row_price, s)
    return value + _dot(s.demand, s.column_price, stride)


@njit(**JIT_NO_ALLOCATION)
def _raise_columns(lanes, n, stride, row_price, s):  # type: ignore[no-untyped-def]
    """Raise the prices of columns as far as those of rows let them."""
    for block in range(0, stride, len(lanes)):
        least = splat(lanes, _FAR)
        for i in range(n):
            left = load(lanes, s.cost, i * stride + block) - splat(lanes, row_price[i])
            least = _smaller(left, least)
        store(s.column_price, block, least)


@njit(**JIT_INLINE)
def _smaller(a, b):  # type: ignore[no-untyped-def]
    return select(a < b, a, b)


@njit(**JIT_INLINE)
def _smallest(lanes, numbers, s):  # type: ignore[no-untyped-def]
    """The smallest of all lanes."""
    store(s.lane, 0, numbers)
    least = s.lane[0]
    for lane in range(1, len(lanes)):
        least = min(least, s.lane[lane])
    return least


@njit(**JIT_NO_ALLOCATION)
def _dot(a, b, n):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(n):
        total += a[j] * b[j]
    return total
