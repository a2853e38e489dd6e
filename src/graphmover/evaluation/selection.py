"""Choosing on the training part alone: leave-one-out ridge for settings, inner folds for C."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphmover.evaluation.arrays import HOST, Arrays, to_host

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Ridge strengths, relative to the mean squared length of a row.
STRENGTHS = tuple(10.0**power for power in range(-7, 3))

#: Directions weaker than this share of the strongest are rounding errors.
_NEGLIGIBLE = 1e-12

INNER_FOLDS = 5


class Choice(NamedTuple):
    """How well one value did on the training part; a later one wins if it compares greater."""

    accuracy: float
    minus_error: float  # breaks the many ties of accuracies on small sets
    value: Any


def leave_one_out_ridge(features: Any, target: Indices, arrays: Arrays = HOST) -> Choice:
    """Return the best leave-one-out accuracy of ridge classification, over all strengths.

    One eigendecomposition serves all strengths: with ``features = U S V'`` the fitted values are
    ``H y``, where ``H = U diag(s**2 / (s**2 + strength)) U'``, and the prediction for a row that
    is left out is ``((H y)_i - H_ii y_i) / (1 - H_ii)``.

    Parameters
    ----------
    features : array of shape (n, R)
        Wherever ``arrays`` has its matrices.
    target : ndarray of shape (n,)
        Classes 0, 1, ...

    Returns
    -------
    Choice
        Its value is the strength, relative to the mean squared length of a row.
    """
    xp = arrays.module
    wanted = arrays.take(np.where(target[:, np.newaxis] == np.arange(target.max() + 1), 1.0, -1.0))
    squares, directions = _left_singular_vectors(features, xp)
    strengths = float(squares.sum()) / len(features) * arrays.take(np.array(STRENGTHS))
    shrinkage = squares[:, np.newaxis] / (squares[:, np.newaxis] + strengths)
    leverages = (directions**2 @ shrinkage)[:, :, np.newaxis]
    along = shrinkage[:, :, np.newaxis] * (directions.T @ wanted)[:, np.newaxis]
    wanted = wanted[:, np.newaxis]  # rows, strengths, classes
    left_out = xp.tensordot(directions, along, 1)
    left_out -= leverages * wanted
    left_out /= xp.maximum(1 - leverages, 1e-9)
    found = to_host(left_out.argmax(axis=2)) == target[:, np.newaxis]
    accuracies, errors = found.mean(axis=0), to_host(((left_out - wanted) ** 2).mean(axis=(0, 2)))
    best = np.lexsort((-errors, accuracies))[-1]
    return Choice(float(accuracies[best]), -float(errors[best]), STRENGTHS[best])


def _left_singular_vectors(features: Any, xp: Any) -> tuple[Any, Any]:
    """Return squared singular values and left singular vectors, by the smaller Gram matrix."""
    n_rows, n_columns = features.shape
    if n_columns >= n_rows:
        squares, directions = xp.linalg.eigh(features @ features.T)
        kept = squares > _NEGLIGIBLE * squares[-1]
        return squares[kept], directions[:, kept]
    squares, axes = xp.linalg.eigh(features.T @ features)
    kept = squares > _NEGLIGIBLE * squares[-1]
    return squares[kept], features @ axes[:, kept] / xp.sqrt(squares[kept])


class Machines(Protocol):
    """Classifiers of the same data that differ in C, among which to choose."""

    range_of_c: Sequence[float]

    def predictions(
        self, train: Indices, test: Indices, target: Indices, C: Sequence[float]
    ) -> list[Indices]:
        """Fit to some rows with each C, and predict the classes of others."""


def choose_c(machines: Machines, train: Indices, target: Indices, seed: int) -> Choice:
    """Return the C that does best on inner folds of the training part; ties: the smallest."""
    from sklearn.model_selection import StratifiedKFold

    n_folds = min(INNER_FOLDS, int(np.bincount(target[train]).min()))
    inner = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    correct = np.zeros(len(machines.range_of_c), np.int64)
    for seen, unseen in inner.split(train, target[train]):
        found = machines.predictions(train[seen], train[unseen], target, machines.range_of_c)
        correct += [(classes == target[train[unseen]]).sum() for classes in found]
    number = int(np.argmax(correct))
    return Choice(float(correct[number] / len(train)), 0.0, machines.range_of_c[number])


class KernelSVMs:
    """SVMs (LIBSVM) on a kernel matrix, which need not be positive semi-definite.

    Their bias makes them blind to centring: adding ``a_i + a_j`` to the kernel changes nothing.
    """

    def __init__(self, kernel: Floats, range_of_c: Sequence[float]) -> None:
        self._kernel, self.range_of_c = kernel, range_of_c

    def predictions(
        self, train: Indices, test: Indices, target: Indices, C: Sequence[float]
    ) -> list[Indices]:
        """Fit to some rows and columns with each C, and predict the classes of others."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        seen = self._kernel[np.ix_(train, train)]
        unit = abs(seen.diagonal().mean() - seen.mean()) or 1.0  # squared distance to the centre
        seen = seen / unit
        unseen = self._kernel[np.ix_(test, train)] / unit
        found = []
        for strength in C:
            machine = SVC(C=strength, kernel="precomputed", max_iter=1_000_000)
            with warnings.catch_warnings():
                # On an indefinite kernel it may never settle; inner folds judge what it has found.
                warnings.simplefilter("ignore", ConvergenceWarning)
                found.append(machine.fit(seen, target[train]).predict(unseen))
        return found
