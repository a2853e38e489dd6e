"""CUDA sources of the package, compiled by NVRTC through CuPy at first use and cached."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

#: What NVRTC is given; tests compile with the same.
OPTIONS = ("-std=c++17",)

#: CUDA sources by name, and where they lie in the package.
SOURCES = {
    "transport.cu": "transport/cuda/transport.cu",
    "laplacian.cu": "nodes/laplacian/laplacian.cu",
}

_NEEDED = (
    "device=\"cuda\" needs CuPy: pip install 'graphmover[cuda]' (CUDA 13; for CUDA 12: "
    "pip install cupy-cuda12x)"
)
_INSTEAD = ': take device="cpu", or device="auto" for a GPU where there is one'


def source(name):
    """Return the CUDA C++ text of a file."""
    return (Path(__file__).parent.parent / SOURCES[name]).read_text()


def require_gpu() -> None:
    """Raise an error that says what is missing, unless a GPU can be used."""
    try:
        import cupy
    except ImportError:
        raise ImportError(_NEEDED) from None
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(f'device="cuda", but no GPU can be used ({error}){_INSTEAD}') from None
    if not n_devices:
        raise RuntimeError(f'device="cuda", but this machine has no GPU{_INSTEAD}')


def gpu_is_there() -> bool:
    """Whether `require_gpu` would pass."""
    try:
        require_gpu()
    except (ImportError, RuntimeError):
        return False
    return True


@lru_cache(maxsize=len(SOURCES))
def _module(name):
    import cupy

    return cupy.RawModule(code=source(name), options=OPTIONS)


@lru_cache(maxsize=32)
def kernel(name, shared_bytes=0, *, file="transport.cu"):
    """Return a kernel, allowed this much dynamic shared memory."""
    function = _module(file).get_function(name)
    if shared_bytes:
        function.max_dynamic_shared_size_bytes = shared_bytes
    return function


def shared_memory() -> Any:
    """Return the bytes of shared memory that a block may have."""
    import cupy

    return cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]


def free_memory() -> Any:
    """Return the bytes of device memory that are free."""
    import cupy

    return cupy.cuda.Device().mem_info[0]


def release_memory() -> None:
    """Give what CuPy holds in reserve back to the device."""
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()
