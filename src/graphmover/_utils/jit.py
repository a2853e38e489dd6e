"""How kernels are compiled: they release the interpreter lock and are cached on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite.binding import ffi
from numba.core import config
from numba.core.compiler_lock import global_compiler_lock
from numpy.typing import NDArray

from graphmover._utils.fork import hold_while_forking
from graphmover._utils.kernel_cache import NoKernelCache, cache_for
from graphmover._utils.kernels import Kernel

JIT: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}

#: For kernels that allocate nothing: without reference counting of arrays, which otherwise
#: takes a quarter of the time on small transport problems.
JIT_NO_ALLOCATION: dict[str, Any] = JIT | {"_nrt": False}

#: All kernels of the modules that are loaded.
KERNELS: list[Kernel] = []

#: Stands for edge weights that are all 1. It is read-only as a batch's own weights are, so that a
#: kernel is compiled once for both.
NO_WEIGHTS: NDArray[np.float64] = np.empty(0)
NO_WEIGHTS.flags.writeable = False

# The compiler, and LLVM below it, take part in every load of a kernel, too.
hold_while_forking(global_compiler_lock)
hold_while_forking(ffi.lib._lock)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as `numba.njit` does, with the cache of `kernel_cache`.

    If NUMBA_DISABLE_JIT is set, the function stays a Python function.
    """
    is_cached = options.pop("cache", False)

    def decorate(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return function
        kernel = Kernel(function, options, cache_for(function) if is_cached else NoKernelCache())
        KERNELS.append(kernel)
        return kernel

    return decorate


def require_compiled(kernel: Any) -> None:
    """Raise an error if a kernel that only works compiled is a Python function."""
    if not hasattr(kernel, "py_func"):
        raise RuntimeError(
            "graphmover needs Numba's compiler, which is switched off by the environment variable "
            "NUMBA_DISABLE_JIT: unset it and start Python again"
        )
