"""Problems of exact transport, what else solves them, and how benchmarks take times.

POT's compiled core ``emd_c`` is given the costs and integer masses; ``ot.emd2`` is called as users
call it, on the costs of ``ot.dist``; OR-tools' min-cost flow gets integer costs, and its time
includes building the network. graphmover's time includes the costs and the merging of equal nodes.

Times are processor time, since other programs may be running: the least of several batches of
calls. The batches of what is compared take turns, so that a slow minute hits all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import ot
from ot.lp.emd_wrap import emd_c
from scipy.spatial.distance import cdist

import graphmover as gm
from graphmover.transport.cpu import engine

try:
    import ortools  # noqa: F401

    HAS_ORTOOLS = True
except ImportError:
    HAS_ORTOOLS = False


def least_seconds(
    tasks: Sequence[Callable[[], Any]], rounds: int, at_least: float = 0.02
) -> list[float]:
    """Processor time of a call of each task: the least of its batches, one in every round."""
    least = [float("inf")] * len(tasks)
    for _ in range(rounds):
        for at, task in enumerate(tasks):
            least[at] = min(least[at], _batch(task, at_least))
    return least


def _batch(task: Callable[[], Any], at_least: float) -> float:
    calls, start = 0, time.process_time()
    while True:
        task()
        calls += 1
        elapsed = time.process_time() - start
        if elapsed >= at_least:
            return elapsed / calls


def geometric_mean(ratios: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def random_nodes(
    rng: np.random.Generator, n_graphs: int, n_nodes: int, most: int, d: int = 6
) -> Any:
    """Points uniform in the unit cube of d dimensions, masses 1 to ``most``."""
    total = n_graphs * n_nodes
    masses = rng.integers(1, most + 1, total)
    return gm.NodeEmbeddings(rng.random((total, d)), masses, np.arange(n_graphs + 1) * n_nodes)


class Given(NamedTuple):
    """Masses with a common total, points and costs; nodes without mass left out."""

    supply: Any
    demand: Any
    sources: Any
    sinks: Any
    costs: Any


def problems(x: Any, y: Any, pairs: Any) -> list[Given]:
    result = []
    for i, j in pairs:
        a, b = x[int(i)], y[int(j)]
        heavy = a.masses > 0
        supply = a.masses[heavy] * float(b.masses.sum())
        demand = b.masses * float(a.masses.sum())
        costs = cdist(a.points[heavy], b.points)
        result.append(Given(supply, demand, a.points[heavy], b.points, costs))
    return result


def by_engine(x: Any, y: Any, out: Any) -> None:
    """Fill ``out`` on one thread, with costs and merging."""
    engine.distances(*(engine.prepare(s.points, s.masses, s.offsets, None) for s in (x, y)), out)


def by_emd_c(problem: Given) -> float:
    cost = emd_c(problem.supply, problem.demand, problem.costs, 10_000_000, 1)[1]
    return float(cost / problem.supply.sum())


def by_emd2(problem: Given) -> float:
    total = problem.supply.sum()
    costs = ot.dist(problem.sources, problem.sinks, metric="euclidean")
    return float(ot.emd2(problem.supply / total, problem.demand / total, costs))


def by_ortools(problem: Given) -> float:
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

    supply, demand, _, _, costs = problem
    n, m = costs.shape
    flow = SimpleMinCostFlow()
    tails, heads = np.repeat(np.arange(n), m), np.tile(np.arange(n, n + m), n)
    capacities = np.full(n * m, int(supply.sum()))
    integer_costs = np.rint(costs.ravel() * 2**30).astype(np.int64)
    flow.add_arcs_with_capacity_and_unit_cost(tails, heads, capacities, integer_costs)
    flow.set_nodes_supplies(np.arange(n + m), np.concatenate([supply, -demand]).astype(np.int64))
    flow.solve()
    return float(flow.optimal_cost() / 2**30 / supply.sum())


def against_emd_c(
    x: Any, y: Any, rounds: int, sample: int | None = None, at_least: float = 0.02
) -> tuple[float, float]:
    """Time for a pair of graphs, and how many times longer emd_c takes, on a sample of the pairs.

    That the distances are equal is checked.
    """
    given = problems(x, y, np.ndindex(len(x), len(y)))[:sample]
    out = np.empty((len(x), len(y)))
    by_engine(x, y, out)
    theirs = np.array([by_emd_c(problem) for problem in given])
    assert np.abs(out.ravel()[: len(given)] / theirs - 1).max() < 1e-9
    own, core = least_seconds(
        [lambda: by_engine(x, y, out), lambda: [by_emd_c(problem) for problem in given]],
        rounds,
        at_least,
    )
    return own / out.size, core / len(given) / (own / out.size)
