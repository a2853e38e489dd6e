"""Neighbours as sparse matrices, for scikit-learn estimators that take precomputed distances."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.segments import offsets_from_counts
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.interop import as_graph_batch, graphs_to_transform

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mode = Literal["connectivity", "distance"]


class NeighborMatrices(TransformerMixin):
    """Mixin with `kneighbors_graph`, `radius_neighbors_graph` and `transform`."""

    n_neighbors: int
    n_samples_fit_: int

    @abstractmethod
    def _fit(self, batch: GraphBatch) -> None:
        """Fit to graphs."""

    @abstractmethod
    def kneighbors(self, X: Any = None, n_neighbors: int | None = None) -> Any:
        """Find the nearest graphs."""

    @abstractmethod
    def radius_neighbors(self, X: Any = None, radius: float | None = None) -> Any:
        """Find all graphs within a distance."""

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: Mode = "connectivity"
    ) -> csr_matrix:
        """Return the nearest graphs as a sparse matrix.

        Parameters
        ----------
        X, n_neighbors
            As in `kneighbors`.
        mode : {"connectivity", "distance"}
            What the entries are: ones, or distances.

        Returns
        -------
        csr_matrix of shape (len(X), n_samples_fit_)
        """
        _require_mode(mode)
        distances, indices = self.kneighbors(X, n_neighbors)
        offsets = np.arange(len(indices) + 1) * indices.shape[1]
        return self._matrix(distances.ravel(), indices.ravel(), offsets, mode)

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: Mode = "connectivity"
    ) -> csr_matrix:
        """Return all graphs within a distance as a sparse matrix.

        Parameters
        ----------
        X, radius
            As in `radius_neighbors`.
        mode : {"connectivity", "distance"}
            What the entries are: ones, or distances.

        Returns
        -------
        csr_matrix of shape (len(X), n_samples_fit_)
        """
        _require_mode(mode)
        distances, indices = self.radius_neighbors(X, radius)
        offsets = offsets_from_counts([len(row) for row in indices])
        values = np.concatenate([np.empty(0), *distances])
        return self._matrix(values, np.concatenate([[], *indices]).astype(np.int64), offsets, mode)

    def transform(self, X: Any) -> csr_matrix:
        """Return distances to the nearest graphs, as `KNeighborsTransformer` does.

        The matrix suits estimators with ``metric="precomputed"``, such as `KNeighborsClassifier`
        and `TSNE`.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        csr_matrix of shape (len(X), n_samples_fit_)
            With ``n_neighbors + 1`` distances in each row: a graph of `fit` is its own nearest.
        """
        check_is_fitted(self)
        return self._transformed(graphs_to_transform(X))

    def fit_transform(self, X: Any, y: Any = None) -> csr_matrix:
        """Fit, and return distances to the nearest graphs as `transform` does.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        y : ignored

        Returns
        -------
        csr_matrix of shape (len(X), len(X))
        """
        batch = as_graph_batch(X)
        self._fit(batch)
        return self._transformed(batch)

    def _transformed(self, batch: GraphBatch) -> csr_matrix:
        # Not wrapped for set_output, which has no use for sparse matrices.
        return NeighborMatrices.kneighbors_graph(self, batch, self.n_neighbors + 1, mode="distance")

    def _matrix(self, distances: Floats, indices: Ints, offsets: Ints, mode: str) -> csr_matrix:
        values = distances if mode == "distance" else np.ones(len(indices))
        return csr_matrix((values, indices, offsets), shape=(len(offsets) - 1, self.n_samples_fit_))


def _require_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise ValueError(f'mode must be "connectivity" or "distance", got {mode!r}')
