"""Units on processes of this machine, which are killed, and whose disk is full."""

import os
import signal
import subprocess
import sys
import time

import pytest
from distributed_runs import (
    Killer,
    Watch,
    digest_of_rows,
    rows_of,
    survives_kills_by_the_clock,
)

import graphmover as gm
from graphmover.distributed.driver import run
from graphmover.distributed.engines.processes import Processes, _Worker
from graphmover.distributed.running import Task
from graphmover.distributed.unit import Options
from graphmover.graphs.arrays import DirectionWarning

N_UNITS = 60
posix_only = pytest.mark.skipif(os.name != "posix", reason="needs signals")


@pytest.mark.slow
@posix_only
def test_workers_killed_at_random_lose_no_row_and_double_none(model, source, expected, tmp_path):
    watch = Watch(tmp_path / "log", seconds=0.05)
    with Killer(watch, kills=2, every=12) as killer:
        written = run(
            model,
            source,
            tmp_path / "z",
            Processes(2),
            Options(),
            unit_rows=4,
            task_of=watch.task_of,
        )
    assert killer.n_kills == 2
    assert written.n_rows == 240
    assert digest_of_rows(tmp_path / "z") == digest_of_rows(expected)
    again = len(watch.starts()) - N_UNITS
    assert again <= killer.n_kills * 0.05 * N_UNITS
    assert again <= killer.n_kills  # what the worker was at, and nothing else
    assert not [name for name in os.listdir(tmp_path / "z") if name.startswith(".")]


@pytest.mark.slow
@posix_only
def test_workers_killed_every_few_seconds(model, source, expected, tmp_path):
    survives_kills_by_the_clock(Processes(2), model, source, expected, tmp_path)


@pytest.mark.slow
@posix_only
def test_workers_that_start_do_not_hear_ctrl_c():
    worker = _Worker(divmod, set())
    os.kill(worker._process.pid, signal.SIGINT)
    worker.give((7, 2))
    assert worker.has_just_started()
    assert worker.result() == (3, 1)
    worker.stop()
    worker.join()


class Fatal(Task):
    """A task that ends its process."""

    def compute(self, unit, file):
        if unit.number == 1:
            os._exit(1)
        return super().compute(unit, file)


@pytest.mark.slow
def test_a_unit_that_ends_every_worker_is_named(model, data, tmp_path, monkeypatch):
    monkeypatch.setattr("graphmover.distributed.engines.processes.MOST_LOSSES", 2)
    gm.write_graphs(data[:8], tmp_path / "a.parquet", batch_size=4)
    with pytest.raises(
        RuntimeError, match=r"unit 1 \(.*a\.parquet, 4 graphs\) lost its worker 2 times"
    ):
        run(
            model,
            tmp_path / "a.parquet",
            tmp_path / "z",
            Processes(1),
            Options(),
            unit_rows=4,
            task_of=Fatal,
        )
    assert "part-000000.parquet" in os.listdir(tmp_path / "z")


@pytest.mark.slow
def test_warnings_of_workers_are_those_of_the_call_each_once(model, data, tmp_path):
    gm.write_graphs(data[:12], tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    lines[4:] = [line.replace('"directed": false', '"directed": true') for line in lines[4:]]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with pytest.warns(DirectionWarning, match="made undirected") as caught:
        gm.distributed.transform_to(
            model, tmp_path / "a.jsonl", tmp_path / "z", unit_rows=4, workers=2
        )
    assert len(caught) == 1
    assert caught[0].filename == __file__


UNGUARDED = """
import sys
import graphmover as gm
model, source, folder = sys.argv[1:]
model = gm.RandomGraphEmbedding.load(model)
gm.distributed.transform_to(model, source, folder, workers=1, unit_rows=4)
"""


@pytest.mark.slow
def test_a_program_without_a_guard_is_told_so(model, source, tmp_path):
    model.save(tmp_path / "model.npz")
    (tmp_path / "program.py").write_text(UNGUARDED)
    paths = [tmp_path / "program.py", tmp_path / "model.npz", source, tmp_path / "z"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    answer = subprocess.run(
        [sys.executable, *paths], env=environment, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 1
    said = [line for line in answer.stderr.splitlines() if line.startswith("RuntimeError: ")]
    assert len(said) == 2
    assert said[0].startswith("RuntimeError: a worker tried to start workers of its own: put")
    assert said[1].startswith("RuntimeError: a worker could not start, for the reason shown above")


PROGRAM = """
import sys
import graphmover as gm
from distributed_runs import Watch
from graphmover.distributed.driver import run
from graphmover.distributed.engines.processes import Processes
from graphmover.distributed.unit import Options
if __name__ == "__main__":
    model, source, folder, log = sys.argv[1:]
    model = gm.RandomGraphEmbedding.load(model)
    task_of = Watch(log, 0.05).task_of
    run(model, source, folder, Processes(2), Options(), unit_rows=4, task_of=task_of)
"""


@pytest.mark.slow
@posix_only
def test_a_killed_driver_leaves_a_state_that_resumes(model, source, expected, tmp_path):
    """Its workers end, a second driver is refused while it lives, and the next one resumes."""
    model.save(tmp_path / "model.npz")
    (tmp_path / "program.py").write_text(PROGRAM)
    paths = [tmp_path / name for name in ("program.py", "model.npz")]
    command = [sys.executable, *paths, source, tmp_path / "z", tmp_path / "log"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    driver = subprocess.Popen(command, env=environment)
    watch = Watch(tmp_path / "log")
    deadline = time.monotonic() + 120
    while len(watch.starts()) < 20 and driver.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    with pytest.raises(ValueError, match="another process is writing"):
        gm.distributed.transform_to(model, source, tmp_path / "z", unit_rows=4)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    workers = {process for _, process in watch.starts()}
    for worker in workers:
        while os.path.exists(f"/proc/{worker}") and time.monotonic() < deadline:
            time.sleep(0.05)
    n_done = sum(name.startswith("part-") for name in os.listdir(tmp_path / "z"))
    assert 10 < n_done < N_UNITS
    written = gm.distributed.transform_to(
        model, source, tmp_path / "z", engine="serial", unit_rows=4
    )
    assert written.n_computed == N_UNITS - n_done
    assert digest_of_rows(tmp_path / "z") == digest_of_rows(expected)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 400 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root mounts file systems")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.slow
def test_a_full_disk_is_named_and_the_next_call_resumes(model, source, expected, small_disk):
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(300_000))
    folder = small_disk / "z"
    with pytest.raises(OSError, match=r"No space left on device: '.*part-0000\d\d\.parquet'"):
        gm.distributed.transform_to(model, source, folder, unit_rows=4, workers=1)
    n_done = sum(name.startswith("part-") for name in os.listdir(folder))
    assert 0 < n_done < N_UNITS
    ballast.unlink()
    written = gm.distributed.transform_to(model, source, folder, engine="serial", unit_rows=4)
    assert written.n_computed == N_UNITS - n_done
    assert rows_of(folder) == rows_of(expected)
