"""Work on consecutive chunks of graphs in threads.

The compiled kernels and LAPACK release the interpreter lock. Each chunk writes its own
rows of the result, so neither the number of threads nor the cutting can change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from tqdm import tqdm


def chunks(work: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Cut ``range(len(work))`` into slices whose work stays below ``most``, or is one item."""
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
) -> None:
    """Call ``function(rows)`` for every chunk, with a progress bar if it is given a name.

    Parameters
    ----------
    work : ndarray
        How much each graph costs, in the unit of ``most``.
    n_jobs : int or None
        As in scikit-learn: None is 1 (or joblib's context), -1 is all cores.
    """
    threads = min(effective_n_jobs(n_jobs), len(work))
    with tqdm(total=len(work), desc=progress, unit="graph", disable=progress is None) as bar:
        if threads <= 1:
            for rows in chunks(work, most):
                function(rows)
                bar.update(rows.stop - rows.start)
            return
        pool = ThreadPoolExecutor(threads)
        try:
            started = {pool.submit(function, rows): rows for rows in chunks(work, most)}
            for future in as_completed(started):
                future.result()
                rows = started[future]
                bar.update(rows.stop - rows.start)
        finally:  # an error or Ctrl-C: what has not begun is not begun
            pool.shutdown(wait=True, cancel_futures=True)
