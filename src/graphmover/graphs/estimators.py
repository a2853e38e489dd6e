"""What estimators of graphs share: scikit-learn's manners, where the input is no table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from graphmover.graphs.arrow import ID
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.interop import as_graph_batch, graphs_to_transform, is_edge_list


class GraphEstimator(BaseEstimator):
    """An estimator whose input is a collection of graphs."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


class GraphTransformer(TransformerMixin, GraphEstimator, ABC):
    """Graphs in, a row per graph out.

    A subclass needs ``fit``, `_fit_transform`, `_transform` and ``get_feature_names_out``.
    """

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the rows of the training graphs, computed only once.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        y : array-like, optional
            Classes or values, which few methods use.

        Returns
        -------
        ndarray of shape (len(X), number of columns)
            After ``set_output(transform="pandas")``, a data frame with ids as its index.
        """
        batch = as_graph_batch(X)
        return _with_index(self._fit_transform(batch, y), batch, self, X)

    def transform(self, X: Any) -> Any:
        """Return a row per graph, for graphs that were in the training set or not.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), number of columns)
            After ``set_output(transform="pandas")``, a data frame with ids as its index.
        """
        check_is_fitted(self)
        batch = graphs_to_transform(X)
        return _with_index(self._transform(batch), batch, self, X)

    @abstractmethod
    def _fit_transform(self, batch: GraphBatch, y: Any = None) -> Any:
        """Fit, and return the rows of the training graphs."""

    @abstractmethod
    def _transform(self, batch: GraphBatch) -> Any:
        """Return a row per graph, if there are any."""


def _with_index(rows: Any, batch: GraphBatch, estimator: object, graphs: Any) -> Any:
    """Return rows as they are, or as ``set_output(transform="pandas")`` of an estimator wants.

    scikit-learn names the columns, but takes an index only from data frames, which graphs are not:
    their ids are the index, unless the graphs were given as a column, which has its own.
    """
    wanted = _get_output_config("transform", estimator)["dense"]
    if batch.ids is None or wanted != "pandas" or not isinstance(rows, np.ndarray):
        return rows
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "set_output(transform=\"pandas\") needs pandas: pip install 'graphmover[pandas]'"
        ) from None
    index = pd.Index(batch.ids, name=ID)
    if hasattr(graphs, "iloc") and not is_edge_list(graphs):
        index = graphs.index
    return pd.DataFrame(rows, index=index, copy=False)
