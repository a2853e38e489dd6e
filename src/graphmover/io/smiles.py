"""Molecules as SMILES, read by RDKit: a node per heavy atom, labelled by its atomic number."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.io.chunks import TARGET, in_batches, library, naming, target_array


class _Molecule(NamedTuple):
    atoms: list[int]
    bonds: list[tuple[int, int]]
    target: Any


def read_smiles(path: Path, batch_size: int, target_column: str | None) -> Iterator[Dataset]:
    """Yield the molecules of a file with a SMILES, and optionally a title, on each line."""
    if target_column is not None:
        raise ValueError(f"{path} has no columns, so no target {target_column!r}: use a .csv file")

    def molecules() -> Iterator[_Molecule]:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                fields = line.split(maxsplit=1)
                if fields:
                    yield _molecule(fields[0], None, f"{path}, line {number}")

    return _chunks(molecules(), path, batch_size)


def read_smiles_table(path: Path, batch_size: int, target_column: str | None) -> Iterator[Dataset]:
    """Yield the molecules of a CSV file that has a column ``smiles``."""

    def molecules() -> Iterator[_Molecule]:
        with path.open(encoding="utf-8", errors="replace", newline="") as lines:
            reader = csv.DictReader(lines)
            names = list(reader.fieldnames or ())
            smiles = next((name for name in names if name.lower() == "smiles"), None)
            if smiles is None:
                raise ValueError(f"{path}: there is no column 'smiles' among {names}")
            if target_column is not None and target_column not in names:
                raise ValueError(f"{path}: there is no column {target_column!r} among {names}")
            target = target_column or (TARGET if TARGET in names else None)
            try:
                for row in reader:
                    value = None if target is None else _value(row[target])
                    yield _molecule(row[smiles] or "", value, f"{path}, line {reader.line_num}")
            except csv.Error as error:
                raise ValueError(f"{path}, line {reader.line_num}: {error}") from error

    return _chunks(molecules(), path, batch_size)


def _molecule(smiles: str, target: Any, where: str) -> _Molecule:
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
        )
        with naming(path, first):
            target = target_array([molecule.target for molecule in chunk])
        yield Dataset(path.stem, graphs, target)
        first += len(chunk)


def _value(text: str | None) -> int | float | str | None:
    """Parse an integer or a real number, or return the text; an empty field is no target."""
    for kind in (int, float):
        try:
            return kind(text or "")
        except ValueError:
            continue
    return text or None
