"""Lower bounds on the earth mover's distance that cost a few nanoseconds for a pair of graphs.

All masses are shares, and a ground distance is `GroundDistance` (`transport/ground.py`):

    max(||x - y||, floor if a label differs) + per_label * (number of labels that differ)

- **Pivots.** The triangle inequality: |E(x, r) - E(y, r)| for each random graph r.
- **Quantiles.** Points that move by z on average move by at least |z_c| along each coordinate c,
  so the Euclidean norm of the distances W_c between the projections to single coordinates is a
  bound. W_c is the L1 distance of two quantile functions, and at least that of their means over
  intervals of equal mass. With one interval this is the distance of the centroids.
- **Labels.** What moving labels alone costs has a closed form if columns refine each other
  (`transport/tree/`), as they do here. The least cost of a sum is at least the sum of the least
  costs, so it is added to the bound of the points; with a floor, the larger counts.

Slack. Distances are exact to a relative 1e-10 and sums are rounded, so each bound is lowered by
more than that: rounding never excludes a graph.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.jit import JIT, njit
from graphmover._utils.parallel import for_each_chunk
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.transport.ground import GroundDistance

Floats = NDArray[np.float64]

#: How many numbers describe the quantiles of all coordinates of a graph, about.
_QUANTILES = 64

#: And at most this many intervals of one coordinate.
_MOST_INTERVALS = 16

#: One thread takes graphs with about so many nodes at a time.
_CHUNK_NODES = 2**18

#: What bounds are lowered by, relative to the distances to pivots and to the largest coordinate.
_SLACK_OF_DISTANCES = 1e-9
_SLACK_OF_POINTS = 1e-12


class Sketches(NamedTuple):
    """What the bounds need to know of each graph."""

    pivots: Floats  # (graphs, pivots) distances
    quantiles: Floats  # (graphs, coordinates, intervals) means
    slack: Floats  # (graphs,) by how much the bounds of a pair are lowered, half of it


def sketches(nodes: NodeEmbeddings, pivots: Floats, n_jobs: int | None = None) -> Sketches:
    """Return the sketches of embedded graphs, given their distances to the pivots."""
    d = nodes.n_dimensions
    n_intervals = max(1, min(_MOST_INTERVALS, _QUANTILES // max(1, d)))
    quantiles = np.zeros((len(nodes), d, n_intervals))
    if d and len(nodes):
        # Read-only, as arrays of an index file are: the kernel is compiled once for both.
        arrays = [array.view() for array in (nodes.points, nodes.masses, nodes.offsets)]
        for array in arrays:
            array.flags.writeable = False
        points, masses, offsets = arrays

        def fill(rows: slice) -> None:
            _fill_quantiles(points, masses, offsets[rows.start : rows.stop + 1], quantiles[rows])

        for_each_chunk(fill, nodes.node_counts + 1, most=_CHUNK_NODES, n_jobs=n_jobs)
    pivots = np.where(np.isfinite(pivots), pivots, 0.0)  # graphs without nodes
    slack = _SLACK_OF_DISTANCES * pivots.max(axis=1, initial=0.0)
    return Sketches(pivots, quantiles, slack + rounding_of(nodes))


def rounding_of(nodes: NodeEmbeddings) -> float:
    """Return by how much rounding moves the points of nodes, at most."""
    return _SLACK_OF_POINTS * max(map(abs, nodes.extent))


def raise_to_bounds(
    x: Sketches, y: Sketches, ground: GroundDistance, n_labels: int, out: Floats
) -> None:
    """Turn ``out[i, j]`` into a bound on the distance of graph i of x to graph j of y.

    It holds the distances of their labels alone, by the share of ``n_labels`` columns that differ.
    """
    per_share = float(ground.per_label * n_labels)
    _raise_to_bounds(*x, *y, float(ground.floor if n_labels else 0.0), per_share, out)


@njit(**JIT)
def _fill_quantiles(points, masses, offsets, out):  # type: ignore[no-untyped-def]
    """Fill in the means of each coordinate over intervals of equal mass."""
    n_intervals = out.shape[2]
    for graph in range(len(out)):
        first, last = offsets[graph], offsets[graph + 1]
        total = 0.0
        for node in range(first, last):
            total += masses[node]
        if total == 0:
            continue
        width = total / n_intervals
        for c in range(points.shape[1]):
            order = np.argsort(points[first:last, c])
            interval, room = 0, width
            for place in order:
                value, mass = points[first + place, c], float(masses[first + place])
                while mass > room and interval < n_intervals - 1:
                    out[graph, c, interval] += value * (room / width)
                    mass -= room
                    interval, room = interval + 1, width
                out[graph, c, interval] += value * (mass / width)
                room -= mass


@njit(**(JIT | {"fastmath": True}))
def _raise_to_bounds(  # type: ignore[no-untyped-def]
    x_pivots, x_quantiles, x_slack, pivots, quantiles, slack, floor, per_share, out
):
    d, n_intervals = x_quantiles.shape[1:]
    for y in range(len(pivots)):  # what is known of y stays in the fastest cache
        for x in range(len(x_pivots)):
            square = 0.0
            for c in range(d):
                moved = 0.0
                for interval in range(n_intervals):
                    moved += abs(x_quantiles[x, c, interval] - quantiles[y, c, interval])
                square += moved * moved
            share = out[x, y]
            bound = max(np.sqrt(square) / n_intervals, floor * share) + per_share * share
            for r in range(x_pivots.shape[1]):
                bound = max(bound, abs(x_pivots[x, r] - pivots[y, r]))
            out[x, y] = bound - x_slack[x] - slack[y]
