"""The folds of one method, in threads: all choices first, then scores, then the journal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from graphmover._parallel import for_each_chunk, single_threaded_blas
from graphmover.evaluation._columns import Point, RandomColumns
from graphmover.evaluation._emd_kernel import emd_kernel, kernel_fold
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
    MAJORITY,
    AnyMethod,
    EMDKernel,
    KernelMatrices,
    Method,
)
from graphmover.evaluation._selection import Choice
from graphmover.evaluation._svm import arrays_on
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


def _finish_embedding(
    method: Method,
    task: Task,
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
        columns.compute(point, few, n_jobs, keys)
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
    widths: dict[Point, int] = {}
    users: dict[Point, list[int]] = {}
    for points, some in jobs.items():
        for point in points:
            widths[point] = max(widths.get(point, 0), *(R for _, R in some))
            users.setdefault(point, []).extend(fold.number for fold, _ in some)
    lock = threading.Lock()

    def score(job: tuple[Fold, int]) -> None:
        fold, R = job
        setting, choice = chosen[fold.number, R]
        with lock:
            start = time.perf_counter()  # waiting for others' distances is no work of this fold
            for point in setting.points:
                columns.compute(point, widths[point], n_jobs, users[point], arrays.take)
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
