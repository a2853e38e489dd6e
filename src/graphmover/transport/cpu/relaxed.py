"""The relaxed problem: each node's mass moves to the nearest node of the other graph.

Without the constraints on one side the optimum is a sum of row minima, without those on the other
of column minima. Both are lower bounds on the distance (Kusner et al. 2015), for the price of the
costs alone. The larger of the two is returned.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.jit import JIT, njit
from graphmover.transport.cpu.problem import Side
from graphmover.transport.ground import GroundDistance, default_ground_distance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def relaxed_distances(
    x: Side, graph: int, y: Side, chosen: Ints, ground: GroundDistance | None
) -> Floats:
    """Return lower bounds on the distances of one graph of x to some graphs of y, by shares.

    A graph without nodes is infinitely far.
    """
    ground = ground or default_ground_distance(x.points.shape[1])
    nodes = slice(x.offsets[graph], x.offsets[graph + 1])
    out = np.empty(len(chosen))
    if nodes.start == nodes.stop:
        out[:] = np.inf
        return out
    _relaxed(
        np.ascontiguousarray(x.points[nodes].T),
        np.ascontiguousarray(x.labels[nodes].T),
        x.masses[nodes] / x.totals[graph],
        y.points,
        y.labels,
        y.masses,
        y.offsets,
        y.totals,
        chosen,
        float(ground.floor),
        float(ground.per_label),
        out,
    )
    return out


@njit(**(JIT | {"fastmath": True}))
def _relaxed(  # type: ignore[no-untyped-def]
    points, labels, weights, y_points, y_labels, y_masses, offsets, totals, chosen, floor, per, out
):
    """A row of costs, to all nodes of x, is computed at a time; x is stored column by column."""
    n, d, k = len(weights), points.shape[0], labels.shape[0]
    costs, differing, nearest = np.empty(n), np.empty(n), np.empty(n)
    for t in range(len(chosen)):
        graph = chosen[t]
        if totals[graph] == 0:
            out[t] = np.inf
            continue
        nearest[:] = 1e300
        moved = 0.0
        for node in range(offsets[graph], offsets[graph + 1]):
            costs[:] = 0.0
            for c in range(d):
                here = y_points[node, c]
                for i in range(n):
                    costs[i] += (points[c, i] - here) ** 2
            for i in range(n):
                costs[i] = sqrt(costs[i])
            if k:
                _add_labels(costs, differing, labels, y_labels[node], floor, per)
            least = 1e300
            for i in range(n):
                least = min(least, costs[i])
                nearest[i] = min(nearest[i], costs[i])
            moved += least * y_masses[node]
        moved /= totals[graph]
        back = 0.0
        for i in range(n):
            back += nearest[i] * weights[i]
        out[t] = max(moved, back)


@njit(**JIT)
def _add_labels(costs, differing, labels, label, floor, per):  # type: ignore[no-untyped-def]
    n = len(costs)
    differing[:] = 0.0
    for c in range(len(label)):
        here = label[c]
        for i in range(n):
            differing[i] += 0.0 if labels[c, i] == here else 1.0
    for i in range(n):
        least = floor if differing[i] > 0 else 0.0
        costs[i] = max(costs[i], least) + per * differing[i]
