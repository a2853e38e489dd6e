"""A library on a GPU: bounds of all pairs, and the choice of candidates, stay on the device."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphmover._utils.cuda import free_memory, kernel
from graphmover.search.bounds import Sketches
from graphmover.transport.ground import GroundDistance

#: Threads of a block, and queries that a thread takes: QUERIES of bounds.cu.
_THREADS = 256
_QUERIES = 8

#: Device memory that a pair takes, candidates included, and how many pairs there are at a time.
_PAIR_BYTES = 64
_MOST_PAIRS = 2**29


class DeviceSketches(NamedTuple):
    """`Sketches` of a library, a column per graph."""

    pivots: Any  # (pivots, graphs)
    quantiles: Any  # (coordinates * intervals, graphs)
    slack: Any  # (graphs,) infinite for graphs without nodes


def sketches_on_device(found: Sketches, is_empty: Any) -> DeviceSketches:
    """Upload the sketches of a library, given which of its graphs have no nodes."""
    import cupy

    quantiles = found.quantiles.reshape(len(found.quantiles), -1)
    return DeviceSketches(
        cupy.ascontiguousarray(cupy.asarray(found.pivots).T),
        cupy.ascontiguousarray(cupy.asarray(quantiles).T),
        cupy.asarray(np.where(is_empty, np.inf, found.slack)),
    )


def raise_to_bounds_on_device(
    x: Sketches, y: DeviceSketches, ground: GroundDistance, n_labels: int, out: Any
) -> None:
    """`raise_to_bounds` for a table on the device; also for graphs of y without nodes."""
    import cupy

    n_queries, n_graphs = out.shape
    d, n_intervals = x.quantiles.shape[1:]
    arguments = (
        *(cupy.asarray(np.ascontiguousarray(array)) for array in x),
        np.int32(n_queries),
        *y,
        np.int64(n_graphs),
        np.int32(len(y.pivots)),
        np.int32(d),
        np.int32(n_intervals),
        np.float64(ground.floor if n_labels else 0.0),
        np.float64(ground.per_label * n_labels),
        out,
    )
    blocks = (-(-n_graphs // _THREADS), -(-n_queries // _QUERIES))
    kernel("raise_to_bounds", file="bounds.cu")(blocks, (_THREADS,), arguments)


def pairs_at_a_time() -> int:
    """Return how many pairs have bounds at a time."""
    return int(min(_MOST_PAIRS, free_memory() // _PAIR_BYTES))
