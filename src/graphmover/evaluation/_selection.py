"""Choosing on the training part alone: leave-one-out ridge for settings, inner folds for C."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The SVM's C, for training rows of mean squared length 1: the paper gives no range.
SVM_C = (1e0, 1e1, 1e2, 1e3, 1e4, 1e5)

#: Ridge strengths, relative to the mean squared length of a row.
_STRENGTHS = 10.0 ** np.arange(-7, 3)

#: Directions weaker than this share of the strongest are rounding errors.
_NEGLIGIBLE = 1e-12

INNER_FOLDS = 5


class Choice(NamedTuple):
    """How well one value did on the training part; a later one wins if it compares greater."""

    accuracy: float
    minus_error: float  # breaks the many ties of accuracies on small sets
    value: Any


def leave_one_out_ridge(features: Floats, target: NDArray[np.int64]) -> Choice:
    """Return the best leave-one-out accuracy of ridge classification, over all strengths.

    One eigendecomposition serves all strengths: with ``features = U S V'`` the fitted values are
    ``H y``, where ``H = U diag(s**2 / (s**2 + strength)) U'``, and the prediction for a row that
    is left out is ``((H y)_i - H_ii y_i) / (1 - H_ii)``.

    Parameters
    ----------
    features : ndarray of shape (n, R)
    target : ndarray of shape (n,)
        Classes 0, 1, ...

    Returns
    -------
    Choice
        Its value is the strength, relative to the mean squared length of a row.
    """
    wanted = np.where(target[:, np.newaxis] == np.arange(target.max() + 1), 1.0, -1.0)
    squares, directions = _left_singular_vectors(features)
    unit = squares.sum() / len(features)
    shrinkage = squares[:, np.newaxis] / (squares[:, np.newaxis] + unit * _STRENGTHS)
    leverages = directions**2 @ shrinkage
    along = directions.T @ wanted
    best = Choice(-1.0, -np.inf, None)
    for number, strength in enumerate(_STRENGTHS):
        leverage = leverages[:, number, np.newaxis]
        fitted = directions @ (shrinkage[:, number, np.newaxis] * along)
        left_out = (fitted - leverage * wanted) / np.maximum(1 - leverage, 1e-9)
        accuracy = float((left_out.argmax(axis=1) == target).mean())
        error = float(((left_out - wanted) ** 2).mean())
        best = max(best, Choice(accuracy, -error, float(strength)), key=lambda c: c[:2])
    return best


def _left_singular_vectors(features: Floats) -> tuple[Floats, Floats]:
    """Return squared singular values and left singular vectors, by the smaller Gram matrix."""
    n_rows, n_columns = features.shape
    if n_columns >= n_rows:
        squares, directions = np.linalg.eigh(features @ features.T)
        kept = squares > _NEGLIGIBLE * squares[-1]
        return squares[kept], directions[:, kept]
    squares, axes = np.linalg.eigh(features.T @ features)
    kept = squares > _NEGLIGIBLE * squares[-1]
    return squares[kept], features @ axes[:, kept] / np.sqrt(squares[kept])


def choose_c(classifiers: Sequence[Any], x: Any, target: NDArray[Any], seed: int) -> Choice:
    """Return the classifier that does best on inner folds of the training part; ties: the first.

    Parameters
    ----------
    classifiers : sequence of objects with ``fit_predict(x, train, test, target)``
    """
    from sklearn.model_selection import StratifiedKFold

    n_folds = min(INNER_FOLDS, int(np.bincount(target).min()))
    inner = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    rows = np.arange(len(target))
    correct = np.zeros(len(classifiers))
    for train, test in inner.split(rows, target):
        for number, classifier in enumerate(classifiers):
            predicted = classifier.fit_predict(x, train, test, target)
            correct[number] += (predicted == target[test]).sum()
    number = int(np.argmax(correct))
    return Choice(float(correct[number] / len(target)), 0.0, classifiers[number])


class LinearSVM(NamedTuple):
    """A linear SVM (LIBLINEAR) on features: no bias, no standardising of columns.

    All features are divided by one number, so that C means the same for every gamma: those of
    a large one are so small that no C of the range would do.
    """

    C: float

    def fit_predict(
        self, x: Floats, train: NDArray[Any], test: NDArray[Any], target: NDArray[Any]
    ) -> NDArray[Any]:
        """Fit to some rows of x, and predict others."""
        from sklearn.svm import LinearSVC

        length = np.sqrt((x[train] ** 2).sum(axis=1).mean()) or 1.0
        seen, unseen = x[train] / length, x[test] / length
        if seen.shape[1] > seen.shape[0]:  # the same inner products in fewer columns
            axes, triangle = np.linalg.qr(seen.T)
            seen, unseen = triangle.T, unseen @ axes
        machine = LinearSVC(C=self.C, dual=False, fit_intercept=False)
        return _fitted(machine, seen, target[train]).predict(unseen)  # type: ignore[no-any-return]


class KernelSVM(NamedTuple):
    """An SVM (LIBSVM) on a kernel matrix, which need not be positive semi-definite.

    Its bias makes it blind to centring: adding ``a_i + a_j`` to the kernel changes nothing.
    """

    C: float

    def fit_predict(
        self, x: Floats, train: NDArray[Any], test: NDArray[Any], target: NDArray[Any]
    ) -> NDArray[Any]:
        """Fit to some rows and columns of x, and predict others."""
        from sklearn.svm import SVC

        machine = SVC(C=self.C, kernel="precomputed", max_iter=1_000_000)
        unit = x[train, train].mean() or 1.0
        fitted = _fitted(machine, x[np.ix_(train, train)] / unit, target[train])
        return fitted.predict(x[np.ix_(test, train)] / unit)  # type: ignore[no-any-return]


def _fitted(machine: Any, x: Floats, target: NDArray[Any]) -> Any:
    """With the largest C a solver may stop early; inner folds judge what it has found."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(x, target)
