"""Neighbours where the distance has a closed form: by an index of labels on the CPU."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphmover.backends import AnyBackend
from graphmover.backends.threads import PreparedTree
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.search.cascade import Limit, Neighbors
from graphmover.search.library import Library, histograms_of
from graphmover.search.selection import nearest_in_rows
from graphmover.transport.tree.search import nearest, workspace_for

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
    graphs, _, lists, _ = library.prepared_for(backend)
    themselves = np.full(len(nodes), -1) if excluded is None else excluded
    found: dict[int, Neighbors] = {}
    n_computed = 0
    if lists is not None:
        assert isinstance(graphs, PreparedTree)
        of_queries = histograms_of(nodes, graphs.labels)
        wanted, space = limit.n_neighbors or 0, workspace_for(lists)
        some = nearest(of_queries, lists, wanted, limit.radius, themselves, space)
        for number in np.flatnonzero(some.n_computed >= 0).tolist():
            part = slice(some.starts[number], some.starts[number + 1])
            found[number] = Neighbors(some.distances[part], some.indices[part])
            n_computed += int(some.n_computed[number])
    left = np.array([number for number in range(len(nodes)) if number not in found], np.int64)
    if len(left):
        rows = np.empty((len(left), len(library)))
        backend.distances(backend.take(nodes[left]), graphs, None, rows)
        found |= dict(
            zip(left.tolist(), nearest_in_rows(rows, limit, themselves[left]), strict=True)
        )
        n_computed += int((len(library) - (themselves[left] >= 0)).sum())
    return [found[number] for number in range(len(nodes))], n_computed
