"""Precomputed kernels: machines on them, how indefinite they are, and the score of a fold."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.parallel import single_threaded_blas
from graphmover.evaluation.folds import Fold, Indices
from graphmover.evaluation.metrics import Predictions
from graphmover.evaluation.protocol import Problem, Row
from graphmover.evaluation.ridge import KernelRidges
from graphmover.evaluation.selection import (
    Choice,
    Machines,
    choose_by_inner_folds,
    score_on_test_fold,
)

Floats = NDArray[np.float64]

#: LIBSVM's steps for one C; NCI1's 3,699 training graphs need 30,000.
MOST_STEPS = 100_000


@contextmanager
def steps_may_run_out() -> Iterator[None]:
    """Keep LIBSVM from warning that it did not converge, in threads that start within, too.

    It need not converge on an indefinite kernel, and takes very long where a kernel of low rank
    cannot separate classes: inner folds judge the result.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", rf"Solver terminated early \(max_iter={MOST_STEPS}\)")
        yield


class KernelSVMs:
    """SVMs on a precomputed kernel, by LIBSVM (Chang and Lin 2011).

    The kernel need not be positive semi-definite. Because of the bias, centring changes nothing:
    the machines are the same for ``K_ij`` and ``K_ij + a_i + a_j``.
    """

    column = "C"

    def __init__(
        self, kernel: Floats, grid: Sequence[float], *, positive_part: bool = False
    ) -> None:
        self._kernel, self.grid, self._positive_part = kernel, grid, positive_part

    def predictions(
        self, train: Indices, test: Indices, target: Indices, values: Sequence[float]
    ) -> list[Predictions]:
        """Fit to the graphs ``train`` with each C, ascending; predict the classes of ``test``."""
        from sklearn.svm import SVC

        fitted = self._kernel[np.ix_(train, train)]
        unseen = self._kernel[np.ix_(test, train)]
        if self._positive_part:
            fitted, unseen = clipped(fitted, unseen)
        # C is relative to the mean squared distance from the centre.
        unit = abs(fitted.diagonal().mean() - fitted.mean()) or 1.0
        fitted, unseen = fitted / unit, unseen / unit
        present = np.unique(target[train])
        if len(present) == 1:  # LIBSVM wants two classes
            alone = np.full(len(test), present[0])
            return [Predictions(alone, _by_class(np.zeros(len(test)), present, target))] * len(
                values
            )
        found: list[Predictions] = []
        converges = True
        for C in values:
            if not converges:  # nor would this C, if they ascend
                found.append(found[-1])
                continue
            machine = SVC(C=C, kernel="precomputed", max_iter=MOST_STEPS)
            with steps_may_run_out():
                machine.fit(fitted, target[train])
            converges = bool((machine.n_iter_ < MOST_STEPS).all())
            decisions = machine.decision_function(unseen)
            found.append(
                Predictions(machine.predict(unseen), _by_class(decisions, present, target))
            )
        return found

    def without(self, graphs: Indices) -> KernelSVMs:
        """Return the same machines: each entry of a kernel depends on its two graphs alone."""
        return self


def _by_class(decisions: Floats, present: Indices, target: Indices) -> Floats:
    """Return a column for each class; what is not in the training set is least likely."""
    columns = np.full((len(decisions), int(target.max()) + 1), -np.inf)
    if len(present) == 2:
        decisions = np.column_stack([-decisions, decisions])
    columns[:, present] = decisions.reshape(len(decisions), len(present))
    return columns


def kernel_row(
    column: str,
    kernels: Mapping[Any, Floats],
    c_grid: Sequence[float],
    problem: Problem,
    fold: Fold,
    *,
    positive_part: bool = False,
) -> Row:
    """Score the kernel, and the C or ridge strength, with the best score on inner folds.

    Parameters
    ----------
    column : str
        Where the row names the chosen kernel.
    kernels : mapping
        Kernel matrices between all graphs.
    positive_part : bool
        Clip the spectrum of the training graphs' kernel, as ridge regression does anyway.
    """

    def machines(kernel: Floats) -> Machines:
        if problem.regression:
            return KernelRidges(kernel)
        return KernelSVMs(kernel, c_grid, positive_part=positive_part)

    best, best_name = Choice(-np.inf, 0.0, None), None
    for name, kernel in kernels.items():
        choice = choose_by_inner_folds(machines(kernel), fold, problem.target)
        if choice.beats(best):
            best, best_name = choice, name
    kernel = kernels[best_name]
    count, share = negative_part(centred(kernel[np.ix_(fold.train, fold.train)]))
    row = {column: best_name, "negative_eigenvalues": count, "negative_share": share}
    return {**row, **score_on_test_fold(machines(kernel), problem, fold, best)}


def clipped(fitted: Floats, unseen: Floats) -> tuple[Floats, Floats]:
    """Return the positive part of the centred training kernel, and unseen rows in its terms.

    Eigenvectors with negative eigenvalues are projected out of both (Wu, Chang and Zhang 2005:
    spectrum clip), so nothing of unseen graphs enters what machines are fitted to.

    Parameters
    ----------
    fitted, unseen : ndarrays of shape (n, n) and (m, n)
        The kernel between training graphs, and between unseen and training graphs.
    """
    means = fitted.mean(axis=0)
    inner = centred(fitted)
    rows = unseen - means - unseen.mean(axis=1, keepdims=True) + means.mean()
    with single_threaded_blas():
        values, vectors = np.linalg.eigh(inner)
    kept = vectors[:, values > 0]
    return (kept * values[values > 0]) @ kept.T, (rows @ kept) @ kept.T


def centred(kernel: Floats) -> Floats:
    """Return ``J K J``: the mean of each row and of each column is 0."""
    means = kernel.mean(axis=0)
    return np.asarray(kernel - means - means[:, np.newaxis] + means.mean())


def negative_part(kernel: Floats) -> tuple[int, float]:
    """Return the number of negative eigenvalues, and their share of the sum of absolute values.

    Examples
    --------
    >>> import numpy as np
    >>> from graphmover.evaluation import negative_part
    >>> negative_part(np.diag([3.0, 0.0, -1.0]))
    (1, 0.25)
    """
    with single_threaded_blas():
        values = np.linalg.eigvalsh(kernel)
    negative = values[values < -1e-10 * np.abs(values).max(initial=0.0)]
    return len(negative), float(abs(negative.sum()) / max(np.abs(values).sum(), 1e-300))
