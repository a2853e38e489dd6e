"""Graphs that are molecules, as RDKit draws them.

A batch keeps atoms as node labels and orders of bonds as edge labels (`graphs/molecules.py`), or
has them from elsewhere as symbols such as "C". Charges, stereochemistry and explicit hydrogens are
not kept, and not drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.graph import Graph

#: RDKit's names of bonds by the label of an edge; 0 is any other kind.
_BONDS = {0: "ZERO", 1: "SINGLE", 2: "DOUBLE", 3: "TRIPLE", 4: "AROMATIC", 5: "QUADRUPLE"}
_AROMATIC = 4
_CARBON = 6

#: Graphs of integers are taken for molecules if at least this share of the atoms is carbon.
_LEAST_CARBON = 0.3


def molecule_of_graph(graph: Graph, wanted: bool | None = None) -> Any:
    """Return a molecule of RDKit for drawing, or None if this is not one.

    Parameters
    ----------
    graph : Graph
    wanted : bool or None
        None: if RDKit is installed, nodes are elements, edges are bonds, and no carbon has more
        than four. True: an error says what is missing.
    """
    if wanted is False:
        return None
    try:
        from rdkit import Chem
    except ImportError:
        if wanted:
            raise ImportError(
                "drawings of molecules need RDKit: pip install 'graphmover[smiles]'"
            ) from None
        return None
    atoms, orders = _atomic_numbers(graph, Chem), _orders(graph)
    if atoms is None or orders is None or not graph.n_nodes:
        if wanted:
            raise ValueError(
                "the graph is not a molecule: expected node labels that are elements, such as 6 or "
                '"C", and edge labels that are bond orders, 1 to 3, or 4 if aromatic'
            )
        return None
    if wanted is None and not _is_plausible(graph, atoms, orders):
        return None
    molecule = Chem.RWMol()
    for number in atoms:
        molecule.AddAtom(Chem.Atom(number))
    for (u, v), order in zip(graph.edges.tolist(), orders, strict=True):
        molecule.AddBond(u, v, getattr(Chem.BondType, _BONDS[order]))
        if order == _AROMATIC:
            for atom in (u, v):
                molecule.GetAtomWithIdx(atom).SetIsAromatic(True)
            molecule.GetBondBetweenAtoms(u, v).SetIsAromatic(True)
    finished = molecule.GetMol()
    finished.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(finished)
    return finished


def are_molecules(graphs: Iterable[Graph], wanted: bool | None = None) -> list[bool]:
    """Return which graphs are drawn as molecules.

    With ``wanted=None``, and if at least half of them look like molecules, so are the others that
    can be: water has no carbon.
    """
    every = list(graphs)
    found = [molecule_of_graph(graph, wanted) is not None for graph in every]
    if wanted is None and any(found) and 2 * sum(found) >= len(every):
        found = [known or _can_be_one(graph) for known, graph in zip(found, every, strict=True)]
    return found


def atom_positions(molecule: Any) -> NDArray[np.float64]:
    """Return the coordinates of the atoms in RDKit's drawing of a molecule."""
    from rdkit import rdBase
    from rdkit.Chem import rdDepictor

    with rdBase.BlockLogs():
        rdDepictor.Compute2DCoords(molecule)
    positions: NDArray[np.float64] = molecule.GetConformer().GetPositions()[:, :2]
    return positions


def picture(molecule: Any, colours: dict[int, list[tuple[float, ...]]], size: int) -> Any:
    """Return RDKit's drawing as an array of pixels, with atoms in circles of some colours."""
    import io

    from matplotlib.image import imread
    from rdkit import rdBase
    from rdkit.Chem.Draw import rdMolDraw2D

    drawer = rdMolDraw2D.MolDraw2DCairo(size, size)
    options: Any = drawer.drawOptions()
    options.fillHighlights = True
    options.prepareMolsBeforeDrawing = False
    options.useBWAtomPalette()
    with rdBase.BlockLogs():
        try:
            prepared = rdMolDraw2D.PrepareMolForDrawing(molecule, kekulize=True, addChiralHs=False)
        except ValueError:  # charges are not kept: some rings have no Kekule structure without
            prepared = rdMolDraw2D.PrepareMolForDrawing(molecule, kekulize=False, addChiralHs=False)
        prepared.UpdatePropertyCache(strict=False)
        drawer.DrawMoleculeWithHighlights(prepared, "", colours, {}, {}, {})
    drawer.FinishDrawing()
    return imread(io.BytesIO(drawer.GetDrawingText()), format="png")


def _atomic_numbers(graph: Graph, chem: Any) -> list[int] | None:
    if graph.node_labels is None:
        return None
    symbols, numbers = _symbols(chem.GetPeriodicTable()), []
    for label in graph.node_labels.tolist():
        number = symbols.get(label) if isinstance(label, str) else label
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= 118:
            return None
        numbers.append(number)
    return numbers


@cache
def _symbols(table: Any) -> dict[str, int]:
    return {table.GetElementSymbol(number): number for number in range(1, 119)}


def _orders(graph: Graph) -> list[int] | None:
    if not graph.n_edges:
        return []
    if graph.edge_labels is None:
        return None
    orders = graph.edge_labels.tolist()
    known = all(isinstance(order, int) and order in _BONDS for order in orders)
    return orders if known else None


def _is_plausible(graph: Graph, atoms: list[int], orders: list[int]) -> bool:
    """Tell atoms from other integers: carbon is common, and has no more than four bonds."""
    carbon = np.array(atoms) == _CARBON
    valences = np.zeros(len(atoms))
    # An aromatic bond counts 1: a ring of caffeine has a carbon with two of them and a double bond.
    strength = np.array([1 if order == _AROMATIC else order for order in orders])
    for end in graph.edges.T:
        np.add.at(valences, end, strength)
    return bool(carbon.mean() >= _LEAST_CARBON and (valences[carbon] <= 4).all())


def _can_be_one(graph: Graph) -> bool:
    from rdkit import Chem

    is_one = _atomic_numbers(graph, Chem) is not None and _orders(graph) is not None
    return is_one and graph.n_nodes > 0
