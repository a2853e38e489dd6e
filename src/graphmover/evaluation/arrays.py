"""Where the matrices of a fold live: NumPy arrays in memory, or CuPy arrays on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Arrays(NamedTuple):
    """An array library, and the operations in which NumPy and CuPy differ."""

    module: Any  # numpy or cupy
    solve: Callable[[Any, Any], Any]  # for symmetric positive definite matrices
    to_device: Callable[[NDArray[Any]], Any]
    stream: Callable[[], AbstractContextManager[Any]]  # for a thread that works beside others

    cache_bytes: int  # limit on distances that are kept in case they are needed again

    def add_to_diagonal(self, matrix: Any, number: float) -> None:
        """Add a number to every diagonal entry of a matrix."""
        diagonal = self.module.arange(len(matrix))
        matrix[diagonal, diagonal] += number


def arrays_on(device: str) -> Arrays:
    """Return NumPy and LAPACK, or CuPy and cuSOLVER for "cuda"."""
    if device == "cuda":
        import cupy
        from cupyx.lapack import posv

        def to_device(array: NDArray[Any]) -> Any:
            copied = cupy.asarray(array)
            cupy.cuda.get_current_stream().synchronize()  # other threads use other streams
            return copied

        idle: list[Any] = []  # reused, because freed memory is reusable in the same stream only

        @contextmanager
        def stream() -> Iterator[None]:
            try:
                own = idle.pop()
            except IndexError:
                own = cupy.cuda.Stream(non_blocking=True)
            try:
                with own:
                    yield
            finally:
                idle.append(own)

        cupy.get_default_memory_pool().free_all_blocks()  # those of streams that no longer exist
        free, _ = cupy.cuda.Device().mem_info
        return Arrays(cupy, posv, to_device, stream, free // 3)
    return HOST


def _solve_on_host(matrix: Any, right: Any) -> Any:
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    return cho_solve(factor, right, check_finite=False)


HOST = Arrays(np, _solve_on_host, np.asarray, nullcontext, 2**30)


def to_host(array: Any) -> NDArray[Any]:
    """Return a NumPy or CuPy array as a NumPy array."""
    host: NDArray[Any] = array if isinstance(array, np.ndarray) else array.get()
    return host
