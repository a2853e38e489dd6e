"""A word to users who wait for a compiler, once in the life of an installation."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_told: set[str] = set()
_lock = threading.Lock()


@contextmanager
def telling_if_compiling(kernel: Any, what: str) -> Iterator[None]:
    """Say so on standard error, once, if Numba compiles a kernel for more than a second."""
    done = threading.Event()
    threading.Thread(target=_tell, args=(kernel, what, done), daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _tell(kernel: Any, what: str, done: threading.Event) -> None:
    while not done.wait(1.0):
        # Reading the cache may also take long, on a busy machine: that is no compiling.
        if any(kernel.stats.cache_misses.values()):
            with _lock:  # several threads may wait for the same kernel
                if what not in _told:
                    _told.add(what)
                    message = f"graphmover: compiling {what} (once; it is cached) ..."
                    print(message, file=sys.stderr, flush=True)
            return
