"""All that graphs carry, as vectors: several embeddings side by side, scaled for linear models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.messages import timed
from graphmover._utils.progress import Progress
from graphmover._utils.random_state import random_generator
from graphmover.backends.side_by_side import features_of_graphs
from graphmover.embedding import RandomGraphEmbedding
from graphmover.estimator import EmbeddingEstimator
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.interop import as_graph_batch
from graphmover.io.model_file import FittedModel, FittedView, FittedViews
from graphmover.nodes.input_warnings import (
    UnknownLabels,
    warn_about_empty_graphs,
    warn_about_equal_graphs,
    warn_about_unused_by_all,
)
from graphmover.parameters import require_allowed
from graphmover.views import View, automatic_views, described_after_fit
from graphmover.views.sizes import GraphSizes

Floats = NDArray[np.float64]

#: The root mean square length of a vector: with it, heads that expect columns of variance 1, such
#: as logistic regression with C = 1, regularise as they should.
_LENGTH = 30.0

_SETTINGS = ("device", "n_jobs", "verbose")


class GraphVectorizer(EmbeddingEstimator):
    """Turn graphs into vectors for scikit-learn, using everything that the graphs carry.

    Puts several embeddings side by side, each with random graphs and a gamma of its own: labels
    at all depths of Weisfeiler-Lehman refinement, counts of them, the structure around nodes,
    attributes averaged over neighbourhoods, sizes. Columns are centred, and views scaled, so that
    ``make_pipeline(GraphVectorizer(), LogisticRegression(max_iter=1000))``,
    ``LinearSVC(dual=False)``, ``Ridge()`` and k-means work without further scaling. Zeros, the row
    of a graph without nodes, are the mean of the training graphs.

    Parameters
    ----------
    n_components : int
        Number of random graphs of each view. A view of whole training graphs has no more than
        there are training graphs. With a list of views, each has its own number.
    views : "auto" or list of (name, transformer) or (name, transformer, weight)
        "auto" looks at what the training graphs carry; `describe` says what was chosen. A
        transformer is a `RandomGraphEmbedding` or `GraphSizes`. The weight, 1 unless given, is
        the length of the view's part of a vector relative to the others.
    device : {"cpu", "cuda", "auto"}
        As in `RandomGraphEmbedding`; it overrides those of the views.
    n_jobs : int or None
        Number of threads; None means 1, -1 means all cores. Results do not depend on it.
    random_state : int, None, numpy.random.Generator or RandomState
        Seed of the random graphs, for views that have no seed of their own.
    verbose : bool
        Show progress bars on standard error.

    Attributes
    ----------
    views_ : list of (str, transformer)
        The fitted views.
    view_weights_ : dict of str to float
        Their weights.

    Examples
    --------
    >>> import graphmover as gm
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> graphs, families = gm.make_graph_families(60, random_state=0, return_X_y=True)
    >>> model = make_pipeline(gm.GraphVectorizer(random_state=0), LogisticRegression())
    >>> model.fit(graphs, families).score(graphs, families)
    1.0
    >>> [name for name, _ in model[0].views_]
    ['labels', 'counts', 'structure', 'shape', 'sizes']
    """

    _kind_of_model = FittedViews

    def __init__(
        self,
        n_components: int = 1024,
        *,
        views: Literal["auto"] | Sequence[tuple[Any, ...]] = "auto",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.views = views
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> GraphVectorizer:
        """Choose views, draw their random graphs, and learn the scales of columns.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
            The training graphs.
        y : ignored
        """
        self._fit_transform(as_graph_batch(X))
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns: that of the view, and a number or name within it."""
        check_is_fitted(self)
        return np.array(
            [f"{name}_{column}" for name, view in self.views_ for column in _column_names(view)],
            dtype=object,
        )

    def describe(self) -> list[tuple[str, str]]:
        """Describe what each view sees of graphs; loaded models can do this, too.

        Returns
        -------
        list of (str, str)
            The name of a view, and what it sees. Edge weights, where graphs have them, count in
            averages over neighbours and in eigenvectors.

        Examples
        --------
        >>> import graphmover as gm
        >>> graphs = gm.make_graph_families(60, random_state=0).graphs
        >>> for view, sees in gm.GraphVectorizer(16, random_state=0).fit(graphs).describe():
        ...     print(f"{view}: {sees}")
        labels: degrees refined 2 times, in shares
        counts: degrees refined 2 times, counted
        structure: degrees, triangles; averaged over neighbours, 2 deep
        shape: eigenvectors of the normalised Laplacian
        sizes: numbers of nodes and edges
        """
        check_is_fitted(self)
        return [(name, described_after_fit(view)) for name, view in self.views_]

    def check_parameters(self) -> None:
        """Raise an error that names a parameter whose value is not allowed; so does `fit`."""
        for name in ("n_components", *_SETTINGS):
            require_allowed(name, getattr(self, name))
        if not (isinstance(self.views, str) and self.views == "auto"):
            _checked_views(self.views)

    def _fit_transform(self, batch: GraphBatch, y: Any = None) -> Floats:
        """Fit the views and the scales; return the vectors."""
        self.check_parameters()
        warn_about_empty_graphs(batch)
        if not batch.n_nodes:
            raise ValueError("random graphs are drawn from nodes, but no graph has any")
        if isinstance(self.views, str):
            views = automatic_views(batch, self.n_components)
        else:
            views = _checked_views(self.views)
        embeddings = [
            v.transformer for v in views if isinstance(v.transformer, RandomGraphEmbedding)
        ]
        warn_about_unused_by_all(batch, [one.get_params(deep=False) for one in embeddings])
        rng = random_generator(self.random_state)
        fitted, parts = [], []
        nodes: dict[object, Any] = {}  # what views share
        for view in views:
            transformer = clone(view.transformer)
            if isinstance(transformer, RandomGraphEmbedding):
                seed = int(rng.integers(2**31))
                transformer.set_params(**{name: getattr(self, name) for name in _SETTINGS})
                if transformer.random_state is None:
                    transformer.set_params(random_state=seed)
                with timed("fitting the view %s", view.name):
                    parts.append(transformer._fit_transform_as_view(batch, nodes))
            else:
                parts.append(transformer.fit_transform(batch))
            fitted.append(View(view.name, transformer, view.weight))
        widths = [part.shape[1] for part in parts]
        rows = _side_by_side(parts, widths)
        weights = [view.weight for view in views]
        used = batch.node_counts > 0
        centres = rows.mean(axis=0) if used.all() else rows[used].mean(axis=0)
        rows -= centres
        rows[~used] = 0.0
        lengths = _lengths(rows, int(used.sum()), widths)
        scales = _scales(lengths, widths, weights)
        rows *= scales
        self._set_fitted(fitted, centres, scales)
        self._warn_about_equal_graphs(lengths)
        return rows

    def _warn_about_equal_graphs(self, lengths: Sequence[float]) -> None:
        """Warn if nothing is left of all views, of all but sizes, or of one of the user's own."""
        embeddings = {n for n, view in self.views_ if isinstance(view, RandomGraphEmbedding)}
        names = [name for name, _ in self.views_]
        equal = [n for n, length in zip(names, lengths, strict=True) if not length]
        useless = [name for name in equal if name in embeddings]
        if len(equal) == len(names):
            warn_about_equal_graphs()
        elif useless and (len(useless) == len(embeddings) or not isinstance(self.views, str)):
            warn_about_equal_graphs(useless)

    def _set_fitted(self, views: list[View], centres: Floats, scales: Floats) -> None:
        self.views_ = [(view.name, view.transformer) for view in views]
        self.view_weights_ = {view.name: view.weight for view in views}
        self._centres, self._scales = centres, scales

    def _scaled(self, rows: Floats, batch: GraphBatch) -> Floats:
        rows -= self._centres
        rows *= self._scales
        rows[batch.node_counts == 0] = 0.0
        return rows

    def _features_of_batch(
        self, batch: GraphBatch, unknown: UnknownLabels, progress: Progress
    ) -> Floats:
        rows = np.empty((len(batch), len(self._scales)))
        embeddings, parts, column = [], [], 0
        for _, view in self.views_:
            width = _width(view)
            part = rows[:, column : column + width]
            column += width
            if isinstance(view, RandomGraphEmbedding):
                embeddings.append(view)
                parts.append(part)
            else:
                part[:] = view.transform(batch)
        features_of_graphs(
            batch,
            [embedding._to_random_graphs for embedding in embeddings],
            [embedding._features for embedding in embeddings],
            parts,
            device=self.device,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        for view, part in zip(embeddings, parts, strict=True):
            if view is self._view_of_labels:
                unknown.add(part, batch, view._to_random_graphs.n_unknown)
        return self._scaled(rows, batch)

    @property
    def _view_of_labels(self) -> RandomGraphEmbedding | None:
        """The first view that compares node labels alone, whose rows tell if it knows none."""
        for _, view in self.views_:
            is_embedding = isinstance(view, RandomGraphEmbedding)
            if is_embedding and view.uses_node_labels_ and view.node_embedding_ is None:
                return view
        return None

    def _unknown_labels(self) -> UnknownLabels:
        view = self._view_of_labels
        if view is None:
            return UnknownLabels(uses_node_labels=False, wl_iterations=0)
        return view._unknown_labels()

    def _fitted_model(self) -> FittedViews:
        check_is_fitted(self)
        parameters = self.get_params(deep=False)
        parameters["views"] = "auto" if isinstance(self.views, str) else "own"
        views = [
            FittedView(
                name,
                self.view_weights_[name],
                view._fitted_model() if isinstance(view, RandomGraphEmbedding) else None,
            )
            for name, view in self.views_
        ]
        return FittedViews(parameters, views, self._centres, self._scales)

    @classmethod
    def _from_fitted_model(cls, model: FittedModel | FittedViews) -> Self:
        assert isinstance(model, FittedViews)
        views = _checked_views(
            [
                View(
                    view.name,
                    GraphSizes()
                    if view.model is None
                    else RandomGraphEmbedding._from_fitted_model(view.model),
                    view.weight,
                )
                for view in model.views
            ]
        )
        parameters = dict(model.parameters)
        if parameters["views"] != "auto":
            parameters["views"] = [tuple(view) for view in views]
        vectorizer = cls(**parameters)
        vectorizer.check_parameters()
        if len(model.centres) != sum(_width(view.transformer) for view in views):
            raise ValueError(f"there are {len(model.centres)} centres, not one per column")
        vectorizer._set_fitted(views, model.centres, model.scales)
        return vectorizer


def _side_by_side(parts: list[Floats], widths: Sequence[int]) -> Floats:
    """Move the columns of all parts into one array; each part is freed once it is there."""
    rows = np.empty((len(parts[0]), sum(widths)))
    ends = np.cumsum(widths)
    for end, width in zip(ends, widths, strict=True):
        rows[:, end - width : end] = parts.pop(0)
    return rows


def _lengths(centred: Floats, n_graphs: int, widths: Sequence[int]) -> list[float]:
    """Return the root mean square length of each view; 0 if all graphs are equal to it."""
    ends = np.cumsum(widths)
    parts = [centred[:, end - width : end] for end, width in zip(ends, widths, strict=True)]
    lengths = [math.sqrt(np.einsum("ij,ij->", part, part) / n_graphs) for part in parts]
    return [length if length >= 1e-9 else 0.0 for length in lengths]  # less is rounding


def _scales(lengths: Sequence[float], widths: Sequence[int], weights: Sequence[float]) -> Floats:
    """Return the scales of all columns.

    Columns of one view keep their ratio: their products are a kernel. Each view has its share of
    the length of a vector; one in which all graphs are equal has none.
    """
    together = math.hypot(*(w for w, length in zip(weights, lengths, strict=True) if length))
    scales = [
        np.full(width, _LENGTH * weight / together / length if length else 1.0)
        for width, weight, length in zip(widths, weights, lengths, strict=True)
    ]
    return np.concatenate(scales)


def _column_names(view: RandomGraphEmbedding | GraphSizes) -> list[str]:
    if isinstance(view, GraphSizes):
        return list(view.get_feature_names_out())
    return [str(column) for column in range(_width(view))]


def _width(view: RandomGraphEmbedding | GraphSizes) -> int:
    if isinstance(view, GraphSizes):
        return len(view.get_feature_names_out())
    return len(view.random_graphs_)


def _checked_views(views: Any) -> list[View]:
    expected = 'views must be "auto" or a list of (name, transformer[, weight])'
    if isinstance(views, str) or not isinstance(views, Sequence) or not len(views):
        raise ValueError(f"{expected}, got {views!r}")
    checked = []
    for entry in views:
        if isinstance(entry, str) or not isinstance(entry, Sequence) or len(entry) not in (2, 3):
            raise ValueError(f"{expected}, got {entry!r} in it")
        view = View(*entry)
        if not isinstance(view.name, str) or not view.name:
            raise ValueError(f"views: the name {view.name!r} is not a non-empty string")
        if not isinstance(view.transformer, RandomGraphEmbedding | GraphSizes):
            raise TypeError(
                f"views: {view.name} is {_kind_of(view.transformer)}, expected a "
                f"RandomGraphEmbedding or GraphSizes"
            )
        try:
            require_allowed("label_weight", view.weight)
        except ValueError:
            raise ValueError(
                f"views: the weight of {view.name} must be a positive number, got {view.weight!r}"
            ) from None
        if isinstance(view.transformer, RandomGraphEmbedding):
            try:
                view.transformer.check_parameters()
            except ValueError as error:
                raise ValueError(f"views: {view.name}: {error}") from error
        checked.append(view)
    names = [view.name for view in checked]
    if len(set(names)) < len(names):
        raise ValueError(f"views: a name appears twice in {', '.join(names)}")
    return checked


def _kind_of(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
