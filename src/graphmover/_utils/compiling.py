"""A message for users who wait for the compiler, the first time after an installation."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_shown: set[str] = set()
_lock = threading.Lock()


@contextmanager
def telling_if_compiling(kernel: Any, what: str) -> Iterator[None]:
    """Print a message to standard error, once, if Numba compiles a kernel for over a second."""
    done = threading.Event()
    threading.Thread(target=_show_message, args=(kernel, what, done), daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _show_message(kernel: Any, what: str, done: threading.Event) -> None:
    while not done.wait(1.0):
        # On a busy machine, reading the cache may take that long, too: that is not compiling.
        if any(kernel.stats.cache_misses.values()):
            with _lock:  # several threads may wait for the same kernel
                if what not in _shown:
                    _shown.add(what)
                    message = f"graphmover: compiling {what} (once; it is cached) ..."
                    print(message, file=sys.stderr, flush=True)
            return
