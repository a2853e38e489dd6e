"""What RGE replaces: the indefinite kernel of the exact distances between all graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.parallel import single_threaded_blas
from graphmover.evaluation.folds import Fold, Rows, svm_score
from graphmover.evaluation.selection import Choice, KernelSVMs, choose_c
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.transport import earth_movers_distance

Floats = NDArray[np.float64]

#: Rows of the matrix that are computed at a time.
_BLOCK = 64


def emd_kernel(nodes: NodeEmbeddings, *, n_jobs: int | None = None, device: str = "cpu") -> Floats:
    """Return ``-1/2 J D J`` for the exact distances D between all graphs, J centring.

    Parameters
    ----------
    nodes : NodeEmbeddings
        Every graph with at least one node.
    n_jobs, device
        See `earth_movers_distance`.

    Returns
    -------
    ndarray of shape (len(nodes), len(nodes))
        Not positive semi-definite in general: `negative_part` tells by how much.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.evaluation import emd_kernel
    >>> emd_kernel(gm.NodeEmbeddings([[0.0], [1.0]], [1, 1], [0, 1, 2]))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    if not isinstance(nodes, NodeEmbeddings):
        raise TypeError(f"nodes is a {type(nodes).__name__}, expected what embed_nodes returns")
    return centred(uncentred_kernel(nodes, n_jobs=n_jobs, device=device))


def centred(kernel: Floats) -> Floats:
    """Return ``J K J``: the mean of each row and each column is 0."""
    means = kernel.mean(axis=0)
    return np.asarray(kernel - means - means[:, np.newaxis] + means.mean())


def uncentred_kernel(
    nodes: NodeEmbeddings, *, n_jobs: int | None = None, device: str = "cpu"
) -> Floats:
    """Return ``-1/2 D``: each entry knows of its own two graphs alone."""
    empty = np.flatnonzero(nodes.node_counts == 0)
    if len(empty):
        raise ValueError(f"graph {empty[0]} has no nodes: it is infinitely far from all others")
    distances = np.zeros((len(nodes), len(nodes)))
    for start in range(0, len(nodes), _BLOCK):  # the upper triangle: distances are symmetric
        block = slice(start, start + _BLOCK)
        right = earth_movers_distance(nodes[block], nodes[start:], n_jobs=n_jobs, device=device)
        distances[block, start:] = right
        distances[start:, block] = right.T
    return -0.5 * distances


def negative_part(kernel: Floats) -> tuple[int, float]:
    """Return how many eigenvalues are negative, and their share of the sum of absolute values.

    Examples
    --------
    >>> import numpy as np
    >>> from graphmover.evaluation import negative_part
    >>> negative_part(np.diag([3.0, 0.0, -1.0]))
    (1, 0.25)
    """
    with single_threaded_blas():
        values = np.linalg.eigvalsh(kernel)
    negative = values[values < -1e-10 * np.abs(values).max(initial=0.0)]
    return len(negative), float(abs(negative.sum()) / max(np.abs(values).sum(), 1e-300))


def kernel_fold(
    told_by: str,
    kernels: Mapping[Any, Floats],
    range_of_c: Sequence[float],
    target: NDArray[np.int64],
    fold: Fold,
) -> Rows:
    """Score the kernel and the C that did best on inner folds."""
    best, best_name = Choice(-1.0, 0.0, None), None
    for name, kernel in kernels.items():
        choice = choose_c(KernelSVMs(kernel, range_of_c), fold.train, target, fold.seed)
        if choice[:2] > best[:2]:
            best, best_name = choice, name
    kernel = kernels[best_name]
    count, share = negative_part(centred(kernel[np.ix_(fold.train, fold.train)]))
    row = {told_by: best_name, "negative_eigenvalues": count, "negative_share": share}
    return [{**row, **svm_score(KernelSVMs(kernel, range_of_c), target, fold, best)}]
