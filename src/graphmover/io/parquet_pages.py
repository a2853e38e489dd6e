"""The pages of a column of a Parquet file: what their headers declare, and what they hold.

The footer's sizes are for readers who skip; Arrow decodes as many values as the pages declare. And
a page may hold more than its header declares: texts of a dictionary are stored once, and lists of
lengths have a number of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.arrow import pyarrow
from graphmover.io.parquet_footer import Chunk
from graphmover.io.thrift import FALSE, I32, STRUCT, TRUE, Compact, Fields, field

Ints = NDArray[np.int64]

_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
PLAIN, RLE, DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY = 0, 3, 6, 7
_INDICES = (2, 8)
_CODECS = {0: None, 1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}

#: Bytes read for a header, and the most that Arrow reads for one.
_USUAL_HEADER, _LONGEST_HEADER = 1 << 10, 1 << 24
#: Groups of eight values that are unpacked at a time.
_GROUPS = 1 << 13


class Page(NamedTuple):
    """A page, by its header."""

    kind: int
    n_values: int
    encoding: int
    level_encodings: tuple[int, int]  #: of repetitions, of definitions
    level_bytes: tuple[int, int] | None  #: of both, before the compressed bytes; None: within
    is_compressed: bool
    n_bytes: int  #: uncompressed
    n_stored: int
    start: int  #: behind the header

    @property
    def is_dictionary(self) -> bool:
        """Whether it holds the values that indices of other pages stand for."""
        return self.kind == _DICTIONARY

    @property
    def has_indices(self) -> bool:
        """Whether it holds places in a dictionary."""
        return self.kind in (_DATA, _DATA_2) and self.encoding in _INDICES


def pages_of(file: IO[bytes], chunk: Chunk) -> Iterator[Page]:
    """Yield the pages that Arrow reads, in their order.

    Raises
    ------
    ValueError
        A header is damaged, or there are more or fewer values than the footer declares.
    """
    at, n_seen, is_compressed = chunk.start, 0, True
    end = file.seek(0, 2)
    while n_seen < chunk.n_values:
        if at >= end:
            raise ValueError(f"there is no page at {at}, the file has {end} bytes")
        try:
            page = _page(*_header(file, at), is_compressed)
        except (IndexError, RecursionError, ValueError) as error:
            raise ValueError(f"the page at {at} is damaged: {error}") from error
        at, is_compressed = page.start + page.n_stored, page.is_compressed
        n_seen += page.n_values if page.kind in (_DATA, _DATA_2) else 0
        yield page
    if n_seen != chunk.n_values:
        raise ValueError(f"its pages hold {n_seen} values, but {chunk.n_values} are declared")


def _header(file: IO[bytes], at: int) -> tuple[Fields, int]:
    """Return a header and where it ends."""
    for length in (_USUAL_HEADER, _LONGEST_HEADER):
        file.seek(at)
        header = Compact(file.read(length))
        try:
            return header.struct(), at + header.at
        except IndexError:
            pass
    raise ValueError("its header does not end")


def _page(header: Fields, start: int, was_compressed: bool) -> Page:
    kind, n_bytes, n_stored = (field(header, number, I32) for number in (1, 2, 3))
    n_values, encoding, level_encodings, level_bytes = 0, PLAIN, (RLE, RLE), None
    is_compressed = True
    if kind == _DATA:
        data = field(header, 5, STRUCT)
        n_values, encoding, definitions, repetitions = (field(data, i, I32) for i in range(1, 5))
        level_encodings = repetitions, definitions
    elif kind == _DATA_2:
        data = field(header, 8, STRUCT)
        n_values, encoding = field(data, 1, I32), field(data, 4, I32)
        level_bytes = field(data, 6, I32), field(data, 5, I32)
        # Arrow keeps what the page before said.
        is_compressed = data[7][0] == TRUE if 7 in data else was_compressed
        if 7 in data and data[7][0] not in (TRUE, FALSE):
            raise ValueError("its compression is not true or false")
    elif kind == _DICTIONARY:
        n_values = field(field(header, 7, STRUCT), 1, I32)
    if min(n_values, n_bytes, n_stored, *(level_bytes or ())) < 0:
        raise ValueError("it declares negative sizes")
    return Page(
        kind,
        n_values,
        encoding,
        level_encodings,
        level_bytes,
        is_compressed,
        n_bytes,
        n_stored,
        start,
    )


class Content:
    """What a page holds, decompressed: its levels, and its values.

    Parameters
    ----------
    file : open file
    page : Page
    codec : int
        The compression of its column.
    has_levels : (bool, bool)
        Whether repetitions and definitions are stored at all.
    """

    def __init__(
        self, file: IO[bytes], page: Page, codec: int, has_levels: tuple[bool, bool]
    ) -> None:
        file.seek(page.start)
        stored = file.read(page.n_stored)
        before = sum(page.level_bytes or ())
        levels, values = stored[:before], stored[before:]
        if page.is_compressed and codec != 0:
            name = _CODECS.get(codec)
            if name is None:
                raise ValueError(f"the compression {codec} cannot be checked, expected zstd")
            n_bytes = max(0, page.n_bytes - before)
            values = pyarrow().decompress(values, n_bytes, name).to_pybytes() if n_bytes else b""
        self._page = page
        self.definitions = b""
        if page.is_dictionary:
            self.values = values
        elif page.level_bytes is not None:
            self.definitions, self.values = levels[page.level_bytes[0] :], values
        else:
            at = 0
            for encoding, is_stored in zip(page.level_encodings, has_levels, strict=True):
                if is_stored and encoding != RLE:
                    raise ValueError("its levels cannot be checked, expected run lengths")
                size = int.from_bytes(values[at : at + 4], "little") if is_stored else 0
                at += 4 if is_stored else 0
                self.definitions, at = values[at : at + size], at + size
            self.values = values[at:]

    def count_defined(self, highest: int) -> int:
        """Return how many values are defined, that is neither null nor of an empty list."""
        width = highest.bit_length()
        return sum(
            repeats * int((values == highest).sum())
            for values, repeats in _runs(self.definitions, width, self._page.n_values)
        )

    def text_lengths(self) -> Ints:
        """Return the lengths of the texts of a dictionary."""
        lengths: list[int] = []
        at = 0
        while len(lengths) < self._page.n_values and at + 4 <= len(self.values):
            lengths.append(int.from_bytes(self.values[at : at + 4], "little"))
            at += 4 + lengths[-1]
        return np.array(lengths, np.int64)

    def bytes_of_texts(self, lengths: Ints) -> int:
        """Return how long all texts are that the indices stand for."""
        total = 0
        width = self.values[0] if self.values else 0
        for places, repeats in _runs(self.values[1:], width, self._page.n_values):
            if (places >= len(lengths)).any():
                raise ValueError("an index lies beyond the dictionary")
            total += repeats * int(lengths[places].sum())
        return total

    def require_lengths(self) -> None:
        """Reject texts that have more lengths than the page has values."""
        reader = Compact(self.values)
        for _ in range(2 if self._page.encoding == DELTA_BYTE_ARRAY else 1):
            _skip_lengths(reader, self._page.n_values)


def _skip_lengths(reader: Compact, most: int) -> None:
    """Go on behind integers that are stored as differences, in blocks of several parts."""
    block, n_parts, n_lengths = (reader.varint(32) for _ in range(3))
    if n_lengths > most:
        raise ValueError(f"it holds {n_lengths} lengths for {most} values")
    reader.zigzag()
    per_part = block // max(1, n_parts)
    n_left = n_lengths - 1
    while n_left > 0 and per_part:
        reader.zigzag()
        for width in reader.take(n_parts)[: -(-n_left // per_part)]:
            reader.take(per_part * width // 8)
        n_left -= n_parts * per_part


def _runs(content: bytes, width: int, n_values: int) -> Iterator[tuple[Ints, int]]:
    """Yield values in Parquet's mix of run lengths and packed bits, and how often each repeats."""
    if width > 32:
        raise ValueError(f"its integers have {width} bits")
    reader = Compact(content)
    powers = 1 << np.arange(width, dtype=np.int64)
    while n_values > 0 and reader.at < len(content):
        header = reader.varint(32)
        if not header & 1:
            value = int.from_bytes(reader.take(-(-width // 8)), "little")
            repeats = min(header >> 1, n_values)
            n_values -= repeats
            yield np.array([value]), repeats
        elif width == 0:
            yield np.zeros(1, np.int64), n_values
            return
        else:
            packed = reader.take(min(len(content) - reader.at, (header >> 1) * width))
            for start in range(0, len(packed), _GROUPS * width):
                group = np.frombuffer(packed[start : start + _GROUPS * width], np.uint8)
                bits = np.unpackbits(group, bitorder="little")
                values = bits[: len(bits) // width * width].reshape(-1, width) @ powers
                values = values[:n_values]
                n_values -= len(values)
                yield values, 1
