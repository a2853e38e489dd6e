"""Neighbours where the distance has a closed form: by an index of labels on the CPU."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphmover.backends import AnyBackend
from graphmover.backends.threads import PreparedTree
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.search.cascade import Limit, Neighbors, nearest_of
from graphmover.search.library import Library, histograms_of
from graphmover.transport.tree.search import candidates, workspace_for

Ints = NDArray[np.int64]


def neighbors_by_labels(
    library: Library,
    backend: AnyBackend,
    nodes: NodeEmbeddings,
    limit: Limit,
    excluded: Ints | None,
) -> tuple[list[Neighbors], int]:
    """Return the neighbours of some graphs, and how many distances were computed.

    Where the index excludes few graphs, all distances are computed; on a GPU, always.
    """
    graphs, _, lists = library.prepared_for(backend)
    themselves = np.full(len(nodes), -1) if excluded is None else excluded
    found: list[Neighbors | None] = [None] * len(nodes)
    n_solved = 0
    if lists is not None:
        assert isinstance(graphs, PreparedTree)
        workspace = workspace_for(lists)
        of_queries = histograms_of(nodes, graphs.labels)
        wanted = limit.n_neighbors or 0
        for number in np.flatnonzero(nodes.node_counts).tolist():
            some = candidates(
                of_queries,
                number,
                lists,
                wanted,
                limit.radius,
                int(themselves[number]),
                workspace,
            )
            if some is not None:
                found[number] = _sorted(*some, limit)
                n_solved += len(some[0])
    for number in [number for number, one in enumerate(found) if one is None]:
        row = np.empty((1, len(library)))
        backend.distances(backend.take(nodes[number]), graphs, None, row)
        kept = np.arange(len(library))
        kept = kept[kept != themselves[number]]
        found[number] = nearest_of(row[0, kept], kept, limit)
        n_solved += len(kept)
    return [one for one in found if one is not None], n_solved


def _sorted(indices: Ints, distances: NDArray[np.float64], limit: Limit) -> Neighbors:
    order = np.argsort(indices)
    return nearest_of(distances[order], indices[order], limit)
