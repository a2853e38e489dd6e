"""CUDA sources of the package, compiled by NVRTC through CuPy on first use and cached."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

#: Options for NVRTC; tests compile with the same.
OPTIONS = ("-std=c++17",)

#: And with this, kernels of transport.cu count masses instead of shares.
PARTIAL = "-DPARTIAL=1"

#: Or they know that nodes have no label, or one: for any number they read it in every distance.
LABELS = {0: "-DLABELS=0", 1: "-DLABELS=1"}

#: CUDA sources by name, and their paths in the package.
SOURCES = {
    "transport.cu": "transport/cuda/transport.cu",
    "tree.cu": "transport/tree/tree.cu",
    "laplacian.cu": "nodes/laplacian/laplacian.cu",
    "bounds.cu": "search/bounds.cu",
}

_NEEDED = (
    "device=\"cuda\" needs CuPy: pip install 'graphmover[cuda]' (CUDA 13; for CUDA 12: "
    "pip install cupy-cuda12x)"
)
_INSTEAD = ': use device="cpu", or device="auto" to use a GPU if there is one'


def source(name):
    """Return the CUDA C++ text of a file, with the files that it includes from its folder."""
    file = Path(__file__).parent.parent / SOURCES[name]

    def included(line):
        return file.with_name(line[1]).read_text(encoding="utf-8")

    return re.sub(
        r'^#include "(.+)"$', included, file.read_text(encoding="utf-8"), flags=re.MULTILINE
    )


def require_gpu() -> None:
    """Raise an error that names what is missing, unless a GPU can be used."""
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


def gpu_available() -> bool:
    """Return whether a GPU can be used."""
    try:
        require_gpu()
    except (ImportError, RuntimeError):
        return False
    return True


@lru_cache(maxsize=6 + len(SOURCES))
def _module(name, options):
    import cupy

    return cupy.RawModule(code=source(name), options=options)


@lru_cache(maxsize=64)
def kernel(name, shared_bytes=0, *, file="transport.cu", options=()):
    """Return a kernel that may use this much dynamic shared memory."""
    function = _module(file, (*OPTIONS, *options)).get_function(name)
    if shared_bytes:
        function.max_dynamic_shared_size_bytes = shared_bytes
    return function


@contextmanager
def side_streams(number: int) -> Iterator[list[Any]]:
    """Streams that start after the current one, which waits for them at the end, the host does not.

    So what was allocated on the current stream before can be used in all of them, and be freed
    after. CuPy's memory pool keeps memory for the stream on which it was allocated: what these
    streams allocated would never be used again.
    """
    import cupy

    here = cupy.cuda.get_current_stream()
    ready = here.record()
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(number)]
    for stream in streams:
        stream.wait_event(ready)
    try:
        yield streams
    finally:  # also after Ctrl-C between two launches
        for stream in streams:
            here.wait_event(stream.record())


def shared_memory() -> Any:
    """Return the shared memory that a block may have, in bytes."""
    import cupy

    return cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]


def free_memory() -> Any:
    """Return the free device memory, in bytes, without that in CuPy's memory pool."""
    import cupy

    return cupy.cuda.Device().mem_info[0]


def pooled_memory() -> Any:
    """Return the bytes that CuPy's memory pool keeps, each block for the stream it was freed on."""
    import cupy

    return cupy.get_default_memory_pool().free_bytes()


def reclaim_memory() -> None:
    """Wait until the device is done, and return the blocks in CuPy's memory pool to it."""
    import cupy

    cupy.cuda.Device().synchronize()
    release_memory()


def release_memory() -> None:
    """Return the blocks in CuPy's memory pool to the device."""
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()
