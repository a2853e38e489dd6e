"""Accuracy and time against the number R of random graphs: the paper's figure 2.

python experiments/varying_r.py --datasets ENZYMES IMDB-BINARY

Settings are fixed but for gamma, and the smaller numbers use the first of the largest's random
graphs, in every fold those of its training part.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from _common import (
    STYLES,
    arguments,
    new_figure,
    quick_data,
    read_csv,
    results_folder,
    save_figure,
    update_csv,
)

import graphmover as gm
from graphmover.evaluation import Method, evaluate, paper_methods

SETS = ["ENZYMES", "NCI1", "NCI109", "IMDB-BINARY", "COLLAB"]
GRID = {"n_dimensions": (4,), "gamma": (0.3, 1.0, 3.0)}
SIZE = 15
VARIANTS = ["RGE(RF)", "RGE(ASG)", "RGE(ASG)+labels"]


def embedding_seconds(data: gm.Dataset, method: Method, n_components: int, **where: Any) -> float:
    """Return the time of embedding all graphs with so many random graphs."""
    [point] = method.search_space.hyperparameters()
    model = method.embedding.set_params(
        n_components=n_components, random_state=0, **point._asdict(), **where
    )
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
    left.set(xlabel="random graphs R", ylabel="accuracy (%)", title=name)
    where = " and ".join(sorted({"CPU" if row["device"] == "cpu" else "GPU" for row in own}))
    right.set(yscale="log", xlabel="random graphs R", ylabel=f"seconds to embed ({where})")
    left.set_xscale("log", base=2)
    right.set_xscale("log", base=2)
    left.legend(frameon=False, fontsize=7)
    return figure


def main() -> None:
    """Evaluate with R = 4, 8, ..., and write varying_r.csv and a figure per data set."""
    parser = arguments(__doc__)
    parser.add_argument("--datasets", nargs="+", default=SETS)
    parser.add_argument("--most", type=int, help="largest R; by default above the number of graphs")
    parser.add_argument("--max-random-nodes", type=int, default=SIZE)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--methods", nargs="+", default=VARIANTS, choices=VARIANTS)
    options = parser.parse_args()
    folder = results_folder(options)
    for name in ["families"] if options.quick else options.datasets:
        data = quick_data() if options.quick else gm.load_dataset(name)
        most = 32 if options.quick else options.most or 2 ** len(data.graphs).bit_length()
        numbers = [int(R) for R in 2 ** np.arange(2, most.bit_length())]
        for variant in options.methods:
            if data.graphs.node_labels is None and "labels" in variant:
                continue
            grid = {"max_random_nodes": (options.max_random_nodes,), **GRID}
            method = Method(variant, paper_methods()[variant].embedding, grid)
            result = evaluate(
                data.graphs,
                data.target,
                [method],
                n_components=numbers,
                n_folds=3 if options.quick else 10,
                n_repeats=options.repeats,
                n_jobs=options.jobs,
                device=options.device,
                checkpoint=folder / f"varying_r-{name}.checkpoint",
                progress=True,
            )
            where = {"n_jobs": options.jobs, "device": options.device}
            embedding_seconds(data, method, numbers[0], **where)  # compiles
            rows = []
            for row in result.summary():
                R = row["n_components"]
                seconds = embedding_seconds(data, method, R, **where)
                kept = {key: row[key] for key in ("mean", "fold_std", "repeats", "folds")}
                size = {"max_random_nodes": options.max_random_nodes}
                line = {"dataset": name, "method": method.name, **size, "n_components": R, **kept}
                timed = {"seconds": round(seconds, 4), "device": options.device}
                rows.append({**line, **timed, "version": gm.__version__})
            key = ["dataset", "method", "max_random_nodes", "n_components"]
            update_csv(folder / "varying_r.csv", rows, key)
        save_figure(draw(read_csv(folder / "varying_r.csv"), name), folder / f"varying_r-{name}")


if __name__ == "__main__":
    main()
