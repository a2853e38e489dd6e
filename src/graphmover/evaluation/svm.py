"""Linear SVMs for every C of a range, on the processor or on a GPU.

LIBLINEAR's machine, without bias and with squared hinge loss: it minimises

    |w|^2 / 2 + C sum_i max(0, 1 - y_i w.x_i)^2.

Where the loss is not 0 it is quadratic, so a Newton step is one linear system in the rows that
violate their margin, and a few steps find the minimum itself, however large C is. With many
columns the system is one in those rows, of their inner products alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.evaluation.arrays import Arrays, to_host

#: For training rows of mean squared length 1: the paper gives no range.
SVM_C = tuple(10.0**power for power in range(10))

#: With more columns than the rows divided by this, the system in the rows is the faster one:
#: only rows that violate their margin are in it.
_BY_ROWS = 3

#: Newton steps at most: about ten are needed, more where C is so large that rounding errors of the
#: linear system outweigh 1 / C. What they have found is taken, and inner folds judge it.
_MOST_STEPS = 100

#: Shorter shares of a Newton step are not tried.
_SHORTEST = 1e-6

#: The objective has settled when a step improves it by less than this share.
_SETTLED = 1e-10


class LinearSVMs:
    """Machines on one table of features, for any rows of it and every C of a range.

    All features are divided by one number, so that the mean squared length of a training row
    is 1 and C means the same for every gamma: those of a large one are so small that no C of the
    range would do.

    Parameters
    ----------
    features : array of shape (n, R)
        Of all graphs, wherever ``arrays`` has its matrices.
    n_train : int
        About how many rows machines will be fitted to.
    """

    range_of_c: Sequence[float] = SVM_C

    def __init__(self, features: Any, n_train: int, arrays: Arrays) -> None:
        self._arrays = arrays
        self._by_rows = _BY_ROWS * features.shape[1] >= n_train
        self._table = features @ features.T if self._by_rows else features
        self._squares = to_host((features**2).sum(axis=1))

    def predictions(
        self,
        train: NDArray[np.int64],
        test: NDArray[np.int64],
        target: NDArray[np.int64],
        C: Sequence[float],
    ) -> list[NDArray[np.int64]]:
        """Fit to the rows ``train`` with each C, and predict the classes of the rows ``test``.

        Several classes are told apart one against all others; ``target`` is 0, 1, ... for all
        rows.
        """
        xp = self._arrays.module
        unit = self._squares[train].mean() or 1.0
        rows = self._arrays.take(train)
        table = self._table[rows]
        system: _System
        if self._by_rows:
            table = table[:, rows] / unit
            unseen = self._table[self._arrays.take(test)][:, rows] / unit
            system = _Rows(table, self._arrays)
        else:
            table = table / unit**0.5
            unseen = self._table[self._arrays.take(test)] / unit**0.5
            system = _Columns(table, self._arrays)
        classes = np.arange(target[train].max() + 1)
        decisions = []  # by class and C
        for one in classes[1:] if len(classes) == 2 else classes:
            signs = self._arrays.take(np.where(target[train] == one, 1.0, -1.0))
            decisions.append(xp.stack([unseen @ w for w in _minima(system, signs, C)]))
        if len(classes) == 2:
            return list(to_host(decisions[0] > 0).astype(np.int64))
        return list(to_host(xp.stack(decisions).argmax(axis=0)))


class _Rows(NamedTuple):
    """Weights are sums of rows, their coefficients the unknowns; the table is inner products."""

    table: Any
    arrays: Arrays

    def newton(self, active: Any, signs: Any, C: float) -> tuple[Any, Any]:
        """Coefficients that are best while these rows violate their margins, and all values."""
        rows = self.arrays.module.flatnonzero(active)
        if not len(rows):
            return self.arrays.module.zeros_like(signs), self.arrays.module.zeros_like(signs)
        products = self.table[rows]
        matrix = products[:, rows]
        self.arrays.add_to_diagonal(matrix, 0.5 / C)
        found = self.arrays.solve(matrix, signs[rows])
        coefficients = self.arrays.module.zeros(len(signs))
        coefficients[rows] = found
        return coefficients, found @ products

    def squared_length(self, coefficients: Any, values: Any) -> float:
        """Of the weights."""
        return float(coefficients @ values)


class _Columns(NamedTuple):
    """The weights of columns are the unknowns; the table is features."""

    table: Any
    arrays: Arrays

    def newton(self, active: Any, signs: Any, C: float) -> tuple[Any, Any]:
        """Weights that are best while these rows violate their margins, and all values."""
        rows = self.table[active]
        matrix = rows.T @ rows
        self.arrays.add_to_diagonal(matrix, 0.5 / C)
        found = self.arrays.solve(matrix, rows.T @ signs[active])
        return found, self.table @ found

    def squared_length(self, weights: Any, values: Any) -> float:
        """Of the weights."""
        return float(weights @ weights)


_System = _Rows | _Columns


def _minima(system: _System, signs: Any, C: Sequence[float]) -> list[Any]:
    """Return the solution for each C; each starts from the one before."""
    xp = system.arrays.module
    solution, values = xp.zeros(system.table.shape[1]), xp.zeros(len(signs))
    found = []
    for strength in C:
        solution, values = _minimum(system, signs, strength, solution, values)
        found.append(solution)
    return found


def _minimum(system: _System, signs: Any, C: float, solution: Any, values: Any) -> tuple[Any, Any]:
    """Newton's method with steps halved until they descend."""
    xp = system.arrays.module

    def objective(solution: Any, values: Any) -> float:
        short = xp.maximum(0.0, 1.0 - signs * values)
        return 0.5 * system.squared_length(solution, values) + C * float(short @ short)

    active = signs * values < 1.0
    now = objective(solution, values)
    for _ in range(_MOST_STEPS):
        target, target_values = system.newton(active, signs, C)
        share = 1.0
        while True:
            there = solution + share * (target - solution)
            there_values = values + share * (target_values - values)
            next_ = objective(there, there_values)
            if next_ <= now:
                break
            if share < _SHORTEST:
                return solution, values  # rounding errors are larger than what is left to gain
            share /= 2
        next_active = signs * there_values < 1.0
        same = share == 1.0 and bool((next_active == active).all())
        settled = now - next_ <= _SETTLED * now
        solution, values, active, now = there, there_values, next_active, next_
        if same or settled:
            return solution, values
    return solution, values
