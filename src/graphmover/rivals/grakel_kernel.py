"""Kernels of GraKeL (Siglidis et al. 2020) behind one estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.adjacency import graph_adjacency
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.labels import label_codes
from graphmover.rivals.base import Floats, KernelTransformer
from graphmover.rivals.optional import optional

#: Those that start from labels, if only from one for all nodes.
_REFINE = ("WL-ST", "WL-SP", "WL-OA")


class GrakelKernel(KernelTransformer):
    """A kernel of GraKeL as a transformer: columns are its values with the training graphs.

    Parameters
    ----------
    name : {"RW", "GL", "SP", "WL-ST", "WL-SP", "WL-OA", "PM", "Lo-theta"}
        Random walks, graphlets, shortest paths, Weisfeiler-Lehman subtrees, shortest paths and
        optimal assignment, pyramid match, Lovasz theta (which needs cvxopt).
    use_node_labels : bool
        False ignores labels. It need not be set for graphs without labels.
    iterations : int
        Weisfeiler-Lehman refinements, h.
    decay : float
        The weight of each further step in RW. The sum over all walks converges if it is below the
        reciprocal of the product of the two largest eigenvalues of any two graphs.
    graphlet_nodes, n_samples : int
        Nodes of a graphlet in GL, and how many are drawn from each graph; 0 counts all of them. In
        Lo-theta the number of subgraphs drawn, where 0 is 50.
    levels, n_dimensions : int
        Levels of the histograms and dimensions of the node embedding in PM.
    random_state : int or None
        Seed of the random draws of GL and Lo-theta.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import GrakelKernel
    >>> path, triangle = gm.Graph(3, [(0, 1), (1, 2)]), gm.Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> GrakelKernel("WL-OA", iterations=1).kernel([path, triangle])
    array([[6., 4.],
           [4., 6.]])
    """

    def __init__(
        self,
        name: str = "WL-ST",
        *,
        use_node_labels: bool = True,
        iterations: int = 3,
        decay: float = 0.001,
        graphlet_nodes: int = 3,
        n_samples: int = 0,
        levels: int = 4,
        n_dimensions: int = 6,
        random_state: int | None = None,
    ) -> None:
        self.name = name
        self.use_node_labels = use_node_labels
        self.iterations = iterations
        self.decay = decay
        self.graphlet_nodes = graphlet_nodes
        self.n_samples = n_samples
        self.levels = levels
        self.n_dimensions = n_dimensions
        self.random_state = random_state

    def _learn_rows(self, batch: GraphBatch, y: Any) -> Floats:
        return np.asarray(self._started(batch, "fit_transform"), np.float64)

    def _learn(self, batch: GraphBatch, y: Any) -> None:
        self._started(batch, "fit")

    def _rows(self, batch: GraphBatch) -> Floats:
        graphs = _as_grakel(batch, self._labels(batch), self.name)
        if self.name == "Lo-theta":
            # It has as many dimensions as the largest training graph needs, and raises for a larger
            # graph. Further ones, of zeros, change no angle.
            largest = int(batch.node_counts.max(initial=0))
            self.kernel_.d_ = max(self.kernel_.d_, largest + 1)
        return np.asarray(self.kernel_.transform(graphs), np.float64)

    def _started(self, batch: GraphBatch, step: str) -> Any:
        """Return what the first step of GraKeL's kernel returns."""
        if self.name not in _KERNELS:
            raise ValueError(f"name must be one of {', '.join(_KERNELS)}, got {self.name!r}")
        kernels = optional("grakel.kernels", f"GrakelKernel({self.name!r})")
        if self.name == "Lo-theta":
            optional("cvxopt", "GrakelKernel('Lo-theta')")
        graphs = _as_grakel(batch, self._labels(batch), self.name)
        self.n_features_ = len(batch)
        self.kernel_ = _KERNELS[self.name](kernels, self, self.uses_node_labels_)
        return getattr(self.kernel_, step)(graphs)

    def _labels(self, batch: GraphBatch) -> NDArray[np.int64] | None:
        if batch.node_labels is not None:
            return label_codes(batch.node_labels)
        return np.zeros(batch.n_nodes, np.int64) if self.name in _REFINE else None


def _refined(kernels: Any, own: GrakelKernel, base: Any) -> Any:
    return kernels.WeisfeilerLehman(n_iter=own.iterations, base_graph_kernel=base)


#: By the names of the paper: GraKeL's kernel for an estimator and whether there are labels.
_KERNELS: dict[str, Callable[[Any, GrakelKernel, bool], Any]] = {
    "RW": lambda kernels, own, labelled: (
        kernels.RandomWalkLabeled if labelled else kernels.RandomWalk
    )(lamda=own.decay),
    "GL": lambda kernels, own, labelled: kernels.GraphletSampling(
        k=own.graphlet_nodes,
        sampling={"n_samples": own.n_samples} if own.n_samples else None,
        random_state=own.random_state,
    ),
    "SP": lambda kernels, own, labelled: kernels.ShortestPath(with_labels=labelled),
    "WL-ST": lambda kernels, own, labelled: _refined(kernels, own, kernels.VertexHistogram),
    "WL-SP": lambda kernels, own, labelled: _refined(kernels, own, kernels.ShortestPath),
    "WL-OA": lambda kernels, own, labelled: kernels.WeisfeilerLehmanOptimalAssignment(
        n_iter=own.iterations
    ),
    "PM": lambda kernels, own, labelled: kernels.PyramidMatch(
        with_labels=labelled, L=own.levels, d=own.n_dimensions
    ),
    "Lo-theta": lambda kernels, own, labelled: kernels.LovaszTheta(
        n_samples=own.n_samples or 50, random_state=own.random_state
    ),
}


def _as_grakel(batch: GraphBatch, labels: NDArray[np.int64] | None, name: str) -> list[Any]:
    """Return graphs as GraKeL takes them; it cannot take one without nodes."""
    graph = optional("grakel", f"GrakelKernel({name!r})").Graph
    found = []
    for number, count in enumerate(batch.node_counts):
        if not count:
            raise ValueError(f"graph {number} has no nodes, which GraKeL cannot compare")
        own = None
        if labels is not None:
            first = batch.offsets[number]
            own = dict(enumerate(labels[first : first + count].tolist()))
        matrix = graph_adjacency(batch, number).toarray()
        found.append(graph(matrix, node_labels=own, graph_format="all"))
    return found
