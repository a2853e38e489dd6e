"""Messages for users who wait for the compiler, the first time after an installation."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphmover._utils.bars import ThreadBar
from graphmover._utils.fork import hold_while_forking
from graphmover._utils.jit import require_compiled
from graphmover._utils.messages import logger
from graphmover._utils.progress import is_shown

_shown: set[str] = set()
_lock = threading.RLock()
hold_while_forking(_lock)


@contextmanager
def notify_if_compiling(kernel: Any, what: str) -> Iterator[None]:
    """Log a message, once, if Numba compiles a kernel for over a second; on a terminal, count on.

    Raise an error if NUMBA_DISABLE_JIT keeps Numba from compiling it.
    """
    require_compiled(kernel)
    done = threading.Event()
    threading.Thread(target=_report, args=(kernel, what, done), daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _report(kernel: Any, what: str, done: threading.Event) -> None:
    start = time.monotonic()
    while not done.wait(1.0):
        # On a busy machine, reading the cache may take that long, too: that is not compiling.
        if any(kernel.stats.cache_misses.values()):
            with _lock:  # several threads may wait for the same kernel
                if what in _shown:
                    return
                _shown.add(what)
            how = "once; it is cached" if kernel.stats.cache_path else "it is not cached"
            logger.info("compiling %s (%s) ...", what, how)
            _count_seconds(what, start, done)
            return


def _count_seconds(what: str, start: float, done: threading.Event) -> None:
    """Show on a terminal that something is happening, while it does."""
    if not is_shown():
        return
    with ThreadBar(bar_format="{desc}", leave=False) as line:
        while not done.wait(0.5):
            line.set_description_str(f"compiling {what}: {time.monotonic() - start:.0f} s")
