"""The base of methods whose folds are scored independently of each other."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from graphmover.evaluation.fingerprints import digest, edge_data_digest
from graphmover.evaluation.folds import Fold
from graphmover.evaluation.protocol import FoldsLeft, Problem, Row
from graphmover.evaluation.selection import STRENGTHS
from graphmover.evaluation.threads import in_threads
from graphmover.graphs.batch import GraphBatch


class FoldByFold(ABC):
    """An `EvaluationMethod` with one row per fold.

    A subclass needs a ``name`` and `scorer`. One with parameters also needs a `fingerprint`, and
    one that chooses hyperparameters the constants that `tuned_over` returns. One that ignores
    labels and attributes of edges sets ``uses_edge_data = False``: a checkpoint then remains valid
    when they change.

    Examples
    --------
    >>> import numpy as np
    >>> import graphmover as gm
    >>> from graphmover.evaluation import FoldByFold, evaluate
    >>> class FirstClass(FoldByFold):
    ...     name = "first class"
    ...
    ...     def scorer(self, problem, progress):
    ...         return lambda fold: problem.scores(fold, np.zeros(len(fold.test)))
    >>> graphs, families = gm.make_graph_families(60, random_state=0, return_X_y=True)
    >>> evaluate(graphs, families, [FirstClass()], n_folds=5)
    Evaluation(first class: 16.7 %)
    """

    name: str

    #: Whether labels and attributes of edges may change the results.
    uses_edge_data: ClassVar[bool] = True

    @property
    def fingerprint(self) -> str:
        """Equal for two methods of one name only if they give the same results."""
        return ""

    @abstractmethod
    def scorer(self, problem: Problem, progress: str | None) -> Callable[[Fold], Row]:
        """Prepare what folds share, and return the function that scores one of them.

        It is called in threads. Its row must have the metrics that `evaluate` is asked for, which
        `Problem.scores` computes, and may have other columns of `Evaluation`.
        """

    def tuned_over(self) -> tuple[object, ...]:
        """Return the constants of this version that hyperparameters are chosen by."""
        return ()

    def components(self, n_components: Sequence[int]) -> Sequence[int | None]:
        """Return (None,): there are no random graphs."""
        return (None,)

    def require_evaluable(self, graphs: GraphBatch) -> None:  # noqa: B027
        """Raise an error if the method cannot be evaluated on these graphs."""

    def checkpoint_keys(self, problem: Problem) -> Sequence[str]:
        """Return a key for each fold."""
        edges = edge_data_digest(problem.graphs) if self.uses_edge_data else ""
        identity = " ".join(filter(None, [self.name, self.fingerprint, edges]))
        strengths = (STRENGTHS,) if problem.regression else ()
        tuning = digest(self.tuned_over() + strengths, size=4)
        return [f"{identity} #{fold.number} {tuning}" for fold in problem.folds]

    def score_folds(self, left: FoldsLeft) -> None:
        """Score the folds that are left, and add the row of each to the checkpoint."""
        start = time.perf_counter()
        row_of = self.scorer(left.problem, left.progress)
        preparation = (time.perf_counter() - start) / len(left.keys)

        def score(fold: Fold) -> None:
            start = time.perf_counter()
            row = row_of(fold)
            seconds = time.perf_counter() - start + preparation
            left.checkpoint.add(left.keys[fold.number], [{**row, "seconds": seconds}])

        in_threads(score, left.folds, left.problem.n_jobs, left.progress)
