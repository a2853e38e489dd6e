"""A source cut into units: which files, which rows, which columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from graphmover.distributed import line_units, parquet_units
from graphmover.distributed.columns import Columns, merged
from graphmover.distributed.storage import File, Place
from graphmover.distributed.unit import Cut, Options, SourceFile, Unit
from graphmover.io.parquet import Wanted
from graphmover.io.reading import Reading

#: Footers of Parquet files are read by this many threads at once: most of the time is waiting.
_THREADS = 16

#: Returns which columns hold what, and the rows of a unit as record batches. The last argument is
#: the type of ids.
Batches = Callable[[File, Unit, Reading, str | None], tuple[Wanted, Iterator[Any]]]


class UnitFormat(NamedTuple):
    """How files of one format are cut into units, and units read."""

    cut: Callable[[File, int, int, Reading], Cut]
    batches: Batches


def _without_ids(
    batches: Callable[[File, Unit, Reading], tuple[Wanted, Iterator[Any]]],
) -> Batches:
    return lambda file, unit, how, id: batches(file, unit, how)


_JSON = UnitFormat(line_units.cut_json_lines, _without_ids(line_units.json_batches))

#: By file extension.
FORMATS: dict[str, UnitFormat] = {
    ".parquet": UnitFormat(parquet_units.cut, _without_ids(parquet_units.batches)),
    ".jsonl": _JSON,
    ".ndjson": _JSON,
    ".smi": UnitFormat(line_units.cut_smiles, line_units.smiles_batches),
}


class Source(NamedTuple):
    """Files, and the units that they are cut into."""

    name: str
    is_one_file: bool
    ending: str
    files: list[SourceFile]
    units: list[Unit]
    columns: Columns

    @property
    def n_rows(self) -> int:
        """The number of graphs, of which some may be bad."""
        return sum(unit.rows for unit in self.units)


def cut_source(source: Any, options: Options, unit_rows: int) -> Source:
    """Cut a source into units of about ``unit_rows`` rows, always alike for the same files.

    Parameters
    ----------
    source : str or path
        A file, a folder or a pattern, local or as a URI.
    """
    place = Place(source)
    found, is_one_file = place.files()
    files = [SourceFile(*file) for file in found]
    if not files:
        raise FileNotFoundError(f"there is no file that matches {place}")
    ending = _ending(place, files)

    def cut(number: int) -> Cut:
        file = place.file(files[number].path)
        bad = options.bad_graphs(None, [])
        how = options.reading(file, files[number].size, 1, bad)
        return FORMATS[ending].cut(file, number, unit_rows, how)

    with ThreadPoolExecutor(_THREADS) as pool:
        cuts = list(pool.map(cut, range(len(files))))
    units = [unit for one in cuts for unit in one.units]
    if not units:
        raise ValueError(f"{place} holds no graphs")
    having = [i for i, one in enumerate(cuts) if any(unit.rows for unit in one.units)]
    columns = merged(  # a file without graphs has no types
        [cuts[i].columns for i in having],
        [files[i].path for i in having],
        allow_missing=options.errors != "raise",
    )
    numbered = [unit._replace(number=number) for number, unit in enumerate(units)]
    return Source(place.name, is_one_file, ending, files, numbered, columns)


def _ending(place: Place, files: list[SourceFile]) -> str:
    """Return the ending of all files."""
    endings = [PurePosixPath(file.path).suffix.lower() for file in files]
    ending = endings[0]
    other = next((number for number, found in enumerate(endings) if found != ending), None)
    if other is not None:
        raise ValueError(
            f"{place} has files of several formats, {files[0].path} and {files[other].path}, "
            f"expected one: name those to read, as in {place}/*{ending}"
        )
    if ending not in FORMATS:
        raise ValueError(
            f"{files[0].path} cannot be cut into units of work: expected {', '.join(FORMATS)}; "
            f"`graphmover convert` writes Parquet files"
        )
    return ending


def opened_unit(
    file: File, unit: Unit, ending: str, how: Reading, id: str | None
) -> tuple[Wanted, Iterator[Any]]:
    """Return which columns hold what, and the rows of a unit as record batches."""
    return FORMATS[ending].batches(file, unit, how, id)
