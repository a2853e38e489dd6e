"""Exact transport between graphs of as many nodes, on one thread.

    python benchmarks/even.py           # ratios to POT's core, then how smoothly time grows
    python benchmarks/even.py smooth    # only that

`solvers.py` says how times are taken.
"""

from __future__ import annotations

import argparse

import numpy as np
from solvers import against_emd_c, by_engine, geometric_mean, least_seconds, random_nodes

import graphmover as gm

SIZES = [33, 45, 60, 90, 120, 250, 400]
SMOOTH = [8, 12, 16, 20, 24, 28, 32, 33, 36, 40, 48, 56, 64, 65, 72, 80, 96, 97, 112, 120]
#: The number of dimensions, and the largest mass of a node.
KINDS = [(4, 1), (4, 5), (40, 1), (40, 5)]
NAMES = [f"d {d}, masses to {most}" for d, most in KINDS]


def against_the_core(rounds: int) -> None:
    rng = np.random.default_rng(0)
    print(f"| n x n | {' | '.join(f'{name}: us | times emd_c' for name in NAMES)} |")
    print(f"|---{'|---|---' * len(NAMES)}|")
    ratios = []
    for n in SIZES:
        count = max(3, min(24, 1200 // n))
        cells = []
        for d, most in KINDS:
            x, y = (random_nodes(rng, count, n, most, d) for _ in range(2))
            own, ratio = against_emd_c(x, y, rounds, 100 if n <= 120 else 16)
            ratios.append(ratio)
            cells.append(f"{1e6 * own:.1f} | {ratio:.1f}")
        print(f"| {n}x{n} | {' | '.join(cells)} |", flush=True)
    print(f"\ntimes emd_c: geometric mean {geometric_mean(ratios):.1f}, least {min(ratios):.2f}\n")


def smooth(rounds: int) -> None:
    """Time for a pair of nodes: no step where another solver takes over. Sizes take turns."""
    rng = np.random.default_rng(0)
    columns = []
    for d, most in KINDS:
        tasks = []
        for n in SMOOTH:
            sides = [random_nodes(rng, 24, n, most, d) for _ in range(2)]
            out = np.empty((24, 24))
            tasks.append(lambda sides=sides, out=out: by_engine(*sides, out))
            tasks[-1]()
        columns.append([took / 24**2 for took in least_seconds(tasks, rounds)])
    print("Nanoseconds for a pair of nodes.\n")
    print(f"| n x n | {' | '.join(NAMES)} |\n|---{'|---' * len(NAMES)}|")
    for at, n in enumerate(SMOOTH):
        cells = " | ".join(f"{1e9 * column[at] / n**2:.1f}" for column in columns)
        print(f"| {n}x{n} | {cells} |")
    before, after = SMOOTH.index(32), SMOOTH.index(33)
    steps = ", ".join(f"{column[after] / column[before]:.2f}" for column in columns)
    print(f"\n33x33 takes {steps} times as long as 32x32\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", help="core, smooth; both by default")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    gm.compile_all()
    sections = {"core": against_the_core, "smooth": smooth}
    for section in arguments.sections or sections:
        sections[section](arguments.rounds)


if __name__ == "__main__":
    main()
