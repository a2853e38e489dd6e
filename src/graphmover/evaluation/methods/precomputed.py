"""Kernels that were computed elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover.evaluation.folds import INNER_FOLDS, Fold
from graphmover.evaluation.kernels import MOST_STEPS, kernel_row
from graphmover.evaluation.methods.fold_by_fold import FoldByFold
from graphmover.evaluation.protocol import Problem, Row
from graphmover.graphs.batch import GraphBatch


class PrecomputedKernels(FoldByFold):
    """Kernel matrices between all graphs, from which cross-validation chooses.

    Parameters
    ----------
    name : str
        The method's name in the results.
    matrices : mapping
        From each kernel's name in the results, such as the value of a hyperparameter, to a
        symmetric array of shape (n_graphs, n_graphs). It need not be positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from graphmover.evaluation import PrecomputedKernels
    >>> PrecomputedKernels("identity", {1: np.eye(3), 2: 2 * np.eye(3)})
    PrecomputedKernels('identity', 2 of 3 graphs)
    """

    uses_edge_data: ClassVar[bool] = False

    #: The values of the SVM's C.
    c_grid: ClassVar[Sequence[float]] = tuple(10.0**power for power in range(-3, 6))

    def __init__(self, name: str, matrices: Mapping[Any, ArrayLike]) -> None:
        self.name = name
        if not isinstance(matrices, Mapping):
            raise TypeError(
                f"the matrices of {name!r} are a {type(matrices).__name__}, expected a mapping "
                f'from names to matrices, such as {{"mine": K}}'
            )
        self.matrices = {key: _real(key, matrix, name) for key, matrix in matrices.items()}
        if not self.matrices:
            raise ValueError(f"{name!r} has no kernel matrix")
        self.n_graphs = len(next(iter(self.matrices.values())))
        for key, matrix in self.matrices.items():
            if not isinstance(key, str | int | float):
                raise TypeError(
                    f"a kernel matrix of {name!r} is called {key!r}, expected a string or a number"
                )
            _require_kernel(f"kernel matrix {key!r} of {name!r}", matrix, self.n_graphs)

    @property
    def fingerprint(self) -> str:
        """Equal for two methods of one name only if they give the same results."""
        digest = hashlib.blake2b(digest_size=8)
        for key, matrix in self.matrices.items():
            digest.update(repr(key).encode())
            digest.update(np.ascontiguousarray(matrix).tobytes())
        return digest.hexdigest()

    def tuned_over(self) -> tuple[object, ...]:
        """Return the grid of C, the steps at most, and the number of inner folds."""
        return self.c_grid, MOST_STEPS, INNER_FOLDS

    def require_evaluable(self, graphs: GraphBatch) -> None:
        """Raise an error if the kernels are of another number of graphs."""
        if self.n_graphs != len(graphs):
            raise ValueError(
                f"{self.name!r} has kernels of {self.n_graphs} graphs, expected {len(graphs)}"
            )

    def scorer(self, problem: Problem, progress: str | None) -> Callable[[Fold], Row]:
        """Return the function that scores a fold."""
        return partial(kernel_row, "kernel", self.matrices, self.c_grid, problem)

    def __repr__(self) -> str:
        return f"PrecomputedKernels({self.name!r}, {len(self.matrices)} of {self.n_graphs} graphs)"


def _real(key: Any, matrix: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        if not np.iscomplexobj(matrix):
            return np.asarray(matrix, np.float64)
    except (TypeError, ValueError):
        pass  # a sparse matrix, for example
    raise TypeError(
        f"kernel matrix {key!r} of {name!r} is a {type(matrix).__name__}, expected a dense "
        f"array of real numbers"
    )


def _require_kernel(what: str, matrix: NDArray[np.float64], n_graphs: int) -> None:
    if matrix.shape != (n_graphs, n_graphs):
        raise ValueError(f"{what} has the shape {matrix.shape}, expected {(n_graphs, n_graphs)}")
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(f"{what} has {matrix[i, j]} at [{i}, {j}], expected finite numbers")
    tolerance = 1e-8 * np.abs(matrix).max(initial=0.0)
    if (np.abs(matrix - matrix.T) > tolerance).any():
        i, j = np.argwhere(np.abs(matrix - matrix.T) > tolerance)[0]
        raise ValueError(
            f"{what} is not symmetric: {matrix[i, j]} at [{i}, {j}], {matrix[j, i]} at [{j}, {i}]"
        )
