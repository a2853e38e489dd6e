"""Process consecutive chunks of graphs in threads.

The compiled kernels and LAPACK release the interpreter lock. Each chunk writes its own
rows of the result, so it depends neither on the number of threads nor on the chunks.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import threadpoolctl
from joblib import cpu_count
from numpy.typing import NDArray

from graphmover._utils.cancelling import completed, ending_with
from graphmover._utils.checks import is_integer
from graphmover._utils.fork import call_in_child, computing, hold_while_forking, is_computing
from graphmover._utils.progress import Progress, progress_bar


def chunks(work: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Split ``range(len(work))`` into slices with work of at most ``most``, or of one item."""
    ends = np.cumsum(work)
    start = 0
    while start < len(work):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + most, side="right")))
        yield slice(start, stop)
        start = stop


def for_each_chunk(
    function: Callable[[slice], None],
    work: NDArray[np.int64],
    *,
    most: int,
    n_jobs: int | None,
    progress: Progress = None,
    unit: str = "graph",
    release: Callable[[], None] | None = None,
) -> None:
    """Call ``function(rows)`` for every chunk; ``progress`` is a progress bar, or the title of one.

    Parameters
    ----------
    work : ndarray
        The cost of each graph.
    most : int
        The cost of one chunk, at most, unless it has one graph only.
    n_jobs : int or None
        As in scikit-learn: None is 1, -1 is all cores, -2 all but one.
    release : callable or None
        Frees the memory that chunks hold. It is called after an error or Ctrl-C, at the end of
        each chunk that was still running then.
    """
    n_threads = min(number_of_threads(n_jobs), len(work))
    is_nested = is_computing()
    cancelled = threading.Event()

    def process(rows: slice) -> None:
        with computing(is_nested=is_nested):
            function(rows)

    def process_in_pool(rows: slice) -> None:
        with ending_with(cancelled):
            process(rows)

    with progress_bar(progress, len(work), unit=unit) as bar:
        if n_threads <= 1 and threading.current_thread() is not threading.main_thread():
            try:
                for rows in chunks(work, most):
                    process(rows)
                    bar.advance(rows.stop - rows.start)
            except BaseException:
                if release is not None:
                    release()
                raise
            return
        # The main thread only waits, even for a single worker, so that Ctrl-C works at once.
        pool = ThreadPoolExecutor(max(n_threads, 1))
        started: dict[Future[None], slice] = {}
        try:
            for rows in chunks(work, most):
                started[pool.submit(process_in_pool, rows)] = rows
            for future in completed(started):
                if future.exception() is not None:
                    _raise_first(started)
                rows = started[future]
                bar.advance(rows.stop - rows.start)
        except BaseException:
            cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            if release is not None:
                running = [future for future in started if not future.done()]
                for future in running:
                    future.add_done_callback(lambda _: release())
                if not running:  # freeing memory would wait for what still runs on a GPU
                    release()
            raise
        pool.shutdown()


def _raise_first(futures: Iterable[Future[None]]) -> None:
    """Raise the first error in the order of the chunks, not of their completion."""
    for future in futures:
        if future.done():
            future.result()


def number_of_threads(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``: None is 1, -1 all cores."""
    if n_jobs is None:
        return 1
    if not is_integer(n_jobs) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}")
    return n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)


class _BlasLimit:
    """One BLAS thread while any thread needs it so; the last one restores the old limit."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._users: Counter[int] = Counter()  # by thread: calls may be nested
        self._limit: Any = None
        self._libraries: Any = None
        self._n_modules = 0

    def enter(self) -> None:
        with self.lock:
            if self._limit is None:
                _release_openblas()
                self._limit = self._controller().limit(limits=1, user_api="blas")
            self._users[threading.get_ident()] += 1

    def _controller(self) -> Any:
        """Find the libraries that are loaded, again only if modules were imported since.

        It takes milliseconds, more than many a search of one graph.
        """
        n_modules = len(sys.modules)
        if self._n_modules != n_modules:
            self._libraries = threadpoolctl.ThreadpoolController()
            self._n_modules = n_modules
        return self._libraries

    def leave(self) -> None:
        with self.lock:
            me = threading.get_ident()
            self._users[me] -= 1
            if not self._users[me]:
                del self._users[me]
            self._restore_if_unused()

    def forget_other_threads(self) -> None:
        """Drop the threads that a forked process has lost, and their limit."""
        me = threading.get_ident()
        self._users = Counter({me: self._users[me]}) if me in self._users else Counter()
        self._restore_if_unused()

    def _restore_if_unused(self) -> None:
        if not self._users and self._limit is not None:
            _release_openblas()
            self._limit.restore_original_limits()
            _release_openblas()
            self._limit = None


def _release_openblas() -> None:
    """Let the next thread set limits: recent threadpoolctl obeys one thread until released."""
    openblas: Any = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(openblas, "clear_controlling_thread"):
        openblas.clear_controlling_thread(force=True)


_blas_limit = _BlasLimit()
hold_while_forking(_blas_limit.lock)
call_in_child(_blas_limit.forget_other_threads)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS from starting threads of its own, which are slow for many small matrices.

    The first thread to enter sets the limit, and the last one to leave restores the old one.
    """
    _blas_limit.enter()
    try:
        yield
    finally:
        _blas_limit.leave()
