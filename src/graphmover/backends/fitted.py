"""Distances to random graphs that are fixed: what a fitted model computes, on any back end."""

from __future__ import annotations

from collections.abc import Callable

from graphmover.backends import AnyBackend, backend_for
from graphmover.backends.protocol import Floats
from graphmover.backends.rows import distances_of_graphs, distances_of_nodes
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embed import NodeRecipe
from graphmover.nodes.embeddings import NodeEmbeddings, Nodes


class DistancesToRandomGraphs:
    """Computes distances; the random graphs are prepared once for each back end.

    Parameters
    ----------
    recipe : NodeRecipe
        How nodes are embedded.
    random_graphs : NodeEmbeddings
    """

    def __init__(self, recipe: NodeRecipe, random_graphs: NodeEmbeddings) -> None:
        self.recipe, self.random_graphs = recipe, random_graphs
        self._prepared: dict[str, object] = {}

    def of_graphs(
        self,
        batch: GraphBatch,
        *,
        device: str = "cpu",
        finish: Callable[[Floats], object] | None = None,
        n_jobs: int | None = None,
        progress: str | None = None,
    ) -> Floats:
        """Return a row per graph; ``finish`` changes rows in place, on the device."""
        if self.recipe.use_node_labels and batch.node_labels is None and batch.n_nodes:
            raise ValueError(
                "the model was fitted with node labels, but not all of these graphs have them: "
                "give all graphs labels, or fit with use_node_labels=False"
            )
        backend = backend_for(device, len(batch) * len(self.random_graphs))
        return distances_of_graphs(
            backend,
            batch,
            self.recipe,
            self.random_graphs,
            self._prepared_for(backend),
            finish=finish,
            n_jobs=n_jobs,
            progress=progress,
        )

    def of_nodes(
        self,
        nodes: Nodes,
        backend: AnyBackend,
        *,
        n_jobs: int | None = None,
        progress: str | None = None,
    ) -> Floats:
        """Return a row per graph whose nodes this back end has embedded by the same recipe."""
        return distances_of_nodes(
            backend,
            nodes,
            self.random_graphs,
            self._prepared_for(backend),
            n_jobs=n_jobs,
            progress=progress,
        )

    def _prepared_for(self, backend: AnyBackend) -> object:
        if backend.name not in self._prepared:
            self._prepared[backend.name] = backend.prepare(self.random_graphs)
        return self._prepared[backend.name]

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_prepared": {}}  # another process prepares its own
