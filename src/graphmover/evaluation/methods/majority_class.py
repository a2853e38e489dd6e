"""The baseline that sees no graph at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphmover.evaluation.folds import Fold
from graphmover.evaluation.methods.fold_by_fold import FoldByFold
from graphmover.evaluation.protocol import Problem, Row


class MajorityClass(FoldByFold):
    """Predict the most frequent class of the training set."""

    name = "majority class"

    def scorer(self, problem: Problem, progress: str | None) -> Callable[[Fold], Row]:
        """Return the function that scores a fold."""
        target = problem.target

        def row(fold: Fold) -> Row:
            most_frequent = np.bincount(target[fold.train]).argmax()
            return {"accuracy": float((target[fold.test] == most_frequent).mean())}

        return row
