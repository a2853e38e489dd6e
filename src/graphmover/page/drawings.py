"""Drawings of many graphs as flat arrays, for a script to draw."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.progress import Bar
from graphmover._utils.segments import offsets_from_counts
from graphmover.drawing.layout import node_positions
from graphmover.drawing.molecules import are_molecules, molecule_of_graph
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.graph import Graph
from graphmover.page.packed import smallest_unsigned

#: Larger graphs are not drawn: nobody could see their nodes.
MOST_NODES = 200

#: All drawings together have at most this many nodes and edges: about 12 MB in a page.
_MOST_PARTS = 2_400_000

#: Positions are multiples of 1 / 255 of a square.
_STEPS = 255

#: The names of more labels are not kept.
_MOST_LABELS = 2_000


class Drawings(NamedTuple):
    """Where the nodes of graphs are drawn, how they are joined, and what is written in them."""

    node_offsets: NDArray[Any]  # (graphs + 1,) graphs that are not drawn have no nodes
    positions: NDArray[Any]  # (nodes, 2) 0 to 255
    labels: NDArray[Any]  # (nodes,) numbers of label names, from 1; 0: none
    edge_offsets: NDArray[Any]  # (graphs + 1,)
    edges: NDArray[Any]  # (edges, 2) nodes within their graph
    orders: NDArray[Any]  # (edges,) lines between two nodes: 1 to 3, or 4 if aromatic
    label_names: list[str]

    @property
    def is_drawn(self) -> NDArray[np.bool_]:
        """Whether each graph is drawn."""
        return np.diff(self.node_offsets) > 0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays in small types, by name."""
        names = self._fields[:-1]
        values = zip(names, self[:-1], strict=True)
        return {name: smallest_unsigned(array) for name, array in values}


def drawings_of(batch: GraphBatch, bar: Bar) -> Drawings:
    """Draw graphs, the small ones first, as far as there is room."""
    sizes = batch.node_counts + batch.edge_counts
    drawable = (batch.node_counts > 0) & (batch.node_counts <= MOST_NODES)
    order = np.argsort(np.where(drawable, sizes, np.iinfo(np.int64).max), kind="stable")
    fits = np.cumsum(np.where(drawable[order], sizes[order], 0)) <= _MOST_PARTS
    chosen = np.zeros(len(batch), bool)
    chosen[order[fits]] = True
    chosen &= drawable
    names: dict[str, int] = {}
    parts: list[tuple[Any, ...]] = []
    counts = np.zeros((2, len(batch)), np.int64)
    places = np.flatnonzero(chosen).tolist()
    are_drawn = are_molecules(batch[index] for index in places)
    for index, is_one in zip(places, are_drawn, strict=True):
        graph = batch[index]
        molecule = molecule_of_graph(graph, is_one)
        positions = node_positions(graph, molecules=is_one)
        codes = _codes(_texts(graph, molecule), names)
        parts.append((positions, codes, graph.edges, _orders(graph, molecule)))
        counts[:, index] = graph.n_nodes, graph.n_edges
        bar.advance()
    positions = np.concatenate([np.zeros((0, 2)), *(part[0] for part in parts)])
    none = np.zeros(0, np.int64)
    return Drawings(
        offsets_from_counts(counts[0]),
        np.rint((positions + 1) / 2 * _STEPS).astype(np.int64),
        np.concatenate([none, *(part[1] for part in parts)]),
        offsets_from_counts(counts[1]),
        np.concatenate([np.zeros((0, 2), np.int64), *(part[2] for part in parts)]),
        np.concatenate([none, *(part[3] for part in parts)]),
        ["", *names],
    )


def _texts(graph: Graph, molecule: Any) -> list[str]:
    if molecule is not None:
        return [atom.GetSymbol() for atom in molecule.GetAtoms()]
    labels = graph.node_labels
    return [""] * graph.n_nodes if labels is None else [str(label) for label in labels.tolist()]


def _codes(texts: list[str], names: dict[str, int]) -> Any:
    """Return the numbers of labels; new ones are added to ``names`` while there is room."""
    codes = []
    for text in texts:
        short = text[:12]
        if short and short not in names and len(names) < _MOST_LABELS:
            names[short] = len(names) + 1
        codes.append(names.get(short, 0))
    return np.array(codes, np.int64)


def _orders(graph: Graph, molecule: Any) -> Any:
    if molecule is None or graph.edge_labels is None:
        return np.ones(graph.n_edges, np.int64)
    return np.clip(graph.edge_labels.astype(np.int64), 1, 4)
