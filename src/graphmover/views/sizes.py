"""The sizes of graphs as features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from graphmover.graphs.estimators import GraphEstimator, with_index
from graphmover.graphs.interop import as_graph_batch, graphs_to_transform

Floats = NDArray[np.float64]


class GraphSizes(TransformerMixin, GraphEstimator):
    """The logarithms of the numbers of nodes and edges.

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

    def transform(self, X: Any) -> Floats:
        """Return a row per graph: log(1 + nodes), log(1 + edges).

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), 2)
        """
        batch = graphs_to_transform(X)
        sizes = np.log1p(np.stack([batch.node_counts, batch.edge_counts], axis=1))
        rows: Floats = with_index(sizes, batch, self, X)
        return rows

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns."""
        return np.array(["log_nodes", "log_edges"], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags
