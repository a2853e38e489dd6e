"""Grid search for random graph embeddings: all folds, random graphs and gammas share distances."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from graphmover.backends import backend_for
from graphmover.embedding import RandomGraphEmbedding
from graphmover.evaluation.arrays import arrays_on
from graphmover.evaluation.candidates import COLUMNS_FOR_SCALE, Candidate, SearchSpace
from graphmover.evaluation.columns import FoldDistances, Hyperparameters
from graphmover.evaluation.folds import Fold
from graphmover.evaluation.halving import columns_needed, finalists
from graphmover.evaluation.protocol import FoldsLeft, Row
from graphmover.evaluation.ridge import linear_machines, ridge_choice
from graphmover.evaluation.selection import (
    Choice,
    Machines,
    choose_by_inner_folds,
    score_on_test_fold,
)
from graphmover.evaluation.threads import in_threads, progress_bar

#: Finalists are compared on at most this many training graphs, with all random graphs.
FINAL_GRAPHS = 2000

#: Follows a fold's key in the keys of its finalists and of their comparison.
_FINALIST = " finalist"

#: Names the finalists in their record: it is part of the file format.
_CANDIDATES = "settings"


class _Job(NamedTuple):
    """A candidate to compare or to score, with a number of random graphs, in one fold."""

    fold: Fold
    n_components: int
    candidate: Candidate
    key: str  # of its comparison in the checkpoint


class GridSearch:
    """Successive halving, comparison of the finalists, and the score of the best, in every fold.

    Parameters
    ----------
    embedding : RandomGraphEmbedding
        Its parameters hold where ``space`` has no values; it is not fitted.
    space : SearchSpace
    n_components : sequence of int
        Ascending: a row for each.
    left : FoldsLeft
        Its checkpoint keeps the finalists of a fold, their comparison and its rows.
    """

    def __init__(
        self,
        embedding: RandomGraphEmbedding,
        space: SearchSpace,
        n_components: Sequence[int],
        left: FoldsLeft,
    ) -> None:
        self._space, self._n_components = space, n_components
        self._problem, self._keys, self._checkpoint, self._progress = left
        problem = left.problem
        graphs, most = problem.graphs, n_components[-1]
        self._distances = FoldDistances(
            graphs,
            embedding,
            [fold.train for fold in problem.folds],
            most,
            problem.random_state,
            problem.device,
        )
        self._arrays = arrays_on(backend_for(problem.device, len(graphs) * most).name)

    def score_folds(self) -> None:
        """Score all folds that are left, and add the rows of each to the checkpoint."""
        self._find_finalists()
        jobs = self._finalist_jobs()
        self._compare(jobs)
        self._score(jobs)
        self._checkpoint.drop(self._is_of_finished_fold)

    def _is_of_finished_fold(self, key: str) -> bool:
        fold_key, is_finalist, _ = key.rpartition(_FINALIST)
        return bool(is_finalist) and fold_key in self._checkpoint

    def _find_finalists(self) -> None:
        """Keep the finalists of each fold in the checkpoint."""
        problem, space = self._problem, self._space
        keys = {number: key + _FINALIST for number, key in self._keys.items()}
        keys = {number: key for number, key in keys.items() if key not in self._checkpoint}
        if not keys:
            return
        start = time.perf_counter()
        exhaustive, most = problem.selection == "svm", self._n_components[-1]
        few = min(most, COLUMNS_FOR_SCALE) if exhaustive else columns_needed(space, most)
        for hyperparameters in progress_bar(space.hyperparameters(), "distances", self._progress):
            self._distances.compute(hyperparameters, few, problem.n_jobs, keys)
        preparation = (time.perf_counter() - start) / len(keys)

        def find(fold: Fold) -> None:
            start = time.perf_counter()
            found = []
            for R in self._n_components:
                candidates = space.candidates(self._distances, R, fold)
                if not exhaustive:
                    candidates = finalists(candidates, self._distances, R, problem.target, fold)
                found.append(candidates)
            seconds = time.perf_counter() - start + preparation
            self._checkpoint.add(keys[fold.number], {"seconds": seconds, _CANDIDATES: found})

        folds = [problem.folds[number] for number in keys]
        in_threads(find, folds, problem.n_jobs, self._progress and f"{self._progress}: choosing")
        on_host = self._arrays.module is np
        self._distances.release(space.hyperparameters(), self._arrays.cache_bytes if on_host else 0)

    def _finalist_jobs(self) -> list[_Job]:
        jobs = [
            _Job(
                self._problem.folds[number],
                R,
                Candidate.from_json(*candidate),
                f"{key}{_FINALIST} {place} of {R}",
            )
            for number, key in self._keys.items()
            for R, candidates in zip(
                self._n_components, self._checkpoint[key + _FINALIST][_CANDIDATES], strict=True
            )
            for place, candidate in enumerate(candidates)
        ]
        # Candidates that share blocks follow each other, and so do the uses of their distances.
        return sorted(jobs, key=lambda job: job.candidate.order)

    def _compare(self, jobs: list[_Job]) -> None:
        """Keep in the checkpoint how well each finalist does with all its random graphs."""
        problem, arrays = self._problem, self._arrays

        def choice(job: _Job) -> Choice:
            fold, R, candidate, _ = job
            with arrays.stream():
                if problem.selection == "svm":
                    return choose_by_inner_folds(self._machines(job), fold, problem.target)
                rows = fold.training_sample(FINAL_GRAPHS)
                features = candidate.features(self._distances, R, arrays, fold, rows)
                sources = None
                if self._space.whole_graphs:
                    sources = candidate.sources(self._distances, R, fold, rows)
                return ridge_choice(features, problem.target[rows], fold.number, arrays, sources)

        def compare(job: _Job, start: float) -> None:
            found = choice(job)
            seconds = time.perf_counter() - start
            self._checkpoint.add(job.key, {"seconds": seconds, "choice": found})

        left = [job for job in jobs if job.key not in self._checkpoint]
        title = self._progress and f"{self._progress}: finalists"
        self._with_distances(left, compare, title, "finalist")

    def _score(self, jobs: list[_Job]) -> None:
        """Score the best finalist of each fold and number of random graphs on the test fold."""
        problem, n_components = self._problem, self._n_components
        best: dict[tuple[int, int], tuple[Choice, _Job]] = {}
        seconds = {
            number: self._checkpoint[key + _FINALIST]["seconds"]
            for number, key in self._keys.items()
        }
        for job in jobs:
            comparison = self._checkpoint[job.key]
            choice = Choice(*comparison["choice"])
            held, _ = best.setdefault((job.fold.number, job.n_components), (choice, job))
            if choice.beats(held):  # ties: the first
                best[job.fold.number, job.n_components] = choice, job
            seconds[job.fold.number] += comparison["seconds"]
        rows: dict[int, list[Row]] = {number: [] for number in self._keys}
        lock = threading.Lock()

        def score(job: _Job, start: float) -> None:
            fold, R, candidate, _ = job
            choice, _ = best[fold.number, R]
            row = {"n_components": R, **candidate.row(), **choice.row("selection", problem.target)}
            if problem.selection == "ridge":
                row["ridge_strength"] = choice.value
            chosen_value = choice if problem.selection == "svm" else None
            with self._arrays.stream():
                row |= score_on_test_fold(self._machines(job), problem, fold, chosen_value)
            row["seconds"] = time.perf_counter() - start + seconds[fold.number] / len(n_components)
            with lock:
                rows[fold.number].append(row)
                if len(rows[fold.number]) == len(n_components):
                    in_order = sorted(rows[fold.number], key=lambda row: row["n_components"])
                    self._checkpoint.add(self._keys[fold.number], in_order)

        chosen = [job for _, job in best.values()]
        # Reversed: the distances that were compared last are still there.
        chosen.sort(key=lambda job: job.candidate.order, reverse=True)
        self._with_distances(chosen, score, self._progress, "fold")

    def _machines(self, job: _Job) -> Machines:
        fold, R, candidate, _ = job
        features = candidate.features(self._distances, R, self._arrays, fold)
        sources = None
        if self._space.whole_graphs:
            sources = candidate.sources(self._distances, R, fold)
        target = self._problem.target
        return linear_machines(target, features, len(fold.train), self._arrays, sources)

    def _with_distances(
        self,
        jobs: Sequence[_Job],
        work: Callable[[_Job, float], None],
        progress: str | None,
        unit: str,
    ) -> None:
        """Call ``work(job, start time)`` in threads, once the distances it needs are there."""
        if not jobs:
            return
        n_jobs, arrays = self._problem.n_jobs, self._arrays
        by_stack: dict[tuple[Hyperparameters, ...], list[_Job]] = {}
        widths: dict[Hyperparameters, int] = {}
        users: dict[Hyperparameters, set[int]] = {}
        for job in jobs:
            by_stack.setdefault(job.candidate.stack, []).append(job)
            for one in job.candidate.stack:
                widths[one] = max(widths.get(one, 0), job.n_components)
                users.setdefault(one, set()).add(job.fold.number)
        left = {stack: len(some) for stack, some in by_stack.items()}
        lock = threading.Lock()

        def run(job: _Job) -> None:
            stack = job.candidate.stack
            with lock:
                start = time.perf_counter()  # not counting the wait for the lock
                for one in stack:
                    self._distances.compute(one, widths[one], n_jobs, users[one], arrays.to_device)
            work(job, start)
            with lock:
                left[stack] -= 1
                if not left[stack]:
                    still = {one for other, some in left.items() if some for one in other}
                    self._distances.release(set(stack) - still, arrays.cache_bytes)

        # A GPU is busy with one job; a second thread prepares the next.
        threads = n_jobs if arrays.module is np else 2
        in_threads(
            run, [job for some in by_stack.values() for job in some], threads, progress, unit
        )
