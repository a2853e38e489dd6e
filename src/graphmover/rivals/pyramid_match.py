"""The pyramid match kernel, PM (Nikolentzos, Meladianos and Vazirgiannis 2017), in linear time."""

from __future__ import annotations

import numpy as np

from graphmover._utils.checks import require_integer
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.labels import label_codes
from graphmover.rivals.base import graph_of_node
from graphmover.rivals.counts import Entries, GraphCounts, mixed, occurrences
from graphmover.rivals.eigenvectors import eigenvector_points

#: Beyond this, cells are as small as rounding errors.
_MOST_LEVELS = 20


class PyramidMatch(GraphCounts):
    """How many nodes of two graphs match in ever smaller cells of the unit cube.

    A node's point is its row in the d eigenvectors of the adjacency matrix whose eigenvalues are
    largest in absolute value, in absolute values. At level l each axis has 2**l cells, and I(l) is
    the sum of ``min(a, b)`` over the cells of all axes, where a and b nodes fall into a cell. Nodes
    that match at level l, but not in the next finer one, count ``2**(l - levels)``:
    ``I(levels) + sum_l 2**(l - levels) (I(l) - I(l + 1))``. That is a weighted sum of histogram
    intersections, so it has columns as those of `WLOptimalAssignment`, and time is linear in the
    graphs.

    Parameters
    ----------
    levels : int
        The finest level, the paper's L; level 0 is the whole cube.
    n_dimensions : int
        The number of eigenvectors, d.
    use_node_labels : bool
        Whether only nodes with equal labels match. It need not be set for graphs without labels.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import PyramidMatch
    >>> path, triangle = gm.Graph(3, [(0, 1), (1, 2)]), gm.Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> PyramidMatch(levels=3, n_dimensions=2).kernel([path, triangle])
    array([[6., 5.],
           [5., 6.]])
    """

    def __init__(
        self, levels: int = 4, n_dimensions: int = 6, *, use_node_labels: bool = True
    ) -> None:
        self.levels = levels
        self.n_dimensions = n_dimensions
        self.use_node_labels = use_node_labels

    def _entries(self, batch: GraphBatch) -> Entries:
        require_integer("levels", self.levels, least=0, most=_MOST_LEVELS)
        points = eigenvector_points(batch, self.n_dimensions, scaled=False)
        graphs = np.repeat(graph_of_node(batch), self.n_dimensions)
        kinds = np.zeros((batch.n_nodes, 1), np.int64)
        if batch.node_labels is not None:
            kinds = label_codes(batch.node_labels)[:, np.newaxis]
        parts = []
        for level in range(self.levels + 1):
            # The upper end of an axis belongs to its last cell; rounding must not decide.
            cells = np.minimum((points * 2.0**level + 1e-9).astype(np.int64), 2**level - 1)
            codes = mixed(kinds, np.arange(self.n_dimensions), level, cells).ravel()
            numbered = mixed(codes, occurrences(graphs, codes))
            weight = _weight_of_level(level, self.levels)
            parts.append(Entries(graphs, numbered, np.full(len(codes), np.sqrt(weight))))
        return Entries(*map(np.concatenate, zip(*parts, strict=True)))


def _weight_of_level(level: int, levels: int) -> float:
    """Return what I(level) is multiplied by, of level and next coarser one together."""
    own = 2.0 ** (level - levels)
    return own if level == 0 else own / 2
