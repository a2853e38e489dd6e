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

from graphmover._parallel import for_each_chunk, single_threaded_blas
from graphmover.evaluation._arrays import Arrays, arrays_on
from graphmover.evaluation._columns import Point, RandomColumns
from graphmover.evaluation._emd_kernel import emd_kernel, kernel_fold
from graphmover.evaluation._folds import (
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
from graphmover.evaluation._journal import Journal
from graphmover.evaluation._methods import (
    MAJORITY,
    AnyMethod,
    EMDKernel,
    KernelMatrices,
    Method,
)
from graphmover.evaluation._selection import Choice
from graphmover.graphs import GraphBatch
from graphmover.node_embedding import embed_nodes
from graphmover.transport import device_for


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
        of_fold = partial(kernel_fold, *_kernels(method, task, progress), task.target)
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


class _Job(NamedTuple):
    """What is done for a fold: to judge or to score a setting with so many random graphs."""

    fold: Fold
    n_components: int
    number: int  # among the finalists
    setting: Setting


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
    _find_finalists(method, task, n_components, keys, journal, columns, progress)
    arrays = arrays_on(device_for(task.device, len(task.graphs) * most))
    seconds = {number: journal[key + _FINALISTS]["seconds"] for number, key in keys.items()}
    rivals = [
        _Job(task.folds[number], R, place, Setting.of_json(*setting))
        for number, key in keys.items()
        for R, settings in zip(n_components, journal[key + _FINALISTS]["settings"], strict=True)
        for place, setting in enumerate(settings)
    ]
    choices: dict[tuple[int, int, int], Choice] = {}
    lock = threading.Lock()

    def judge(job: _Job, start: float) -> None:
        fold, R, place, setting = job
        choices[fold.number, R, place] = final_look(
            setting, columns, R, task.selection, task.target, arrays, fold
        )
        with lock:
            seconds[fold.number] += time.perf_counter() - start

    _with_distances(columns, rivals, judge, arrays, task.n_jobs, progress and f"{progress}: finals")
    best: dict[tuple[int, int], _Job] = {}
    for job in rivals:
        held = best.setdefault((job.fold.number, job.n_components), job)
        if _choice_of(job, choices)[:2] > _choice_of(held, choices)[:2]:  # ties: the first
            best[job.fold.number, job.n_components] = job
    rows: dict[int, Rows] = {number: [] for number in keys}

    def score(job: _Job, start: float) -> None:
        fold, R, _, setting = job
        choice = _choice_of(job, choices)
        row = {"n_components": R, **setting.row(), "selection_accuracy": choice.accuracy}
        if task.selection == "ridge":
            row["ridge_strength"] = choice.value
        row |= embedding_score(setting, columns, R, task.target, arrays, fold)
        row["seconds"] = time.perf_counter() - start + seconds[fold.number] / len(n_components)
        with lock:
            rows[fold.number].append(row)
            if len(rows[fold.number]) == len(n_components):
                in_order = sorted(rows[fold.number], key=lambda row: row["n_components"])
                journal.add(keys[fold.number], in_order)

    _with_distances(columns, list(best.values()), score, arrays, task.n_jobs, progress)


#: What the key of a fold's finalists ends with.
_FINALISTS = " finalists"


def _choice_of(job: _Job, choices: Mapping[tuple[int, int, int], Choice]) -> Choice:
    return choices[job.fold.number, job.n_components, job.number]


def _find_finalists(
    method: Method,
    task: Task,
    n_components: Sequence[int],
    keys: Mapping[int, str],
    journal: Journal,
    columns: RandomColumns,
    progress: str | None,
) -> None:
    """Keep in the journal which settings of each fold are worth all random graphs."""
    todo = {number: key + _FINALISTS for number, key in keys.items()}
    todo = {number: key for number, key in todo.items() if key not in journal}
    if not todo:
        return
    start = time.perf_counter()
    few = columns_looked_at(method, n_components[-1])
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
    columns.forget(method.points())


def _with_distances(
    columns: RandomColumns,
    jobs: Sequence[_Job],
    work: Callable[[_Job, float], None],
    arrays: Arrays,
    n_jobs: int | None,
    progress: str | None,
) -> None:
    """Call ``work(job, when it began)`` in threads; what distances it needs are there then."""
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

    # A GPU is busy with one job; the second thread prepares the next. Points that are alike
    # follow each other, since blocks that end at different depths share the others.
    threads = n_jobs if arrays.module is np else 2
    in_order = [job for points in sorted(by_points) for job in by_points[points]]
    _in_threads(one, in_order, threads, progress)


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
