"""Processes that leave Ctrl-C to the one that started them."""

import multiprocessing
import os
import signal
import threading
import time
from functools import partial

import pytest

from graphmover._utils.child_processes import start_deaf, stay_deaf

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals")


def _ask(connection):
    """Send which handler a process has, and whether Ctrl-C waits, before and after `stay_deaf`."""
    for step in (None, stay_deaf):
        if step is not None:
            step()
        blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
        connection.send((blocked, signal.getsignal(signal.SIGINT) == signal.SIG_IGN))


@pytest.fixture
def process():
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=time.sleep, args=(60,), daemon=True)
    yield process
    if process.pid is not None:
        process.kill()
        process.join()


def test_a_process_is_deaf_from_its_start():
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_ask, args=(theirs,), daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    start_deaf(process)
    theirs.close()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
    assert ours.recv() == (True, False)
    assert ours.recv() == (True, True)
    process.join()
    ours.close()


@pytest.mark.parametrize("is_taken_by_a_thread", [False, True])
def test_ctrl_c_reaches_the_starter_once_the_process_is_known(
    process, monkeypatch, is_taken_by_a_thread
):
    """So the starter can end it: an error within `start` would leave a process without a number."""
    start = type(process).start

    def interrupt_and_start(self):
        if is_taken_by_a_thread:  # one that does not block the signal, such as those of BLAS
            signals = {signal.SIGINT}
            take = [partial(signal.pthread_sigmask, signal.SIG_UNBLOCK, signals)]
            take.append(partial(signal.raise_signal, signal.SIGINT))
            thread = threading.Thread(target=lambda: [step() for step in take])
            thread.start()
            thread.join()
        else:
            signal.raise_signal(signal.SIGINT)
        start(self)

    monkeypatch.setattr(type(process), "start", interrupt_and_start)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        start_deaf(process)
    assert process.is_alive()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert signal.getsignal(signal.SIGINT) is handler


def test_processes_are_started_by_other_threads_too(process):
    """Only the main thread may set handlers."""
    thread = threading.Thread(target=start_deaf, args=(process,))
    thread.start()
    thread.join()
    assert process.is_alive()


def test_ctrl_c_is_heard_again_after_a_process_that_could_not_start(process, monkeypatch):
    def fail(self):
        raise OSError("no more processes")

    monkeypatch.setattr(type(process), "start", fail)
    with pytest.raises(OSError, match="no more processes"):
        start_deaf(process)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
