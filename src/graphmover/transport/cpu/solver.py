"""What all solvers share: the loop over pairs of graphs, and solving one at finer integer costs.

A solver brings

- ``make_state(lanes, memory, n, m)``, which returns its tables for problems of up to n sources and
  m sinks, among them ``supply`` and ``demand``: the large ones are rows of ``memory``
  (`memory.py`), the others are allocated;
- ``cost_bits(n, m)``, how many bits its integer costs may have;
- ``solve(lanes, problem, units, total, state)``, which returns the cost of an optimal flow, or NaN
  if it has given up, for another solver to take over.

The functions below put these together when they are compiled. What each solver's own module
defines is cached on disk, with all that is compiled into it, so these parts need no cache of their
own. Thin levels of calls are inlined before types are inferred.
"""

from __future__ import annotations

from collections import namedtuple
from math import isnan, nan

import numpy as np

from graphmover._utils.jit import JIT, JIT_NO_ALLOCATION, njit
from graphmover.transport.cpu.ground import cost_bound
from graphmover.transport.cpu.lanes import JIT_INLINE, bits, lowest_bit, smallest, splat_like, store
from graphmover.transport.cpu.problem import (
    SINKS,
    SOURCES,
    Pair,
    Problem,
    Sinks,
    equal_masses,
    finer_bound,
    further_node,
    in_blocks,
    largest,
    lay_out_sinks,
    units_per_cost,
)

_PART = {"cache": False}
_THIN_PART = {"cache": False, "inline": "always"}

Pairs = namedtuple(
    "Pairs",
    [
        "fewest",  # (graphs,) each graph of sinks is paired with graphs of at least this many
        "below",  # (graphs,) and fewer than this many sources; with none where the range is empty
        "given_up",  # only those that another solver has given up: their distance is NaN
    ],
)


def at_finer_costs(cost_bits, solve, least_bound):
    """Compose the distance of one problem: solve until integer costs are accurate enough.

    A bound of 0 on all costs makes the distance 0 without solving; ``least_bound`` prevents that
    where a flow is asked for.
    """

    @njit(**(JIT_NO_ALLOCATION | _THIN_PART))
    def distance(lanes, ground, pair, sinks, state):
        sources, first = pair.sources, pair.sources.offsets[pair.g]
        further = further_node(ground, pair)
        n = sources.offsets[pair.g + 1] - first + (further == SOURCES)
        problem = Problem(ground, sources.points, sources.labels, first, n, further, sinks)
        n_bits = cost_bits(n, sinks.m)
        bound = max(cost_bound(ground, pair), least_bound)
        found = 0.0
        while bound > 0:
            total, matched = equal_masses(ground, pair, state.supply, state.demand)
            units = units_per_cost(bound, n_bits)
            found = solve(lanes, problem, units, total, state) / matched
            if isnan(found):
                return nan
            bound = finer_bound(bound, found, matched, n_bits)
        return found

    return distance


def over_pairs(make_state, distance):
    """Compose what fills ``out`` with the distances of many pairs."""

    @njit(**(JIT_NO_ALLOCATION | _PART))
    def fill(lanes, pairs, ground, sources, sinks, swapped, buffers, state, out):
        for r in range(len(sinks.offsets) - 1):
            if pairs.fewest[r] >= pairs.below[r]:
                continue
            m = sinks.offsets[r + 1] - sinks.offsets[r]
            laid_out = Sinks(buffers.coordinates, buffers.labels, in_blocks(lanes, m), m)
            lay_out_sinks(lanes, sinks, r, laid_out)
            for g in range(len(sources.offsets) - 1):
                n = sources.offsets[g + 1] - sources.offsets[g]
                if n < pairs.fewest[r] or n >= pairs.below[r]:
                    continue
                row, column = (r, g) if swapped else (g, r)
                if pairs.given_up and not isnan(out[row, column]):
                    continue
                pair = Pair(sources, g, sinks, r)
                if ground.partial:  # whether there is a further sink depends on the pair
                    all_sinks = m + (further_node(ground, pair) == SINKS)
                    stride = in_blocks(lanes, all_sinks)
                    laid_out = Sinks(buffers.coordinates, buffers.labels, stride, all_sinks)
                    lay_out_sinks(lanes, sinks, r, laid_out)
                out[row, column] = distance(lanes, ground, pair, laid_out, state)

    @njit(**(JIT | _THIN_PART))
    def allocate_and_fill(lanes, memory, pairs, ground, sources, sinks, swapped, out):
        n = largest(sources.offsets) + ground.partial
        m = min(n, largest(sinks.offsets) + ground.partial)
        buffers = _empty_sinks(lanes, sinks, m)
        state = make_state(lanes, memory, n, m)
        fill(lanes, pairs, ground, sources, sinks, swapped, buffers, state, out)

    return allocate_and_fill


def for_plan(make_state, distance, write_flows):
    """Compose what fills ``out`` with the flows of one pair and returns its distance."""

    @njit(**(JIT | _THIN_PART))
    def plan(lanes, memory, ground, sources, sinks, out):
        n, m = out.shape
        laid_out = _empty_sinks(lanes, sinks, m)
        lay_out_sinks(lanes, sinks, 0, laid_out)
        state = make_state(lanes, memory, n, m)
        found = distance(lanes, ground, Pair(sources, 0, sinks, 0), laid_out, state)
        write_flows(laid_out.stride, state.supply.sum(), state, out)
        return found

    return plan


@njit(**JIT)
def _empty_sinks(lanes, side, m):
    """Memory for up to m sinks of a side."""
    stride = in_blocks(lanes, m)
    coordinates = np.empty(side.points.shape[1] * stride)
    return Sinks(coordinates, np.empty(side.labels.shape[1] * stride, np.int64), stride, m)


@njit(**JIT_INLINE)
def least_sink(lanes, least, where, blocks):
    """The sink of the least number of all lanes, each the least of ``blocks`` at ``where``."""
    store(blocks, 0, where)
    lane = lowest_bit(bits(least == splat_like(least, smallest(least))))
    return blocks[lane] + lane
