"""The methods of the paper, with its hyperparameter grids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from graphmover.embedding import RandomGraphEmbedding
from graphmover.evaluation.methods.emd_kernel import EMDKernel
from graphmover.evaluation.methods.random_graph_embedding import Method

#: gamma is relative to 1 / (median training distance): as many values as in the paper.
GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0)

#: The paper's grid; its d is one of these on each data set.
PAPER_GRID: Mapping[str, Sequence[Any]] = MappingProxyType(
    {"max_random_nodes": range(3, 31, 3), "n_dimensions": (4, 6, 8), "gamma": GAMMAS}
)
WL_ITERATIONS = (1, 2, 3, 4)


def paper_methods() -> dict[str, Method | EMDKernel]:
    """Return the paper's methods by name, with the paper's grids.

    Examples
    --------
    >>> from graphmover.evaluation import paper_methods
    >>> list(paper_methods())
    ['RGE(RF)', 'RGE(ASG)', 'RGE(ASG)+labels', 'WL-RGE(ASG)', 'EMD', 'EMD+labels']
    """
    plain = RandomGraphEmbedding(use_node_labels=False)
    labels = RandomGraphEmbedding(use_node_labels=True)
    uniform = RandomGraphEmbedding(sampling="uniform")
    wl_grid = {**PAPER_GRID, "wl_iterations": WL_ITERATIONS}
    methods: list[Method | EMDKernel] = [
        Method("RGE(RF)", uniform, PAPER_GRID),
        Method("RGE(ASG)", plain, PAPER_GRID),
        Method("RGE(ASG)+labels", labels, PAPER_GRID),
        Method("WL-RGE(ASG)", labels, wl_grid, stack_depths=True),
        EMDKernel("EMD"),
        EMDKernel("EMD+labels", use_node_labels=True),
    ]
    return {method.name: method for method in methods}
