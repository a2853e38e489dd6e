"""How well classes can be told from vectors: cross-validation in which nothing leaks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.datasets import Dataset
from graphmover.embedding import RandomGraphEmbedding
from graphmover.graphs import GraphBatch


@dataclass(frozen=True)
class Score:
    """Cross-validated accuracy of one method: mean and standard deviation over test folds."""

    method: str
    mean: float
    std: float
    seconds: float


def cross_validate(
    embedding: RandomGraphEmbedding,
    data: Dataset,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: int | None = 0,
    progress: bool = False,
) -> list[Score]:
    """Score an embedding with a linear SVM, beside methods that see no structure.

    In every fold the random graphs are drawn from, and the SVM's C is chosen on, the training
    part alone.

    Parameters
    ----------
    embedding : RandomGraphEmbedding
        It is cloned, not fitted.
    data : Dataset
        Its target must be classes.
    n_folds, n_repeats : int
        Stratified folds, and how often they are drawn anew.

    Returns
    -------
    list of Score
        Of the majority class, of degree histograms, and of the embedding.
    """
    from sklearn.base import clone

    target = data.target
    if target is None:
        raise ValueError(f"{data.name} has no target, expected a class for each graph")
    if target.ndim != 1 or target.dtype.kind == "f":
        raise ValueError(
            f"the target of {data.name} is real numbers, expected a class for each graph"
        )
    classes, counts = np.unique(target, return_counts=True)
    if len(classes) < 2 or counts.min() < n_folds:
        rare = classes[int(np.argmin(counts))]
        raise ValueError(
            f"{data.name} has {len(classes)} classes, the rarest ({rare}) with {counts.min()} "
            f"graphs, expected at least 2 classes and n_folds={n_folds} graphs of each"
        )
    quiet = clone(embedding).set_params(verbose=False)
    kind = {"anchor": "ASG", "uniform": "RF"}[embedding.sampling]
    methods = {**baselines(), f"RGE({kind}), R = {embedding.n_components}": with_linear_svm(quiet)}
    return score_methods(
        methods,
        data.graphs,
        target,
        n_folds=n_folds,
        n_repeats=n_repeats,
        random_state=random_state,
        progress=progress,
    )


def score_methods(
    methods: Mapping[str, Any],
    graphs: GraphBatch,
    target: NDArray[Any],
    *,
    n_folds: int,
    n_repeats: int = 1,
    random_state: int | None = 0,
    progress: bool = False,
) -> list[Score]:
    """Cross-validate classifiers of graphs on the same folds."""
    from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
    from tqdm import tqdm

    folds = RepeatedStratifiedKFold(
        n_splits=n_folds, n_repeats=n_repeats, random_state=random_state
    )
    scores = []
    for method, classifier in tqdm(
        methods.items(), desc="cross-validating", unit="method", disable=not progress
    ):
        start = time.perf_counter()
        accuracy = cross_val_score(classifier, graphs, target, cv=folds)
        seconds = time.perf_counter() - start
        scores.append(Score(method, float(accuracy.mean()), float(accuracy.std()), seconds))
    return scores


def baselines() -> dict[str, Any]:
    """Return classifiers that see no structure, by name."""
    from sklearn.dummy import DummyClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    histograms = FunctionTransformer(degree_histograms)
    majority = make_pipeline(histograms, DummyClassifier(strategy="most_frequent"))
    return {"majority class": majority, "degree histogram": with_linear_svm(histograms)}


def with_linear_svm(transformer: Any) -> Any:
    """Return a pipeline with a linear SVM whose C is chosen by inner cross-validation."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    scaled = make_pipeline(StandardScaler(), LinearSVC(dual=False))
    search = GridSearchCV(scaled, {"linearsvc__C": [0.01, 0.1, 1.0]}, cv=3)
    return make_pipeline(transformer, search)


def degree_histograms(graphs: GraphBatch, n_bins: int = 24) -> NDArray[np.float64]:
    """Return the share of each graph's nodes that have degree 0, 1, ... (the last: or more).

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.evaluation import degree_histograms
    >>> degree_histograms(gm.as_graph_batch(gm.Graph(3, [(0, 1), (1, 2)])), n_bins=4)
    array([[0.        , 0.66666667, 0.33333333, 0.        ]])
    """
    degrees = np.minimum(np.diff(graphs.indptr), n_bins - 1)
    graph_of_node = np.repeat(np.arange(len(graphs)), graphs.node_counts)
    counts = np.zeros((len(graphs), n_bins))
    np.add.at(counts, (graph_of_node, degrees), 1)
    return counts / np.maximum(graphs.node_counts, 1)[:, np.newaxis]
