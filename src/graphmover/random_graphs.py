"""Algorithm 2: random graphs, each a small set of node embeddings of equal mass.

Or, beyond the paper, whole training graphs with their own masses.

They are drawn one after another from one generator, so that the first R' of R random
graphs are those of a run with R'.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.checks import require_integer
from graphmover._utils.random_state import RandomState, random_generator
from graphmover._utils.segments import offsets_from_counts
from graphmover.nodes.embeddings import NodeEmbeddings, Nodes
from graphmover.parameters import require_allowed


def sample_random_graphs(
    nodes: Nodes,
    n_components: int,
    *,
    max_random_nodes: int | None = 20,
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
    max_random_nodes : int or None
        The paper's D_max; each random graph's size is uniform in 1 ... D_max. None: random
        graphs are whole training graphs, with their own masses, none of them twice; if there
        are fewer than ``n_components``, all of them.
    sampling : {"anchor", "uniform"}
        "anchor", RGE(ASG): nodes of one training graph, with their labels, without
        replacement while there are enough; when the random graph is larger, all of them
        once and the rest with replacement. "uniform", RGE(RF): points uniform between the
        smallest and the largest coordinate of all training nodes; they have no labels.
    random_state : int, None, numpy.random.Generator or RandomState

    Returns
    -------
    NodeEmbeddings
        One entry per random graph; all masses are 1, except in whole training graphs.

    Examples
    --------
    >>> import graphmover as gm
    >>> nodes = gm.embed_nodes(gm.make_graph_families(10, random_state=0).graphs)
    >>> gm.sample_random_graphs(nodes, 3, max_random_nodes=1, random_state=0)
    NodeEmbeddings(3 nodes in 3 graphs, d = 4)
    """
    require_allowed("sampling", sampling)
    require_integer("n_components", n_components, least=1)
    require_allowed("max_random_nodes", max_random_nodes)
    if not nodes.offsets[-1]:
        raise ValueError("random graphs are drawn from nodes, but no graph has any")
    if sampling == "uniform" and nodes.has_labels:
        raise ValueError(
            'sampling="uniform" draws points without labels: use sampling="anchor", or no labels'
        )
    rng = random_generator(random_state)
    with_nodes = np.flatnonzero(nodes.node_counts)
    if max_random_nodes is None:
        if sampling == "uniform":
            raise ValueError('max_random_nodes=None needs sampling="anchor"')
        return nodes.on_host(rng.permutation(with_nodes)[:n_components])
    if sampling == "uniform":
        return uniform_random_graphs(
            nodes.extent, nodes.n_dimensions, n_components, max_random_nodes, rng
        )
    drawn = []
    for _ in range(n_components):
        size = rng.integers(1, max_random_nodes + 1)
        graph = with_nodes[rng.integers(len(with_nodes))]
        drawn.append(anchor_nodes(rng, nodes.offsets[graph], nodes.offsets[graph + 1], size))
    return random_graphs_at(nodes, drawn)


def uniform_random_graphs(
    extent: tuple[float, float],
    n_dimensions: int,
    n_components: int,
    max_random_nodes: int,
    rng: np.random.Generator,
) -> NodeEmbeddings:
    """Algorithm 2, lines 2-3: points uniform between two ends of the range of coordinates."""
    low, high = extent
    drawn = [
        low + (high - low) * rng.random((rng.integers(1, max_random_nodes + 1), n_dimensions))
        for _ in range(n_components)
    ]
    points = np.concatenate(drawn)
    offsets = offsets_from_counts([len(part) for part in drawn])
    return NodeEmbeddings(points, np.ones(len(points), np.int64), offsets)


def random_graphs_at(nodes: Nodes, places: Sequence[NDArray[np.int64]]) -> NodeEmbeddings:
    """Algorithm 2, lines 5-7: random graphs of the nodes at these places, all masses 1."""
    chosen = np.concatenate(places)
    points, labels = nodes.nodes_at(chosen)
    offsets = offsets_from_counts([len(part) for part in places])
    return NodeEmbeddings(points, np.ones(len(chosen), np.int64), offsets, labels)


def anchor_nodes(
    rng: np.random.Generator, first: np.int64, last: np.int64, size: np.int64
) -> NDArray[np.int64]:
    """Draw nodes of a graph, first to last - 1: none twice before all are drawn once."""
    if size <= last - first:
        return first + rng.choice(last - first, size, replace=False)
    again = rng.integers(first, last, size - (last - first))
    return np.concatenate([np.arange(first, last), again])
