"""The sizes of graphs as features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.estimators import GraphTransformer
from graphmover.graphs.interop import as_graph_batch

Floats = NDArray[np.float64]


class GraphSizes(GraphTransformer):
    """The logarithms of the numbers of nodes and edges, plus 1.

    Shares of nodes and edges do not tell a graph from two copies of it; these two columns do.

    Examples
    --------
    >>> import graphmover as gm
    >>> gm.GraphSizes().fit_transform([gm.Graph(3, [(0, 1), (1, 2)])]).round(3)
    array([[1.386, 1.099]])
    """

    def fit(self, X: Any, y: Any = None) -> GraphSizes:
        """Do nothing: there is nothing to learn.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        y : ignored
        """
        as_graph_batch(X)
        return self

    def _fit_transform(self, batch: GraphBatch, y: Any = None) -> Floats:
        return self._transform(batch)

    def _transform(self, batch: GraphBatch) -> Floats:
        """Return log(1 + nodes) and log(1 + edges) of each graph."""
        sizes: Floats = np.log1p(np.stack([batch.node_counts, batch.edge_counts], axis=1))
        return sizes

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns."""
        return np.array(["log_nodes", "log_edges"], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags
