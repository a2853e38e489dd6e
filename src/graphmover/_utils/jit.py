"""Numba options of all kernels: they release the interpreter lock and are cached on disk."""

from __future__ import annotations

from typing import Any

JIT: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}

#: For kernels that allocate nothing: without reference counting of arrays, which otherwise
#: takes a quarter of the time on small transport problems.
JIT_NO_ALLOCATION: dict[str, Any] = JIT | {"_nrt": False}
