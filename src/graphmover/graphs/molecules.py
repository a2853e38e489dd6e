"""Molecules of RDKit, and SMILES: a node per atom, labelled by its atomic number.

An edge is a bond, labelled by its order: 1, 2 or 3, or 4 if it is aromatic.
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

import numpy as np

from graphmover.graphs.graph import EDGE_LABEL, GRAPH_ID, NODE_LABEL
from graphmover.graphs.parts import Flat, Names, Part, own_id

#: The label of an edge by RDKit's name of the bond; 0 for bonds of other kinds, such as dative.
BONDS = {"SINGLE": 1, "DOUBLE": 2, "TRIPLE": 3, "AROMATIC": 4, "QUADRUPLE": 5}

#: The property in which RDKit keeps the title of a molecule.
_TITLE = "_Name"

_ENDING_OF_A_FILE = re.compile(
    r"\.(smi|csv|tsv|txt|parquet|jsonl?|ndjson|zip|sdf|graphml|gml|gexf|[gs]6|edgelist|edges)$",
    re.IGNORECASE,
)


class Molecule(NamedTuple):
    """Atomic numbers, bonds between atoms, and orders of the bonds."""

    atoms: list[int]
    bonds: list[tuple[int, int]]
    orders: list[int]


def molecule_of(molecule: Any) -> Molecule:
    """Take what graphs need from a molecule of RDKit."""
    return Molecule(
        [atom.GetAtomicNum() for atom in molecule.GetAtoms()],
        [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()],
        [BONDS.get(bond.GetBondType().name, 0) for bond in molecule.GetBonds()],
    )


def parsed_smiles(smiles: str) -> Any:
    """Return the molecule of RDKit, or None if this is not SMILES."""
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise ImportError("SMILES needs RDKit: pip install 'graphmover[smiles]'") from None
    with rdBase.BlockLogs():
        return Chem.MolFromSmiles(smiles)


def from_rdkit(molecule: Any, names: Names, _: Flat) -> Part:
    """Convert a molecule; its title is its id, unless it has a property of that name."""
    atoms, bonds, orders = molecule_of(molecule)
    sources, targets = np.array(bonds, np.int64).reshape(-1, 2).T
    return Part(
        len(atoms),
        sources,
        targets,
        node_labels=atoms if names.node_label == NODE_LABEL else None,
        edge_labels=orders if names.edge_label == EDGE_LABEL else None,
        id=_id(molecule, names.graph_id),
    )


def _id(molecule: Any, name: str | None) -> str | int | None:
    properties = molecule.GetPropsAsDict(includePrivate=True, autoConvertStrings=False)
    title = properties.get(_TITLE) if name == GRAPH_ID else None
    return own_id(name, properties.get(name, title or None))


def from_smiles(smiles: str, names: Names, flat: Flat) -> Part:
    """Convert a SMILES; a title may follow it."""
    molecule = parsed_smiles(str(smiles)) if smiles.strip() else None
    if molecule is None:
        is_path = _ENDING_OF_A_FILE.search(smiles) or os.path.exists(smiles[:1000])
        raise ValueError(
            f"RDKit cannot read the SMILES {smiles[:80]!r}"
            + ("; graphs in a file are read by gm.read_graphs(path)" if is_path else "")
        )
    return from_rdkit(molecule, names, flat)
