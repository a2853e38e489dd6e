"""Accuracy and time against the number R of random graphs: the paper's figure 2.

python experiments/varying_r.py --datasets ENZYMES IMDB-BINARY

All hyperparameters but gamma are fixed. Smaller R use the first random graphs of the largest R, in
every fold those that are drawn from its training set.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from _common import STYLES, Experiment, arguments, finish, new_figure, power_of_two_above

import graphmover as gm
from graphmover.evaluation import Method, paper_methods

SETS = ["ENZYMES", "NCI1", "NCI109", "IMDB-BINARY", "COLLAB"]
GRID = {"n_dimensions": (4,), "gamma": (0.3, 1.0, 3.0)}
SIZE = 15
VARIANTS = ["RGE(RF)", "RGE(ASG)", "RGE(ASG)+labels"]


def embedding_seconds(data: gm.Dataset, method: Method, n_components: int, **where: Any) -> float:
    """Return the time to embed all graphs with so many random graphs."""
    [fixed] = method.search_space.hyperparameters()
    model = method.embedding.set_params(
        n_components=n_components, random_state=0, **fixed._asdict(), **where
    )
    if model.sampling == "uniform":
        model.set_params(use_node_labels=False)  # "auto" would warn that uniform points have none
    start = time.perf_counter()
    model.fit_transform(data.graphs)
    return time.perf_counter() - start


def standard_error(row: dict[str, str]) -> float:
    """Return the standard error of a mean over folds, as if these were independent."""
    return float(row["fold_std"]) / (int(row["repeats"]) * int(row["folds"])) ** 0.5


def draw(rows: list[dict[str, str]], name: str) -> object:
    """Return the figure of one data set: accuracy and time."""
    figure, (left, right) = new_figure(2)
    own = [row for row in rows if row["dataset"] == name]
    curves: dict[str, list[dict[str, str]]] = {}
    for row in own:
        size = int(row["max_random_nodes"])
        label = row["method"] + (f", D_max = {size}" if size != SIZE else "")
        curves.setdefault(label, []).append(row)
    for style, (label, lines) in zip(STYLES, curves.items(), strict=False):
        lines.sort(key=lambda row: int(row["n_components"]))
        R = [int(row["n_components"]) for row in lines]
        accuracy = [100 * float(row["mean"]) for row in lines]
        deviation = [100 * standard_error(row) for row in lines]
        left.errorbar(R, accuracy, yerr=deviation, label=label, markersize=3, **style)
        right.plot(R, [float(row["seconds"]) for row in lines], markersize=3, **style)
    finish(left, xlabel="random graphs R", ylabel="accuracy (%)", title=name)
    where = " and ".join(sorted({"CPU" if row["device"] == "cpu" else "GPU" for row in own}))
    label = f"seconds to embed ({where})"
    finish(right, legend=False, yscale="log", xlabel="random graphs R", ylabel=label)
    return figure


def main() -> None:
    """Evaluate with R = 4, 8, ..., and write varying_r.csv and a figure per data set."""
    parser = arguments(__doc__, SETS, repeats=1)
    parser.add_argument("--most", type=int, help="largest R; by default above the number of graphs")
    parser.add_argument("--max-random-nodes", type=int, default=SIZE)
    parser.add_argument("--methods", nargs="+", default=VARIANTS, choices=VARIANTS)
    options = parser.parse_args()
    experiment = Experiment(options)
    where = {"n_jobs": options.jobs, "device": options.device}
    size = {"max_random_nodes": options.max_random_nodes}
    for name, data in experiment.datasets():
        most = 32 if options.quick else options.most or power_of_two_above(data)
        numbers = [int(R) for R in 2 ** np.arange(2, most.bit_length())]
        for variant in options.methods:
            if data.graphs.node_labels is None and "labels" in variant:
                continue
            grid = {"max_random_nodes": (options.max_random_nodes,), **GRID}
            method = Method(variant, paper_methods()[variant].embedding, grid)
            result = experiment.evaluate(
                data, method, f"varying_r-{name}", n_components=numbers, n_repeats=options.repeats
            )
            embedding_seconds(data, method, numbers[0], **where)  # compiles
            rows = []
            for row in result.summary():
                R = row["n_components"]
                seconds = embedding_seconds(data, method, R, **where)
                kept = {key: row[key] for key in ("mean", "fold_std", "repeats", "folds")}
                line = {"dataset": name, "method": method.name, **size, "n_components": R, **kept}
                rows.append({**line, "seconds": round(seconds, 4), "device": options.device})
            key = ["dataset", "method", "max_random_nodes", "n_components"]
            experiment.update("varying_r", rows, key)
        experiment.save(draw(experiment.rows("varying_r"), name), f"varying_r-{name}")


if __name__ == "__main__":
    main()
