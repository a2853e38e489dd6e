"""The host side of the GPU engine: NumPy in CuPy's place, and the kernels of the simulator."""

import ctypes
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import cuda_simulator
import numpy as np
import pytest
from graph_zoo import random_nodes

import graphmover as gm
from graphmover.transport.cuda import engine

#: A small device: each multiprocessor has two dozen warps with tables in scratch memory.
PROCESSORS = 2


class Stream(nullcontext):
    """Work is done as soon as it is given, so there is nothing to wait for."""

    def __init__(self, non_blocking=False):
        super().__init__()

    def record(self):
        return self

    def wait_event(self, event):
        pass

    def synchronize(self):
        pass


@pytest.fixture
def device(monkeypatch, tmp_path_factory):
    """A device that lists its kernels: their names, blocks and scratch memory."""
    if cuda_simulator.compiler() is None or sys.platform != "linux":
        pytest.skip("no C++ compiler on Linux")
    compiled = cuda_simulator.build(tmp_path_factory.mktemp("engine"))
    state = SimpleNamespace(free=2**30, shared=200 * 1024, launched=[])

    def kernel(name, shared_bytes, *, options):
        def launch(grid, block, arguments, shared_mem):
            *most, scratch, n_bytes, out, stride, chosen, n_chosen, again, n_again = arguments
            assert shared_mem <= shared_bytes
            assert not n_bytes or scratch.nbytes >= grid[0] * n_bytes
            state.launched.append((name, grid[0], scratch))
            converted = [
                ctypes.c_void_p(value.ctypes.data)
                if isinstance(value, np.ndarray)
                else None
                if value is None
                else np.ctypeslib.as_ctypes_type(value.dtype)(value.item())
                for value in (*most, n_bytes, out, stride, chosen, n_chosen, again, n_again)
            ]
            compiled[f"run_{name}"](ctypes.c_int(grid[0]), ctypes.c_long(shared_mem), *converted)

        return launch

    def attributes():
        return {
            "MultiProcessorCount": PROCESSORS,
            "MaxSharedMemoryPerBlockOptin": state.shared,
        }

    cuda = SimpleNamespace(
        Stream=Stream,
        get_current_stream=Stream,
        Device=lambda: SimpleNamespace(
            attributes=attributes(), mem_info=(state.free, state.free), synchronize=lambda: None
        ),
    )
    pool = SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)
    cupy = SimpleNamespace(
        cuda=cuda,
        get_default_memory_pool=lambda: pool,
        **{name: getattr(np, name) for name in ("asarray", "empty", "full", "zeros")},
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(engine, "kernel", kernel)
    return state


def solve(x, y):
    return engine.solve(*map(cuda_simulator.host_side, (x, y)))[0]


@pytest.mark.parametrize("shared", [4 * 1024, 20 * 1024, 200 * 1024])
def test_equals_the_cpu_engine_wherever_tables_are(device, shared):
    device.shared = shared
    rng = np.random.default_rng(shared)
    x, y = random_nodes(rng, 12, 90, labels=2), random_nodes(rng, 9, 40, labels=2)
    np.testing.assert_allclose(solve(x, y), gm.earth_movers_distance(x, y), rtol=1e-9)


def test_kernels_of_a_stream_share_scratch_memory(device, monkeypatch):
    """Each call allocates it anew, on the current stream: with new streams it would only grow."""
    monkeypatch.setattr(engine, "_STREAMS", 2)
    rng = np.random.default_rng(0)
    x, y = random_nodes(rng, 12, 90), random_nodes(rng, 9, 40)
    solve(x, y)
    buffers = {id(scratch): scratch for _, _, scratch in device.launched if scratch is not None}
    assert len(device.launched) > 10
    assert len(buffers) == 2


def test_little_memory_leaves_room_for_few_warps(device):
    rng = np.random.default_rng(1)
    x, y = random_nodes(rng, 5, 90), random_nodes(rng, 6, 40)

    def solved():
        device.launched.clear()
        found = solve(x, y)
        by_warp = [scratch is not None and blocks for _, blocks, scratch in device.launched]
        return found, max(by_warp), max(s.nbytes for *_, s in device.launched if s is not None)

    expected, most, _ = solved()
    device.free = 8 * 200_000
    found, fewer, n_bytes = solved()
    np.testing.assert_array_equal(found, expected)
    assert 0 < fewer < most
    assert n_bytes <= 200_000
    device.free = 8 * 1000
    with pytest.raises(MemoryError, match="one transport problem needs"):
        solved()
