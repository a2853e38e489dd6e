"""Processes with limits, and what a method costs."""

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
    import os

    outcome = run_limited(os._exit, 7)
    assert outcome.failure == "ended with exit code 7"


@pytest.mark.slow
def test_the_cost_of_a_fold():
    graphs = gm.as_graph_batch([(star if k % 2 else cycle)(5 + k) for k in range(40)])
    cost = cost_of("WL-ST", graphs, np.arange(40) % 2)
    assert cost.failure is None
    assert 0 < cost.fit_seconds < 5
    assert 0 < cost.transform_seconds < 5
    assert cost.peak_mb > 20
    assert cost_of("WL-ST", graphs, np.arange(40) % 2, seconds=0.01).failure == "time-out"
