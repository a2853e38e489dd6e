"""Algorithm 1, line 2: what places a node. The paper's choice, and others beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.parallel import for_each_chunk, single_threaded_blas
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.laplacian import smallest_eigenvectors

Floats = NDArray[np.float64]
NodeEmbedding = str | Callable[[GraphBatch], Sequence[Any]]

#: One thread walks from about this many edges at a time.
_CHUNK = 2**16


class _Work(NamedTuple):
    """What an embedding is given."""

    batch: GraphBatch
    degrees: Floats
    n_dimensions: int
    n_jobs: int | None
    progress: str | None
    first_index: int


def _laplacian(work: _Work) -> Floats:
    return smallest_eigenvectors(
        work.batch.offsets,
        work.batch.indptr,
        work.batch.indices,
        work.batch.edge_weights,
        work.degrees,
        work.n_dimensions,
        n_jobs=work.n_jobs,
        progress=work.progress,
        first_index=work.first_index,
    )


def _return_probability(work: _Work) -> Floats:
    from graphmover.nodes.walks import return_probabilities

    batch = work.batch
    points = np.zeros((batch.n_nodes, work.n_dimensions))
    weights = np.empty(0) if batch.edge_weights is None else batch.edge_weights

    def walk(rows: slice) -> None:
        return_probabilities(
            rows.start,
            rows.stop,
            batch.offsets,
            batch.indptr,
            batch.indices,
            weights,
            work.degrees,
            points,
        )

    sizes = batch.node_counts + batch.edge_counts + 1
    with single_threaded_blas():
        for_each_chunk(walk, sizes, most=_CHUNK, n_jobs=work.n_jobs, progress=work.progress)
    return points


def _log_degree(work: _Work) -> Floats:
    return np.log1p(work.degrees)[:, np.newaxis]


#: Every embedding by the name that ``node_embedding`` takes.
NODE_EMBEDDINGS: dict[str, Callable[[_Work], Floats]] = {
    "laplacian": _laplacian,
    "return-probability": _return_probability,
    "degree": _log_degree,
}

#: Those whose points lie in the unit cube, which needs no scale of its own.
IN_UNIT_CUBE = ("laplacian", "return-probability")


def is_node_embedding(value: Any) -> bool:
    """Tell whether a value may stand for ``node_embedding``."""
    return callable(value) or (isinstance(value, str) and value in NODE_EMBEDDINGS)


def scale_to_unit_cube(node_embedding: NodeEmbedding, points: Floats) -> float:
    """Return what to divide training points by, so that a unit cube holds them."""
    known = isinstance(node_embedding, str) and node_embedding in IN_UNIT_CUBE
    if known or not len(points):
        return 1.0
    extent = float(points.max() - points.min())
    return extent if extent > 0 else 1.0


def points_of(
    node_embedding: NodeEmbedding,
    batch: GraphBatch,
    degrees: Floats,
    n_dimensions: int,
    n_jobs: int | None,
    progress: str | None,
    first_index: int,
) -> Floats:
    """Return the points of all nodes, graph after graph."""
    if callable(node_embedding):
        return _checked(node_embedding(batch), batch, first_index)
    work = _Work(batch, degrees, n_dimensions, n_jobs, progress, first_index)
    return NODE_EMBEDDINGS[node_embedding](work)


def _checked(parts: Any, batch: GraphBatch, first_index: int) -> Floats:
    """Put together what a caller's own embedding returned."""
    if not isinstance(parts, list | tuple):
        raise TypeError(
            f"node_embedding must return a list of arrays, one per graph, got "
            f"{type(parts).__name__}"
        )
    if len(parts) != len(batch):
        raise ValueError(f"node_embedding returned {len(parts)} arrays for {len(batch)} graphs")
    tables = []
    width = None
    for index, (part, n_nodes) in enumerate(zip(parts, batch.node_counts.tolist(), strict=True)):
        name = f"graph {first_index + index}: node_embedding returned"
        table = np.asarray(part)
        if table.dtype.kind not in "biuf":
            raise TypeError(f"{name} an array of {table.dtype}, expected real numbers")
        width = table.shape[1] if width is None and table.ndim == 2 else width
        if table.shape != (n_nodes, width) or not width:
            expected = f"({n_nodes}, {'dimensions' if width is None else width})"
            raise ValueError(f"{name} an array of the shape {table.shape}, expected {expected}")
        large = ~(np.abs(table.astype(np.float64)) <= 1e150)
        if large.any():
            raise ValueError(
                f"{name} the value {table[large][0]}, expected finite numbers of at most 1e150"
            )
        tables.append(table.astype(np.float64))
    return np.concatenate(tables)
