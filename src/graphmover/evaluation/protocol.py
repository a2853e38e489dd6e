"""What a method must offer so that `evaluate` can run it.

Scikit-learn estimators of graphs, such as those of `graphmover.rivals`, need none of this. To add a
method of another kind, write one file in `methods/`: a subclass of `FoldByFold` needs a name and a
function that scores a fold. Methods whose folds share more than that implement `EvaluationMethod`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from graphmover.evaluation.checkpoint import Checkpoint
from graphmover.evaluation.folds import Fold
from graphmover.evaluation.metrics import (
    Predictions,
    classification_scores,
    predicts_values,
    regression_scores,
)
from graphmover.graphs.batch import GraphBatch

#: One row of the table of results: columns that do not apply are left out.
Row = dict[str, Any]


class Problem(NamedTuple):
    """What all methods of one evaluation share."""

    graphs: GraphBatch
    target: NDArray[Any]  # classes 0, 1, ..., or, for regression, floats
    classes: NDArray[Any]  # as the user wrote them: target indexes them; none for regression
    folds: list[Fold]
    n_components: Sequence[int]  # ascending
    selection: str
    random_state: int
    n_jobs: int | None
    device: str
    metrics: Sequence[str] = ("accuracy",)  # those that rows must have

    @property
    def regression(self) -> bool:
        """Whether values are predicted, not classes."""
        return predicts_values(self.target)

    def scores(
        self,
        fold: Fold,
        predicted: NDArray[Any],
        by_class: NDArray[np.float64] | None = None,
    ) -> Row:
        """Return all metrics of a test fold: the columns that every row needs.

        Parameters
        ----------
        predicted : ndarray
            For each graph of the test fold its class 0, 1, ..., or its value.
        by_class : ndarray of shape (len(fold.test), number of classes), optional
            Decision values or probabilities, which ROC AUC needs.
        """
        target, predictions = self.target[fold.test], Predictions(predicted, by_class)
        if self.regression:
            return {**regression_scores(target, predictions)}
        return {**classification_scores(target, predictions, np.arange(len(self.classes)))}


class FoldsLeft(NamedTuple):
    """The folds that a method has yet to score."""

    problem: Problem
    keys: Mapping[int, str]  # by the number of a fold
    checkpoint: Checkpoint
    progress: str | None  # the title of progress bars on standard error; None shows none

    @property
    def folds(self) -> list[Fold]:
        """The folds themselves."""
        return [self.problem.folds[number] for number in self.keys]


@runtime_checkable
class EvaluationMethod(Protocol):
    """A method that `evaluate` can score."""

    @property
    def name(self) -> str:
        """The method's name in the results."""

    def components(self, n_components: Sequence[int]) -> Sequence[int | None]:
        """Return the ``n_components`` of the rows of a fold, given those of `evaluate`.

        A method without random graphs has one row per fold: ``(None,)``.
        """

    def require_evaluable(self, graphs: GraphBatch) -> None:
        """Raise an error if the method cannot be evaluated on these graphs.

        It is called for all methods before any of them is computed.
        """

    def checkpoint_keys(self, problem: Problem) -> Sequence[str]:
        """Return a key for each fold: equal keys promise equal results, in every process.

        The data, the folds and ``random_state`` belong to the checkpoint as a whole.
        """

    def score_folds(self, left: FoldsLeft) -> None:
        """Score the folds that are left, and add the list of rows of each to the checkpoint."""
