"""Processes that leave Ctrl-C, which a terminal sends to all, to the one that started them.

Such a process is started by `start_deaf`, calls `stay_deaf` first, and is ended by its starter.
"""

from __future__ import annotations

import signal
import sys
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess


def start_deaf(process: BaseProcess) -> None:
    """Start a process that does not hear Ctrl-C while it imports, which `stay_deaf` comes after."""
    if sys.platform == "win32":
        process.start()
        return
    resource_tracker.ensure_running()  # its own start would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def stay_deaf() -> None:
    """Do not hear Ctrl-C from here on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
