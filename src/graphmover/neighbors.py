"""Exact nearest graphs, in the manner of `sklearn.neighbors.NearestNeighbors`."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.checks import require_integer
from graphmover.backends import backend_for
from graphmover.embedding import RandomGraphEmbedding
from graphmover.explanations.alignment import Alignment, aligned
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.graph import Graph
from graphmover.graphs.interop import as_graph_batch, graphs_to_transform
from graphmover.input_warnings import warn_about_empty_graphs
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.parameters import require_allowed
from graphmover.search.cascade import Limit, Neighbors
from graphmover.search.library import MOST_PIVOTS, Library
from graphmover.search.queries import neighbors_of_graphs, neighbors_within
from graphmover.transport.ground import Ground
from graphmover.views import automatic_views

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class NearestGraphs(TransformerMixin, BaseEstimator):
    """The nearest graphs by exact earth mover's distance.

    Bounds exclude most pairs of graphs, and the others are solved exactly: neighbours and
    distances are those of all pairs solved, ties broken by index (docs/search.md).

    Parameters
    ----------
    n_neighbors : int
        How many neighbours `kneighbors` returns.
    radius : float
        How far `radius_neighbors` looks.
    embedding : RandomGraphEmbedding, FrozenEstimator or None
        How nodes are embedded and compared; `fit` fits a clone of it, of which the first 64
        random graphs are pivots for bounds. To keep a model that is fitted already, wrap it in
        `sklearn.frozen.FrozenEstimator`. None: what suits the graphs. Where nodes have attributes,
        these, averaged over neighbourhoods, and labels; where they have labels, labels at all
        depths of Weisfeiler-Lehman refinement; otherwise, the paper's coordinates.
    device : {"cpu", "cuda", "auto"}
        Where distances are computed.
    n_jobs : int or None
        Threads; None is 1, -1 is all cores. Results do not depend on it.
    random_state : int, None, numpy.random.Generator or RandomState
        Seed of the random graphs, if the embedding has none of its own. Neighbours by the same
        ground distance do not depend on it.
    verbose : bool
        Show progress bars on standard error.

    Attributes
    ----------
    embedding_ : RandomGraphEmbedding
        The fitted embedding.
    nodes_ : NodeEmbeddings
        The embedded nodes of the graphs that are searched.
    ids_ : ndarray or None
        Their ids.
    n_samples_fit_ : int
        How many they are.
    ground_ : GroundDistance, TreeDistance or None
        The ground distance between nodes, as `earth_movers_distance` takes it.
    n_solved_, n_pairs_ : int
        Of how many pairs of graphs the last search solved the distance, and of how many there were.

    Examples
    --------
    >>> import graphmover as gm
    >>> graphs, families = gm.make_graph_families(60, random_state=0, return_X_y=True)
    >>> near = gm.NearestGraphs(n_neighbors=3).fit(graphs[:50])
    >>> distances, indices = near.kneighbors(graphs[50:])
    >>> indices.shape
    (10, 3)
    >>> bool((families[indices[:, 0]] == families[50:]).mean() > 0.8)
    True
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        radius: float = 1.0,
        embedding: Any = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.embedding = embedding
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the embedding, and keep the graphs to search them.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        y : ignored
        """
        from sklearn.frozen import FrozenEstimator

        self._check_parameters()
        batch = as_graph_batch(X)
        if isinstance(self.embedding, FrozenEstimator):
            self.embedding_ = _checked(self.embedding.estimator)
            check_is_fitted(self.embedding_)
            self._library = self._empty_library()
            nodes, pivots = self._embedded(batch)
        else:
            embedding = _default_embedding(batch) if self.embedding is None else self.embedding
            self.embedding_ = clone(_checked(embedding))
            settings = {"device": self.device, "n_jobs": self.n_jobs, "verbose": self.verbose}
            if self.embedding_.random_state is None:
                settings["random_state"] = self.random_state
            self.embedding_.set_params(**settings)
            distances, nodes = self.embedding_._fit_with_nodes(batch)
            pivots = distances[:, :MOST_PIVOTS].copy()
        self._library = Library(self.embedding_._to_random_graphs, nodes, pivots)
        self.ids_ = batch.ids
        self.n_samples_fit_ = len(batch)
        return self

    def add(self, X: Any) -> Self:
        """Add graphs to those that are searched; the embedding stays as it was fitted.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        """
        check_is_fitted(self)
        batch = graphs_to_transform(X)
        if not len(batch):
            return self
        self._library = self._library.with_more(*self._embedded(batch))
        self.ids_ = _joined_ids(self.ids_, self.n_samples_fit_, batch)
        self.n_samples_fit_ += len(batch)
        return self

    @property
    def nodes_(self) -> NodeEmbeddings:
        """The embedded nodes of the graphs that are searched."""
        check_is_fitted(self)
        return self._library.nodes

    @property
    def ground_(self) -> Ground | None:
        """The ground distance between nodes, as `earth_movers_distance` takes it."""
        check_is_fitted(self)
        return self._library.ground

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the nearest graphs.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes, or None
            None: the graphs of `fit` themselves, none of which is its own neighbour.
        n_neighbors : int or None
            None is that of the constructor.
        return_distance : bool

        Returns
        -------
        distances : ndarray of shape (len(X), n_neighbors), if ``return_distance``
            Increasing. A graph without nodes is infinitely far from every graph.
        indices : ndarray of shape (len(X), n_neighbors)
            Of equally near graphs, the one with the smaller index comes first.
        """
        check_is_fitted(self)
        wanted = self.n_neighbors if n_neighbors is None else n_neighbors
        require_integer("n_neighbors", wanted, least=1)
        self._require_enough(int(wanted), itself=X is None)
        found = self._found(X, Limit(int(wanted)))
        indices = np.array([one.indices for one in found], np.int64).reshape(len(found), wanted)
        if not return_distance:
            return indices
        return np.array([one.distances for one in found]).reshape(len(found), wanted), indices

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True
    ) -> Any:
        """Find all graphs within a distance.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes, or None
            As in `kneighbors`.
        radius : float or None
            None is that of the constructor.
        return_distance : bool

        Returns
        -------
        distances : ndarray of len(X) arrays, if ``return_distance``
        indices : ndarray of len(X) arrays
            Nearest first, ties by index.
        """
        check_is_fitted(self)
        found = self._found(X, Limit(None, _checked_radius(self.radius, radius)))
        indices = _array_of_arrays([one.indices for one in found])
        if not return_distance:
            return indices
        return _array_of_arrays([one.distances for one in found]), indices

    def kneighbors_graph(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
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
        return self._graph(distances.ravel(), indices.ravel(), offsets, mode)

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
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
        check_is_fitted(self)
        found = self._found(X, Limit(None, _checked_radius(self.radius, radius)))
        offsets = np.cumsum([0, *(len(one.indices) for one in found)])
        none = Neighbors(np.empty(0), np.empty(0, np.int64))
        distances = np.concatenate([one.distances for one in (*found, none)])
        indices = np.concatenate([one.indices for one in (*found, none)])
        return self._graph(distances, indices, offsets, mode)

    def transform(self, X: Any) -> csr_matrix:
        """Return distances to the nearest graphs, as `KNeighborsTransformer` does.

        The matrix suits estimators with ``metric="precomputed"``, such as `KNeighborsClassifier`,
        `TSNE` and UMAP.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        csr_matrix of shape (len(X), n_samples_fit_)
            With ``n_neighbors + 1`` distances in each row: a graph of `fit` is its own nearest.
        """
        check_is_fitted(self)
        return self.kneighbors_graph(X, self.n_neighbors + 1, mode="distance")

    def explain(self, graph: Any, index: int, graphs: Any = None) -> Alignment:
        """Explain the distance of a graph to one of those that are searched.

        Parameters
        ----------
        graph : a graph
            Anything `as_graph_batch` takes as one graph.
        index : int
            Among the graphs that are searched, as `kneighbors` returns it.
        graphs : GraphBatch or anything `as_graph_batch` takes, optional
            The graphs that are searched, for labels and pictures: only their nodes are kept here.

        Returns
        -------
        Alignment
        """
        check_is_fitted(self)
        require_integer("index", index, least=0)
        if index >= self.n_samples_fit_:
            raise IndexError(f"there is no graph {index} among {self.n_samples_fit_}")
        nodes = self.nodes_[int(index)]
        other = Graph(len(nodes.points), np.empty((0, 2), np.int64))
        if graphs is not None:
            batch = as_graph_batch(graphs)
            fits = len(batch) == self.n_samples_fit_
            if not fits or batch.node_counts[index] != len(nodes.points):
                raise ValueError("graphs are not those that are searched: their sizes differ")
            other = batch[int(index)]
        name = f"graph {index}" if self.ids_ is None else str(self.ids_[index])
        return aligned(self.embedding_._to_random_graphs, graph, nodes, other, name)

    def _graph(self, distances: Floats, indices: Ints, offsets: Ints, mode: str) -> csr_matrix:
        values = distances if mode == "distance" else np.ones(len(indices))
        return csr_matrix((values, indices, offsets), shape=(len(offsets) - 1, self.n_samples_fit_))

    def _found(self, X: Any, limit: Limit) -> list[Neighbors]:
        progress = "searching" if self.verbose else None
        settings: dict[str, Any] = {
            "device": self.device,
            "n_jobs": self.n_jobs,
            "progress": progress,
        }
        if X is None:
            found, solved = neighbors_within(self._library, limit, **settings)
        else:
            batch = graphs_to_transform(X)
            if len(batch):
                warn_about_empty_graphs(batch)
            found, solved = neighbors_of_graphs(self._library, batch, limit, **settings)
        self.n_solved_ = solved
        self.n_pairs_ = len(found) * (self.n_samples_fit_ - (X is None))
        return found

    def _embedded(self, batch: GraphBatch) -> tuple[NodeEmbeddings, Floats]:
        """Return the nodes of graphs, and their distances to the pivots."""
        library = self._library
        library.to_pivots.require_carried(batch)
        backend = backend_for(self.device, len(batch) * len(library.to_pivots.random_graphs))
        there = backend.nodes(batch, library.recipe, n_jobs=self.n_jobs)
        nodes = there.on_host(np.arange(len(batch)))
        return nodes, library.distances_to_pivots(backend, nodes, self.n_jobs)

    def _empty_library(self) -> Library:
        fitted = self.embedding_._to_random_graphs
        n_pivots = min(MOST_PIVOTS, len(fitted.random_graphs))
        return Library(fitted, fitted.random_graphs[:0], np.empty((0, n_pivots)))

    def _require_enough(self, n_neighbors: int, *, itself: bool) -> None:
        available = self.n_samples_fit_ - itself
        if n_neighbors > available:
            raise ValueError(
                f"Expected n_neighbors <= {'n_samples_fit - 1' if itself else 'n_samples_fit'}, "
                f"but n_neighbors = {n_neighbors}, n_samples_fit = {self.n_samples_fit_}: there "
                f"are not so many graphs"
            )

    def _check_parameters(self) -> None:
        require_integer("n_neighbors", self.n_neighbors, least=1)
        _checked_radius(self.radius, None)
        for name in ("device", "n_jobs", "verbose"):
            require_allowed(name, getattr(self, name))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


def _default_embedding(batch: GraphBatch) -> RandomGraphEmbedding:
    """Return the main view of what graphs carry; the paper's if that is nothing but edges."""
    if batch.node_labels is None and batch.node_attributes is None:
        return RandomGraphEmbedding(MOST_PIVOTS)
    embedding = automatic_views(batch, MOST_PIVOTS)[0].transformer
    assert isinstance(embedding, RandomGraphEmbedding)
    return embedding


def _checked(embedding: Any) -> RandomGraphEmbedding:
    if not isinstance(embedding, RandomGraphEmbedding):
        raise TypeError(
            f"embedding must be a RandomGraphEmbedding, a FrozenEstimator of one, or None, got "
            f"{type(embedding).__name__}"
        )
    if embedding.partial:
        raise ValueError(
            "embedding has partial=True, whose distances are no metric: nearest graphs need "
            "partial=False"
        )
    return embedding


def _checked_radius(default: float, radius: float | None) -> float:
    radius = default if radius is None else radius
    try:
        value = float(radius)
    except (TypeError, ValueError):
        value = np.nan
    if not value >= 0:
        raise ValueError(f"radius must be a number that is not negative, got {radius!r}")
    return value


def _require_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise ValueError(f'mode must be "connectivity" or "distance", got {mode!r}')


def _array_of_arrays(parts: list[NDArray[Any]]) -> NDArray[np.object_]:
    array = np.empty(len(parts), dtype=object)
    array[:] = parts
    return array


def _joined_ids(ids: Any, n_before: int, batch: GraphBatch) -> Any:
    """Return ids of both, None where there are none; integers if all are."""
    if ids is None and batch.ids is None:
        return None
    parts = [
        np.full(n, None, dtype=object) if part is None else part
        for part, n in ((ids, n_before), (batch.ids, len(batch)))
    ]
    if all(part.dtype.kind == "i" for part in parts):
        return np.concatenate(parts)
    return np.concatenate([part.astype(object) for part in parts])
