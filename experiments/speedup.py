r"""RGE and the exact EMD kernel: the time of each, beside its accuracy.

python experiments/varying_r.py --datasets NCI1
python experiments/varying_r.py --datasets NCI1 --methods "RGE(ASG)" --most 512 --repeats 5
python experiments/varying_r.py --datasets NCI1 --methods "RGE(ASG)" --max-random-nodes 6 \
    --most 2048
python experiments/tables.py --datasets NCI1 --methods EMD --repeats 5
python experiments/speedup.py --datasets NCI1

Times are with d = 4: all features, for several R and two D_max, or all distances between graphs
(one triangle of the matrix). Accuracies are those of RGE(ASG) in varying_r.csv, with this D_max and
R, and those of the EMD kernel in accuracy.csv, where d was chosen.
"""

from __future__ import annotations

import time
from itertools import product
from typing import Any

import numpy as np
from _common import GUIDE, STYLES, Experiment, arguments, finish, new_figure

import graphmover as gm
from graphmover.evaluation import emd_kernel

SETS = ["ENZYMES", "NCI1", "NCI109"]
SIZES = (6, 15)


def rge_seconds(graphs: gm.GraphBatch, R: int, size: int, jobs: int, device: str) -> float:
    """Return the time to embed all graphs by RGE(ASG)."""
    options = {
        "use_node_labels": False,
        "max_random_nodes": size,
        "n_dimensions": 4,
        "random_state": 0,
    }
    start = time.perf_counter()
    gm.RandomGraphEmbedding(R, n_jobs=jobs, device=device, **options).fit_transform(graphs)
    return time.perf_counter() - start


def kernel_seconds(graphs: gm.GraphBatch, jobs: int, device: str) -> float:
    """Return the time to compute the kernel of exact distances between all graphs."""
    start = time.perf_counter()
    nodes = gm.embed_nodes(graphs, 4, use_node_labels=False, n_jobs=jobs)
    emd_kernel(nodes, n_jobs=jobs, device=device)
    return time.perf_counter() - start


def accuracies(experiment: Experiment, name: str) -> dict[Any, str]:
    """Return known accuracies of RGE(ASG), by D_max and R, and of the EMD kernel."""
    found: dict[Any, str] = {
        (int(row["max_random_nodes"]), int(row["n_components"])): row["mean"]
        for row in experiment.rows("varying_r")
        if (row["dataset"], row["method"]) == (name, "RGE(ASG)")
    }
    for row in experiment.rows("accuracy"):
        if (row["dataset"], row["method"]) == (name, "EMD"):
            found["EMD"] = row["mean"]
    return found


def draw(rows: list[dict[str, str]]) -> object:
    """Return the figure: the speed-up of RGE against R."""
    figure, [panel] = new_figure()
    for style, name in zip(STYLES, dict.fromkeys(row["dataset"] for row in rows), strict=False):
        for size, face in zip(SIZES, ("white", None), strict=True):
            own = [r for r in rows if (r["dataset"], r["max_random_nodes"]) == (name, str(size))]
            R = [int(row["n_components"]) for row in own]
            speedups = [float(row["speedup"]) for row in own]
            label = f"{name}, D_max = {size}"
            panel.plot(R, speedups, label=label, markersize=4, markerfacecolor=face, **style)
    panel.axhline(1.0, linestyle="-", **GUIDE)
    label = "times as fast as the EMD kernel"
    finish(panel, yscale="log", xlabel="random graphs R", ylabel=label)
    return figure


def main() -> None:
    """Time both, and write speedup.csv and the figure."""
    options = arguments(__doc__, SETS).parse_args()
    experiment = Experiment(options)
    for name, data in experiment.datasets():
        graphs = data.graphs
        above = len(graphs).bit_length()
        by_size = np.argsort(graphs.node_counts, kind="stable")
        some = by_size[np.linspace(0, len(graphs) - 1, 30).astype(int)]
        for subset in (graphs[some], graphs):  # the first compiles, for graphs of all sizes
            emd = kernel_seconds(subset, options.jobs, options.device)
            rge_seconds(subset, 64, SIZES[0], options.jobs, options.device)
        accuracy = accuracies(experiment, name)
        rows = []
        numbers = [2**power for power in range(max(4, above - 5), above + 1)]
        for size, R in product(SIZES, numbers):
            rge = rge_seconds(graphs, R, size, options.jobs, options.device)
            row = {
                "dataset": name,
                "graphs": len(graphs),
                "max_random_nodes": size,
                "n_components": R,
                "rge_seconds": f"{rge:.3f}",
                "emd_seconds": f"{emd:.3f}",
                "speedup": f"{emd / rge:.2f}",
                "rge_accuracy": accuracy.get((size, R), ""),
                "emd_accuracy": accuracy.get("EMD", ""),
            }
            rows.append(row)
            print(row, flush=True)
        experiment.update("speedup", rows, ["dataset", "max_random_nodes", "n_components"])
    experiment.save(draw(experiment.rows("speedup")), "speedup")


if __name__ == "__main__":
    main()
