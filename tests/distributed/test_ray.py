"""Units on a Ray cluster of two cores, whose workers are killed."""

import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
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
from graphmover.distributed.unit import Options

ray = pytest.importorskip("ray")

from graphmover.distributed.engines.ray import Ray  # noqa: E402

N_UNITS = 60

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Ray's own warnings


@pytest.fixture(scope="module", autouse=True)
def cluster():
    paths = {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}}
    ray.init(
        "local",  # not a cluster that happens to run on this machine
        num_cpus=2,
        num_gpus=1,  # by name: nothing here computes on one
        include_dashboard=False,
        log_to_driver=False,
        runtime_env=paths,
        object_store_memory=10**8,
        _system_config={"metrics_report_interval_ms": 0},
    )
    yield
    ray.shutdown()


def test_rows_are_those_of_one_process(model, source, expected, tmp_path):
    written = gm.distributed.transform_to(
        model, source, tmp_path / "z", engine="ray", unit_rows=4, workers=1
    )
    assert written[:5] == (240, 8, N_UNITS, N_UNITS, 0)
    assert rows_of(tmp_path / "z") == rows_of(expected)


def test_workers_may_share_a_gpu(model, source, expected, tmp_path, caplog):
    watch = Watch(tmp_path / "log", seconds=0.05)
    options = {"unit_rows": 4, "task_of": watch.task_of}
    run(model, source, tmp_path / "z", Ray(num_gpus=0.5), Options(), **options)
    assert rows_of(tmp_path / "z") == rows_of(expected)
    assert len({process for _, process in watch.starts()}) == 2
    assert not said(caplog)


def said(caplog):
    return [one.getMessage() for one in caplog.records if one.name == "graphmover"]


class WaitsForEver(Exception):  # noqa: N818
    pass


def test_what_is_waited_for_is_said(model, source, tmp_path, caplog, monkeypatch):
    wait = ray.wait

    def impatient(results):
        assert not wait(results, timeout=1)[0]
        raise WaitsForEver

    monkeypatch.setattr(ray, "wait", impatient)
    with pytest.raises(WaitsForEver):
        run(model, source, tmp_path / "z", Ray(num_gpus=2, workers=1), Options(), unit_rows=4)
    assert said(caplog) == ["no node of the Ray cluster has a core and num_gpus=2: waiting for one"]


def test_workers_killed_at_random_lose_no_row_and_double_none(model, source, expected, tmp_path):
    watch = Watch(tmp_path / "log", seconds=0.05)
    options = {"unit_rows": 4, "task_of": watch.task_of}
    with Killer(watch, kills=2, every=12) as killer:
        run(model, source, tmp_path / "z", Ray(), Options(), **options)
    assert killer.n_kills == 2
    assert digest_of_rows(tmp_path / "z") == digest_of_rows(expected)
    assert len(watch.starts()) - N_UNITS <= killer.n_kills * 0.05 * N_UNITS
    assert not [name for name in os.listdir(tmp_path / "z") if name.startswith(".")]


def test_workers_killed_every_few_seconds(model, source, expected, tmp_path):
    survives_kills_by_the_clock(Ray(), model, source, expected, tmp_path)


def test_a_worker_that_ray_kills_for_want_of_memory_is_lost_like_others(
    model, source, expected, tmp_path, monkeypatch
):
    get, errors = ray.get, [ray.exceptions.OutOfMemoryError("killed")] * 2

    def short_of_memory(result):
        done = get(result)
        if errors:
            raise errors.pop()
        return done

    monkeypatch.setattr(ray, "get", short_of_memory)
    written = run(model, source, tmp_path / "z", Ray(workers=1), Options(), unit_rows=4)
    assert written.n_rows == 240
    assert not errors
    assert digest_of_rows(tmp_path / "z") == digest_of_rows(expected)


def test_an_error_of_a_unit_is_raised_and_what_is_done_stays(model, data, tmp_path):
    gm.write_graphs(data.graphs[:4], tmp_path / "1.parquet")
    pq.write_table(pa.table({"neighbours": [[[5]]]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet: graph 0"):
        gm.distributed.transform_to(
            model, tmp_path / "*.parquet", tmp_path / "z", engine="ray", workers=1
        )
    assert "_SUCCESS" not in os.listdir(tmp_path / "z")
