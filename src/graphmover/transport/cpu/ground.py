"""The ground distance of `transport/ground.py` on the CPU: to a vector of sinks, and its bound."""

from __future__ import annotations

from collections import namedtuple
from math import sqrt

from graphmover._utils.jit import njit
from graphmover.transport.cpu.lanes import (
    JIT_INLINE,
    load,
    multiply_add,
    select,
    splat,
    square_root,
)

#: What the kernels need of a `GroundDistance`: one type, whether transport is partial or not.
Rule = namedtuple("Rule", ["floor", "per_label", "partial"])


@njit(**JIT_INLINE)
def distances_to_sinks(lanes, p, i, sinks, block):
    """The distances of node i to one block of sinks."""
    square, d = splat(lanes, 0.0), p.points.shape[1]
    for c in range(d):
        here = splat(lanes, p.points[i, c])
        difference = here - load(lanes, sinks.coordinates, block * d + c * len(lanes))
        square = multiply_add(difference, difference, square)
    distance = square_root(square)
    n_labels, zero = p.labels.shape[1], splat(lanes, 0.0)
    if n_labels and p.ground.floor > 0:
        floor = zero
        for c in range(n_labels):
            same = _have_label(lanes, p, i, c, sinks, block)
            floor = select(same, floor, splat(lanes, p.ground.floor))
        distance = select(distance < floor, floor, distance)
    if n_labels and p.ground.per_label > 0:
        differing = zero
        for c in range(n_labels):
            same = _have_label(lanes, p, i, c, sinks, block)
            differing = differing + select(same, zero, splat(lanes, 1.0))
        distance = distance + differing * splat(lanes, p.ground.per_label)
    return distance


@njit(**JIT_INLINE)
def _have_label(lanes, p, i, c, sinks, block):
    """The sinks that have the label of node i in column c."""
    label, n_labels = p.labels[i, c], p.labels.shape[1]
    return load(lanes, sinks.labels, block * n_labels + c * len(lanes)) == splat(lanes, label)


@njit(**JIT_INLINE)
def cost_bound(ground, pair):
    """An upper bound on all costs between two graphs.

    The diagonal of the box around both, with all labels different.
    """
    sources, g, sinks, r = pair
    square = 0.0
    for c in range(sources.low.shape[1]):
        reach = max(sources.high[g, c] - sinks.low[r, c], sinks.high[r, c] - sources.low[g, c])
        square += reach * reach
    differing = sources.labels.shape[1]
    floor = ground.floor if differing else 0.0
    return max(sqrt(square), floor) + differing * ground.per_label
