"""A GPU on the CPU: the part of CuPy that graphmover uses, with the kernels in the simulator.

Arrays on the device are a type of their own, which meets NumPy's arrays no more than CuPy's do: so
the tests also find what was forgotten to be copied to the device, or back.
"""

import ctypes
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from graphmover._utils import cuda

SIMULATOR = Path(__file__).parent / "simulator"
RUBBISH = 0xCD


def compiler():
    return shutil.which("g++") or shutil.which("clang++")


def require_compiler():
    if compiler() is None or sys.platform != "linux":
        pytest.skip("no C++ compiler on Linux")


@cache
def library(text, options=()):
    """Compile a CUDA source for the CPU, with a launcher for each of its kernels."""
    shared = r"extern __shared__ (?:__align__\(\d+\) )?(\w+) (\w+)\[\];"
    text, n_shared = re.subn(shared, r"static \1*& \2 = (\1*&)shared_memory;", text)
    assert "extern __shared__" not in text and n_shared <= 1
    folder = Path(tempfile.mkdtemp(prefix="graphmover-simulator-"))
    try:
        file = folder / "kernels.cpp"
        file.write_text('#include "launch.h"\n' + text)
        command = [compiler(), "-std=c++17", "-w", f"-I{SIMULATOR}", *options]
        preprocessed = subprocess.run(
            [*command, "-E", "-P", file], check=True, capture_output=True, text=True
        ).stdout
        names = re.findall(r'extern "C"\s+void\s+(\w+)\s*\(', preprocessed)
        launchers = "".join(f"LAUNCHER({name})\n" for name in names)
        file.write_text(file.read_text() + "\n" + launchers)
        built = folder / "kernels.so"
        flags = ["-O1", "-shared", "-fPIC", "-ffp-contract=off"]
        subprocess.run([*command, *flags, file, "-o", built], check=True)
        return ctypes.CDLL(str(built))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


#: The simulator has one block at a time, whichever thread launches it.
_one_at_a_time = threading.Lock()


def launch(kernels, name, grid, threads, arguments, shared_bytes=0, *, backwards=False):
    """Run a kernel of a library; arguments are NumPy's scalars, host arrays or None."""
    kept = [_argument(value) for value in arguments]
    addresses = (ctypes.c_void_p * len(kept))(*(ctypes.addressof(value) for value in kept))
    x, y = (*grid, 1)[:2]
    with _one_at_a_time:
        getattr(kernels, f"launch_{name}")(
            (ctypes.c_int * 2)(x, y),
            ctypes.c_int(threads),
            ctypes.c_long(shared_bytes),
            ctypes.c_bool(backwards),
            addresses,
        )


def _argument(value):
    if value is None:
        return ctypes.c_void_p(None)
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return np.ctypeslib.as_ctypes_type(value.dtype)(value.item())


class DeviceArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array on the device, which no host array may be mixed with."""

    def __init__(self, there):
        self._there = there

    @property
    def data(self):
        return SimpleNamespace(ptr=self._there.ctypes.data)

    def get(self, out=None):
        if out is None:
            return self._there.copy()
        assert out.shape == self.shape and out.dtype == self.dtype
        out[...] = self._there
        return out

    def __array__(self, *_, **__):
        raise TypeError("an array on the device was taken for one on the host")

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return on_device(getattr(ufunc, method))(*inputs, **options)

    def __array_function__(self, function, _, arguments, options):
        return on_device(function)(*arguments, **options)

    def __getitem__(self, key):
        return wrapped(self._there[unwrapped(key)])

    @np.errstate(all="ignore")
    def __setitem__(self, key, value):
        self._there[unwrapped(key)] = unwrapped(value)

    def __getattr__(self, name):
        value = getattr(self._there, name)
        return on_device(value) if callable(value) else wrapped(value)

    def __len__(self):
        return len(self._there)

    def __iter__(self):
        return map(wrapped, self._there)

    def __bool__(self):
        return bool(self._there)

    def __int__(self):
        return int(self._there)

    def __float__(self):
        return float(self._there)

    def __index__(self):
        return self._there.__index__()


def unwrapped(value):
    """What NumPy shall compute with; an error for host arrays."""
    if isinstance(value, DeviceArray):
        return value._there
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("an array on the host was mixed with those on the device")
    if isinstance(value, tuple | list):
        return type(value)(map(unwrapped, value))
    return value


def wrapped(value):
    """Arrays, and numbers that NumPy found, as CuPy returns them."""
    if isinstance(value, np.ndarray | np.generic):
        return DeviceArray(np.asarray(value))
    if isinstance(value, tuple | list) and any(isinstance(v, np.ndarray) for v in value):
        return type(value)(map(wrapped, value))
    return value


def on_device(function):
    """A function of NumPy for the device, which does not warn of rounding and overflow."""

    @np.errstate(all="ignore")
    def called(*arguments, **options):
        options = {name: unwrapped(value) for name, value in options.items()}
        return wrapped(function(*unwrapped(arguments), **options))

    return called


class Stream(nullcontext):
    """Work is done as soon as it is given, so there is nothing to wait for."""

    def __init__(self, non_blocking=False):
        super().__init__()

    def record(self):
        return self

    def wait_event(self, event):
        pass

    def synchronize(self):
        pass


class RawModule:
    def __init__(self, code, options, launched):
        self.kernels, self.launched = library(code, options), launched

    def get_function(self, name):
        return Kernel(name, self.kernels, self.launched)


class Kernel:
    max_dynamic_shared_size_bytes = 48 * 1024

    def __init__(self, name, kernels, launched):
        self.name, self.kernels, self.launched = name, kernels, launched

    def __call__(self, grid, block, arguments, *, shared_mem=0):
        assert shared_mem <= self.max_dynamic_shared_size_bytes
        assert not any(isinstance(value, np.ndarray) for value in arguments)
        self.launched.append((self.name, grid, arguments))
        launch(self.kernels, self.name, grid, *block, unwrapped(arguments), shared_mem)


class SimulatedCupy(ModuleType):
    """CuPy's interface to one small GPU.

    Attributes
    ----------
    processors, shared, free : int
        Its multiprocessors, the shared memory of a block and the free memory, in bytes.
    launched : list
        The name, grid and arguments of every kernel launched so far.
    """

    ndarray = DeviceArray

    def __init__(self):
        super().__init__("cupy")
        self.processors, self.shared, self.free = 2, 227 * 1024, 2**30
        self.launched = []

        class CUDARuntimeError(RuntimeError):
            pass

        self.cuda = SimpleNamespace(
            Stream=Stream,
            get_current_stream=Stream,
            Device=self._device,
            runtime=SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=CUDARuntimeError),
        )

    def _device(self):
        return SimpleNamespace(
            attributes={
                "MultiProcessorCount": self.processors,
                "MaxSharedMemoryPerBlockOptin": self.shared,
            },
            mem_info=(self.free, self.free),
            synchronize=lambda: None,
        )

    def get_default_memory_pool(self):
        return SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)

    def RawModule(self, *, code, options):  # noqa: N802, CuPy's name
        return RawModule(code, options, self.launched)

    def asarray(self, value, dtype=None):
        if isinstance(value, DeviceArray):
            return value if dtype is None else value.astype(dtype, copy=False)
        return DeviceArray(np.array(value, dtype))

    def asnumpy(self, value):
        return value.get() if isinstance(value, DeviceArray) else np.asarray(value)

    def empty(self, shape, dtype=float):
        there = np.empty(shape, dtype)
        there.reshape(-1).view(np.uint8)[...] = RUBBISH
        return DeviceArray(there)

    def __getattr__(self, name):
        value = getattr(np, name)
        return on_device(value) if callable(value) and not isinstance(value, type) else value


@contextmanager
def installed():
    """Put a simulated GPU in CuPy's place."""
    require_compiler()

    def forget():
        """Kernels are kept by name: those of one GPU are not for another."""
        cuda.kernel.cache_clear()
        cuda._module.cache_clear()

    with pytest.MonkeyPatch.context() as patch:
        cupy = SimulatedCupy()
        patch.setitem(sys.modules, "cupy", cupy)
        forget()
        yield cupy
        forget()
