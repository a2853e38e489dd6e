"""How well classes can be told: nested, repeated cross-validation in which nothing leaks."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from graphmover import __version__
from graphmover._checks import require_whole
from graphmover._parallel import for_each_chunk, single_threaded_blas
from graphmover.datasets import Dataset
from graphmover.embedding import RandomGraphEmbedding
from graphmover.evaluation._columns import Point, RandomColumns
from graphmover.evaluation._emd_kernel import emd_kernel, kernel_fold, negative_part
from graphmover.evaluation._folds import (
    Fold,
    Rows,
    Setting,
    bag_fold,
    bags_of_nodes,
    choose_setting,
    columns_looked_at,
    embedding_score,
    majority_fold,
)
from graphmover.evaluation._journal import Journal
from graphmover.evaluation._methods import (
    BASELINES,
    MAJORITY,
    EMDKernel,
    KernelMatrices,
    Method,
    paper_methods,
)
from graphmover.evaluation._selection import Choice
from graphmover.evaluation._svm import arrays_on
from graphmover.evaluation._table import Evaluation
from graphmover.graphs import GraphBatch
from graphmover.interop import as_graph_batch
from graphmover.node_embedding import embed_nodes
from graphmover.streaming import Content
from graphmover.transport import device_for

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

AnyMethod = str | Method | EMDKernel | KernelMatrices


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
    by inner folds of it; the test part is looked at once. Distances are computed once for
    all folds, and serve all gamma, C and numbers of random graphs.

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
        todo = {number: key for number, key in enumerate(keys) if key not in finished}
        if todo:
            _finish(method, task, own, todo, finished, name if progress else None)
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


def _method(method: Any) -> tuple[AnyMethod, int | None]:
    """Return what a caller named, and the number of random graphs if it is fixed."""
    if isinstance(method, Method | EMDKernel | KernelMatrices):
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
        f"methods must be Method, EMDKernel, KernelMatrices or RandomGraphEmbedding objects or of "
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


def _finish(
    method: AnyMethod,
    task: _Task,
    n_components: Sequence[int],
    keys: Mapping[int, str],
    journal: Journal,
    progress: str | None,
) -> None:
    """Score the folds that have keys, and keep their rows in the journal."""
    if isinstance(method, Method):
        _finish_embedding(method, task, n_components, keys, journal, progress)
        return
    start = time.perf_counter()
    of_fold: Callable[[Fold], Rows]
    if method == MAJORITY:
        of_fold = partial(majority_fold, task.target)
    elif isinstance(method, str):
        of_fold = partial(bag_fold, bags_of_nodes(task.graphs), task.target)
    else:
        of_fold = partial(kernel_fold, *_kernels(method, task, progress), task.target)
    preparing = (time.perf_counter() - start) / len(keys)

    def score(fold: Fold) -> None:
        start = time.perf_counter()
        rows = of_fold(fold)
        seconds = time.perf_counter() - start + preparing
        journal.add(keys[fold.number], [{**row, "seconds": seconds} for row in rows])

    _in_threads(score, [task.folds[number] for number in keys], task.n_jobs, progress)


def _kernels(
    method: EMDKernel | KernelMatrices, task: _Task, progress: str | None
) -> tuple[str, Mapping[Any, NDArray[np.float64]]]:
    """Return what tells kernels apart, and the kernels."""
    if isinstance(method, KernelMatrices):
        if method.n_graphs != len(task.graphs):
            raise ValueError(
                f"{method.name!r} has kernels of {method.n_graphs} graphs, expected "
                f"{len(task.graphs)}"
            )
        return "kernel", method.matrices
    kernels = {}
    for d in _bar(method.n_dimensions, "distances", progress):
        nodes = embed_nodes(
            task.graphs, d, use_node_labels=method.use_node_labels, n_jobs=task.n_jobs
        )
        kernels[d] = emd_kernel(nodes, n_jobs=task.n_jobs, device=task.device)
    return "n_dimensions", kernels


def _finish_embedding(
    method: Method,
    task: _Task,
    n_components: Sequence[int],
    keys: Mapping[int, str],
    journal: Journal,
    progress: str | None,
) -> None:
    """Choose a setting in every fold, then score: each setting's distances are needed once."""
    start = time.perf_counter()
    target, n_jobs, most = task.target, task.n_jobs, n_components[-1]
    folds = [task.folds[number] for number in keys]
    parts = [fold.train for fold in task.folds]
    columns = RandomColumns(task.graphs, method.embedding, parts, most, task.seed, task.device)
    few = columns_looked_at(method, most, task.selection)
    for point in _bar(method.points(), "distances", progress):
        columns.compute(point, few, n_jobs)
    chosen: dict[tuple[int, int], tuple[Setting, Choice]] = {}

    def choose(fold: Fold) -> None:
        for R in n_components:
            chosen[fold.number, R] = choose_setting(
                method, columns, R, task.selection, target, fold
            )

    _in_threads(choose, folds, n_jobs, progress and f"{progress}: choosing")
    columns.forget(method.points())
    arrays = arrays_on(device_for(task.device, len(task.graphs) * most))
    preparing = (time.perf_counter() - start) / len(folds)
    found: dict[int, Rows] = {fold.number: [] for fold in folds}
    jobs: dict[tuple[Point, ...], list[tuple[Fold, int]]] = {}
    for fold, R in product(folds, n_components):
        jobs.setdefault(chosen[fold.number, R][0].points, []).append((fold, R))
    left = {points: len(some) for points, some in jobs.items()}
    lock = threading.Lock()

    def score(job: tuple[Fold, int]) -> None:
        fold, R = job
        start = time.perf_counter()
        setting, choice = chosen[fold.number, R]
        with lock:
            width = max(R for _, R in jobs[setting.points])
            for point in setting.points:
                columns.compute(point, width, n_jobs, arrays.take)
        row = {"n_components": R, **setting.row(), "selection_accuracy": choice.accuracy}
        if task.selection == "ridge":
            row["ridge_strength"] = choice.value
        row |= embedding_score(setting, columns, R, target, arrays, fold)
        row["seconds"] = time.perf_counter() - start + preparing / len(n_components)
        with lock:
            left[setting.points] -= 1
            if not left[setting.points]:
                still = {point for points, some in left.items() if some for point in points}
                columns.forget(set(setting.points) - still)
            rows = found[fold.number]
            rows.append(row)
            if len(rows) == len(n_components):
                rows.sort(key=lambda row: row["n_components"])
                journal.add(keys[fold.number], rows)

    by_points = [job for some in jobs.values() for job in some]
    # A GPU is busy with one fold; the second thread prepares the next.
    threads = n_jobs if arrays.module is np else 2
    _in_threads(score, by_points, threads, progress)


def _bar(things: Iterable[Any], words: str, progress: str | None) -> Iterable[Any]:
    shown: Iterable[Any] = tqdm(things, desc=f"{progress}: {words}", disable=progress is None)
    return shown


def _in_threads(
    function: Callable[[Any], None], jobs: Sequence[Any], n_jobs: int | None, progress: str | None
) -> None:
    def one(rows: slice) -> None:
        function(jobs[rows.start])

    one_each = np.ones(len(jobs), np.int64)
    with single_threaded_blas():  # folds are the threads
        for_each_chunk(one, one_each, most=1, n_jobs=n_jobs, progress=progress, unit="fold")
