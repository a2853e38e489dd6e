"""The arrays inside a `GraphBatch`: checked, merged and chosen without Python loops.

Messages start with ``graph i:`` so that the culprit among many can be found.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def count_array(name: str, counts: ArrayLike) -> Ints:
    """Return numbers of nodes or edges per graph."""
    array = np.asarray(counts)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(f"{name} must be a one-dimensional array of whole numbers")
    array = array.astype(np.int64)
    if (array < 0).any():
        at = int(np.argmax(array < 0))
        raise ValueError(f"graph {at}: {name} is {array[at]}, expected no negative number")
    return array


def on_all_graphs(parts: Sequence[Any], what: str, graph_indices: Sequence[int]) -> bool:
    """Tell whether all parts have something; where only some have it, warn."""
    n_present = sum(part is not None for part in parts)
    if 0 < n_present < len(parts):
        lacking = next(i for part, i in zip(parts, graph_indices, strict=True) if part is None)
        warnings.warn(
            f"graph {lacking} has no {what} while others have: {what} are left out of the "
            f"whole batch. Give them to all graphs, or to none.",
            UserWarning,
            stacklevel=4,
        )
    return 0 < n_present == len(parts)


def stacked(
    parts: Sequence[NDArray[Any] | None], what: str, graph_indices: Sequence[int]
) -> NDArray[Any]:
    """Put tables of equal width on top of each other."""
    tables = [part for part in parts if part is not None]
    for table, index in zip(tables, graph_indices, strict=True):
        if table.shape[1:] != tables[0].shape[1:]:
            raise ValueError(
                f"graph {index}: {table.shape[1]} {what} per node, expected "
                f"{tables[0].shape[1]} as in the graphs before it"
            )
    return np.concatenate(tables)


def edge_array(edges: ArrayLike | Iterable[tuple[int, int]]) -> Ints:
    """Return edges as an int64 array of shape (m, 2)."""
    pairs = np.asarray(edges if hasattr(edges, "__len__") else list(edges))  # type: ignore[arg-type]
    if pairs.size == 0:
        return np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"edges must have the shape (m, 2), got {pairs.shape}")
    if pairs.dtype.kind not in "iu":
        raise TypeError(f"edges must be whole numbers, got an array of {pairs.dtype}")
    return pairs.astype(np.int64, copy=False)


def weight_array(weights: ArrayLike) -> Floats:
    """Return edge weights as a float array."""
    array = np.asarray(weights)
    if array.dtype.kind not in "biuf" and array.size:
        raise TypeError(f"edge weights must be real numbers, got an array of {array.dtype}")
    return array.astype(np.float64)


def check_edges(
    node_counts: Ints, graph_of_edge: Ints, edges: Ints, weights: Floats | None
) -> None:
    """Refuse node numbers out of range, and weights that are negative, infinite or NaN."""
    limit = node_counts[graph_of_edge]
    u, v = edges.T
    inside = (u >= 0) & (v >= 0)
    inside &= (u < limit) & (v < limit)
    if not inside.all():
        at = int(np.argmin(inside))
        raise ValueError(
            f"graph {graph_of_edge[at]}: edge {tuple(edges[at].tolist())} is out of range, the "
            f"graph has {limit[at]} nodes, numbered from 0"
        )
    if weights is None:
        return
    if weights.shape != (len(edges),):
        raise ValueError(f"edge weights have the shape {weights.shape}, expected ({len(edges)},)")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"graph {graph_of_edge[at]}: edge {tuple(edges[at].tolist())} has the weight "
            f"{weights[at]}, expected a finite number that is not negative"
        )


def undirected_rows(
    offsets: Ints,
    graph_of_edge: Ints,
    edges: Ints,
    weights: Floats | None,
    directed: NDArray[np.bool_] | None,
) -> tuple[Ints, NDArray[np.int32], Floats | None]:
    """Sort all edges into compressed rows: both directions, each once, no self-loops.

    An edge becomes one number, row * stride + column, so that merging is sorting numbers.
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
    # Both directions in one array, made in place: with many edges these are what memory holds.
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
        )
    rows, merged = _merge(
        keys.reshape(-1), None if weights is None else np.concatenate([weights, weights])
    )
    if merged is not None and (merged == 1).all():
        merged = None
    indptr = np.searchsorted(rows, np.arange(n_rows + 1) * stride)
    return indptr, (rows % stride).astype(np.int32), merged


def are_simple_rows(
    offsets: Ints, indptr: Ints, indices: NDArray[np.int32], weights: Floats | None
) -> bool:
    """Tell whether rows are as `undirected_rows` makes them, in time linear in the edges."""
    from scipy.sparse import csr_array

    per_graph = np.diff(indptr[offsets])
    rows = np.repeat(np.arange(offsets[-1]), np.diff(indptr))
    columns = indices + np.repeat(offsets[:-1], per_graph)
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


def _merge(keys: Ints, weights: Floats | None) -> tuple[Ints, Floats | None]:
    """Sort edges, in place where it can be; of repeated ones the largest weight stays."""
    if weights is None:
        keys.sort(kind="stable")  # they are nearly sorted: np.unique is far slower
        return keys[_starts_run(keys)], None
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = _starts_run(keys)
    if starts.all():
        return keys, weights[order]
    first = np.flatnonzero(starts)
    return keys[first], np.maximum.reduceat(weights[order], first)


def _starts_run(keys: Ints) -> NDArray[np.bool_]:
    """Mark the first of equal neighbours among sorted keys."""
    starts = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=starts[1:])
    return starts


def _warn_if_one_way(
    ahead: tuple[Ints, Floats | None], behind: tuple[Ints, Floats | None], first_keys: Ints
) -> None:
    one_way = np.setxor1d(ahead[0], behind[0], assume_unique=True)
    if not len(one_way) and ahead[1] is not None and behind[1] is not None:
        rounding = 1e-12 * ahead[1]  # as in a matrix of correlations
        one_way = ahead[0][np.abs(ahead[1] - behind[1]) > rounding]
    if len(one_way):
        index = int(np.searchsorted(first_keys, one_way[0], side="right")) - 1
        warnings.warn(
            f"directed graphs are made undirected (the first is graph {index}): an edge in "
            f"either direction counts, and of two weights the larger",
            UserWarning,
            stacklevel=5,
        )


def label_array(labels: Sequence[Any] | NDArray[Any], offsets: Ints) -> NDArray[Any]:
    """Hold labels as int64 where all are whole numbers, as Python objects otherwise."""
    values: Any = labels if isinstance(labels, np.ndarray) else list(labels)
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ValueError(
                f"node_labels must have one entry per node, got the shape {values.shape}; to "
                f"combine several columns give a tuple per node"
            )
        if values.dtype.kind not in "bi":
            values = values.tolist()
    if len(values) != offsets[-1]:
        raise ValueError(f"node_labels has {len(values)} entries for {offsets[-1]} nodes")
    if isinstance(values, np.ndarray):
        return values.astype(np.int64)
    if all(issubclass(kind, int | np.integer | np.bool_) for kind in set(map(type, values))):
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass  # whole numbers beyond 64 bits stay Python objects
    try:
        usable = all(label == label for label in set(values))  # noqa: PLR0124 - NaN is not
    except TypeError:  # not hashable
        usable = False
    if not usable:
        for position, label in enumerate(values):
            _check_label(label, position, offsets)
    return np.fromiter(values, dtype=object, count=len(values))


def _check_label(label: Any, position: int, offsets: Ints) -> None:
    index = int(np.searchsorted(offsets, position, side="right")) - 1
    where = f"graph {index}: node {position - offsets[index]} has the label {label!r}"
    try:
        hash(label)
    except TypeError:
        raise TypeError(f"{where}, expected a hashable value") from None
    if label != label:  # noqa: PLR0124 - that is what NaN means
        raise ValueError(f"{where}, which equals no label, not even itself")


def attribute_array(attributes: ArrayLike, offsets: Ints) -> Floats:
    """Return node attributes as finite floats, one row per node."""
    array = np.asarray(attributes)
    if array.dtype.kind not in "biuf" and array.size:
        raise TypeError(f"node attributes must be real numbers, got an array of {array.dtype}")
    array = array.astype(np.float64)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or len(array) != offsets[-1]:
        raise ValueError(
            f"node_attributes has the shape {array.shape}, expected a row for each of "
            f"{offsets[-1]} nodes"
        )
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        position = int(np.argmax(bad))
        index = int(np.searchsorted(offsets, position, side="right")) - 1
        raise ValueError(
            f"graph {index}: node {position - offsets[index]} has the attributes "
            f"{array[position].tolist()}, expected finite numbers"
        )
    return array
