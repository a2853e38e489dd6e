"""Processes that leave Ctrl-C, which a terminal sends to all, to the one that started them.

Such a process is started by `start_deaf`, calls `stay_deaf` first, and is ended by its starter.
"""

from __future__ import annotations

import signal
import sys
import threading
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess


def start_deaf(process: BaseProcess) -> None:
    """Start a process that does not hear Ctrl-C while it imports, which `stay_deaf` comes after.

    Ctrl-C is heard here when the process has started: its number is known, so it can be ended.
    """
    if sys.platform == "win32":
        process.start()
        return
    resource_tracker.ensure_running()  # its own start would let Ctrl-C through again
    handler = signal.getsignal(signal.SIGINT)
    # Threads that do not block the signal take it, and Python calls its handler in the main one.
    is_deferred = callable(handler) and threading.current_thread() is threading.main_thread()
    heard: list[int] = []
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        if is_deferred:
            signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if is_deferred:
            signal.signal(signal.SIGINT, handler)
        if heard:
            signal.raise_signal(signal.SIGINT)


def stay_deaf() -> None:
    """Do not hear Ctrl-C from here on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
