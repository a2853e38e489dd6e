"""Arrays and tensors as graphs: adjacency matrices, and edge indices of shape (2, E).

A matrix of integers with two rows is an edge index, whose columns are edges, unless it has two
columns as well: then it could be either, and is accepted only if that makes no difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmover.graphs.parts import REAL_KINDS, Array, Flat, Names, Part

#: The one 2 x 2 matrix that is the same graph as an adjacency matrix and as an edge index.
_ONE_EDGE = np.array([[0, 1], [1, 0]])


def from_scipy(matrix: Any, names: Names, _: Flat) -> Part:
    """Convert a sparse adjacency matrix."""
    _require_adjacency(matrix)
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()  # the caller's matrix stays as it is
        rows.sum_duplicates()
    sources = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    return _matrix_part(rows.shape[0], sources, rows.indices, rows.data, names)


def from_numpy(matrix: Array, names: Names, _: Flat) -> Part:
    """Convert a dense adjacency matrix or an edge index."""
    if isinstance(matrix, np.ma.MaskedArray):
        raise TypeError("got a masked array, expected none: fill it, as with matrix.filled(0)")
    if _is_edge_index(matrix):
        return _edge_index_part(np.asarray(matrix))
    _require_adjacency(matrix)
    matrix = np.asarray(matrix)  # from np.matrix
    sources, targets = matrix.nonzero()
    return _matrix_part(len(matrix), sources, targets, matrix[sources, targets], names)


def from_torch(tensor: Any, names: Names, flat: Flat) -> Part:
    """Convert a tensor, dense or sparse, by the rules of arrays."""
    if str(tensor.layout) == "torch.strided":
        return from_numpy(array_of(tensor), names, flat)
    _require_square(tuple(tensor.shape))
    stored = tensor.detach().cpu().to_sparse_coo().coalesce()
    sources, targets = array_of(stored.indices())
    weights = array_of(stored.values())
    _require_real(weights.dtype)
    return _matrix_part(len(tensor), sources, targets, weights, names)


def array_of(tensor: Any) -> Array:
    """Return the values of a tensor, or of anything like an array."""
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


def _is_edge_index(matrix: Array) -> bool:
    """Tell an edge index from an adjacency matrix; reject what could be either."""
    if matrix.ndim != 2 or len(matrix) != 2 or matrix.dtype.kind not in "iu":
        return False
    if matrix.shape[1] == 2 and not np.array_equal(matrix, _ONE_EDGE):
        raise ValueError(
            f"got the integers {matrix.tolist()}, which could be an adjacency matrix of two nodes "
            f"or an edge index of two edges: pass the adjacency matrix as floats or as a "
            f"scipy.sparse array, or the edges as gm.Graph(n_nodes, edge_index.T)"
        )
    return bool(matrix.shape[1] != 2)


def _edge_index_part(edges: Array) -> Part:
    ends = edges.astype(np.int64)
    return Part(int(ends.max(initial=-1)) + 1, ends[0], ends[1], directed=True)


def _require_adjacency(matrix: Any) -> None:
    _require_square(matrix.shape)
    _require_real(matrix.dtype)


def _require_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        remedy = "; an edge index has integers" if len(shape) == 2 and shape[0] == 2 else ""
        if len(shape) == 2 and shape[1] == 2:
            remedy = "; edges in rows are a graph as gm.Graph(n_nodes, edges)"
        raise ValueError(f"got a matrix of the shape {shape}, expected a square one{remedy}")


def _require_real(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in REAL_KINDS:
        raise TypeError(f"got a matrix of {dtype}, expected real numbers")


def _matrix_part(
    n_nodes: int, sources: Array, targets: Array, weights: Array, names: Names
) -> Part:
    if names.edge_weight is None or weights.dtype.kind == "b":
        stored = weights != 0
        return Part(n_nodes, sources[stored], targets[stored], directed=True)
    return Part(n_nodes, sources, targets, weights, directed=True)
