"""Workers of `gm.distributed` with a GPU: their rows beside the CPU's, and graphs per second.

python benchmarks/gpu_workers.py --graphs 100000 --workers 1 2
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scaling import Noted
from streaming import write_source

import graphmover as gm
from graphmover.distributed.driver import run
from graphmover.distributed.engines.choice import engine_of
from graphmover.distributed.unit import Options


def vectors(path: Path) -> np.ndarray:
    """Return all vectors, in the order of the files."""
    files = sorted(path.glob("part-*")) if path.is_dir() else [path]
    columns = [pq.read_table(file, columns=["vector"]).column(0) for file in files]
    rows = pa.chunked_array([chunk for column in columns for chunk in column.chunks])
    values = np.concatenate([chunk.flatten().to_numpy() for chunk in rows.chunks])
    return values.reshape(len(rows), -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=100_000)
    parser.add_argument("--components", type=int, default=256)
    parser.add_argument("--workers", type=int, nargs="+", default=[1])
    parser.add_argument("--device", default="cuda", help="of the workers")
    options = parser.parse_args()
    data = gm.load_dataset("NCI1")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_source(home / "graphs.parquet", data, options.graphs)
        settings = {"max_random_nodes": 10, "n_dimensions": 6, "random_state": 0}
        model = gm.RandomGraphEmbedding(options.components, n_jobs=-1, **settings)
        model.fit(data.graphs)
        start = time.perf_counter()
        model.transform_to(home / "graphs.parquet", home / "plain.parquet")
        seconds = time.perf_counter() - start
        print(f"CPU, all cores: {options.graphs / seconds:,.0f} graphs/s of the call", flush=True)
        expected = vectors(home / "plain.parquet")
        model.set_params(device=options.device)
        for workers in options.workers:
            output = home / f"vectors{workers}"
            noted = Noted(engine_of("processes", workers=workers))
            unit_rows = max(1, options.graphs // (4 * workers))
            start = time.perf_counter()
            run(model, home / "graphs.parquet", output, noted, Options(), unit_rows=unit_rows)
            seconds = time.perf_counter() - start
            found = vectors(output)
            error = np.abs(found - expected).max() / np.abs(expected).max()
            print(
                f"{workers} workers with device={options.device!r}: {options.graphs} graphs in "
                f"{seconds:.1f} s, the first unit after {min(noted.starts) - start:.1f} s, steady "
                f"{noted.steady_rate():,.0f} graphs/s; largest difference to the CPU {error:.1e} "
                f"of the largest feature{'' if error < 1e-9 else ': TOO LARGE'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
