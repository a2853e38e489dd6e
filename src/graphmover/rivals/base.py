"""What rivals share: features of graphs, and kernels between them, as scikit-learn estimators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.segments import segment_numbers
from graphmover.frames import with_index
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.interop import as_graph_batch, graphs_to_transform
from graphmover.nodes.embed import NodeRecipe
from graphmover.nodes.labels import label_codes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class OfGraphs(BaseEstimator):
    """An estimator whose input is a collection of graphs, not a table."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


class GraphFeatures(TransformerMixin, OfGraphs, ABC):
    """Features that need no training: a subclass needs `_rows`."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the features; there is nothing else to learn.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        y : ignored
        """
        self.n_features_ = self._rows(as_graph_batch(X)[:1]).shape[1]
        return self

    def transform(self, X: Any) -> Floats:
        """Return a row per graph.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), n_features)
        """
        check_is_fitted(self)
        batch = graphs_to_transform(X)
        rows = self._rows(batch) if len(batch) else np.zeros((0, self.n_features_))
        framed: Floats = with_index(rows, batch, self)
        return framed

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns."""
        check_is_fitted(self)
        name = type(self).__name__.lower()
        return np.array([f"{name}{number}" for number in range(self.n_features_)], dtype=object)

    @abstractmethod
    def _rows(self, batch: GraphBatch) -> Floats:
        """Return the features of the graphs of a batch."""


class GraphKernel(TransformerMixin, OfGraphs, ABC):
    """A kernel as a transformer: columns are its values with the training graphs.

    A subclass needs `_prepared`, what graphs have to be turned into, and `_between`.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Prepare the training graphs.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        y : ignored
        """
        batch = as_graph_batch(X)
        self.n_features_ = len(batch)
        self._learn(batch)
        self.prepared_ = self._prepared(batch)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Return the kernel between the training graphs."""
        self.fit(X)
        return self._between(self.prepared_, self.prepared_)

    def transform(self, X: Any) -> Floats:
        """Return the kernel between graphs and the training graphs.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), number of training graphs)
        """
        check_is_fitted(self)
        batch = graphs_to_transform(X)
        if not len(batch):
            return np.zeros((0, self.n_features_))
        return self._between(self._prepared(batch), self.prepared_)

    def kernel(self, X: Any) -> Floats:
        """Return the symmetric kernel between all graphs; this estimator is not fitted.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), len(X))
        """
        matrix: Floats = clone(self).fit_transform(X)
        return matrix

    def _learn(self, batch: GraphBatch) -> None:
        """Learn what preparing graphs depends on; most kernels learn nothing."""

    @abstractmethod
    def _prepared(self, batch: GraphBatch) -> Any:
        """Return what the kernel takes in place of graphs."""

    @abstractmethod
    def _between(self, rows: Any, columns: Any) -> Floats:
        """Return the kernel between prepared graphs, which may be the same object twice."""


def graph_of_node(batch: GraphBatch) -> Ints:
    """Return the number of the graph that each node belongs to."""
    return segment_numbers(batch.offsets)


def neighbours(batch: GraphBatch) -> Ints:
    """Return ``indices``, numbered over all nodes of the batch."""
    edges = np.diff(batch.indptr[batch.offsets])
    flat: Ints = batch.indices + np.repeat(batch.offsets[:-1], edges)
    return flat


def adjacency(batch: GraphBatch) -> Any:
    """Return the adjacency matrix of all graphs, block by block, as a sparse array."""
    from scipy.sparse import csr_array

    n = batch.n_nodes
    return csr_array((batch.adjacency_weights, neighbours(batch), batch.indptr), shape=(n, n))


def graph_adjacency(batch: GraphBatch, number: int) -> Any:
    """Return the adjacency matrix of one graph as a sparse array."""
    from scipy.sparse import csr_array

    first, last = batch.offsets[number], batch.offsets[number + 1]
    rows = batch.indptr[first : last + 1]
    entries = slice(rows[0], rows[-1])
    data = batch.adjacency_weights[entries]
    return csr_array(
        (data, batch.indices[entries], rows - rows[0]), shape=(last - first, last - first)
    )


def node_codes(batch: GraphBatch) -> Ints:
    """Return codes of node labels, or of degrees where graphs have no labels."""
    if batch.node_labels is None:
        return np.diff(batch.indptr)
    return label_codes(batch.node_labels)


def carried_recipe(batch: GraphBatch) -> NodeRecipe:
    """Return node features of equal mass: attributes and labels, or without both the degree.

    Attributes have mean 0 and standard deviation 1 over these graphs; labels are columns of 0 and
    1.
    """
    carried = ["attributes"] if batch.node_attributes is not None else []
    carried += ["labels"] if batch.node_labels is not None else []
    recipe = NodeRecipe(1, carried or "degree", "equal", use_node_labels=False)
    return recipe.fitted_to(batch)
