"""Run the fuzz classes: ``python -m fuzz`` in the folder tests, or ``make fuzz``."""

import argparse
import time
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

#: The modules with an ``attack(rng, folder)``, and the share of ``--count`` that each gets: a
#: checkpoint is resumed, which takes fifty times as long as reading a file.
CLASSES = {
    "tu_texts": 1.0,
    "tu_zips": 1.0,
    "parquet_files": 1.0,
    "json_lines": 1.0,
    "csv_tables": 1.0,
    "smiles_files": 1.0,
    "graphml_gml": 1.0,
    "graph6_edge_lists": 1.0,
    "edge_tables": 1.0,
    "model_files": 1.0,
    "checkpoints": 0.05,
}


def cases(name, seed, first, count):
    """Yield the number of each case, and what went wrong or None; stop at the first finding."""
    attack = import_module(f"fuzz.{name}").attack
    with TemporaryDirectory() as folder:
        for case in range(first, first + count):
            found = attack(np.random.default_rng([seed, case]), Path(folder))
            yield case, found
            if found:
                return


def _work(name, seed, first, count, case, queue):
    found = None
    for number, found in cases(name, seed, first, count):  # noqa: B007 - the last one
        case.value = number + 1
    queue.put(found)


def run(name, seed, first, count):
    """Run a class in a process of its own, which may crash; return cases done and the finding."""
    context = get_context("spawn")
    case, queue = context.Value("q", first), context.Queue()
    process = context.Process(target=_work, args=(name, seed, first, count, case, queue))
    process.start()
    process.join()
    if process.exitcode:
        return case.value - first + 1, f"the process died with the exit status {process.exitcode}"
    return case.value - first, queue.get()


def main():
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Read mutated files.")
    parser.add_argument("--count", type=int, default=20_000, help="cases per class")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", choices=CLASSES, action="append", help="may be repeated")
    given = parser.parse_args()
    failed = False
    for name in given.only or CLASSES:
        count = max(1, round(given.count * CLASSES[name]))
        start = time.perf_counter()
        done, found = run(name, given.seed, given.first, count)
        seconds = time.perf_counter() - start
        share = "" if CLASSES[name] == 1 else f" (a share of {CLASSES[name]:g}: it is slower)"
        print(
            f"{name:<17} {done:>6} cases, {int(bool(found))} findings, {seconds:.0f} s{share}",
            flush=True,
        )
        if found:
            failed = True
            case = given.first + done - 1
            again = f"--only {name} --seed {given.seed} --first {case} --count 1"
            print(f"  {found}\n  again: python -m fuzz {again}", flush=True)
    return int(failed)
