"""Nested, repeated cross-validation in which nothing leaks from the test folds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from graphmover import __version__
from graphmover._utils.checks import require_integer
from graphmover._utils.messages import tell
from graphmover._utils.parallel import number_of_threads
from graphmover.backends import backend_for
from graphmover.evaluation.checkpoint import Checkpoint
from graphmover.evaluation.emd_kernel_matrix import emd_kernel
from graphmover.evaluation.fingerprints import digest
from graphmover.evaluation.folds import group_codes, repeated_folds
from graphmover.evaluation.kernels import negative_part, steps_may_run_out
from graphmover.evaluation.methods import BASELINES, REGRESSION_BASELINES, as_method
from graphmover.evaluation.methods.emd_kernel import EMDKernel
from graphmover.evaluation.methods.fold_by_fold import FoldByFold
from graphmover.evaluation.methods.kernel_grid import KernelGrid
from graphmover.evaluation.methods.paper import paper_methods
from graphmover.evaluation.methods.precomputed import PrecomputedKernels
from graphmover.evaluation.methods.random_graph_embedding import Method
from graphmover.evaluation.methods.vectorizer import vectorizer_pipelines
from graphmover.evaluation.methods.vertex_histogram import vertex_histograms
from graphmover.evaluation.metrics import CLASSIFICATION_METRICS, REGRESSION_METRICS
from graphmover.evaluation.paired import PairedDifference, paired_difference
from graphmover.evaluation.protocol import EvaluationMethod, FoldsLeft, Problem, Row
from graphmover.evaluation.table import Evaluation, columns
from graphmover.evaluation.target import encoded_target, surely_classes
from graphmover.graphs.dataset import Dataset
from graphmover.graphs.interop import as_graph_batch
from graphmover.io.streaming import Content
from graphmover.nodes.input_warnings import warn_of_notes
from graphmover.vectorizer import GraphVectorizer

__all__ = [
    "EMDKernel",
    "Evaluation",
    "EvaluationMethod",
    "FoldByFold",
    "KernelGrid",
    "Method",
    "PairedDifference",
    "PrecomputedKernels",
    "emd_kernel",
    "evaluate",
    "negative_part",
    "paired_difference",
    "paper_methods",
    "vertex_histograms",
]

SELECTIONS = ("ridge", "svm")

#: How many random graphs the paper's methods have by default.
_COMPONENTS = 256


def evaluate(
    graphs: Any,
    y: ArrayLike | None = None,
    methods: Iterable[Any] | None = None,
    *,
    groups: ArrayLike | None = None,
    task: str = "auto",
    metrics: str | Iterable[str] | None = None,
    n_components: int | Sequence[int] | None = None,
    n_folds: int = 10,
    n_repeats: int = 1,
    selection: str = "ridge",
    random_state: int = 0,
    n_jobs: int | None = None,
    device: str = "cpu",
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Evaluation:
    """Score methods by nested cross-validation on the same folds.

    In every fold all choices are made on the training set, and the test fold is used once. For
    random graph embeddings, random graphs are drawn from the training graphs, hyperparameters are
    chosen by the leave-one-out accuracy of ridge classification, with successive halving, and
    then the C of a linear SVM by inner folds. Distances are shared by all folds, and by all values
    of gamma, C and the number of random graphs. In regression, folds are not stratified, and ridge
    regression takes the place of both.

    Parameters
    ----------
    graphs : Dataset, GraphBatch or anything `as_graph_batch` takes
    y : array-like of shape (len(graphs),)
        A class, or a value, for each graph; a `Dataset` has its own. A class with fewer graphs
        than folds is in as many test folds as it has graphs, with a warning.
    methods : iterable, optional
        Any of those below; by default, as in ``graphmover evaluate``, both baselines and a
        `GraphVectorizer` with ``LogisticRegression(max_iter=1000)`` or ``Ridge()``.

        - a name: "majority class", or "mean value" of regression, "bag of nodes" (vertex
          histograms) or one of `paper_methods`;
        - a `Method`, `EMDKernel`, `KernelGrid` or `PrecomputedKernels`, or an `EvaluationMethod` of
          your own;
        - a `RandomGraphEmbedding`, whose parameters are then fixed;
        - any other scikit-learn estimator whose ``fit`` takes graphs: a classifier or regressor,
          or a transformer, whose features go into the linear SVM or ridge regression. A clone is
          fitted to the training graphs of each fold, and a transformer to those of its inner
          folds, with ``random_state`` parameters set from ``random_state`` below;
        - a pair (name, estimator).
    groups : array-like of shape (len(graphs),), optional
        The group of each graph, such as a scaffold or a patient. No group is on both sides of a
        split, that of inner folds included; folds may differ in size. Random graph embeddings then
        need ``selection="svm"``, and what an estimator of your own splits is up to it.
    task : {"auto", "classification", "regression"}
        "auto": regression if y has numbers that are not integers, as in scikit-learn. Integers are
        classes, however many there are, unless this is "regression".
    metrics : str or iterable of str, optional
        The metrics to report: "accuracy" (the default), "balanced_accuracy" and "roc_auc" (of
        several classes the mean of one-vs-rest), or "r2", "mae" and "rmse" (by default all three).
        Folds of an older checkpoint that lack one of these are scored again. Choices on the
        training set go by accuracy, or by squared error.
    n_components : int or sequence of int, optional
        Numbers of random graphs, by default 256; each gets its own rows, and the smaller ones
        use the first columns of the largest. A `RandomGraphEmbedding` has its own number. If
        ``methods`` is not given, these are the numbers of the `GraphVectorizer`, by default 1024.
    n_folds, n_repeats : int
        Number of folds, stratified by class, and of repetitions, each with another shuffle.
    selection : {"ridge", "svm"}
        "svm" compares all candidates of a hyperparameter grid by the inner folds of SVMs with
        every C, or ridge regressions with every strength: the exhaustive search, many times
        slower.
    random_state : int
        Seed of the folds and of the random graphs.
    n_jobs : int or None
        Number of threads, for distances and for folds; None means 1, -1 means all cores. Results do
        not depend on it.
    device : {"cpu", "cuda", "auto"}
        The device that computes distances, compares finalists and fits SVMs.
    checkpoint : path, optional
        A file that keeps the results of finished folds: the same call resumes after a kill, and
        one with more repetitions or methods adds to it.
    progress : bool
        Show progress and the time left on standard error.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.evaluation import evaluate
    >>> data = gm.make_graph_families(60, random_state=0)
    >>> embedding = gm.RandomGraphEmbedding(32)
    >>> result = evaluate(data, methods=["majority class", embedding], n_folds=3)
    >>> [row["method"] for row in result.summary()]
    ['majority class', 'RGE(ASG), D_max = 20, d = 4']

    A pipeline that classifies graphs is a method too:

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> pipeline = make_pipeline(embedding, StandardScaler(), LogisticRegression())
    >>> result = evaluate(data.graphs, data.target, [("logistic", pipeline)], n_folds=3)
    >>> [row["method"] for row in result.summary()]
    ['logistic']
    """
    batch = as_graph_batch(graphs)
    require_integer("n_folds", n_folds, least=2)
    require_integer("n_repeats", n_repeats, least=1)
    require_integer("random_state", random_state, least=0)
    if selection not in SELECTIONS:
        raise ValueError(f"selection must be one of {', '.join(SELECTIONS)}, got {selection!r}")
    target, classes, notes = encoded_target(
        _target_of(graphs) if y is None else y, len(batch), n_folds, task, ids=batch.ids
    )
    regression = not len(classes)
    wanted = _wanted_metrics(metrics, regression=regression)
    numbers = _ascending(_COMPONENTS if n_components is None else n_components)
    if methods is None:
        own = [] if n_components is None else numbers
        pipelines = vectorizer_pipelines(GraphVectorizer(device=device), own, regression=regression)
        methods = [*(REGRESSION_BASELINES if regression else BASELINES), *pipelines]
    if isinstance(methods, str) or not isinstance(methods, Iterable):
        raise TypeError(f"methods is {methods!r}, expected a list of methods: [{methods!r}]")
    chosen = [as_method(method, batch, regression=regression) for method in methods]
    if not chosen:
        raise ValueError("methods is empty, expected names or objects")
    _require_different_rows(chosen, numbers)
    for method in chosen:
        method.require_evaluable(batch)
    number_of_threads(n_jobs)  # raises errors, like the next, even if no fold is left to compute
    backend_for(device, 0)
    codes = None if groups is None else group_codes(groups, len(batch), n_folds)
    leaving_one_out = [one for one in chosen if isinstance(one, Method) and selection == "ridge"]
    if codes is not None and leaving_one_out:
        raise ValueError(
            f'groups need selection="svm" for {leaving_one_out[0].name!r}: leave-one-out sees the '
            f"other graphs of a group"
        )
    warn_of_notes(notes)
    folds = repeated_folds(target, n_folds, n_repeats, random_state, codes)
    content = Content()
    content.add(Dataset("", batch, target))
    # Without ids, which no method uses, and without edge data, which most do not use: it is in the
    # keys of those that do.
    graphs_or_classes = content.digest(edge_data=False, ids=False)
    shared: dict[str, str | int] = {"graphs or classes": graphs_or_classes, "n_folds": int(n_folds)}
    shared |= {"random_state": int(random_state), "version": __version__}
    if regression:
        shared["task"] = "regression"
    if codes is not None:
        shared["groups"] = digest(codes.tolist(), size=8)
    finished = Checkpoint(checkpoint, shared)
    problem = Problem(
        batch, target, classes, folds, numbers, selection, random_state, n_jobs, device, wanted
    )
    with surely_classes(), steps_may_run_out():
        rows = [row for method in chosen for row in _rows(method, problem, finished, progress)]
    return Evaluation(rows, wanted, notes)


def _target_of(graphs: Any) -> ArrayLike:
    """Return the target of a data set."""
    if not isinstance(graphs, Dataset):
        raise ValueError("y is None: pass a class or value for each graph, or a Dataset with them")
    if graphs.target is None:
        raise ValueError(f"the data set {graphs.name} has no target: pass y, one for each graph")
    return graphs.target


def _rows(
    method: EvaluationMethod, problem: Problem, finished: Checkpoint, progress: bool
) -> list[Row]:
    """Score the folds that are not finished, and return the rows of all."""
    keys, metrics = method.checkpoint_keys(problem), problem.metrics

    def is_finished(key: str) -> bool:
        return key in finished and all(name in row for row in finished[key] for name in metrics)

    left = {number: key for number, key in enumerate(keys) if not is_finished(key)}
    n_folds = len(problem.folds)
    if left:
        if len(left) < n_folds:
            done = n_folds - len(left)
            what = "%s: %d of %d folds are in the checkpoint"
            tell(what, method.name, done, n_folds, shown=progress)
        title = method.name if progress else None
        method.score_folds(FoldsLeft(problem, left, finished, title))
    rows = []
    for fold, key in zip(problem.folds, keys, strict=True):
        for row in finished[key]:
            missing = [name for name in metrics if name not in row]
            if missing:
                raise ValueError(
                    f"{method.name!r} has no {missing[0]} in its rows: return Problem.scores(fold, "
                    f"predicted, by_class), or ask for other metrics"
                )
            complete = {"method": method.name, "repeat": fold.repeat, "fold": fold.place, **row}
            shown = columns(metrics, regression=problem.regression)
            rows.append({column: complete.get(column) for column in shown})
    return rows


def _wanted_metrics(metrics: Any, *, regression: bool) -> tuple[str, ...]:
    known = REGRESSION_METRICS if regression else CLASSIFICATION_METRICS
    if metrics is None:
        return REGRESSION_METRICS if regression else ("accuracy",)
    wanted = (metrics,) if isinstance(metrics, str) else tuple(dict.fromkeys(metrics))
    for name in wanted:
        if name not in known:
            task = "regression" if regression else "classification"
            raise ValueError(f"metrics must be among {', '.join(known)} for {task}, got {name!r}")
    if not wanted:
        raise ValueError(f"metrics must be one or more of {', '.join(known)}, got none")
    return wanted


def _ascending(n_components: int | Sequence[int]) -> list[int]:
    listed = isinstance(n_components, Sequence | np.ndarray) and not isinstance(n_components, str)
    several: list[Any] = [*n_components] if listed else [n_components]  # type: ignore[misc]
    for number in several:
        require_integer("n_components", number, least=1)
    if not several:
        raise ValueError("n_components is empty, expected numbers of random graphs")
    return sorted({int(number) for number in several})


def _require_different_rows(methods: list[EvaluationMethod], n_components: list[int]) -> None:
    known: set[tuple[str, int | None]] = set()
    for method in methods:
        rows = {(method.name, number) for number in method.components(n_components)}
        if rows & known:
            raise ValueError(
                f"two methods are called {method.name!r}, and their results could not be told "
                f"apart: rename one of them; an estimator gets a name from a pair (name, estimator)"
            )
        known |= rows
