"""The CPU: chunks of graphs in threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from graphmover.backends.protocol import Backend, Chunking, Floats, Ints
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embed import NodeRecipe, embed_batch
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.transport.cpu import engine
from graphmover.transport.cpu.problem import Side
from graphmover.transport.ground import GroundDistance

#: One thread works on about this many nodes, and pairs of nodes, at a time: enough to make
#: the cost of a chunk small, few enough for threads to share the work evenly.
_CHUNK_NODES = 4096
_CHUNK_PAIRS = 2**22


class Prepared(NamedTuple):
    """Random graphs, ready for the engine."""

    side: Side
    ground: GroundDistance | None


class ThreadBackend(Backend[NodeEmbeddings, Prepared]):
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
        self, random_graphs: NodeEmbeddings, ground: GroundDistance | None = None
    ) -> Prepared:
        """Merge equal nodes of the random graphs."""
        return Prepared(_side(random_graphs), ground)

    def distances(
        self,
        nodes: NodeEmbeddings,
        prepared: Prepared,
        finish: Callable[[Floats], object] | None,
        out: Floats,
    ) -> None:
        """Equation (1)."""
        engine.distances(_side(nodes), prepared.side, out, prepared.ground)  # type: ignore[no-untyped-call]
        if finish is not None:
            finish(out)

    def chunking(self, node_counts: Ints, prepared: Prepared, n_jobs: int | None) -> Chunking:
        """Cut graphs into chunks of few nodes, fewer if there are many random graphs."""
        most = min(_CHUNK_NODES, max(1, _CHUNK_PAIRS // max(1, len(prepared.side.points))))
        return Chunking(node_counts + 1, most, n_jobs, limit_blas=True)


def _side(nodes: NodeEmbeddings) -> Side:
    side: Side = engine.prepare(nodes.points, nodes.masses, nodes.offsets, nodes.labels)  # type: ignore[no-untyped-call]
    return side
