"""tqdm's progress bars, with a lock for the threads of one process."""

from __future__ import annotations

import threading

from tqdm import tqdm

from graphmover._utils.fork import call_in_child


class ThreadBar(tqdm):  # type: ignore[misc] # tqdm has no types
    """A progress bar that no other process draws.

    tqdm's own lock is one between processes, too. Where these are not forked, as on macOS and from
    Python 3.14 on, it is a semaphore with a name, and Python complains about it after a process
    that has left at once.
    """

    _lock = threading.RLock()


@call_in_child
def _renew_locks() -> None:
    """Another thread may have held the old ones."""
    ThreadBar.set_lock(threading.RLock())
    if hasattr(tqdm, "_lock"):
        tqdm.set_lock(threading.RLock())  # it has no effect between processes
