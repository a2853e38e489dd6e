"""Labels of depths 0 to 3 alone, whole graphs against whole graphs: the closed form, one thread.

    python benchmarks/tree.py

`solvers.py` says how times are taken. Data comes from the folder that GRAPHMOVER_DATA names.
"""

from __future__ import annotations

import argparse
import itertools
from functools import partial
from typing import Any

import numpy as np
from solvers import Given, by_emd_c, least_seconds

import graphmover as gm
from graphmover.backends import BACKENDS
from graphmover.backends.rows import distances_between
from graphmover.transport import GroundDistance, TreeDistance


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
        prepared = backend.prepare(y, TreeDistance())
        tasks = [
            partial(backend.prepare, y, TreeDistance()),
            partial(distances_between, backend, x, prepared, len(y)),
            partial(solve_all, given),
            partial(gm.earth_movers_distance, some_x, some_y, ground=engine),
        ]
        ready, own, core, solver = least_seconds(tasks, rounds)
        own /= len(x) * len(y)
        print(
            f"| {name}, {len(x)} x {len(y)} | {1e3 * ready:.1f} | {1e-6 / own:.1f} | "
            f"{core / len(given) / own:.0f} | {solver / len(given) / own:.0f} |",
            flush=True,
        )
    print()


def label_problem(a: Any, b: Any) -> Given:
    """Costs and masses of two graphs of labels alone."""
    costs = (a.labels[:, None, :] != b.labels[None, :, :]).mean(axis=2)
    supply = a.masses * float(b.masses.sum())
    demand = b.masses * float(a.masses.sum())
    return Given(supply, demand, a.points, b.points, costs)


def solve_all(given: list[Given]) -> None:
    for problem in given:
        by_emd_c(problem)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    gm.compile_all()
    tree(arguments.rounds)


if __name__ == "__main__":
    main()
