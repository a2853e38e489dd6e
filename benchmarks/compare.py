"""Two versions of graphmover side by side, to see whether anything became slower.

python benchmarks/compare.py ../other/src [--device cuda] [--rounds 5]

Each version runs in a process of its own; the two take turns within every round, so that what
else the machine does meets both. Times are medians over the rounds, the ratio is that of this
version to the other: above 1 is slower. Only the public API is used, on data sets in the folder
that GRAPHMOVER_DATA names.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parents[1] / "src"

WORKER = """
import json, sys, tempfile, time
from pathlib import Path
import numpy as np
import graphmover as gm

device, jobs = sys.argv[1], int(sys.argv[2])
where = {"device": device, "n_jobs": jobs}
data = {name: gm.load_dataset(name).graphs for name in ("NCI1", "ENZYMES", "IMDB-BINARY")}
nodes = {name: gm.embed_nodes(graphs, 4, n_jobs=jobs) for name, graphs in data.items()}
size = 1 if device == "cpu" else 8
models = {
    (name, R): gm.RandomGraphEmbedding(R, random_state=0, **where).fit(graphs[:300])
    for name, graphs in data.items() for R in (64, 512)
}
folder = tempfile.mkdtemp()

def fit_transform(name):
    gm.RandomGraphEmbedding(64 * size, random_state=0, **where).fit_transform(data[name])

def distances(name):
    some = nodes[name][:200 * size]
    gm.earth_movers_distance(some, some, **where)

def streaming(name):
    model = models[name, 64]
    output = Path(folder, f"{name}.npy")
    output.unlink(missing_ok=True)  # older versions know no overwrite
    model.transform_to(data[name], output, batch_size=500, resume=False)

tasks = {}
for name in data:
    tasks[f"fit_transform, {name}, R = {64 * size}"] = lambda name=name: fit_transform(name)
    for R in (64, 512):
        if R == 64 or name == "ENZYMES" or device != "cpu":
            model, graphs = models[name, R], data[name]
            tasks[f"transform, {name}, R = {R}"] = lambda m=model, g=graphs: m.transform(g)
    tasks[f"transform_to, {name}, R = 64"] = lambda name=name: streaming(name)
    tasks[f"embed_nodes, {name}"] = lambda name=name: gm.embed_nodes(data[name], 4, n_jobs=jobs)
    tasks[f"graph against graph, {name}"] = lambda name=name: distances(name)
graph = data["ENZYMES"][0]
model = models["ENZYMES", 64]
tasks["transform, one graph, 50 times"] = lambda: [model.transform(graph) for _ in range(50)]

for task in tasks.values():
    task()  # compiles, and fills caches
print(json.dumps(list(tasks)), flush=True)
for line in sys.stdin:
    start = time.perf_counter()
    tasks[line.strip()]()
    print(time.perf_counter() - start, flush=True)
"""


def worker(source: Path, device: str, jobs: int) -> tuple[subprocess.Popen[str], list[str]]:
    """Start a process that runs one version, and return it with its tasks."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, device, str(jobs)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(source), *sys.path[1:]])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())


def seconds(process: subprocess.Popen[str], task: str) -> float:
    """Let a process do a task, and return the seconds it took."""
    assert process.stdin is not None and process.stdout is not None
    print(task, file=process.stdin, flush=True)
    return float(process.stdout.readline())


def main() -> None:
    """Print a table of medians and ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("other", type=Path, help="the src folder of the other version")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    (new, tasks), (old, _) = (
        worker(source.resolve(), options.device, options.jobs) for source in (HERE, options.other)
    )
    print(f"| {options.device}, {options.jobs} threads | other | this | ratio |")
    print("|---|---|---|---|")
    ratios = []
    for task in tasks:
        times = np.array([(seconds(old, task), seconds(new, task)) for _ in range(options.rounds)])
        before, after = np.median(times, axis=0)
        ratios.append(after / before)
        print(f"| {task} | {1e3 * before:.1f} ms | {1e3 * after:.1f} ms | {ratios[-1]:.2f} |")
    print(f"\ngeometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.3f}")


if __name__ == "__main__":
    main()
