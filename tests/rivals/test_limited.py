"""Processes with limits, and what a method costs."""

import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest
from graph_zoo import cycle, star

import graphmover as gm
from graphmover.rivals.cost import cost_of
from graphmover.rivals.limited import run_limited


def test_results_errors_and_memory_come_back():
    small, large = (run_limited(np.ones, n) for n in (10, 10**7))
    assert small.failure is None
    assert len(large.result) == 10**7
    assert large.peak_mb > small.peak_mb + 50
    failed = run_limited(int, "seven")
    assert failed.result is None
    assert failed.failure.startswith("ValueError: invalid literal")


def test_a_time_out_is_a_result():
    outcome = run_limited(time.sleep, 60, seconds=0.5)
    assert outcome.failure == "time-out"
    assert 0.5 < outcome.seconds < 20


def test_too_much_memory_is_a_result():
    outcome = run_limited(np.ones, 10**8, megabytes=200)
    assert outcome.failure == "out of memory"


def test_a_process_that_is_killed_is_told():
    outcome = run_limited(os._exit, 7)
    assert outcome.failure == "ended with exit code 7"


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_the_process_leaves_ctrl_c_to_the_one_that_waits():
    """A terminal sends it to both; the process would print a traceback, most often of imports."""

    def send():
        while not (started := multiprocessing.active_children()):
            time.sleep(0.001)
        os.kill(started[0].pid, signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    assert run_limited(divmod, 7, 2).result == (3, 1)
    sender.join()
    assert run_limited(signal.raise_signal, signal.SIGINT).failure is None


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_while_the_process_starts_ends_it(monkeypatch):
    """It does not hear Ctrl-C itself, so nobody else would."""
    spawned = multiprocessing.get_context("spawn").Process
    start, started = spawned.start, []

    def start_and_interrupt(self):
        start(self)
        started.append(self)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(spawned, "start", start_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_limited(time.sleep, 60)
    is_left = started[0].is_alive()
    started[0].kill()
    assert not is_left


def test_a_process_that_cannot_start_is_an_error(monkeypatch):
    def fail(self):
        raise OSError("no more processes")

    monkeypatch.setattr(multiprocessing.get_context("spawn").Process, "start", fail)
    with pytest.raises(OSError, match="no more processes"):
        run_limited(time.sleep, 60)


@pytest.mark.slow
def test_the_cost_of_a_fold():
    graphs = gm.as_graph_batch([(star if k % 2 else cycle)(5 + k) for k in range(40)])
    cost = cost_of("WL-ST", graphs, np.arange(40) % 2)
    assert cost.failure is None
    assert 0 < cost.fit_seconds < 5
    assert 0 < cost.transform_seconds < 5
    assert cost.peak_mb > 20
    assert cost_of("WL-ST", graphs, np.arange(40) % 2, seconds=0.01).failure == "time-out"
