"""The baseline of regression that sees no graph at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphmover.evaluation.folds import Fold
from graphmover.evaluation.methods.fold_by_fold import FoldByFold
from graphmover.evaluation.protocol import Problem, Row


class MeanValue(FoldByFold):
    """Predict the mean of the training set."""

    name = "mean value"
    uses_edge_data = False

    def scorer(self, problem: Problem, progress: str | None) -> Callable[[Fold], Row]:
        """Return the function that scores a fold."""

        def row(fold: Fold) -> Row:
            mean = problem.target[fold.train].mean()
            return problem.scores(fold, np.full(len(fold.test), mean))

        return row
