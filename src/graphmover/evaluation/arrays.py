"""Where the matrices of folds live: NumPy's in memory, or CuPy's on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Arrays(NamedTuple):
    """Where matrices live, and who computes with them."""

    module: Any  # numpy or cupy
    solve: Callable[[Any, Any], Any]  # for symmetric positive definite matrices
    take: Callable[[NDArray[Any]], Any]  # brings an array there
    queue: Callable[[], AbstractContextManager[Any]]  # for a thread that works beside others

    room: int  # bytes that distances may take which may be needed again

    def add_to_diagonal(self, matrix: Any, number: float) -> None:
        """Add a number to every entry of a matrix's diagonal."""
        place = self.module.arange(len(matrix))
        matrix[place, place] += number


def arrays_on(device: str) -> Arrays:
    """Return NumPy and LAPACK, or CuPy and cuSOLVER for "cuda"."""
    if device == "cuda":
        import cupy
        from cupyx.lapack import posv

        def take(array: NDArray[Any]) -> Any:
            there = cupy.asarray(array)
            cupy.cuda.get_current_stream().synchronize()  # threads with queues of their own wait
            return there

        idle: list[Any] = []  # kept, since freed memory is used again by the same stream only

        @contextmanager
        def queue() -> Iterator[None]:
            try:
                stream = idle.pop()
            except IndexError:
                stream = cupy.cuda.Stream(non_blocking=True)
            try:
                with stream:
                    yield
            finally:
                idle.append(stream)

        cupy.get_default_memory_pool().free_all_blocks()  # of streams that are no more
        free, _ = cupy.cuda.Device().mem_info
        return Arrays(cupy, posv, take, queue, free // 3)
    return HOST


def _solve_on_host(matrix: Any, right: Any) -> Any:
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    return cho_solve(factor, right, check_finite=False)


HOST = Arrays(np, _solve_on_host, np.asarray, nullcontext, 2**30)


def to_host(array: Any) -> NDArray[Any]:
    """Return an array of either module as one of NumPy."""
    host: NDArray[Any] = array if isinstance(array, np.ndarray) else array.get()
    return host
