"""Points averaged with those of their neighbours, all depths side by side.

From one depth to the next x <- (x + weighted mean of the neighbours' x) / 2; a node without
neighbours keeps its x. Depths 0 to h are divided by sqrt(h + 1), so that two nodes are as far apart
as the root mean square of their distances at the h + 1 depths.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.jit import JIT, NO_WEIGHTS, njit
from graphmover._utils.parallel import for_each_chunk
from graphmover.nodes.registry import Work

Floats = NDArray[np.float64]

#: One thread averages about this many numbers at a time.
_CHUNK_NUMBERS = 2**20


def smoothed(work: Work, points: Floats, depth: int) -> Floats:
    """Return points of depths 0 to ``depth`` side by side."""
    if not depth:
        return points
    batch, width = work.batch, points.shape[1]
    weights = NO_WEIGHTS if batch.edge_weights is None else batch.edge_weights
    out = np.empty((len(points), (depth + 1) * width))
    out[:, :width] = points

    def average(rows: slice) -> None:
        for k in range(depth):
            _average(
                rows.start,
                rows.stop,
                batch.offsets,
                batch.indptr,
                batch.indices,
                weights,
                work.degrees,
                out[:, k * width : (k + 1) * width],
                out[:, (k + 1) * width : (k + 2) * width],
            )
        out[batch.offsets[rows.start] : batch.offsets[rows.stop]] /= np.sqrt(depth + 1)

    sizes = (batch.node_counts + batch.edge_counts + 1) * width
    for_each_chunk(average, sizes, most=_CHUNK_NUMBERS, n_jobs=work.n_jobs)
    return out


@njit(**JIT)
def _average(first, last, offsets, indptr, indices, weights, degrees, x, out):
    """Take the graphs first to last - 1 from one depth to the next."""
    width = x.shape[1]
    for g in range(first, last):
        a = offsets[g]
        for v in range(a, offsets[g + 1]):
            start, stop = indptr[v], indptr[v + 1]
            if start == stop:
                out[v] = x[v]
                continue
            out[v] = 0.0
            for i in range(start, stop):
                u = a + indices[i]
                # Shares, not weights: a weight times a coordinate may overflow.
                share = (weights[i] if len(weights) else 1.0) / degrees[v]
                for c in range(width):
                    out[v, c] += share * x[u, c]
            for c in range(width):
                out[v, c] = 0.5 * (x[v, c] + out[v, c])
