"""Wasserstein Weisfeiler-Lehman, WWL (Togninalli et al. 2019), by this library's own distances.

With labels, two nodes differ by the share of the depths at which their Weisfeiler-Lehman labels
do: the earth mover's distance has a closed form, in time linear in the nodes. With attributes,
points are averaged with their neighbours' again and again, and the exact engine compares them.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embed import embed_batch
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.nodes.recipe import NodeRecipe
from graphmover.rivals.base import Floats, GraphKernel
from graphmover.transport import TreeDistance, earth_movers_distance


class WassersteinWL(GraphKernel):
    """The kernel ``exp(-strength * EMD)`` of WWL.

    Parameters
    ----------
    iterations : int
        Weisfeiler-Lehman refinements, or averages with neighbours, h.
    strength : float
        The factor of the distances, lambda.
    use_attributes : bool or "auto"
        Compare node attributes, not labels. "auto": if the graphs have attributes.
    n_jobs : int or None
        Threads; None is 1, -1 is all cores.

    Notes
    -----
    Columns of attributes have mean 0 and standard deviation 1 over the nodes of the graphs given
    to `fit` or `kernel`. Labels are then not used, as in the paper. Depths of attributes are
    divided by ``sqrt(iterations + 1)``, which ``strength`` makes up for.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import WassersteinWL
    >>> path, triangle = gm.Graph(3, [(0, 1), (1, 2)]), gm.Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> WassersteinWL(iterations=1).kernel([path, triangle]).round(3)
    array([[1.   , 0.435],
           [0.435, 1.   ]])
    """

    def __init__(
        self,
        iterations: int = 3,
        *,
        strength: float = 1.0,
        use_attributes: bool | Literal["auto"] = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.iterations = iterations
        self.strength = strength
        self.use_attributes = use_attributes
        self.n_jobs = n_jobs

    def _reads_node_labels(self, batch: GraphBatch) -> bool:
        return not self._goes_by_attributes(batch)

    def _goes_by_attributes(self, batch: GraphBatch) -> bool:
        if self.use_attributes == "auto":
            return batch.node_attributes is not None
        return bool(self.use_attributes)

    def _learn_preparation(self, batch: GraphBatch) -> None:
        self.by_attributes_ = self._goes_by_attributes(batch)
        if self.by_attributes_:
            recipe = NodeRecipe(
                1, "attributes", "equal", use_node_labels=False, smoothing=self.iterations
            )
        else:
            recipe = NodeRecipe(1, None, "equal", wl_iterations=self.iterations, wl_depths="all")
        self.recipe_ = recipe.fitted_to(batch, self.n_jobs)

    def _prepared(self, batch: GraphBatch) -> NodeEmbeddings:
        if not self.by_attributes_ and batch.node_labels is None:  # the degree takes its place
            batch = GraphBatch(
                batch.offsets, batch.indptr, batch.indices, node_labels=np.diff(batch.indptr)
            )
        return embed_batch(batch, self.recipe_, n_jobs=self.n_jobs)

    def _between(self, rows: NodeEmbeddings, columns: NodeEmbeddings) -> Floats:
        ground = None if self.by_attributes_ else TreeDistance()
        distances = earth_movers_distance(rows, columns, ground=ground, n_jobs=self.n_jobs)
        return np.exp(-self.strength * distances)
