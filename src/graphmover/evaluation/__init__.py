"""How well classes can be told: nested, repeated cross-validation in which nothing leaks."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from graphmover import __version__
from graphmover._checks import require_whole
from graphmover._parallel import for_each_chunk, single_threaded_blas
from graphmover.datasets import Dataset
from graphmover.embedding import RandomGraphEmbedding
from graphmover.evaluation._columns import RandomColumns
from graphmover.evaluation._emd_kernel import emd_kernel, kernel_fold, negative_part
from graphmover.evaluation._folds import (
    Fold,
    Rows,
    bag_fold,
    bags_of_nodes,
    embedding_fold,
    majority_fold,
)
from graphmover.evaluation._journal import Journal
from graphmover.evaluation._methods import BASELINES, MAJORITY, EMDKernel, Method, paper_methods
from graphmover.evaluation._table import Evaluation
from graphmover.graphs import GraphBatch
from graphmover.interop import as_graph_batch
from graphmover.node_embedding import embed_nodes
from graphmover.streaming import Content

__all__ = [
    "EMDKernel",
    "Evaluation",
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
    *("wl_iterations", "gamma", "ridge_strength", "C", "selection_accuracy", "inner_accuracy"),
    *("negative_eigenvalues", "negative_share", "seconds"),
)

_OfFold = Callable[[Fold], Rows]


def evaluate(
    graphs: Any,
    y: ArrayLike,
    methods: Iterable[str | Method | EMDKernel | RandomGraphEmbedding] = (*BASELINES, "RGE(ASG)"),
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
    by inner folds of it; the test part is looked at once. Distances are computed once for
    all folds, and serve all gamma, C and numbers of random graphs.

    Parameters
    ----------
    graphs : GraphBatch or anything `as_graph_batch` takes
    y : array-like of shape (len(graphs),)
        A class for each graph.
    methods : iterable
        Names ("majority class", "bag of nodes", or one of `paper_methods`), `Method` or
        `EMDKernel` objects of your own, or estimators, whose parameters are then fixed.
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
        What computes distances.
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
    ['majority class', 'RGE(ASG), D_max = 10, d = 6']
    """
    batch = as_graph_batch(graphs)
    require_whole("n_folds", n_folds, least=2)
    require_whole("n_repeats", n_repeats, least=1)
    require_whole("random_state", random_state, least=0)
    if selection not in SELECTIONS:
        raise ValueError(f"selection must be one of {', '.join(SELECTIONS)}, got {selection!r}")
    target = _classes(y, len(batch), n_folds)
    several = n_components if isinstance(n_components, Sequence) else [n_components]
    for number in several:
        require_whole("n_components", number, least=1)
    numbers = sorted(several)
    chosen = [_method(method) for method in methods]
    folds = _split(target, n_folds, n_repeats, random_state)
    content = Content()
    content.add(Dataset("", batch, target))
    shared = (content.digest(), n_folds, random_state, __version__)
    finished = Journal(journal, hashlib.blake2b(repr(shared).encode()).hexdigest())
    task = _Task(batch, target, folds, selection, random_state, n_jobs, device)
    rows: Rows = []
    for method, fixed in chosen:
        own = [fixed] if fixed else numbers
        name = method if isinstance(method, str) else method.name
        keys = [_key(method, own, selection, fold) for fold in folds]
        todo = [fold for fold in folds if keys[fold.number] not in finished]
        if todo:
            bar = name if progress else None
            start = time.perf_counter()
            of_fold = _prepared(method, task, own, bar)
            preparing = (time.perf_counter() - start) / len(todo)
            _run(of_fold, todo, keys, finished, preparing, n_jobs, bar)
        for fold in folds:
            repeat, number = divmod(fold.number, n_folds)
            found = {"method": name, "repeat": repeat, "fold": number}
            for row in finished[keys[fold.number]]:
                complete = {**found, **row}
                rows.append({column: complete.get(column) for column in _COLUMNS})
    return Evaluation(rows)


class _Task(NamedTuple):
    """What all methods share."""

    graphs: GraphBatch
    target: NDArray[np.int64]
    folds: list[Fold]
    selection: str
    seed: int
    n_jobs: int | None
    device: str


def _classes(y: ArrayLike, n_graphs: int, n_folds: int) -> NDArray[np.int64]:
    """Return classes as 0, 1, ..., or refuse what cannot be told apart in folds."""
    values = np.asarray(y)
    if values.shape != (n_graphs,):
        raise ValueError(f"y has the shape {values.shape}, expected ({n_graphs},): one per graph")
    if values.dtype.kind not in "biuUSO":
        raise ValueError(f"y is real numbers, such as {values[0]}, expected a class for each graph")
    classes, target, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(classes) < 2 or counts.min() < n_folds:
        raise ValueError(
            f"y has {len(classes)} classes, the rarest ({classes[np.argmin(counts)]}) with "
            f"{counts.min()} graphs, expected at least 2 classes and n_folds={n_folds} graphs of "
            f"each"
        )
    return target.astype(np.int64)


def _method(method: Any) -> tuple[str | Method | EMDKernel, int | None]:
    """Return what a caller named, and the number of random graphs if it is fixed."""
    if isinstance(method, Method | EMDKernel):
        return method, None
    if isinstance(method, RandomGraphEmbedding):
        kind = {"anchor": "ASG", "uniform": "RF"}.get(method.sampling, method.sampling)
        name = f"RGE({kind}), D_max = {method.max_random_nodes}, d = {method.n_dimensions}"
        if method.wl_iterations:
            name = f"WL-{name}, h = {method.wl_iterations}"
        return Method(name, method), method.n_components
    if isinstance(method, str) and method in BASELINES:
        return method, None
    known = paper_methods()
    if isinstance(method, str) and method in known:
        return known[method], None
    raise ValueError(
        f"methods must be Method, EMDKernel or RandomGraphEmbedding objects or of "
        f"{', '.join([*BASELINES, *known])}, got {method!r}"
    )


def _split(target: NDArray[np.int64], n_folds: int, n_repeats: int, seed: int) -> list[Fold]:
    from sklearn.model_selection import RepeatedStratifiedKFold

    splits = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    return [
        Fold(number, train, test, seed=number)
        for number, (train, test) in enumerate(splits.split(target, target))
    ]


def _key(method: Any, n_components: Sequence[int], selection: str, fold: Fold) -> str:
    """Return what a finished fold is found by in the journal."""
    if isinstance(method, str):
        return f"{method} #{fold.number}"
    key = f"{method.name} {method.fingerprint} #{fold.number}"
    return f"{key} {list(n_components)} {selection}" if isinstance(method, Method) else key


def _prepared(
    method: str | Method | EMDKernel,
    task: _Task,
    n_components: Sequence[int],
    progress: str | None,
) -> _OfFold:
    """Compute what all folds share, and return what scores one of them."""
    target, n_jobs, device = task.target, task.n_jobs, task.device
    words = {"desc": f"{progress}: distances", "disable": progress is None}
    if method == MAJORITY:
        return partial(majority_fold, target)
    if isinstance(method, str):
        return partial(bag_fold, bags_of_nodes(task.graphs), target)
    if isinstance(method, EMDKernel):
        labels, kernels = method.use_node_labels, {}
        for d in tqdm(method.n_dimensions, **words):
            nodes = embed_nodes(task.graphs, d, use_node_labels=labels, n_jobs=n_jobs)
            kernels[d] = emd_kernel(nodes, n_jobs=n_jobs, device=device)
        return partial(kernel_fold, kernels, target)
    parts = [fold.train for fold in task.folds]
    columns = RandomColumns(
        task.graphs, method.embedding, parts, n_components[-1], task.seed, device
    )
    for point in tqdm(method.points(), **words):
        columns.compute(point, n_jobs)
    return partial(embedding_fold, method, columns, n_components, task.selection, target)


def _run(
    of_fold: _OfFold,
    folds: Sequence[Fold],
    keys: Sequence[str],
    journal: Journal,
    preparing: float,
    n_jobs: int | None,
    progress: str | None,
) -> None:
    """Score folds in threads; each is in the journal as soon as it is done."""

    def score(rows: slice) -> None:
        fold = folds[rows.start]
        start = time.perf_counter()
        found = of_fold(fold)
        seconds = (time.perf_counter() - start) / len(found) + preparing / len(found)
        journal.add(keys[fold.number], [{**row, "seconds": seconds} for row in found])

    one_each = np.ones(len(folds), np.int64)
    with single_threaded_blas():  # folds are the threads
        for_each_chunk(score, one_each, most=1, n_jobs=n_jobs, progress=progress, unit="fold")
