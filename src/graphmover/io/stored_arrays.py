"""Arrays of an ``.npz`` file from anywhere, read or mapped within limits.

`numpy.load` inflates compressed members and allocates what their headers ask for: a file of a few
megabytes takes gigabytes. Here members are uncompressed, and a header must account for exactly the
bytes that its member has in the file, so an array is never larger than the file.
"""

from __future__ import annotations

import math
import mmap
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

_MAGIC = b"\x93NUMPY\x01\x00"
_MAX_HEADER = 1_000

#: As NumPy writes it. Types are booleans, integers, reals and strings: no pickled objects.
_HEADER = re.compile(
    rb"\{'descr': '([<>|][biufU]\d{1,9})', 'fortran_order': (True|False), "
    rb"'shape': \(([0-9, ]*)\), \} *\n"
)

#: The length of what precedes a member's name, and how members begin in a file to be mapped: at a
#: multiple of this many bytes, after padding in a field that readers of zip files skip.
_ZIP_HEADER = 30
_ALIGNMENT = 64

#: Rows of a joined array that are copied at a time.
_ROWS_AT_A_TIME = 2**16
_PADDING_FIELD = 0xD935
_ZIP64_FIELD = 20

_TYPES = {"b": "bool", "i": "int", "u": "uint", "f": "float"}


class StoredArrays:
    """The arrays of an open ``.npz`` file whose members are stored uncompressed.

    Every problem of the file is a ValueError that names the member. Mapped, arrays are views of the
    file: they take memory that the system can reclaim, and no copy is made.
    """

    def __init__(self, stream: IO[bytes], *, mapped: bool = False) -> None:
        self._archive = zipfile.ZipFile(stream)
        self._map: mmap.mmap | None = None
        if mapped:
            self._map = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        self._members: dict[str, zipfile.ZipInfo] = {}
        n_bytes = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        for member in self._archive.infolist():
            name = member.filename.removesuffix(".npy")
            if name in self._members:
                raise ValueError(f"{name[:100]!r} appears twice")
            if member.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{name[:100]!r} is compressed, expected uncompressed members")
            n_bytes -= member.file_size
            if member.file_size != member.compress_size or n_bytes < 0:
                raise ValueError(f"{name[:100]!r} is larger than the file")
            self._members[name] = member

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._archive.close()

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        return list(self._members)

    def array(self, name: str, kinds: str, n_dimensions: int) -> NDArray[Any]:
        """Return an array of one of these kinds of dtype."""
        dtype, is_fortran, shape, content = self._parse(name)
        if dtype.kind not in kinds or len(shape) != n_dimensions:
            raise ValueError(
                f"{name} has shape {shape} and type {dtype}, expected {n_dimensions} dimensions "
                f"and one of the types {', '.join(_TYPES[kind] for kind in kinds)}"
            )
        return np.frombuffer(content, dtype).reshape(shape, order="F" if is_fortran else "C")

    def text(self, name: str, max_length: int) -> str:
        """Return a string."""
        dtype, _, shape, content = self._parse(name)
        if dtype.kind != "U" or shape != ():
            raise ValueError(
                f"{name} has the shape {shape} and the type {dtype}, expected a string"
            )
        if len(content) > 4 * max_length:
            raise ValueError(
                f"{name} has {len(content) // 4} characters, expected at most {max_length}"
            )
        encoding = "utf-32-be" if dtype.byteorder == ">" else "utf-32-le"
        return str(content, encoding).rstrip("\0")

    def _parse(self, name: str) -> tuple[np.dtype[Any], bool, tuple[int, ...], memoryview]:
        """Return dtype, whether the order is Fortran's, shape and content of an array."""
        if name not in self._members:
            raise ValueError(f"{name} is missing")
        try:
            content = self._content(self._members[name])
        except Exception as error:  # zipfile raises many kinds
            raise ValueError(f"{name} cannot be read: {error}") from error
        start = 10 + int.from_bytes(content[8:10], "little")
        if content[:8] != _MAGIC or start > _MAX_HEADER:
            raise ValueError(f"{name} is not in NumPy's format 1.0")
        found = _HEADER.fullmatch(content[10:start])
        if found is None:
            raise ValueError(f"{name} is not an array of numbers or strings")
        try:
            dtype = np.dtype(found[1].decode())
            shape = tuple(int(size) for size in found[3].split(b",") if size.strip())
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} has a damaged header: {error}") from error
        if dtype.kind != "U" and dtype.itemsize > 8:
            raise ValueError(f"{name} has the type {dtype}, expected at most 64 bits")
        if dtype.itemsize * math.prod(shape) != len(content) - start:
            raise ValueError(
                f"{name} has {len(content) - start} bytes, but its header says shape {shape} "
                f"and type {dtype}"
            )
        return dtype, found[2] == b"True", shape, content[start:]

    def _content(self, member: zipfile.ZipInfo) -> memoryview:
        if self._map is None:
            return memoryview(self._archive.read(member))
        header = self._map[member.header_offset : member.header_offset + _ZIP_HEADER]
        if header[:4] != b"PK\x03\x04":
            raise ValueError("it is not where the directory of the file says")
        lengths = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
        start = member.header_offset + _ZIP_HEADER + sum(lengths)
        content = memoryview(self._map)[start : start + member.file_size]
        if zlib.crc32(content) != member.CRC:
            raise ValueError("its checksum is wrong")
        return content


def write_aligned(
    file: IO[bytes], arrays: Mapping[str, NDArray[Any] | Sequence[NDArray[Any]]]
) -> None:
    """Write an ``.npz`` file whose members are aligned, so that they can be mapped.

    Several arrays of one name become one, which is never in memory as a whole.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            before = file.tell() + _ZIP_HEADER + len(member.filename) + _ZIP64_FIELD + 4
            padding = -before % _ALIGNMENT
            member.extra = struct.pack("<HH", _PADDING_FIELD, padding) + bytes(padding)
            with archive.open(member, "w", force_zip64=True) as stream:
                if isinstance(array, np.ndarray):
                    ordered = np.asarray(array, order="C")
                    np.lib.format.write_array(stream, ordered, allow_pickle=False)
                else:
                    _write_joined(stream, array)


def _write_joined(stream: IO[bytes], arrays: Sequence[NDArray[Any]]) -> None:
    n_rows, first = sum(map(len, arrays)), arrays[0]
    header = np.lib.format.header_data_from_array_1_0(first[:0])
    header |= {"shape": (n_rows, *first.shape[1:]), "fortran_order": False}
    np.lib.format.write_array_header_1_0(stream, header)
    for array in arrays:
        assert array.dtype == first.dtype and array.shape[1:] == first.shape[1:]
        for start in range(0, len(array), _ROWS_AT_A_TIME):
            stream.write(array[start : start + _ROWS_AT_A_TIME].tobytes())


class PrefixedArrays:
    """Those arrays of a file whose names begin alike, by the rest of their names."""

    def __init__(self, arrays: StoredArrays, prefix: str) -> None:
        self._arrays, self._prefix = arrays, prefix

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        every = self._arrays.names
        return [name.removeprefix(self._prefix) for name in every if name.startswith(self._prefix)]

    def array(self, name: str, kinds: str, n_dimensions: int) -> NDArray[Any]:
        """Return an array of one of these kinds of dtype."""
        return self._arrays.array(self._prefix + name, kinds, n_dimensions)

    def text(self, name: str, max_length: int) -> str:
        """Return a string."""
        return self._arrays.text(self._prefix + name, max_length)
