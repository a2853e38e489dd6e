"""One transport problem in integers: its two sides, its masses, its costs.

Costs become integers: multiples of a small fraction of the largest cost that can occur. So the
solvers need no tolerance; the distance itself is summed from the float64 costs. Where it is so
small that this rounding matters, `finer_bound` returns a smaller largest cost to solve again with.

By counts, masses stay as they are, and the side that has less gets a further node, its last, that
makes up the difference at no cost to anyone. So as much mass is matched as there is on both sides.
"""

from __future__ import annotations

from collections import namedtuple
from math import frexp, ldexp

import numpy as np
from numba.extending import overload

from graphmover._utils.jit import JIT_NO_ALLOCATION, njit
from graphmover._utils.segments import offsets_from_counts, ranges, segment_numbers
from graphmover.transport.cpu.ground import distances_to_sinks
from graphmover.transport.cpu.lanes import (
    JIT_INLINE,
    nearest_integer,
    numbers,
    select,
    splat,
    store,
)
from graphmover.transport.side import (
    MAX_COMMON_TOTAL,
    ROUNDED_TOTAL,
    label_columns,
    merge_nodes,
)

#: Costs and prices are below 2**60, so the sum of any two of them is below INFINITE.
#: The cost to a sink that is only padding: above every cost, below every sum of two.
FORBIDDEN = 1 << 61
#: Above every cost and every path length.
INFINITE = 1 << 62

#: Which side has a further node that makes up the difference of masses.
NEITHER, SOURCES, SINKS = 0, 1, 2

#: Costs are computed from at most this many sources at a time: what they are computed from stays in
#: the fastest cache.
AT_A_TIME = 64

#: The relative error that integer costs may bring into a distance.
ACCURACY = 1e-10

Side = namedtuple(
    "Side",
    [
        "points",  # (nodes, d)
        "masses",  # (nodes,) positive integers
        "offsets",  # (graphs + 1,) the nodes of graph g are offsets[g] to offsets[g + 1]
        "labels",  # (nodes, k)
        "low",  # (graphs, d) the smallest coordinates of a graph
        "high",  # (graphs, d) the largest
        "totals",  # (graphs,) the mass of a graph
    ],
)

Sinks = namedtuple(
    "Sinks",
    [
        "coordinates",  # (d * stride,) block by block a row per dimension, padded with zeros
        "labels",  # (k * stride,) block by block a row per label column, likewise
        "stride",  # the length of a row of costs: m, rounded up to whole vectors
        "m",  # number of sinks, with a further one
    ],
)

Pair = namedtuple(
    "Pair",
    [
        "sources",  # Side of the sources
        "g",  # the graph among them
        "sinks",  # Side of the sinks
        "r",  # the graph among them
    ],
)

#: What a solver sees of a pair. It is passed by value from step to step, so it holds no more.
Problem = namedtuple(
    "Problem",
    [
        "ground",  # Rule
        "points",  # (nodes, d) of the sources' side
        "labels",  # (nodes, k) likewise
        "first",  # the first source among these nodes
        "n",  # number of sources, with a further one
        "further",  # the side with a further node
        "sinks",  # Sinks
    ],
)

Scaling = namedtuple(
    "Scaling",
    [
        "units",  # how many units of integer cost make up a distance of 1: a power of two
        "cost_bits",  # integer costs are at most 2**cost_bits
        "low_bits",  # and have this many zero bits below them
    ],
)

Costs = namedtuple(
    "Costs",
    [
        "real",  # (n * stride,) C_ij as float64
        "integer",  # (n * stride,) C_ij as integers
    ],
)


def prepare(points, masses, offsets, labels):
    """Merge equal nodes, drop nodes without mass, order by content."""
    kept = slice(offsets[0], offsets[-1])
    labels = label_columns(np, labels, len(points))
    nodes = merge_nodes(
        np,
        points[kept],
        masses[kept],
        labels[kept],
        segment_numbers(offsets),
        len(offsets) - 1,
    )
    return _side(nodes.points, nodes.masses, nodes.offsets, nodes.labels)


def prepare_one(points, masses, labels):
    """One graph, its nodes neither merged nor reordered; all must have mass."""
    offsets = offsets_from_counts([len(points)])
    return _side(points, masses, offsets, label_columns(np, labels, len(points)))


def _side(points, masses, offsets, labels):
    filled = np.flatnonzero(np.diff(offsets))
    low, high = np.zeros((2, len(offsets) - 1, points.shape[1]))
    totals = np.zeros(len(offsets) - 1, np.int64)
    if len(filled):
        low[filled] = np.minimum.reduceat(points, offsets[filled])
        high[filled] = np.maximum.reduceat(points, offsets[filled])
        totals[filled] = np.add.reduceat(masses, offsets[filled])
    points, labels = np.ascontiguousarray(points), np.ascontiguousarray(labels)
    return Side(points, masses, offsets, labels, low, high, totals)


def selected(side, graphs):
    """Some graphs of a side, in this order."""
    counts = side.offsets[graphs + 1] - side.offsets[graphs]
    nodes = ranges(side.offsets[graphs], counts)
    return Side(
        side.points[nodes],
        side.masses[nodes],
        offsets_from_counts(counts),
        side.labels[nodes],
        side.low[graphs],
        side.high[graphs],
        side.totals[graphs],
    )


@njit(**JIT_NO_ALLOCATION)
def largest(offsets):
    """The number of nodes of the largest graph."""
    most = 0
    for g in range(len(offsets) - 1):
        most = max(most, offsets[g + 1] - offsets[g])
    return most


@njit(**JIT_NO_ALLOCATION)
def number_of_bits(count):
    """How many bits it takes to number this many things from 0."""
    n_bits = 0
    while count > 1 << n_bits:
        n_bits += 1
    return n_bits


@njit(**JIT_NO_ALLOCATION)
def in_blocks(lanes, m):
    """The number of sinks, rounded up to whole vectors."""
    return (m + len(lanes) - 1) // len(lanes) * len(lanes)


@njit(**JIT_NO_ALLOCATION)
def lay_out_sinks(lanes, side, r, sinks):
    """Transpose the points and labels of graph r, block by block, into ``sinks``."""
    width, first = len(_part(lanes)), side.offsets[r]
    d, k = side.points.shape[1], side.labels.shape[1]
    for j in range(sinks.stride):
        real, lane = first + j < side.offsets[r + 1], j % width
        for c in range(d):
            at = (j - lane) * d + c * width + lane
            sinks.coordinates[at] = side.points[first + j, c] if real else 0.0
        for c in range(k):
            at = (j - lane) * k + c * width + lane
            sinks.labels[at] = side.labels[first + j, c] if real else 0


@njit(**JIT_NO_ALLOCATION)
def units_per_cost(bound, cost_bits):
    """A power of two that brings every cost up to the bound below 2**cost_bits."""
    return ldexp(1.0, min(max(cost_bits - frexp(bound * 1.000001)[1], -900), 900))


@njit(**JIT_NO_ALLOCATION)
def finer_bound(bound, distance, total, cost_bits):
    """A smaller bound on costs to solve again with, or 0 when the distance is accurate.

    An arc dearer than distance * total that carried one of ``total`` units would alone cost more
    than the distance found: the costs of such arcs may be cut to that.
    """
    dearest = distance * total
    accurate = ldexp(bound, 1 - cost_bits) <= ACCURACY * distance
    return 0.0 if accurate or dearest * 2 >= bound else dearest


def _part(lanes):
    """As many lanes as costs are computed to at a time: all, or 16 where they are many.

    Then fewer are wasted on padding.
    """


@overload(_part)
def _(lanes):
    width = lanes.count if lanes.count <= 32 else 16
    return lambda lanes: lanes[:width]


@njit(**JIT_NO_ALLOCATION)
def fill_costs(lanes, p, nodes, sinks, scaling, costs, cell):
    """Fill the costs from a range of nodes to all sinks, in rows from ``cell`` on."""
    part = _part(lanes)
    for block in range(0, sinks.stride, len(part)):
        if block < sinks.m:
            _fill_block(part, p, nodes, sinks, block, scaling, costs, cell + block)
        else:
            _forbid_block(part, len(nodes), sinks.stride, costs, cell + block)


@njit(**JIT_INLINE)
def _fill_block(lanes, p, nodes, sinks, block, scaling, costs, cell):
    """Fill the costs from a range of nodes to one block of sinks. Padding is forbidden."""
    padding = splat(lanes, sinks.m - 1 - block) < numbers(lanes)
    most = splat(lanes, ldexp(1.0, scaling.cost_bits))
    first, known = cell, p.first + p.n - (p.further == SOURCES)
    for i in range(nodes.start, min(nodes.stop, known), nodes.step):
        distance = distances_to_sinks(lanes, p, i, sinks, block)
        store(costs.real, cell, distance)
        scaled = distance * splat(lanes, scaling.units)
        scaled = select(scaled < most, scaled, most)
        integer = nearest_integer(scaled) << splat(lanes, scaling.low_bits)
        store(costs.integer, cell, select(padding, splat(lanes, FORBIDDEN), integer))
        cell += sinks.stride
    if cell < first + len(nodes) * sinks.stride:  # a further source is among them
        store(costs.real, cell, splat(lanes, 0.0))
        store(costs.integer, cell, select(padding, splat(lanes, FORBIDDEN), splat(lanes, 0)))
    if p.further == SINKS and sinks.m - 1 < block + len(lanes):
        for row in range(len(nodes)):
            costs.real[first + row * sinks.stride + sinks.m - 1 - block] = 0.0
            costs.integer[first + row * sinks.stride + sinks.m - 1 - block] = 0


@njit(**JIT_INLINE)
def _forbid_block(lanes, n_rows, stride, costs, cell):
    for row in range(n_rows):
        store(costs.integer, cell + row * stride, splat(lanes, FORBIDDEN))


@njit(**JIT_NO_ALLOCATION)
def fill_all_costs(lanes, p, scaling, costs):
    """Fill the costs from all sources to all sinks, of some sources at a time."""
    for i in range(0, p.n, AT_A_TIME):
        nodes = range(p.first + i, p.first + min(i + AT_A_TIME, p.n))
        fill_costs(lanes, p, nodes, p.sinks, scaling, costs, i * p.sinks.stride)


@njit(**JIT_INLINE)
def further_node(ground, pair):
    """Which side has a further node: by counts, the one with less mass."""
    here, there = pair.sources.totals[pair.g], pair.sinks.totals[pair.r]
    if not ground.partial or here == there:
        return NEITHER
    return SOURCES if here < there else SINKS


@njit(**JIT_NO_ALLOCATION)
def scale_masses(masses, first, last, mass, total, exact, out):
    """Where it is not exact, one unit for every node, the rest by rounded running sums.

    So no mass vanishes, and their sum is exact.
    """
    below, running, rest = 0, 0, total - (last - first)
    for i in range(first, last):
        if exact:
            out[i - first] = masses[i] * (total // mass)
        else:
            running += masses[i]
            upto = int(running / mass * rest)
            out[i - first] = 1 + upto - below
            below = upto


@njit(**JIT_INLINE)
def equal_masses(ground, pair, supply, demand):
    """Supplies and demands as integers with the same total; it, and what of it is matched."""
    if not ground.partial:
        total = _scale_to_common_total(pair, supply, demand)
        return total, total
    sources, g, sinks, r = pair
    here, there = sources.totals[g], sinks.totals[r]
    first, last = sources.offsets[g], sources.offsets[g + 1]
    scale_masses(sources.masses, first, last, here, here, True, supply)
    if here < there:
        supply[last - first] = there - here
    first, last = sinks.offsets[r], sinks.offsets[r + 1]
    scale_masses(sinks.masses, first, last, there, there, True, demand)
    if here > there:
        demand[last - first] = here - there
    return max(here, there), min(here, there)


@njit(**JIT_INLINE)
def _scale_to_common_total(pair, supply, demand):
    """Supplies and demands as integers with the same total, which is returned."""
    here, there = pair.sources.totals[pair.g], pair.sinks.totals[pair.r]
    divisor, rest = here, there
    while rest:
        divisor, rest = rest, divisor % rest
    exact = there // divisor <= MAX_COMMON_TOTAL // here
    total = here * (there // divisor) if exact else ROUNDED_TOTAL
    sources, g, sinks, r = pair
    scale_masses(
        sources.masses, sources.offsets[g], sources.offsets[g + 1], here, total, exact, supply
    )
    scale_masses(sinks.masses, sinks.offsets[r], sinks.offsets[r + 1], there, total, exact, demand)
    return total
