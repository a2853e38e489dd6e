"""Where nodes are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.drawing.molecules import atom_positions, molecule_of_graph
from graphmover.graphs.graph import Graph

Floats = NDArray[np.float64]

#: Larger graphs get the faster of the two layouts.
_KAMADA_KAWAI_NODES = 150


def node_positions(graph: Graph, *, molecules: bool | None = None) -> Floats:
    """Return where nodes are drawn, in a square from -1 to 1; the same every time.

    Molecules as RDKit lays them out; else by Kamada and Kawai (1989), and large graphs by
    Fruchterman and Reingold (1991), of igraph.
    """
    molecule = molecule_of_graph(graph, molecules)
    if molecule is not None:
        return _in_square(atom_positions(molecule))
    return _in_square(_laid_out(graph))


def _laid_out(graph: Graph) -> Floats:
    n_nodes = graph.n_nodes
    angles = 2 * np.pi * np.arange(n_nodes) / max(1, n_nodes)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    if n_nodes <= 2 or not graph.n_edges:
        return circle
    drawn: Any = _igraph().Graph(n_nodes, graph.edges.tolist())
    if n_nodes <= _KAMADA_KAWAI_NODES:
        return np.array(drawn.layout_kamada_kawai(seed=circle.tolist()).coords)
    return np.array(drawn.layout_fruchterman_reingold(seed=circle.tolist(), grid=False).coords)


def _igraph() -> Any:
    try:
        import igraph
    except ImportError:
        raise ImportError("drawings need igraph: pip install 'graphmover[figures]'") from None
    return igraph


def _in_square(positions: Floats) -> Floats:
    """Centre, and scale the longer side to that of the square."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    extent = float((high - low).max())
    centred: Floats = positions - (low + high) / 2
    return centred * (2 / extent) if extent > 0 else centred
