"""Algorithm 2: random graphs, each a small set of node embeddings of equal mass.

Or, beyond the paper, whole training graphs with their own masses.

They are drawn one after another from one generator, so that the first R' of R random
graphs are those of a run with R'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.checks import require_integer
from graphmover._utils.random_state import RandomState, random_generator
from graphmover._utils.segments import offsets_from_counts
from graphmover.nodes.embeddings import NodeEmbeddings, Nodes
from graphmover.parameters import require_allowed

Ints = NDArray[np.int64]


class RandomGraphs(NodeEmbeddings):
    """Random graphs that know where they came from.

    Attributes
    ----------
    source_graphs : ndarray of shape (R,) or None
        The index of the training graph that each random graph was drawn from. None if points were
        drawn uniformly, or if the model comes from an older file.
    source_nodes : ndarray of shape (number of nodes,) or None
        Which node of that training graph each node is.

    Examples
    --------
    >>> import graphmover as gm
    >>> nodes = gm.embed_nodes(gm.make_graph_families(10, random_state=0).graphs)
    >>> drawn = gm.sample_random_graphs(nodes, 2, max_random_nodes=3, random_state=0)
    >>> drawn.source_graphs
    array([6, 1])
    >>> drawn[1].source_nodes
    array([39])
    """

    __slots__ = ("source_graphs", "source_nodes")

    source_graphs: Ints | None
    source_nodes: Ints | None

    @classmethod
    def of(
        cls, nodes: NodeEmbeddings, source_graphs: Ints | None, source_nodes: Ints | None
    ) -> Self:
        """Return random graphs with these nodes, which come from there."""
        drawn = cls._trusted(nodes.points, nodes.masses, nodes.offsets, nodes.labels)
        drawn.source_graphs, drawn.source_nodes = source_graphs, source_nodes
        return drawn

    @classmethod
    def _trusted(
        cls, points: NDArray[np.float64], masses: Ints, offsets: Ints, labels: Ints | None
    ) -> Self:
        drawn = super()._trusted(points, masses, offsets, labels)
        drawn.source_graphs = drawn.source_nodes = None
        return drawn

    def __getitem__(self, key: Any) -> Self:
        """Select random graphs, as `NodeEmbeddings` does."""
        chosen = super().__getitem__(key)
        if self.source_graphs is not None and self.source_nodes is not None:
            numbers = NodeEmbeddings._trusted(
                self.points[:, :0], self.source_nodes, self.offsets, None
            )[key]
            chosen.source_nodes = numbers.masses
            chosen.source_graphs = np.atleast_1d(self.source_graphs[key])
        return chosen


def sample_random_graphs(
    nodes: Nodes,
    n_components: int,
    *,
    max_random_nodes: int | None = 20,
    sampling: str = "anchor",
    random_state: RandomState = None,
) -> RandomGraphs:
    """Draw random graphs of 1 to ``max_random_nodes`` nodes.

    Parameters
    ----------
    nodes : NodeEmbeddings
        The training graphs.
    n_components : int
        Number of random graphs, the paper's R.
    max_random_nodes : int or None
        The paper's D_max; each random graph's size is uniform in 1 ... D_max. None: random
        graphs are whole training graphs, with their own masses, each at most once; if there
        are fewer than ``n_components``, all of them.
    sampling : {"anchor", "uniform"}
        "anchor", RGE(ASG): nodes of one training graph, with their labels, drawn without
        replacement; if the random graph is larger than that, all of them once and the rest with
        replacement. "uniform", RGE(RF): points uniform between the smallest and the largest
        coordinate of all training nodes; they have no labels.
    random_state : int, None, numpy.random.Generator or RandomState

    Returns
    -------
    RandomGraphs
        `NodeEmbeddings` with one entry per random graph; all masses are 1, except in whole training
        graphs. ``source_graphs`` and ``source_nodes`` tell which nodes of which training graph
        they are.

    Examples
    --------
    >>> import graphmover as gm
    >>> nodes = gm.embed_nodes(gm.make_graph_families(10, random_state=0).graphs)
    >>> gm.sample_random_graphs(nodes, 3, max_random_nodes=1, random_state=0)
    RandomGraphs(3 nodes in 3 graphs, d = 4)
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
        return whole_graphs(nodes, rng.permutation(with_nodes)[:n_components])
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
) -> RandomGraphs:
    """Algorithm 2, lines 2-3: points uniform between two ends of the range of coordinates."""
    low, high = extent
    drawn = [
        low + (high - low) * rng.random((rng.integers(1, max_random_nodes + 1), n_dimensions))
        for _ in range(n_components)
    ]
    points = np.concatenate(drawn)
    offsets = offsets_from_counts([len(part) for part in drawn])
    drawn_nodes = NodeEmbeddings(points, np.ones(len(points), np.int64), offsets)
    return RandomGraphs.of(drawn_nodes, None, None)


def whole_graphs(nodes: Nodes, graphs: Ints) -> RandomGraphs:
    """Return whole training graphs as random graphs, with their own masses."""
    chosen = nodes.on_host(graphs)
    numbers = np.arange(len(chosen.masses)) - np.repeat(chosen.offsets[:-1], chosen.node_counts)
    return RandomGraphs.of(chosen, graphs, numbers)


def random_graphs_at(nodes: Nodes, places: Sequence[Ints]) -> RandomGraphs:
    """Algorithm 2, lines 5-7: random graphs of the nodes at these places, all masses 1."""
    chosen = np.concatenate(places)
    points, labels = nodes.nodes_at(chosen)
    offsets = offsets_from_counts([len(part) for part in places])
    drawn = NodeEmbeddings._trusted(points, np.ones(len(chosen), np.int64), offsets, labels)
    graphs = np.searchsorted(nodes.offsets, chosen[offsets[:-1]], side="right") - 1
    first = nodes.offsets[graphs]
    return RandomGraphs.of(drawn, graphs, chosen - np.repeat(first, np.diff(offsets)))


def anchor_nodes(
    rng: np.random.Generator, first: np.int64, last: np.int64, size: np.int64
) -> NDArray[np.int64]:
    """Draw nodes of a graph, first to last - 1: none is drawn twice before all are drawn."""
    if size <= last - first:
        return first + rng.choice(last - first, size, replace=False)
    again = rng.integers(first, last, size - (last - first))
    return np.concatenate([np.arange(first, last), again])
