"""Walks that two labelled graphs have in common: walks in their direct product."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.jit import JIT, njit


class LabelledGraphs(NamedTuple):
    """Graphs as flat arrays, as in `GraphBatch`, with a label for each node."""

    offsets: NDArray[np.int64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64]
    labels: NDArray[np.int64]


@njit(**JIT)
def common_walks(i, first, rows, columns, decay, n_steps, found):
    """Fill ``found[j]`` with the weighted number of walks that graph i shares with graph j.

    Nodes of the direct product are pairs of nodes with equal labels. If x_k are the numbers of
    walks of k steps that end in each of them, times ``decay**k``, then ``x_k x_k`` is what all
    walks of 2k steps count, and ``x_k x_(k + 1)`` those of 2k + 1 steps.

    Parameters
    ----------
    i, first : int
        The graph of ``rows``, and the first one of ``columns`` that it is compared with.
    rows, columns : LabelledGraphs
    decay, n_steps : float, int
        The weight of each step, and the largest number of steps.
    """
    n = rows.offsets[i + 1] - rows.offsets[i]
    for j in range(first, len(columns.offsets) - 1):
        m = columns.offsets[j + 1] - columns.offsets[j]
        now, longer = np.zeros((n, m)), np.zeros((n, m))
        total = _mark_equal_labels(i, j, rows, columns, now)
        for step in range(1, n_steps + 1):
            if step % 2:
                walks = _walk_on(i, j, rows, columns, decay, now, longer)
            else:
                now, longer = longer, now
                walks = (now * now).sum()
            if walks == 0.0:
                break
            total += walks
        found[j] = total


@njit(**JIT)
def _mark_equal_labels(i, j, rows, columns, now):
    """Set the nodes of the direct product to 1, and return how many there are."""
    a, b = rows.offsets[i], columns.offsets[j]
    count = 0.0
    for p in range(now.shape[0]):
        for q in range(now.shape[1]):
            if rows.labels[a + p] == columns.labels[b + q]:
                now[p, q] = 1.0
                count += 1.0
    return count


@njit(**JIT)
def _walk_on(i, j, rows, columns, decay, now, longer):
    """Take one more step; return the inner product of what walks count before and after it."""
    a, b = rows.offsets[i], columns.offsets[j]
    product = 0.0
    for p in range(now.shape[0]):
        for q in range(now.shape[1]):
            if rows.labels[a + p] != columns.labels[b + q]:
                continue
            ways = 0.0
            for e in range(rows.indptr[a + p], rows.indptr[a + p + 1]):
                for f in range(columns.indptr[b + q], columns.indptr[b + q + 1]):
                    both = rows.weights[e] * columns.weights[f]
                    ways += both * now[rows.indices[e], columns.indices[f]]
            longer[p, q] = decay * ways
            product += now[p, q] * longer[p, q]
    return product
