"""One transport problem as whole numbers: its sides, its costs, its masses.

`prepare` makes of a collection what all its problems share. Nodes of one graph with equal
point and label are merged into one, exactly; nodes without mass are dropped. They are put in
the order of a hash of their content, so that no result depends on how nodes were numbered,
and every second node is a fair sample.

Costs become whole multiples of a small part of the largest cost that can occur. So the
solvers need no tolerance; the distance itself is summed from the float64 costs. Where it is so
small that the unit matters, `finer_bound` tells a smaller largest cost, and it is solved again.
"""

from __future__ import annotations

from collections import namedtuple
from math import frexp, ldexp, sqrt

import numpy as np
from numba import njit

from graphmover._utils.hashing import GOLDEN
from graphmover._utils.jit import JIT_NO_ALLOCATION
from graphmover._utils.segments import offsets_from_counts
from graphmover.transport.cpu.lanes import (
    load,
    numbers,
    select,
    splat,
    square_root,
    store,
    truncate,
)

#: Costs and prices are below 2**60, the sum of any two of them below INFINITE.
#: The cost to a sink that is only padding: above every cost, below every sum of two.
FORBIDDEN = 1 << 61
#: Above every cost and every path's length.
INFINITE = 1 << 62

#: Masses are scaled to a common total of at most LARGEST_TOTAL, exactly; only where that is not
#: possible are they rounded to multiples of 1 / ROUNDED_TOTAL of the whole.
LARGEST_TOTAL = 1 << 62
ROUNDED_TOTAL = 1 << 53

#: The relative error that whole costs may bring into a distance.
ACCURACY = 1e-10

Side = namedtuple(
    "Side",
    [
        "points",  # (nodes, d)
        "masses",  # (nodes,) positive whole numbers
        "offsets",  # (graphs + 1,) the nodes of a graph are offsets[g] to offsets[g + 1]
        "labels",  # (nodes,) or empty
        "low",  # (graphs, d) the smallest coordinates of a graph
        "high",  # (graphs, d) the largest
        "totals",  # (graphs,) the mass of a graph
    ],
)

Pairs = namedtuple(
    "Pairs",
    [
        "fewest",  # (graphs,) each graph of sinks goes with graphs of no fewer sources
        "below",  # (graphs,) and of fewer than these; where they are no more, with none
    ],
)


def prepare(points, masses, offsets, labels):
    """Merge equal nodes, drop nodes without mass, order by content."""
    graphs = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    kept = slice(offsets[0], offsets[-1])
    heavy = np.flatnonzero(masses[kept] > 0)
    points = points[kept][heavy] + 0.0  # no negative zeros
    masses, graphs = masses[kept][heavy], graphs[heavy]
    labels = labels[kept][heavy] if len(labels) else labels
    order = np.lexsort((_content_codes(points, labels), graphs))
    points, masses, graphs = points[order], masses[order], graphs[order]
    labels = labels[order] if len(labels) else labels
    first = np.ones(len(order), bool)
    first[1:] = (graphs[1:] != graphs[:-1]) | (points[1:] != points[:-1]).any(axis=1)
    if len(labels):
        first[1:] |= labels[1:] != labels[:-1]
    starts = np.flatnonzero(first)
    masses = np.add.reduceat(masses, starts) if len(starts) else masses
    points, labels = points[starts], labels[starts] if len(labels) else labels
    return _side(points, masses, np.bincount(graphs[starts], minlength=len(offsets) - 1), labels)


def prepare_one(points, masses, labels):
    """One graph, its nodes kept apart and in their order; all must have mass."""
    return _side(points, masses, np.array([len(points)]), labels)


def _side(points, masses, sizes, labels):
    offsets = offsets_from_counts(sizes)
    filled = np.flatnonzero(sizes)
    low, high = np.zeros((2, len(sizes), points.shape[1]))
    totals = np.zeros(len(sizes), np.int64)
    if len(filled):
        low[filled] = np.minimum.reduceat(points, offsets[filled])
        high[filled] = np.maximum.reduceat(points, offsets[filled])
        totals[filled] = np.add.reduceat(masses, offsets[filled])
    return Side(np.ascontiguousarray(points), masses, offsets, labels, low, high, totals)


def _content_codes(points, labels):
    """A 64-bit hash of each node. Two nodes that share one are merely not merged."""
    code = labels.astype(np.uint64) if len(labels) else np.zeros(len(points), np.uint64)
    for column in np.ascontiguousarray(points.T).view(np.uint64):
        code = (code ^ column) * GOLDEN
        code ^= code >> np.uint64(32)
    return code


@njit(**JIT_NO_ALLOCATION)
def largest(offsets):
    """The number of nodes of the largest graph."""
    most = 0
    for g in range(len(offsets) - 1):
        most = max(most, offsets[g + 1] - offsets[g])
    return most


@njit(**JIT_NO_ALLOCATION)
def number_of_bits(count):
    """How many bits it takes to number so many things from 0."""
    n_bits = 0
    while count > 1 << n_bits:
        n_bits += 1
    return n_bits


@njit(**JIT_NO_ALLOCATION)
def in_blocks(lanes, m):
    """The number of sinks, rounded up to whole blocks of lanes."""
    return (m + len(lanes) - 1) // len(lanes) * len(lanes)


def over_pairs(distance):
    """Make of a solver's ``distance`` of one pair what fills the places of many: the only loop."""

    @njit(**(JIT_NO_ALLOCATION | {"cache": False}))  # it is cached as a part of the solver
    def solve(lanes, pairs, sources, sinks, swapped, state, out):
        for r in range(len(sinks.offsets) - 1):
            if pairs.fewest[r] >= pairs.below[r]:
                continue
            stride = in_blocks(lanes, sinks.offsets[r + 1] - sinks.offsets[r])
            transpose_sinks(sinks, r, stride, state.coordinates, state.sink_labels)
            for g in range(len(sources.offsets) - 1):
                n = sources.offsets[g + 1] - sources.offsets[g]
                if n < pairs.fewest[r] or n >= pairs.below[r]:
                    continue
                found = distance(lanes, sources, g, sinks, r, state)
                if swapped:
                    out[r, g] = found
                else:
                    out[g, r] = found

    return solve


@njit(**JIT_NO_ALLOCATION)
def label_distance(side):
    """How far apart nodes with different labels are at least; 0 without labels."""
    return sqrt(side.points.shape[1]) if len(side.labels) else 0.0


@njit(**JIT_NO_ALLOCATION)
def cost_bound(sources, g, sinks, r):
    """No cost between two graphs is larger: the diagonal of the box around both."""
    square = 0.0
    for c in range(sources.low.shape[1]):
        reach = max(sources.high[g, c] - sinks.low[r, c], sinks.high[r, c] - sources.low[g, c])
        square += reach * reach
    return max(sqrt(square), label_distance(sources))


@njit(**JIT_NO_ALLOCATION)
def units_per_cost(bound, cost_bits):
    """A power of two that brings every cost up to the bound below 2**cost_bits."""
    return ldexp(1.0, min(max(cost_bits - frexp(bound * 1.000001)[1], -900), 900))


@njit(**JIT_NO_ALLOCATION)
def finer_bound(bound, distance, total, cost_bits):
    """A lower bound on costs to solve again with, or 0 when the distance is accurate.

    A source that carries one of ``total`` units over an arc dearer than distance * total would
    alone cost more than the distance found: such arcs may be cut to that cost.
    """
    dearest = distance * total
    accurate = ldexp(bound, 1 - cost_bits) <= ACCURACY * distance
    return 0.0 if accurate or dearest * 2 >= bound else dearest


@njit(**JIT_NO_ALLOCATION)
def transpose_sinks(sinks, r, stride, coordinates, labels):
    """The sinks' coordinates, one row per dimension, padded to the stride, and their labels."""
    first, last = sinks.offsets[r], sinks.offsets[r + 1]
    for k in range(stride):
        for c in range(sinks.points.shape[1]):
            coordinates[c * stride + k] = sinks.points[first + k, c] if first + k < last else 0.0
        if len(sinks.labels):
            labels[k] = sinks.labels[first + k] if first + k < last else 0


@njit(**JIT_NO_ALLOCATION)
def ground_distances(
    lanes,
    sources,
    i,
    stop,
    step,
    coordinates,
    sink_labels,
    stride,
    block,
    m,
    units,
    cost_bits,
    low_bits,
    cost,
    whole,
    cell,
):
    """The ground distances of the nodes i to stop to one block of sinks: the only place.

    Euclidean; where labels differ, at least sqrt(d), the diameter of the unit cube. ``cost``
    takes it as it is, ``whole`` as whole units below 2**cost_bits, with low bits below them, each
    in rows from ``cell`` on; of m sinks the lanes beyond are forbidden.
    """
    apart = label_distance(sources)
    padding = splat(lanes, m - 1 - block) < numbers(lanes)
    most = splat(lanes, ldexp(1.0, cost_bits))
    while i < stop:
        square = splat(lanes, 0.0)
        for c in range(sources.points.shape[1]):
            difference = splat(lanes, sources.points[i, c]) - load(
                lanes, coordinates, c * stride + block
            )
            square = square + difference * difference
        distance = square_root(square)
        if len(sources.labels):
            same = load(lanes, sink_labels, block) == splat(lanes, sources.labels[i])
            least = select(same, splat(lanes, 0.0), splat(lanes, apart))
            distance = select(distance < least, least, distance)
        store(cost, cell, distance)
        scaled = distance * splat(lanes, units)
        scaled = select(scaled < most, scaled, most)
        shifted = truncate(scaled) * splat(lanes, 1 << low_bits)
        store(whole, cell, select(padding, splat(lanes, FORBIDDEN), shifted))
        cell += stride
        i += step


@njit(**JIT_NO_ALLOCATION)
def scale_to_common_total(sources, g, sinks, r, supply, demand):
    """Supplies and demands as whole numbers of the same total, which is returned."""
    here, there = sources.totals[g], sinks.totals[r]
    divisor, rest = here, there
    while rest:
        divisor, rest = rest, divisor % rest
    exact = there // divisor <= LARGEST_TOTAL // here
    total = here * (there // divisor) if exact else ROUNDED_TOTAL
    _scale(sources.masses, sources.offsets[g], sources.offsets[g + 1], here, total, exact, supply)
    _scale(sinks.masses, sinks.offsets[r], sinks.offsets[r + 1], there, total, exact, demand)
    return total


@njit(**JIT_NO_ALLOCATION)
def _scale(masses, first, last, mass, total, exact, out):
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
