"""Time and size of a page of 20,000 graphs.

NCI1, NCI109 and AIDS one after another, again and again, until there are enough of them.

    python benchmarks/report.py [--graphs 20000] [--components 64] [--folds 3]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import graphmover as gm


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=20_000)
    parser.add_argument("--components", type=int, default=64)
    parser.add_argument("--folds", type=int, default=3)
    given = parser.parse_args()
    sets = [gm.load_dataset(name) for name in ("NCI1", "NCI109", "AIDS")]
    graphs = gm.GraphBatch.concatenate([one.graphs for one in sets])
    target = np.concatenate([one.target for one in sets])
    chosen = np.arange(given.graphs) % len(graphs)
    with tempfile.TemporaryDirectory() as folder:
        made = gm.report(
            graphs[chosen],
            Path(folder) / "report.html",
            y=target[chosen],
            n_components=given.components,
            n_folds=given.folds,
            n_jobs=-1,
            verbose=True,
        )
    print(f"{made.n_graphs:,} graphs, {made.n_bytes / 1e6:.1f} MB")
    for name, seconds in made.seconds.items():
        print(f"{name:<12} {seconds:8.1f} s")


if __name__ == "__main__":
    main()
