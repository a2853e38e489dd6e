"""What all estimators of graphs share: scikit-learn's manners, where the input is no table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.progress import Progress
from graphmover.graphs.arrow import ID
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.interop import as_graph_batch, graphs_to_transform
from graphmover.io.estimator_files import FilesMixin
from graphmover.nodes.input_warnings import UnknownLabels, warn_about_empty_graphs

Floats = NDArray[np.float64]


class GraphEstimator(BaseEstimator):
    """An estimator whose input is a collection of graphs."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


class EmbeddingEstimator(FilesMixin, TransformerMixin, GraphEstimator):
    """A transformer that learns from training graphs, and can be saved.

    Beside what `FilesMixin` needs, a subclass has ``fit``, `_fit_transform` and
    ``get_feature_names_out``.
    """

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit and return the vectors of the training graphs, computing their distances once.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        y : ignored

        Returns
        -------
        ndarray of shape (len(X), number of columns)
        """
        batch = as_graph_batch(X)
        rows: Floats = with_index(self._fit_transform(batch), batch, self)
        return rows

    def transform(self, X: Any) -> Floats:
        """Return the vectors of graphs, seen or unseen.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), number of columns)
            A graph without nodes gets a row of zeros. After ``set_output(transform="pandas")``,
            ids are the index.
        """
        check_is_fitted(self)
        batch = graphs_to_transform(X)
        rows: Floats = with_index(self._rows(batch, self._features_of_batch), batch, self)
        return rows

    @abstractmethod
    def _fit_transform(self, batch: GraphBatch) -> Floats:
        """Return the vectors of the training graphs."""

    def _rows(
        self, batch: GraphBatch, compute: Callable[[GraphBatch, UnknownLabels, Progress], Floats]
    ) -> Floats:
        """Return what a method for many batches computes for one, with its warnings."""
        if not len(batch):
            return np.empty((0, len(self.get_feature_names_out())))
        warn_about_empty_graphs(batch)
        unknown = self._unknown_labels()
        rows = compute(batch, unknown, self._progress("embedding graphs"))
        unknown.warn()
        return rows

    def _progress(self, title: str) -> str | None:
        return title if self.verbose else None


def with_index(rows: NDArray[np.float64], batch: GraphBatch, estimator: object) -> Any:
    """Return rows as they are, or as ``set_output(transform="pandas")`` of an estimator wants.

    scikit-learn names the columns, but takes an index only from data frames, which graphs are not.
    """
    if batch.ids is None or _get_output_config("transform", estimator)["dense"] != "pandas":
        return rows
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "set_output(transform=\"pandas\") needs pandas: pip install 'graphmover[pandas]'"
        ) from None
    return pd.DataFrame(rows, index=pd.Index(batch.ids, name=ID), copy=False)
