"""The exact EMD kernel with a kernel SVM or kernel ridge regression: what RGE replaces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from graphmover._utils.checks import require_integer
from graphmover.evaluation.emd_kernel_matrix import uncentred_kernel
from graphmover.evaluation.fingerprints import plain
from graphmover.evaluation.folds import INNER_FOLDS, Fold
from graphmover.evaluation.kernels import kernel_row
from graphmover.evaluation.methods.fold_by_fold import FoldByFold
from graphmover.evaluation.protocol import Problem, Row
from graphmover.evaluation.threads import progress_bar
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embed import embed_nodes


@dataclass(frozen=True)
class EMDKernel(FoldByFold):
    """The exact kernel ``-1/2 J D J`` of all earth mover's distances D: indefinite, quadratic.

    Parameters
    ----------
    name : str
        The method's name in the results.
    use_node_labels : bool
    n_dimensions : sequence of int
        The values that cross-validation chooses from.
    positive_part : bool
        Clip the spectrum of the training graphs' kernel, leaving out its negative part.

    Examples
    --------
    >>> from graphmover.evaluation import EMDKernel
    >>> EMDKernel("EMD, d = 4", n_dimensions=[4])
    EMDKernel(name='EMD, d = 4', use_node_labels=False, n_dimensions=[4], positive_part=False)
    """

    name: str
    use_node_labels: bool = False
    n_dimensions: Sequence[int] = (4, 6, 8)
    positive_part: bool = False

    uses_edge_data: ClassVar[bool] = False

    #: The values of the SVM's C: none above 100 was ever chosen.
    c_grid: ClassVar[Sequence[float]] = tuple(10.0**power for power in range(-3, 4))

    def __post_init__(self) -> None:
        if not isinstance(self.n_dimensions, Collection) or not len(self.n_dimensions):
            raise ValueError(
                f"the n_dimensions of {self.name!r} are {self.n_dimensions!r}, expected a list of "
                f"integers"
            )
        for number in self.n_dimensions:
            require_integer(f"each of the n_dimensions of {self.name!r}", number, least=1)

    @property
    def fingerprint(self) -> str:
        """Equal for two methods of one name only if they give the same results."""
        clipped = " clipped" if self.positive_part else ""
        return f"{self.use_node_labels} {tuple(self._values())}{clipped}"

    def _values(self) -> list[int]:
        return [plain(number) for number in self.n_dimensions]

    def tuned_over(self) -> tuple[object, ...]:
        """Return the grid of C, and the number of inner folds."""
        return self.c_grid, INNER_FOLDS

    def require_evaluable(self, graphs: GraphBatch) -> None:
        """Raise an error if node labels are needed but missing."""
        if self.use_node_labels:
            require_node_labels(self.name, graphs)

    def scorer(self, problem: Problem, progress: str | None) -> Callable[[Fold], Row]:
        """Compute the kernels, and return the function that scores a fold."""
        kernels = {}
        for d in progress_bar(self._values(), "distances", progress):
            nodes = embed_nodes(
                problem.graphs, d, use_node_labels=self.use_node_labels, n_jobs=problem.n_jobs
            )
            # Centring would leak the test folds into the means, and SVMs do not need it.
            kernels[d] = uncentred_kernel(nodes, n_jobs=problem.n_jobs, device=problem.device)
        return partial(
            kernel_row,
            "n_dimensions",
            kernels,
            self.c_grid,
            problem,
            positive_part=self.positive_part,
        )


def require_node_labels(name: str, graphs: GraphBatch) -> None:
    """Raise an error if not all graphs have node labels."""
    if graphs.node_labels is None:
        raise ValueError(f"{name!r} needs node labels, but not all graphs have them")
