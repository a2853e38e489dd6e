"""Ridge regression for a grid of strengths, on features or on a kernel.

With an intercept, by centring. One eigendecomposition serves all strengths: of the covariance of
the features, or of the centred kernel where rows are fewer than columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.evaluation.arrays import HOST, Arrays, to_host
from graphmover.evaluation.folds import Fold, Indices
from graphmover.evaluation.metrics import Predictions, predicts_values
from graphmover.evaluation.selection import (
    NEGLIGIBLE,
    STRENGTHS,
    Choice,
    Machines,
    choose_by_inner_folds,
    leave_one_out_ridge,
    one_vs_rest,
)
from graphmover.evaluation.svm import LinearSVMs, OnFeatures


class Ridges(OnFeatures):
    """Ridge regressions on one table of features, for any rows of it and every strength.

    Classes are predicted by one-vs-rest. Strengths are relative to the mean squared distance of a
    training row from the centre.
    """

    grid: Sequence[float] = STRENGTHS
    column = "ridge_strength"

    def _prepare(self, features: Any, n_train: int) -> None:
        self._by_rows = features.shape[1] >= n_train
        self._table = features @ features.T if self._by_rows else features

    def predictions(
        self, train: Indices, test: Indices, target: NDArray[Any], values: Sequence[float]
    ) -> list[Predictions]:
        """Fit to the rows ``train`` with each strength, and predict the target of ``test``."""
        rows, unseen = self._table[self._at(train)], self._table[self._at(test)]
        if self._by_rows:
            rows, unseen = rows[:, self._at(train)], unseen[:, self._at(train)]
        return _ridge_predictions(rows, unseen, self._by_rows, target, train, values, self._arrays)


class KernelRidges:
    """Kernel ridge regressions; of an indefinite kernel the positive part is used."""

    grid: Sequence[float] = STRENGTHS
    column = "ridge_strength"

    def __init__(self, kernel: NDArray[np.float64]) -> None:
        self._kernel = kernel

    def predictions(
        self, train: Indices, test: Indices, target: NDArray[Any], values: Sequence[float]
    ) -> list[Predictions]:
        """Fit to the graphs ``train`` with each strength, and predict the target of ``test``."""
        rows, unseen = self._kernel[np.ix_(train, train)], self._kernel[np.ix_(test, train)]
        return _ridge_predictions(rows, unseen, True, target, train, values, HOST)

    def without(self, graphs: Indices) -> KernelRidges:
        """Return the same machines: each entry of a kernel depends on its two graphs alone."""
        return self


def _ridge_predictions(
    rows: Any,
    unseen: Any,
    by_rows: bool,
    target: NDArray[Any],
    train: Indices,
    strengths: Sequence[float],
    arrays: Arrays,
) -> list[Predictions]:
    """Solve ``(G + strength) x = b`` for the training table, and apply x to that of unseen rows.

    By rows, the tables hold inner products with training rows, G is the centred kernel and b are
    the centred values; by columns they hold features, and G and b are products with these.
    """
    xp, regression = arrays.module, predicts_values(target)
    if regression:
        wanted = target[train][:, np.newaxis]
    else:
        wanted = one_vs_rest(target[train], int(target.max()) + 1)
    wanted = arrays.to_device(wanted)
    mean = wanted.mean(axis=0)
    wanted = wanted - mean
    centre = rows.mean(axis=0)
    rows, unseen = rows - centre, unseen - centre
    if by_rows:
        rows = rows - rows.mean(axis=1, keepdims=True)
        unseen = unseen - unseen.mean(axis=1, keepdims=True)
        values, axes = xp.linalg.eigh(rows)
        right = axes.T @ wanted
    else:
        values, axes = xp.linalg.eigh(rows.T @ rows)
        right = axes.T @ (rows.T @ wanted)
    # There may be no columns: all random graphs may be graphs of the validation fold.
    largest = float(values[-1]) if len(values) else 0.0
    kept = values > NEGLIGIBLE * max(largest, 0.0)
    values, right, unseen = values[kept][:, np.newaxis], right[kept], unseen @ axes[:, kept]
    unit = float(values.sum()) / len(train)
    found = []
    for strength in strengths:
        predicted = to_host(unseen @ (right / (values + strength * unit)) + mean)
        if regression:
            found.append(Predictions(predicted[:, 0]))
        else:
            found.append(Predictions(predicted.argmax(axis=1), predicted))
    return found


def ridge_choice(
    features: Any,
    target: NDArray[Any],
    number: int,
    arrays: Arrays = HOST,
    sources: Indices | None = None,
) -> Choice:
    """Return how well ridge does on training rows: leave-one-out or, given sources, inner folds.

    A random graph that is a whole training graph has the distance 0 to it, which no unseen graph
    has: leaving out a row, but not its own column, is too optimistic. Inner folds see no column
    that was drawn from a validation graph.

    Parameters
    ----------
    number : int
        Seeds the inner folds.
    sources : ndarray of shape (R,), optional
        The row that the random graph of each column is drawn from, -1 if it is another graph.
    """
    if sources is None:
        return leave_one_out_ridge(features, target, arrays)
    rows = np.arange(len(target))
    machines = Ridges(features, len(rows), arrays, sources)
    return choose_by_inner_folds(machines, Fold(number, rows, rows[:0]), target)


def linear_machines(
    target: NDArray[Any],
    features: Any,
    n_train: int,
    arrays: Arrays = HOST,
    sources: Indices | None = None,
) -> Machines:
    """Return linear SVMs for classes, ridge regressions for values; see `OnFeatures`."""
    return linear_machines_for(target)(features, n_train, arrays, sources)


def linear_machines_for(target: NDArray[Any]) -> type[Ridges] | type[LinearSVMs]:
    """Return the class of linear machines for a target."""
    return Ridges if predicts_values(target) else LinearSVMs
