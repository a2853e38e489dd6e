"""Units of work beside plain `transform_to`: seconds, processor time, memory, and the same rows.

The source holds NCI1 (a zip in GRAPHMOVER_DATA, or downloaded) again and again, each time with
other node numbers. Every run is a process of its own; runs take turns, round by round, so that
other work on the machine meets all of them. Plain `transform_to` has as many threads as the engines
have workers. Seconds are those of the call: compiled code is warm, and the start of workers counts.

Processor time is that of the whole process and of all its descendants (workers, schedulers,
Ray's daemons), read four times a second. Its fixed part, the start, is what the same program takes
for 1 % of the graphs; the rest is the cost of graphs. Dask and Ray also take processor time by the
second, whether or not there is work: how much is measured for ten seconds after the call, while
the cluster idles. On cores that are shared with other work a run takes longer, and this part grows.

Peaks of memory are those of the workers, after each has done its first unit, and after its last.

python benchmarks/distributed.py --graphs 1000000 --components 64 --workers 2 --rounds 3
python benchmarks/distributed.py --engines processes --workers 1 2 4 8 16       # on 16 cores
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil
import pyarrow.parquet as pq
from streaming import write_source

import graphmover as gm

PROGRAM = """
import json, sys, time
from contextlib import contextmanager
import psutil
import graphmover as gm
from graphmover.distributed.driver import run
from graphmover.distributed.engines.choice import engine_of
from graphmover.distributed.running import peak_bytes
from graphmover.distributed.unit import Options

class Noted:
    def __init__(self, engine):
        self.engine, self.peaks = engine, {}

    def run(self, task, work):
        for done in self.engine.run(task, work):
            self.peaks.setdefault(done.process, []).append(done.peak_bytes)
            yield done

@contextmanager
def cluster(engine, workers):
    if engine == "dask":
        from distributed import Client, LocalCluster
        with LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster, Client(cluster) as client:
            yield {"client": client}
    elif engine == "ray":
        import ray
        ray.init("local", num_cpus=workers, include_dashboard=False, log_to_driver=False)
        yield {"workers": workers}
        ray.shutdown()
    else:
        yield {"workers": workers}

def processors():
    own = psutil.Process()
    return sum(sum(one.cpu_times()[:2]) for one in [own, *own.children(recursive=True)])

def main():
    model, source, output, engine, workers, unit_rows = sys.argv[1:]
    workers, unit_rows, idle = int(workers), int(unit_rows), 0.0
    model = gm.RandomGraphEmbedding.load(model).set_params(n_jobs=workers)
    start = time.perf_counter()
    if engine == "plain":
        model.transform_to(source, output)
        seconds, peaks = time.perf_counter() - start, {"": [peak_bytes()]}
    else:
        with cluster(engine, workers) as settings:
            start = time.perf_counter()
            noted = Noted(engine_of(engine, **settings))
            run(model, source, output, noted, Options(), unit_rows=unit_rows)
            seconds, peaks = time.perf_counter() - start, noted.peaks
            if engine in ("dask", "ray"):
                time.sleep(2)  # until the last actors are gone
                before = processors()
                time.sleep(10)
                idle = processors() - before
    first, last = max(p[0] for p in peaks.values()), max(map(max, peaks.values()))
    print(json.dumps([seconds, idle, first, last]))

if __name__ == "__main__":
    main()
"""


class Run(NamedTuple):
    """What a run took; bytes are those of the worker with the most."""

    seconds: float  # of the call
    processors: float  # seconds
    idle: float  # share of a core that the cluster takes without work
    first_peak: int
    peak: int


def run(program: Path, *arguments: object) -> Run:
    command = [sys.executable, program, *map(str, arguments)]
    process = psutil.Popen(command, stdout=subprocess.PIPE, text=True)
    used: dict[psutil.Process, float] = {}
    while process.poll() is None:
        with suppress(psutil.NoSuchProcess):
            for one in [psutil.Process(process.pid), *process.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):
                    used[one] = sum(one.cpu_times()[:2])
        time.sleep(0.25)
    if process.returncode:
        raise SystemExit(process.returncode)
    seconds, idle, first, peak = json.loads(process.stdout.read().splitlines()[-1])
    return Run(seconds, sum(used.values()) - idle, idle / 10, first, peak)


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
    engines = ["processes", "dask", "ray"]
    parser.add_argument("--engines", nargs="+", choices=engines, default=engines)
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
        found: dict[tuple[str, int], list[Run]] = {one: [] for one in runs}
        expected = None
        run(program, model, little, f"{next(names)}.parquet", "plain", most, few)  # compiles
        for _ in range(arguments.rounds):
            for engine, workers in runs:
                ending = ".parquet" if engine == "plain" else ""
                some, all_of_it = (Path(f"{next(names)}{ending}") for _ in range(2))
                settings = (engine, workers)
                start = run(program, model, little, some, *settings, few)
                whole = run(program, model, source, all_of_it, *settings, unit_rows)
                rows = digest(all_of_it)
                expected = expected or rows
                if rows != expected:
                    raise SystemExit(f"{engine} has other rows")
                found[engine, workers].append(
                    whole._replace(processors=whole.processors - start.processors)
                )
                print(
                    f"{engine:10} {workers:2} workers: {whole.seconds:7.1f} s, processors "
                    f"{whole.processors:7.1f} s, of these {start.processors:5.1f} s for the start, "
                    f"{whole.idle * whole.seconds:.1f} s by the second ({whole.idle:.1%} of a "
                    f"core); peak {whole.peak / 2**20:.0f} MiB, after the first unit "
                    f"{whole.first_peak / 2**20:.0f} MiB",
                    flush=True,
                )
        for (engine, workers), rounds in found.items():
            ratios = [
                [one / other for one, other in zip(mine[:2], plain[:2], strict=True)]
                for mine, plain in zip(rounds, found["plain", workers], strict=True)
            ]
            seconds, used = (statistics.median(column) for column in zip(*ratios, strict=True))
            wall = statistics.median(one.seconds for one in rounds)
            one_worker = found.get((engine, 1))
            shown = ""
            if one_worker is not None:
                alone = statistics.median(one.seconds for one in one_worker)
                shown = f", efficiency {alone / wall / workers:.0%}"
            print(
                f"{engine:10} {workers:2} workers: {arguments.graphs / wall:,.0f} graphs/s, "
                f"x {seconds:.2f} seconds and x {used:.2f} processor time of plain{shown}"
            )


if __name__ == "__main__":
    main()
