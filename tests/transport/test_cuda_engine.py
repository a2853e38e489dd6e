"""The host side of the GPU engine, on a simulated GPU."""

import numpy as np
import pytest
import simulated_gpu
from graph_zoo import random_nodes

import graphmover as gm
from graphmover.transport.cuda import engine


@pytest.fixture
def gpu():
    with simulated_gpu.installed() as cupy:
        yield cupy


def solve(x, y):
    sides = (engine.prepare(n.points, n.masses, n.offsets, n.labels) for n in (x, y))
    return engine.solve(*sides)[0].get()


def scratch_memory(gpu):
    """The scratch memory that each kernel of transport.cu got, and how many blocks it had."""
    of_transport = [(grid, arguments) for _, grid, arguments in gpu.launched if len(arguments) > 14]
    return [
        (arguments[14], grid[0]) for grid, arguments in of_transport if arguments[14] is not None
    ]


@pytest.mark.parametrize("shared", [4 * 1024, 20 * 1024, 200 * 1024])
def test_equals_the_cpu_engine_wherever_tables_are(gpu, shared):
    gpu.shared = shared
    rng = np.random.default_rng(shared)
    x, y = random_nodes(rng, 12, 90, labels=2), random_nodes(rng, 9, 40, labels=2)
    np.testing.assert_allclose(solve(x, y), gm.earth_movers_distance(x, y), rtol=1e-9)


@pytest.mark.slow
def test_kernels_of_a_stream_share_scratch_memory(gpu, monkeypatch):
    """Each call allocates it anew, on the current stream: with new streams it would only grow."""
    monkeypatch.setattr(engine, "_STREAMS", 2)
    rng = np.random.default_rng(0)
    x, y = random_nodes(rng, 12, 90), random_nodes(rng, 9, 40)
    solve(x, y)
    assert len(gpu.launched) > 10
    assert len({id(scratch) for scratch, _ in scratch_memory(gpu)}) == 2


def test_tables_in_scratch_memory_have_room_for_every_warp(gpu):
    rng = np.random.default_rng(0)
    solve(random_nodes(rng, 12, 90), random_nodes(rng, 9, 40))
    for _, grid, arguments in gpu.launched:
        if len(arguments) > 15 and (n_bytes := arguments[15]):
            assert arguments[14].nbytes >= grid[0] * n_bytes


def test_little_memory_leaves_room_for_few_warps(gpu):
    rng = np.random.default_rng(1)
    x, y = random_nodes(rng, 5, 90), random_nodes(rng, 6, 40)

    def solved():
        gpu.launched.clear()
        found = solve(x, y)
        used = scratch_memory(gpu)
        return found, max(blocks for _, blocks in used), max(s.nbytes for s, _ in used)

    expected, most, _ = solved()
    gpu.free = 8 * 200_000
    found, fewer, n_bytes = solved()
    np.testing.assert_array_equal(found, expected)
    assert 0 < fewer < most
    assert n_bytes <= 200_000
    gpu.free = 8 * 1000
    with pytest.raises(MemoryError, match="one transport problem needs"):
        solved()
