"""How much memory a row group of a Parquet file takes, found out before Arrow decodes it.

A kilobyte may declare 10**8 equal values, as many null vectors, or a long text as often. Headers of
pages bound all of it; only where the bound is too much, the pages are looked into.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from graphmover.graphs.arrow import pyarrow
from graphmover.io.limits import Limit
from graphmover.io.parquet_footer import Chunk, RowGroup
from graphmover.io.parquet_pages import (
    DELTA_BYTE_ARRAY,
    DELTA_LENGTH_BYTE_ARRAY,
    Content,
    Page,
    pages_of,
)

#: Arrow's levels and offsets of lists, for each value.
_PER_LEVELS = 12
#: A value of a dictionary, beside its bytes.
_PER_ENTRY = 24
#: A decoded text, and the copy that is made where its array grows.
_COPIES = 2


class Leaf(NamedTuple):
    """A column of numbers or texts, in which Parquet stores a column of ours or a part of it."""

    position: int
    path: str
    is_text: bool
    n_bytes: int  #: of a value, with the levels of its lists
    list_size: int  #: numbers in each fixed-size list; a null list takes as many
    highest_repetition: int
    highest_definition: int


def leaves_of(metadata: Any, columns: list[str]) -> list[Leaf]:
    """Return the leaves of some columns of a file."""
    schema = metadata.schema.to_arrow_schema()
    leaves = []
    for index in range(metadata.num_columns):
        column = metadata.schema.column(index)
        name = column.path.partition(".")[0]
        if name not in columns:
            continue
        width = column.length if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else 8
        leaf = Leaf(
            index,
            column.path,
            column.physical_type == "BYTE_ARRAY",
            width + _PER_LEVELS,
            _list_size(schema.field(name).type),
            column.max_repetition_level,
            column.max_definition_level,
        )
        leaves.append(leaf)
    return leaves


def _list_size(kind: Any) -> int:
    """Return how many values a null may stand for."""
    pa = pyarrow()
    kind = getattr(kind, "storage_type", kind)
    if not pa.types.is_nested(kind):
        return 1
    within = max((_list_size(kind.field(i).type) for i in range(kind.num_fields)), default=1)
    return within * (max(1, kind.list_size) if pa.types.is_fixed_size_list(kind) else 1)


def row_group_bytes(
    file: IO[bytes], group: RowGroup, number: int, leaves: list[Leaf], limit: Limit
) -> int:
    """Return how much memory decoding takes at most; more than the limit is an error."""
    stored = []
    for leaf in leaves:
        with _naming(limit, number, leaf):
            stored.append(_Stored(file, leaf, group.chunks[leaf.position]))
    limit.require(*_described(number, stored, [column.least() for column in stored]))
    n_bytes = [column.most() for column in stored]
    for at, column in enumerate(stored):
        with _naming(limit, number, column.leaf):
            column.require_lengths()
            if sum(n_bytes) > limit.most:
                n_bytes[at] = column.exact()
    limit.require(*_described(number, stored, n_bytes))
    return sum(n_bytes)


def _described(number: int, stored: list[_Stored], n_bytes: list[int]) -> tuple[int, str]:
    if not stored:
        return 0, ""
    most = stored[n_bytes.index(max(n_bytes))]
    what = f"row group {number}, which declares {most.n_values} values of {most.leaf.path},"
    return sum(n_bytes), what


@contextmanager
def _naming(limit: Limit, number: int, leaf: Leaf) -> Iterator[None]:
    try:
        yield
    except (IndexError, ValueError, pyarrow().ArrowException) as error:
        raise ValueError(
            f"{limit.source} cannot be read as Parquet: row group {number}, {leaf.path}: {error}"
        ) from error


class _Stored:
    """The pages of a leaf in a row group."""

    def __init__(self, file: IO[bytes], leaf: Leaf, chunk: Chunk) -> None:
        self.leaf = leaf
        self._file, self._codec = file, chunk.codec
        self._pages = list(pages_of(file, chunk))
        self.n_values = chunk.n_values

    def least(self) -> int:
        """Return the memory by the headers alone, as if nothing expanded."""
        n_pages = sum(page.n_bytes for page in self._pages)
        n_entries = sum(page.n_values for page in self._pages if page.is_dictionary)
        n_bytes = self.n_values * self.leaf.n_bytes + n_entries * _PER_ENTRY + n_pages
        return n_bytes + (_COPIES * n_pages if self.leaf.is_text else 0)

    def most(self) -> int:
        """Return the memory if all that may be null is, and all texts are as long as can be."""
        dictionary = max((page.n_bytes for page in self._pages if page.is_dictionary), default=0)
        n_texts = sum(page.n_values * dictionary for page in self._pages if page.has_indices)
        return self._expanded(0, n_texts)

    def exact(self) -> int:
        """Return the memory by what the pages hold, one of which is decompressed at a time."""
        n_defined, n_texts, lengths = 0, 0, None
        for page in self._pages:
            if self.leaf.list_size > 1 and not page.is_dictionary:
                n_defined += self._content(page).count_defined(self.leaf.highest_definition)
            if self.leaf.is_text and page.is_dictionary:
                lengths = self._content(page).text_lengths()
            elif self.leaf.is_text and page.has_indices:
                if lengths is None:
                    raise ValueError("there are indices before the dictionary")
                n_texts += self._content(page).bytes_of_texts(lengths)
        return self._expanded(n_defined, n_texts)

    def _expanded(self, n_defined: int, n_texts: int) -> int:
        leaf = self.leaf
        n_nulls = (self.n_values - n_defined) * (leaf.list_size - 1)
        if not leaf.is_text:
            return self.least() + n_nulls * leaf.n_bytes
        # A text may repeat the one before it.
        for page in self._pages:
            n_texts += page.n_values * page.n_bytes if page.encoding == DELTA_BYTE_ARRAY else 0
        return self.least() + n_nulls * leaf.n_bytes + _COPIES * n_texts

    def require_lengths(self) -> None:
        """Reject pages that hold more lengths of texts than values: Arrow decodes them all."""
        for page in self._pages:
            if page.encoding in (DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY):
                self._content(page).require_lengths()

    def _content(self, page: Page) -> Content:
        leaf = self.leaf
        has_levels = leaf.highest_repetition > 0, leaf.highest_definition > 0
        return Content(self._file, page, self._codec, has_levels)
