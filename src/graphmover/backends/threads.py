"""The CPU: chunks of graphs in threads."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from graphmover.backends.protocol import Backend, Chunking, Floats, Ints
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embed import embed_batch
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.nodes.masses import require_counts
from graphmover.nodes.recipe import NodeRecipe
from graphmover.transport.cpu import engine
from graphmover.transport.cpu.problem import Side, selected
from graphmover.transport.cpu.relaxed import relaxed_distances
from graphmover.transport.ground import Ground, GroundDistance, TreeDistance
from graphmover.transport.tree import cpu as tree
from graphmover.transport.tree.histograms import LabelIndex, histograms, index_labels

#: One thread works on about this many nodes, and pairs of nodes, at a time: enough to make
#: the cost of a chunk small, few enough for threads to share the work evenly.
_CHUNK_NODES = 4096
_CHUNK_PAIRS = 2**22

#: And, in the closed form for labels, on about this many nodes and pairs of graphs.
_CHUNK_LABELLED_NODES = 2**14
_CHUNK_PAIRS_OF_GRAPHS = 2**20

#: Chosen pairs of this many graphs are solved in one call: of more, the table would be sparse.
_ROWS_AT_A_TIME = 16


class Prepared(NamedTuple):
    """Random graphs, ready for the engine."""

    side: Side
    ground: GroundDistance | None


class PreparedTree(NamedTuple):
    """Random graphs, ready for the closed form."""

    labels: LabelIndex
    ground: TreeDistance


class ThreadBackend(Backend[NodeEmbeddings, Prepared | PreparedTree]):
    """Compiled kernels in threads."""

    name = "cpu"

    def nodes(
        self,
        batch: GraphBatch,
        recipe: NodeRecipe,
        *,
        n_jobs: int | None = None,
        progress: str | None = None,
        first_index: int = 0,
    ) -> NodeEmbeddings:
        """Algorithm 1, lines 1-2."""
        return embed_batch(batch, recipe, n_jobs=n_jobs, progress=progress, first_index=first_index)

    def take(self, nodes: NodeEmbeddings) -> NodeEmbeddings:
        """Return the nodes: they are here."""
        return nodes

    def prepare(
        self, random_graphs: NodeEmbeddings, ground: Ground | None = None
    ) -> Prepared | PreparedTree:
        """Merge equal nodes of the random graphs, or index their labels."""
        if isinstance(ground, TreeDistance):
            graphs = random_graphs
            index = index_labels(np, graphs.labels, graphs.masses, graphs.offsets)
            if ground.partial:
                require_counts(index.totals)
            return PreparedTree(index, ground)
        return Prepared(_side(random_graphs, ground), ground)

    def distances(
        self,
        nodes: NodeEmbeddings,
        prepared: Prepared | PreparedTree,
        finish: Callable[[Floats], object] | None,
        out: Floats,
    ) -> None:
        """Equation (1)."""
        if isinstance(prepared, PreparedTree):
            index, ground = prepared
            found = histograms(np, index, nodes.labels, nodes.masses, nodes.offsets)
            if ground.partial:
                require_counts(found.totals)
            tree.distances(found, index, ground.partial, out)
        else:
            side = _side(nodes, prepared.ground)
            engine.distances(side, prepared.side, out, prepared.ground)  # type: ignore[no-untyped-call]
        if finish is not None:
            finish(out)

    def bounds_of_pairs(
        self,
        x: Prepared | PreparedTree,
        y: Prepared | PreparedTree,
        rows: Ints,
        columns: Ints,
        most: Floats,
    ) -> Floats:
        """Bound distances from below by the relaxed problem."""
        assert isinstance(x, Prepared) and isinstance(y, Prepared)
        return relaxed_distances(x.side, y.side, rows, columns, y.ground, most)

    def distances_of_pairs(
        self,
        x: Prepared | PreparedTree,
        y: Prepared | PreparedTree,
        rows: Ints,
        columns: Ints,
    ) -> Floats:
        """Equation (1) for chosen pairs."""
        assert isinstance(x, Prepared) and isinstance(y, Prepared)
        out = np.full(len(rows), np.inf)
        left = np.flatnonzero((x.side.totals[rows] > 0) & (y.side.totals[columns] > 0))
        starts = np.flatnonzero(np.diff(rows[left], prepend=-1))[::_ROWS_AT_A_TIME]
        for start, stop in pairwise([*starts.tolist(), len(left)]):
            some = left[start:stop]
            out[some] = _chosen(x, y, rows[some], columns[some])
        return out

    def chunking(
        self, node_counts: Ints, prepared: Prepared | PreparedTree, n_jobs: int | None
    ) -> Chunking:
        """Cut graphs into chunks of few nodes, fewer if there are many random graphs."""
        if isinstance(prepared, PreparedTree):
            share = _CHUNK_LABELLED_NODES * prepared.labels.n_graphs // _CHUNK_PAIRS_OF_GRAPHS
            return Chunking(node_counts + share + 1, _CHUNK_LABELLED_NODES, n_jobs, limit_blas=True)
        most = min(_CHUNK_NODES, max(1, _CHUNK_PAIRS // max(1, len(prepared.side.points))))
        return Chunking(node_counts + 1, most, n_jobs, limit_blas=True)


def _chosen(x: Prepared, y: Prepared, rows: Ints, columns: Ints) -> Floats:
    """Return the distances of pairs: they are marked in a table of the graphs among them."""
    some_rows, row = np.unique(rows, return_inverse=True)
    some_columns, column = np.unique(columns, return_inverse=True)
    table = np.full((len(some_rows), len(some_columns)), np.inf)
    table[row, column] = np.nan
    here = selected(x.side, some_rows)  # type: ignore[no-untyped-call]
    there = selected(y.side, some_columns)  # type: ignore[no-untyped-call]
    engine.chosen_distances(here, there, table, y.ground)  # type: ignore[no-untyped-call]
    found: Floats = table[row, column]
    return found


def _side(nodes: NodeEmbeddings, ground: GroundDistance | None) -> Side:
    side: Side = engine.prepare(nodes.points, nodes.masses, nodes.offsets, nodes.labels)  # type: ignore[no-untyped-call]
    if ground is not None and ground.partial:
        require_counts(side.totals)
    return side
