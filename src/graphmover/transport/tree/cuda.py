"""The closed form on a GPU: launches of `tree.cu`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmover._utils.cuda import kernel
from graphmover.transport.tree.histograms import Histograms, LabelIndex

#: Threads of a block, and graphs of the index whose sums fit its shared memory of 48 KB.
_THREADS = 256
_TILE = 6144

#: Bytes of device memory that a node takes for each label, intermediate results included.
BYTES_PER_LABEL = 100


def distances_on_device(x: Histograms, index: LabelIndex, *, partial: bool) -> Any:
    """Return the distance between every graph of x and every graph of the index, on the device.

    A graph without nodes is infinitely far.
    """
    import cupy

    out = cupy.full((len(x.totals), index.n_graphs), np.inf)
    if not out.size:
        return out
    tile = min(_TILE, index.n_graphs)
    scales = cupy.ones(index.n_graphs) if partial else index.totals
    arguments = (
        *x,
        np.int32(index.n_depths),
        index.totals,
        scales,
        *index[2:],
        np.int32(partial),
        np.int64(index.n_graphs),
        np.int32(tile),
        out,
    )
    blocks = (len(x.totals), -(-index.n_graphs // tile))
    compiled = kernel("tree_distances", file="tree.cu")
    compiled(blocks, (_THREADS,), arguments, shared_mem=8 * tile)
    return out
