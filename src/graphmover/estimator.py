"""What `RandomGraphEmbedding` and `GraphVectorizer` share: fitted to graphs, applied, and saved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.progress import Progress
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.estimators import GraphTransformer
from graphmover.io.estimator_files import FilesMixin
from graphmover.nodes.input_warnings import UnknownLabels, warn_about_empty_graphs

Floats = NDArray[np.float64]


class EmbeddingEstimator(FilesMixin, GraphTransformer):
    """A transformer that learns from training graphs, and can be saved.

    A graph without nodes gets a row of zeros. A subclass needs what both base classes ask for.
    """

    def _transform(self, batch: GraphBatch) -> Floats:
        return self._rows(batch, self._features_of_batch)

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
