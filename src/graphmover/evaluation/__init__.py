"""How well classes can be told: nested, repeated cross-validation in which nothing leaks."""

from __future__ import annotations

import hashlib
import os
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover import __version__
from graphmover._utils.checks import require_whole
from graphmover._utils.parallel import number_of_threads
from graphmover.backends import backend_for
from graphmover.embedding import RandomGraphEmbedding
from graphmover.evaluation.emd_kernel_matrix import emd_kernel, negative_part
from graphmover.evaluation.folds import FINAL_GRAPHS, LOOKS, Fold, Rows, bags_of_nodes
from graphmover.evaluation.journal import Journal
from graphmover.evaluation.methods import (
    BASELINES,
    MAJORITY,
    AnyMethod,
    EMDKernel,
    KernelMatrices,
    Method,
    paper_methods,
)
from graphmover.evaluation.running import Task, finish
from graphmover.evaluation.selection import INNER_FOLDS, STRENGTHS
from graphmover.evaluation.svm import SVM_C
from graphmover.evaluation.table import Evaluation
from graphmover.evaluation.target import classes_of
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.graphs.interop import as_graph_batch
from graphmover.io.streaming import Content

__all__ = [
    "EMDKernel",
    "Evaluation",
    "KernelMatrices",
    "Method",
    "bags_of_nodes",
    "emd_kernel",
    "evaluate",
    "negative_part",
    "paper_methods",
]

SELECTIONS = ("ridge", "svm")

#: Every row has these, in this order.
_COLUMNS = (
    *("method", "n_components", "repeat", "fold", "accuracy", "max_random_nodes", "n_dimensions"),
    *("wl_iterations", "gamma", "ridge_strength", "kernel", "C", "selection_accuracy"),
    *("inner_accuracy", "negative_eigenvalues", "negative_share", "seconds"),
)


def evaluate(
    graphs: Any,
    y: ArrayLike,
    methods: Iterable[AnyMethod | RandomGraphEmbedding] = (*BASELINES, "RGE(ASG)"),
    *,
    n_components: int | Sequence[int] = 256,
    n_folds: int = 10,
    n_repeats: int = 1,
    selection: str = "ridge",
    random_state: int = 0,
    n_jobs: int | None = None,
    device: str = "cpu",
    journal: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Evaluation:
    """Cross-validate methods on the same stratified folds, choosing on training parts alone.

    In every fold random graphs come from the training part, the setting with the best
    leave-one-out accuracy of ridge classification there is taken, then the C of a linear SVM
    by inner folds of it; the test part is looked at once. All folds share distances, which
    serve all gamma, C and numbers of random graphs.

    Parameters
    ----------
    graphs : GraphBatch or anything `as_graph_batch` takes
    y : array-like of shape (len(graphs),)
        A class for each graph.
    methods : iterable
        Names ("majority class", "bag of nodes", or one of `paper_methods`), `Method`,
        `EMDKernel` or `KernelMatrices` objects of your own, or estimators, whose parameters
        are then fixed.
    n_components : int or sequence of int
        Random graphs; of several numbers each gets its own rows, and the smaller use the first
        columns of the largest. An estimator has its own number.
    n_folds, n_repeats : int
        Stratified folds, and how often they are drawn anew.
    selection : {"ridge", "svm"}
        "svm" tries every C at every setting by inner folds: the full search, many times slower.
    random_state : int
        Decides folds and random graphs.
    n_jobs : int or None
        Threads, for distances and for folds; None is 1, -1 is all cores. Results do not
        depend on it.
    device : {"cpu", "cuda", "auto"}
        What computes distances, compares finalists and fits SVMs.
    journal : path, optional
        A file that keeps the results of finished folds: the same call goes on after a kill, and
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
    >>> graphs, families = gm.make_graph_families(60, random_state=0, return_X_y=True)
    >>> embedding = gm.RandomGraphEmbedding(32)
    >>> result = evaluate(graphs, families, ["majority class", embedding], n_folds=3)
    >>> [row["method"] for row in result.summary()]
    ['majority class', 'RGE(ASG), D_max = 20, d = 4']
    """
    batch = as_graph_batch(graphs)
    require_whole("n_folds", n_folds, least=2)
    require_whole("n_repeats", n_repeats, least=1)
    require_whole("random_state", random_state, least=0)
    if selection not in SELECTIONS:
        raise ValueError(f"selection must be one of {', '.join(SELECTIONS)}, got {selection!r}")
    target = classes_of(y, len(batch), n_folds)
    listed = isinstance(n_components, Sequence | np.ndarray) and not isinstance(n_components, str)
    several: list[Any] = [*n_components] if listed else [n_components]  # type: ignore[misc]
    for number in several:
        require_whole("n_components", number, least=1)
    if not several:
        raise ValueError("n_components is empty, expected numbers of random graphs")
    numbers = sorted({int(number) for number in several})
    if isinstance(methods, str) or not isinstance(methods, Iterable):
        raise TypeError(f"methods is {methods!r}, expected a list of methods: [{methods!r}]")
    chosen = [_method(method, batch) for method in methods]
    if not chosen:
        raise ValueError("methods is empty, expected names or objects")
    _require_different_names(chosen)
    for method, _ in chosen:
        _require_evaluable(method, batch)
    number_of_threads(n_jobs)  # refuses, as the next does, even where no fold is left to compute
    backend_for(device, 0)
    folds = _split(target, n_folds, n_repeats, random_state)
    content = Content()
    content.add(Dataset("", batch, target))
    shared: dict[str, str | int] = {"graphs or classes": content.digest(), "n_folds": int(n_folds)}
    shared |= {"random_state": int(random_state), "version": __version__}
    finished = Journal(journal, shared)
    task = Task(batch, target, folds, selection, random_state, n_jobs, device)
    rows: Rows = []
    for method, fixed in chosen:
        own = [fixed] if fixed else numbers
        name = _name_of(method)
        keys = _keys(method, own, selection, folds)
        todo = {number: key for number, key in enumerate(keys) if key not in finished}
        if todo:
            finish(method, task, own, todo, finished, name if progress else None)
        for fold in folds:
            repeat, number = divmod(fold.number, n_folds)
            found = {"method": name, "repeat": repeat, "fold": number}
            for row in finished[keys[fold.number]]:
                complete = {**found, **row}
                rows.append({column: complete.get(column) for column in _COLUMNS})
    return Evaluation(rows)


def _name_of(method: AnyMethod) -> str:
    return method if isinstance(method, str) else method.name


def _require_different_names(chosen: list[tuple[AnyMethod, int | None]]) -> None:
    known: set[tuple[str, int | None]] = set()
    for method, fixed in chosen:
        name = _name_of(method)
        if (name, fixed) in known:
            raise ValueError(
                f"two methods are called {name!r}, and results could not be told apart: give one a "
                f"name of its own by Method(name, estimator); its R is then evaluate's n_components"
            )
        known.add((name, fixed))


def _require_evaluable(method: AnyMethod, batch: GraphBatch) -> None:
    """Refuse a method before others are computed in vain."""
    if isinstance(method, KernelMatrices) and method.n_graphs != len(batch):
        raise ValueError(
            f"{method.name!r} has kernels of {method.n_graphs} graphs, expected {len(batch)}"
        )
    labelled = method.embedding if isinstance(method, Method) else method
    if getattr(labelled, "use_node_labels", False) is True and batch.node_labels is None:
        raise ValueError(f"{_name_of(method)!r} needs node labels, but not all graphs have them")


def _method(method: Any, batch: GraphBatch) -> tuple[AnyMethod, int | None]:
    """Return what a caller named, and the number of random graphs if it is fixed."""
    if isinstance(method, Method | EMDKernel | KernelMatrices):
        return method, None
    if isinstance(method, RandomGraphEmbedding):
        return Method(_name_of_estimator(method, batch), method), method.n_components
    if isinstance(method, str) and method in BASELINES:
        return method, None
    known = paper_methods()
    if isinstance(method, str) and method in known:
        return known[method], None
    raise ValueError(
        f"methods must be Method, EMDKernel, KernelMatrices or RandomGraphEmbedding objects or of "
        f"{', '.join([*BASELINES, *known])}, got {reprlib.repr(method)}"
    )


def _name_of_estimator(estimator: RandomGraphEmbedding, batch: GraphBatch) -> str:
    """Return a name that tells all that is not the default."""
    kind = {"anchor": "ASG", "uniform": "RF"}.get(estimator.sampling, estimator.sampling)
    labels = estimator.use_node_labels
    labelled = batch.node_labels is not None if labels == "auto" else labels
    name = f"RGE({kind})"
    if kind == "ASG" and (labelled or estimator.wl_iterations):
        name += "+labels"
        if estimator.wl_iterations:
            name += f" of depth {estimator.wl_iterations}"
    name += f", D_max = {estimator.max_random_nodes}, d = {estimator.n_dimensions}"
    default = RandomGraphEmbedding()
    for parameter in ("node_embedding", "node_mass", "gamma"):
        value = getattr(estimator, parameter)
        if value != getattr(default, parameter):
            told = getattr(value, "__name__", type(value).__name__) if callable(value) else value
            name += f", {parameter} = {told}"
    return name


def _split(target: NDArray[np.int64], n_folds: int, n_repeats: int, seed: int) -> list[Fold]:
    from sklearn.model_selection import RepeatedStratifiedKFold

    splits = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    return [
        Fold(number, train, test, seed=number)
        for number, (train, test) in enumerate(splits.split(target, target))
    ]


def _keys(
    method: AnyMethod, n_components: Sequence[int], selection: str, folds: list[Fold]
) -> list[str]:
    """Return what the finished folds are found by in the journal."""
    told = method if isinstance(method, str) else f"{method.name} {method.fingerprint}"
    rule = _rule(method, selection)
    if isinstance(method, Method):
        rule = f"{list(n_components)} {selection} {rule}"
    return [f"{told} #{fold.number} {rule}" for fold in folds]


def _rule(method: AnyMethod, selection: str) -> str:
    """Return what two ways of choosing share only if they choose alike."""
    parts: tuple[Any, ...] = (SVM_C, INNER_FOLDS)
    if method == MAJORITY:
        parts = ()
    elif isinstance(method, EMDKernel | KernelMatrices):
        parts = (method.range_of_c, INNER_FOLDS)
    elif isinstance(method, Method) and selection == "ridge":
        parts = (LOOKS, FINAL_GRAPHS, STRENGTHS, SVM_C, INNER_FOLDS)
    return hashlib.blake2b(repr(parts).encode(), digest_size=4).hexdigest()
