"""Process consecutive chunks of graphs in threads.

The compiled kernels and LAPACK release the interpreter lock. Each chunk writes its own
rows of the result, so it depends neither on the number of threads nor on the chunks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController
from tqdm import tqdm

from graphmover._utils.checks import is_whole


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
    progress: str | None = None,
    unit: str = "graph",
    release: Callable[[], None] | None = None,
) -> None:
    """Call ``function(rows)`` for every chunk; ``progress`` names a progress bar.

    Parameters
    ----------
    work : ndarray
        The cost of each graph.
    most : int
        The cost of one chunk, at most, unless it has one graph only.
    n_jobs : int or None
        As in scikit-learn: None is 1, -1 is all cores, -2 all but one.
    release : callable or None
        Frees the memory that chunks hold. It is called after an error or Ctrl-C, and again
        at the end of each chunk that was still running then.
    """
    n_threads = min(number_of_threads(n_jobs), len(work))
    with tqdm(total=len(work), desc=progress, unit=unit, disable=progress is None) as bar:
        if n_threads <= 1 and threading.current_thread() is not threading.main_thread():
            try:
                for rows in chunks(work, most):
                    function(rows)
                    bar.update(rows.stop - rows.start)
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
                started[pool.submit(function, rows)] = rows
            for future in as_completed(started):
                if future.exception() is not None:
                    _raise_first(started)
                rows = started[future]
                bar.update(rows.stop - rows.start)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            if release is not None:
                for future in started:
                    if not future.done():
                        future.add_done_callback(lambda _: release())
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
    if not is_whole(n_jobs) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}")
    return n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)


_blas_lock = threading.Lock()
_blas_users = 0
_blas_limit = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS from starting threads of its own, which are slow for many small matrices.

    The first thread to enter sets the limit, and the last one to leave restores the old one.
    """
    global _blas_users, _blas_limit  # noqa: PLW0603 - the limit is that of the process
    with _blas_lock:
        if _blas_users == 0:
            _blas_limit = ThreadpoolController().limit(limits=1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0 and _blas_limit is not None:
                _blas_limit.restore_original_limits()
