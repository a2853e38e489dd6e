"""What `RandomGraphEmbedding` and `GraphVectorizer` share: fitted to graphs, applied, and saved."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.progress import Progress
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.estimators import GraphEstimator, with_index
from graphmover.graphs.interop import as_graph_batch, graphs_to_transform
from graphmover.io.estimator_files import FilesMixin
from graphmover.nodes.input_warnings import UnknownLabels, warn_about_empty_graphs

Floats = NDArray[np.float64]


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
        rows: Floats = with_index(self._fit_transform(batch), batch, self, X)
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
        rows: Floats = with_index(self._rows(batch, self._features_of_batch), batch, self, X)
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
