"""Whole training graphs as random graphs, chosen far apart: k-means++ (Arthur, Vassilvitskii 2007).

The first is drawn uniformly, each further one with a probability proportional to the square of its
distance to the nearest one chosen before. Every choice takes one row of distances: no matrix of all
distances is needed.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.parallel import for_each_chunk, number_of_threads
from graphmover.backends import AnyBackend
from graphmover.nodes.embeddings import NodeEmbeddings, Nodes
from graphmover.random_graphs import RandomGraphs, whole_graphs
from graphmover.transport.ground import Ground

Ints = NDArray[np.int64]


def spread_random_graphs(
    nodes: Nodes,
    n_components: int,
    ground: Ground | None,
    backend: AnyBackend,
    rng: np.random.Generator,
    *,
    n_jobs: int | None = None,
) -> RandomGraphs:
    """Return training graphs that are far apart, or all that have nodes if there are no more."""
    graphs = whole_graphs(nodes, np.flatnonzero(nodes.node_counts))
    return graphs[spread_graphs(graphs, n_components, ground, backend, rng, n_jobs=n_jobs)]


def spread_graphs(
    graphs: NodeEmbeddings,
    n_components: int,
    ground: Ground | None,
    backend: AnyBackend,
    rng: np.random.Generator,
    *,
    n_jobs: int | None = None,
) -> Ints:
    """Return the numbers of graphs that are far apart, or of all if there are no more.

    All graphs have nodes. The first R' of R are those of a run with R'. Where the distance is not
    symmetric, it is that of the graphs chosen to the one that may be chosen next.
    """
    n_graphs = len(graphs)
    cuts = np.linspace(0, n_graphs, min(number_of_threads(n_jobs), n_graphs) + 1).astype(np.int64)
    parts = [slice(*ends) for ends in pairwise(cuts)]
    prepared = [backend.prepare(graphs[part], ground) for part in parts]
    rows = [np.empty((1, part.stop - part.start)) for part in parts]
    nearest = np.full(n_graphs, np.inf)
    left = np.ones(n_graphs, bool)
    chosen: list[int] = []

    def compute(numbers: slice) -> None:
        last = backend.take(graphs[chosen[-1]])
        for number in range(numbers.start, numbers.stop):
            backend.distances(last, prepared[number], None, rows[number])

    while len(chosen) < min(n_components, n_graphs):
        chosen.append(_drawn(rng, nearest, left))
        left[chosen[-1]] = False
        for_each_chunk(compute, np.ones(len(parts), np.int64), most=1, n_jobs=n_jobs)
        np.minimum(nearest, np.concatenate(rows, axis=1)[0], out=nearest)
    return np.array(chosen, np.int64)


def _drawn(rng: np.random.Generator, nearest: NDArray[np.float64], left: NDArray[np.bool_]) -> int:
    """Draw one of those left; uniformly at first, and among copies of graphs chosen before."""
    squares = np.where(left, nearest, 0.0) ** 2
    total = squares.sum()
    if not 0 < total < np.inf:
        squares, total = left.astype(np.float64), float(left.sum())
    place = int(np.searchsorted(np.cumsum(squares), rng.random() * total, side="right"))
    return min(place, int(np.flatnonzero(squares)[-1]))  # sums are rounded
