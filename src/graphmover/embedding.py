"""Algorithm 1: graphs into vectors, as a scikit-learn transformer."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.checks import is_choice_of_labels, is_whole
from graphmover._utils.files import require_other_file
from graphmover._utils.parallel import for_each_chunk, single_threaded_blas
from graphmover._utils.random_state import random_generator
from graphmover.backends import cuda as _cuda_pipeline
from graphmover.features import features_in_place, gamma_scale
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.interop import as_graph_batch
from graphmover.io.formats import count_graphs, iter_batches
from graphmover.io.model_file import FittedModel, fingerprint, opened_model, write_model
from graphmover.io.streaming import write_rows
from graphmover.nodes.embeddings import NODE_MASSES, NodeEmbeddings, embed_nodes
from graphmover.nodes.registry import (
    NODE_EMBEDDINGS,
    NodeEmbedding,
    is_node_embedding,
    scale_to_unit_cube,
)
from graphmover.random_graphs import SAMPLINGS, sample_random_graphs
from graphmover.transport import DEVICES, device_for, earth_movers_distance

#: One thread embeds about this many nodes at a time.
_CHUNK_NODES = 4096

#: `transform_to` holds at most this many graphs, and this many features, at a time.
_BATCH_GRAPHS = 10_000
_BATCH_FEATURES = 2**24


def _is_whole(least: int) -> Callable[[Any], bool]:
    return lambda x: is_whole(x) and x >= least


def _is_gamma(x: Any) -> bool:
    if isinstance(x, str):
        return x == "scale"
    real = isinstance(x, int | float | np.integer | np.floating) and not isinstance(x, bool)
    return real and math.isfinite(x) and x > 0


#: What each parameter may be, and the words for it.
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "n_components": (_is_whole(1), "a whole number of at least 1"),
    "gamma": (_is_gamma, 'a positive number or "scale"'),
    "max_random_nodes": (_is_whole(1), "a whole number of at least 1"),
    "n_dimensions": (_is_whole(1), "a whole number of at least 1"),
    "node_embedding": (is_node_embedding, f"one of {', '.join(NODE_EMBEDDINGS)} or a callable"),
    "node_mass": (lambda x: x in NODE_MASSES, f"one of {', '.join(NODE_MASSES)}"),
    "sampling": (lambda x: x in SAMPLINGS, f"one of {', '.join(SAMPLINGS)}"),
    "use_node_labels": (is_choice_of_labels, 'True, False or "auto"'),
    "wl_iterations": (_is_whole(0), "a whole number that is not negative"),
    "device": (lambda x: x in DEVICES, f"one of {', '.join(DEVICES)}"),
    "n_jobs": (
        lambda x: x is None or (is_whole(x) and x != 0),
        "None or a whole number other than 0",
    ),
    "verbose": (lambda x: isinstance(x, bool | np.bool_ | int), "True or False"),
}


class RandomGraphEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random Graph Embeddings (Wu et al., KDD 2019).

    Each graph becomes a vector of ``exp(-gamma * EMD) / sqrt(R)``, one entry for each of R
    small random graphs. Inner products of these vectors approximate a positive-definite
    kernel between graphs.

    Parameters
    ----------
    n_components : int
        Number of random graphs and of features, the paper's R. More is better and costs
        proportionally more.
    gamma : float or "scale"
        The kernel's bandwidth; "scale" is 1 / (median of the training distances), or 1 where
        that is 0 up to rounding.
    max_random_nodes : int
        Random graphs have 1 to this many nodes, the paper's D_max.
    n_dimensions : int
        Number of Laplacian eigenvectors, the paper's d, or of steps of random walks.
    node_embedding : {"laplacian", "return-probability", "degree"} or callable
        What places a node (see `embed_nodes`); "laplacian" is the paper's. Coordinates of
        "degree" and of callables are divided by their range over all training nodes, so that
        these fit into a unit cube, and labels weigh as they do with the others.
    node_mass : {"degree", "equal"}
        What a node weighs; "degree" is the paper's.
    sampling : {"anchor", "uniform"}
        "anchor": random graphs are nodes of training graphs, RGE(ASG). "uniform": they are
        uniform in the range of the training nodes' coordinates, RGE(RF).
    use_node_labels : bool or "auto"
        Whether nodes with different labels are kept apart. "auto": when all training graphs
        have labels and ``sampling="anchor"``, which alone can carry them.
    wl_iterations : int
        Weisfeiler-Lehman iterations on the labels, WL-RGE; 0: plain labels. Where labels are
        not used, or there are none, one common label is refined: structure alone.
    device : {"cpu", "cuda", "auto"}
        What computes the distances: "cuda" is an NVIDIA GPU, "auto" one if there is one and
        work enough for it.
    n_jobs : int or None
        Threads; None is 1, -1 is all cores. Results do not depend on it.
    random_state : int, None, numpy.random.Generator or RandomState
        Where the random graphs come from. An int gives the same result every time.
    verbose : bool
        Show progress bars on standard error.

    Attributes
    ----------
    random_graphs_ : NodeEmbeddings
        The R random graphs.
    gamma_ : float
        The bandwidth in use.
    uses_node_labels_ : bool
        Whether node labels count.
    wl_iterations_ : int
        The number of Weisfeiler-Lehman iterations in use.
    node_embedding_, node_mass_, node_scale_ : str or callable, str, float
        The choice of points and masses in use, and what coordinates are divided by.

    Examples
    --------
    >>> import graphmover as gm
    >>> graphs, families = gm.make_graph_families(60, random_state=0, return_X_y=True)
    >>> embedding = gm.RandomGraphEmbedding(n_components=32, random_state=0)
    >>> embedding.fit_transform(graphs).shape
    (60, 32)
    """

    def __init__(
        self,
        n_components: int = 256,
        *,
        gamma: float | Literal["scale"] = "scale",
        max_random_nodes: int = 20,
        n_dimensions: int = 4,
        node_embedding: NodeEmbedding = "laplacian",
        node_mass: Literal["degree", "equal"] = "degree",
        sampling: Literal["anchor", "uniform"] = "anchor",
        use_node_labels: bool | Literal["auto"] = "auto",
        wl_iterations: int = 0,
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
        self.node_mass = node_mass
        self.sampling = sampling
        self.use_node_labels = use_node_labels
        self.wl_iterations = wl_iterations
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RandomGraphEmbedding:
        """Draw the random graphs, and set gamma if it is "scale".

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
            The training graphs. Labels are read from the node attribute ``"label"``, weights
            from the edge attribute ``"weight"``; `as_graph_batch` takes other names.
        y : ignored
        """
        nodes = self._draw_random_graphs(as_graph_batch(X))
        self._set_gamma(self._distances_of_nodes(nodes) if self.gamma == "scale" else None)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Fit and embed the training graphs, computing their distances once.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        y : ignored

        Returns
        -------
        ndarray of shape (len(X), n_components)
        """
        nodes = self._draw_random_graphs(as_graph_batch(X))
        distances = self._distances_of_nodes(nodes)
        self._set_gamma(distances)
        return self._features(distances)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Embed graphs, seen or unseen.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), n_components)
            ``exp(-gamma_ * distances(X)) / sqrt(n_components)``. A graph without nodes gets a
            row of zeros.
        """
        return self._rows(X, self._features)

    def distances(self, X: Any) -> NDArray[np.float64]:
        """Return the exact earth mover's distance of every graph to every random graph.

        gamma plays no part in it: sweeps over gamma, or over the first R' columns, can reuse
        one result.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), n_components)
            Infinite for a graph without nodes.
        """
        return self._rows(X, lambda distances: distances)

    def transform_to(
        self,
        source: Any,
        output: str | os.PathLike[str],
        *,
        batch_size: int | None = None,
        target_column: str | None = None,
        resume: bool = True,
    ) -> tuple[int, int]:
        """Embed a collection that need not fit in memory, and write the vectors to a file.

        The file appears when it is complete. Until then rows are kept in the folder
        ``output + ".part"``: after a crash, a kill or Ctrl-C the same call goes on where the
        last one stopped, and the result is the same to the last bit. The graphs that are done
        are read again, not embedded again, to make sure that they are the same.

        Parameters
        ----------
        source : path, Dataset, GraphBatch or iterable of graphs
            See `iter_batches`.
        output : path
            ``.npy``: the matrix alone, which ``numpy.load(output, mmap_mode="r")`` maps.
            ``.npz``: arrays ``vectors`` and ``target``. ``.parquet``: columns ``vector`` and
            ``target``. ``.csv``: a column per feature and ``target``. ``-``: CSV on standard
            output.
        batch_size : int, optional
            Graphs in memory, and rows committed, at a time; by default 10,000, or fewer where
            their vectors would take more than 128 MB.
        target_column : str, optional
            See `iter_batches`.
        resume : bool
            False discards what an earlier call left.

        Returns
        -------
        (int, int)
            The shape of the matrix written.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> import graphmover as gm
        >>> data = gm.make_graph_families(60, random_state=0)
        >>> embedding = gm.RandomGraphEmbedding(8, random_state=0).fit(data.graphs)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     embedding.transform_to(data, f"{folder}/vectors.npz")
        ...     written = np.load(f"{folder}/vectors.npz")["vectors"]
        (60, 8)
        >>> bool((written == embedding.transform(data.graphs)).all())
        True
        """
        return self._write_rows(
            source, output, batch_size=batch_size, target_column=target_column, resume=resume
        )

    def _write_rows(
        self,
        source: Any,
        output: str | os.PathLike[str],
        *,
        batch_size: int | None,
        target_column: str | None,
        resume: bool,
        known: NDArray[np.float64] | None = None,
    ) -> tuple[int, int]:
        """Do what `transform_to` promises; ``known`` are the rows of all graphs, if they are."""
        check_is_fitted(self)
        require_other_file(source, output)
        n_features = len(self.random_graphs_)
        if batch_size is None:
            batch_size = max(1, min(_BATCH_GRAPHS, _BATCH_FEATURES // n_features))
        n_empty = n_unknown = n_seen = 0

        def rows_of(batch: GraphBatch, first: int) -> NDArray[np.float64]:
            nonlocal n_empty, n_unknown, n_seen
            self._require_labels(batch)
            n_empty += int((batch.node_counts == 0).sum())
            if known is not None:
                return known[first : first + len(batch)]
            rows = self._rows_of(batch, self._features, None)
            n_unknown, n_seen = n_unknown + len(self._with_unknown_labels(rows)), n_seen + len(rows)
            return rows

        n_rows = write_rows(
            iter_batches(source, batch_size, target_column=target_column),
            rows_of,
            output,
            names=self.get_feature_names_out(),
            model=fingerprint(self._fitted_model()),
            resume=resume,
            progress="embedding graphs" if self.verbose else None,
            total=count_graphs(source) if self.verbose else None,
        )
        if n_empty:
            warnings.warn(f"{n_empty} graphs have no nodes and are embedded as zeros", stacklevel=3)
        self._warn_of_unknown_labels(n_unknown, n_seen)
        return n_rows, n_features

    def _require_labels(self, batch: GraphBatch) -> None:
        if self.uses_node_labels_ and batch.node_labels is None and batch.n_nodes:
            raise ValueError(
                "the model was fitted with node labels, but not all of these graphs have them: "
                "give all graphs labels, or fit with use_node_labels=False"
            )

    def _rows(self, X: Any, finish: _cuda_pipeline.Finish) -> NDArray[np.float64]:
        check_is_fitted(self)
        batch = as_graph_batch(X)
        self._require_labels(batch)
        _warn_of_empty_graphs(batch)
        rows = self._rows_of(batch, finish, "embedding graphs" if self.verbose else None)
        self._warn_of_unknown_labels(len(self._with_unknown_labels(rows)), len(rows))
        return rows

    def _with_unknown_labels(self, rows: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return graphs equally far from all random graphs, as those of other labels are."""
        if not self.uses_node_labels_ or rows.shape[1] < 2:
            return np.empty(0, np.int64)
        some = np.flatnonzero(rows[:, 0] == rows[:, 1])  # so that few rows are read whole
        some = some[np.isfinite(rows[some, 0]) & (rows[some, 0] > 0)]
        unknown: NDArray[np.int64] = some[(rows[some] == rows[some, :1]).all(axis=1)]
        return unknown

    def _warn_of_unknown_labels(self, n_unknown: int, n_graphs: int) -> None:
        # Refined labels are so many that this happens, but not to all of many graphs.
        if not n_unknown or (self.wl_iterations_ and not 10 <= n_graphs == n_unknown):
            return
        warnings.warn(
            f"{n_unknown} of {n_graphs} graphs have no node label in common with any random graph: "
            f"their vectors tell nothing. Are the labels of the kind that the model was fitted "
            f"with, numbers or texts?",
            UserWarning,
            stacklevel=4,
        )

    def _rows_of(
        self, batch: GraphBatch, finish: _cuda_pipeline.Finish, progress: str | None
    ) -> NDArray[np.float64]:
        """Compute all distances, and what is made of them in place."""
        choices: dict[str, Any] = {
            "node_embedding": self.node_embedding_,
            "node_mass": self.node_mass_,
            "use_node_labels": self.uses_node_labels_,
            "wl_iterations": self.wl_iterations_,
        }
        graphs, scale = self.random_graphs_, self.node_scale_
        device = device_for(self.device, len(batch) * len(graphs))
        progress = None if progress is None else f"{progress} ({device})"
        if device == "cuda":
            return _cuda_pipeline.rows_on_gpu(batch, graphs, choices, scale, finish, progress)
        out = np.empty((len(batch), len(graphs)))

        def compute(rows: slice) -> None:
            nodes = embed_nodes(
                batch[rows], graphs.n_dimensions, **choices, first_index=rows.start
            ).divided_by(scale)
            out[rows] = earth_movers_distance(nodes, graphs)

        # Set once for all chunks: changed in between, BLAS threads get in each other's way.
        with single_threaded_blas():
            for_each_chunk(
                compute,
                batch.node_counts + 1,
                most=_CHUNK_NODES,
                n_jobs=self.n_jobs,
                progress=progress,
            )
        finish(out)
        return out

    def kernel(self, X: Any, Y: Any = None) -> NDArray[np.float64]:
        """Return the kernel between all graphs of X, or between X and Y.

        Parameters
        ----------
        X, Y : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), len(X)) or (len(X), len(Y))
            Inner products of the embeddings: positive semi-definite.
        """
        features = self.transform(X)
        other = features if Y is None else self.transform(Y)
        product: NDArray[np.float64] = features @ other.T
        return product

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to an ``.npz`` file: plain arrays, no pickle.

        The name must end in ``.npz``.
        A ``random_state`` that is a generator is saved as None: it has served. A
        ``node_embedding`` that is a callable cannot be saved.
        """
        write_model(path, self._fitted_model())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RandomGraphEmbedding:
        """Read a model written by `save`.

        Raises
        ------
        ValueError
            The file is damaged, is no model, or is of a format this version cannot read.
        """
        with opened_model(path) as saved:
            model = cls(**saved.parameters)
            model._check_parameters()
        model.random_graphs_ = saved.random_graphs
        model.gamma_ = saved.gamma
        model.uses_node_labels_ = saved.uses_node_labels
        model.wl_iterations_ = saved.wl_iterations
        model.node_embedding_, model.node_mass_ = saved.node_embedding, saved.node_mass
        model.node_scale_ = saved.node_scale
        return model

    def _fitted_model(self) -> FittedModel:
        check_is_fitted(self)
        return FittedModel(
            self.get_params(deep=False),
            self.gamma_,
            self.uses_node_labels_,
            self.wl_iterations_,
            self.node_embedding_,
            self.node_mass_,
            self.node_scale_,
            self.random_graphs_,
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.random_graphs_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    def _check_parameters(self) -> None:
        for name, (allowed, expected) in _RULES.items():
            value = getattr(self, name)
            if not allowed(value):
                raise ValueError(f"{name} must be {expected}, got {value!r}")
        if self.sampling == "uniform" and self.use_node_labels not in ("auto", False):
            raise ValueError(
                'use_node_labels=True needs sampling="anchor": uniform random graphs have no labels'
            )
        if self.sampling == "uniform" and self.wl_iterations:
            raise ValueError(
                f'wl_iterations={self.wl_iterations} needs sampling="anchor": uniform random '
                f"graphs have no labels"
            )

    def _draw_random_graphs(self, batch: GraphBatch) -> NodeEmbeddings:
        """Fit all but gamma; return the training nodes."""
        self._check_parameters()
        _warn_of_empty_graphs(batch)
        rng = random_generator(self.random_state)
        if self.use_node_labels == "auto":
            uses_node_labels = batch.node_labels is not None and self.sampling == "anchor"
        else:
            uses_node_labels = bool(self.use_node_labels)
        device = device_for(self.device, len(batch) * self.n_components)
        embed = _cuda_pipeline.embed_nodes_on_gpu if device == "cuda" else embed_nodes
        nodes = embed(
            batch,
            self.n_dimensions,
            node_embedding=self.node_embedding,
            node_mass=self.node_mass,
            use_node_labels=uses_node_labels,
            wl_iterations=self.wl_iterations,
            n_jobs=self.n_jobs,
            progress=f"embedding nodes ({device})" if self.verbose else None,
        )
        scale = scale_to_unit_cube(self.node_embedding, nodes.points)
        nodes = nodes.divided_by(scale)
        self.random_graphs_ = sample_random_graphs(
            nodes,
            self.n_components,
            max_random_nodes=self.max_random_nodes,
            sampling=self.sampling,
            random_state=rng,
        )
        self.uses_node_labels_ = uses_node_labels
        self.wl_iterations_ = int(self.wl_iterations)
        self.node_embedding_, self.node_mass_ = self.node_embedding, self.node_mass
        self.node_scale_ = scale
        return nodes

    def _distances_of_nodes(self, nodes: NodeEmbeddings) -> NDArray[np.float64]:
        return earth_movers_distance(
            nodes,
            self.random_graphs_,
            n_jobs=self.n_jobs,
            device=self.device,
            progress="training distances" if self.verbose else None,
        )

    def _set_gamma(self, distances: NDArray[np.float64] | None) -> None:
        if distances is None or self.gamma != "scale":
            self.gamma_ = float(self.gamma)
            return
        self.gamma_ = gamma_scale(distances)

    def _features(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        return features_in_place(distances, self.gamma_)


def _warn_of_empty_graphs(batch: GraphBatch) -> None:
    empty = np.flatnonzero(batch.node_counts == 0)
    if len(empty):
        warnings.warn(
            f"{len(empty)} of {len(batch)} graphs have no nodes (the first is graph {empty[0]}): "
            f"they are infinitely far from everything and embedded as zeros",
            UserWarning,
            stacklevel=4,
        )
