"""Units on processes of this machine.

A pool of ``concurrent.futures`` gives up all that its workers are at when one of them is killed.
Here the others go on, and a new process takes the place of the lost one.
"""

from __future__ import annotations

import multiprocessing
import sys
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from joblib import cpu_count

from graphmover._utils.checks import require_integer
from graphmover._utils.child_processes import start_deaf, stay_deaf
from graphmover._utils.messages import warn
from graphmover.distributed.engines.protocol import MOST_LOSSES, Runs, Work, lost_too_often
from graphmover.distributed.running import Done

#: Windows waits for no more than 63 pipes at once.
_MOST_WORKERS = 60 if sys.platform == "win32" else sys.maxsize

_GUARD = 'put the call under `if __name__ == "__main__":`, since workers import the program'

#: How long workers may take to end by themselves, in seconds.
_PATIENCE = 5.0


class Processes:
    """Runs units on processes of this machine.

    Parameters
    ----------
    workers : int, optional
        How many, on Windows at most 60; by default one for each core that this process may use.
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None:
            require_integer("workers", workers, least=1)
        if getattr(multiprocessing.current_process(), "_inheriting", False):  # is it a worker?
            raise RuntimeError(f"a worker tried to start workers of its own: {_GUARD}")
        self._n_workers = min(workers or cpu_count(), _MOST_WORKERS)

    def run(self, task: Runs, work: Sequence[Work]) -> Iterator[Done]:
        """Yield units as they are committed, in any order."""
        waiting = deque(work)
        losses: dict[int, int] = {}
        warned: set[tuple[type[Warning], str]] = set()
        workers = [_Worker(task, warned) for _ in range(min(self._n_workers, len(work)))]
        try:
            for worker in workers:
                worker.give(waiting.popleft())
            while busy := [worker for worker in workers if worker.work is not None]:
                ready = wait([worker.results for worker in busy])
                for worker in (one for one in busy if one.results in ready):
                    if worker.has_just_started():
                        continue
                    done = worker.result()
                    if done is not None:
                        yield done
                    else:
                        assert worker.work is not None
                        unit, file = worker.work
                        losses[unit.number] = losses.get(unit.number, 0) + 1
                        if losses[unit.number] >= MOST_LOSSES:
                            raise lost_too_often(unit, file, losses[unit.number])
                        waiting.appendleft(worker.work)
                        worker.replace()
                    worker.work = None
                    if waiting:
                        worker.give(waiting.popleft())
        finally:
            for worker in workers:
                worker.stop()
            for worker in workers:
                worker.join()


class _Worker:
    """A process, and what it is at."""

    def __init__(self, task: Runs, warned: set[tuple[type[Warning], str]]) -> None:
        self.work: Work | None = None
        self._task, self._warned = task, warned
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy threads that hold locks
        self.results, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._task), daemon=True)
        start_deaf(self._process)
        theirs.close()  # so that its end is seen when the process ends
        self._has_started = False

    def give(self, work: Work) -> None:
        """Start a unit."""
        self.work = work
        with suppress(OSError):  # it is gone, which `result` finds out
            self.results.send(work)

    def has_just_started(self) -> bool:
        """Wait for the first sign of life; raise an error if the program cannot be imported."""
        if self._has_started:
            return False
        try:
            self.results.recv()
        except (EOFError, OSError):
            self._process.join(_PATIENCE)
            if self._process.exitcode == 1:  # as Python ends after an error
                raise RuntimeError(
                    f"a worker could not start, for the reason shown above. If the program "
                    f'has no guard, {_GUARD}; or pass engine="serial"'
                ) from None
            return False
        self._has_started = True
        return True

    def result(self) -> Done | None:
        """Return what became of the unit, or None if the process was lost; raise its error.

        Its warnings are passed on, each once in a run.
        """
        try:
            answer: Any
            answer, said = self.results.recv()
        except (EOFError, OSError):
            return None
        for one in said:
            if one not in self._warned:
                self._warned.add(one)
                category, text = one
                warn(text, category)
        if isinstance(answer, BaseException):
            raise answer
        done: Done = answer
        return done

    def replace(self) -> None:
        """Start another process in place of the one that was lost."""
        self.stop()
        self.join()
        self._start()

    def stop(self) -> None:
        """End the process; a unit that it is at is not committed."""
        self._process.terminate()

    def join(self) -> None:
        """Wait until the process has ended."""
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self.results.close()
        self._process.close()


def _serve(orders: Connection, task: Runs) -> None:
    """Do what comes through a pipe until it is closed."""
    stay_deaf()  # Ctrl-C is for the driver, which ends workers
    with suppress(OSError):
        orders.send(None)  # it has started
    while True:
        try:
            unit, file = orders.recv()
        except (EOFError, OSError):
            return
        with warnings.catch_warnings(record=True) as caught:
            try:
                answer: object = task(unit, file)
            except Exception as error:
                answer = error
        said = [(one.category, str(one.message)) for one in caught]
        try:
            orders.send((answer, said))
        except OSError:  # the driver is gone
            return
        except Exception:  # an error that cannot be sent
            orders.send((RuntimeError(f"unit {unit.number}: {answer!r}"[:1000]), []))
