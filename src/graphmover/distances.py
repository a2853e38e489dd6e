"""The two halves of `RandomGraphEmbedding`: costly distances and cheap features.

As steps of a pipeline with ``memory``, they let a search over gamma and R compute distances only
once.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from graphmover._utils.checks import require_integer
from graphmover.embedding import RandomGraphEmbedding
from graphmover.features import bandwidth, features_in_place
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.estimators import GraphTransformer
from graphmover.graphs.interop import as_graph_batch
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.parameters import require_allowed

Floats = NDArray[np.float64]

#: What may change between `fit` and `transform`.
_AT_ANY_TIME = ("device", "n_jobs", "verbose")


def _parameters_of_the_embedding(init: Callable[..., None]) -> Callable[..., None]:
    """Give a constructor the signature of the embedding's, without gamma."""
    theirs = inspect.signature(RandomGraphEmbedding.__init__).parameters
    own = [parameter for name, parameter in theirs.items() if name != "gamma"]
    init.__signature__ = inspect.Signature(own, return_annotation=None)  # type: ignore[attr-defined]
    return init


class RandomGraphDistances(ClassNamePrefixFeaturesOutMixin, GraphTransformer):
    """The exact earth mover's distances of graphs to random graphs, as a transformer.

    A pipeline of this and `DistanceFeatures` gives the same result as `RandomGraphEmbedding`, bit
    for bit. If the pipeline has ``memory``, a search over the ``gamma`` and ``n_components`` of
    `DistanceFeatures` computes the distances of each training set once. Graphs without nodes are
    infinitely far from all random graphs.

    Parameters
    ----------
    n_components : int
        Number of random graphs, the paper's R.
    **parameters
        All other parameters of `RandomGraphEmbedding` except ``gamma``. Set ``random_state`` to an
        integer if distances are cached.

    Attributes
    ----------
    random_graphs_ : NodeEmbeddings
        The R random graphs.

    Examples
    --------
    >>> import graphmover as gm
    >>> from sklearn.pipeline import make_pipeline
    >>> graphs, families = gm.make_graph_families(60, random_state=0, return_X_y=True)
    >>> distances = gm.RandomGraphDistances(n_components=32, random_state=0)
    >>> Z = make_pipeline(distances, gm.DistanceFeatures()).fit_transform(graphs)
    >>> embedding = gm.RandomGraphEmbedding(n_components=32, random_state=0)
    >>> bool((Z == embedding.fit_transform(graphs)).all())
    True
    """

    random_graphs_: NodeEmbeddings

    @_parameters_of_the_embedding
    def __init__(self, *values: Any, **named: Any) -> None:
        given = inspect.signature(type(self).__init__).bind(self, *values, **named)
        given.apply_defaults()
        for name, value in given.arguments.items():
            if name != "self":
                setattr(self, name, value)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the random graphs.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
            The training graphs.
        y : ignored
        """
        self._fit(as_graph_batch(X), want_distances=False)
        return self

    def _fit_transform(self, batch: GraphBatch, y: Any = None) -> Floats:
        return self._fit(batch, want_distances=True)

    def _transform(self, batch: GraphBatch) -> Floats:
        embedding = copy.copy(self._embedding)
        embedding.set_params(**{name: getattr(self, name) for name in _AT_ANY_TIME})
        return embedding.distances(batch)

    def _fit(self, batch: GraphBatch, *, want_distances: bool) -> Floats:
        # Distances do not depend on gamma: any number spares the embedding a search for one.
        embedding = RandomGraphEmbedding(**self.get_params(deep=False), gamma=1.0)
        distances = embedding._fit(batch, want_distances=want_distances)
        self._embedding, self.random_graphs_ = embedding, embedding.random_graphs_
        return distances

    @property
    def _n_features_out(self) -> int:
        return len(self.random_graphs_)


class DistanceFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turn distances to random graphs into features, ``exp(-gamma * distances) / sqrt(R')``.

    Parameters
    ----------
    gamma : float or str
        The kernel's bandwidth; "scale" is 1 / (median of the training distances), or 1 if the
        median is 0 up to rounding, and "2*scale" is twice that.
    n_components : int or None
        R', the number of random graphs to use: the first columns of X. None uses all of them.

    Attributes
    ----------
    gamma_ : float
        The bandwidth in use.
    n_components_ : int
        The number of random graphs in use.

    Examples
    --------
    A search over gamma and R that computes the distances of each training set once:

    >>> import tempfile
    >>> import graphmover as gm
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import Pipeline
    >>> graphs, families = gm.make_graph_families(60, random_state=0, return_X_y=True)
    >>> grid = {"features__gamma": ["scale", 3.0, 10.0], "features__n_components": [16, 64]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     steps = [
    ...         ("distances", gm.RandomGraphDistances(64, random_state=0)),
    ...         ("features", gm.DistanceFeatures()),
    ...         ("classifier", RidgeClassifier(1e-3)),
    ...     ]
    ...     search = GridSearchCV(Pipeline(steps, memory=folder), grid, cv=3)
    ...     search.fit(graphs, families).best_params_["features__n_components"]
    64
    """

    def __init__(self, gamma: float | str = "scale", n_components: int | None = None) -> None:
        self.gamma = gamma
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> Self:
        """Set gamma, if it is a multiple of "scale", from the distances of the training graphs.

        Parameters
        ----------
        X : array-like of shape (n_graphs, R)
            Distances, such as those of `RandomGraphDistances`; infinite ones are allowed.
        y : ignored
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Set gamma, and return the features of the training graphs.

        Parameters
        ----------
        X : array-like of shape (n_graphs, R)
        y : ignored

        Returns
        -------
        ndarray of shape (n_graphs, ``n_components_``)
        """
        return features_in_place(self._fit(X), self.gamma_)

    def transform(self, X: Any) -> Floats:
        """Return the features of graphs with these distances.

        Parameters
        ----------
        X : array-like of shape (n_graphs, R)

        Returns
        -------
        ndarray of shape (n_graphs, ``n_components_``)
            A row of infinite distances becomes one of zeros.
        """
        check_is_fitted(self)
        return features_in_place(self._first_columns(X, reset=False), self.gamma_)

    def _fit(self, X: Any) -> Floats:
        require_allowed("gamma", self.gamma)
        if self.n_components is not None:
            require_integer("n_components", self.n_components, least=1)
        distances = self._first_columns(X, reset=True)
        if isinstance(self.gamma, str) and not np.isfinite(distances).any():
            raise ValueError(
                f"X has no finite distance, which gamma={self.gamma!r} needs: set gamma to a number"
            )
        self.gamma_ = bandwidth(self.gamma, distances)
        return distances

    def _first_columns(self, X: Any, *, reset: bool) -> Floats:
        """Return a copy of the first columns."""
        X = validate_data(
            self,
            X,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=1 if reset else 0,
        )
        if np.isnan(X).any():
            row, column = np.argwhere(np.isnan(X))[0]
            raise ValueError(f"X has NaN at [{row}, {column}], expected distances")
        if reset:
            width = X.shape[1] if self.n_components is None else self.n_components
            require_integer("n_components", width, least=1, most=X.shape[1])
            self.n_components_ = int(width)
        return np.array(X[:, : self.n_components_], order="C")

    @property
    def _n_features_out(self) -> int:
        return self.n_components_
