"""A message for users who wait for the compiler, the first time after an installation."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphmover._utils.fork import hold_while_forking
from graphmover._utils.jit import require_compiled

_shown: set[str] = set()
_lock = threading.RLock()
hold_while_forking(_lock)


@contextmanager
def notify_if_compiling(kernel: Any, what: str) -> Iterator[None]:
    """Print a message to standard error, once, if Numba compiles a kernel for over a second.

    Raise an error if NUMBA_DISABLE_JIT keeps Numba from compiling it.
    """
    require_compiled(kernel)
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
                    how = "once; it is cached" if kernel.stats.cache_path else "it is not cached"
                    message = f"graphmover: compiling {what} ({how}) ..."
                    print(message, file=sys.stderr, flush=True)
            return
