"""Forks while other threads compute.

A forked process has one thread and a copy of every lock. A lock that another thread held at that
moment stays locked in the copy for ever, so two kinds of locks need care.

- Locks that Python can reach, ours and those of Numba's compiler: the forking thread holds them
  while it forks (`hold_while_forking`), so that no other thread does.
- Locks inside OpenBLAS, which most of its calls take: a fork waits until no thread is inside a
  chunk of work, and new chunks wait for the fork (`computing`). If a chunk takes longer than a
  fork waits, the child might hang; there, `computing` raises an error instead.

Processes started by `subprocess`, "spawn", "forkserver" or joblib's default share no locks.
"""

from __future__ import annotations

# Imported for the order of hooks: the last one registered runs first, and theirs, which hold locks
# of thread pools and loggers, must not run while a chunk that needs them is waited for.
import concurrent.futures.thread  # noqa: F401
import logging  # noqa: F401
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

#: A fork waits at most this many seconds for chunks to end.
PATIENCE = 3.0

_locks: list[AbstractContextManager[Any]] = []
_child_callbacks: list[Callable[[], None]] = []


def hold_while_forking(lock: AbstractContextManager[Any]) -> None:
    """Let every fork acquire a lock first, and release it in both processes.

    Locks are acquired in the order of these calls. A thread that holds one must not start a chunk.
    """
    _locks.append(lock)


def call_in_child(callback: Callable[[], None]) -> Callable[[], None]:
    """Call a function in every forked process, while all locks are held."""
    _child_callbacks.append(callback)
    return callback


@contextmanager
def computing(*, is_nested: bool) -> Iterator[None]:
    """Mark a chunk of work: it does not start during a fork, and a fork waits for its end.

    A chunk nested in another, perhaps of another thread, starts: the fork waits for the outer one.
    """
    _gate.enter(is_nested)
    try:
        yield
    finally:
        _gate.leave()


def is_computing() -> bool:
    """Return whether this thread is inside a chunk of work."""
    return _gate.is_inside()


class _Gate:
    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside: Counter[int] = Counter()  # chunks by thread: they may be nested
        self._forking: set[int] = set()
        self._held = ExitStack()
        self._is_interrupted = False

    def enter(self, is_nested: bool) -> None:
        me = threading.get_ident()
        with self._changed:
            if self._is_interrupted:
                raise RuntimeError(
                    "this process was forked while another thread of its parent was computing, so "
                    "its linear algebra library may be locked for ever: fork before computing, or "
                    'start processes by joblib or by the multiprocessing contexts "spawn" and '
                    '"forkserver"'
                )
            while self._forking and not is_nested:
                self._changed.wait()
            self._inside[me] += 1

    def leave(self) -> None:
        me = threading.get_ident()
        with self._changed:
            self._inside[me] -= 1
            if not self._inside[me]:
                del self._inside[me]
            self._changed.notify_all()

    def is_inside(self) -> bool:
        return threading.get_ident() in self._inside

    def before_fork(self) -> None:
        self._changed.acquire()
        self._forking.add(threading.get_ident())
        self._changed.notify_all()
        self._changed.wait_for(self._is_quiet, PATIENCE)
        for lock in _locks:
            self._held.enter_context(lock)

    def _is_quiet(self) -> bool:
        return self._inside.keys() <= self._forking

    def after_in_parent(self) -> None:
        self._held.close()
        self._forking.discard(threading.get_ident())
        self._changed.notify_all()
        self._changed.release()

    def after_in_child(self) -> None:
        me = threading.get_ident()
        self._is_interrupted = self._is_interrupted or not self._is_quiet()
        self._inside = Counter({me: self._inside[me]}) if me in self._inside else Counter()
        self._forking = set()
        for callback in _child_callbacks:
            callback()
        self._held.close()
        self._changed.release()


_gate = _Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_gate.before_fork,
        after_in_parent=_gate.after_in_parent,
        after_in_child=_gate.after_in_child,
    )
