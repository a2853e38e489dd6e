"""Checks of output paths, and files that are written atomically."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO, Any

from graphmover._utils.locks import NO_FOLLOW, is_at, try_lock

#: A full disk, a full quota, a file too large: errors of writing, which name no file.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: Windows renames no file that another process has open, as virus scanners have new ones for a
#: moment. They get this many seconds to let go.
PATIENCE = 2.0
_POLL = 0.05

_draft_numbers = count()


def require_writable(path: str | os.PathLike[str]) -> None:
    """Raise an error if a path cannot be written: call it before long work, not after."""
    target = Path(path)
    _require_replaceable(target)
    require_folder_above(target)


def require_folder_above(target: Path) -> None:
    """Raise an error unless files can be created where a file or folder is to be."""
    with _create_draft(target) as file:
        draft = Path(file.name)
    with suppress(OSError):
        draft.unlink()


def require_new(path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Raise an error if a file exists that is not to be replaced."""
    if not overwrite and os.path.lexists(path):
        raise FileExistsError(
            f"{os.fspath(path)} exists: pass overwrite=True to replace it, or name another file"
        )


def require_other_file(source: Any, output: str | os.PathLike[str]) -> None:
    """Raise an error if the output is the file that is being read."""
    if not isinstance(source, str | os.PathLike):
        return
    read, written = Path(source).expanduser(), Path(output)
    if read.is_file() and written.exists() and read.samefile(written):
        raise ValueError(f"cannot write {written}: it is the source, expected another file")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of ``path`` only when the block ends without error.

    A symbolic link is replaced; the file it points to is left alone.
    """
    target = Path(path)
    _require_replaceable(target)
    remove_stale_drafts(target)
    file = _open_draft(target)
    draft = Path(file.name)
    try:
        with naming_file(target, FULL), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name == "posix":  # while it is locked, no other process takes it for stale
                put_in_place(draft, target)
        if os.name != "posix":  # Windows renames closed files only
            put_in_place(draft, target)
    finally:
        with suppress(OSError):
            draft.unlink()


def put_in_place(
    draft: str | Path,
    target: str | Path,
    *,
    folder: int | None = None,
    target_folder: int | None = None,
) -> None:
    """Rename a file, in place of another if there is one; open folders may hold them."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            os.replace(draft, target, src_dir_fd=folder, dst_dir_fd=target_folder)
            return
        except PermissionError:
            if os.name == "posix" or time.monotonic() > end:
                raise
        time.sleep(_POLL)


def remove_stale_drafts(target: Path) -> None:
    """Remove what processes that were killed while they wrote a file have left beside it."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.(\d{{1,9}})\.\d+\.part")
    with suppress(OSError):
        drafts = [found for name in os.listdir(target.parent) if (found := pattern.fullmatch(name))]
        for draft in drafts:
            if not _is_running(int(draft[1])):
                _remove_unless_locked(target.with_name(draft[0]))


@contextmanager
def naming_file(
    path: str | os.PathLike[str], only: Collection[int] | None = None
) -> Iterator[None]:
    """Name a file in the system's errors.

    ``only`` limits this to errors of these numbers that name no file themselves.
    """
    try:
        yield
    except OSError as error:
        is_other = only is not None and (error.errno not in only or error.filename is not None)
        if error.errno is None or is_other:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _require_replaceable(target: Path) -> None:
    """Raise an error if no file can have this path, or something other than a file has it."""
    if "\0" in str(target):
        raise ValueError(f"cannot write {str(target)!r}: file names cannot contain null characters")
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {target}: it is a folder")
    if target.exists() and not target.is_symlink() and not target.is_file():
        raise ValueError(f"cannot write {target}: expected a regular file, not a device or pipe")


def _draft_of(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.{next(_draft_numbers)}.part")


def _create_draft(target: Path) -> IO[bytes]:
    """Create a file beside ``target``, which errors name: the other is hidden.

    A killed process of the same number, as all have in containers, may have left drafts.
    """
    above = target.parent
    if not above.is_dir():
        raise FileNotFoundError(f"cannot write {target}: there is no folder {above}")
    try:
        if not os.access(above, os.W_OK):
            raise PermissionError
        # What seems to be writable may not be, such as /proc. A name that is too long fails, too.
        with naming_file(target):
            while True:
                with suppress(FileExistsError):
                    return open(_draft_of(target), "xb")
    except (FileNotFoundError, PermissionError):
        raise PermissionError(f"cannot write {target}: the folder {above} is read-only") from None


def _open_draft(target: Path) -> IO[bytes]:
    """Open a new file beside ``target`` that nobody removes as long as it is open.

    It is locked, but not on Windows, which removes no open file, and where nobody else, nor even
    this process, can read what is locked.
    """
    while True:
        file = _create_draft(target)
        if os.name != "posix":
            return file
        try:
            is_ours = try_lock(file.fileno()) and is_at(file.fileno(), Path(file.name))
        except OSError:  # a file system without locks
            is_ours = True
        if is_ours:
            return file
        file.close()  # another process took it for stale before it was locked


def _is_running(process: int) -> bool:
    """Return whether another process of this number runs here."""
    if process == os.getpid() or os.name != "posix":
        return False  # this process has its drafts open: they are locked, or cannot be removed
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _remove_unless_locked(draft: Path) -> None:
    if os.name != "posix":
        with suppress(OSError):
            draft.unlink()
        return
    with suppress(OSError):  # a link, the file of another user, or gone already
        descriptor = os.open(draft, os.O_RDWR | os.O_NONBLOCK | NO_FOLLOW)
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode) and try_lock(descriptor):
                draft.unlink()
        finally:
            os.close(descriptor)
