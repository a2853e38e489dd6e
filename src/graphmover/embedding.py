"""Algorithm 1, which turns graphs into vectors, as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.progress import Progress
from graphmover._utils.random_state import random_generator
from graphmover.backends import AnyBackend, backend_for
from graphmover.backends.fitted import DistancesToRandomGraphs, ground_of
from graphmover.estimator import EmbeddingEstimator
from graphmover.features import bandwidth, features_in_place
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.interop import as_graph_batch, graphs_to_transform
from graphmover.io.model_file import FittedModel, FittedViews
from graphmover.nodes.embeddings import NodeEmbeddings, Nodes
from graphmover.nodes.input_warnings import (
    UnknownLabels,
    warn_about_empty_graphs,
    warn_about_unused,
)
from graphmover.nodes.recipe import NodeRecipe
from graphmover.parameters import check_parameters, multiple_of_scale
from graphmover.random_graphs import RandomGraphs, sample_random_graphs
from graphmover.random_graphs.spread import spread_random_graphs

if TYPE_CHECKING:
    from graphmover.nodes.registry import NodeEmbedding

Floats = NDArray[np.float64]


class RandomGraphEmbedding(ClassNamePrefixFeaturesOutMixin, EmbeddingEstimator):
    """Random Graph Embeddings (Wu et al., KDD 2019).

    Each graph becomes a vector of ``exp(-gamma * EMD) / sqrt(R)``, one entry for each of R
    small random graphs. Inner products of these vectors approximate a positive-definite
    kernel between graphs. ``transform`` returns ``exp(-gamma_ * distances(X)) / sqrt(R)``,
    a row of zeros for a graph without nodes.

    Parameters
    ----------
    n_components : int
        Number of random graphs, and so of features: the paper's R. More are better, at a
        proportionally higher cost. With ``max_random_nodes=None`` there are at most as many as
        there are training graphs with nodes.
    gamma : float or str
        The kernel's bandwidth; "scale" is 1 / (median of the training distances), or 1 if the
        median is 0 up to rounding, and "2*scale" is twice that.
    max_random_nodes : int or None
        The largest number of nodes of a random graph, the paper's D_max; sizes are drawn from 1 to
        this. If None, random graphs are whole training graphs, with their own masses, each drawn at
        most once.
    n_dimensions : int
        Number of Laplacian eigenvectors, the paper's d, or of random-walk steps.
    node_embedding : str, list of str and (str, float) pairs, callable or None
        The node embedding method: "laplacian" (the paper's), "return-probability", "degree",
        "attributes", "ranked-attributes", "labels", "edges", "structure", several of them side
        by side, some with a weight, or a callable (see `embed_nodes`). None uses no coordinates but
        labels alone, whose distances have a closed form. Coordinates of "degree" and of callables
        are divided by their range in the training set, so that they fit into a unit cube, and
        labels weigh the same with every method. Attributes, edges and structure are standardised
        over the training nodes; labels not seen in `fit` become zeros.
    smoothing : int
        How many times the point of each node is averaged with those of its neighbours (see
        `embed_nodes`).
    node_mass : {"degree", "equal"}
        The mass of a node; "degree" is the paper's.
    sampling : {"anchor", "uniform"}
        "anchor": random graphs are nodes of training graphs, RGE(ASG). "uniform": they are
        uniform in the range of the training nodes' coordinates, RGE(RF).
    use_node_labels : bool or "auto"
        Whether nodes with different labels are kept apart. "auto": if all training graphs have
        labels and ``sampling="anchor"`` (uniform random graphs have no labels). With "attributes",
        "labels", "edges" or "structure" in the node embedding they are left out, unless
        ``wl_iterations`` is positive or ``wl_depths="all"``.
    wl_iterations : int
        Number of Weisfeiler-Lehman iterations on the labels (WL-RGE); 0 compares the plain labels.
        If there are no labels, or they are not used, all nodes start with the same label, so that
        refinement sees structure alone.
    wl_depths : {"last", "all"}
        Which labels are compared. "last": those after all iterations, as in the paper. "all":
        two nodes differ by the share of the depths 0 to ``wl_iterations`` at which their labels
        differ, which is added to the distance of their coordinates.
    label_weight : float
        With ``wl_depths="all"`` and coordinates: what is added to the distance of two nodes whose
        labels differ at all depths.
    use_edge_labels : bool or "auto"
        Whether edge labels enter the Weisfeiler-Lehman iterations. "auto": if all training graphs
        have them and ``wl_iterations`` is positive.
    attributes_as_labels : {"none", "nodes", "edges", "both"}
        Whose attributes are read as labels, replacing any labels there are: equal vectors become
        equal labels. This way one-hot columns, and integers that encode categories, can be refined.
    spread_anchors : bool
        Choose whole training graphs that are far apart, by the seeding of k-means++, instead of
        uniformly. Needs ``max_random_nodes=None``.
    partial : bool
        Compare counts instead of shares, so that vectors depend on size. Each node of a random
        graph is matched with a different node of the graph. Nodes of the graph that are left over
        cost nothing; a node of the random graph without a match costs as much as one matched with
        a node that it has nothing in common with (docs/transport.md). The sum is divided by the
        random graph's mass. Nodes count with their masses, which must be integers.
    device : {"cpu", "cuda", "auto"}
        Where distances are computed: "cuda" is an NVIDIA GPU; "auto" uses one if it is available
        and there is enough work for it.
    n_jobs : int or None
        Number of threads; None means 1, -1 means all cores. Results do not depend on it.
    random_state : int, None, numpy.random.Generator or RandomState
        Seed of the random graphs. An int gives the same result every time.
    verbose : bool
        Show progress bars on standard error.

    Attributes
    ----------
    random_graphs_ : RandomGraphs
        The R random graphs: `NodeEmbeddings` that also record, in ``source_nodes`` and
        ``source_graphs``, which nodes of which training graph they were drawn from.
    gamma_ : float
        The bandwidth in use.
    uses_node_labels_ : bool
        Whether node labels are used.
    uses_edge_labels_ : bool
        Whether edge labels are used.
    wl_iterations_ : int
        The number of Weisfeiler-Lehman iterations in use.
    node_embedding_, node_mass_, node_scale_ : str, callable or None; str; float
        The node embedding and node mass in use, and the number that coordinates are divided by.

    Examples
    --------
    >>> import graphmover as gm
    >>> graphs, families = gm.make_graph_families(60, random_state=0, return_X_y=True)
    >>> embedding = gm.RandomGraphEmbedding(n_components=32, random_state=0)
    >>> embedding.fit_transform(graphs).shape
    (60, 32)
    """

    _kind_of_model = FittedModel

    def __init__(
        self,
        n_components: int = 256,
        *,
        gamma: float | str = "scale",
        max_random_nodes: int | None = 20,
        n_dimensions: int = 4,
        node_embedding: NodeEmbedding = "laplacian",
        smoothing: int = 0,
        node_mass: Literal["degree", "equal"] = "degree",
        sampling: Literal["anchor", "uniform"] = "anchor",
        use_node_labels: bool | Literal["auto"] = "auto",
        wl_iterations: int = 0,
        wl_depths: Literal["last", "all"] = "last",
        label_weight: float = 1.0,
        use_edge_labels: bool | Literal["auto"] = False,
        attributes_as_labels: Literal["none", "nodes", "edges", "both"] = "none",
        spread_anchors: bool = False,
        partial: bool = False,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.max_random_nodes = max_random_nodes
        self.n_dimensions = n_dimensions
        self.node_embedding = node_embedding
        self.smoothing = smoothing
        self.node_mass = node_mass
        self.sampling = sampling
        self.use_node_labels = use_node_labels
        self.wl_iterations = wl_iterations
        self.wl_depths = wl_depths
        self.label_weight = label_weight
        self.use_edge_labels = use_edge_labels
        self.attributes_as_labels = attributes_as_labels
        self.spread_anchors = spread_anchors
        self.partial = partial
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RandomGraphEmbedding:
        """Draw the random graphs, and set gamma if it depends on their distances.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
            The training graphs. Labels are read from the node attribute ``"label"``, weights
            from the edge attribute ``"weight"``; `as_graph_batch` takes other names.
        y : ignored
        """
        self._fit(as_graph_batch(X), want_distances=multiple_of_scale(self.gamma) is not None)
        return self

    def _fit_transform(self, batch: GraphBatch, y: Any = None) -> Floats:
        return self._features(self._fit(batch, want_distances=True))

    def _fit_transform_as_view(self, batch: GraphBatch, embedded: dict[object, Any]) -> Floats:
        """Do what `fit_transform` does, as one of several embeddings.

        Nodes that another view has embedded are reused, and there are no warnings about unused data
        or graphs without nodes: the vectorizer issues these.
        """
        return self._features(self._fit(batch, want_distances=True, embedded=embedded, warn=False))

    def _fit_with_nodes(self, batch: GraphBatch, *, warn: bool) -> tuple[Floats, NodeEmbeddings]:
        """Fit; return the distances and the embedded nodes of the training graphs."""
        embedded: dict[object, Any] = {}
        distances = self._fit(batch, want_distances=True, embedded=embedded, warn=warn)
        nodes = next(iter(embedded.values())).divided_by(self.node_scale_)
        return distances, nodes.on_host(np.arange(len(batch)))

    def distances(self, X: Any) -> Floats:
        """Return the exact earth mover's distance of every graph to every random graph.

        They do not depend on gamma: sweeps over gamma, or over the first R' columns, can reuse
        one result.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), n_components)
            Infinite for a graph without nodes.
        """
        check_is_fitted(self)
        return self._rows(graphs_to_transform(X), self._distances_of_batch)

    def kernel(self, X: Any, Y: Any = None) -> Floats:
        """Return the kernel between all graphs of X, or between X and Y.

        Parameters
        ----------
        X, Y : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), len(X)) or (len(X), len(Y))
            Inner products of the embeddings: positive semi-definite.
        """
        check_is_fitted(self)
        features = self._rows(graphs_to_transform(X), self._features_of_batch)
        other = features
        if Y is not None:
            other = self._rows(graphs_to_transform(Y), self._features_of_batch)
        product: Floats = features @ other.T
        return product

    def check_parameters(self) -> None:
        """Raise an error that names a parameter whose value is not allowed; so does `fit`."""
        check_parameters(self.get_params(deep=False))

    def _fit(
        self,
        batch: GraphBatch,
        *,
        want_distances: bool,
        embedded: dict[object, Any] | None = None,
        warn: bool = True,
    ) -> Floats:
        """Algorithm 2 and lines 1-5 of Algorithm 1; without distances the result is empty.

        ``embedded`` are nodes of the same graphs, by recipe: those of this one are added.
        """
        self.check_parameters()
        parameters = self.get_params(deep=False)
        if warn:
            warn_about_empty_graphs(batch)
            warn_about_unused(batch, parameters)
        rng = random_generator(self.random_state)
        backend = backend_for(self.device, len(batch) * self.n_components)
        recipe = NodeRecipe.of_parameters(parameters)
        recipe = recipe.decided_for(batch, can_carry_labels=self.sampling == "anchor")
        recipe = recipe.fitted_to(batch, self.n_jobs)
        embedded = {} if embedded is None else embedded
        key = (backend.name, recipe.key)
        if key not in embedded:
            progress = self._progress(f"embedding nodes ({backend.name})")
            embedded[key] = backend.nodes(batch, recipe, n_jobs=self.n_jobs, progress=progress)
        recipe = recipe.scaled_to(embedded[key].extent)
        nodes = embedded[key].divided_by(recipe.scale)
        random_graphs = self._draw_random_graphs(nodes, recipe, backend, rng)
        to_random_graphs = DistancesToRandomGraphs(
            recipe, random_graphs, partial=bool(self.partial)
        )
        distances = np.empty((0, len(random_graphs)))
        if want_distances:
            progress = self._progress("training distances")
            distances = to_random_graphs.of_nodes(
                nodes, backend, n_jobs=self.n_jobs, progress=progress
            )
        self._set_fitted(to_random_graphs, bandwidth(self.gamma, distances))
        return distances

    def _draw_random_graphs(
        self, nodes: Nodes, recipe: NodeRecipe, backend: AnyBackend, rng: np.random.Generator
    ) -> RandomGraphs:
        if self.spread_anchors and nodes.offsets[-1]:
            ground = ground_of(recipe, nodes, partial=bool(self.partial))
            return spread_random_graphs(
                nodes, self.n_components, ground, backend, rng, n_jobs=self.n_jobs
            )
        return sample_random_graphs(
            nodes,
            self.n_components,
            max_random_nodes=self.max_random_nodes,
            sampling=self.sampling,
            random_state=rng,
        )

    def _set_fitted(self, to_random_graphs: DistancesToRandomGraphs, gamma: float) -> None:
        recipe = to_random_graphs.recipe
        self._to_random_graphs = to_random_graphs
        self.random_graphs_ = to_random_graphs.random_graphs
        self.gamma_ = gamma
        self.uses_node_labels_ = bool(recipe.use_node_labels)
        self.uses_edge_labels_ = bool(recipe.use_edge_labels)
        self.wl_iterations_ = recipe.wl_iterations
        self.node_embedding_, self.node_mass_ = recipe.node_embedding, recipe.node_mass
        self.node_scale_ = recipe.scale

    def _features_of_batch(
        self, batch: GraphBatch, unknown: UnknownLabels, progress: Progress
    ) -> Floats:
        return self._distances_of_batch(batch, unknown, progress, self._features)

    def _distances_of_batch(
        self,
        batch: GraphBatch,
        unknown: UnknownLabels,
        progress: Progress,
        finish: Callable[[Floats], object] | None = None,
    ) -> Floats:
        rows = self._to_random_graphs.of_graphs(
            batch, device=self.device, finish=finish, n_jobs=self.n_jobs, progress=progress
        )
        unknown.add(rows, batch, self._to_random_graphs.n_unknown)
        return rows

    def _features(self, distances: Floats) -> Floats:
        return features_in_place(distances, self.gamma_)

    def _unknown_labels(self) -> UnknownLabels:
        return UnknownLabels(
            uses_node_labels=self.uses_node_labels_, wl_iterations=self.wl_iterations_
        )

    def _fitted_model(self) -> FittedModel:
        check_is_fitted(self)
        fitted = self._to_random_graphs
        parameters = self.get_params(deep=False)
        return FittedModel(parameters, self.gamma_, fitted.recipe, fitted.random_graphs)

    @classmethod
    def _from_fitted_model(cls, model: FittedModel | FittedViews) -> Self:
        assert isinstance(model, FittedModel)
        embedding = cls(**model.parameters)
        embedding.check_parameters()
        partial = bool(embedding.partial)
        fitted = DistancesToRandomGraphs(model.recipe, model.random_graphs, partial=partial)
        embedding._set_fitted(fitted, model.gamma)
        return embedding

    @property
    def _n_features_out(self) -> int:
        return len(self.random_graphs_)
