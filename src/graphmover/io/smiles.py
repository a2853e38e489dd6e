"""Files of molecules as SMILES, read by RDKit: a node per heavy atom, an edge per bond.

The title of a line is the id of the graph, and in a table the column ``id`` or ``name``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.graphs.molecules import Molecule, molecule_of, parsed_smiles
from graphmover.io.chunks import (
    TARGET,
    in_batches,
    naming,
    require_one_column,
    shown_names,
    target_array,
)
from graphmover.io.limits import Limit
from graphmover.io.reading import Readable, Reading, id_column_of
from graphmover.io.text_columns import kind_of_ids, kind_of_targets


class Line(NamedTuple):
    """What a file says of a molecule."""

    number: int
    smiles: str
    id: str | int | None
    has_ids: bool  # the file, of which some lines may lack one
    target: Any = None


def read_smiles(path: Path, how: Reading) -> Iterator[Dataset]:
    """Yield the molecules of a file with a SMILES, and optionally a title, on each line.

    Titles are read once before, like the columns of a table.
    """
    for what, column in (("target", how.target_column), ("id", how.id_column)):
        if column is not None:
            raise ValueError(f"{path} has no columns, so no {what} {column!r}: use a .csv file")

    def lines() -> Iterator[Line]:
        has_titles = any(title for _, _, title in _lines_of_file(path))
        parse = kind_of_ids(title for _, _, title in _lines_of_file(path))
        for number, smiles, title in _lines_of_file(path):
            yield Line(number, smiles, parse(title) if title else None, has_titles)

    return batches_of_lines(lines(), path, how)


def _lines_of_file(path: Path) -> Iterator[tuple[int, str, str]]:
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        yield from titled_lines(lines)


def titled_lines(lines: Iterable[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the number, the SMILES and the title of each line that is not empty."""
    for number, line in enumerate(lines, start=1):
        fields = line.split(maxsplit=1)
        if fields:
            yield number, fields[0], fields[1].strip() if len(fields) > 1 else ""


def read_smiles_table(path: Path, how: Reading) -> Iterator[Dataset]:
    """Yield the molecules of a CSV file that has a column ``smiles``.

    The columns of targets and ids are read once before: whether they hold integers, real numbers
    or text must not depend on the batch.
    """

    def lines() -> Iterator[Line]:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            names = next(_rows(file, path), (0, []))[1]
        smiles = next((name for name in names if name.lower() == "smiles"), None)
        if smiles is None:
            raise ValueError(f"{path}: {_no_columns(names)}")
        target = how.target_column or (TARGET if TARGET in names else None)
        id = id_column_of(names, how, (smiles, target))
        for name in (smiles, target, id):
            require_one_column(names, name, path)
        value_of = _column(path, names, target, kind_of_targets)
        id_of = _column(path, names, id, kind_of_ids)
        for number, row in _lines_of_table(path):
            text = _field(row, names.index(smiles))
            yield Line(number, text, id_of(row), id is not None, value_of(row))

    return batches_of_lines(lines(), path, how)


def _no_columns(names: list[str]) -> str:
    """Say what a CSV file lacks that holds neither molecules nor edges."""
    shown = shown_names(names)
    for separator in (";", "\t", "|"):
        if len(names) == 1 and separator in names[0]:
            return f"the header is {shown}, which {separator!r} separates, expected commas"
    return (
        f"there is no column 'smiles' among {shown}, and no 'graph', 'source' and 'target', which "
        f"a table of edges has: rename the columns"
    )


def _column(
    path: Path,
    names: list[str],
    name: str | None,
    kind: Callable[[Iterable[str]], Callable[[str], Any]],
) -> Callable[[list[str]], Any]:
    """Return the function that takes a value from a row; an empty field is None."""
    if name is None:
        return lambda row: None
    at = names.index(name)
    parse = kind(_field(row, at) for _, row in _lines_of_table(path))

    def value(row: list[str]) -> Any:
        text = _field(row, at)
        return parse(text) if text else None

    return value


def _lines_of_table(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows after the header, with their line numbers."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        rows = _rows(lines, path)
        next(rows)
        yield from rows


def _rows(lines: Iterable[str], path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table that are not empty, with their line numbers."""
    reader = csv.reader(lines)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        remedy = "; a .smi file may have longer lines" if "field limit" in str(error) else ""
        raise ValueError(f"{path}, line {reader.line_num}: {error}{remedy}") from error


def _field(row: list[str], at: int) -> str:
    return row[at] if at < len(row) else ""


def _molecule(smiles: str, where: str, limit: Limit) -> Molecule:
    if len(smiles) > limit.longest_smiles:
        raise ValueError(
            f"{where}: a SMILES of {len(smiles)} characters, expected {limit.longest_smiles} or "
            f"fewer; if you trust the source, pass max_smiles={len(smiles)}: RDKit may take minutes"
        )
    if not smiles.strip():
        raise ValueError(f"{where}: there is no SMILES")
    molecule = parsed_smiles(smiles)
    if molecule is None:
        raise ValueError(f"{where}: RDKit cannot read the SMILES {smiles[:80]!r}")
    return molecule_of(molecule)


def batches_of_lines(lines: Iterable[Line], path: Readable, how: Reading) -> Iterator[Dataset]:
    """Yield the molecules of lines, ``batch_size`` at a time."""
    how.require_no_direction(f"{path}: molecules")

    def molecules() -> Iterator[tuple[Line, Molecule]]:
        for line in lines:
            where = f"{path}, line {line.number}"
            try:
                yield line, _molecule(line.smiles, where, how.limit)
            except ValueError as error:
                if not how.bad.leaves_out(error, line.number, line.id, where):
                    yield line, Molecule([], [], [])

    first = 0
    for chunk in in_batches(molecules(), how.batch_size):
        bonds = list(chain.from_iterable(molecule.bonds for _, molecule in chunk))
        graphs = GraphBatch.from_edges(
            [len(molecule.atoms) for _, molecule in chunk],
            [len(molecule.bonds) for _, molecule in chunk],
            np.array(bonds, dtype=np.int64).reshape(-1, 2),
            node_labels=list(chain.from_iterable(molecule.atoms for _, molecule in chunk)),
            edge_labels=list(chain.from_iterable(molecule.orders for _, molecule in chunk)),
            ids=[line.id for line, _ in chunk] if chunk[0][0].has_ids else None,
        )
        with naming(path, first):
            targets = [line.target for line, _ in chunk]
            target = target_array(targets, allow_missing=not how.bad.are_raised)
        yield Dataset(path.stem, graphs, target)
        first += len(chunk)
