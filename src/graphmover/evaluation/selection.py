"""Model selection on the training set: leave-one-out ridge, and inner folds.

Ridge regression predicts every left-out row in closed form, as the PRESS statistic does (Allen
1974; Rifkin and Lippert 2007). The C of an SVM, or the strength of the final ridge regression, is
chosen by cross-validation within the training set: with the test folds outside, this is nested
cross-validation (Varma and Simon 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphmover.evaluation.arrays import HOST, Arrays, to_host
from graphmover.evaluation.folds import Fold, Indices
from graphmover.evaluation.metrics import Predictions, predicts_values
from graphmover.evaluation.protocol import Problem, Row

#: Ridge strengths, relative to the mean squared length of a row.
STRENGTHS = tuple(10.0**power for power in range(-7, 3))

#: Singular values whose squares are below this share of the largest are rounding errors.
NEGLIGIBLE = 1e-12


class Choice(NamedTuple):
    """The best value of a hyperparameter, and how well it did on the training set."""

    score: float  # accuracy, or minus the root mean squared error
    minus_error: float  # breaks the many ties of accuracies on small data sets
    value: Any

    def beats(self, other: Choice) -> bool:
        """Return whether this is strictly better; the values themselves do not count."""
        return self[:2] > other[:2]

    def row(self, stage: str, target: NDArray[Any]) -> Row:
        """Return its column in the table of results, such as "inner_accuracy"."""
        if predicts_values(target):
            return {f"{stage}_rmse": -self.score}
        return {f"{stage}_accuracy": self.score}


def leave_one_out_ridge(features: Any, target: NDArray[Any], arrays: Arrays = HOST) -> Choice:
    """Return the best leave-one-out score of ridge classification or regression.

    One eigendecomposition serves all strengths: with ``features = U S V'`` the fitted values are
    ``H y``, where ``H = U diag(s**2 / (s**2 + strength)) U'``, and the prediction for a left-out
    row is ``((H y)_i - H_ii y_i) / (1 - H_ii)``. Regression has an intercept: with features and
    values centred, H is the same plus ``1 / n``.

    Parameters
    ----------
    features : array of shape (n, R)
        An array of ``arrays.module``.
    target : ndarray of shape (n,)
        Classes 0, 1, ..., or floats.

    Returns
    -------
    Choice
        Its value is the strength, relative to the mean squared length of a row.
    """
    xp, regression = arrays.module, predicts_values(target)
    if regression:
        features = features - features.mean(axis=0)
        wanted = (target - target.mean())[:, np.newaxis]
    else:
        wanted = one_vs_rest(target, int(target.max()) + 1)
    wanted = arrays.to_device(wanted)
    squares, directions = _left_singular_vectors(features, xp)
    strengths = float(squares.sum()) / len(features) * arrays.to_device(np.array(STRENGTHS))
    shrinkage = squares[:, np.newaxis] / (squares[:, np.newaxis] + strengths)
    leverages = (directions**2 @ shrinkage)[:, :, np.newaxis]
    if regression:
        leverages += 1 / len(target)
    along = shrinkage[:, :, np.newaxis] * (directions.T @ wanted)[:, np.newaxis]
    wanted = wanted[:, np.newaxis]  # rows, strengths, classes
    left_out = xp.tensordot(directions, along, 1)
    left_out -= leverages * wanted
    left_out /= xp.maximum(1 - leverages, 1e-9)
    errors = to_host(((left_out - wanted) ** 2).mean(axis=(0, 2)))
    if regression:
        scores = -np.sqrt(errors)
    else:
        scores = (to_host(left_out.argmax(axis=2)) == target[:, np.newaxis]).mean(axis=0)
    best = np.lexsort((-errors, scores))[-1]
    return Choice(float(scores[best]), -float(errors[best]), STRENGTHS[best])


def one_vs_rest(target: Indices, n_classes: int) -> NDArray[np.float64]:
    """Return a column for each class: 1 for its graphs, -1 for the others."""
    return np.where(target[:, np.newaxis] == np.arange(n_classes), 1.0, -1.0)


def _left_singular_vectors(features: Any, xp: Any) -> tuple[Any, Any]:
    """Return squared singular values and left singular vectors, from the smaller Gram matrix."""
    n_rows, n_columns = features.shape
    if n_columns >= n_rows:
        squares, directions = xp.linalg.eigh(features @ features.T)
        kept = squares > NEGLIGIBLE * squares[-1]
        return squares[kept], directions[:, kept]
    squares, axes = xp.linalg.eigh(features.T @ features)
    kept = squares > NEGLIGIBLE * squares[-1]
    return squares[kept], features @ axes[:, kept] / xp.sqrt(squares[kept])


class Machines(Protocol):
    """Classifiers or regressions of the same graphs that differ in one number."""

    grid: Sequence[float]  # its values
    column: str  # its name in the table of results

    def predictions(
        self, train: Indices, test: Indices, target: NDArray[Any], values: Sequence[float]
    ) -> list[Predictions]:
        """Fit to the graphs ``train`` with each value, and predict the target of ``test``."""

    def without(self, graphs: Indices) -> Machines:
        """Return machines that see nothing that was drawn from these graphs."""


def choose_by_inner_folds(machines: Machines, fold: Fold, target: NDArray[Any]) -> Choice:
    """Return the value with the best score on inner folds of the training set; ties: the least.

    What was drawn from the validation graphs of an inner fold is not seen in it.
    """
    regression = predicts_values(target)
    gains = np.zeros(len(machines.grid), np.float64 if regression else np.int64)
    for fitted, validation in fold.inner_folds(target):
        own = machines.without(validation)
        for place, found in enumerate(own.predictions(fitted, validation, target, own.grid)):
            truth = target[validation]
            if regression:
                gains[place] -= ((found.target - truth) ** 2).sum()
            else:
                gains[place] += (found.target == truth).sum()
    number = int(np.argmax(gains))
    mean = float(gains[number] / len(fold.train))
    return Choice(-float(np.sqrt(-mean)) if regression else mean, 0.0, machines.grid[number])


def score_on_test_fold(
    machines: Machines, problem: Problem, fold: Fold, choice: Choice | None = None
) -> Row:
    """Return C or the strength, chosen on inner folds unless it is given, and its scores."""
    target = problem.target
    if choice is None:
        choice = choose_by_inner_folds(machines, fold, target)
    [found] = machines.predictions(fold.train, fold.test, target, [choice.value])
    return {
        machines.column: choice.value,
        **choice.row("inner", target),
        **problem.scores(fold, *found),
    }
