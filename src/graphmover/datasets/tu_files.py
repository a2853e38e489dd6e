"""The files of one set in the TU format, in a folder or in a zip that is never unpacked."""

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

#: What stands after NAME in the names of the files that are read.
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

#: What `zipfile` and its decompressors raise when they meet broken bytes.
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,  # a place before the start of the file
    OverflowError,
    MemoryError,  # a dictionary of 4 GiB, says the head of an LZMA stream
)

_BLOCK = 1 << 22
#: Compressed bytes taken at a time: LZMA and bzip2 give back all they hold at once, and 4 KiB
#: may hold 80 MB.
_SIP = 1 << 12
#: Files beyond _LARGE that claim to be over _MOST_TIMES as large as in the zip are refused.
#: The most that we met in honest sets is 35.
_LARGE, _MOST_TIMES = 1 << 26, 100


class TUFiles(Protocol):
    """The files of one set."""

    name: str

    def file(self, part: str) -> str:
        """Return the name of a file, for messages."""

    def size(self, part: str) -> int | None:
        """Return the number of bytes of a file, or None where there is none."""

    def pieces(self, part: str) -> Iterator[bytes]:
        """Read a file, piece by piece."""

    def digest(self) -> str:
        """Return a hash of the content of all files."""


class FolderFiles:
    """A set in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        names = [path.name for path in folder.glob("*_A.txt")]
        self.name = _only_name(names, folder, preferred=folder.resolve().name)

    def _path(self, part: str) -> Path:
        return self._folder / f"{self.name}_{part}.txt"

    def file(self, part: str) -> str:
        """Return the name of a file, for messages."""
        return str(self._path(part))

    def size(self, part: str) -> int | None:
        """Return the number of bytes of a file, or None where there is none."""
        path = self._path(part)
        return path.stat().st_size if path.is_file() else None

    def pieces(self, part: str) -> Iterator[bytes]:
        """Read a file, piece by piece."""
        with _naming(self.file(part)), self._path(part).open("rb") as stream:
            while piece := stream.read(_BLOCK):
                yield piece

    def digest(self) -> str:
        """Return a hash of the content of all files."""
        sizes = {part: self.size(part) for part in PARTS}
        total = hashlib.sha256(repr((self.name, sizes)).encode())
        for part, size in sizes.items():
            for piece in self.pieces(part) if size is not None else ():
                total.update(piece)
        return total.hexdigest()


class ZipFiles:
    """A set in a zip."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive, self._zip = archive, path
        self._members = {info.filename: info for info in archive.infolist()}
        folders = {}
        for member in self._members:
            _refuse_escape(member, path)
            folder, slash, file = member.rpartition("/")
            folders[file] = folder + slash
        self.name = _only_name(list(folders), path, preferred=path.stem)
        self._prefix = folders[f"{self.name}_A.txt"] + self.name

    def _info(self, part: str) -> zipfile.ZipInfo | None:
        return self._members.get(f"{self._prefix}_{part}.txt")

    def file(self, part: str) -> str:
        """Return the name of a file, for messages."""
        return f"{self._zip}/{self._prefix}_{part}.txt"

    def size(self, part: str) -> int | None:
        """Return the number of bytes of a file, or None where there is none."""
        info = self._info(part)
        return None if info is None else info.file_size

    def pieces(self, part: str) -> Iterator[bytes]:
        """Read a file, piece by piece."""
        info = self._members[f"{self._prefix}_{part}.txt"]
        stored = min(info.compress_size, self._zip.stat().st_size)
        if info.file_size > max(_LARGE, _MOST_TIMES * stored):
            raise ValueError(
                f"{self.file(part)}: {info.file_size} bytes out of {stored} in the zip, which is "
                f"no honest data set; unpack the zip and load the folder if you trust it"
            )
        with _naming(self.file(part)), self._archive.open(info) as opened_member:
            stream = cast(zipfile.ZipExtFile, opened_member)
            taken: list[bytes] = []
            length = 0
            while sip := stream.read1(_SIP):
                taken.append(sip)
                length += len(sip)
                if length >= _BLOCK:
                    yield b"".join(taken)
                    taken, length = [], 0
            yield b"".join(taken)

    def digest(self) -> str:
        """Return a hash of the content of all files."""
        return file_digest(self._zip)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def opened(path: Path) -> Iterator[TUFiles]:
    """Open the set in a folder or a zip."""
    if path.is_dir():
        yield FolderFiles(path)
        return
    with path.open("rb") as stream:
        with _naming(str(path)):
            archive = zipfile.ZipFile(stream)
        with archive:
            yield ZipFiles(archive, path)


@contextmanager
def _naming(file: str) -> Iterator[None]:
    try:
        yield
    except BROKEN as error:
        raise ValueError(f"{file} cannot be read: {error or type(error).__name__}") from error


def _refuse_escape(member: str, path: Path) -> None:
    """Refuse names that would leave the folder a zip is unpacked to: nothing honest has them."""
    windows = PureWindowsPath(member)
    is_absolute = PurePosixPath(member).is_absolute() or windows.anchor
    if is_absolute or ".." in windows.parts:
        raise ValueError(f"{path}: the member {member!r} points outside of the zip")


def _only_name(files: list[str], where: Path, preferred: str) -> str:
    """Tell NAME from the file NAME_A.txt, of which there should be one."""
    ending = "_A.txt"
    names = sorted(file.removesuffix(ending) for file in files if file.endswith(ending))
    names = [name for name in names if not name.startswith(".")]
    if preferred in names:
        return preferred
    if not names:
        raise ValueError(f"{where} holds no file {preferred}{ending}")
    if len(names) > 1:
        raise ValueError(f"{where} holds several sets: {', '.join(names)}")
    return names[0]
