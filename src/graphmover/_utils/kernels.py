"""Kernels, each compiled as a whole.

Numba compiles every function below a kernel as if it were called from Python, too: with all that
it calls, it is optimised, turned into machine code and given wrappers, and then its caller is,
with all of it once more, level by level up to the kernel. Here functions below a kernel are only
translated into LLVM's language. LLVM then links, optimises and compiles the kernel once. The code
is as fast, and there in less than half the time.

A kernel may be below another, too. So it has two faces: Python calls the `Kernel`, other kernels
its `Kernel.part`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite.binding import Linkage
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.types.misc import unliteral

from graphmover._utils.cancelling import end_if_cancelled, interruptibly, uninterruptible
from graphmover._utils.kernel_cache import KernelCache, NoKernelCache

#: For functions that Python does not call.
_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class Kernel(CPUDispatcher):  # type: ignore[misc] # Numba has no types
    """A function that is compiled when it is first called, with all functions below it.

    Parameters
    ----------
    function : callable
    options : dict
        Those of Numba's njit.
    cache : KernelCache or NoKernelCache
        Where the compiled code is stored.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        options: dict[str, Any],
        cache: KernelCache | NoKernelCache,
    ) -> None:
        options = {"nopython": True, "boundscheck": None, **options}
        super().__init__(function, targetoptions=options, pipeline_class=_WholeCompiler)
        self._cache = cache
        self.part = _PartDispatcher(function, targetoptions=options | _NO_WRAPPERS)

    def compile(self, sig: Any) -> Any:
        """Load or compile the code for a signature."""
        if global_compiler_lock.is_locked():  # by this thread: another would wait for it for ever
            return super().compile(sig)
        return interruptibly(lambda: self._compile_alone(sig))

    def _compile_for_args(self, *arguments: Any, **named: Any) -> Any:
        """Do what a call needs whose types are new; the first one also initialises Numba."""
        with uninterruptible():
            return super()._compile_for_args(*arguments, **named)

    def _compile_alone(self, sig: Any) -> Any:
        with uninterruptible(), self._cache.compiling(sig, self.targetctx.codegen()):
            return super().compile(sig)

    def is_stored(self, sig: Any) -> bool:
        """Return whether the code for a signature is in the cache on disk."""
        return bool(self._cache.is_stored(sig, self.targetctx.codegen()))

    @property
    def _numba_type_(self) -> Any:
        """What compiled code calls."""
        return self.part._numba_type_


class _EndIfCancelled(event.Listener):  # type: ignore[misc] # Numba has no types
    """Ends a compilation that nobody waits for before the next of its many steps."""

    def on_start(self, event: Any) -> None:
        end_if_cancelled()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:run_pass", _EndIfCancelled())


class _PartDispatcher(CPUDispatcher):  # type: ignore[misc] # Numba has no types
    """A function as other kernels call it: one copy of it for all constants of one type."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Find or compile the copy for some types, and not for the values of constants."""
        args = [unliteral(argument) for argument in args]
        return super().get_call_template(args, {key: unliteral(kws[key]) for key in kws})


class _WholeCompiler(Compiler):  # type: ignore[misc] # Numba has no types
    """Compiles a kernel; whatever is compiled meanwhile is a part of it."""

    def _compile_core(self) -> Any:
        codegen = self.state.targetctx.codegen()
        self.state.library = _Whole(codegen, self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        with _without_garbage_collection(), _only_parts(codegen):
            result = super()._compile_core()
        for environment in result._find_referenced_environments():
            codegen.set_env(environment.env_name, environment)
        return result


@contextmanager
def _only_parts(codegen: Any) -> Iterator[None]:
    """Make all new libraries parts. The thread holds Numba's lock: no other compiles meanwhile."""
    codegen._library_class = _Part
    try:
        yield
    finally:
        del codegen._library_class


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Spare a sixth of the time: a compiler makes very many objects and drops few of them."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


class _Part(JITCodeLibrary):  # type: ignore[misc] # Numba has no types
    """A function below a kernel. It has no machine code of its own."""

    @property
    def codegen(self) -> _NoEngine:
        """Where the function's constants are set: once the kernel is loaded, in the kernel."""
        return _NoEngine()

    def finalize(self) -> None:
        """Keep the function as it is."""
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is none."""
        self._ensure_finalized()
        return 0

    def alone(self) -> Any:
        """Return the module of the function without what it calls."""
        self._ensure_finalized()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = "linkonce_odr"
        return self._final_module

    def _get_module_for_linking(self) -> Any:
        """Return the module with what it calls, for kernels that Numba compiles in its own way."""
        module = self.alone().clone()
        _link(module, self)
        return module

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class _NoEngine:
    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


class _Whole(JITCodeLibrary):  # type: ignore[misc] # Numba has no types
    """A kernel with all functions below it."""

    def finalize(self) -> None:
        """Link, optimise and compile all of it."""
        _link(self._final_module, self)
        self._linking_libraries.clear()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = "internal"  # nothing else calls it: it may vanish in its caller
        super().finalize()


def _link(module: Any, library: Any) -> None:
    """Add to a module what its library needs, directly or not."""
    waiting, seen = list(library._linking_libraries), {library}
    while waiting:
        below = waiting.pop()
        if below in seen:
            continue
        seen.add(below)
        if hasattr(library, "_reload_init"):  # not in old versions of Numba
            library._reload_init.update(below._reload_init)
        if isinstance(below, _Part):
            module.link_in(below.alone(), preserve=True)
            waiting.extend(below._linking_libraries)
        else:
            module.link_in(below._get_module_for_linking(), preserve=True)
