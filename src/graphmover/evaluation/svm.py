"""Linear SVMs for a grid of C, on the processor or on a GPU.

As LIBLINEAR (Fan et al. 2008) with squared hinge loss and without bias, they minimise

    |w|^2 / 2 + C sum_i max(0, 1 - y_i w.x_i)^2

by Newton's method (Keerthi and DeCoste 2005). The loss is piecewise quadratic: a Newton step is
one linear system in the rows that violate their margin, and a few steps reach the minimum itself,
however large C is. With many columns w is written as a sum of rows (Chapelle 2007): the system is
then one of inner products, in the coefficients of those rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from graphmover.evaluation.arrays import HOST, Arrays, to_host
from graphmover.evaluation.metrics import Predictions

#: For training rows of mean squared length 1: the paper gives no range.
SVM_C = tuple(10.0**power for power in range(10))

#: The system in rows is the faster one if this many times the columns exceed the rows: only rows
#: that violate their margin are in it.
_ROWS_FACTOR = 3

#: About ten Newton steps are needed, more where C is so large that rounding errors of the linear
#: system outweigh 1 / C. The last iterate is used then, and inner folds judge it.
_MAX_STEPS = 100

#: The line search halves a Newton step until it is shorter than this share of it.
_SHORTEST = 1e-6

#: Converged: a step improves the objective by less than this share.
_TOLERANCE = 1e-10


class OnFeatures(ABC):
    """Machines on one table of features, for any rows of it.

    Parameters
    ----------
    features : array of shape (n, R)
        The features of all graphs, an array of ``arrays.module``.
    n_train : int
        About how many rows machines will be fitted to.
    sources : ndarray of shape (R,), optional
        The graph that the random graph of each column is drawn from, if `without` is to leave
        out the columns of some graphs.
    """

    def __init__(
        self,
        features: Any,
        n_train: int,
        arrays: Arrays = HOST,
        sources: NDArray[np.int64] | None = None,
    ) -> None:
        self._arrays, self._n_train, self._sources = arrays, n_train, sources
        self._features = None if sources is None else features
        self._prepare(features, n_train)

    @abstractmethod
    def _prepare(self, features: Any, n_train: int) -> None:
        """Compute what all fits share."""

    def without(self, graphs: NDArray[np.int64]) -> Self:
        """Return machines that see no column drawn from these graphs."""
        if self._sources is None:
            return self
        kept = np.flatnonzero(~np.isin(self._sources, graphs))
        return type(self)(self._features[:, self._at(kept)], self._n_train, self._arrays)  # type: ignore[index]

    def _at(self, places: NDArray[np.int64]) -> Any:
        return self._arrays.to_device(places)


class LinearSVMs(OnFeatures):
    """SVMs on one table of features, for any rows of it and every C of a grid.

    All features are divided by one number, so that the mean squared length of a training row
    is 1 and C means the same for every gamma: with a large gamma features are so small that no C
    of the grid would fit.
    """

    grid: Sequence[float] = SVM_C
    column = "C"

    def _prepare(self, features: Any, n_train: int) -> None:
        self._by_rows = _ROWS_FACTOR * features.shape[1] >= n_train
        self._table = features @ features.T if self._by_rows else features
        self._squares = to_host((features**2).sum(axis=1))

    def predictions(
        self,
        train: NDArray[np.int64],
        test: NDArray[np.int64],
        target: NDArray[np.int64],
        values: Sequence[float],
    ) -> list[Predictions]:
        """Fit to the rows ``train`` with each C, and predict the classes of the rows ``test``.

        More than two classes are one-vs-rest; ``target`` is 0, 1, ... for all rows. Classes that
        are not in ``train`` are not predicted.
        """
        xp = self._arrays.module
        unit = self._squares[train].mean() or 1.0
        rows = self._at(train)
        table = self._table[rows]
        system: _System
        if self._by_rows:
            table = table[:, rows] / unit
            unseen = self._table[self._at(test)][:, rows] / unit
            system = _RowSystem(table, self._arrays)
        else:
            table = table / unit**0.5
            unseen = self._table[self._at(test)] / unit**0.5
            system = _ColumnSystem(table, self._arrays)

        def decisions(one: int) -> NDArray[np.float64]:
            signs = self._arrays.to_device(np.where(target[train] == one, 1.0, -1.0))
            return to_host(xp.stack([unseen @ w for w in _minima(system, signs, values)]))

        n_classes = int(target.max()) + 1
        present = np.unique(target[train])
        by_class = np.full((len(values), len(test), n_classes), -np.inf)
        if n_classes == len(present) == 2:
            by_class[:, :, 1] = decisions(1)
            by_class[:, :, 0] = -by_class[:, :, 1]
        else:
            for one in present:
                by_class[:, :, one] = decisions(one)
        return [Predictions(found.argmax(axis=1), found) for found in by_class]


class _RowSystem(NamedTuple):
    """The unknowns are the coefficients of rows; the table holds inner products."""

    table: Any
    arrays: Arrays

    def newton(self, active: Any, signs: Any, C: float) -> tuple[Any, Any]:
        """Return the minimiser while these rows violate their margin, and all decision values."""
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
        """Return the squared length of the weights."""
        return float(coefficients @ values)


class _ColumnSystem(NamedTuple):
    """The unknowns are the weights of columns; the table holds features."""

    table: Any
    arrays: Arrays

    def newton(self, active: Any, signs: Any, C: float) -> tuple[Any, Any]:
        """Return the minimiser while these rows violate their margin, and all decision values."""
        rows = self.table[active]
        matrix = rows.T @ rows
        self.arrays.add_to_diagonal(matrix, 0.5 / C)
        found = self.arrays.solve(matrix, rows.T @ signs[active])
        return found, self.table @ found

    def squared_length(self, weights: Any, values: Any) -> float:
        """Return the squared length of the weights."""
        return float(weights @ weights)


_System = _RowSystem | _ColumnSystem


def _minima(system: _System, signs: Any, C: Sequence[float]) -> list[Any]:
    """Return the minimiser for each C, warm-started from the previous one."""
    xp = system.arrays.module
    solution, values = xp.zeros(system.table.shape[1]), xp.zeros(len(signs))
    found = []
    for strength in C:
        solution, values = _minimum(system, signs, strength, solution, values)
        found.append(solution)
    return found


def _minimum(system: _System, signs: Any, C: float, solution: Any, values: Any) -> tuple[Any, Any]:
    """Return the minimiser and its decision values, by Newton's method with step halving."""
    xp = system.arrays.module

    def objective(solution: Any, values: Any) -> float:
        short = xp.maximum(0.0, 1.0 - signs * values)
        return 0.5 * system.squared_length(solution, values) + C * float(short @ short)

    active = signs * values < 1.0
    now = objective(solution, values)
    for _ in range(_MAX_STEPS):
        target, target_values = system.newton(active, signs, C)
        share = 1.0
        while True:
            there = solution + share * (target - solution)
            there_values = values + share * (target_values - values)
            next_ = objective(there, there_values)
            if next_ <= now:
                break
            if share < _SHORTEST:
                return solution, values  # rounding errors exceed what is left to gain
            share /= 2
        next_active = signs * there_values < 1.0
        same = share == 1.0 and bool((next_active == active).all())
        converged = now - next_ <= _TOLERANCE * now
        solution, values, active, now = there, there_values, next_active, next_
        if same or converged:
            return solution, values
    return solution, values
