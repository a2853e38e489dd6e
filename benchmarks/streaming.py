"""Embed a Parquet file of many graphs in bounded memory, kill it on its way, and compare.

The file holds NCI1 (a zip in GRAPHMOVER_DATA, or downloaded) again and again, each time with
other node numbers. One run goes through; another is killed twice (SIGKILL) and resumed. Both
must write the same bytes. Memory is the peak resident set of the process that embeds.

python benchmarks/streaming.py --graphs 1000000 --components 64
"""

from __future__ import annotations

import argparse
import filecmp
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import graphmover as gm

PROGRAM = """
import resource, sys
import graphmover as gm
model = gm.RandomGraphEmbedding.load(sys.argv[1]).set_params(n_jobs=-1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.transform_to(sys.argv[2], sys.argv[3])
print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def renumbered(data: gm.Dataset, n_graphs: int, seed: int) -> Iterator[gm.Dataset]:
    """Yield the set until there are enough graphs, the nodes of each graph in random order."""
    rng = np.random.default_rng(seed)
    graphs = data.graphs
    graph_of_node = np.repeat(np.arange(len(graphs)), graphs.node_counts)
    numbers = np.arange(graphs.n_nodes) - graphs.offsets[graph_of_node]
    sources = np.repeat(np.arange(graphs.n_nodes), np.diff(graphs.indptr))
    first = graphs.offsets[graph_of_node[sources]]
    while n_graphs > 0:
        old = np.lexsort([rng.random(graphs.n_nodes), graph_of_node])  # by graph, at random
        new = np.empty_like(numbers)
        new[old] = numbers
        edges = np.column_stack([new[sources], new[first + graphs.indices]])
        batch = gm.GraphBatch.from_edges(
            graphs.node_counts,
            2 * graphs.edge_counts,
            edges,
            node_labels=graphs.node_labels[old],
        )
        size = min(n_graphs, len(graphs))
        yield gm.Dataset(data.name, batch[:size], data.target[:size])
        n_graphs -= size


def write_source(path: Path, data: gm.Dataset, n_graphs: int) -> int:
    """Write so many graphs, and return how many there are."""
    from graphmover._utils.files import replacing
    from graphmover.io.parquet import write_parquet

    with replacing(path) as file:
        return write_parquet(file, renumbered(data, n_graphs, seed=0))


def embed(model: Path, source: Path, output: Path, kill_at: list[int]) -> tuple[float, list[int]]:
    """Return seconds and memory (before and at the peak, kB) of a run with kills on its way."""
    progress = output.with_name(f"{output.name}.part") / "journal.json"
    start = time.perf_counter()
    for rows in [*kill_at, None]:
        command = [sys.executable, "-c", PROGRAM, str(model), str(source), str(output)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        while rows is not None and process.poll() is None:
            time.sleep(0.05)
            if progress.exists() and json.loads(progress.read_text())["rows"] >= rows:
                process.send_signal(signal.SIGKILL)
                process.wait()
                done = json.loads(progress.read_text())["rows"]
                print(f"killed; {done} rows are committed", flush=True)
        memory, _ = process.communicate()
        if rows is not None and process.returncode != -signal.SIGKILL:
            raise SystemExit("the run ended before it was killed: take more graphs")
    return time.perf_counter() - start, list(map(int, memory.split()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=1_000_000)
    parser.add_argument("--components", type=int, default=64)
    parser.add_argument("--folder", type=Path, help="where the files are made; default: temporary")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        source, model = Path(folder, "graphs.parquet"), Path(folder, "model.npz")
        data = gm.load_dataset("NCI1")
        start = time.perf_counter()
        n_graphs = write_source(source, data, arguments.graphs)
        seconds = time.perf_counter() - start
        print(f"{n_graphs} graphs, {source.stat().st_size / 1e6:.0f} MB, in {seconds:.0f} s")
        embedding = gm.RandomGraphEmbedding(
            arguments.components, max_random_nodes=10, n_dimensions=6, random_state=0, n_jobs=-1
        )
        embedding.fit(data.graphs).save(model)
        whole, broken = Path(folder, "whole.npy"), Path(folder, "broken.npy")
        for output, kills in ((whole, []), (broken, [n_graphs // 3, 2 * n_graphs // 3])):
            seconds, (before, peak) = embed(model, source, output, kills)
            rate = n_graphs * arguments.components / seconds
            print(
                f"{output.stem}: {seconds:.0f} s, {rate:,.0f} distances/s, peak "
                f"{peak / 1024:.0f} MB ({before / 1024:.0f} MB before the first graph)",
                flush=True,
            )
        same = filecmp.cmp(whole, broken, shallow=False)
        shape = np.load(whole, mmap_mode="r").shape
        print(f"{shape}, {whole.stat().st_size / 1e6:.0f} MB; the same bytes: {same}")
        if not same:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
