"""Algorithm 2: random graphs, each a small set of node embeddings of equal mass.

They are drawn one after another from one generator, so that the first R' of R random
graphs are those of a run with R'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.checks import require_whole
from graphmover._utils.random_state import RandomState, random_generator
from graphmover._utils.segments import offsets_from_counts
from graphmover.nodes.embeddings import NodeEmbeddings

SAMPLINGS = ("anchor", "uniform")


def sample_random_graphs(
    nodes: NodeEmbeddings,
    n_components: int,
    *,
    max_random_nodes: int = 20,
    sampling: str = "anchor",
    random_state: RandomState = None,
) -> NodeEmbeddings:
    """Draw random graphs of 1 to ``max_random_nodes`` nodes.

    Parameters
    ----------
    nodes : NodeEmbeddings
        The training graphs.
    n_components : int
        How many random graphs, the paper's R.
    max_random_nodes : int
        The paper's D_max; each random graph's size is uniform in 1 ... D_max.
    sampling : {"anchor", "uniform"}
        "anchor", RGE(ASG): nodes of one training graph, with their labels, without
        replacement while there are enough; when the random graph is larger, all of them
        once and the rest with replacement. "uniform", RGE(RF): points uniform between the
        smallest and the largest coordinate of all training nodes; they have no labels.
    random_state : int, None, numpy.random.Generator or RandomState

    Returns
    -------
    NodeEmbeddings
        One entry per random graph, all masses 1.

    Examples
    --------
    >>> import graphmover as gm
    >>> nodes = gm.embed_nodes(gm.make_graph_families(10, random_state=0).graphs)
    >>> gm.sample_random_graphs(nodes, 3, max_random_nodes=1, random_state=0)
    NodeEmbeddings(3 nodes in 3 graphs, d = 4)
    """
    if sampling not in SAMPLINGS:
        raise ValueError(f"sampling must be one of {', '.join(SAMPLINGS)}, got {sampling!r}")
    require_whole("n_components", n_components, least=1)
    require_whole("max_random_nodes", max_random_nodes, least=1)
    if not len(nodes.points):
        raise ValueError("random graphs are drawn from nodes, but no graph has any")
    if sampling == "uniform" and nodes.labels is not None:
        raise ValueError(
            'sampling="uniform" draws points without labels: use sampling="anchor", or no labels'
        )
    rng = random_generator(random_state)
    draw = _draw_anchors if sampling == "anchor" else _draw_uniform
    points, sizes, labels = draw(rng, nodes, n_components, max_random_nodes)
    return NodeEmbeddings(
        points, np.ones(len(points), np.int64), offsets_from_counts(sizes), labels
    )


def _draw_uniform(
    rng: np.random.Generator, nodes: NodeEmbeddings, n_components: int, most: int
) -> tuple[NDArray[np.float64], list[int], None]:
    """Algorithm 2, lines 2-3."""
    low, high = nodes.points.min(), nodes.points.max()
    drawn = [
        low + (high - low) * rng.random((rng.integers(1, most + 1), nodes.n_dimensions))
        for _ in range(n_components)
    ]
    return np.concatenate(drawn), [len(points) for points in drawn], None


def _draw_anchors(
    rng: np.random.Generator, nodes: NodeEmbeddings, n_components: int, most: int
) -> tuple[NDArray[np.float64], list[int], NDArray[np.int64] | None]:
    """Algorithm 2, lines 5-7."""
    with_nodes = np.flatnonzero(nodes.node_counts)
    drawn = []
    for _ in range(n_components):
        size = rng.integers(1, most + 1)
        graph = with_nodes[rng.integers(len(with_nodes))]
        drawn.append(anchor_nodes(rng, nodes.offsets[graph], nodes.offsets[graph + 1], size))
    chosen = np.concatenate(drawn)
    labels = None if nodes.labels is None else nodes.labels[chosen]
    return nodes.points[chosen], [len(part) for part in drawn], labels


def anchor_nodes(
    rng: np.random.Generator, first: np.int64, last: np.int64, size: np.int64
) -> NDArray[np.int64]:
    """Draw nodes of a graph, first to last - 1: none twice before all are drawn once."""
    if size <= last - first:
        return first + rng.choice(last - first, size, replace=False)
    again = rng.integers(first, last, size - (last - first))
    return np.concatenate([np.arange(first, last), again])
