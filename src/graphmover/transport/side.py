"""What all problems of a collection share, on any device: its nodes, merged and ordered.

Nodes of one graph with equal point and labels are merged into one, exactly; nodes without mass
are dropped. The rest is sorted by a hash of its content: no result depends on how nodes were
numbered, and every second node is a fair sample.

Functions take the array module ``xp``, NumPy or CuPy, of the arrays they are given.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphmover._utils.hashing import GOLDEN

#: Masses of two graphs are scaled to their least common total, exactly, where it is at most
#: MAX_COMMON_TOTAL. Otherwise they are rounded to multiples of 1 / ROUNDED_TOTAL of the whole.
MAX_COMMON_TOTAL = 1 << 62
ROUNDED_TOTAL = 1 << 53


class MergedNodes(NamedTuple):
    """The nodes of a collection, graph by graph."""

    points: Any  # (nodes, d) without negative zeros
    masses: Any  # (nodes,) positive integers
    offsets: Any  # (graphs + 1,) the nodes of graph g are offsets[g] to offsets[g + 1]
    labels: Any  # (nodes, k)
    graphs: Any  # (nodes,) the graph of each node


def merge_nodes(
    xp: Any, points: Any, masses: Any, labels: Any, graphs: Any, n_graphs: int
) -> MergedNodes:
    """Merge equal nodes, drop nodes without mass, sort by graph and content.

    ``graphs`` is the graph of each node.
    """
    heavy = xp.flatnonzero(masses > 0)
    points = points[heavy] + 0.0  # no negative zeros
    masses, graphs, labels = masses[heavy], graphs[heavy], _rows(labels, heavy)
    order = xp.lexsort(xp.stack([_content_hash(xp, points, labels), graphs.astype(np.uint64)]))
    points, masses, graphs = points[order], masses[order], graphs[order]
    labels = _rows(labels, order)
    first = xp.ones(len(order), bool)
    first[1:] = (graphs[1:] != graphs[:-1]) | (points[1:] != points[:-1]).any(axis=1)
    if labels.shape[1]:
        first[1:] |= (labels[1:] != labels[:-1]).any(axis=1)
    starts = xp.flatnonzero(first)
    sums = running_sums(xp, masses)
    masses = xp.diff(sums[xp.append(starts, len(order))])
    graphs = graphs[starts]
    offsets = running_sums(xp, xp.bincount(graphs, minlength=n_graphs)[:n_graphs])
    return MergedNodes(points[starts], masses, offsets, _rows(labels, starts), graphs)


def add_unmatched(xp: Any, costs: Any, x_totals: Any, y_totals: Any, unmatched: float) -> None:
    """Turn the mean cost of the mass that is matched into that of all mass of y, in place.

    Costs are infinite where a graph has no nodes. Totals are those of both graphs of each cost, or
    arrays that broadcast to them.
    """
    x_totals, y_totals = xp.asarray(x_totals), xp.asarray(y_totals)
    matched = xp.minimum(x_totals, y_totals) / xp.maximum(y_totals, 1)
    matched[(x_totals == 0) | (y_totals == 0)] = 1.0
    costs *= matched
    costs += (1.0 - matched) * unmatched


def label_columns(xp: Any, labels: Any, n_nodes: int) -> Any:
    """Return labels as an array (nodes, k); None and an empty array are no columns."""
    if labels is None or (labels.ndim == 1 and not len(labels)):
        return xp.zeros((n_nodes, 0), np.int64)
    return labels[:, np.newaxis] if labels.ndim == 1 else labels


def _rows(labels: Any, chosen: Any) -> Any:
    """Return the chosen rows; without columns, any as many do."""
    return labels[chosen] if labels.shape[1] else labels[: len(chosen)]


def running_sums(xp: Any, values: Any) -> Any:
    """Return the sums of the first 0, 1, 2, ... values.

    Sums of 64-bit integers may wrap around; differences of them are right nonetheless.
    """
    sums = xp.zeros(len(values) + 1, np.int64)
    xp.cumsum(values, out=sums[1:])
    return sums


def _content_hash(xp: Any, points: Any, labels: Any) -> Any:
    """Return a 64-bit hash of each node. Nodes in a collision are merely not merged."""
    codes = xp.ascontiguousarray(labels.T).view(np.uint64)
    code = codes[0].copy() if len(codes) else xp.zeros(len(points), np.uint64)
    for column in (*codes[1:], *xp.ascontiguousarray(points.T).view(np.uint64)):
        code = (code ^ column) * GOLDEN
        code ^= code >> np.uint64(32)
    return code
