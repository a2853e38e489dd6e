"""The files of one data set in the TU format, in a folder or in a zip that is not unpacked."""

from __future__ import annotations

import hashlib
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Protocol, cast

from graphmover.io.limits import Limit

#: What follows NAME in the names of the files that are read.
PARTS = (
    "A",
    "graph_indicator",
    "graph_labels",
    "graph_attributes",
    "node_labels",
    "node_attributes",
    "edge_labels",
    "edge_attributes",
)

#: What `zipfile` and its decompressors raise on damaged bytes.
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,  # an offset before the start of the file
    OverflowError,
    MemoryError,  # an LZMA header may ask for a dictionary of 4 GiB
)

_BLOCK = 1 << 22
#: Compressed bytes read at a time: LZMA and bzip2 decompress all of them at once, and 4 KiB may
#: expand to 80 MB.
_COMPRESSED_BLOCK = 1 << 12


class TUFiles(Protocol):
    """The files of one data set."""

    name: str
    limit: Limit

    def file(self, part: str) -> str:
        """Return the name of a file, for messages."""

    def size(self, part: str) -> int | None:
        """Return the size of a file in bytes, or None if it does not exist."""

    def pieces(self, part: str) -> Iterator[bytes]:
        """Yield the content of a file in pieces."""

    def digest(self) -> str:
        """Return a hash of all files."""


class FolderFiles:
    """A data set in a folder."""

    def __init__(self, folder: Path, limit: Limit) -> None:
        self._folder, self.limit = folder, limit
        names = [path.name for path in folder.glob("*_A.txt")]
        self.name = _only_name(names, folder, preferred=folder.resolve().name)

    def _path(self, part: str) -> Path:
        return self._folder / f"{self.name}_{part}.txt"

    def file(self, part: str) -> str:
        """Return the name of a file, for messages."""
        return str(self._path(part))

    def size(self, part: str) -> int | None:
        """Return the size of a file in bytes, or None if it does not exist."""
        path = self._path(part)
        return path.stat().st_size if path.is_file() else None

    def pieces(self, part: str) -> Iterator[bytes]:
        """Yield the content of a file in pieces."""
        with _naming(self.file(part)), self._path(part).open("rb") as stream:
            while piece := stream.read(_BLOCK):
                yield piece

    def digest(self) -> str:
        """Return a hash of all files."""
        sizes = {part: self.size(part) for part in PARTS}
        total = hashlib.sha256(repr((self.name, sizes)).encode())
        for part, size in sizes.items():
            for piece in self.pieces(part) if size is not None else ():
                total.update(piece)
        return total.hexdigest()


class ZipFiles:
    """A data set in a zip."""

    def __init__(self, archive: zipfile.ZipFile, path: Path, limit: Limit) -> None:
        self._archive, self._zip, self.limit = archive, path, limit
        self._members: dict[str, zipfile.ZipInfo] = {}
        folders: dict[str, list[str]] = {}
        for info in archive.infolist():
            member = info.filename
            _require_inside(member, path)
            if member in self._members:
                raise ValueError(f"{path} holds the member {member[:80]!r} twice")
            self._members[member] = info
            folder, slash, file = member.rpartition("/")
            folders.setdefault(file, []).append(folder + slash)
        self.name = _only_name(list(folders), path, preferred=path.stem)
        file = f"{self.name}_A.txt"
        if len(folders[file]) > 1:
            raise ValueError(f"{path} holds {file[:80]} in several folders: {folders[file][:5]}")
        self._prefix = folders[file][0] + self.name

    def _info(self, part: str) -> zipfile.ZipInfo | None:
        return self._members.get(f"{self._prefix}_{part}.txt")

    def file(self, part: str) -> str:
        """Return the name of a file, for messages."""
        return f"{self._zip}/{self._prefix}_{part}.txt"

    def size(self, part: str) -> int | None:
        """Return the size of a file in bytes, or None if it does not exist."""
        info = self._info(part)
        return None if info is None else info.file_size

    def pieces(self, part: str) -> Iterator[bytes]:
        """Yield the content of a file in pieces."""
        info = self._members[f"{self._prefix}_{part}.txt"]
        with _naming(self.file(part)), self._archive.open(info) as opened_member:
            stream = cast(zipfile.ZipExtFile, opened_member)
            held: list[bytes] = []
            length = 0
            while piece := stream.read1(_COMPRESSED_BLOCK):
                held.append(piece)
                length += len(piece)
                if length >= _BLOCK:
                    yield b"".join(held)
                    held, length = [], 0
            yield b"".join(held)

    def digest(self) -> str:
        """Return a hash of all files."""
        return file_digest(self._zip)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def opened(path: Path, limit: Limit) -> Iterator[TUFiles]:
    """Open a data set in a folder or a zip."""
    if path.is_dir():
        yield FolderFiles(path, limit)
        return
    with path.open("rb") as stream:
        with _naming(str(path)):
            archive = zipfile.ZipFile(stream)
        with archive:
            yield ZipFiles(archive, path, limit)


@contextmanager
def _naming(file: str) -> Iterator[None]:
    try:
        yield
    except BROKEN as error:
        reason = str(error)[:200] or type(error).__name__  # a name in a zip may be of any length
        raise ValueError(f"{file} cannot be read: {reason}") from error


def _require_inside(member: str, path: Path) -> None:
    """Reject names that would leave the folder that a zip is unpacked to."""
    windows = PureWindowsPath(member)
    is_absolute = PurePosixPath(member).is_absolute() or windows.anchor
    if is_absolute or ".." in windows.parts:
        raise ValueError(f"{path}: the member {member!r} points outside the zip")


def _only_name(files: list[str], where: Path, preferred: str) -> str:
    """Return NAME of the only file NAME_A.txt."""
    ending = "_A.txt"
    names = sorted(file.removesuffix(ending) for file in files if file.endswith(ending))
    names = [name for name in names if not name.startswith(".")]
    if preferred in names:
        return preferred
    if not names:
        zips = sorted(where.glob("*.zip"))
        hint = f": name one of the data sets in it, such as {zips[0]}" if zips else ""
        raise ValueError(f"{where} holds no file {preferred}{ending}{hint}")
    if len(names) > 1:
        raise ValueError(f"{where} holds several data sets: {', '.join(names)}")
    return names[0]
