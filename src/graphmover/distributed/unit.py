"""Units of work: what a unit is, and what all of them share."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import NamedTuple

from graphmover.distributed.columns import Columns
from graphmover.distributed.layout import Layout
from graphmover.distributed.storage import File, Place
from graphmover.io.limits import Limit
from graphmover.io.reading import BadGraphs, Reading, Sink


class Unit(NamedTuple):
    """Consecutive graphs of one file: row groups of a Parquet file, or lines of a text file."""

    number: int
    file: int  # its place among the files
    start: int  # the first row group, or byte
    stop: int
    first: int  # rows, or lines, of the file before the unit
    rows: int  # graphs, of which some may be bad
    digest: str  # of the bytes, or of the footer of a Parquet file


class Cut(NamedTuple):
    """The units of one file, without their numbers, and the columns that its rows give."""

    units: list[Unit]
    columns: Columns


class SourceFile(NamedTuple):
    """A file of the source."""

    path: str
    size: int


class Options(NamedTuple):
    """How graphs are read, see `iter_batches`."""

    target_column: str | None = None
    id_column: str | None = None
    errors: str = "raise"
    max_bytes: int | None = None
    max_smiles: int | None = None
    keep_direction: bool = False

    def reading(self, file: File, size: int, batch_size: int, bad: BadGraphs) -> Reading:
        """Return what readers need to know beside the file."""
        limit = Limit(Path(file.shown), self.max_bytes, self.max_smiles, stored=size)
        columns = self.target_column, self.id_column
        return Reading(batch_size, *columns, limit, bad, self.keep_direction)

    def bad_graphs(self, path: str | None, sink: Sink) -> BadGraphs:
        """Return what to do with graphs that cannot be read; ``path`` is one of several files."""
        bad = BadGraphs(self.errors, sink)
        bad.file = "" if path is None else PurePosixPath(path).name
        return bad


class Job(NamedTuple):
    """What every unit needs to know; plain values, which any engine can send."""

    source: str
    is_one_file: bool
    folder: str
    ending: str
    options: Options
    layout: Layout
    run: str  # fingerprint of model, source and options
    model: str  # fingerprint
    n_digits: int  # of the number in a part's name
    batch_size: int
    n_jobs: int
    version: str  # of graphmover

    def part_name(self, unit: int) -> str:
        """Return the name of the file with the rows of a unit."""
        return f"part-{unit:0{self.n_digits}}.parquet"

    def file(self, source: SourceFile) -> File:
        """Return a file of the source."""
        return Place(self.source).file(source.path)
