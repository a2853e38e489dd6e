"""Time against the number N of graphs and against their size n: the paper's figure 3.

python experiments/scaling.py

Random graphs have 2n edges; d = 6, D_max = 10, R = 128. N = 1,000 where n varies, n = 100 where N
varies; beyond the paper's sizes (N = 16,384, n = 1,024) sizes grow by factors of four. Node
embedding and transport are timed separately, after a first run that compiles. On a CPU, times are
process times over all threads: other programs disturb them less. Graphs are generated and embedded
a million nodes at a time, so that memory does not grow with N.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from _common import GUIDE, STYLES, Experiment, arguments, finish, new_figure

import graphmover as gm

PARTS = ("node embedding", "transport", "total")
PAPER = {"N": 16384, "n": 1024}  # the largest sizes: slopes in the figure are fitted up to them
NODES_AT_ONCE = 1_000_000


def random_batch(n_graphs: int, n_nodes: int, seed: int = 0) -> gm.GraphBatch:
    """Return graphs with 2n edges, drawn uniformly among the pairs of nodes."""
    rng = np.random.default_rng(seed)
    n_edges = min(2 * n_nodes, n_nodes * (n_nodes - 1) // 2)
    edges = np.empty((n_graphs, n_edges, 2), np.int64)
    for i in range(n_graphs):
        chosen = rng.choice(n_nodes * (n_nodes - 1) // 2, n_edges, replace=False)
        larger = ((1 + np.sqrt(1 + 8 * chosen)) // 2).astype(np.int64)
        edges[i] = np.column_stack([larger, chosen - larger * (larger - 1) // 2])
    counts = np.full(n_graphs, n_nodes), np.full(n_graphs, n_edges)
    return gm.GraphBatch.from_edges(*counts, edges.reshape(-1, 2))


def seconds_of_parts(
    n_graphs: int, n_nodes: int, jobs: int, device: str
) -> tuple[float, float, float]:
    """Return the times of node embedding, of transport, and of all work."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    embedding = transport = total = 0.0
    anchors, median = None, 0.0
    at_once = max(1, NODES_AT_ONCE // n_nodes)
    for first in range(0, n_graphs, at_once):
        graphs = random_batch(min(at_once, n_graphs - first), n_nodes, seed=first)
        start = clock()
        nodes = gm.embed_nodes(graphs, 6, n_jobs=jobs)
        embedded = clock()
        if anchors is None:
            anchors = gm.sample_random_graphs(nodes, 128, max_random_nodes=10, random_state=0)
        distances = gm.earth_movers_distance(nodes, anchors, n_jobs=jobs, device=device)
        solved = clock()
        median = median or float(np.median(distances))
        np.exp(-distances / median) / np.sqrt(128)
        embedding += embedded - start
        transport += solved - embedded
        total += clock() - start
    return embedding, transport, total


def sizes(most: int, most_in_the_paper: int) -> list[int]:
    """Return 8, 16, ... up to the paper's largest, then factors of four."""
    found = [8]
    while found[-1] * 2 <= most:
        found.append(found[-1] * (2 if found[-1] < most_in_the_paper else 4))
    return found


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the exponent of a power law fitted to all sizes."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def draw(rows: list[dict[str, str]]) -> object:
    """Return the figure: time against N and against n, with linear and quadratic guides."""
    figure, panels = new_figure(2)
    for panel, varied in zip(panels, ("N", "n"), strict=True):
        own = sorted((r for r in rows if r["varied"] == varied), key=lambda r: int(r["size"]))
        sizes = np.array([int(row["size"]) for row in own])
        for style, part in zip(STYLES, PARTS, strict=False):
            seconds = [float(row[part]) for row in own]
            few = sum(size <= PAPER[varied] for size in sizes)
            label = f"{part}, slope {slope(sizes[:few], seconds[:few]):.2f}"
            panel.plot(sizes, seconds, label=label, markersize=3, **style)
        first = float(own[0]["total"])
        panel.plot(sizes, first * sizes / sizes[0], linestyle="-", **GUIDE)
        panel.plot(sizes, first * (sizes / sizes[0]) ** 2, linestyle="--", **GUIDE)
        label = "graphs N" if varied == "N" else "nodes n of each graph"
        finish(panel, legend=False, yscale="log", xlabel=label, ylabel="processor seconds")
        panel.set_ylim(top=20 * max(float(row["total"]) for row in own))
        title = f"guides: {varied} and {varied}²"
        panel.legend(frameon=False, fontsize=7, title=title, title_fontsize=7)
    return figure


def main() -> None:
    """Time both sweeps, and write scaling.csv and the figure."""
    parser = arguments(__doc__)
    parser.add_argument("--most-graphs", type=int, default=2**20)
    parser.add_argument("--most-nodes", type=int, default=16384)
    parser.add_argument("--trials", type=int, default=3, help="for small sizes: the fastest counts")
    options = parser.parse_args()
    experiment = Experiment(options)
    most_graphs, most_nodes, fixed = options.most_graphs, options.most_nodes, 1000
    if options.quick:
        most_graphs, most_nodes, fixed = 64, 64, 20
    sweeps = [("N", N, N, 100) for N in sizes(most_graphs, PAPER["N"])]
    sweeps += [("n", n, fixed, n) for n in sizes(most_nodes, PAPER["n"])]
    rows = []
    for varied, size, n_graphs, n_nodes in sweeps:
        case = (n_graphs, n_nodes, options.jobs, options.device)
        seconds_of_parts(8, *case[1:])  # compiles what graphs of this size need
        trials = 1 if options.quick or n_graphs * n_nodes > NODES_AT_ONCE else options.trials
        times = min((seconds_of_parts(*case) for _ in range(trials)), key=lambda t: t[-1])
        parts = dict(zip(PARTS, (f"{part:.5f}" for part in times), strict=True))
        rows.append({"varied": varied, "size": size, "N": n_graphs, "n": n_nodes, **parts})
        print(*rows[-1].values(), sep="\t", flush=True)
        experiment.update("scaling", rows, ["varied", "size"])
    experiment.save(draw(experiment.rows("scaling")), "scaling")


if __name__ == "__main__":
    main()
