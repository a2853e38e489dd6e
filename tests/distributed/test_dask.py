"""Units on a Dask cluster of two processes, which are killed, and its scheduler with them."""

import json
import os
import pickle
import subprocess
import sys

import commands
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed_runs import (
    Killer,
    Watch,
    digest_of_rows,
    interrupted,
    rows_of,
    survives_kills_by_the_clock,
)

import graphmover as gm
from graphmover.cli.many_workers import Workers, _engine
from graphmover.distributed.driver import run
from graphmover.distributed.engines.sending import unpickler
from graphmover.distributed.unit import Options

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

from graphmover.distributed.engines.dask import Dask  # noqa: E402

N_UNITS = 60

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Dask's own warnings


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


def test_units_run_where_the_resources_are(model, source, expected, tmp_path):
    watch = Watch(tmp_path / "log", seconds=0.01)
    options = {"unit_rows": 4, "task_of": watch.task_of}
    one = {"cls": distributed.Nanny, "options": {"nthreads": 1}}
    other = {"cls": distributed.Nanny, "options": {"nthreads": 1, "resources": {"GPU": 1}}}
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard": False, "port": 0}}
    with (
        distributed.SpecCluster({"without": one, "with": other}, scheduler) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(2)
        processes = client.run(os.getpid)
        (wanted,) = [
            processes[address]
            for address, worker in client.scheduler_info(n_workers=-1)["workers"].items()
            if worker["resources"]
        ]
        run(model, source, tmp_path / "z", Dask(client, {"GPU": 1}), Options(), **options)
    assert len(processes) == 2
    assert {process for _, process in watch.starts()} == {wanted}
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


def test_workers_killed_every_few_seconds(model, source, expected, client, tmp_path):
    survives_kills_by_the_clock(Dask(client), model, source, expected, tmp_path)


def test_an_error_of_a_unit_is_raised_and_what_is_done_stays(model, data, client, tmp_path):
    gm.write_graphs(data.graphs[:4], tmp_path / "1.parquet")
    pq.write_table(pa.table({"neighbours": [[[5]]]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet: graph 0"):
        gm.distributed.transform_to(model, tmp_path / "*.parquet", tmp_path / "z", client=client)
    assert "part-000001.parquet" not in os.listdir(tmp_path / "z")
    assert "_SUCCESS" not in os.listdir(tmp_path / "z")


def test_losses_that_dask_has_counted_count(client):
    class Future:
        status = "error"

        def exception(self):
            return distributed.scheduler.KilledWorker("unit", None, 3)

    assert Dask(client)._n_lost(Future()) == 4


def test_clients_of_other_kinds_are_refused(model, source, tmp_path):
    with pytest.raises(TypeError, match=r"must be a synchronous dask\.distributed\.Client"):
        gm.distributed.transform_to(model, source, tmp_path / "z", client="tcp://127.0.0.1:1")
    with pytest.raises(ValueError, match='engine="dask" needs a client'):
        gm.distributed.transform_to(model, source, tmp_path / "z", engine="dask")


def started(*arguments):
    command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=environment, **quiet)


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory):
    """The file that tells the address of a cluster, its scheduler and its worker."""
    file = tmp_path_factory.mktemp("cluster") / "scheduler.json"
    options = ("--scheduler-file", file, "--no-dashboard")
    processes = [started("scheduler", "--host", "127.0.0.1", "--port", "0", *options)]
    alone = ("--nthreads", "1", "--no-nanny", "--death-timeout", "60")
    processes.append(started("worker", *options, *alone))
    yield file, processes
    kill(processes)


def kill(processes):
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_the_command_line_finds_the_cluster_and_ctrl_c_leaves_a_state_that_resumes(
    model, source, expected, by_hand, tmp_path
):
    model.save(tmp_path / "model.npz")
    with distributed.Client(
        scheduler_file=str(by_hand[0]), timeout=60, set_as_default=False
    ) as client:
        address = client.scheduler.address
    assert address.startswith("tcp://127.0.0.1:")
    command = ["embed", source, "-o", tmp_path / "z", "-m", tmp_path / "model.npz"]
    command += ["--unit-rows", 4, "--cluster", address]
    n_done = interrupted(command, tmp_path / "z")
    answer = commands.run(*command, "--json")
    n_left = N_UNITS - n_done  # or less one: the worker completes what it is at
    assert json.loads(answer.stdout)["computed"] in (n_left, n_left - 1)
    assert rows_of(tmp_path / "z") == rows_of(expected)


def test_a_killed_scheduler_is_reported_and_the_next_run_resumes(
    model, source, expected, by_hand, client, tmp_path
):
    file, processes = by_hand
    watch = Watch(tmp_path / "log", seconds=0.02)
    settings = {"unit_rows": 4, "task_of": watch.task_of}
    with (
        distributed.Client(scheduler_file=str(file), timeout=60, set_as_default=False) as lonely,
        KillsScheduler(watch, processes[0]),
        pytest.raises(ConnectionError, match="the same call resumes"),
    ):
        run(model, source, tmp_path / "z", Dask(lonely), Options(), **settings)
    kill(processes)
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


# Messages


def test_an_address_without_a_cluster_is_named():
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}),
        pytest.raises(ConnectionError, match=r"no Dask cluster answers at tcp://127\.0\.0\.1:1 "),
        _engine(Workers("tcp://127.0.0.1:1", None, 0, None, None, None)),
    ):
        pass


def test_what_is_waited_for_is_said(client, caplog):
    def said():
        return [one.getMessage() for one in caplog.records if one.name == "graphmover"]

    Dask(client, {"GPU": 1})._tell_if_workers_are_lacking()
    assert not said()
    Dask(client, {"GPU": 2, "TPU": 0.5})._tell_if_workers_are_lacking()
    assert "has no worker started with --resources GPU=2,TPU=0.5" in said()[0]
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as nobody,
    ):
        Dask(nobody)._tell_if_workers_are_lacking()
    assert said()[1].endswith("has no workers: waiting for the first")


#: A worker's process in which graphmover is not installed.
WITHOUT = """
import pickle, sys
sys.modules["graphmover"] = None
call, content = pickle.load(sys.stdin.buffer)
call(content)
"""


def test_workers_without_graphmover_say_so(model):
    cloudpickle = pytest.importorskip("cloudpickle")
    sent = cloudpickle.dumps((unpickler(), pickle.dumps(Options())))
    command = [sys.executable, "-c", WITHOUT]
    answer = subprocess.run(command, input=sent, capture_output=True, check=False)
    last = answer.stderr.decode().splitlines()[-1]
    assert last.startswith("RuntimeError: a worker on ")
    assert last.endswith("install the driver's version on all workers")
    assert unpickler()(pickle.dumps(Options())) == Options()
