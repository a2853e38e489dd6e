"""Forks while other threads compute, hold locks, or fork themselves."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
import threadpoolctl
from fuzz import forks
from numba.core.compiler_lock import global_compiler_lock

import graphmover as gm
from graphmover._utils import compiling, fork, parallel
from graphmover._utils.parallel import for_each_chunk, single_threaded_blas

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

TRIANGLE = gm.Graph(3, [(0, 1), (1, 2), (0, 2)])
ONE = np.ones(1, np.int64)


def in_child(function):
    """Return what a function returns in a forked process; a child that hangs is an error."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(20)
        try:
            result = function()
        except BaseException as error:  # the parent looks at it
            result = error
        os.write(writing, pickle.dumps(result))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    status = os.waitpid(child, 0)[1]
    assert status == 0, f"the child ended by signal {status}"
    return pickle.loads(content)


@contextmanager
def in_thread(function):
    """Run a function in another thread, from the moment it calls its argument."""
    begun = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(function, begun.set)
        assert begun.wait(20)
        yield future
    future.result()


def compute():
    return gm.embed_nodes([TRIANGLE] * 3, n_jobs=2).points.tolist()


@pytest.fixture(autouse=True)
def expected(monkeypatch):
    monkeypatch.setattr(fork, "PATIENCE", 20.0)  # for slow machines
    return compute()  # kernels are loaded


@pytest.mark.slow
def test_many_forks_amid_computing_threads(tmp_path):
    forks.attack(np.random.default_rng(0), tmp_path, n_forks=150)


def test_the_limit_of_blas_is_being_set(monkeypatch, expected):
    class SlowController(threadpoolctl.ThreadpoolController):
        def __init__(self):
            started()
            time.sleep(0.5)
            super().__init__()

    monkeypatch.setattr("threadpoolctl.ThreadpoolController", SlowController)
    monkeypatch.setattr(parallel._blas_limit, "_n_modules", 0)  # libraries are looked for again

    def limit(begun):
        nonlocal started
        started = begun
        with single_threaded_blas():
            started = lambda: None  # noqa: E731
            time.sleep(0.5)

    started = None
    with in_thread(limit):
        assert in_child(compute) == expected


@pytest.mark.parametrize("lock", [global_compiler_lock, compiling._lock], ids=["numba", "ours"])
def test_another_thread_holds_a_lock(lock):
    def hold(begun):
        with lock:
            begun()
            time.sleep(0.5)

    def take():
        with lock:
            return "taken"

    with in_thread(hold):
        assert in_child(take) == "taken"


def test_a_fork_waits_for_chunks(expected):
    finished = []

    def chunk_of(begun):
        def work(_):
            begun()
            time.sleep(0.5)
            finished.append(True)

        for_each_chunk(work, ONE, most=1, n_jobs=1)

    with in_thread(chunk_of):
        assert in_child(lambda: (list(finished), compute())) == ([True], expected)


def test_a_fork_does_not_wait_for_ever_and_its_child_says_why_it_cannot_compute(
    monkeypatch, expected
):
    monkeypatch.setattr(fork, "PATIENCE", 0.2)
    proceed = threading.Event()

    def chunk_of(begun):
        def work(_):
            begun()
            assert proceed.wait(20)

        for_each_chunk(work, ONE, most=1, n_jobs=1)

    with in_thread(chunk_of):
        error = in_child(compute)
        grandchild = in_child(lambda: in_child(compute))
        proceed.set()
    for raised in (error, grandchild):
        assert isinstance(raised, RuntimeError)
        assert "forked while another thread of its parent was computing" in str(raised)
        assert '"spawn"' in str(raised)
    assert in_child(compute) == compute() == expected


def test_chunks_start_after_the_fork(expected):
    # The gate is open again in both processes, also for a fork out of a chunk.
    found = []
    for_each_chunk(lambda _: found.append(in_child(compute)), ONE, most=1, n_jobs=1)
    assert found == [expected]
    assert compute() == expected


#: In a process of its own: filelock, which Ray imports, forbids a fork while another waits.
FORK_AT_ONCE = """
import sys, threading, time
sys.path = {path}
from test_fork import compute, fork, for_each_chunk, in_child, np

def fork_in_chunk(_):
    together.wait(20)
    found.append(in_child(compute))

fork.PATIENCE = 20.0
expected, found, together = compute(), [], threading.Barrier(2)
start = time.perf_counter()
for_each_chunk(fork_in_chunk, np.ones(2, np.int64), most=1, n_jobs=2)
assert time.perf_counter() - start < fork.PATIENCE
assert found == [expected] * 2
"""


def test_threads_that_fork_do_not_wait_for_each_other():
    script = FORK_AT_ONCE.format(path=sys.path)
    done = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]


def test_inner_chunks_do_not_wait_for_a_fork(expected):
    def chunk_of(begun):
        def outer(_):
            begun()
            time.sleep(0.5)
            for_each_chunk(middle, np.ones(2, np.int64), most=1, n_jobs=2)

        for_each_chunk(outer, ONE, most=1, n_jobs=1)

    def middle(_):
        time.sleep(0.2)
        finished.append(compute())

    finished = []
    with in_thread(chunk_of):
        assert in_child(lambda: finished) == [expected] * 2


def blas_threads():
    libraries = threadpoolctl.threadpool_info()
    return [library["num_threads"] for library in libraries if library["user_api"] == "blas"]


@pytest.mark.skipif(set(blas_threads()) == {1}, reason="needs a BLAS with several threads")
def test_the_child_has_the_limit_of_blas_that_its_own_thread_set():
    def limit(begun):
        with single_threaded_blas():
            begun()
            assert proceed.wait(20)

    def leave():
        inside.__exit__(None, None, None)
        return blas_threads()

    before, proceed = blas_threads(), threading.Event()
    with in_thread(limit):
        try:
            assert set(blas_threads()) == {1}
            assert in_child(blas_threads) == before
            with single_threaded_blas():
                assert set(in_child(blas_threads)) == {1}
            inside = single_threaded_blas()
            inside.__enter__()
            assert in_child(leave) == before
            inside.__exit__(None, None, None)
        finally:
            proceed.set()
    assert blas_threads() == before
