"""What RGE replaces: the indefinite kernel of the exact distances between all graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover._parallel import single_threaded_blas
from graphmover.evaluation._folds import Fold, Rows, svm_score
from graphmover.evaluation._selection import SVM_C, Choice, KernelSVM, choose_c
from graphmover.node_embedding import NodeEmbeddings
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
    empty = np.flatnonzero(nodes.node_counts == 0)
    if len(empty):
        raise ValueError(f"graph {empty[0]} has no nodes: it is infinitely far from all others")
    distances = np.zeros((len(nodes), len(nodes)))
    for start in range(0, len(nodes), _BLOCK):  # the upper triangle: distances are symmetric
        block = slice(start, start + _BLOCK)
        right = earth_movers_distance(nodes[block], nodes[start:], n_jobs=n_jobs, device=device)
        distances[block, start:] = right
        distances[start:, block] = right.T
    means = distances.mean(axis=0)
    kernel: Floats = -0.5 * (distances - means - means[:, np.newaxis] + means.mean())
    return kernel


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
    return len(negative), float(-negative.sum() / max(np.abs(values).sum(), 1e-300))


def kernel_fold(kernels: Mapping[int, Floats], target: NDArray[np.int64], fold: Fold) -> Rows:
    """Score the number of dimensions and the C that did best on inner folds."""
    machines = [KernelSVM(C) for C in SVM_C]
    best, best_d = Choice(-1.0, 0.0, None), 0
    for d, kernel in kernels.items():
        seen = kernel[np.ix_(fold.train, fold.train)]
        choice = choose_c(machines, seen, target[fold.train], fold.seed)
        if choice[:2] > best[:2]:
            best, best_d = choice, d
    count, share = negative_part(kernels[best_d][np.ix_(fold.train, fold.train)])
    row: dict[str, Any] = {"n_dimensions": best_d}
    row |= {"negative_eigenvalues": count, "negative_share": share}
    return [{**row, **svm_score(best, kernels[best_d], target, fold)}]
