"""What a back end does: the two steps from graphs to distances, and how work is cut for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embeddings import NodeEmbeddings, Nodes
from graphmover.nodes.recipe import NodeRecipe
from graphmover.transport.ground import Ground

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Embedded nodes, on the host or on the device.
NodesT = TypeVar("NodesT", bound=Nodes)
#: Random graphs, ready for a transport engine.
PreparedT = TypeVar("PreparedT")


class Chunking(NamedTuple):
    """How a collection is cut into pieces that are worked on one after another."""

    work: Ints  # of each graph
    most: int  # work of one chunk
    n_threads: int | None  # how many chunks are worked on at a time: None is 1, -1 all cores
    release: Callable[[], None] | None = None  # gives back memory after an error or Ctrl-C
    limit_blas: bool = False  # whether threads call BLAS, which must not start its own


class Backend(Protocol[NodesT, PreparedT]):
    """Where Algorithm 1 runs.

    All graphs are independent of each other: what comes out for one does not depend on the
    others in its batch, on the chunks, or on the number of threads.
    """

    name: str

    def nodes(
        self,
        batch: GraphBatch,
        recipe: NodeRecipe,
        *,
        n_jobs: int | None = None,
        progress: str | None = None,
        first_index: int = 0,
    ) -> NodesT:
        """Algorithm 1, lines 1-2; messages number graphs from ``first_index``."""

    def take(self, nodes: NodeEmbeddings) -> NodesT:
        """Bring nodes from the host to where distances are computed."""

    def prepare(self, random_graphs: NodeEmbeddings, ground: Ground | None = None) -> PreparedT:
        """Make random graphs ready for the engine: once, for any number of graphs.

        ``ground`` is the distance between two nodes; None is the paper's.
        """

    def distances(
        self,
        nodes: NodesT,
        prepared: PreparedT,
        finish: Callable[[Floats], object] | None,
        out: Floats,
    ) -> None:
        """Equation (1): fill ``out``, a row per graph, on the host.

        ``finish`` changes the distances in place before they leave the device. A graph without
        nodes is infinitely far from every random graph.
        """

    def bounds_of_pairs(
        self, x: PreparedT, y: PreparedT, rows: Ints, columns: Ints, most: Floats
    ) -> Floats:
        """Return lower bounds on the distances of graphs ``rows`` of x to graphs ``columns`` of y.

        A bound that exceeds ``most`` need not be the best. ``rows`` do not decrease. Both sides
        were prepared for the same ground distance, which is not a `TreeDistance`.
        """

    def distances_of_pairs(self, x: PreparedT, y: PreparedT, rows: Ints, columns: Ints) -> Floats:
        """Return the distances of pairs of graphs, given as in `bounds_of_pairs`."""

    def chunking(self, node_counts: Ints, prepared: PreparedT, n_jobs: int | None) -> Chunking:
        """Cut graphs into chunks."""
