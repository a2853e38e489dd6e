"""The baseline that sees no structure: vertex histograms (Sugiyama and Borgwardt 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.evaluation.folds import INNER_FOLDS, Fold
from graphmover.evaluation.methods.fold_by_fold import FoldByFold
from graphmover.evaluation.protocol import Problem, Row
from graphmover.evaluation.ridge import linear_machines
from graphmover.evaluation.selection import score_on_test_fold
from graphmover.evaluation.svm import SVM_C
from graphmover.rivals.weisfeiler_lehman import VertexHistogram as BagOfNodes


class VertexHistogram(FoldByFold):
    """A linear SVM, or ridge regression, on vertex histograms."""

    name = "bag of nodes"  # results are published under it
    uses_edge_data = False

    def tuned_over(self) -> tuple[object, ...]:
        """Return the grid of C, and the number of inner folds."""
        return SVM_C, INNER_FOLDS

    def scorer(self, problem: Problem, progress: str | None) -> Callable[[Fold], Row]:
        """Count the nodes, and return the function that scores a fold."""
        counts = vertex_histograms(problem.graphs)

        def row(fold: Fold) -> Row:
            # Relative to the size of the mean training graph.
            shares = counts / max(counts[fold.train].sum(axis=1).mean(), 1.0)
            with_bias = np.column_stack([shares, np.ones(len(shares))])
            machines = linear_machines(problem.target, with_bias, len(fold.train))
            return score_on_test_fold(machines, problem, fold)

        return row


def vertex_histograms(graphs: Any) -> NDArray[np.float64]:
    """Count the nodes of each label, or of each degree where graphs have no labels.

    Parameters
    ----------
    graphs : GraphBatch or anything `as_graph_batch` takes

    Returns
    -------
    ndarray of shape (len(graphs), number of labels or degrees)

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.evaluation import vertex_histograms
    >>> vertex_histograms([gm.Graph(3, [(0, 1), (1, 2)])])  # degrees 1 and 2
    array([[2., 1.]])
    """
    histogram = BagOfNodes().set_output(transform="default")  # data frames cannot be sparse
    counts: NDArray[np.float64] = histogram.fit_transform(graphs).toarray()
    return counts
