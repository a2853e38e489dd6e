"""Parts: the rows of one unit in a Parquet file that tells in its footer whose they are."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from graphmover.distributed.layout import VECTOR, Layout
from graphmover.distributed.storage import Place
from graphmover.graphs.arrow import pyarrow
from graphmover.io.parquet import naming_broken
from graphmover.io.reading import Skipped

_FOOTER, _SKIPPED = b"graphmover", b"graphmover.skipped"


class Footer(NamedTuple):
    """What a part tells about its rows."""

    run: str  # fingerprint of model, source and options
    model: str  # fingerprint
    unit: int
    rows: int
    skipped: int  # graphs that could not be read
    empty: int  # graphs without nodes
    unknown: int  # graphs none of whose labels the model knows


class PartWriter:
    """Writes the rows of a unit to an open file, batch by batch."""

    def __init__(self, file: Any, layout: Layout) -> None:
        pyarrow()
        import pyarrow.parquet as pq

        self.n_rows = 0
        self._writer = pq.ParquetWriter(
            file,
            layout.schema(),
            compression="zstd",
            use_dictionary=[name for name in layout.schema().names if name != VECTOR],
            write_page_checksum=True,
            write_statistics=False,
        )

    def append(self, rows: Any) -> None:
        """Write a record batch as a row group."""
        if len(rows):
            self._writer.write_batch(rows, row_group_size=len(rows))
            self.n_rows += len(rows)

    def finish(self, footer: Footer, skipped: Iterable[Skipped]) -> None:
        """Write the footer."""
        values = {_FOOTER: json.dumps(footer._asdict())}
        if footer.skipped:
            text = json.dumps([list(one) for one in skipped]).encode()
            values[_SKIPPED] = b64encode(zlib.compress(text)).decode()
        self._writer.add_key_value_metadata(values)
        self._writer.close()

    def abandon(self) -> None:
        """Close the file, whatever is in it."""
        with suppress(Exception):  # the first error is the one to tell
            self._writer.close()


def sound_part(folder: Place, name: str, layout: Layout, *, verify: bool) -> Footer:
    """Return the footer of a part, or raise a ValueError if the part is damaged.

    ``verify``: read all of it, and compare checksums.
    """
    pyarrow()
    import pyarrow.parquet as pq

    file = folder.file(folder.at(name))
    with naming_broken(file), file.open("rb") as opened:
        part = pq.ParquetFile(opened, page_checksum_verification=True)
        footer = _footer_of(part.metadata.metadata)
        if footer.rows != part.metadata.num_rows:
            raise ValueError(f"{file} has {part.metadata.num_rows} rows, expected {footer.rows}")
        if not part.schema_arrow.equals(layout.schema()):
            raise ValueError(f"{file} has other columns than those of this run")
        if verify:
            for group in range(part.num_row_groups):
                part.read_row_group(group, use_threads=False)
    return footer


def skipped_of(folder: Place, name: str) -> list[Skipped]:
    """Return the graphs of a unit that could not be read."""
    import pyarrow.parquet as pq

    file = folder.file(folder.at(name))
    with naming_broken(file), file.open("rb") as opened:
        text = pq.read_metadata(opened).metadata.get(_SKIPPED)
        listed = [] if text is None else json.loads(zlib.decompress(b64decode(text)))
        return [Skipped(*one) for one in listed]


def _footer_of(metadata: dict[bytes, bytes] | None) -> Footer:
    text = (metadata or {}).get(_FOOTER)
    if text is None:
        raise ValueError("it is not a part of graphmover's")
    try:
        return Footer(**json.loads(text))
    except TypeError as error:
        raise ValueError(f"its footer is damaged: {error}") from error
