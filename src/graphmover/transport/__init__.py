"""Equation (1): exact earth mover's distances between sets of node embeddings.

The engines take flat arrays and validate nothing; this module is their public edge.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.nodes.masses import require_counts
from graphmover.transport.cpu import engine as cpu
from graphmover.transport.ground import Ground, GroundDistance, TreeDistance
from graphmover.transport.side import add_unmatched
from graphmover.transport.tree.histograms import depths

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

__all__ = ["GroundDistance", "TreeDistance", "earth_movers_distance", "transport_plan"]


def earth_movers_distance(
    x: NodeEmbeddings,
    y: NodeEmbeddings,
    *,
    ground: Ground | None = None,
    n_jobs: int | None = None,
    device: str = "cpu",
    progress: str | None = None,
) -> Floats:
    """Return the exact earth mover's distance between every graph of x and every graph of y.

    A graph without nodes is infinitely far from every graph.

    Parameters
    ----------
    x, y : NodeEmbeddings
        With the same number of dimensions; both with labels, or both without.
    ground : GroundDistance, TreeDistance or None
        The distance between two nodes. None is the paper's: Euclidean, and at least sqrt(d)
        where labels differ.
    n_jobs : int or None
        Threads; None is 1, -1 is all cores. The result does not depend on it.
    device : {"cpu", "cuda", "auto"}
        "cuda" is an NVIDIA GPU, for which ``n_jobs`` has no meaning; "auto" is one if there is
        one and enough work for it.
    progress : str or None
        The name of a progress bar on standard error; None shows none.

    Returns
    -------
    ndarray of shape (len(x), len(y))

    Examples
    --------
    >>> import graphmover as gm
    >>> x = gm.NodeEmbeddings([[0.0], [1.0]], [1, 1], [0, 2])
    >>> y = gm.NodeEmbeddings([[0.5], [3.0]], [1, 1], [0, 1, 2])
    >>> gm.earth_movers_distance(x, y)
    array([[0.5, 2.5]])
    """
    from graphmover.backends import backend_for  # back ends call this package's engines
    from graphmover.backends.rows import distances_between

    _check_pair(x, y)
    backend = backend_for(device, len(x) * len(y))
    prepared = backend.prepare(y, _checked_ground(ground, x, y))
    return distances_between(backend, x, prepared, len(y), n_jobs=n_jobs, progress=progress)


def transport_plan(
    x: NodeEmbeddings, y: NodeEmbeddings, *, ground: Ground | None = None
) -> tuple[Floats, float]:
    """Return an optimal transport plan between two graphs, and its cost.

    Parameters
    ----------
    x, y : NodeEmbeddings
        Of one graph each, with at least one node.
    ground : GroundDistance, TreeDistance or None
        As in `earth_movers_distance`.

    Returns
    -------
    plan : ndarray of shape (nodes of x, nodes of y)
        How much mass moves from each node to each node. Its rows add up to ``x.weights`` and
        its columns to ``y.weights``. By counts, in shares of y's mass: what is missing from
        ``y.weights`` is not matched.
    cost : float
        The earth mover's distance.

    Examples
    --------
    >>> import graphmover as gm
    >>> x = gm.NodeEmbeddings([[0.0], [1.0]], [1, 3], [0, 2])
    >>> y = gm.NodeEmbeddings([[0.0], [2.0]], [1, 1], [0, 2])
    >>> plan, cost = gm.transport_plan(x, y)
    >>> plan
    array([[0.25, 0.  ],
           [0.25, 0.5 ]])
    >>> cost
    0.75
    """
    _check_pair(x, y)
    for name, nodes in (("x", x), ("y", y)):
        if len(nodes) != 1:
            raise ValueError(f"{name} must be one graph, got {len(nodes)}; choose one: {name}[0]")
        if not len(nodes.points):
            raise ValueError(f"{name} has no nodes, so there is nothing to move")
    heavy_x, heavy_y = x.masses > 0, y.masses > 0
    out = np.zeros((len(x.points), len(y.points)))
    engine: Any = cpu  # the only one with plans
    checked = _checked_ground(ground, x, y)
    if isinstance(checked, TreeDistance):
        checked = checked.by_columns(depths(x.labels).shape[1])
    totals = np.array([x.masses.sum(), y.masses.sum()])
    if checked is not None and checked.partial:
        require_counts(totals)
    flows, cost = engine.plan(*_chosen_nodes(x, heavy_x), *_chosen_nodes(y, heavy_y), checked)
    if checked is not None and checked.unmatched is not None:
        flows = flows * (totals.max() / totals[1])
        costs = np.array([[cost]])
        add_unmatched(np, costs, totals[:1, np.newaxis], totals[1:], checked.unmatched)
        cost = costs[0, 0]
    out[np.ix_(heavy_x, heavy_y)] = flows
    return out, float(cost)


def _chosen_nodes(
    nodes: NodeEmbeddings, chosen: NDArray[np.bool_]
) -> tuple[Floats, Ints, Ints | None]:
    labels = None if nodes.labels is None else nodes.labels[chosen]
    return nodes.points[chosen], nodes.masses[chosen], labels


def _check_pair(x: NodeEmbeddings, y: NodeEmbeddings) -> None:
    for name, nodes in (("x", x), ("y", y)):
        if not isinstance(nodes, NodeEmbeddings):
            raise TypeError(
                f"{name} must be NodeEmbeddings, got {type(nodes).__name__}; turn graphs into "
                f"NodeEmbeddings with embed_nodes"
            )
    if x.n_dimensions != y.n_dimensions:
        raise ValueError(f"x has {x.n_dimensions} dimensions, y has {y.n_dimensions}")
    if (x.labels is None) != (y.labels is None):
        raise ValueError(
            "one side has labels and the other has none: drop them with with_labels(None), or "
            "give both"
        )
    if x.labels is not None and y.labels is not None and x.labels.shape[1:] != y.labels.shape[1:]:
        raise ValueError(
            f"labels of a node have the shape {x.labels.shape[1:]} in x and {y.labels.shape[1:]} "
            f"in y, expected the same"
        )


def _checked_ground(ground: Ground | None, x: NodeEmbeddings, y: NodeEmbeddings) -> Ground | None:
    """Check a ground distance and that it suits these nodes; engines take plain floats."""
    if isinstance(ground, TreeDistance):
        _require_tree(x, y)
        return TreeDistance(bool(ground.partial))
    if ground is None:
        if not x.n_dimensions:
            raise ValueError(
                "these nodes have no coordinates, only labels: give ground, such as TreeDistance()"
            )
        return None
    if not isinstance(ground, GroundDistance):
        raise TypeError(
            f"ground must be a GroundDistance, a TreeDistance or None, got {type(ground).__name__}"
        )
    checked: dict[str, float] = {}
    for name, value in ground._asdict().items():
        if value is None and name == "unmatched":
            continue
        if not (math.isfinite(value) and 0 <= value <= 1e150):
            raise ValueError(f"ground: {name} must be between 0 and 1e150, got {value}")
        checked[name] = float(value)
    return GroundDistance(**checked)


def _require_tree(x: NodeEmbeddings, y: NodeEmbeddings) -> None:
    """Raise an error unless nodes are labels alone, of which each column refines the last."""
    if x.n_dimensions or x.labels is None or y.labels is None or x.labels.shape[1:] == (0,):
        raise ValueError(
            f"TreeDistance compares labels alone, but these nodes have {x.n_dimensions} coordinates"
            f" and {'no' if x.labels is None or not x.labels.size else 'some'} labels: give points "
            f"of the shape (nodes, 0) and labels, or use GroundDistance"
        )
    labels = np.concatenate([depths(x.labels), depths(y.labels)])
    for column in range(1, labels.shape[1]):
        coarse, fine = labels[:, column - 1], labels[:, column]
        order = np.argsort(fine, kind="stable")
        split = (np.diff(fine[order]) == 0) & (np.diff(coarse[order]) != 0)
        if split.any():
            raise ValueError(
                f"TreeDistance: label {fine[order][:-1][split][0]} of column {column} stands "
                f"beside two labels of column {column - 1}, but each column must refine the one "
                f"before it: use GroundDistance(0, 1 / columns)"
            )
