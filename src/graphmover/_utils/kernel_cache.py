"""Compiled kernels on disk.

Numba's cache, with four differences: a file carries a checksum, so that damaged files are compiled
again instead of unpickled; of several processes that need the same code, one compiles it while the
others wait; where no cache folder is writable, a private temporary folder is used, or none; and
code that cannot be stored is not an error. The folders are Numba's: NUMBA_CACHE_DIR,
``__pycache__`` beside the source, or the user's cache folder, whichever is writable first.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import pickle
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from glob import escape
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    NullCache,
)
from numba.core.serialize import dumps

from graphmover import __version__
from graphmover._utils.cancelling import end_if_cancelled
from graphmover._utils.files import replacing
from graphmover._utils.locks import waiting_for
from graphmover._utils.messages import logger

_CHECKSUM_BYTES = 32

_PACKAGE = Path(__file__).parents[1]


def cache_for(function: Callable[..., Any]) -> KernelCache | NoKernelCache:
    """Return the cache of a kernel, given its Python function."""
    try:
        return KernelCache(function)
    except RuntimeError:  # "no locator available": no folder is writable
        return NoCacheFolder()


class KernelFiles:
    """The files of one kernel: one for each signature, processor and version of Numba.

    A file is a checksum and a pickle. The checksum covers what the pickle was made for, so that
    a file under another's name is as useless as a damaged one.

    Parameters
    ----------
    folder : Path
    base : str
        The start of all file names.
    source_stamp : object
        Changes with the source of the kernel.
    """

    def __init__(self, folder: Path, base: str, source_stamp: object) -> None:
        self._folder = folder
        self._stem = f"{base}.{_digest(repr((__version__, source_stamp)), 4)}"
        self._stale = f"{escape(base)}.*.nb[ci]"

    def path(self, key: object) -> Path:
        """Return the file of a signature."""
        return self._folder / f"{self._stem}-{_digest(repr((numba.__version__, key)), 12)}.nbc"

    def load(self, key: object) -> Any:
        """Return what was saved, or None if it is missing, unreadable or damaged."""
        path = self.path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        checksum, data = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        return pickle.loads(data) if checksum == _checksum(path.name, data) else None

    def save(self, key: object, content: Any) -> None:
        """Write a file, and remove those of other sources of this kernel."""
        data, path = dumps(content), self.path(key)
        with replacing(path) as file:
            file.write(_checksum(path.name, data) + data)
        for other in self._folder.glob(self._stale):
            if not other.name.startswith(f"{self._stem}-") and not other.is_dir():
                other.unlink(missing_ok=True)

    def flush(self) -> None:
        """Remove all files of this kernel."""
        for path in self._folder.glob(self._stale):
            path.unlink(missing_ok=True)


def _digest(text: str, n_bytes: int) -> str:
    return hashlib.blake2b(text.encode(), digest_size=n_bytes).hexdigest()


def _checksum(name: str, data: bytes) -> bytes:
    return hashlib.blake2b(name.encode() + b"\0" + data, digest_size=_CHECKSUM_BYTES).digest()


class TemporaryFolderLocator(InTreeCacheLocator):  # type: ignore[misc] # Numba has no types
    """A private folder among temporary files, unless the user has named a cache folder."""

    def __init__(self, function: Callable[..., Any], source: str) -> None:
        super().__init__(function, source)
        self._cache_path = str(private_folder() / self.get_suitable_cache_subpath(source))

    @classmethod
    def from_function(
        cls, function: Callable[..., Any], source: str
    ) -> TemporaryFolderLocator | None:
        """Return the locator of a kernel, or None where it cannot be used."""
        try:
            return None if config.CACHE_DIR else super().from_function(function, source)
        except OSError:
            return None


def private_folder() -> Path:
    """Return a folder among temporary files that nobody else can write, or raise an OSError.

    Compiled code is loaded by unpickling, which runs what it says.
    """
    parent = Path(tempfile.gettempdir())
    if not hasattr(os, "getuid"):  # on Windows, temporary files are private
        folder = parent / f"graphmover-{getpass.getuser()}"
        folder.mkdir(exist_ok=True)
        return folder
    folder = parent / f"graphmover-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found, above = folder.lstat(), parent.stat()  # lstat: a link is not trusted
    is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    is_fixed = not above.st_mode & stat.S_IWOTH or above.st_mode & stat.S_ISVTX
    if not is_own or found.st_mode & 0o077 or not is_fixed:
        raise PermissionError(f"{folder} is not a private folder of this user")
    return folder


def _stamp_beside(function: Callable[..., Any]) -> object:
    """Return what changes with the modules that a kernel of this package may be compiled from.

    They are in the same part of the package. Numba looks at the kernel's own file alone.
    """
    package, _, rest = function.__module__.partition(".")
    if package != __name__.partition(".")[0]:
        return None
    return _stamp_of(_PACKAGE / rest.partition(".")[0])


@cache
def _stamp_of(folder: Path) -> object:
    files = {str(file.relative_to(folder)): file.stat() for file in sorted(folder.rglob("*.py"))}
    return [(name, status.st_mtime_ns, status.st_size) for name, status in files.items()]


class _KernelCacheImpl(CompileResultCacheImpl):  # type: ignore[misc] # Numba has no types
    _locator_classes = (*CompileResultCacheImpl._locator_classes, TemporaryFolderLocator)


class KernelCache(FunctionCache):  # type: ignore[misc] # Numba has no types
    """The cache of one kernel."""

    _impl_class = _KernelCacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), _stamp_beside(function)
        self._cache_file = KernelFiles(Path(self.cache_path), self._impl.filename_base, stamp)

    def is_stored(self, sig: Any, codegen: Any) -> bool:
        """Return whether there is a file with the compiled code of a signature."""
        return self._cache_file.path(self._index_key(sig, codegen)).is_file()

    @contextmanager
    def compiling(self, sig: Any, codegen: Any) -> Iterator[None]:
        """Keep other processes from compiling what is not stored, or wait until they have."""
        with ExitStack() as held:
            if not self.is_stored(sig, codegen):
                path = self._cache_file.path(self._index_key(sig, codegen)).with_suffix(".lock")
                try:
                    self._impl.locator.ensure_cache_path()
                    held.enter_context(waiting_for(path, end_if_cancelled))
                except OSError:  # nothing will be stored there, which `save_overload` reports
                    pass
            yield

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code of a signature, or None if there is none that can be used."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling and linking code of another version may raise anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the compiled code of a signature, if that is possible."""
        if isinstance(self._impl.locator, TemporaryFolderLocator):
            _report_once(
                f"compiled code is stored in {private_folder()}, because neither the package's "
                f"folder nor the user's cache folder is writable; to choose another folder, set "
                f"NUMBA_CACHE_DIR"
            )
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _report_once(f"compiled code is not stored in {self.cache_path} ({error})")


class NoKernelCache(NullCache):  # type: ignore[misc] # Numba has no types
    """No cache, for kernels that are only parts of others."""

    def is_stored(self, sig: Any, codegen: Any) -> bool:
        """Return False."""
        return False

    @contextmanager
    def compiling(self, sig: Any, codegen: Any) -> Iterator[None]:
        """Do nothing: processes share nothing."""
        yield


class NoCacheFolder(NoKernelCache):
    """No cache, though there should be one: every process compiles again."""

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Report that nothing is stored."""
        _report_once(
            "compiled code is not stored, because no cache folder is writable: set "
            "NUMBA_CACHE_DIR to one that is"
        )


@cache
def _report_once(message: str) -> None:
    logger.warning(message)
