"""Exact transport where augmenting paths get in each other's way, against POT's core.

    python benchmarks/hard.py           # points on lines and circles, in far clusters, on grids

`solvers.py` says how times are taken.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from solvers import against_emd_c, geometric_mean

import graphmover as gm

SHAPES = [(30, 30), (75, 30), (300, 30), (3000, 30), (200, 40), (3000, 40)]
SHAPES += [(500, 200), (1000, 300), (3000, 300), (400, 400)]
KINDS = ["crossing lines", "oblique lines", "one line", "line and plane", "linked circles"]
KINDS += ["concentric circles", "far clusters", "grid", "cube"]


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
    print(f"| n x m | {' | '.join(KINDS)} |\n|---{'|---' * len(KINDS)}|")
    ratios = []
    for n, m in SHAPES:
        count = max(1, min(8, int((400_000 / (n * m)) ** 0.5)))
        cells = []
        for kind in KINDS:
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
                row.append(against_emd_c(x, y, rounds, at_least=0.0)[1])
            ratios += row
            cells.append(" / ".join(f"{ratio:.1f}" for ratio in row))
        print(f"| {n}x{m} | {' | '.join(cells)} |", flush=True)
    print(f"\ntimes emd_c: geometric mean {geometric_mean(ratios):.1f}, least {min(ratios):.2f}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    gm.compile_all()
    hard(arguments.rounds)


if __name__ == "__main__":
    main()
