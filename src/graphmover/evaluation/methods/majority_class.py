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
    uses_edge_data = False

    def scorer(self, problem: Problem, progress: str | None) -> Callable[[Fold], Row]:
        """Return the function that scores a fold."""

        def row(fold: Fold) -> Row:
            counts = np.bincount(problem.target[fold.train], minlength=len(problem.classes))
            by_class = np.tile(counts.astype(np.float64), (len(fold.test), 1))
            return problem.scores(fold, by_class.argmax(axis=1), by_class)

        return row
