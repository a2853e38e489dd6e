"""Chunks in threads: what happens to them after an error or Ctrl-C."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import threadpoolctl

from graphmover._utils.parallel import for_each_chunk, single_threaded_blas
from graphmover._utils.progress import Bar


class Chunks:
    """Chunks that hold memory; all but the first wait until `proceed` is set."""

    def __init__(self):
        self.held, self.released = set(), []
        self.proceed, self.second_begun, self.all_released = (threading.Event() for _ in range(3))

    def work_on(self, rows):
        self.held.add(rows.start)
        if rows.start:
            self.second_begun.set()
            assert self.proceed.wait(10)
        else:
            assert self.second_begun.wait(10)
        self.held.remove(rows.start)

    def release(self):
        self.released.append(len(self.held))
        if not self.held:
            self.all_released.set()


def interrupt(bar, n):
    raise KeyboardInterrupt


def test_ctrl_c_does_not_wait_for_chunks_and_their_memory_is_released(monkeypatch):
    monkeypatch.setattr(Bar, "advance", interrupt)
    chunks = Chunks()
    with pytest.raises(KeyboardInterrupt):
        for_each_chunk(
            chunks.work_on, np.ones(9, int), most=1, n_jobs=2, progress="w", release=chunks.release
        )
    assert 1 in chunks.held
    assert not chunks.released  # that would wait for the chunks that are still running
    chunks.proceed.set()
    assert chunks.all_released.wait(10)
    assert len(chunks.released) <= 2  # two threads: at most two chunks were running


@pytest.mark.parametrize("in_another_thread", [False, True])
def test_an_error_releases_memory_too(in_another_thread):
    released = threading.Event()  # set at the end of a chunk that runs when another fails

    def fail(rows):
        raise ValueError(f"chunk {rows.start}")

    def call():
        for_each_chunk(fail, np.ones(3, int), most=1, n_jobs=1, release=released.set)

    with pytest.raises(ValueError, match="chunk 0"):
        if in_another_thread:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(call).result()
        else:
            call()
    assert released.wait(10)


def test_chunks_that_take_longer_than_a_wait_are_waited_for(monkeypatch):
    monkeypatch.setattr("graphmover._utils.cancelling._LONGEST_WAIT", 0.01)  # as on Windows
    done = []

    def work_on(rows):
        time.sleep(0.05)
        done.append(rows.start)

    for_each_chunk(work_on, np.ones(5, int), most=1, n_jobs=2)
    assert sorted(done) == list(range(5))

    def fail(rows):
        time.sleep(0.05)
        raise TimeoutError(f"chunk {rows.start}")

    with pytest.raises(TimeoutError, match="chunk 0"):
        for_each_chunk(fail, np.ones(5, int), most=1, n_jobs=1)


def test_nothing_is_released_without_an_error():
    released = []
    for_each_chunk(
        lambda rows: None, np.ones(3, int), most=1, n_jobs=2, release=lambda: released.append(1)
    )
    assert released == []


def blas_threads():
    libraries = threadpoolctl.threadpool_info()
    return [library["num_threads"] for library in libraries if library["user_api"] == "blas"]


@pytest.mark.skipif(set(blas_threads()) == {1}, reason="needs a BLAS with several threads")
def test_any_thread_sets_the_limit_of_blas_and_any_restores_it():
    before = blas_threads()
    with single_threaded_blas():
        assert set(blas_threads()) == {1}
    with ThreadPoolExecutor(1) as pool:
        other = single_threaded_blas()
        pool.submit(other.__enter__).result()  # after a limit that the main thread set
        assert set(blas_threads()) == {1}
        with single_threaded_blas():
            pool.submit(other.__exit__, None, None, None).result()
            assert set(blas_threads()) == {1}
        assert blas_threads() == before  # the last thread to leave is another than the first
