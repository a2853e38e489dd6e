"""Units of work beside plain `transform_to`: seconds, processor time, memory, and the same rows.

The source holds NCI1 (a zip in GRAPHMOVER_DATA, or downloaded) again and again, each time with
other node numbers. Every run is a process of its own; runs take turns, round by round, so that
other work on the machine meets all of them. Plain `transform_to` has as many threads as the engines
have workers. Seconds are those of the call: compiled code is warm, and the start of workers counts.
Processor time is that of the whole process and of its children, less what the same process takes
for 1 % of the graphs: what is left is the cost of graphs, without that of starting. Ray's workers
are not children of the process that starts them: theirs is not counted.

python benchmarks/distributed.py --graphs 1000000 --components 64 --workers 2 --rounds 3
python benchmarks/distributed.py --engines processes --workers 1 2 4 8 16       # on 16 cores
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
from streaming import renumbered

import graphmover as gm

PROGRAM = """
import json, sys, time
import graphmover as gm
from graphmover.distributed.running import peak_bytes

def main():
    model, source, output, engine, workers, unit_rows = sys.argv[1:]
    workers = int(workers)
    model = gm.RandomGraphEmbedding.load(model).set_params(n_jobs=workers)
    if engine == "plain":
        start = time.perf_counter()
        model.transform_to(source, output)
        print(json.dumps([time.perf_counter() - start, peak_bytes()]))
        return
    client = None
    if engine == "dask":
        from distributed import Client, LocalCluster
        cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
        client = Client(cluster)
    if engine == "ray":
        import ray
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    options = {} if engine == "dask" else {"workers": workers}
    start = time.perf_counter()
    written = gm.distributed.transform_to(
        model, source, output, engine=engine, client=client, unit_rows=int(unit_rows), **options
    )
    print(json.dumps([time.perf_counter() - start, written.peak_bytes]))
    if client is not None:
        client.close()
        cluster.close()

if __name__ == "__main__":
    main()
"""


def write_source(path: Path, data: gm.Dataset, n_graphs: int) -> None:
    from graphmover._utils.files import replacing
    from graphmover.io.parquet import write_parquet

    with replacing(path) as file:
        write_parquet(file, renumbered(data, n_graphs, seed=0))


def run(program: Path, *arguments: object) -> tuple[float, float, int]:
    """Return seconds of the call, seconds of processors, and the peak of memory of a worker."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, program, *map(str, arguments)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    seconds, peak = json.loads(answer.stdout.splitlines()[-1])
    return seconds, used, peak


def digest(path: Path) -> str:
    """Return the SHA-256 of all vectors, in the order of the files."""
    found = hashlib.sha256()
    for file in sorted(path.glob("part-*")) if path.is_dir() else [path]:
        for batch in pq.ParquetFile(file).iter_batches(columns=["vector"]):
            found.update(batch.column(0).flatten().to_numpy())
    return found.hexdigest()


def outputs(folder: Path) -> Iterator[Path]:
    number = 0
    while True:
        number += 1
        yield folder / f"z{number}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=1_000_000)
    parser.add_argument("--components", type=int, default=64)
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--engines", nargs="+", default=["processes", "dask", "ray"])
    parser.add_argument("--unit-rows", type=int, help="default: 20 units, or more")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the files are made; default: temporary")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        home = Path(folder)
        program, model = home / "program.py", home / "model.npz"
        source, little = home / "graphs.parquet", home / "little.parquet"
        program.write_text(PROGRAM)
        data = gm.load_dataset("NCI1")
        write_source(source, data, arguments.graphs)
        most = max(arguments.workers)
        few = max(1, arguments.graphs // 200 // most)  # a unit of 1 %: all workers have two
        gm.write_graphs(gm.read_graphs(source)[: 2 * most * few], little, batch_size=few)
        embedding = gm.RandomGraphEmbedding(
            arguments.components, max_random_nodes=10, n_dimensions=6, random_state=0
        )
        embedding.fit(data.graphs).save(model)
        runs = [
            (engine, workers)
            for workers in arguments.workers
            for engine in ("plain", *arguments.engines)
        ]
        unit_rows = arguments.unit_rows or min(100_000, arguments.graphs // max(20, 5 * most))
        names = outputs(home)
        found: dict[tuple[str, int], list[tuple[float, float, int]]] = {one: [] for one in runs}
        expected = None
        for _ in range(arguments.rounds):
            for engine, workers in runs:
                ending = ".parquet" if engine == "plain" else ""
                some, all_of_it = (Path(f"{next(names)}{ending}") for _ in range(2))
                _, start_up, _ = run(program, model, little, some, engine, workers, few)
                seconds, used, peak = run(
                    program, model, source, all_of_it, engine, workers, unit_rows
                )
                found[engine, workers].append((seconds, used - start_up, peak))
                rows = digest(all_of_it)
                expected = expected or rows
                if rows != expected:
                    raise SystemExit(f"{engine} has other rows")
                print(
                    f"{engine:10} {workers:2} workers: {seconds:7.1f} s, processors "
                    f"{used:7.1f} s, of these {start_up:5.1f} s for 1 % of the graphs, "
                    f"peak {peak / 2**20:.0f} MiB",
                    flush=True,
                )
        for (engine, workers), rounds in found.items():
            ratios = [
                [one / other for one, other in zip(mine[:2], plain[:2], strict=True)]
                for mine, plain in zip(rounds, found["plain", workers], strict=True)
            ]
            seconds, used = (statistics.median(column) for column in zip(*ratios, strict=True))
            wall = statistics.median(one[0] for one in rounds)
            one_worker = found.get((engine, 1))
            shown = ""
            if one_worker is not None:
                alone = statistics.median(one[0] for one in one_worker)
                shown = f", efficiency {alone / wall / workers:.0%}"
            print(
                f"{engine:10} {workers:2} workers: {arguments.graphs / wall:,.0f} graphs/s, "
                f"x {seconds:.2f} seconds and x {used:.2f} processor time of plain{shown}"
            )


if __name__ == "__main__":
    main()
