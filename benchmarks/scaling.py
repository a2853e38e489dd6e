"""How many graphs per second 1, 2, 4, ... processes embed, from Parquet to parts, and why not more.

Each worker gets as many graphs whatever their number, NCI1 again and again with other node numbers,
so perfect scaling is a call that takes as long with 16 workers as with one. Efficiency is graphs
per second and worker beside those of one worker:

- "steady": while all workers are at work, from the first unit of the last of them until there is
  no unit to hand out. It includes reading, embedding, writing and committing parts, and the driver.
- "call": the whole call, with the start of the workers and the end, when some have no more to do.
- "machine": as many processes that embed graphs in memory, with neither files nor driver. What this
  lacks to 100 % is the machine's: clocks that fall when all cores work, threads that share a core.

The rows of the largest run are compared with those of plain `transform_to`, by threads.

    python benchmarks/scaling.py --workers 1 2 4 8 16
    python benchmarks/scaling.py --workers 1 16 --engines processes dask --folder /dev/shm
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import multiprocessing
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pyarrow.parquet as pq
from streaming import renumbered

import graphmover as gm
from graphmover.distributed.driver import run
from graphmover.distributed.engines.choice import engine_of
from graphmover.distributed.unit import Options
from graphmover.io.parquet import write_parquet

#: Different renumberings of the set; a source repeats them.
_RENUMBERINGS = 8


class Noted:
    """An engine that notes when each unit was committed, and how long it took."""

    def __init__(self, engine):
        self._engine, self.rows, self.starts, self.ends, self.processes = engine, [], [], [], []

    def run(self, task, work):
        """Run the units on the engine."""
        for done in self._engine.run(task, work):
            self.ends.append(time.perf_counter())
            self.starts.append(self.ends[-1] - done.seconds)
            self.rows.append(done.footer.rows)
            self.processes.append(done.process)
            yield done

    def steady_rate(self):
        """Return graphs per second while all workers are at work."""
        rows, starts, ends = map(np.array, (self.rows, self.starts, self.ends))
        first = {}
        for process, start in zip(self.processes, starts, strict=True):
            first[process] = min(start, first.get(process, np.inf))
        begin, end = max(first.values()), max(starts)  # the last unit was handed out
        within = np.clip(np.minimum(ends, end) - np.maximum(starts, begin), 0, None)
        return (rows * within / (ends - starts)).sum() / (end - begin)


@contextmanager
def settings_of(engine, workers):
    if engine != "dask":
        yield {"workers": workers}
        return
    here = str(Path(__file__).resolve().parent)  # which holds another distributed.py
    sys.path[:] = [*(path for path in sys.path if path != here), here]
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield {"client": client}


def write_source(path, data, n_groups):
    """Write a file of row groups, each with all graphs of the set."""
    parts = list(renumbered(data, _RENUMBERINGS * len(data.graphs), seed=0))
    with path.open("wb") as file:
        write_parquet(file, itertools.islice(itertools.cycle(parts), n_groups))


def digest(path):
    """Return the SHA-256 of all vectors, in the order of the files."""
    found = hashlib.sha256()
    for file in sorted(path.glob("part-*")) if path.is_dir() else [path]:
        for batch in pq.ParquetFile(file).iter_batches(columns=["vector"]):
            found.update(batch.column(0).flatten().to_numpy())
    return found.hexdigest()


def embed_in_memory(model, n_times, barrier, results):
    """Embed the same graphs again and again, from when all processes are ready."""
    model = gm.RandomGraphEmbedding.load(model)
    graphs = gm.load_dataset("NCI1").graphs
    model.transform(graphs[:500])
    barrier.wait()
    start = time.perf_counter()
    for _ in range(n_times):
        model.transform(graphs)
    results.put(n_times * len(graphs) / (time.perf_counter() - start))


def machine_rate(model, workers, n_times):
    """Return graphs per second of so many processes without files, all together."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(workers), context.SimpleQueue()
    arguments = (model, n_times, barrier, results)
    processes = [
        context.Process(target=embed_in_memory, args=arguments, daemon=True) for _ in range(workers)
    ]
    for process in processes:
        process.start()
    total = sum(results.get() for _ in processes)
    for process in processes:
        process.join()
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--components", type=int, default=256)
    parser.add_argument("--units", type=int, default=8, help="of each worker; 4,110 graphs each")
    parser.add_argument("--engines", nargs="+", default=["processes"])
    parser.add_argument("--folder", type=Path, help="where files are made; default: temporary")
    parser.add_argument("--no-machine", action="store_true", help="without the processes alone")
    options = parser.parse_args()
    cores = psutil.cpu_count(logical=False), len(os.sched_getaffinity(0))
    print(f"{cores[0]} physical cores, {cores[1]} processors to use", flush=True)
    data = gm.load_dataset("NCI1")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        home = Path(folder)
        embedding = gm.RandomGraphEmbedding(
            options.components, max_random_nodes=10, n_dimensions=6, random_state=0
        )
        model = embedding.fit(data.graphs)
        model.transform(data.graphs[:1000])
        model.save(home / "model.npz")
        start = time.perf_counter()
        for workers in options.workers:
            write_source(home / f"{workers}.parquet", data, workers * options.units)
        print(f"sources written in {time.perf_counter() - start:.1f} s", flush=True)
        alone: dict[str, tuple[float, float]] = {}
        for engine, workers in itertools.product(options.engines, options.workers):
            source, output = home / f"{workers}.parquet", home / f"{engine}{workers}"
            n_graphs = workers * options.units * len(data.graphs)
            with settings_of(engine, workers) as settings:
                noted = Noted(engine_of(engine, **settings))
                start, used = time.perf_counter(), time.process_time()
                run(model, source, output, noted, Options(), unit_rows=len(data.graphs))
                seconds = time.perf_counter() - start
                used = time.process_time() - used
            began = min(noted.starts) - start
            rate = noted.steady_rate() / workers
            first = alone.setdefault(engine, (seconds, rate))
            print(
                f"{engine:10} {workers:2} workers: {n_graphs} graphs in {seconds:.1f} s, the first "
                f"unit after {began:.1f} s, the driver's processor time {used:.2f} s; steady "
                f"{workers * rate:,.0f} graphs/s; efficiency: steady {rate / first[1]:.1%}, call "
                f"{first[0] / seconds:.1%}",
                flush=True,
            )
        if not options.no_machine:
            rates = {}
            for workers in options.workers:
                rates[workers] = machine_rate(home / "model.npz", workers, options.units // 2 or 1)
                share = rates[workers] / workers / (rates[options.workers[0]] / options.workers[0])
                print(
                    f"machine    {workers:2} processes: {rates[workers]:,.0f} graphs/s; "
                    f"efficiency: {share:.1%}",
                    flush=True,
                )
        most = max(options.workers)
        model.set_params(n_jobs=most)
        start = time.perf_counter()
        model.transform_to(home / f"{most}.parquet", home / "plain.parquet")
        seconds = time.perf_counter() - start
        n_graphs = most * options.units * len(data.graphs)
        print(
            f"plain      {most:2} threads: {n_graphs / seconds:,.0f} graphs/s of the call",
            flush=True,
        )
        expected = digest(home / "plain.parquet")
        for engine in options.engines:
            same = digest(home / f"{engine}{most}") == expected
            print(f"{engine}: rows {'identical' if same else 'DIFFERENT'} to plain", flush=True)


if __name__ == "__main__":
    main()
