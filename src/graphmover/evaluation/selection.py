"""Model selection on the training set: leave-one-out ridge for hyperparameters, inner folds for C.

Ridge regression predicts every left-out row in closed form, as the PRESS statistic does (Allen
1974; Rifkin and Lippert 2007). The C of an SVM is chosen by cross-validation within the training
set: with the test folds outside, this is nested cross-validation (Varma and Simon 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from graphmover.evaluation.arrays import HOST, Arrays, to_host
from graphmover.evaluation.folds import Fold, Indices

#: Ridge strengths, relative to the mean squared length of a row.
STRENGTHS = tuple(10.0**power for power in range(-7, 3))

#: Singular values whose squares are below this share of the largest are rounding errors.
_NEGLIGIBLE = 1e-12

INNER_FOLDS = 5


class Choice(NamedTuple):
    """The best value of a hyperparameter, and how well it did on the training set."""

    accuracy: float
    minus_error: float  # breaks the many ties of accuracies on small data sets
    value: Any

    def beats(self, other: Choice) -> bool:
        """Return whether this is strictly better; the values themselves do not count."""
        return self[:2] > other[:2]


def leave_one_out_ridge(features: Any, target: Indices, arrays: Arrays = HOST) -> Choice:
    """Return the best leave-one-out accuracy of ridge classification, over all strengths.

    One eigendecomposition serves all strengths: with ``features = U S V'`` the fitted values are
    ``H y``, where ``H = U diag(s**2 / (s**2 + strength)) U'``, and the prediction for a left-out
    row is ``((H y)_i - H_ii y_i) / (1 - H_ii)``.

    Parameters
    ----------
    features : array of shape (n, R)
        An array of ``arrays.module``.
    target : ndarray of shape (n,)
        Classes 0, 1, ...

    Returns
    -------
    Choice
        Its value is the strength, relative to the mean squared length of a row.
    """
    xp = arrays.module
    wanted = np.where(target[:, np.newaxis] == np.arange(target.max() + 1), 1.0, -1.0)
    wanted = arrays.to_device(wanted)
    squares, directions = _left_singular_vectors(features, xp)
    strengths = float(squares.sum()) / len(features) * arrays.to_device(np.array(STRENGTHS))
    shrinkage = squares[:, np.newaxis] / (squares[:, np.newaxis] + strengths)
    leverages = (directions**2 @ shrinkage)[:, :, np.newaxis]
    along = shrinkage[:, :, np.newaxis] * (directions.T @ wanted)[:, np.newaxis]
    wanted = wanted[:, np.newaxis]  # rows, strengths, classes
    left_out = xp.tensordot(directions, along, 1)
    left_out -= leverages * wanted
    left_out /= xp.maximum(1 - leverages, 1e-9)
    correct = to_host(left_out.argmax(axis=2)) == target[:, np.newaxis]
    accuracies, errors = correct.mean(axis=0), to_host(((left_out - wanted) ** 2).mean(axis=(0, 2)))
    best = np.lexsort((-errors, accuracies))[-1]
    return Choice(float(accuracies[best]), -float(errors[best]), STRENGTHS[best])


def _left_singular_vectors(features: Any, xp: Any) -> tuple[Any, Any]:
    """Return squared singular values and left singular vectors, from the smaller Gram matrix."""
    n_rows, n_columns = features.shape
    if n_columns >= n_rows:
        squares, directions = xp.linalg.eigh(features @ features.T)
        kept = squares > _NEGLIGIBLE * squares[-1]
        return squares[kept], directions[:, kept]
    squares, axes = xp.linalg.eigh(features.T @ features)
    kept = squares > _NEGLIGIBLE * squares[-1]
    return squares[kept], features @ axes[:, kept] / xp.sqrt(squares[kept])


class Classifiers(Protocol):
    """Classifiers of the same graphs that differ in C."""

    c_grid: Sequence[float]

    def predictions(
        self, train: Indices, test: Indices, target: Indices, C: Sequence[float]
    ) -> list[Indices]:
        """Fit to the graphs ``train`` with each C, and predict the classes of ``test``."""


def choose_c(classifiers: Classifiers, fold: Fold, target: Indices) -> Choice:
    """Return the C with the best accuracy on inner folds of the training set; ties: the least."""
    from sklearn.model_selection import StratifiedKFold

    train = fold.train
    n_folds = min(INNER_FOLDS, int(np.bincount(target[train]).min()))
    inner = StratifiedKFold(n_folds, shuffle=True, random_state=fold.number)
    correct = np.zeros(len(classifiers.c_grid), np.int64)
    for fitted, held_out in inner.split(train, target[train]):
        validation = train[held_out]
        found = classifiers.predictions(train[fitted], validation, target, classifiers.c_grid)
        correct += [(predicted == target[validation]).sum() for predicted in found]
    number = int(np.argmax(correct))
    return Choice(float(correct[number] / len(train)), 0.0, classifiers.c_grid[number])


def score_on_test_fold(
    classifiers: Classifiers, target: Indices, fold: Fold, choice: Choice | None = None
) -> dict[str, Any]:
    """Return C, chosen on inner folds unless it is given, and its accuracies."""
    if choice is None:
        choice = choose_c(classifiers, fold, target)
    [predicted] = classifiers.predictions(fold.train, fold.test, target, [choice.value])
    return {
        "C": choice.value,
        "inner_accuracy": choice.accuracy,
        "accuracy": float((predicted == target[fold.test]).mean()),
    }
