"""RGE against the exact EMD kernel: the time of each, side by side with its accuracy.

python experiments/speedup.py --datasets MUTAG PTC

Times are of one setting (d = 6, D_max = 15, R the first power of two above N): all features, or
all distances between graphs (one triangle of the matrix). Accuracies are those of accuracy.csv.
"""

from __future__ import annotations

import time

import numpy as np
from _common import (
    arguments,
    new_figure,
    quick_data,
    read_csv,
    results_folder,
    save_figure,
    update_csv,
)

import graphmover as gm
from graphmover.evaluation import emd_kernel

SETS = ["MUTAG", "PTC", "ENZYMES", "NCI1", "NCI109"]


def rge_seconds(graphs: gm.GraphBatch, R: int, jobs: int, device: str) -> float:
    """Return the time of embedding all graphs by RGE(ASG)."""
    options = {"use_node_labels": False, "max_random_nodes": 15, "random_state": 0}
    start = time.perf_counter()
    gm.RandomGraphEmbedding(R, n_jobs=jobs, device=device, **options).fit_transform(graphs)
    return time.perf_counter() - start


def kernel_seconds(graphs: gm.GraphBatch, jobs: int, device: str) -> float:
    """Return the time of the kernel of exact distances between all graphs."""
    start = time.perf_counter()
    nodes = gm.embed_nodes(graphs, 6, use_node_labels=False, n_jobs=jobs)
    emd_kernel(nodes, n_jobs=jobs, device=device)
    return time.perf_counter() - start


def draw(rows: list[dict[str, str]]) -> object:
    """Return bars of both times."""
    figure, [panel] = new_figure()
    names = [f"{row['dataset']}\n(N = {row['graphs']})" for row in rows]
    for shift, column, look in ((-0.2, "rge_seconds", "0.25"), (0.2, "emd_seconds", "0.75")):
        heights = [float(row[column]) for row in rows]
        label = {"rge_seconds": "RGE(ASG)", "emd_seconds": "exact EMD kernel"}[column]
        places = [place + shift for place in range(len(rows))]
        panel.bar(places, heights, 0.38, color=look, edgecolor="0", label=label)
    panel.set(yscale="log", ylabel="seconds", xticks=range(len(rows)))
    panel.set_xticklabels(names, fontsize=7)
    panel.legend(frameon=False, fontsize=7)
    return figure


def main() -> None:
    """Time both, and write speedup.csv and the figure."""
    parser = arguments(__doc__)
    parser.add_argument("--datasets", nargs="+", default=SETS)
    parser.add_argument("--components", type=int, help="R; by default a power of two above N")
    options = parser.parse_args()
    folder = results_folder(options)
    for name in ["families"] if options.quick else options.datasets:
        graphs = (quick_data() if options.quick else gm.load_dataset(name)).graphs
        R = options.components or 2 ** len(graphs).bit_length()
        by_size = np.argsort(graphs.node_counts, kind="stable")
        some = by_size[np.linspace(0, len(graphs) - 1, 30).astype(int)]
        for subset in (graphs[some], graphs):  # the first compiles, for all sizes
            rge = rge_seconds(subset, R, options.jobs, options.device)
            emd = kernel_seconds(subset, options.jobs, options.device)
        accuracy = {
            row["method"]: row["mean"]
            for row in read_csv(folder / "accuracy.csv")
            if row["dataset"] == name
        }
        row = {
            "dataset": name,
            "graphs": len(graphs),
            "n_components": R,
            "rge_seconds": f"{rge:.3f}",
            "emd_seconds": f"{emd:.3f}",
            "speedup": f"{emd / rge:.2f}",
            "rge_accuracy": accuracy.get("RGE(ASG)", ""),
            "emd_accuracy": accuracy.get("EMD", ""),
            "version": gm.__version__,
        }
        update_csv(folder / "speedup.csv", [row], ["dataset"])
        print(row)
    save_figure(draw(read_csv(folder / "speedup.csv")), folder / "speedup")


if __name__ == "__main__":
    main()
