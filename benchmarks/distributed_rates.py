"""Rates of one core from file to file, and the plan of docs/distributed.md that follows from them.

Each step of a unit of work is timed alone, as processor time of one thread, the least of some
rounds. Graphs are those of NCI1 (a zip in GRAPHMOVER_DATA, or downloaded), renumbered; SMILES are
chains of common fragments, 30 atoms on average as the molecules of NCI1 have. Prices, and how often
machines are lost, are assumptions: options. The rate of an H200 is that of two workers
which share it, from file to file (`gpu_workers.py`).

python benchmarks/distributed_rates.py
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from streaming import write_source

import graphmover as gm
from graphmover.distributed.driver import run
from graphmover.distributed.engines.serial import Serial
from graphmover.distributed.layout import Layout
from graphmover.distributed.part import Footer, PartWriter, sound_part
from graphmover.distributed.source import cut_source
from graphmover.distributed.storage import Place
from graphmover.distributed.unit import Options

FRAGMENTS = ["C", "CC", "C(C)", "C(=O)", "N", "O", "c1ccccc1", "c1ccncc1", "C(F)", "S", "C1CCNCC1"]
#: Graphs per second of one H200, R = 256, from file to file (`gpu_workers.py`).
H200 = 58_330
#: Graphs of a unit.
UNIT = 100_000


class Rates(NamedTuple):
    """Graphs per second of one core, and bytes of a graph."""

    read: float
    embed: float
    write: float
    verify: float
    parse: float  # SMILES
    cut: float  # lines of SMILES
    footers: float  # of Parquet
    source_bytes: float
    output_bytes: float

    @property
    def seconds(self) -> float:
        """Of one core, for a graph from file to file."""
        return 1 / self.read + 1 / self.embed + 1 / self.write


def seconds_of(function: Callable[[], Any], rounds: int = 3) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def molecule(rng: random.Random) -> str:
    return "".join(rng.choice(FRAGMENTS) for _ in range(11))


def measured(home: Path, n_graphs: int, n_components: int) -> Rates:
    data = gm.load_dataset("NCI1")
    source, smiles = home / "graphs.parquet", home / "molecules.smi"
    write_source(source, data, n_graphs)
    rng = random.Random(0)
    texts = [molecule(rng) for _ in range(n_graphs)]
    smiles.write_text("".join(f"{text} {i}\n" for i, text in enumerate(texts)))
    model = gm.RandomGraphEmbedding(
        n_components, max_random_nodes=10, n_dimensions=6, random_state=0, n_jobs=1
    ).fit(data.graphs)
    some = data.graphs
    z = model.transform(some)  # compiles
    embed = len(some) / seconds_of(lambda: model.transform(some))
    read = n_graphs / seconds_of(lambda: [None for _ in gm.iter_batches(source)])

    layout = Layout(n_components, None, "int64")
    place = Place(home)
    times = max(1, n_graphs // len(some))
    n_rows = times * len(some)

    def write() -> None:
        with place.replacing("part-000000.parquet") as file:
            part = PartWriter(file, layout)
            for _ in range(times):
                part.append(layout.rows(z, None, data.target))
            part.finish(Footer("", "", 0, n_rows, 0, 0, 0), [])

    write_seconds = seconds_of(write)
    part = home / "part-000000.parquet"
    verify = seconds_of(lambda: sound_part(place, part.name, layout, verify=True))
    molecules = home / "some.smi"
    molecules.write_text("".join(f"{text}\n" for text in texts[:2000]))
    parse = seconds_of(lambda: gm.read_graphs(molecules))
    cut = seconds_of(lambda: cut_source(smiles, Options(), UNIT))
    footers = seconds_of(lambda: cut_source(source, Options(), UNIT))
    rates = Rates(
        read,
        embed,
        n_rows / write_seconds,
        n_rows / verify,
        2000 / parse,
        n_graphs / cut,
        n_graphs / footers,
        source.stat().st_size / n_graphs,
        part.stat().st_size / n_rows,
    )
    few = home / "few.parquet"
    gm.write_graphs(data, few)
    whole = seconds_of(lambda: run(model, few, home / "z", Serial(), Options(), overwrite=True))
    nodes = gm.read_graphs(molecules).graphs.node_counts.mean()
    print(f"molecules of {data.graphs.node_counts.mean():.1f} nodes, SMILES of {nodes:.1f}")
    print(
        f"all steps together: {len(data) / whole:,.0f} graphs/s, their sum {1 / rates.seconds:,.0f}"
    )
    return rates


def show_plan(rates: Rates, n_graphs: float, cores: int, a: argparse.Namespace) -> None:
    units = n_graphs / UNIT
    core_hours = n_graphs * rates.seconds / 3600
    parse_hours = n_graphs / rates.parse / 3600
    gpu_hours = n_graphs / H200 / 3600
    output = n_graphs * rates.output_bytes
    unit_seconds = UNIT * rates.seconds
    losses = core_hours / a.hours_between_losses
    rows = {
        "units": f"{units:,.0f} of {UNIT * rates.output_bytes / 1e6:.0f} MB",
        "source": f"{n_graphs * rates.source_bytes / 1e9:,.1f} GB",
        "output": f"{output / 1e9:,.0f} GB",
        "core hours": f"{core_hours:,.1f}",
        "core hours to parse SMILES": f"{parse_hours:,.1f}",
        f"on {cores} cores": f"{core_hours / cores * 60:,.0f} minutes",
        "H200 hours": f"{gpu_hours:.2f}",
        "dollars by cores": f"{core_hours * a.core_hour:,.2f}",
        "dollars by GPUs": f"{gpu_hours * a.gpu_hour:,.2f}",
        "dollars a month for the output": f"{output / 1e9 * a.gb_month:,.1f}",
        "seconds of a unit": f"{unit_seconds:.0f}",
        "verifying, 8 threads": f"{n_graphs / rates.verify / 8:,.0f} s",
        "cutting SMILES": f"{n_graphs / rates.cut:,.0f} s",
        "cutting Parquet": f"{n_graphs / rates.footers:,.1f} s",
        "losses": f"{losses:,.1f}",
        "core hours lost": f"{losses * unit_seconds / 2 / 3600:.3f}",
        "share lost": f"{unit_seconds / 2 / 3600 / a.hours_between_losses:.3%}",
        "one unit lost five times": f"{(unit_seconds / 3600 / a.hours_between_losses) ** 5:.0e}",
        "any unit lost five times": (
            f"{units * (unit_seconds / 3600 / a.hours_between_losses) ** 5:.0e}"
        ),
    }
    print(f"\n{n_graphs:,.0f} molecules")
    for name, value in rows.items():
        print(f"  {name:32}{value}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=50_000)
    parser.add_argument("--components", type=int, default=256)
    parser.add_argument("--core-hour", type=float, default=0.04, help="dollars")
    parser.add_argument("--gpu-hour", type=float, default=4.0, help="dollars")
    parser.add_argument("--gb-month", type=float, default=0.023, help="dollars")
    parser.add_argument("--hours-between-losses", type=float, default=20.0, help="of a core")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rates = measured(Path(folder), arguments.graphs, arguments.components)
    for name, value in rates._asdict().items():
        print(f"{name:14}{value:12,.0f}{'' if 'bytes' in name else ' graphs/s'}")
    show_plan(rates, 1e8, 64, arguments)
    show_plan(rates, 1e10, 1000, arguments)


if __name__ == "__main__":
    main()
