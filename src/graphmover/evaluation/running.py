"""The folds of one method, in threads: finalists, the best of them, its score, the journal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from graphmover._utils.parallel import for_each_chunk, single_threaded_blas
from graphmover.backends import backend_for
from graphmover.evaluation.arrays import Arrays, arrays_on
from graphmover.evaluation.columns import Point, RandomColumns
from graphmover.evaluation.emd_kernel_matrix import kernel_fold, uncentred_kernel
from graphmover.evaluation.folds import (
    Fold,
    Rows,
    Setting,
    bag_fold,
    bags_of_nodes,
    columns_looked_at,
    embedding_score,
    final_look,
    finalists,
    majority_fold,
)
from graphmover.evaluation.journal import Journal
from graphmover.evaluation.methods import (
    MAJORITY,
    AnyMethod,
    EMDKernel,
    KernelMatrices,
    Method,
)
from graphmover.evaluation.selection import Choice
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embed import embed_nodes


class Task(NamedTuple):
    """What all methods share."""

    graphs: GraphBatch
    target: NDArray[np.int64]
    folds: list[Fold]
    selection: str
    seed: int
    n_jobs: int | None
    device: str


def finish(
    method: AnyMethod,
    task: Task,
    n_components: Sequence[int],
    keys: Mapping[int, str],
    journal: Journal,
    progress: str | None,
) -> None:
    """Score the folds that have keys, and keep their rows in the journal."""
    if progress is not None and len(keys) < len(task.folds):
        done = len(task.folds) - len(keys)
        tqdm.write(f"{progress}: {done} of {len(task.folds)} folds are in the journal", sys.stderr)
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
        kernels = _kernels(method, task, progress)
        of_fold = partial(kernel_fold, *kernels, method.range_of_c, task.target)
    preparing = (time.perf_counter() - start) / len(keys)

    def score(fold: Fold) -> None:
        start = time.perf_counter()
        rows = of_fold(fold)
        seconds = time.perf_counter() - start + preparing
        journal.add(keys[fold.number], [{**row, "seconds": seconds} for row in rows])

    _in_threads(score, [task.folds[number] for number in keys], task.n_jobs, progress)


def _kernels(
    method: EMDKernel | KernelMatrices, task: Task, progress: str | None
) -> tuple[str, Mapping[Any, NDArray[np.float64]]]:
    """Return what tells kernels apart, and the kernels."""
    if isinstance(method, KernelMatrices):
        return "kernel", method.matrices
    kernels = {}
    for d in _bar(method.n_dimensions, "distances", progress):
        nodes = embed_nodes(
            task.graphs, d, use_node_labels=method.use_node_labels, n_jobs=task.n_jobs
        )
        # SVMs are blind to centring, and the means of all graphs would know the test part.
        kernels[d] = uncentred_kernel(nodes, n_jobs=task.n_jobs, device=task.device)
    return "n_dimensions", kernels


class _Job(NamedTuple):
    """What is done for a fold: to judge or to score a setting with so many random graphs."""

    fold: Fold
    n_components: int
    setting: Setting
    key: str  # of the judgement in the journal


def _finish_embedding(
    method: Method,
    task: Task,
    n_components: Sequence[int],
    keys: Mapping[int, str],
    journal: Journal,
    progress: str | None,
) -> None:
    """Find the finalists of every fold, choose the best of them, and score that."""
    parts, most = [fold.train for fold in task.folds], n_components[-1]
    columns = RandomColumns(task.graphs, method.embedding, parts, most, task.seed, task.device)
    arrays = arrays_on(backend_for(task.device, len(task.graphs) * most).name)
    _find_finalists(method, task, n_components, keys, journal, columns, arrays, progress)
    rivals = [
        _Job(task.folds[number], R, Setting.of_json(*setting), f"{key}{_FINALIST} {place} of {R}")
        for number, key in keys.items()
        for R, settings in zip(n_components, journal[key + _FINALIST]["settings"], strict=True)
        for place, setting in enumerate(settings)
    ]
    # Blocks that end at different depths share the others: they follow each other.
    rivals.sort(key=lambda job: job.setting.points)

    def judge(job: _Job, start: float) -> None:
        fold, R, setting, key = job
        choice = final_look(setting, columns, R, task.selection, task.target, arrays, fold)
        journal.add(key, {"seconds": time.perf_counter() - start, "choice": choice})

    unjudged = [job for job in rivals if job.key not in journal]
    words = progress and f"{progress}: finalists"
    _with_distances(columns, unjudged, judge, arrays, task.n_jobs, words, "finalist")
    chosen: dict[tuple[int, int], tuple[Choice, _Job]] = {}
    seconds = {number: journal[key + _FINALIST]["seconds"] for number, key in keys.items()}
    for job in rivals:
        judgement = journal[job.key]
        choice = Choice(*judgement["choice"])
        held, _ = chosen.setdefault((job.fold.number, job.n_components), (choice, job))
        if choice[:2] > held[:2]:  # ties: the first
            chosen[job.fold.number, job.n_components] = choice, job
        seconds[job.fold.number] += judgement["seconds"]
    rows: dict[int, Rows] = {number: [] for number in keys}
    lock = threading.Lock()

    def score(job: _Job, start: float) -> None:
        fold, R, setting, _ = job
        choice, _ = chosen[fold.number, R]
        row = {"n_components": R, **setting.row(), "selection_accuracy": choice.accuracy}
        if task.selection == "ridge":
            row["ridge_strength"] = choice.value
        known = choice if task.selection == "svm" else None  # C is chosen already
        row |= embedding_score(setting, columns, R, task.target, arrays, fold, known)
        row["seconds"] = time.perf_counter() - start + seconds[fold.number] / len(n_components)
        with lock:
            rows[fold.number].append(row)
            if len(rows[fold.number]) == len(n_components):
                in_order = sorted(rows[fold.number], key=lambda row: row["n_components"])
                journal.add(keys[fold.number], in_order)

    best = [job for _, job in chosen.values()]
    best.sort(key=lambda job: job.setting.points, reverse=True)  # the last distances are there yet
    _with_distances(columns, best, score, arrays, task.n_jobs, progress, "fold")

    def of_a_finished_fold(key: str) -> bool:
        fold_key, is_part, _ = key.rpartition(_FINALIST)
        return bool(is_part) and fold_key in journal

    journal.drop(of_a_finished_fold)


#: What follows a fold's key in those of its finalists and of judgements on them.
_FINALIST = " finalist"


def _find_finalists(
    method: Method,
    task: Task,
    n_components: Sequence[int],
    keys: Mapping[int, str],
    journal: Journal,
    columns: RandomColumns,
    arrays: Arrays,
    progress: str | None,
) -> None:
    """Keep in the journal which settings of each fold are worth all random graphs."""
    todo = {number: key + _FINALIST for number, key in keys.items()}
    todo = {number: key for number, key in todo.items() if key not in journal}
    if not todo:
        return
    start = time.perf_counter()
    few = columns_looked_at(method, n_components[-1], task.selection)
    for point in _bar(method.points(), "distances", progress):
        columns.compute(point, few, task.n_jobs, todo)
    preparing = (time.perf_counter() - start) / len(todo)

    def find(fold: Fold) -> None:
        start = time.perf_counter()
        settings = [
            finalists(method, columns, R, task.selection, task.target, fold) for R in n_components
        ]
        seconds = time.perf_counter() - start + preparing
        journal.add(todo[fold.number], {"seconds": seconds, "settings": settings})

    folds = [task.folds[number] for number in todo]
    _in_threads(find, folds, task.n_jobs, progress and f"{progress}: choosing")
    columns.forget(method.points(), arrays.room if arrays.module is np else 0)


def _with_distances(
    columns: RandomColumns,
    jobs: Sequence[_Job],
    work: Callable[[_Job, float], None],
    arrays: Arrays,
    n_jobs: int | None,
    progress: str | None,
    unit: str,
) -> None:
    """Call ``work(job, when it began)`` in threads; what distances it needs are there then."""
    if not jobs:
        return
    by_points: dict[tuple[Point, ...], list[_Job]] = {}
    widths: dict[Point, int] = {}
    users: dict[Point, set[int]] = {}
    for job in jobs:
        by_points.setdefault(job.setting.points, []).append(job)
        for point in job.setting.points:
            widths[point] = max(widths.get(point, 0), job.n_components)
            users.setdefault(point, set()).add(job.fold.number)
    left = {points: len(some) for points, some in by_points.items()}
    lock = threading.Lock()

    def one(job: _Job) -> None:
        with lock:
            start = time.perf_counter()  # waiting for others' distances is no work of this job
            for point in job.setting.points:
                columns.compute(point, widths[point], n_jobs, users[point], arrays.take)
        work(job, start)
        with lock:
            left[job.setting.points] -= 1
            if not left[job.setting.points]:
                still = {point for points, some in left.items() if some for point in points}
                columns.forget(set(job.setting.points) - still, arrays.room)

    # A GPU is busy with one job; the second thread prepares the next.
    threads = n_jobs if arrays.module is np else 2
    _in_threads(one, [job for some in by_points.values() for job in some], threads, progress, unit)


def _bar(things: Iterable[Any], words: str, progress: str | None) -> Iterable[Any]:
    shown: Iterable[Any] = tqdm(things, desc=f"{progress}: {words}", disable=progress is None)
    return shown


def _in_threads(
    function: Callable[[Any], None],
    jobs: Sequence[Any],
    n_jobs: int | None,
    progress: str | None,
    unit: str = "fold",
) -> None:
    def one(rows: slice) -> None:
        function(jobs[rows.start])

    one_each = np.ones(len(jobs), np.int64)
    with single_threaded_blas():  # folds are the threads
        for_each_chunk(one, one_each, most=1, n_jobs=n_jobs, progress=progress, unit=unit)
