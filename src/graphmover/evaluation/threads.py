"""Threads and progress bars for the folds of a method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from graphmover._utils.parallel import for_each_chunk, single_threaded_blas
from graphmover._utils.progress import each

T = TypeVar("T")


def progress_bar(items: Iterable[T], step: str, progress: str | None) -> Iterable[T]:
    """Return the items, with a progress bar if it has a title."""
    return each(items, None if progress is None else f"{progress}: {step}")


def in_threads(
    function: Callable[[T], None],
    jobs: Sequence[T],
    n_jobs: int | None,
    progress: str | None,
    unit: str = "fold",
) -> None:
    """Call a function for each job; each thread has one BLAS thread."""

    def one(rows: slice) -> None:
        function(jobs[rows.start])

    one_each = np.ones(len(jobs), np.int64)
    with single_threaded_blas():
        for_each_chunk(one, one_each, most=1, n_jobs=n_jobs, progress=progress, unit=unit)
