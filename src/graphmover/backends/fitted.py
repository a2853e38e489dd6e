"""Distances to random graphs that are fixed: what a fitted model computes, on any back end."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.progress import Progress
from graphmover.backends import AnyBackend, backend_for
from graphmover.backends.protocol import Floats
from graphmover.backends.rows import distances_of_graphs, distances_of_nodes
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embed import node_codes
from graphmover.nodes.embeddings import NodeEmbeddings, Nodes
from graphmover.nodes.labels import coarsest_labels, n_without_any_of
from graphmover.nodes.recipe import NodeRecipe
from graphmover.nodes.registry import OF_ATTRIBUTES
from graphmover.transport.ground import (
    Ground,
    GroundDistance,
    TreeDistance,
    default_ground_distance,
)

Ints = NDArray[np.int64]


def ground_of(recipe: NodeRecipe, nodes: Nodes, *, partial: bool = False) -> Ground | None:
    """Return the ground distance of nodes that were embedded by a recipe; None is the paper's.

    With ``partial``, mass without a match costs as much as one between nodes that have nothing in
    common: all labels differ, and points are opposite corners of the unit cube, or
    `NodeRecipe.farthest`.
    """
    if recipe.node_embedding is None:
        return TreeDistance(partial)
    n_depths = recipe.wl_iterations + 1 if recipe.wl_depths == "all" else 0
    ground = None
    if n_depths:
        ground = GroundDistance(floor=0.0, per_label=recipe.label_weight / n_depths)
    if not partial:
        return ground
    ground = ground or default_ground_distance(nodes.n_dimensions)
    unmatched = recipe.farthest
    if unmatched is None:
        unmatched = math.sqrt(nodes.n_dimensions / (recipe.smoothing + 1))
    if nodes.has_labels:
        unmatched = max(unmatched, ground.floor) + (recipe.label_weight if n_depths else 0.0)
    return ground._replace(unmatched=unmatched)


class DistancesToRandomGraphs:
    """Computes distances; the random graphs are prepared once for each back end.

    Parameters
    ----------
    recipe : NodeRecipe
        How nodes are embedded.
    random_graphs : NodeEmbeddings
    partial : bool
        Whether masses are counted rather than divided by their sum.
    """

    def __init__(
        self, recipe: NodeRecipe, random_graphs: NodeEmbeddings, *, partial: bool = False
    ) -> None:
        self.recipe, self.random_graphs, self.partial = recipe, random_graphs, partial
        self._prepared: dict[str, object] = {}
        self._known: Ints | None = None  # the labels of random graphs, increasing

    def of_graphs(
        self,
        batch: GraphBatch,
        *,
        device: str = "cpu",
        finish: Callable[[Floats], object] | None = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> Floats:
        """Return a row per graph; ``finish`` changes rows in place, on the device."""
        self.require_carried(batch)
        backend = backend_for(device, len(batch) * len(self.random_graphs))
        return distances_of_graphs(
            backend,
            batch,
            self.recipe,
            self.random_graphs,
            self.prepared_for(backend),
            finish=finish,
            n_jobs=n_jobs,
            progress=progress,
        )

    def require_carried(self, batch: GraphBatch) -> None:
        """Raise ValueError if graphs lack what the model was fitted with."""
        blocks = {block.name for block in self.recipe.blocks or ()}
        read = self.recipe.read
        labels = (self.recipe.use_node_labels or "labels" in blocks) and not read.nodes
        attributes = read.nodes or not blocks.isdisjoint(OF_ATTRIBUTES)
        edges = self.recipe.use_edge_labels and not read.edges
        along_edges = "edge_label=...), or with keep_direction=True if they are directions"
        for what, argument, is_used, values, size in (
            ("node labels", "node_label=...)", labels, batch.node_labels, batch.n_nodes),
            ("edge labels", along_edges, edges, batch.edge_labels, len(batch.indices)),
            (
                "node attributes",
                "node_attributes=...)",
                attributes,
                batch.node_attributes,
                batch.n_nodes,
            ),
        ):
            if is_used and values is None and size:
                raise ValueError(
                    f"the model was fitted with {what}, but not all of these graphs have them: "
                    f"add them to all graphs (if they have another name, pass it: "
                    f"as_graph_batch(graphs, {argument}), or fit to graphs without them"
                )

    def n_unknown(self, batch: GraphBatch) -> int:
        """Return how many graphs, all with nodes, have no label of any random graph."""
        known, recipe = self.random_graphs.labels, self.recipe
        if known is not None and known.ndim > 1 and recipe.use_node_labels:
            recipe = recipe._replace(wl_iterations=0, wl_depths="last")  # the first column
        labels = node_codes(recipe.read.of(batch), recipe)
        if labels is None or known is None:
            return 0
        if self._known is None:
            self._known = np.unique(coarsest_labels(known))
        return n_without_any_of(self._known, labels, batch.offsets)

    def of_nodes(
        self,
        nodes: Nodes,
        backend: AnyBackend,
        *,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> Floats:
        """Return a row per graph whose nodes this back end has embedded by the same recipe."""
        return distances_of_nodes(
            backend,
            nodes,
            self.random_graphs,
            self.prepared_for(backend),
            n_jobs=n_jobs,
            progress=progress,
        )

    def prepared_for(self, backend: AnyBackend) -> object:
        """Return the random graphs, ready for a back end's engine."""
        if backend.name not in self._prepared:
            ground = ground_of(self.recipe, self.random_graphs, partial=self.partial)
            self._prepared[backend.name] = backend.prepare(self.random_graphs, ground)
        return self._prepared[backend.name]

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_prepared": {}, "_known": None}  # another process has its own
