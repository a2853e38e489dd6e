"""Runs of `graphmover.distributed` that are watched and disturbed."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import pyarrow.parquet as pq

from graphmover.distributed.driver import run
from graphmover.distributed.running import Task
from graphmover.distributed.unit import Options


def rows_of(path):
    """Every row of a Parquet file or folder as bytes: id, vector and target."""
    table = pq.read_table(path)
    vectors = table.column("vector").combine_chunks().flatten().to_numpy()
    vectors = vectors.reshape(len(table), -1)
    others = table.drop_columns("vector").to_pylist()
    return [
        json.dumps(other, sort_keys=True).encode() + vector.tobytes()
        for other, vector in zip(others, vectors, strict=True)
    ]


def digest_of_rows(path):
    """The SHA-256 of all rows, sorted."""
    return hashlib.sha256(b"\n".join(sorted(rows_of(path)))).hexdigest()


def interrupted(command, folder, least=5):
    """Press Ctrl-C when a command has written some parts; return how many are there."""
    words = [sys.executable, "-m", "graphmover", *map(str, command)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 300
    while len(list(folder.glob("part-*"))) < least and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the driver and its workers
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "run the same command again to resume" in said
    assert "Traceback" not in said
    n_done = len(list(folder.glob("part-*")))
    assert least <= n_done < 60
    return n_done


class Watched(Task):
    """A task that notes each start of a unit, with the process, and takes its time."""

    def __init__(self, job, log, seconds):
        super().__init__(job)
        self.log, self.seconds = log, seconds

    def compute(self, unit, file):
        with open(self.log, "ab", buffering=0) as log:
            log.write(f"{unit.number} {os.getpid()}\n".encode())
        time.sleep(self.seconds)
        return super().compute(unit, file)


class Noted:
    """An engine whose workers' peaks of memory are noted, unit by unit."""

    def __init__(self, engine):
        self.engine, self.peaks = engine, []

    def run(self, task, work):
        for done in self.engine.run(task, work):
            self.peaks.append(done.peak_bytes)
            yield done


class Watch:
    """The log of a run, and what makes its tasks."""

    def __init__(self, path, seconds=0.0):
        self.path, self.seconds = Path(path), seconds

    def task_of(self, job):
        return Watched(job, str(self.path), self.seconds)

    def starts(self):
        """The unit and the process of each start."""
        text = self.path.read_text() if self.path.exists() else ""
        return [tuple(map(int, line.split())) for line in text.splitlines()]


class Killer:
    """Kills a worker at random, again and again, while units are started."""

    def __init__(self, watch, kills, every):
        self.watch, self.kills, self.every = watch, kills, every
        self.n_kills = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._stop.set()
        self._thread.join()

    def _work(self):
        rng = random.Random(0)
        dead = set()
        while self.n_kills < self.kills and not self._stop.wait(0.02):
            starts = self.watch.starts()
            if len(starts) < (self.n_kills + 1) * self.every:
                continue
            process = rng.choice(sorted({pid for _, pid in starts[-3:]} - dead or {0}))
            if process:
                dead.add(process)
                os.kill(process, signal.SIGKILL)
                self.n_kills += 1


class KillerByClock(Killer):
    """Kills a worker at random every so many seconds, while there are units to start."""

    def __init__(self, watch, kills, seconds):
        super().__init__(watch, kills, every=0)
        self.seconds = seconds

    def _work(self):
        rng = random.Random(0)
        dead = set()
        while self.n_kills < self.kills and not self._stop.wait(self.seconds):
            alive = {pid for _, pid in self.watch.starts()[-4:]} - dead
            if alive:
                dead.add(process := rng.choice(sorted(alive)))
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                    self.n_kills += 1


def survives_kills_by_the_clock(engine, model, source, expected, folder):
    """Kill a worker every few seconds; look at the rows, and at what is done twice."""
    watch = Watch(folder / "log", seconds=0.4)
    blameless = patch.object(sys.modules[type(engine).__module__], "MOST_LOSSES", 1000)
    with blameless, KillerByClock(watch, kills=4, seconds=5) as killer:
        written = run(
            model, source, folder / "z", engine, Options(), unit_rows=4, task_of=watch.task_of
        )
    assert killer.n_kills >= 2
    assert digest_of_rows(folder / "z") == digest_of_rows(expected)
    assert len(watch.starts()) - written.n_units <= killer.n_kills * 0.05 * written.n_units
