"""Ctrl-C while something runs that cannot be interrupted, such as LLVM.

Such work is done by threads other than the main one, which only waits. After Ctrl-C a thread ends
its work at the next chance (`end_if_cancelled`), and if Ctrl-C ends the process, that does not
wait for it.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from typing import TypeVar

Result = TypeVar("Result")

#: Windows hears Ctrl-C only between two waits of the main thread, which last this many seconds.
_LONGEST_WAIT: float | None = None if os.name == "posix" else 0.2

_local = threading.local()
_uninterruptible: list[int] = []  # the threads that do such work
_MARK = "_came_during_uninterruptible_work"  # an attribute of a KeyboardInterrupt


class Cancelled(BaseException):
    """Ends a thread's work. This is not a failure: nobody waits for the result."""


@contextmanager
def ending_with(cancelled: threading.Event) -> Iterator[None]:
    """Let this thread's work in the block end when an event is set."""
    outer = getattr(_local, "cancelled", None)
    _local.cancelled = cancelled
    try:
        yield
    finally:
        _local.cancelled = outer


def end_if_cancelled() -> None:
    """Raise `Cancelled` if this thread's work is no longer wanted."""
    cancelled = getattr(_local, "cancelled", None)
    if cancelled is not None and cancelled.is_set():
        raise Cancelled


def completed(futures: Iterable[Future[Result]]) -> Iterator[Future[Result]]:
    """Yield futures as they are done; Ctrl-C is heard meanwhile."""
    waiting = set(futures)
    while waiting:
        try:
            for future in as_completed(waiting, _LONGEST_WAIT):
                waiting.remove(future)
                yield future
        except TimeoutError:
            pass
        except KeyboardInterrupt as error:
            if _uninterruptible:
                setattr(error, _MARK, True)
            raise


def interruptibly(work: Callable[[], Result]) -> Result:
    """Call a function, in another thread if this is the main one."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    cancelled = threading.Event()

    def cancellable() -> Result:
        with ending_with(cancelled):
            return work()

    pool = ThreadPoolExecutor(1)
    try:
        [done] = completed([pool.submit(cancellable)])
        return done.result()
    except BaseException:
        cancelled.set()
        raise
    finally:
        pool.shutdown(wait=False)


@contextmanager
def uninterruptible() -> Iterator[None]:
    """Mark work that must not delay the end of the process after Ctrl-C."""
    me = threading.get_ident()
    _uninterruptible.append(me)
    try:
        yield
    finally:
        _uninterruptible.remove(me)


def _leave_at_once() -> None:
    """End the process the way Python does after Ctrl-C, before it waits for threads.

    Also if the work has ended meanwhile: a thread that calls `exec`, as Numba does, after Ctrl-C
    has ended the main one makes Python forget why, and end with another exit code.
    """
    error = getattr(sys, "last_value", None)
    if not isinstance(error, KeyboardInterrupt) or hasattr(sys, "ps1"):
        return
    if not _uninterruptible and not hasattr(error, _MARK):
        return
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


if os.name == "posix" and hasattr(threading, "_register_atexit"):
    threading._register_atexit(_leave_at_once)
