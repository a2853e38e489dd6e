"""Molecules as SMILES, read by RDKit: a node per heavy atom, labelled by its atomic number.

An edge is a bond, labelled by its order: 1, 2 or 3, or 4 if it is aromatic.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.io.chunks import (
    TARGET,
    in_batches,
    library,
    naming,
    require_one_column,
    shown_names,
    target_array,
)
from graphmover.io.limits import Limit
from graphmover.io.text_columns import kind_of_targets

#: The label of an edge by RDKit's name of the bond; 0 for bonds of other kinds, such as dative.
_BONDS = {"SINGLE": 1, "DOUBLE": 2, "TRIPLE": 3, "AROMATIC": 4, "QUADRUPLE": 5}


class _Molecule(NamedTuple):
    atoms: list[int]
    bonds: list[tuple[int, int]]
    orders: list[int]
    target: Any


def read_smiles(
    path: Path, batch_size: int, target_column: str | None, limit: Limit
) -> Iterator[Dataset]:
    """Yield the molecules of a file with a SMILES, and optionally a title, on each line."""
    if target_column is not None:
        raise ValueError(f"{path} has no columns, so no target {target_column!r}: use a .csv file")

    def molecules() -> Iterator[_Molecule]:
        with path.open(encoding="utf-8-sig", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                fields = line.split(maxsplit=1)
                if fields:
                    yield _molecule(fields[0], None, f"{path}, line {number}", limit)

    return _chunks(molecules(), path, batch_size)


def read_smiles_table(
    path: Path, batch_size: int, target_column: str | None, limit: Limit
) -> Iterator[Dataset]:
    """Yield the molecules of a CSV file that has a column ``smiles``.

    The column of targets is read once before: whether it holds integers, real numbers or text
    must not depend on the batch.
    """

    def molecules() -> Iterator[_Molecule]:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
            names = next(_rows(lines, path), (0, []))[1]
        smiles = next((name for name in names if name.lower() == "smiles"), None)
        if smiles is None:
            raise ValueError(f"{path}: there is no column 'smiles' among {shown_names(names)}")
        target = target_column or (TARGET if TARGET in names else None)
        for name in (smiles, target):
            require_one_column(names, name, path)
        at = names.index(smiles)
        target_at = None if target is None else names.index(target)
        parse = None if target_at is None else kind_of_targets(_column(path, target_at))
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
            rows = _rows(lines, path)
            next(rows)
            for number, row in rows:
                value = None if target_at is None else _field(row, target_at)
                value = parse(value) if parse and value else None
                yield _molecule(_field(row, at), value, f"{path}, line {number}", limit)

    return _chunks(molecules(), path, batch_size)


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


def _column(path: Path, at: int) -> Iterator[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        rows = _rows(lines, path)
        next(rows)
        for _, row in rows:
            yield _field(row, at)


def _field(row: list[str], at: int) -> str:
    return row[at] if at < len(row) else ""


def _molecule(smiles: str, target: Any, where: str, limit: Limit) -> _Molecule:
    if len(smiles) > limit.longest_smiles:
        raise ValueError(
            f"{where}: a SMILES of {len(smiles)} characters, expected {limit.longest_smiles} or "
            f"fewer; if you trust the source, pass max_smiles={len(smiles)}: RDKit may take minutes"
        )
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise library("RDKit", "SMILES", "smiles") from None
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
    if molecule is None:
        raise ValueError(f"{where}: RDKit cannot read the SMILES {smiles[:80]!r}")
    return _Molecule(
        [atom.GetAtomicNum() for atom in molecule.GetAtoms()],
        [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()],
        [_BONDS.get(bond.GetBondType().name, 0) for bond in molecule.GetBonds()],
        target,
    )


def _chunks(molecules: Iterator[_Molecule], path: Path, batch_size: int) -> Iterator[Dataset]:
    first = 0
    for chunk in in_batches(molecules, batch_size):
        bonds = list(chain.from_iterable(molecule.bonds for molecule in chunk))
        graphs = GraphBatch.from_edges(
            [len(molecule.atoms) for molecule in chunk],
            [len(molecule.bonds) for molecule in chunk],
            np.array(bonds, dtype=np.int64).reshape(-1, 2),
            node_labels=list(chain.from_iterable(molecule.atoms for molecule in chunk)),
            edge_labels=list(chain.from_iterable(molecule.orders for molecule in chunk)),
        )
        with naming(path, first):
            target = target_array([molecule.target for molecule in chunk])
        yield Dataset(path.stem, graphs, target)
        first += len(chunk)
