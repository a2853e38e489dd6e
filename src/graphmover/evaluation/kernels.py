"""Precomputed kernels: SVMs on them, how indefinite they are, and the score of a fold."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.parallel import single_threaded_blas
from graphmover.evaluation.folds import Fold, Indices
from graphmover.evaluation.protocol import Row
from graphmover.evaluation.selection import Choice, choose_c, score_on_test_fold

Floats = NDArray[np.float64]


class KernelSVMs:
    """SVMs on a precomputed kernel, by LIBSVM (Chang and Lin 2011).

    The kernel need not be positive semi-definite. Because of the bias, centring changes nothing:
    the machines are the same for ``K_ij`` and ``K_ij + a_i + a_j``.
    """

    def __init__(self, kernel: Floats, c_grid: Sequence[float]) -> None:
        self._kernel, self.c_grid = kernel, c_grid

    def predictions(
        self, train: Indices, test: Indices, target: Indices, C: Sequence[float]
    ) -> list[Indices]:
        """Fit to the graphs ``train`` with each C, and predict the classes of ``test``."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        fitted = self._kernel[np.ix_(train, train)]
        # C is relative to the mean squared distance from the centre.
        unit = abs(fitted.diagonal().mean() - fitted.mean()) or 1.0
        fitted = fitted / unit
        unseen = self._kernel[np.ix_(test, train)] / unit
        found = []
        for strength in C:
            machine = SVC(C=strength, kernel="precomputed", max_iter=1_000_000)
            with warnings.catch_warnings():
                # LIBSVM need not converge on an indefinite kernel: inner folds judge the result.
                warnings.simplefilter("ignore", ConvergenceWarning)
                found.append(machine.fit(fitted, target[train]).predict(unseen))
        return found


def kernel_row(
    column: str,
    kernels: Mapping[Any, Floats],
    c_grid: Sequence[float],
    target: Indices,
    fold: Fold,
) -> Row:
    """Score the kernel and the C with the best accuracy on inner folds.

    Parameters
    ----------
    column : str
        Where the row names the chosen kernel.
    kernels : mapping
        Kernel matrices between all graphs.
    """
    best, best_name = Choice(-1.0, 0.0, None), None
    for name, kernel in kernels.items():
        choice = choose_c(KernelSVMs(kernel, c_grid), fold, target)
        if choice.beats(best):
            best, best_name = choice, name
    kernel = kernels[best_name]
    count, share = negative_part(centred(kernel[np.ix_(fold.train, fold.train)]))
    row = {column: best_name, "negative_eigenvalues": count, "negative_share": share}
    return {**row, **score_on_test_fold(KernelSVMs(kernel, c_grid), target, fold, best)}


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
