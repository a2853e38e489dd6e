"""A file to which bytes are appended, with a checksum of them."""

from __future__ import annotations

import hashlib
import os
from io import FileIO

from graphmover._utils.files import naming_file

_CHUNK_BYTES = 2**20


class GrowingFile:
    """Bytes appended to an open file after a header of ``header_size`` bytes."""

    def __init__(self, file: FileIO, header_size: int = 0) -> None:
        self.file = file
        self.size = 0  # without the header
        self._header_size = header_size
        self._checksum = hashlib.blake2b(digest_size=16)

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self.file.name)

    @property
    def checksum(self) -> str:
        """Checksum of the bytes, without the header."""
        return self._checksum.hexdigest()

    def restore(self, size: int, checksum: str | None) -> None:
        """Keep the first bytes and truncate the rest.

        Raises ValueError if there are fewer than ``size``, or if they have another checksum.
        """
        found = max(0, os.fstat(self.file.fileno()).st_size - self._header_size)
        if found < size:
            raise ValueError(f"it holds {found} bytes, expected at least {size}")
        with naming_file(self.name):
            self.file.seek(self._header_size)
            while self.size < size:
                content = self.file.read(min(_CHUNK_BYTES, size - self.size))
                if not content:
                    raise ValueError(f"it holds {self.size} bytes, expected {size}")
                self._checksum.update(content)
                self.size += len(content)
            if checksum is not None and checksum != self.checksum:
                raise ValueError("its checksum is wrong")
            self.file.truncate(self._header_size + size)
            self.file.seek(0, os.SEEK_END)

    def append(self, content: bytes | memoryview) -> None:
        """Append bytes; they are on disk when this returns."""
        with naming_file(self.name):
            write_all(self.file, content)
            os.fsync(self.file.fileno())
        self._checksum.update(content)
        self.size += len(content)

    def write_header(self, header: bytes) -> None:
        """Write the header, and move to the beginning of the file."""
        with naming_file(self.name):
            self.file.seek(0)
            write_all(self.file, header)
            os.fsync(self.file.fileno())
            self.file.seek(0)


def write_all(file: FileIO, content: bytes | memoryview) -> None:
    """Write all bytes to an unbuffered file, whose ``write`` may write fewer."""
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]
