"""A kernel with hyperparameters: the matrices of all candidates, and a kernel machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from graphmover.evaluation.fingerprints import description, digest
from graphmover.evaluation.folds import INNER_FOLDS, Fold
from graphmover.evaluation.kernels import MOST_STEPS, Floats, kernel_row
from graphmover.evaluation.methods.fold_by_fold import FoldByFold
from graphmover.evaluation.methods.precomputed import PrecomputedKernels
from graphmover.evaluation.parameter_grid import combinations, in_words, require_parameters
from graphmover.evaluation.protocol import Problem, Row
from graphmover.evaluation.threads import progress_bar


class KernelGrid(FoldByFold):
    """A kernel SVM, or kernel ridge regression, whose kernel and C are chosen on inner folds.

    Matrices between all graphs are computed once and serve all folds: each entry may depend only on
    its two graphs, or at least not on any class.

    Parameters
    ----------
    name : str
        The method's name in the results.
    kernel : estimator
        An estimator with a method ``kernel(graphs)`` that returns the matrix between all graphs,
        such as those of `graphmover.rivals`.
    grid : mapping, optional
        Lists of values of its parameters; all combinations are compared.
    normalise : bool
        Divide ``K_ij`` by ``sqrt(K_ii K_jj)``.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.evaluation import KernelGrid, evaluate
    >>> from graphmover.rivals import BagOfWLLabels
    >>> graphs, families = gm.make_graph_families(60, random_state=0, return_X_y=True)
    >>> method = KernelGrid("WL-ST", BagOfWLLabels(), {"iterations": [1, 2]})
    >>> [row] = evaluate(graphs, families, [method], n_folds=3).summary()
    >>> row["method"]
    'WL-ST'
    """

    def __init__(
        self,
        name: str,
        kernel: Any,
        grid: Mapping[str, Sequence[Any]] | None = None,
        *,
        normalise: bool = True,
    ) -> None:
        self.name, self.estimator, self.normalise = name, kernel, normalise
        self.grid = dict(grid or {})
        if not hasattr(kernel, "kernel") or not hasattr(kernel, "get_params"):
            raise TypeError(
                f"{name!r} has a {type(kernel).__name__}, expected an estimator with a method "
                f"kernel(graphs)"
            )
        require_parameters(name, kernel, self.grid)

    @property
    def fingerprint(self) -> str:
        """Equal for two methods of one name only if they give the same results."""
        return digest((description(self.estimator), description(self.grid), self.normalise), size=8)

    def tuned_over(self) -> tuple[object, ...]:
        """Return the grid of C, the steps at most, and the number of inner folds."""
        return PrecomputedKernels.c_grid, MOST_STEPS, INNER_FOLDS

    def scorer(self, problem: Problem, progress: str | None) -> Callable[[Fold], Row]:
        """Compute the kernels, and return the function that scores a fold."""
        from sklearn.base import clone

        matrices: dict[str, Floats] = {}
        for chosen in progress_bar(combinations(self.grid), "kernels", progress):
            kernel = clone(self.estimator).set_params(**chosen)
            if "random_state" in kernel.get_params():
                kernel.set_params(random_state=problem.random_state)
            matrix = kernel.kernel(problem.graphs)
            if not np.isfinite(matrix).all():
                i, j = np.argwhere(~np.isfinite(matrix))[0]
                raise ValueError(f"{kernel} is {matrix[i, j]} between the graphs {i} and {j}")
            if self.normalise:
                matrix = _normalised(matrix)
            matrices[in_words(chosen)] = matrix
        return partial(kernel_row, "kernel", matrices, PrecomputedKernels.c_grid, problem)

    def __repr__(self) -> str:
        return f"KernelGrid({self.name!r}, {self.estimator!r}, {self.grid!r})"


def _normalised(kernel: Floats) -> Floats:
    lengths = np.sqrt(np.maximum(kernel.diagonal(), 0.0))
    lengths = np.where(lengths > 0, lengths, 1.0)
    return np.asarray(kernel / lengths / lengths[:, np.newaxis])
