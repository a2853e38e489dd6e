"""Units on a Dask cluster of two processes, which are killed, and its scheduler with them."""

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed_runs import Killer, Watch, digest_of_rows, rows_of

import graphmover as gm
from graphmover.distributed.driver import run
from graphmover.distributed.unit import Options

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

from graphmover.distributed.engines.dask import Dask  # noqa: E402

N_UNITS = 60

pytestmark = pytest.mark.filterwarnings("default")  # Dask's own


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "5s"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", resources={"GPU": 1}
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_rows_are_those_of_one_process(model, source, expected, client, tmp_path):
    written = gm.distributed.transform_to(
        model, source, tmp_path / "z", client=client, unit_rows=4, resources={"GPU": 1}
    )
    assert written[:5] == (240, 8, N_UNITS, N_UNITS, 0)
    assert rows_of(tmp_path / "z") == rows_of(expected)


def test_workers_killed_at_random_lose_no_row_and_double_none(
    model, source, expected, client, tmp_path
):
    watch = Watch(tmp_path / "log", seconds=0.05)
    options = {"unit_rows": 4, "task_of": watch.task_of}
    with Killer(watch, kills=2, every=12) as killer:
        run(model, source, tmp_path / "z", Dask(client), Options(), **options)
    assert killer.n_kills == 2
    assert digest_of_rows(tmp_path / "z") == digest_of_rows(expected)
    assert len(watch.starts()) - N_UNITS <= killer.n_kills * 0.05 * N_UNITS
    assert not [name for name in os.listdir(tmp_path / "z") if name.startswith(".")]


def test_an_error_of_a_unit_is_raised_and_what_is_done_stays(model, data, client, tmp_path):
    gm.write_graphs(data.graphs[:4], tmp_path / "1.parquet")
    pq.write_table(pa.table({"neighbours": [[[5]]]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet: graph 0"):
        gm.distributed.transform_to(model, tmp_path / "*.parquet", tmp_path / "z", client=client)
    assert "part-000001.parquet" not in os.listdir(tmp_path / "z")
    assert "_SUCCESS" not in os.listdir(tmp_path / "z")


def test_clients_of_other_kinds_are_refused(model, source, tmp_path):
    with pytest.raises(TypeError, match=r"must be a dask\.distributed\.Client"):
        gm.distributed.transform_to(model, source, tmp_path / "z", client="tcp://127.0.0.1:1")
    with pytest.raises(ValueError, match='engine="dask" needs a client'):
        gm.distributed.transform_to(model, source, tmp_path / "z", engine="dask")


def started(*arguments):
    command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=environment, **quiet)


def test_a_killed_scheduler_is_reported_and_the_next_run_resumes(
    model, source, expected, client, tmp_path
):
    file = tmp_path / "scheduler.json"
    processes = [started("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file)]
    options = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--death-timeout", "60")
    processes.append(started("worker", "--scheduler-file", file, *options))
    watch = Watch(tmp_path / "log", seconds=0.02)
    settings = {"unit_rows": 4, "task_of": watch.task_of}
    try:
        with (
            distributed.Client(
                scheduler_file=str(file), timeout=60, set_as_default=False
            ) as lonely,
            KillsScheduler(watch, processes[0]),
            pytest.raises(ConnectionError, match="the same call resumes"),
        ):
            run(model, source, tmp_path / "z", Dask(lonely), Options(), **settings)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    n_done = sum(name.startswith("part-") for name in os.listdir(tmp_path / "z"))
    assert 10 < n_done < N_UNITS
    written = run(model, source, tmp_path / "z", Dask(client), Options(), **settings)
    assert written.n_computed == N_UNITS - n_done
    assert len(watch.starts()) - N_UNITS <= 0.05 * N_UNITS
    assert digest_of_rows(tmp_path / "z") == digest_of_rows(expected)


class KillsScheduler(Killer):
    """Kills the scheduler in place of a worker."""

    def __init__(self, watch, scheduler):
        super().__init__(watch, 1, 20)
        self.scheduler = scheduler

    def _work(self):
        while len(self.watch.starts()) < self.every and not self._stop.wait(0.02):
            pass
        self.scheduler.kill()
