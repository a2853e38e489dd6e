"""Files on this machine, or on any file system that pyarrow or fsspec knows by its URI."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal, NamedTuple
from uuid import uuid4

from graphmover._utils.files import remove_stale_drafts, replacing, require_folder_above
from graphmover.graphs.arrow import pyarrow
from graphmover.io.many_files import by_number, files_of, is_pattern

_MAGIC = re.compile(r"[*?]")
_PARTS_OF_PATTERN = re.compile(r"(\*\*/|\*\*|\*|\?)")
_AS_EXPRESSION = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
#: Files under names that no reader of tables looks at, until they are complete.
_DRAFT = re.compile(r"\.(.+)\.[0-9a-f]{32}\.part")
_LOCAL_DRAFT = re.compile(r"\.(.+)\.\d{1,9}\.\d+\.part")


class File(NamedTuple):
    """A file of a file system, which readers take in place of a path."""

    system: Any  # a pyarrow.fs.FileSystem
    path: str
    shown: str  # in messages

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return PurePosixPath(self.path).stem

    def open(self, mode: Literal["rb"] = "rb", /) -> IO[bytes]:
        """Open the file for reading, at any place."""
        file = self.system.open_input_file(self.path)
        return BufferedReader(file)

    def __fspath__(self) -> str:
        return self.shown

    def __str__(self) -> str:
        return self.shown


class Place:
    """A file or folder of this machine, or one that a URI names.

    Parameters
    ----------
    name : str or path
        A path, or a URI such as ``s3://bucket/graphs``, of any kind that ``pyarrow.fs`` or
        ``fsspec`` takes.
    """

    def __init__(self, name: str | os.PathLike[str]) -> None:
        self.name = os.fspath(name)
        self.is_uri = "://" in self.name
        if self.is_uri:
            self.name = self.name.rstrip("/")
            self.system, self.path = _from_uri(self.name)
        else:
            path = Path(self.name).expanduser()
            self.name = os.path.abspath(path)  # the same on every worker, whatever its folder is
            # With "/" on Windows, too, as paths of other file systems have it.
            self.system, self.path = _fs().LocalFileSystem(), Path(self.name).as_posix()
        self.is_local = self.system.type_name == "local"

    def __str__(self) -> str:
        return self.name

    def file(self, path: str) -> File:
        """Return a file of the same file system."""
        return File(self.system, path, path if self.is_local else f"{self._scheme()}{path}")

    def _scheme(self) -> str:
        return f"{self.name.partition('://')[0]}://"

    def at(self, name: str) -> str:
        """Return the path of a file in this folder."""
        return f"{self.path.rstrip('/')}/{name}"

    def files(self) -> tuple[list[tuple[str, int]], bool]:
        """Return paths and sizes of the files that this names, and whether it names just one.

        Those of a folder or pattern are in the natural order of their names. Files whose names
        begin with ``.`` or ``_`` are left out of folders, as readers of tables do.
        """
        fs = _fs()
        self._forget_listings()
        if self.is_local and is_pattern(Path(self.path)):
            found = [path.as_posix() for path in files_of(Path(self.path))]
            return [(path, os.path.getsize(path)) for path in found], False
        if _MAGIC.search(self.path) and not self.is_local:
            return sorted(self._matching(), key=lambda file: by_number(file[0])), False
        info = self.system.get_file_info(self.path)
        if info.type == fs.FileType.File:
            return [(self.path, info.size)], True
        if info.type != fs.FileType.Directory:
            raise FileNotFoundError(f"there is no file {self.name}")
        listed = self.system.get_file_info(fs.FileSelector(self.path))
        files = [(i.path, i.size) for i in listed if i.is_file and i.base_name[:1] not in "._"]
        return sorted(files, key=lambda file: by_number(file[0])), False

    def _matching(self) -> list[tuple[str, int]]:
        fs = _fs()
        above = _MAGIC.split(self.path)[0].rpartition("/")[0]
        listed = self.system.get_file_info(
            fs.FileSelector(above, recursive=True, allow_not_found=True)
        )
        return [(i.path, i.size) for i in listed if i.is_file and self._matches(i.path)]

    def _matches(self, path: str) -> bool:
        pieces = _PARTS_OF_PATTERN.split(self.path)
        pattern = "".join(_AS_EXPRESSION.get(piece, re.escape(piece)) for piece in pieces)
        return re.fullmatch(pattern, path) is not None

    def takes_in(self, other: Place, name: str) -> bool:
        """Tell whether this is a pattern that a file of another folder would match."""
        is_one = is_pattern(Path(self.path)) if self.is_local else bool(_MAGIC.search(self.path))
        same = self.is_local if other.is_local else self.system.equals(other.system)
        return is_one and same and self._matches(other.at(name))

    def holds(self, file: str, of: Place) -> bool:
        """Tell whether a file of another place, ``of``, lies in this folder, not deeper."""
        above = PurePosixPath(file).parent
        if self.is_local and of.is_local:
            return os.path.realpath(above) == os.path.realpath(self.path)
        return self.system.equals(of.system) and above == PurePosixPath(self.path)

    def listing(self) -> dict[str, int]:
        """Return the names and sizes of what is in this folder; folders have the size -1."""
        fs = _fs()
        self._forget_listings()
        listed = self.system.get_file_info(fs.FileSelector(self.path, allow_not_found=True))
        return {info.base_name: info.size if info.is_file else -1 for info in listed}

    def _forget_listings(self) -> None:
        """Look at folders anew: file systems of fsspec may remember what they have held."""
        if isinstance(self.system, _fs().PyFileSystem):
            self.system.handler.fs.invalidate_cache()

    def require_folder_above(self) -> None:
        """Raise an error if this one cannot be created in a folder of this machine."""
        if self.is_local:
            require_folder_above(Path(self.path))

    def make_folder(self) -> None:
        """Create this folder if there is none."""
        if not self.is_local:
            self.system.create_dir(self.path, recursive=True)
            return
        folder = Path(self.path)
        try:
            folder.mkdir()
        except FileExistsError:
            if not folder.is_dir():
                raise NotADirectoryError(f"cannot write {folder}: it is not a folder") from None

    def read(self, name: str) -> bytes:
        """Return the content of a file in this folder."""
        with self.system.open_input_stream(self.at(name), compression=None) as file:
            content: bytes = file.read()
            return content

    @contextmanager
    def replacing(self, name: str) -> Iterator[IO[bytes]]:
        """Write a file in this folder that appears, complete, when the block ends without error."""
        if self.is_local:
            with replacing(self.at(name)) as file:
                yield file
            return
        draft = self.at(f".{name}.{uuid4().hex}.part")
        try:
            with self.system.open_output_stream(draft, compression=None) as file:
                yield file
            self.system.move(draft, self.at(name))
        except BaseException:
            with suppress(Exception):
                self.system.delete_file(draft)
            raise

    def remove(self, name: str) -> None:
        """Remove a file in this folder if there is one."""
        with suppress(FileNotFoundError):
            self.system.delete_file(self.at(name))

    def remove_drafts(self) -> None:
        """Remove what processes that were killed while they wrote have left in this folder."""
        for name in self.listing():
            if not is_draft(name):
                continue
            if self.is_local:
                remove_stale_drafts(Path(self.at(_target_of(name))))
            else:
                self.remove(name)


def _fs() -> Any:
    pyarrow()  # a missing library is an error that says how to install it
    from pyarrow import fs

    return fs


def is_draft(name: str) -> bool:
    """Tell the name of a file that is not complete."""
    return _DRAFT.fullmatch(name) is not None or _LOCAL_DRAFT.fullmatch(name) is not None


def _target_of(draft: str) -> str:
    found = _LOCAL_DRAFT.fullmatch(draft)
    return draft if found is None else found[1]


def _from_uri(uri: str) -> tuple[Any, str]:
    """Return a file system of pyarrow, or else one of fsspec, and the path in it."""
    pa, fs = pyarrow(), _fs()
    try:
        system, path = fs.FileSystem.from_uri(uri)
        return system, path
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise ValueError(f"{error}: pip install fsspec, which knows more of them") from error
        try:
            other, path = url_to_fs(uri)
        except (ImportError, ValueError) as unknown:
            raise ValueError(f"{uri}: {unknown}") from unknown
        return fs.PyFileSystem(fs.FSSpecHandler(other)), path
