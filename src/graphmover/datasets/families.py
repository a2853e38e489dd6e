"""Families of random graphs that differ in global structure but not in degrees.

The nodes of a graph are evenly spaced on a circle. A family is a kernel: the weight of an edge
between two positions. Kernels are balanced, so that every node has the same expected degree,
and nodes get random strengths if the kernel makes degrees less varied than in the `random`
family. The number of edges depends on the number of nodes alone, and the nodes are renumbered
at random.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.checks import require_integer
from graphmover._utils.random_state import RandomState, random_generator
from graphmover._utils.segments import offsets_from_counts
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The most entries of a (graphs, nodes, nodes) array in memory.
_CHUNK_ENTRIES = 2_000_000
_BALANCING_STEPS = 20
_MAX_SPREAD = 1.0


def _random(x: Floats, y: Floats) -> Floats:
    return np.ones(np.broadcast_shapes(x.shape, y.shape))


def _ring(x: Floats, y: Floats) -> Floats:
    apart = np.abs(x - y)
    around = np.minimum(apart, 1 - apart)
    shortcut = 0.006
    weights: Floats = np.exp(-0.5 * (around / 0.08) ** 2) + shortcut
    return weights


def _two_communities(x: Floats, y: Floats) -> Floats:
    return np.where(_same_part(x, y, 2), 1.0, 0.05)


def _four_communities(x: Floats, y: Floats) -> Floats:
    return np.where(_same_part(x, y, 4), 1.0, 0.03)


def _outpost(x: Floats, y: Floats) -> Floats:
    """Two communities, one of them a quarter of the nodes."""
    return np.where((x < 0.25) == (y < 0.25), 1.0, 0.03)


def _hierarchy(x: Floats, y: Floats) -> Floats:
    """Two communities of two communities each."""
    return np.where(_same_part(x, y, 4), 1.0, np.where(_same_part(x, y, 2), 0.1, 0.005))


def _same_part(x: Floats, y: Floats, n_parts: int) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = np.floor(x * n_parts) == np.floor(y * n_parts)
    return same


_FAMILIES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "random": _random,
    "ring": _ring,
    "two communities": _two_communities,
    "four communities": _four_communities,
    "outpost": _outpost,
    "hierarchy": _hierarchy,
}


@overload
def make_graph_families(
    n_graphs: int = ...,
    *,
    min_nodes: int = ...,
    max_nodes: int = ...,
    mean_degree: float = ...,
    random_state: RandomState = ...,
    return_X_y: Literal[False] = ...,
) -> Dataset: ...


@overload
def make_graph_families(
    n_graphs: int = ...,
    *,
    min_nodes: int = ...,
    max_nodes: int = ...,
    mean_degree: float = ...,
    random_state: RandomState = ...,
    return_X_y: Literal[True],
) -> tuple[GraphBatch, NDArray[np.int64]]: ...


def make_graph_families(
    n_graphs: int = 600,
    *,
    min_nodes: int = 30,
    max_nodes: int = 60,
    mean_degree: float = 8.0,
    random_state: RandomState = None,
    return_X_y: bool = False,
) -> Dataset | tuple[GraphBatch, NDArray[np.int64]]:
    """Draw random graphs of six families that differ in global structure alone.

    Numbers of nodes and edges do not depend on the family, and degrees have the same spread
    in all of them: a classifier of degree histograms is no better than chance. The families
    are `random` (Erdos-Renyi), `ring` (a small world), `two communities`, `four communities`,
    `outpost` (a small community beside a large one) and `hierarchy` (two communities of two).

    Parameters
    ----------
    n_graphs : int, default=600
        Divided among the families as evenly as possible, in random order.
    min_nodes, max_nodes : int, default=30 and 60
        The number of nodes n is drawn uniformly between them, both included.
    mean_degree : float, default=8.0
        Every graph has ``round(mean_degree * n / 2)`` edges.
    random_state : int, Generator, RandomState or None, default=None
        An int makes the result reproducible.
    return_X_y : bool, default=False
        Return ``(graphs, target)`` instead of a `Dataset`.

    Returns
    -------
    Dataset
        ``target`` numbers the families, ``target_names`` names them.

    Examples
    --------
    >>> import graphmover as gm
    >>> data = gm.make_graph_families(60, random_state=0)
    >>> data
    Dataset('graph families', 60 graphs, 6 classes)
    >>> data.target_names[3]
    'four communities'
    """
    _check_arguments(n_graphs, min_nodes, max_nodes, mean_degree)
    rng = random_generator(random_state)
    family_of_graph = rng.permutation(np.arange(n_graphs) % len(_FAMILIES))
    node_counts = rng.integers(min_nodes, max_nodes, size=n_graphs, endpoint=True)
    edge_counts = np.rint(mean_degree * node_counts / 2).astype(np.int64)
    first_edge = offsets_from_counts(edge_counts)[:-1]
    edges = np.empty((edge_counts.sum(), 2), np.int64)
    for family, kernel in enumerate(_FAMILIES.values()):
        of_family = family_of_graph == family
        for n_nodes in np.unique(node_counts[of_family]).tolist():
            graphs = np.flatnonzero(of_family & (node_counts == n_nodes))
            n_edges = int(edge_counts[graphs[0]])
            weights = _balanced_weights(kernel, n_nodes, mean_degree)
            spread = _spread(weights, mean_degree)
            n_chunks = math.ceil(len(graphs) * n_nodes**2 / _CHUNK_ENTRIES)
            for chunk in np.array_split(graphs, min(n_chunks, len(graphs))):
                rows = first_edge[chunk, np.newaxis] + np.arange(n_edges)
                edges[rows] = _draw_edges(weights, spread, len(chunk), n_edges, rng)
    batch = GraphBatch.from_edges(node_counts, edge_counts, edges)
    if return_X_y:
        return batch, family_of_graph
    return Dataset("graph families", batch, family_of_graph, tuple(_FAMILIES))


def _check_arguments(n_graphs: int, min_nodes: int, max_nodes: int, mean_degree: float) -> None:
    counts = {"n_graphs": n_graphs, "min_nodes": min_nodes, "max_nodes": max_nodes}
    for name, value in counts.items():
        require_integer(name, value, least=1)
    if max_nodes < min_nodes:
        raise ValueError(f"max_nodes must be at least min_nodes = {min_nodes}, got {max_nodes}")
    if isinstance(mean_degree, bool) or not isinstance(mean_degree, int | float | np.number):
        raise TypeError(f"mean_degree must be a real number, got {mean_degree!r}")
    if not 0 < mean_degree <= min_nodes - 1:
        raise ValueError(
            f"mean_degree must be above 0 and at most min_nodes - 1 = {min_nodes - 1}, "
            f"got {mean_degree}"
        )


def _balanced_weights(
    kernel: Callable[[Floats, Floats], Floats], n_nodes: int, mean_degree: float
) -> Floats:
    """Scale weights w until all expected degrees are equal, for edge probabilities 1 - exp(-w)."""
    x = np.arange(n_nodes) / n_nodes
    weights = kernel(x[:, np.newaxis], x)
    np.fill_diagonal(weights, 0)
    weights *= mean_degree / weights.sum(axis=1).mean()
    for _ in range(_BALANCING_STEPS):
        excess = np.sqrt(-np.expm1(-weights).sum(axis=1) / mean_degree)
        weights /= np.outer(excess, excess)
    return weights


def _spread(weights: Floats, mean_degree: float) -> float:
    """Return the spread of log strengths for which degrees vary as in a random graph.

    A degree is a sum of Bernoulli draws with probabilities p, of variance sum of p - p**2, which
    is largest when all p are equal. Strengths make up the difference: they change a degree by
    about sum of dp / d(log w).
    """
    p = -np.expm1(-weights)
    lacking = (p**2).sum(axis=1).mean() - mean_degree**2 / (len(p) - 1)
    response = (weights * (1 - p)).sum(axis=1).mean()
    return float(min(np.sqrt(max(lacking, 0)) / max(response, 1e-9), _MAX_SPREAD))


def _draw_edges(
    weights: Floats, spread: float, n_graphs: int, n_edges: int, rng: np.random.Generator
) -> Ints:
    """Draw edges by weight without replacement; shape (n_graphs, n_edges, 2).

    Each pair of nodes draws an exponential waiting time at the rate of its weight; those with
    the shortest times are the sample (Efraimidis and Spirakis 2006).
    """
    n_nodes = len(weights)
    u, v = np.triu_indices(n_nodes, 1)
    strengths = np.exp(spread * rng.standard_normal((n_graphs, n_nodes)))
    rates = weights[u, v] * strengths[:, u] * strengths[:, v]
    times = rng.standard_exponential(rates.shape) / rates
    first = np.argpartition(times, n_edges - 1, axis=1)[:, :n_edges]
    numbers = rng.permuted(np.tile(np.arange(n_nodes), (n_graphs, 1)), axis=1)
    pairs = np.stack([u[first], v[first]], axis=2)
    drawn: Ints = numbers[np.arange(n_graphs)[:, np.newaxis, np.newaxis], pairs]
    return drawn
