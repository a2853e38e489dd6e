"""The kernel's error against the number R of random graphs, beside the bound of Theorem 1.

python experiments/convergence.py --datasets MUTAG

The exact kernel is an expectation over random graphs; here it is the mean over many of them, drawn
independently of those under test.
"""

from __future__ import annotations

import math

import numpy as np
from _common import GUIDE, STYLES, Experiment, arguments, finish, new_figure

import graphmover as gm

GAMMA, D, DELTA = 1.0, 6, 0.05


def features(graphs: gm.GraphBatch, n_components: int, seed: int, jobs: int) -> np.ndarray:
    """Return features without the common factor 1 / sqrt(R)."""
    model = gm.RandomGraphEmbedding(
        n_components,
        gamma=GAMMA,
        max_random_nodes=10,
        n_dimensions=D,
        sampling="uniform",
        use_node_labels=False,
        random_state=seed,
        n_jobs=jobs,
    )
    return model.fit_transform(graphs) * math.sqrt(n_components)


def bound(R: int, most_nodes: int) -> float:
    """Return the smallest error that Theorem 1 guarantees with R random graphs.

    The kernel is between 0 and 1: a bound above 1 holds, but says nothing.
    """
    low, high = 1e-6, 1e6
    for _ in range(80):
        middle = math.sqrt(low * high)
        enough = gm.random_graphs_needed(middle, DELTA, D, most_nodes, GAMMA) <= R
        low, high = (low, middle) if enough else (middle, high)
    return high


def draw(rows: list[dict[str, str]], name: str) -> object:
    """Return the figure: errors, 1 / sqrt(R) and the bound."""
    figure, [panel] = new_figure()
    own = sorted((row for row in rows if row["dataset"] == name), key=lambda row: int(row["R"]))
    R = np.array([int(row["R"]) for row in own])
    for style, column in zip(STYLES, ("sup_error", "mean_error"), strict=False):
        label = {"sup_error": "largest error", "mean_error": "mean error"}[column]
        panel.plot(R, [float(row[column]) for row in own], label=label, markersize=3, **style)
    panel.plot(
        R, [float(row["bound"]) for row in own], label="Theorem 1", **STYLES[2], markersize=0
    )
    first = float(own[0]["sup_error"])
    panel.plot(R, first * np.sqrt(R[0] / R), linestyle="-", label="1 / sqrt(R)", **GUIDE)
    labels = {"xlabel": "random graphs R", "ylabel": "error of the kernel", "title": name}
    finish(panel, yscale="log", **labels)
    return figure


def measured(
    graphs: gm.GraphBatch, most: int, reference: int, draws: int, jobs: int
) -> dict[int, list[np.ndarray]]:
    """Return the absolute errors of all pairs of graphs, for each R and draw."""
    exact = np.zeros((len(graphs), len(graphs)))
    for part in range(10):  # to save memory
        Z = features(graphs, reference // 10, 1000 + part, jobs)
        exact += Z @ Z.T / reference
    errors: dict[int, list[np.ndarray]] = {}
    for seed in range(draws):
        Z = features(graphs, most, seed, jobs)
        for R in 2 ** np.arange(2, most.bit_length()):
            errors.setdefault(int(R), []).append(np.abs(Z[:, :R] @ Z[:, :R].T / R - exact))
    return errors


def main() -> None:
    """Measure errors over several draws, and write convergence.csv and the figure."""
    parser = arguments(__doc__, ["MUTAG"])
    parser.add_argument("--most", type=int, default=4096, help="largest R")
    parser.add_argument("--reference", type=int, default=50_000, help="random graphs for the mean")
    parser.add_argument("--draws", type=int, default=5)
    options = parser.parse_args()
    experiment = Experiment(options)
    most, reference, draws = options.most, options.reference, options.draws
    if options.quick:
        most, reference, draws = 64, 2000, 2
    for name, data in experiment.datasets():
        most_nodes = int(data.graphs.node_counts.max())
        rows = [
            {
                "dataset": name,
                "R": R,
                "sup_error": f"{np.mean([error.max() for error in errors]):.6f}",
                "mean_error": f"{np.mean([error.mean() for error in errors]):.6f}",
                "bound": f"{bound(R, most_nodes):.6f}",
                "gamma": GAMMA,
                "draws": draws,
                "reference": reference,
            }
            for R, errors in measured(data.graphs, most, reference, draws, options.jobs).items()
        ]
        experiment.update("convergence", rows, ["dataset", "R"])
        experiment.save(draw(experiment.rows("convergence"), name), "convergence")


if __name__ == "__main__":
    main()
