"""The exact kernel that RGE replaces: indefinite, and quadratic in the number of graphs.

Its entries are earth mover's distances (Rubner, Tomasi and Guibas 2000) between all graphs, made
into inner products by double centring, as in classical multidimensional scaling (Torgerson 1952).
"""

from __future__ import annotations

import numpy as np

from graphmover.evaluation.kernels import Floats, centred
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.transport import earth_movers_distance

#: Rows of the matrix that are computed at a time.
_BLOCK = 64


def emd_kernel(nodes: NodeEmbeddings, *, n_jobs: int | None = None, device: str = "cpu") -> Floats:
    """Return ``-1/2 J D J``: D holds the exact distances between all graphs, J centres.

    Parameters
    ----------
    nodes : NodeEmbeddings
        Every graph with at least one node.
    n_jobs, device
        See `earth_movers_distance`.

    Returns
    -------
    ndarray of shape (len(nodes), len(nodes))
        Not positive semi-definite in general: `negative_part` says by how much.

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


def uncentred_kernel(
    nodes: NodeEmbeddings, *, n_jobs: int | None = None, device: str = "cpu"
) -> Floats:
    """Return ``-1/2 D``: each entry depends on its own two graphs alone."""
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
