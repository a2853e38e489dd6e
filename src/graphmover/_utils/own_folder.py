"""A folder for files of known names, in which nothing else is touched."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

from graphmover._utils.files import naming_file, put_in_place
from graphmover._utils.growing_file import write_all
from graphmover._utils.locks import NO_FOLLOW


class OwnFolder:
    """A folder of regular files with known names; it is created if there is none.

    Symbolic links are never followed. Files are reached through the open folder, so that the
    folder cannot be exchanged for a link later.

    Parameters
    ----------
    path : path
    names : collection of str
        The names of our files.
    litter : pattern
        Names of files that a killed process may have left; they are removed.
    """

    def __init__(self, path: Path, names: Collection[str], litter: re.Pattern[str]) -> None:
        self.path = path
        self._names = names
        try:
            path.mkdir()
        except FileExistsError:
            if path.is_symlink() or not path.is_dir():
                raise ValueError(
                    f"{path} is a link, or not a folder: remove it, or choose another output name"
                ) from None
        self._descriptor: int | None = None
        if os.open in os.supports_dir_fd:  # not on Windows
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | NO_FOLLOW)
        try:
            self._require_own_files(litter)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def open(self, name: str) -> FileIO:
        """Open a file for reading and writing; create it if there is none."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | NO_FOLLOW

        def opener(_: str, __: int) -> int:
            return os.open(self._at(name), flags, 0o666, dir_fd=self._descriptor)

        with naming_file(self.path / name):
            return FileIO(str(self.path / name), "r+", opener=opener)

    def exists(self, name: str) -> bool:
        """Return whether there is such a file."""
        try:
            os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def replace(self, name: str, content: bytes) -> None:
        """Replace a file atomically by a new one with this content."""
        draft = f"{name}.new"
        try:
            with naming_file(self.path / name):
                with self.open(draft) as file:
                    file.truncate(0)
                    write_all(file, content)
                    os.fsync(file.fileno())
                put_in_place(
                    self._at(draft),
                    self._at(name),
                    folder=self._descriptor,
                    target_folder=self._descriptor,
                )
        except BaseException:
            with suppress(OSError):
                self.unlink(draft)
            raise

    def move(self, name: str, target: Path) -> None:
        """Move a file out of the folder, in place of ``target``."""
        with naming_file(target):
            put_in_place(self._at(name), target, folder=self._descriptor)

    def unlink(self, name: str) -> None:
        """Remove a file if there is one."""
        with suppress(FileNotFoundError), naming_file(self.path / name):
            os.unlink(self._at(name), dir_fd=self._descriptor)

    def remove(self) -> None:
        """Remove our files, and the folder unless it holds others."""
        for name in self._names:
            self.unlink(name)
        try:
            self.path.rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            if not self._entries():
                raise

    def _at(self, name: str) -> str:
        return str(self.path / name) if self._descriptor is None else name

    def _entries(self) -> list[str]:
        return os.listdir(self.path if self._descriptor is None else self._descriptor)

    def _require_own_files(self, litter: re.Pattern[str]) -> None:
        """Raise ValueError if there are other files, links or folders."""
        entries = sorted(self._entries())
        foreign = [name for name in entries if not self._is_own(name, litter)]
        if foreign:
            shown = ", ".join(map(repr, foreign[:5])) + (" and others" if foreign[5:] else "")
            raise ValueError(
                f"{self.path} holds files that are not graphmover's: {shown}. Remove the "
                f"folder, or choose another output name"
            )
        for name in entries:
            if name not in self._names:
                self.unlink(name)

    def _is_own(self, name: str, litter: re.Pattern[str]) -> bool:
        status = os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)
        is_plain = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
        return is_plain and (name in self._names or litter.fullmatch(name) is not None)
