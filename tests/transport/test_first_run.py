"""In a first run one copy of the solver for few sinks stands in for the others, to the same bit."""

import math

import numpy as np
import pytest

import graphmover as gm
from graphmover._utils.kernels import Kernel
from graphmover.transport.cpu import engine, few_sinks
from graphmover.transport.ground import GroundDistance

NARROWER = {width for width in few_sinks.WIDTHS if width < engine._STAND_IN}


def random_sets(rng, sizes):
    """Points at random, then on crossing lines, where the solver gives up."""
    points = [rng.random((size, 2)) for size in sizes]
    for number, size in enumerate(sizes):
        line = np.zeros((size, 2))
        line[:, number % 2] = rng.permutation(size) / size
        points.append(line)
    counts = [len(some) for some in points]
    masses = rng.integers(1, 9, sum(counts))
    return gm.NodeEmbeddings(np.concatenate(points), masses, np.cumsum([0, *counts]))


@pytest.fixture
def sets():
    rng = np.random.default_rng(0)
    large, small = [2, 20, 35, 90, 150], [1, 3, 7, 8, 9, 13, 15, 16, 17, 25, 31, 32]
    return random_sets(rng, large), random_sets(rng, small)


@pytest.fixture
def first_run(monkeypatch):
    """Begin one: nothing is loaded, nothing is stored."""

    def begin(worth):
        monkeypatch.setattr(Kernel, "is_stored", lambda self, sig: False)
        monkeypatch.setattr(engine, "_loaded", set())
        monkeypatch.setattr(engine, "_first_run", engine._FirstRun())
        monkeypatch.setattr(engine, "_WORTH_A_COPY", worth)

    return begin


def widths_in_use():
    return {width for kernel, width in engine._loaded if kernel is few_sinks.distances}


@pytest.mark.parametrize("unmatched", [None, 1.5])
def test_a_wider_copy_finds_the_same_bits(sets, first_run, unmatched):
    ground = None if unmatched is None else GroundDistance(0.0, 0.0, unmatched=unmatched)
    expected = gm.earth_movers_distance(*sets, ground=ground)
    first_run(worth=math.inf)
    assert np.array_equal(gm.earth_movers_distance(*sets, ground=ground), expected)
    assert engine._STAND_IN in widths_in_use()
    assert not widths_in_use() & NARROWER
    assert engine._first_run.seconds > 0


def test_after_long_work_there_are_all_copies(sets, first_run):
    first_run(worth=math.inf)
    gm.earth_movers_distance(*sets)
    engine._WORTH_A_COPY = engine._first_run.seconds
    gm.earth_movers_distance(*sets)
    assert widths_in_use() == NARROWER | {engine._STAND_IN}
