"""Functions in a process of their own, with limits of time and memory."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from graphmover._utils.child_processes import start_deaf, stay_deaf

#: Seconds between two looks at the memory of the process.
_INTERVAL = 0.05


class Outcome(NamedTuple):
    """What became of a call."""

    result: Any  # None unless it returned
    failure: str | None  # "time-out", "out of memory" or the error; None if it returned
    seconds: float
    peak_mb: float | None  # the most memory of the process, with all that it had loaded


def run_limited(
    function: Callable[..., Any],
    *arguments: Any,
    seconds: float | None = None,
    megabytes: float | None = None,
) -> Outcome:
    """Call a function in a new process, and end it beyond a limit.

    Parameters
    ----------
    function, arguments
        Which can be pickled, as must be what it returns.
    seconds, megabytes : float, optional
        The limits. Memory is watched where there is a folder /proc.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_call, args=(theirs, function, arguments), daemon=True)
    start = time.perf_counter()
    peak, failure, answer = 0.0, None, None
    try:
        with theirs:
            start_deaf(process)  # where Ctrl-C is heard once the process runs
        while True:
            if ours.poll(_INTERVAL):
                answer = ours.recv()
                break
            peak = max(peak, _memory_mb(process.pid))
            if megabytes is not None and peak > megabytes:
                failure = "out of memory"
                break
            if seconds is not None and time.perf_counter() - start > seconds:
                failure = "time-out"
                break
    except EOFError:  # the process is gone: the system ends those that take too much memory
        process.join()
        failure = f"ended with exit code {process.exitcode}"
    finally:
        if process.pid is not None:
            if process.is_alive() and answer is None:
                process.kill()
            process.join()
        ours.close()
    elapsed = time.perf_counter() - start
    if answer is None:
        return Outcome(None, failure, elapsed, peak or None)
    result, failure, peak = answer
    return Outcome(result, failure, elapsed, peak)


def _call(connection: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    stay_deaf()  # Ctrl-C is for the process that waits, which ends this one
    result, failure = None, None
    try:
        result = function(*arguments)
    except MemoryError:
        failure = "out of memory"
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    connection.send((result, failure, _peak_mb()))
    connection.close()


def _peak_mb() -> float | None:
    """Return the most memory that this process has had, or None on Windows, which does not tell."""
    try:  # getrusage would count what the process had before it became this one
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
    except (OSError, IndexError, ValueError):
        pass
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _memory_mb(process: int | None) -> float:
    """Return the resident memory of a process; 0 where it cannot be read."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
