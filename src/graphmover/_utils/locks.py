"""Locks on files, which end with the process that holds them."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

#: Opens a file, but not the file that a symbolic link points to; Windows has no such flag.
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)

_POLL = 0.05  # seconds

_LOCKED = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextmanager
def only_writer_of(output: Path) -> Iterator[None]:
    """Lock out other writers of a file, in this process and in others, for the block.

    The lock is on an empty hidden file beside the output. It is removed while it is still locked,
    so a lock counts only if the file at that path is the one that was locked.
    """
    path = output.with_name(f".{output.name}.lock")
    descriptor = _acquire(path, output)
    try:
        yield
    finally:
        _remove(path, descriptor)


@contextmanager
def waiting_for(path: Path, while_waiting: Callable[[], object]) -> Iterator[None]:
    """Lock an empty file for the block; wait, calling a function now and then, until it is free."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | NO_FOLLOW, 0o666)
        try:
            if try_lock(descriptor) and is_at(descriptor, path):
                break
            while_waiting()
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        time.sleep(_POLL)
    try:
        yield
    finally:
        _remove(path, descriptor)


def try_lock(descriptor: int) -> bool:
    """Lock an open file until it is closed or the process ends; return False if it is locked."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _LOCKED:
            return False
        raise
    return True


def is_at(descriptor: int, path: Path) -> bool:
    """Return whether a path, not followed if it is a link, still leads to an open file."""
    if os.name != "posix":  # Windows removes no open file
        return True
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _remove(path: Path, descriptor: int) -> None:
    """Remove a lock file while it is locked, and unlock it."""
    with suppress(OSError):
        if os.name == "posix" and is_at(descriptor, path):
            path.unlink()
    os.close(descriptor)
    if os.name != "posix":  # Windows removes closed files only, and none that others have open
        with suppress(OSError):
            path.unlink()


def _acquire(path: Path, output: Path) -> int:
    while True:
        with suppress(FileNotFoundError):
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode) or status.st_size:
                raise ValueError(f"{path} is not a lock file of graphmover: remove or rename it")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | NO_FOLLOW, 0o666)
        try:
            if not try_lock(descriptor):
                raise ValueError(
                    f"another process is writing {output}: wait for it to end, or choose another "
                    f"output name"
                )
            if is_at(descriptor, path):
                return descriptor
        except OSError as error:  # a file system without locks
            os.close(descriptor)
            raise OSError(error.errno, f"cannot lock: {error.strerror}", str(path)) from error
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # that of a writer which has just finished
