"""ECFP, Morgan fingerprints (Rogers and Hahn 2010), by RDKit."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.molecules import BONDS
from graphmover.rivals.base import Floats, GraphFeatures
from graphmover.rivals.optional import optional


class MorganFingerprint(GraphFeatures):
    """The circular substructures of a molecule, hashed into a vector of counts.

    Graphs must be molecules as files of SMILES give them: nodes labelled by atomic numbers, edges
    by bond orders. Formal charges, isotopes and chirality, which such graphs do not have, do not
    count: hydrogens are those that an uncharged atom would have.

    Parameters
    ----------
    radius : int
        The largest distance from the central atom; 2 is ECFP4.
    n_bits : int
        The length of the vector.
    counts : bool
        Whether to count substructures; False only records which are present.

    Examples
    --------
    >>> from graphmover.rivals import MorganFingerprint
    >>> MorganFingerprint(n_bits=64).fit_transform(["CCO", "c1ccccc1"]).sum(axis=1)
    array([ 6., 18.])
    """

    def __init__(self, radius: int = 2, *, n_bits: int = 2048, counts: bool = True) -> None:
        self.radius = radius
        self.n_bits = n_bits
        self.counts = counts

    def _rows(self, batch: GraphBatch) -> Floats:
        generators = optional("rdkit.Chem.rdFingerprintGenerator", "MorganFingerprint")
        generator = generators.GetMorganGenerator(radius=self.radius, fpSize=self.n_bits)
        labels = batch.node_labels
        are_atoms = labels is not None and labels.dtype.kind == "i" and labels.min(initial=0) >= 0
        are_atoms = are_atoms and labels.max(initial=0) <= _LARGEST_ATOM  # type: ignore[union-attr]
        if batch.n_nodes and not (are_atoms and _are_bonds(batch.edge_labels, len(batch.indices))):
            raise ValueError(
                "MorganFingerprint takes molecules, as files of SMILES give them: atomic numbers "
                "as node labels, bond orders as edge labels"
            )
        rows = np.zeros((len(batch), self.n_bits))
        for number in range(len(batch)):
            molecule = _molecule(batch, number)
            if self.counts:
                rows[number] = generator.GetCountFingerprintAsNumPy(molecule)
            else:
                rows[number] = generator.GetFingerprintAsNumPy(molecule)
        return rows


#: RDKit's names of bonds by the labels of edges; dative bonds and the like count as single.
_BOND_OF = {label: name for name, label in BONDS.items()} | {0: "SINGLE"}
_CARBON, _LARGEST_ATOM = 6, 118


def are_molecules(batch: GraphBatch) -> bool:
    """Tell whether labels are atomic numbers and bond orders, carbon the most frequent atom."""
    atoms, bonds = batch.node_labels, batch.edge_labels
    if atoms is None or not len(atoms) or atoms.dtype.kind != "i":
        return False
    if atoms.min() < 1 or atoms.max() > _LARGEST_ATOM:
        return False
    is_carbon_first = int(np.bincount(atoms).argmax()) == _CARBON
    return is_carbon_first and _are_bonds(bonds, len(batch.indices))


def _are_bonds(labels: Any, n_entries: int) -> bool:
    if labels is None:
        return not n_entries
    return labels.dtype.kind == "i" and set(np.unique(labels).tolist()) <= set(_BOND_OF)


def _molecule(batch: GraphBatch, number: int) -> Any:
    """Return a graph as a molecule of RDKit."""
    chem: Any = optional("rdkit.Chem", "MorganFingerprint")
    first, last = batch.offsets[number], batch.offsets[number + 1]
    molecule = chem.RWMol()
    for label in batch.node_labels[first:last]:  # type: ignore[index]
        molecule.AddAtom(chem.Atom(int(label)))
    for v in range(first, last):
        for entry in range(batch.indptr[v], batch.indptr[v + 1]):
            w = int(batch.indices[entry])
            if v - first < w:
                name = _BOND_OF[int(batch.edge_labels[entry])]  # type: ignore[index]
                molecule.AddBond(int(v - first), w, getattr(chem.BondType, name))
    for bond in molecule.GetBonds():
        if bond.GetBondType() == chem.BondType.AROMATIC:
            for part in (bond, bond.GetBeginAtom(), bond.GetEndAtom()):
                part.SetIsAromatic(True)
    molecule.UpdatePropertyCache(strict=False)
    chem.FastFindRings(molecule)
    return molecule
