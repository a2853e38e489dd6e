"""How all kernels are compiled: without the interpreter lock, and cached on disk."""

from __future__ import annotations

from typing import Any

JIT: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}

#: For kernels that allocate nothing: Numba then leaves out the counting of references to
#: arrays, which otherwise takes a quarter of the time on small transport problems.
JIT_NO_ALLOCATION: dict[str, Any] = JIT | {"_nrt": False}
