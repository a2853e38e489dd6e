"""The flat arrays of many graphs, made from edge lists without Python loops.

Messages start with ``graph i:`` so that the culprit among many can be found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover._utils.messages import counted, warn
from graphmover._utils.segments import offsets_from_counts, segment_numbers
from graphmover.graphs.columns import (
    NEGATIVE_WEIGHTS,
    Floats,
    Ints,
    attribute_array,
    edges_of,
    id_array,
    label_array,
    nodes_of,
)


class DirectionWarning(UserWarning):
    """Directions of edges are lost, or one of the two weights of an edge."""


class Arrays(NamedTuple):
    """The arrays of a `GraphBatch`, which documents them."""

    offsets: Ints
    indptr: Ints
    indices: NDArray[np.int32]
    edge_weights: Floats | None
    node_labels: NDArray[Any] | None
    node_attributes: Floats | None
    edge_labels: NDArray[Any] | None
    edge_attributes: Floats | None
    ids: NDArray[Any] | None = None


def arrays_from_edges(
    node_counts: ArrayLike,
    edge_counts: ArrayLike,
    edges: ArrayLike,
    *,
    edge_weights: ArrayLike | None = None,
    node_labels: Sequence[Any] | NDArray[Any] | None = None,
    node_attributes: ArrayLike | None = None,
    edge_labels: Sequence[Any] | NDArray[Any] | None = None,
    edge_attributes: ArrayLike | None = None,
    ids: Iterable[Any] | None = None,
    directed: ArrayLike | None = None,
    keep_direction: bool = False,
) -> Arrays:
    """Check and merge what `GraphBatch.from_edges` documents."""
    nodes = _count_array("node_counts", node_counts)
    per_graph = _count_array("edge_counts", edge_counts)
    if len(nodes) != len(per_graph):
        raise ValueError(f"node_counts has {len(nodes)} entries, edge_counts {len(per_graph)}")
    if len(nodes) and nodes.max() > np.iinfo(np.int32).max:
        index = int(np.argmax(nodes))
        raise ValueError(f"graph {index}: {nodes[index]} nodes are more than 2**31 - 1")
    offsets = offsets_from_counts(nodes)
    pairs = edge_array(edges)
    graph_of_edge = segment_numbers(offsets_from_counts(per_graph))
    if len(pairs) != len(graph_of_edge):
        raise ValueError(f"edges has {len(pairs)} rows, expected {len(graph_of_edge)}")
    weights = None if edge_weights is None else _weight_array(edge_weights)
    _check_edges(nodes, graph_of_edge, pairs, weights)
    oriented = None if directed is None else np.asarray(directed, dtype=bool)
    if oriented is not None and oriented.shape != nodes.shape:
        raise ValueError(f"directed has the shape {oriented.shape}, expected {nodes.shape}")
    if keep_direction and oriented is None:
        raise ValueError("keep_direction=True needs directed, which graphs have a direction")
    has_values = edge_labels is not None or edge_attributes is not None
    indptr, indices, merged, rows, ahead = _undirected_rows(
        offsets,
        graph_of_edge,
        pairs,
        weights,
        oriented,
        with_rows=has_values or keep_direction,
        keep_direction=keep_direction,
    )
    each_node, each_edge = nodes_of(offsets), edges_of(graph_of_edge, pairs)
    labels = None if edge_labels is None else label_array(edge_labels, each_edge)[rows]
    if keep_direction:
        behind = ahead[reverse_entries(offsets, indptr, indices)]
        is_directed = np.repeat(oriented, np.diff(indptr[offsets]))  # type: ignore[arg-type]
        directions = np.where(is_directed, ahead + 2 * behind, 3)
        kept = directions_of(offsets, indptr, indices, labels)
        if kept is None or (kept == 3).all() or (directions != 3).any():
            labels = _with_direction(directions, labels)
    return Arrays(
        offsets,
        indptr,
        indices,
        merged,
        None if node_labels is None else label_array(node_labels, each_node),
        None if node_attributes is None else attribute_array(node_attributes, each_node),
        labels,
        None if edge_attributes is None else attribute_array(edge_attributes, each_edge)[rows],
        None if ids is None else id_array(ids, len(nodes)),
    )


def _with_direction(directions: Ints, labels: NDArray[Any] | None) -> NDArray[Any]:
    """Return directions as labels, or pairs of a direction and a label."""
    if labels is None:
        return directions
    pairs = zip(directions.tolist(), labels.tolist(), strict=True)
    return np.fromiter(pairs, dtype=object, count=len(labels))


def directions_of(
    offsets: Ints, indptr: Ints, indices: NDArray[np.int32], labels: NDArray[Any] | None
) -> Ints | None:
    """Return the directions that labels of edges hold, or None if they hold none."""
    if labels is None or not len(labels):
        return np.empty(0, np.int64) if not len(indices) else None
    directions = labels
    if labels.dtype == object:
        directions = np.array(list(map(_direction_in, labels)))
    if not np.isin(directions, (1, 2, 3)).all():
        return None
    the_other_way = np.array([0, 2, 1, 3])[directions[reverse_entries(offsets, indptr, indices)]]
    return directions if np.array_equal(directions, the_other_way) else None


def _direction_in(label: Any) -> int:
    is_pair = isinstance(label, tuple) and len(label) == 2 and type(label[0]) is int
    return label[0] if is_pair else 0


def edge_array(edges: ArrayLike | Iterable[tuple[int, int]]) -> Ints:
    """Return edges as an int64 array of shape (m, 2)."""
    listed: Any = edges if hasattr(edges, "__len__") else list(edges)  # type: ignore[arg-type]
    try:
        pairs = np.asarray(listed)
    except ValueError:  # rows of several lengths
        for number, edge in enumerate(listed):
            if np.size(edge) != 2:
                raise ValueError(f"edge {number} is {edge}, expected two node numbers") from None
        raise
    if pairs.size == 0:
        return np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"edges must have the shape (m, 2), got {pairs.shape}")
    if pairs.dtype.kind not in "iu":
        raise TypeError(f"edges must be integers, got an array of {pairs.dtype}")
    return pairs.astype(np.int64, copy=False)


def entry_edges(offsets: Ints, indptr: Ints, indices: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """Return the graph of each entry of ``indices`` and its edge, nodes numbered in the graph."""
    graph_of_entry = segment_numbers(indptr[offsets])
    sources = segment_numbers(indptr) - offsets[graph_of_entry]
    return graph_of_entry, np.column_stack([sources, indices])


def neighbours_over_all(offsets: Ints, indptr: Ints, indices: NDArray[np.int32]) -> Ints:
    """Return ``indices`` with nodes numbered over all graphs, not within their own."""
    flat: Ints = np.repeat(offsets[:-1], np.diff(indptr[offsets])) + indices
    return flat


def reverse_entries(offsets: Ints, indptr: Ints, indices: NDArray[np.int32]) -> Ints:
    """Return for each entry u -> v of a batch's ``indices`` the position of v -> u.

    Entries are sorted by source, then by target. Sorted by target, then by source, they are the
    reverse of each in turn.
    """
    return np.argsort(neighbours_over_all(offsets, indptr, indices), kind="stable")


def are_simple_rows(
    offsets: Ints, indptr: Ints, indices: NDArray[np.int32], weights: Floats | None
) -> bool:
    """Return whether rows are sorted, symmetric and free of loops, in time linear in the edges."""
    from scipy.sparse import csr_array

    per_graph = np.diff(indptr[offsets])
    rows = segment_numbers(indptr)
    columns = neighbours_over_all(offsets, indptr, indices)
    inside = (indices >= 0) & (columns < np.repeat(offsets[1:], per_graph))
    increasing = (np.diff(columns) > 0) | (np.diff(rows) > 0)
    if not (inside.all() and increasing.all() and (columns != rows).all()):
        return False
    if weights is not None and not (np.isfinite(weights) & (weights > 0)).all():
        return False
    values = np.ones(len(columns), np.int8) if weights is None else weights
    shape = (int(offsets[-1]), int(offsets[-1]))
    transposed = csr_array((values, columns, indptr), shape=shape).tocsc()
    return (
        np.array_equal(transposed.indptr, indptr)
        and np.array_equal(transposed.indices, columns)
        and np.array_equal(transposed.data, values)
    )


def _count_array(name: str, counts: ArrayLike) -> Ints:
    """Return numbers of nodes or edges per graph."""
    array = np.asarray(counts)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(f"{name} must be a one-dimensional array of integers")
    array = array.astype(np.int64)
    if (array < 0).any():
        at = int(np.argmax(array < 0))
        raise ValueError(f"graph {at}: {name} is {array[at]}, expected a non-negative number")
    return array


def _weight_array(weights: ArrayLike) -> Floats:
    array = np.asarray(weights)
    if array.dtype.kind not in "biuf" and array.size:
        raise TypeError(f"edge weights must be real numbers, got an array of {array.dtype}")
    return array.astype(np.float64)


def _check_edges(
    node_counts: Ints, graph_of_edge: Ints, edges: Ints, weights: Floats | None
) -> None:
    """Reject node numbers out of range, and weights that are negative, infinite or NaN."""
    limit = node_counts[graph_of_edge]
    u, v = edges.T
    inside = (u >= 0) & (v >= 0)
    inside &= (u < limit) & (v < limit)
    name = edges_of(graph_of_edge, edges).name
    if not inside.all():
        at = int(np.argmin(inside))
        nodes = counted(int(limit[at]), "node")
        raise ValueError(f"{name(at)} is out of range, the graph has {nodes}, numbered from 0")
    if weights is None:
        return
    if weights.shape != (len(edges),):
        raise ValueError(f"edge weights have the shape {weights.shape}, expected ({len(edges)},)")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        at = int(np.argmax(bad))
        remedy = f": {NEGATIVE_WEIGHTS}" if weights[at] < 0 else ""
        raise ValueError(
            f"{name(at)} has the weight {weights[at]}, expected a finite, non-negative "
            f"number{remedy}"
        )


class _Rows(NamedTuple):
    """Compressed sparse rows over the nodes of all graphs."""

    indptr: Ints
    indices: NDArray[np.int32]
    weights: Floats | None
    rows: Ints | None  #: the row of the edge list that gives an entry its label and attributes
    ahead: Any  #: whether that row has the direction of the entry, rather than the other


def _undirected_rows(
    offsets: Ints,
    graph_of_edge: Ints,
    edges: Ints,
    weights: Floats | None,
    directed: NDArray[np.bool_] | None,
    *,
    with_rows: bool,
    keep_direction: bool,
) -> _Rows:
    """Sort all edges into compressed rows: both directions, each once, no self-loops.

    An edge becomes one number, row * stride + column, so merging edges is sorting numbers. All
    forward edges precede all backward ones: the first of equal numbers is the first row u, v of
    the edge list, or if there is none, the first row v, u.
    """
    n_rows, stride = int(offsets[-1]), int(np.diff(offsets).max(initial=1))
    if n_rows * stride > np.iinfo(np.int64).max:
        raise ValueError(f"{n_rows} nodes, {stride} in one graph, are too many for one batch")
    keep = edges[:, 0] != edges[:, 1]
    if weights is not None:
        keep &= weights > 0
        weights = weights[keep]
    if not keep.all():
        graph_of_edge, edges = graph_of_edge[keep], edges[keep]
    # Both directions in one array, made in place: with many edges it dominates the memory.
    keys = np.repeat(offsets[graph_of_edge][np.newaxis], 2, axis=0)
    keys += edges.T
    keys *= stride
    keys += edges.T[::-1]
    forward, backward = keys
    if directed is not None and directed.any():
        oriented = directed[graph_of_edge]
        _warn_if_one_way(
            _merge(forward[oriented], None if weights is None else weights[oriented]),
            _merge(backward[oriented], None if weights is None else weights[oriented]),
            offsets * stride,
            keep_direction=keep_direction,
        )
    distinct, merged, first = _merge(
        keys.reshape(-1),
        None if weights is None else np.concatenate([weights, weights]),
        with_first=with_rows,
    )
    if merged is not None and (merged == 1).all():
        merged = None
    indptr = np.searchsorted(distinct, np.arange(n_rows + 1) * stride)
    rows = None if first is None else np.flatnonzero(keep)[first % max(len(edges), 1)]
    ahead = None if first is None else first < len(edges)
    return _Rows(indptr, (distinct % stride).astype(np.int32), merged, rows, ahead)


class _Merged(NamedTuple):
    """Distinct keys in increasing order."""

    keys: Ints
    weights: Floats | None  #: the largest weight of each key
    first: Ints | None  #: where each key was first


def _merge(keys: Ints, weights: Floats | None, *, with_first: bool = False) -> _Merged:
    """Sort keys and merge equal ones; in place unless weights or positions are wanted."""
    if weights is None and not with_first:
        keys.sort(kind="stable")  # they are nearly sorted: np.unique is far slower
        return _Merged(keys[_starts_run(keys)], None, None)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(_starts_run(keys))
    first = order[starts] if with_first else None
    if weights is not None:
        weights = weights[order]
        if len(starts) < len(keys):
            weights = np.maximum.reduceat(weights, starts)
    return _Merged(keys[starts], weights, first)


def _starts_run(keys: Ints) -> NDArray[np.bool_]:
    """Mark the first of equal neighbours among sorted keys."""
    starts = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=starts[1:])
    return starts


def _warn_if_one_way(
    ahead: _Merged, behind: _Merged, first_keys: Ints, *, keep_direction: bool
) -> None:
    """Warn if directions are lost, or one of the two weights of an edge."""
    one_way = np.setxor1d(ahead.keys, behind.keys, assume_unique=True)
    if keep_direction:
        one_way = one_way[:0]
    if not len(one_way) and ahead.weights is not None and behind.weights is not None:
        both, a, b = np.intersect1d(
            ahead.keys, behind.keys, assume_unique=True, return_indices=True
        )
        rounding = 1e-12 * ahead.weights[a]  # such as that of a computed correlation matrix
        one_way = both[np.abs(ahead.weights[a] - behind.weights[b]) > rounding]
    if len(one_way):
        index = int(np.searchsorted(first_keys, one_way[0], side="right")) - 1
        warn(
            f"edges have two weights, one in each direction (the first in graph {index}): the "
            f"larger counts"
            if keep_direction
            else f"directed graphs are made undirected (the first is graph {index}): an edge in "
            f"either direction counts, with the larger of two weights; to keep directions as edge "
            f"labels, read them with keep_direction=True (gm.as_graph_batch, gm.read_graphs)",
            DirectionWarning,
        )
