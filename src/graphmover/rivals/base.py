"""What rivals share: features of graphs, and kernels between them, as scikit-learn estimators."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.segments import segment_numbers
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.estimators import GraphTransformer
from graphmover.graphs.interop import as_graph_batch
from graphmover.nodes.labels import label_codes
from graphmover.nodes.recipe import NodeRecipe

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class GraphMethod(GraphTransformer):
    """A method of others: a subclass needs `_learn`, which sets ``n_features_``, and `_rows`.

    Both see node labels only if the method uses them and the training graphs have them.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what rows depend on from the training graphs.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        y : array-like, optional
            Classes or values, which few methods use.
        """
        self._learn(self._training_graphs(as_graph_batch(X)), y)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns."""
        check_is_fitted(self)
        name = type(self).__name__.lower()
        return np.array([f"{name}{number}" for number in range(self.n_features_)], dtype=object)

    n_features_: int

    @abstractmethod
    def _learn(self, batch: GraphBatch, y: Any) -> None:
        """Learn from the training graphs, and set ``n_features_``."""

    @abstractmethod
    def _rows(self, batch: GraphBatch) -> Any:
        """Return the rows of the graphs of a batch, at least one."""

    def _learn_rows(self, batch: GraphBatch, y: Any) -> Any:
        """Learn, and return the rows of the training graphs."""
        self._learn(batch, y)
        return self._rows(batch)

    def _reads_node_labels(self, batch: GraphBatch) -> bool:
        """Tell whether rows depend on node labels, if the training graphs have them."""
        return bool(getattr(self, "use_node_labels", True))

    def _fit_transform(self, batch: GraphBatch, y: Any = None) -> Any:
        return self._learn_rows(self._training_graphs(batch), y)

    def _transform(self, batch: GraphBatch) -> Any:
        seen = self._seen(batch)
        return self._rows(seen) if len(seen) else np.zeros((0, self.n_features_))

    def _training_graphs(self, batch: GraphBatch) -> GraphBatch:
        self.uses_node_labels_ = self._reads_node_labels(batch) and batch.node_labels is not None
        return self._seen(batch)

    def _seen(self, batch: GraphBatch) -> GraphBatch:
        """Return graphs with node labels if those in `fit` had them, and otherwise without."""
        if self.uses_node_labels_ and batch.node_labels is None and batch.n_nodes:
            raise ValueError("not all graphs have node labels, but those in fit had them")
        return batch if self.uses_node_labels_ else without_node_labels(batch)


class GraphFeatures(GraphMethod):
    """Features that need no training: a subclass needs `_rows`."""

    def _learn(self, batch: GraphBatch, y: Any) -> None:
        self.n_features_ = self._rows(batch[:1]).shape[1]


class KernelTransformer(GraphMethod):
    """A kernel as a transformer: columns are its values with the training graphs."""

    def kernel(self, X: Any) -> Floats:
        """Return the symmetric kernel between all graphs; this estimator is not fitted.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), len(X))
        """
        own: KernelTransformer = clone(self)
        return own._kernel(own._training_graphs(as_graph_batch(X)))

    def _kernel(self, batch: GraphBatch) -> Floats:
        return np.asarray(self._learn_rows(batch, None), np.float64)


class GraphKernel(KernelTransformer):
    """A kernel that compares any two graphs by itself.

    A subclass needs `_prepared`, what graphs have to be turned into, and `_between`.
    """

    def _learn_rows(self, batch: GraphBatch, y: Any) -> Floats:
        self._learn(batch, y)
        return self._between(self.prepared_, self.prepared_)  # each pair computed once

    def _learn(self, batch: GraphBatch, y: Any) -> None:
        self.n_features_ = len(batch)
        self._learn_preparation(batch)
        self.prepared_ = self._prepared(batch)

    def _rows(self, batch: GraphBatch) -> Floats:
        return self._between(self._prepared(batch), self.prepared_)

    def _learn_preparation(self, batch: GraphBatch) -> None:
        """Learn what preparing graphs depends on; most kernels learn nothing."""

    @abstractmethod
    def _prepared(self, batch: GraphBatch) -> Any:
        """Return what the kernel takes in place of graphs."""

    @abstractmethod
    def _between(self, rows: Any, columns: Any) -> Floats:
        """Return the kernel between prepared graphs, which may be the same object twice."""


def without_node_labels(batch: GraphBatch) -> GraphBatch:
    """Return the same graphs without their node labels."""
    if batch.node_labels is None:
        return batch
    return GraphBatch(
        batch.offsets,
        batch.indptr,
        batch.indices,
        batch.edge_weights,
        None,
        batch.node_attributes,
        batch.edge_labels,
        batch.edge_attributes,
        batch.ids,
    )


def graph_of_node(batch: GraphBatch) -> Ints:
    """Return the number of the graph that each node belongs to."""
    return segment_numbers(batch.offsets)


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
