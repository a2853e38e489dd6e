r"""RGE against the exact EMD kernel: the time of each, side by side with its accuracy.

python experiments/varying_r.py --datasets NCI1
python experiments/varying_r.py --datasets NCI1 --methods "RGE(ASG)" --most 512 --repeats 5
python experiments/varying_r.py --datasets NCI1 --methods "RGE(ASG)" --max-random-nodes 6 \
    --most 2048
python experiments/tables.py --datasets NCI1 --methods EMD --repeats 5
python experiments/speedup.py --datasets NCI1

Times are of d = 4: all features, for several R and two sizes of random graphs, or all distances
between graphs (one triangle of the matrix). The accuracies are RGE(ASG)'s of varying_r.csv, at this
D_max and R, and the EMD kernel's of accuracy.csv, whose d was chosen.
"""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from _common import (
    GUIDE,
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
from graphmover.evaluation import emd_kernel

SETS = ["ENZYMES", "NCI1", "NCI109"]
SIZES = (6, 15)


def rge_seconds(graphs: gm.GraphBatch, R: int, size: int, jobs: int, device: str) -> float:
    """Return the time of embedding all graphs by RGE(ASG)."""
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
    """Return the time of the kernel of exact distances between all graphs."""
    start = time.perf_counter()
    nodes = gm.embed_nodes(graphs, 4, use_node_labels=False, n_jobs=jobs)
    emd_kernel(nodes, n_jobs=jobs, device=device)
    return time.perf_counter() - start


def accuracies(folder: Path, name: str) -> dict[Any, str]:
    """Return what is known of RGE(ASG)'s accuracy by D_max and R, and of the EMD kernel's."""
    found: dict[Any, str] = {
        (int(row["max_random_nodes"]), int(row["n_components"])): row["mean"]
        for row in read_csv(folder / "varying_r.csv")
        if (row["dataset"], row["method"]) == (name, "RGE(ASG)")
    }
    for row in read_csv(folder / "accuracy.csv"):
        if (row["dataset"], row["method"]) == (name, "EMD"):
            found["EMD"] = row["mean"]
    return found


def draw(rows: list[dict[str, str]]) -> object:
    """Return how many times as fast RGE is, against R."""
    figure, [panel] = new_figure()
    for style, name in zip(STYLES, dict.fromkeys(row["dataset"] for row in rows), strict=False):
        for size, face in zip(SIZES, ("white", None), strict=True):
            own = [r for r in rows if (r["dataset"], r["max_random_nodes"]) == (name, str(size))]
            R = [int(row["n_components"]) for row in own]
            speedups = [float(row["speedup"]) for row in own]
            label = f"{name}, D_max = {size}"
            panel.plot(R, speedups, label=label, markersize=4, markerfacecolor=face, **style)
    panel.axhline(1.0, linestyle="-", **GUIDE)
    panel.set(yscale="log", xlabel="random graphs R", ylabel="times as fast as the EMD kernel")
    panel.set_xscale("log", base=2)
    panel.legend(frameon=False, fontsize=7)
    return figure


def main() -> None:
    """Time both, and write speedup.csv and the figure."""
    parser = arguments(__doc__)
    parser.add_argument("--datasets", nargs="+", default=SETS)
    options = parser.parse_args()
    folder = results_folder(options)
    for name in ["families"] if options.quick else options.datasets:
        graphs = (quick_data() if options.quick else gm.load_dataset(name)).graphs
        above = len(graphs).bit_length()
        by_size = np.argsort(graphs.node_counts, kind="stable")
        some = by_size[np.linspace(0, len(graphs) - 1, 30).astype(int)]
        for subset in (graphs[some], graphs):  # the first compiles, for all sizes
            emd = kernel_seconds(subset, options.jobs, options.device)
            rge_seconds(subset, 64, SIZES[0], options.jobs, options.device)
        accuracy = accuracies(folder, name)
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
                "version": gm.__version__,
            }
            rows.append(row)
            print(row, flush=True)
        update_csv(folder / "speedup.csv", rows, ["dataset", "max_random_nodes", "n_components"])
    save_figure(draw(read_csv(folder / "speedup.csv")), folder / "speedup")


if __name__ == "__main__":
    main()
