"""Laplacian node embeddings of many small graphs on a GPU: flat arrays in, points out.

The kernel in `laplacian.cu` keeps both matrices of a graph in shared memory; `most_nodes` is the
size of the largest graph for which they fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmover._utils.cuda import kernel, shared_memory

#: Pairs (nodes, threads): the threads of a block, for graphs of up to so many nodes.
_THREADS = ((16, 32), (40, 64), (64, 128), (2**31, 256))


def block_bytes(n: int) -> int:
    """Shared memory, in bytes, of the block for a graph of n nodes."""
    places = (n + 1) // 2
    return 8 * (2 * n * (n + 1) + n) + 24 * places + 4 * n


def most_nodes(available: int | None = None) -> int:
    """The largest n whose matrices fit the shared memory of a block."""
    available = shared_memory() if available is None else available
    n = 0
    while block_bytes(n + 1) <= available - 1024:
        n += 1
    return n


def smallest_eigenvectors(
    offsets: Any, indptr: Any, indices: Any, weights: Any, degrees: Any, d: int
) -> Any:
    """Points (nodes, d) on the device; those of graphs with more than `most_nodes` are zero.

    All arguments are arrays on the host; ``weights`` may be None. Each launch takes graphs of
    similar sizes, and the shared memory that the largest of them needs.
    """
    import cupy

    points = cupy.zeros((offsets[-1], d))
    if weights is not None:
        weights = cupy.asarray(weights)
    arrays = [cupy.asarray(a) for a in (offsets, indptr, np.asarray(indices, np.int32))]
    degrees = cupy.asarray(degrees)
    sizes = np.diff(offsets)
    order = np.argsort(sizes, kind="stable").astype(np.int32)
    below = 0
    for upto in (*range(8, 64, 8), *range(64, most_nodes(), 16), most_nodes()):
        cut = slice(*np.searchsorted(sizes[order], [below, upto], side="right"))
        below = upto
        if cut.start == cut.stop:
            continue
        n = int(sizes[order[cut.stop - 1]])
        threads = next(count for most, count in _THREADS if n <= most)
        graphs = cupy.asarray(order[cut])
        arguments = (graphs, np.int32(len(graphs)), *arrays, weights, degrees, np.int32(d), points)
        compiled = kernel("smallest_eigenvectors", shared_memory() - 1024, file="laplacian.cu")
        compiled((len(graphs),), (threads,), arguments, shared_mem=block_bytes(n))
    return points
