"""Exact nearest graphs, in the manner of `sklearn.neighbors.NearestNeighbors`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.checks import require_integer, require_one_of
from graphmover._utils.progress import Progress
from graphmover.backends import backend_for
from graphmover.embedding import RandomGraphEmbedding
from graphmover.explanations.alignment import Alignment, aligned
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.columns import joined_ids
from graphmover.graphs.estimators import GraphEstimator
from graphmover.graphs.graph import Graph
from graphmover.graphs.interop import as_graph_batch, graphs_to_transform
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.nodes.input_warnings import (
    UnknownLabels,
    warn_about_empty_graphs,
    warn_about_large_pair,
    warn_about_unused,
)
from graphmover.parameters import require_allowed
from graphmover.search.cascade import Limit, Neighbors
from graphmover.search.embeddings import default_embedding, require_metric
from graphmover.search.files import SavedIndex
from graphmover.search.library import MOST_PIVOTS, Library
from graphmover.search.matrices import NeighborMatrices
from graphmover.search.queries import neighbors_of_graphs, neighbors_within
from graphmover.search.vectors import (
    N_VECTORS,
    array_of_arrays,
    fitted_index,
    measured_recall,
    neighbors_of_vectors,
)
from graphmover.transport.ground import Ground

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Where parameters of the default embedding are to be written.
_GIVEN_AS = "embedding=gm.RandomGraphEmbedding({})"


class NearestGraphs(NeighborMatrices, SavedIndex, GraphEstimator):
    """The nearest graphs by exact earth mover's distance.

    Bounds exclude most pairs of graphs, and the others are solved exactly: neighbours and
    distances are those of all pairs solved, ties broken by index (docs/search.md).

    Parameters
    ----------
    n_neighbors : int
        How many neighbours `kneighbors` returns.
    radius : float
        The largest distance of the graphs that `radius_neighbors` returns.
    embedding : RandomGraphEmbedding, FrozenEstimator or None
        How nodes are embedded and compared; `fit` fits a clone of it, of which the first 64
        random graphs are pivots for bounds. To use a model that is already fitted, wrap it in
        `sklearn.frozen.FrozenEstimator`. None chooses by what the graphs carry: attributes of
        nodes, averaged over neighbourhoods, and labels; without attributes, labels at all depths of
        Weisfeiler-Lehman refinement; without labels either, what edges carry, together with
        degrees and triangles if these are attributes; without anything, the paper's coordinates.
    exact : bool
        False finds neighbours by the Euclidean distance of vectors alone, with ``index``. This is
        faster, and `recall_` tells what share of the exact neighbours it finds.
    index : estimator or None
        With ``exact=False``: the estimator that finds neighbours of vectors, with the methods of
        `sklearn.neighbors.NearestNeighbors`, which is the default.
    device : {"cpu", "cuda", "auto"}
        Where distances are computed.
    n_jobs : int or None
        Number of threads; None means 1, -1 means all cores. Results do not depend on it.
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
        The number of graphs that are searched.
    ground_ : GroundDistance, TreeDistance or None
        The ground distance between nodes, as `earth_movers_distance` takes it.
    index_ : estimator
        With ``exact=False``: the index of vectors, of graphs that have nodes.
    recall_ : float
        With ``exact=False``: the share of the exact neighbours that are found, measured on up to
        100 of the graphs of `fit`.
    n_solved_, n_pairs_ : int
        For how many pairs of graphs the last search solved the exact distance, and how many pairs
        there were in all.

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
        exact: bool = True,
        index: Any = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.embedding = embedding
        self.exact = exact
        self.index = index
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the embedding, and store the graphs to be searched.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        y : ignored
        """
        self._fit(as_graph_batch(X))
        return self

    def _fit(self, batch: GraphBatch) -> None:
        from sklearn.frozen import FrozenEstimator

        self.check_parameters()
        if isinstance(self.embedding, FrozenEstimator):
            self.embedding_ = require_metric(self.embedding.estimator)
            check_is_fitted(self.embedding_)
            nodes, distances = self._embedded(batch)
        else:
            n_components = MOST_PIVOTS if self.exact else N_VECTORS
            embedding = self.embedding
            if embedding is None:
                embedding = default_embedding(batch, n_components)
            self.embedding_ = clone(require_metric(embedding))
            settings = {"device": self.device, "n_jobs": self.n_jobs, "verbose": self.verbose}
            if self.embedding_.random_state is None:
                settings["random_state"] = self.random_state
            self.embedding_.set_params(**settings)
            if self.embedding is None:
                warn_about_empty_graphs(batch)
                warn_about_unused(batch, self.embedding_.get_params(deep=False), given_as=_GIVEN_AS)
            distances, nodes = self.embedding_._fit_with_nodes(
                batch, warn=self.embedding is not None
            )
        pivots = distances[:, :MOST_PIVOTS].copy()
        library = Library(self.embedding_._to_random_graphs, nodes, pivots)
        vectors = None if self.exact else self.embedding_._features(distances)
        large = self._pair_to_tell(library)
        if large is not None:
            warn_about_large_pair(*large)
        self._restore(self.embedding_, library, batch.ids, vectors)

    def _restore(
        self,
        embedding: RandomGraphEmbedding,
        library: Library,
        ids: NDArray[Any] | None,
        vectors: Floats | None,
        recall: float | None = None,
    ) -> None:
        """Set what `fit` sets; the recall of vectors is measured if it is not known."""
        self._counts = _Counts()
        self.embedding_, self._library, self.ids_ = embedding, library, ids
        self.n_samples_fit_ = len(library)
        if vectors is not None:
            self._vectors = vectors
            is_empty = library.nodes.node_counts == 0
            self.index_ = fitted_index(self.index, vectors, is_empty, self.n_jobs)
            if recall is None:
                settings = {"device": self.device, "n_jobs": self.n_jobs}
                recall = measured_recall(
                    self.index_, vectors, library, self.n_neighbors, **settings
                )
            self.recall_ = recall

    def add(self, X: Any) -> Self:
        """Add graphs to those that are searched; the embedding stays as it was fitted.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        """
        check_is_fitted(self)
        batch = graphs_to_transform(X)
        if len(batch):
            warn_about_empty_graphs(batch)
            nodes, distances = self._embedded(batch)
            if not self._library.knows_labels_of(nodes):
                unknown = self._unknown_labels()
                unknown.count(len(batch), len(batch))
                unknown.warn()
            library = self._library.with_more(nodes, distances[:, :MOST_PIVOTS])
            large = self._pair_to_tell(library)
            if large is not None and large != self._pair_to_tell(self._library):
                warn_about_large_pair(*large)
            ids = joined_ids([self.ids_, batch.ids], [self.n_samples_fit_, len(batch)])
            vectors = recall = None
            if not self.exact:
                vectors = np.concatenate([self._vectors, self.embedding_._features(distances)])
                recall = self.recall_
            self._restore(self.embedding_, library, ids, vectors, recall)
        return self

    def _pair_to_tell(self, library: Library) -> tuple[int, int, int] | None:
        """Return what there is to warn of if the CPU solves the pairs that are searched."""
        return library.large_pair() if self.exact and self.device != "cuda" else None

    @property
    def nodes_(self) -> NodeEmbeddings:
        """The embedded nodes of the graphs that are searched."""
        check_is_fitted(self)
        return self._library.nodes

    @property
    def n_solved_(self) -> int:
        """For how many pairs of graphs the last search solved the exact distance."""
        check_is_fitted(self)
        return self._counts.solved

    @property
    def n_pairs_(self) -> int:
        """How many pairs of graphs there were in the last search."""
        check_is_fitted(self)
        return self._counts.pairs

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
            None uses the value given to the constructor.
        return_distance : bool

        Returns
        -------
        distances : ndarray of shape (len(X), n_neighbors), if ``return_distance``
            Increasing. A graph without nodes is infinitely far from every graph.
        indices : ndarray of shape (len(X), n_neighbors)
            Of equally near graphs, the one with the smaller index comes first. Distances that
            differ by rounding alone count as equal (docs/search.md).
        """
        check_is_fitted(self)
        wanted = self.n_neighbors if n_neighbors is None else n_neighbors
        require_integer("n_neighbors", wanted, least=1)
        self._require_enough(int(wanted), itself=X is None)
        if self.exact:
            distances, indices = self._kneighbors(_queries(X), int(wanted))
        else:
            distances, indices = self._by_vectors(X, Limit(int(wanted)))
        return (distances, indices) if return_distance else indices

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True
    ) -> Any:
        """Find all graphs within a distance.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes, or None
            As in `kneighbors`.
        radius : float or None
            None uses the value given to the constructor.
        return_distance : bool

        Returns
        -------
        distances : ndarray of len(X) arrays, if ``return_distance``
        indices : ndarray of len(X) arrays
            Nearest first, ties by index.
        """
        check_is_fitted(self)
        radius = _checked_radius(self.radius, radius)
        if self.exact:
            found = self._found(_queries(X), Limit(None, radius))
            distances = array_of_arrays([one.distances for one in found])
            indices = array_of_arrays([one.indices for one in found])
        else:
            distances, indices = self._by_vectors(X, Limit(None, radius))
        return (distances, indices) if return_distance else indices

    def explain(self, graph: Any, index: int, graphs: Any = None) -> Alignment:
        """Explain the distance between a graph and one of those that are searched.

        Parameters
        ----------
        graph : a graph
            Anything `as_graph_batch` takes as one graph.
        index : int
            Among the graphs that are searched, as `kneighbors` returns it.
        graphs : GraphBatch or anything `as_graph_batch` takes, optional
            The graphs that are searched, for labels and pictures: the index stores only their
            embedded nodes.

        Returns
        -------
        Alignment
        """
        check_is_fitted(self)
        require_one_of("graph", index, self.n_samples_fit_)
        nodes = self.nodes_[int(index)]
        other = Graph(len(nodes.points), np.empty((0, 2), np.int64))
        if graphs is not None:
            batch = as_graph_batch(graphs)
            fits = len(batch) == self.n_samples_fit_
            if not fits or batch.node_counts[index] != len(nodes.points):
                raise ValueError("these are not the graphs that were searched: their sizes differ")
            other = batch[int(index)]
        name = f"graph {index}" if self.ids_ is None else str(self.ids_[index])
        return aligned(self.embedding_._to_random_graphs, graph, nodes, other, name)

    def _kneighbors(
        self,
        queries: GraphBatch | None,
        wanted: int,
        progress: Progress = None,
        unknown: UnknownLabels | None = None,
    ) -> tuple[Floats, Ints]:
        found = self._found(queries, Limit(wanted), progress, unknown)
        shape = (len(found), wanted)
        distances = np.array([one.distances for one in found], np.float64).reshape(shape)
        return distances, np.array([one.indices for one in found], np.int64).reshape(shape)

    def _unknown_labels(self) -> UnknownLabels:
        return self._library.unknown_labels()

    def _found(
        self,
        X: Any,
        limit: Limit,
        progress: Progress = None,
        unknown: UnknownLabels | None = None,
    ) -> list[Neighbors]:
        """Search; without a count of their own, warn of graphs with unknown labels."""
        if self.verbose and progress is None:
            progress = "searching"
        settings: dict[str, Any] = {
            "device": self.device,
            "n_jobs": self.n_jobs,
            "progress": progress,
        }
        if X is None:
            found, solved = neighbors_within(self._library, limit, **settings)
        else:
            counted = self._unknown_labels() if unknown is None else unknown
            found, solved = neighbors_of_graphs(
                self._library, X, limit, **settings, unknown=counted
            )
            if unknown is None:
                counted.warn()
        self._counts.solved = solved
        self._counts.pairs = len(found) * (self.n_samples_fit_ - (X is None))
        return found

    def _by_vectors(self, X: Any, limit: Limit) -> tuple[Any, Any]:
        """Query the index of vectors."""
        queries = None if X is None else graphs_to_transform(X)
        vectors = None if queries is None else self._vectors_of(queries)
        empty_graphs = self.nodes_.node_counts == 0
        empty_queries = empty_graphs if queries is None else queries.node_counts == 0
        self._counts.solved = 0
        self._counts.pairs = len(empty_queries) * (self.n_samples_fit_ - (X is None))
        return neighbors_of_vectors(self.index_, vectors, empty_queries, empty_graphs, limit)

    def _vectors_of(self, batch: GraphBatch) -> Floats:
        embedding = self.embedding_
        return embedding._rows(batch, embedding._features_of_batch)

    def _embedded(self, batch: GraphBatch) -> tuple[NodeEmbeddings, Floats]:
        """Return the nodes of graphs, and their distances to the random graphs."""
        fitted = self.embedding_._to_random_graphs
        fitted.require_carried(batch)
        backend = backend_for(self.device, len(batch) * len(fitted.random_graphs))
        there = backend.nodes(batch, fitted.recipe, n_jobs=self.n_jobs)
        distances = fitted.of_nodes(there, backend, n_jobs=self.n_jobs)
        return there.on_host(np.arange(len(batch))), distances

    def _require_enough(self, n_neighbors: int, *, itself: bool) -> None:
        available = self.n_samples_fit_ - itself
        if n_neighbors > available:
            raise ValueError(
                f"Expected n_neighbors <= {'n_samples_fit - 1' if itself else 'n_samples_fit'}, "
                f"but n_neighbors = {n_neighbors}, n_samples_fit = {self.n_samples_fit_}: there "
                f"are only {available} {'other ' if itself else ''}graphs"
            )

    def check_parameters(self) -> None:
        """Raise an error that names a parameter whose value is not allowed; so does `fit`."""
        require_integer("n_neighbors", self.n_neighbors, least=1)
        _checked_radius(self.radius, None)
        for name in ("device", "n_jobs", "verbose"):
            require_allowed(name, getattr(self, name))
        if self.embedding is not None:
            require_metric(getattr(self.embedding, "estimator", self.embedding))
        if self.exact and self.index is not None:
            raise ValueError("an index of vectors needs exact=False")


class _Counts:
    """What the last search did; searching changes no attribute of the estimator itself."""

    solved = 0
    pairs = 0


def _queries(X: Any) -> GraphBatch | None:
    """Return graphs to search for, with a warning if some have no nodes."""
    batch = None if X is None else graphs_to_transform(X)
    if batch is not None and len(batch):
        warn_about_empty_graphs(batch)
    return batch


def _checked_radius(default: float, radius: float | None) -> float:
    radius = default if radius is None else radius
    try:
        value = float(radius)
    except (TypeError, ValueError):
        value = np.nan
    if not value >= 0:
        raise ValueError(f"radius must be a non-negative number, got {radius!r}")
    return value
