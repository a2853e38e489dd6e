"""Files of lines, a SMILES or a JSON object each, as units of bytes that end with a line."""

from __future__ import annotations

import hashlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from typing import IO, Any

from graphmover.distributed.columns import Columns, kind_of_values
from graphmover.distributed.embedder import LINE, NODE_LINK, SMILES
from graphmover.distributed.storage import File
from graphmover.distributed.unit import Cut, Unit
from graphmover.graphs.arrow import ID, pyarrow
from graphmover.io.chunks import in_batches
from graphmover.io.networkx_files import batches_of_json
from graphmover.io.parquet import Wanted
from graphmover.io.reading import BadGraphs, Reading
from graphmover.io.smiles import titled_lines
from graphmover.io.text_columns import is_integer

#: A unit has at most this many bytes, held in memory by a worker, unless one line has more.
MOST_BYTES = 2**26
#: Graphs of a file of JSON lines that tell the types of ids and targets.
_FIRST = 1000


def cut_smiles(file: File, number: int, most_rows: int, how: Reading) -> Cut:
    """Cut a file into units, and see whether it has titles, and whether all are integers."""
    for what, column in (("target", how.target_column), ("id", how.id_column)):
        if column is not None:
            raise ValueError(f"{file} has no columns, so no {what} {column!r}: use Parquet")
    has_titles, are_integers = False, True
    units: list[Unit] = []
    first = 0
    for start, content in _pieces(file, most_rows):
        rows = 0
        for _, _, title in titled_lines(text_of(content, start)):
            rows += 1
            if title:
                has_titles = True
                are_integers = are_integers and is_integer(title)
        units.append(_unit(number, start, content, first, rows))
        first += sum(1 for _ in text_of(content, start))
    id = ("int64" if are_integers else "string") if has_titles else None
    return Cut(units, Columns(id, None, None))


def cut_json_lines(file: File, number: int, most_rows: int, how: Reading) -> Cut:
    """Cut a file into units; its first graphs tell the types of ids and targets."""
    units: list[Unit] = []
    columns: Columns | None = None
    first = 0
    for start, content in _pieces(file, most_rows):
        lines = list(_json_lines(content, start, first))
        if columns is None and lines:
            lenient = how._replace(bad=BadGraphs("skip", []), batch_size=_FIRST)
            data = next(batches_of_json(lines[:_FIRST], file, lenient), None)
            if data is not None:
                columns = _columns_of(data.ids, data.target)
        units.append(_unit(number, start, content, first, len(lines)))
        first += _n_lines(content)
    return Cut(units, columns or Columns(None, None, None))


def _columns_of(ids: Any, target: Any) -> Columns:
    kind = kind_of_values(target)
    return Columns(
        kind_of_values(ids), kind, None if kind is None or target.ndim == 1 else target.shape[1]
    )


def _unit(number: int, start: int, content: bytes, first: int, rows: int) -> Unit:
    return Unit(0, number, start, start + len(content), first, rows, _digest(content))


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _n_lines(content: bytes) -> int:
    return content.count(b"\n") + (not content.endswith(b"\n"))


def _pieces(file: File, most_lines: int) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines as one piece, and the byte at which it begins."""
    start = size = 0
    lines: list[bytes] = []
    with file.open("rb") as stream:
        for line in stream:
            lines.append(line)
            size += len(line)
            if len(lines) >= most_lines or size >= MOST_BYTES:
                yield start, b"".join(lines)
                start, size, lines = start + size, 0, []
    if lines:
        yield start, b"".join(lines)


def text_of(content: bytes, start: int) -> IO[str]:
    """Return the lines of a piece; a mark at the beginning of the file is no part of them."""
    encoding = "utf-8" if start else "utf-8-sig"
    return TextIOWrapper(BytesIO(content), encoding=encoding, errors="replace")


def _json_lines(content: bytes, start: int, first: int) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(BytesIO(content), start=first + 1):
        text = line if start or number > 1 else line.removeprefix(BOM_UTF8)
        if text.strip():
            yield number, text


def _content(file: File, unit: Unit) -> bytes:
    with file.open("rb") as stream:
        stream.seek(unit.start)
        content = stream.read(unit.stop - unit.start)
    if _digest(content) != unit.digest:
        raise ValueError(f"{file} has changed since the run was started")
    return content


def smiles_batches(
    file: File, unit: Unit, how: Reading, id: str | None
) -> tuple[Wanted, Iterator[Any]]:
    """Return which columns hold what, and the molecules of a unit as record batches."""
    pa = pyarrow()
    content = _content(file, unit)
    parse = int if id == "int64" else str

    def rows() -> Iterator[Any]:
        lines = titled_lines(text_of(content, unit.start))
        for batch in in_batches(lines, how.batch_size):
            numbers, texts, titles = zip(*batch, strict=True)
            columns = {
                LINE: pa.array([unit.first + number for number in numbers], pa.int64()),
                SMILES: pa.array(texts, pa.string()),
            }
            if id is not None:
                names = [parse(title) if title else None for title in titles]
                columns[ID] = pa.array(names, pa.type_for_alias(id))
            yield pa.RecordBatch.from_pydict(columns)

    return Wanted([], None, None if id is None else ID), rows()


def json_batches(file: File, unit: Unit, how: Reading) -> tuple[Wanted, Iterator[Any]]:
    """Return which columns hold what, and the lines of a unit as record batches."""
    pa = pyarrow()
    content = _content(file, unit)

    def rows() -> Iterator[Any]:
        for batch in in_batches(_json_lines(content, unit.start, unit.first), how.batch_size):
            numbers, texts = zip(*batch, strict=True)
            columns = {LINE: pa.array(numbers, pa.int64()), NODE_LINK: pa.array(texts, pa.binary())}
            yield pa.RecordBatch.from_pydict(columns)

    return Wanted([], how.target_column, how.id_column), rows()
