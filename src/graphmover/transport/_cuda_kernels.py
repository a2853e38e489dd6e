"""The kernels of `transport.cu`, compiled by NVRTC through CuPy at first use and cached by it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

SOURCES = ("transport.cu",)

#: What NVRTC is given; tests compile with the same.
OPTIONS = ("-std=c++17",)


def source():
    """The CUDA C++ text of all kernels."""
    return "\n".join(Path(__file__).with_name(name).read_text() for name in SOURCES)


@lru_cache(maxsize=1)
def _module():
    import cupy

    return cupy.RawModule(code=source(), options=OPTIONS)


@lru_cache(maxsize=32)
def kernel(name, shared_bytes=0):
    """The kernel of that name, allowed so much dynamic shared memory."""
    function = _module().get_function(name)
    if shared_bytes:
        function.max_dynamic_shared_size_bytes = shared_bytes
    return function
