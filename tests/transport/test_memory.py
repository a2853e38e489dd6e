"""Tables of the solvers in memory that a thread keeps."""

import threading

import numpy as np
import pytest

import graphmover as gm
from graphmover.transport import GroundDistance
from graphmover.transport.cpu import engine, memory
from graphmover.transport.cpu.memory import working_memory


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(memory, "_kept", memory._Kept())


def address(table):
    return table.ctypes.data


def test_a_thread_keeps_its_memory_until_it_needs_more():
    first = working_memory(2, 10, 32)
    assert first.shape == (2, 320)
    assert address(working_memory(1, 10, 32)) == address(first)
    larger = working_memory(6, 10, 32)
    assert address(working_memory(6, 10, 32)) == address(larger)


def test_tables_start_at_a_cache_line():
    for n_sources in (1, 7, 1000):
        assert address(working_memory(3, n_sources, 8)) % 64 == 0


def test_threads_share_no_memory():
    here, there = working_memory(1, 10, 32), []
    thread = threading.Thread(target=lambda: there.append(working_memory(1, 10, 32)))
    thread.start()
    thread.join()
    assert not np.shares_memory(here, there[0])


def test_large_tables_are_not_kept(monkeypatch):
    monkeypatch.setattr(memory, "MOST_KEPT", 1000)
    kept = working_memory(1, 31, 32)
    large = working_memory(1, 32, 32)
    assert address(working_memory(1, 31, 32)) == address(kept) != address(large)


@pytest.mark.parametrize("n, m", [(5, 3), (40, 20), (60, 60), (100, 90), (300, 200)])
def test_what_is_left_in_memory_does_not_matter(n, m):
    rng = np.random.default_rng(n)
    x, y = (
        engine.prepare(rng.random((k, 3)), rng.integers(1, 9, k), np.array([0, k]), None)
        for k in (n, m)
    )
    found, again = np.empty((2, 1, 1))
    engine.distances(x, y, found)
    for left in (0, -1, 2**62, -(2**62)):
        assert memory._kept.block.size
        memory._kept.block[...] = left
        engine.distances(x, y, again)
        assert (again == found).all()


@pytest.mark.parametrize("n, m", [(1, 1), (2, 2), (15, 3), (33, 33), (70, 66)])
def test_nothing_is_written_beyond_the_tables(monkeypatch, n, m):
    guarded = []

    def with_guard(n_tables, n_rows, stride):
        size = n_tables * n_rows * stride
        block = np.full(size + 8192, -7, np.int64)
        guarded.append(block[size:])
        return block[:size].reshape(n_tables, n_rows * stride)

    monkeypatch.setattr(engine, "working_memory", with_guard)
    rng = np.random.default_rng(n)
    x = gm.NodeEmbeddings(rng.random((n, 2)), [1] * n, [0, n])
    y = gm.NodeEmbeddings(rng.random((m, 2)), [1] * m, [0, m])
    for ground in (None, GroundDistance(0.0, 0.0, unmatched=1.0)):
        gm.transport_plan(x, y, ground=ground)
        gm.earth_movers_distance(x, y, ground=ground)
    assert guarded and all((guard == -7).all() for guard in guarded)
