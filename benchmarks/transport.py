"""Exact transport on one thread: graphmover against what else solves it exactly.

    python benchmarks/transport.py                # all of it, real problems where there is data
    python benchmarks/transport.py growth threads # how time grows, what a second thread gives

`solvers.py` says what the columns are and how times are taken; `even.py`, `hard.py` and `tree.py`
measure graph against graph, problems that are hard, and labels alone. Real data comes from the
folder that GRAPHMOVER_DATA names.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from numba import njit
from solvers import (
    HAS_ORTOOLS,
    by_emd2,
    by_emd_c,
    by_ortools,
    geometric_mean,
    least_seconds,
    problems,
    random_nodes,
)

import graphmover as gm
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
REAL = [
    ("MUTAG", "uniform", 10),
    ("ENZYMES", "uniform", 10),
    ("ENZYMES", "anchor", 30),
    ("NCI1", "anchor", 10),
    ("PROTEINS", "anchor", 10),
    ("IMDB-BINARY", "anchor", 10),
]


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
    tasks: list[Callable[[], Any]] = [
        lambda: gm.earth_movers_distance(x, y),
        lambda: parts(lanes, ground, *sides, False, out),
        lambda: parts(lanes, ground, *sides, True, out),
        lambda: [by_emd_c(problem) for problem in given],
        lambda: [by_emd2(problem) for problem in few],
    ]
    if HAS_ORTOOLS and len(few[0][0]) <= 1000:
        tasks.append(lambda: [by_ortools(problem) for problem in few])
    own, costs, start, core, public, *tools = least_seconds(tasks, rounds)
    each = own / n_problems
    rivals = [core / len(given), public / len(few), *(took / len(few) for took in tools)]
    ratios = [*(took / each for took in rivals), float("nan")][:3]
    shown = " | ".join(f"{ratio:6.1f}" for ratio in ratios)
    shares = [costs / own, (start - costs) / own, 1 - start / own]
    print(
        f"| {name:<22} | {1e6 * each:8.2f} | {shown} | "
        f"{' | '.join(f'{100 * share:3.0f}' for share in shares)} | {worst:.0e} |",
        flush=True,
    )
    return ratios[0]


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
    print(f"times emd_c: geometric mean {geometric_mean(ratios):.1f}, least {min(ratios):.1f}\n")


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


def growth(rounds: int) -> None:
    rng = np.random.default_rng(0)
    print("| n x m | us | exponent since the first |\n|---|---|---|")
    for m in (5, 30):
        show_growth([(n, m) for n in (100, 1_000, 10_000, 100_000)], "n", rng, rounds)
    for n in (100, 1_000):
        show_growth([(n, m) for m in (4, 8, 16, 32, 64)], "m", rng, rounds)
    print()


def show_growth(
    sizes: list[tuple[int, int]], growing: str, rng: np.random.Generator, rounds: int
) -> None:
    tasks, counts = [], []
    for n, m in sizes:
        x, y = random_nodes(rng, min(max(1, 20_000 // n), 50), n, 4), random_nodes(rng, 10, m, 1)
        sides = [_cpu.prepare(s.points, s.masses, s.offsets, None) for s in (x, y)]
        out = np.empty((len(x), len(y)))
        tasks.append(lambda sides=sides, out=out: _cpu.distances(*sides, out))
        tasks[-1]()
        counts.append(out.size)
    times = [took / count for took, count in zip(least_seconds(tasks, rounds), counts, strict=True)]
    at = "nm".index(growing)
    for size, took in zip(sizes, times, strict=True):
        shown = ""
        if size != sizes[0]:
            slope = np.log(took / times[0]) / np.log(size[at] / sizes[0][at])
            shown = f"{growing}^{slope:.2f}"
        print(f"| {size[0]}x{size[1]} | {1e6 * took:.1f} | {shown} |", flush=True)


def wall_seconds(task: Callable[[], Any]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def threads(rounds: int) -> None:
    rng = np.random.default_rng(0)
    x, y = random_nodes(rng, 2_000, 30, 4), random_nodes(rng, 200, 10, 1)
    one = gm.earth_movers_distance(x, y)
    assert (gm.earth_movers_distance(x, y, n_jobs=2) == one).all()
    ratios = []
    for _ in range(rounds):
        alone = wall_seconds(lambda: gm.earth_movers_distance(x, y))
        ratios.append(alone / wall_seconds(lambda: gm.earth_movers_distance(x, y, n_jobs=2)))
    print(f"2 threads: {median(ratios):.2f} times the throughput of 1, same bits\n")


SECTIONS = {
    "shapes": shapes,
    "real": real,
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
        if section == "real" and not os.environ.get("GRAPHMOVER_DATA"):
            print(f"{section}: skipped, GRAPHMOVER_DATA is not set\n")
            continue
        print(f"## {section}\n")
        SECTIONS[section](arguments.rounds)


if __name__ == "__main__":
    main()
