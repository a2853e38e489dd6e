"""Exact transport on one thread: graphmover against what else solves it exactly.

    python benchmarks/transport.py                # all of it, real problems where there is data
    python benchmarks/transport.py even           # graph against graph of the same size
    python benchmarks/transport.py hard           # points on lines and circles, in far clusters
    python benchmarks/transport.py growth threads # how time grows, what a second thread gives

graphmover's time includes the costs and the merging of equal nodes. POT's compiled core
``emd_c`` is given the costs and integer masses; ``ot.emd2`` is called as users call it, on
the costs of ``ot.dist``; OR-tools' min-cost flow gets integer costs, and its time
includes building the network.
Each ratio is taken within a round on the same problems; the table shows medians over rounds.
Real data comes from the folder that GRAPHMOVER_DATA names.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import ot
from numba import njit
from ot.lp.emd_wrap import emd_c
from scipy.spatial.distance import cdist

import graphmover as gm
from graphmover.backends import BACKENDS
from graphmover.backends.rows import distances_between
from graphmover.transport import GroundDistance, TreeDistance
from graphmover.transport.cpu import engine as _cpu
from graphmover.transport.cpu import few_sinks as _few_sinks
from graphmover.transport.cpu.ground import cost_bound
from graphmover.transport.cpu.problem import (
    INFINITE,
    NEITHER,
    Costs,
    Pair,
    Problem,
    Scaling,
    Sinks,
    equal_masses,
    fill_costs,
    largest,
    lay_out_sinks,
    units_per_cost,
)

SHAPES = [(18, 5), (30, 10), (30, 30), (75, 30), (500, 15), (1000, 30), (5000, 30)]
EVEN = [33, 45, 60, 90, 120, 250, 400]
#: The number of dimensions, and the largest mass of a node.
EVEN_KINDS = [(4, 1), (4, 5), (40, 1), (40, 5)]
SMOOTH = [8, 12, 16, 20, 24, 28, 32, 33, 36, 40, 48, 56, 64, 65, 72, 80, 96, 112, 120]
REAL = [
    ("MUTAG", "uniform", 10),
    ("ENZYMES", "uniform", 10),
    ("ENZYMES", "anchor", 30),
    ("NCI1", "anchor", 10),
    ("PROTEINS", "anchor", 10),
    ("IMDB-BINARY", "anchor", 10),
]


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


@njit(nogil=True, cache=True)
def parts(lanes, ground, sources, sinks, with_start, out):  # type: ignore[no-untyped-def]
    """Compute the costs alone, or with the start: every source to its cheapest sink."""
    stride, d = len(lanes), sources.points.shape[1]
    n = largest(sources.offsets)
    memory = np.empty((_few_sinks.TABLES, n * stride), np.int64)
    state = _few_sinks._state(lanes, memory, n, stride)
    columns = np.empty(d * stride), np.empty(sources.labels.shape[1] * stride, np.int64)
    for r in range(len(sinks.offsets) - 1):
        m = sinks.offsets[r + 1] - sinks.offsets[r]
        laid_out = Sinks(columns[0], columns[1], stride, m)
        lay_out_sinks(lanes, sinks, r, laid_out)
        for g in range(len(sources.offsets) - 1):
            pair = Pair(sources, g, sinks, r)
            first, last = sources.offsets[g], sources.offsets[g + 1]
            problem = Problem(
                ground, sources.points, sources.labels, first, last - first, NEITHER, laid_out
            )
            equal_masses(ground, pair, state.supply, state.demand)
            units = units_per_cost(cost_bound(ground, pair), _few_sinks._COST_BITS)
            if with_start:
                _few_sinks._assign(lanes, problem, 1, INFINITE, units, state)
            else:
                scaling = Scaling(units, _few_sinks._COST_BITS, _few_sinks._LOW_BITS)
                costs = Costs(state.cost, state.integer_cost)
                fill_costs(lanes, problem, range(first, last), laid_out, scaling, costs, 0)
            out[g, r] = state.cost[0]


def seconds(work: Callable[[], Any], at_least: float = 0.02) -> float:
    """Time of one call, repeated until the clock is fine enough."""
    calls, start = 0, time.perf_counter()
    while True:
        work()
        calls += 1
        elapsed = time.perf_counter() - start
        if elapsed >= at_least:
            return elapsed / calls


def compare(name: str, x: Any, y: Any, rounds: int, sample: int, rng: np.random.Generator) -> float:
    """Print one row; return the ratio to emd_c."""
    n_problems = len(x) * len(y)
    chosen = rng.choice(n_problems, min(sample, n_problems), replace=False)
    pairs = np.column_stack(np.unravel_index(chosen, (len(x), len(y))))
    given = problems(x, y, pairs)
    few = given[: max(3, len(given) // 5)]
    ours = gm.earth_movers_distance(x, y)[tuple(pairs.T)]
    theirs = np.array([by_emd_c(problem) for problem in given])
    worst = np.abs(ours / theirs - 1).max()
    assert worst < 1e-9, (name, worst)
    sides = [_cpu.prepare(s.points, s.masses, s.offsets, None) for s in (x, y)]
    ground = _cpu.rule_of(None, x.n_dimensions)
    lanes = (0,) * next(w for w in (8, 16, 32) if w >= np.diff(sides[1].offsets).max())
    out = np.empty((len(x), len(y)))
    rows = []
    for _ in range(rounds):
        own = seconds(lambda: gm.earth_movers_distance(x, y)) / n_problems
        costs = seconds(lambda: parts(lanes, ground, *sides, False, out)) / n_problems
        start = seconds(lambda: parts(lanes, ground, *sides, True, out)) / n_problems
        core = seconds(lambda: [by_emd_c(problem) for problem in given]) / len(given)
        public = seconds(lambda: [by_emd2(problem) for problem in few]) / len(few)
        tools = float("nan")
        if len(few[0][0]) <= 1000 and HAS_ORTOOLS:
            tools = seconds(lambda: [by_ortools(problem) for problem in few]) / len(few)
        rows.append(
            (own, core / own, public / own, tools / own, costs / own, (start - costs) / own)
        )
    own, core, public, tools, costs, start = (median(column) for column in zip(*rows, strict=True))
    print(
        f"| {name:<22} | {1e6 * own:8.2f} | {core:6.1f} | {public:6.1f} | {tools:8.1f} | "
        f"{100 * costs:3.0f} | {100 * start:3.0f} | {100 * (1 - costs - start):3.0f} | "
        f"{worst:.0e} |",
        flush=True,
    )
    return core


def header() -> None:
    print(
        "| problem                | us       | emd_c  | emd2   | OR-tools | costs % | start % | "
        "solve % | error |\n|---|---|---|---|---|---|---|---|---|"
    )


def shapes(rounds: int) -> None:
    rng = np.random.default_rng(0)
    header()
    ratios = []
    for n, m in SHAPES:
        n_x, n_y = (300, 100) if n <= 75 else (12, 40) if n <= 500 else (3, 20)
        x, y = random_nodes(rng, n_x, n, 4), random_nodes(rng, n_y, m, 1)
        ratios.append(compare(f"{n}x{m}", x, y, rounds, 100 if n <= 500 else 6, rng))
    mean = np.exp(np.mean(np.log(ratios)))
    print(f"times emd_c: geometric mean {mean:.1f}, least {min(ratios):.1f}\n")


def real(rounds: int) -> None:
    rng = np.random.default_rng(0)
    header()
    for name, sampling, most in REAL:
        graphs = gm.load_dataset(name).graphs
        chosen = graphs[rng.permutation(len(graphs))[:300]]
        x = gm.embed_nodes(chosen, 6, use_node_labels=False, n_jobs=-1)
        y = gm.sample_random_graphs(
            x, 100, max_random_nodes=most, sampling=sampling, random_state=0
        )
        compare(f"{name} {sampling} {most}", x, y, rounds, 300, rng)
    print()


def even(rounds: int) -> None:
    """As many nodes on both sides: ratios to emd_c, and how smoothly time grows."""
    rng = np.random.default_rng(0)
    names = [f"d {d}, masses to {most}" for d, most in EVEN_KINDS]
    print(f"| even | {' | '.join(f'{name}: us | times emd_c' for name in names)} |")
    print(f"|---{'|---|---' * len(names)}|")
    ratios = []
    for n in EVEN:
        count = max(3, min(24, 1200 // n))
        cells = []
        for d, most in EVEN_KINDS:
            x, y = (random_nodes(rng, count, n, most, d) for _ in range(2))
            own, ratio = against_emd_c(x, y, rounds)
            ratios.append(ratio)
            cells.append(f"{1e6 * own:.1f} | {ratio:.1f}")
        print(f"| {n}x{n} | {' | '.join(cells)} |", flush=True)
    mean = np.exp(np.mean(np.log(ratios)))
    print(f"\ntimes emd_c: geometric mean {mean:.1f}, least {min(ratios):.1f}\n")
    smooth(rounds)


def against_emd_c(x: Any, y: Any, rounds: int) -> tuple[float, float]:
    """Time for a pair of graphs, with costs and merging, and how many times longer emd_c takes."""
    count = len(x) * len(y)
    given = problems(x, y, np.ndindex(len(x), len(y)))[: 16 if len(x.points) > 400 else None]
    out = np.empty((len(x), len(y)))

    def engine() -> None:
        _cpu.distances(*(_cpu.prepare(s.points, s.masses, s.offsets, None) for s in (x, y)), out)

    engine()
    theirs = np.array([by_emd_c(problem) for problem in given])
    assert np.abs(out.ravel()[: len(given)] / theirs - 1).max() < 1e-9
    rows = []
    for _ in range(rounds):
        own = seconds(engine) / count
        rows.append((own, seconds(lambda: [by_emd_c(p) for p in given]) / len(given) / own))
    own, ratio = (median(column) for column in zip(*rows, strict=True))
    return own, ratio


def smooth(rounds: int) -> None:
    """Time for a pair of nodes: no step where another solver takes over."""
    rng = np.random.default_rng(0)
    print("Nanoseconds for a pair of nodes.\n")
    print(f"| n x n | {' | '.join(f'd {d}, masses to {most}' for d, most in EVEN_KINDS)} |")
    print(f"|---{'|---' * len(EVEN_KINDS)}|")
    for n in SMOOTH:
        cells = []
        for d, most in EVEN_KINDS:
            x, y = (random_nodes(rng, 24, n, most, d) for _ in range(2))
            sides = [_cpu.prepare(s.points, s.masses, s.offsets, None) for s in (x, y)]
            out = np.empty((len(x), len(y)))
            _cpu.distances(*sides, out)
            took = median(
                seconds(lambda sides=sides, out=out: _cpu.distances(*sides, out))
                for _ in range(rounds)
            )
            cells.append(f"{1e9 * took / out.size / n**2:.1f}")
        print(f"| {n}x{n} | {' | '.join(cells)} |", flush=True)
    print()


def tree(rounds: int) -> None:
    """Labels of depths 0 to 3 alone, whole graphs against whole graphs: the closed form."""
    rng = np.random.default_rng(0)
    backend = BACKENDS["cpu"]
    print(
        "| labels of depths 0 to 3 | prepare, ms | million a second | times emd_c | "
        "times our engine |\n|---|---|---|---|---|"
    )
    engine = GroundDistance(floor=0.0, per_label=1 / 4)
    for name, count in itertools.product(("NCI1", "PROTEINS"), (1024, None)):
        graphs = gm.load_dataset(name).graphs
        x = gm.embed_nodes(
            graphs, node_embedding=None, node_mass="equal", wl_iterations=3, wl_depths="all"
        )
        y = x[rng.permutation(len(x))[:count]]
        some_x, some_y = x[rng.permutation(len(x))[:20]], y[:20]
        pairs = list(np.ndindex(len(some_x), len(some_y)))
        given = [label_problem(some_x[i], some_y[j]) for i, j in pairs]
        ours = gm.earth_movers_distance(some_x, some_y, ground=TreeDistance())
        theirs = np.array([by_emd_c(problem) for problem in given]).reshape(ours.shape)
        assert np.abs(ours - theirs).max() < 1e-12, name
        solved = gm.earth_movers_distance(some_x, some_y, ground=engine)
        assert np.abs(ours - solved).max() < 1e-12, name
        rows = []
        for _ in range(rounds):
            start = time.perf_counter()
            prepared = backend.prepare(y, TreeDistance())
            ready = time.perf_counter() - start
            own = seconds(partial(distances_between, backend, x, prepared, len(y)))
            own /= len(x) * len(y)
            core = seconds(lambda: [by_emd_c(problem) for problem in given]) / len(given)
            solver = seconds(lambda: gm.earth_movers_distance(some_x, some_y, ground=engine))
            rows.append((1e3 * ready, 1e-6 / own, core / own, solver / len(given) / own))
        shown = " | ".join(f"{median(column):.1f}" for column in zip(*rows, strict=True))
        print(f"| {name}, {len(x)} x {len(y)} | {shown} |", flush=True)
    print()


def label_problem(a: Any, b: Any) -> Given:
    """Costs and masses of two graphs of labels alone."""
    costs = (a.labels[:, None, :] != b.labels[None, :, :]).mean(axis=2)
    supply = a.masses * float(b.masses.sum())
    demand = b.masses * float(a.masses.sum())
    return Given(supply, demand, a.points, b.points, costs)


HARD_SHAPES = [(30, 30), (75, 30), (300, 30), (3000, 30), (200, 40), (3000, 40)]
HARD_SHAPES += [(500, 200), (1000, 300), (3000, 300), (400, 400)]
HARD_KINDS = ["crossing lines", "oblique lines", "one line", "line and plane", "linked circles"]
HARD_KINDS += ["concentric circles", "far clusters", "grid", "cube"]


def hard_points(rng: np.random.Generator, kind: str, n: int, m: int) -> tuple[Any, Any]:
    """Draw sources and sinks on which augmenting paths get in each other's way."""
    x, y = np.zeros((n, 3)), np.zeros((m, 3))
    x[:, 0], y[:, 1] = rng.random(n) - 0.5, rng.random(m) - 0.5
    if kind == "oblique lines":
        x, y = ((rng.random((k, 1)) - 0.5) * rng.normal(size=3) for k in (n, m))
        y += 0.1
    elif kind == "one line":
        y = y[:, [1, 0, 2]]
    elif kind == "line and plane":
        y[:, 2] = rng.random(m) - 0.5
    elif kind in ("linked circles", "concentric circles"):
        there, here = 2 * np.pi * rng.random(n), 2 * np.pi * rng.random(m)
        x = np.column_stack([np.cos(there), np.sin(there), np.zeros(n)])
        y = np.column_stack([np.cos(here), np.sin(here), np.zeros(m)]) / 2
        if kind == "linked circles":
            y = 2 * y[:, [0, 2, 1]] + [1, 0, 0]
    elif kind == "far clusters":
        x, y = 0.01 * rng.normal(size=(n, 3)), 0.01 * rng.normal(size=(m, 3)) + [1, 0, 0]
    elif kind == "grid":
        x, y = rng.integers(0, 20, (n, 3)) / 1.0, rng.integers(0, 20, (m, 3)) / 1.0
    elif kind == "cube":
        x, y = rng.random((n, 6)), rng.random((m, 6))
    return x, y


def hard(rounds: int) -> None:
    """Print ratios to emd_c for kinds of points and of masses."""
    rng = np.random.default_rng(0)
    masses = [
        lambda k: np.ones(k, np.int64),
        lambda k: rng.integers(1, 1001, k),
        lambda k: (10 * (1 + rng.pareto(1, k))).clip(max=10**7).astype(np.int64),
    ]
    print("Ratios to emd_c for equal masses / masses 1 to 1000 / heavy-tailed masses.\n")
    print(f"| n x m | {' | '.join(HARD_KINDS)} |\n|---{'|---' * len(HARD_KINDS)}|")
    ratios = []
    for n, m in HARD_SHAPES:
        count = max(1, min(8, int((400_000 / (n * m)) ** 0.5)))
        cells = []
        for kind in HARD_KINDS:
            row = []
            for of_masses in masses:
                sides = zip(*(hard_points(rng, kind, n, m) for _ in range(count)), strict=True)
                x, y = (
                    gm.NodeEmbeddings(
                        np.concatenate(points),
                        of_masses(count * size),
                        np.arange(count + 1) * size,
                    )
                    for points, size in zip(sides, (n, m), strict=True)
                )
                row.append(ratio_to_emd_c(x, y, rounds))
            ratios += row
            cells.append(" / ".join(f"{ratio:.1f}" for ratio in row))
        print(f"| {n}x{m} | {' | '.join(cells)} |", flush=True)
    mean = np.exp(np.mean(np.log(ratios)))
    print(f"\ntimes emd_c: geometric mean {mean:.1f}, least {min(ratios):.1f}\n")


def ratio_to_emd_c(x: Any, y: Any, rounds: int) -> float:
    """How many times longer emd_c takes, by the time of the engine with merging."""
    given = problems(x, y, np.ndindex(len(x), len(y)))
    out = np.empty((len(x), len(y)))

    def engine() -> None:
        _cpu.distances(*(_cpu.prepare(s.points, s.masses, s.offsets, None) for s in (x, y)), out)

    engine()
    theirs = np.reshape([by_emd_c(problem) for problem in given], out.shape)
    assert np.abs(out / theirs - 1).max() < 1e-9
    return median(
        seconds(lambda: [by_emd_c(problem) for problem in given], 0) / seconds(engine, 0)
        for _ in range(rounds)
    )


def growth(rounds: int) -> None:
    rng = np.random.default_rng(0)
    print("| n x m | us | exponent since the first |\n|---|---|---|")
    for m in (5, 30):
        first = None
        for n in (100, 1_000, 10_000, 100_000):
            count = max(1, 20_000 // n)
            y = random_nodes(rng, 10, m, 1)
            x = random_nodes(rng, min(count, 50), n, 4)
            one = [_cpu.prepare(s.points, s.masses, s.offsets, None) for s in (x, y)]
            out = np.empty((len(x), len(y)))
            _cpu.distances(*one, out)
            took = median(seconds(lambda: _cpu.distances(*one, out)) for _ in range(rounds))
            took /= out.size
            first = first or (n, took)
            slope = np.log(took / first[1]) / np.log(n / first[0]) if n > first[0] else float("nan")
            print(f"| {n}x{m} | {1e6 * took:.1f} | n^{slope:.2f} |", flush=True)
    for n in (100, 1_000):
        first = None
        for m in (4, 8, 16, 32, 64):
            x, y = random_nodes(rng, 10, n, 4), random_nodes(rng, 10, m, 1)
            took = (
                median(seconds(lambda: gm.earth_movers_distance(x, y)) for _ in range(rounds)) / 100
            )
            first = first or (m, took)
            slope = np.log(took / first[1]) / np.log(m / first[0]) if m > first[0] else float("nan")
            print(f"| {n}x{m} | {1e6 * took:.1f} | m^{slope:.2f} |", flush=True)
    print()


def threads(rounds: int) -> None:
    rng = np.random.default_rng(0)
    x, y = random_nodes(rng, 2_000, 30, 4), random_nodes(rng, 200, 10, 1)
    one = gm.earth_movers_distance(x, y)
    assert (gm.earth_movers_distance(x, y, n_jobs=2) == one).all()
    ratios = []
    for _ in range(rounds):
        alone = seconds(lambda: gm.earth_movers_distance(x, y))
        ratios.append(alone / seconds(lambda: gm.earth_movers_distance(x, y, n_jobs=2)))
    print(f"2 threads: {median(ratios):.2f} times the throughput of 1, same bits\n")


try:
    import ortools  # noqa: F401

    HAS_ORTOOLS = True
except ImportError:
    HAS_ORTOOLS = False

SECTIONS = {
    "shapes": shapes,
    "real": real,
    "even": even,
    "tree": tree,
    "hard": hard,
    "growth": growth,
    "threads": threads,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Exact transport on one thread, as ratios.")
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}; all by default")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    gm.compile_all()  # a first run would make do with fewer kernels
    for section in arguments.sections or SECTIONS:
        if section in ("real", "tree") and not os.environ.get("GRAPHMOVER_DATA"):
            print(f"{section}: skipped, GRAPHMOVER_DATA is not set\n")
            continue
        print(f"## {section}\n")
        SECTIONS[section](arguments.rounds)


if __name__ == "__main__":
    main()
