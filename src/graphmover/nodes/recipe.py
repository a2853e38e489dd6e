"""The recipe for node embeddings: what `fit` decides about points, masses and labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.attributes_as_labels import ReadAsLabels
from graphmover.nodes.blocks import (
    Block,
    digest_of,
    farthest_square,
    fitted_blocks,
    is_composed,
)
from graphmover.nodes.masses import node_degrees
from graphmover.nodes.registry import NODE_EMBEDDINGS, Method, Work, named_blocks, text_of

if TYPE_CHECKING:
    from graphmover.nodes.registry import NodeEmbedding


class NodeRecipe(NamedTuple):
    """How nodes become points, masses and labels: everything that `fit` decides."""

    n_dimensions: int
    node_embedding: NodeEmbedding = "laplacian"
    node_mass: str = "degree"
    use_node_labels: bool | str = "auto"
    wl_iterations: int = 0
    scale: float = 1.0  # coordinates are divided by it
    wl_depths: str = "last"
    use_edge_labels: bool | str = False
    label_weight: float = 1.0
    smoothing: int = 0
    blocks: tuple[Block, ...] | None = None  # what `fitted_to` decides
    read: ReadAsLabels = ReadAsLabels()

    @classmethod
    def of_parameters(cls, parameters: Mapping[str, Any]) -> NodeRecipe:
        """Return the recipe that an estimator's parameters ask for, its "auto" undecided."""
        return cls(
            parameters["n_dimensions"],
            parameters["node_embedding"],
            parameters["node_mass"],
            parameters["use_node_labels"],
            int(parameters["wl_iterations"]),
            wl_depths=parameters["wl_depths"],
            use_edge_labels=parameters["use_edge_labels"],
            label_weight=float(parameters["label_weight"]),
            smoothing=int(parameters["smoothing"]),
            read=ReadAsLabels.of_choice(parameters["attributes_as_labels"]),
        )

    @property
    def key(self) -> object:
        """What equal recipes have in common, to look them up by."""
        named = self.node_embedding
        if not (named is None or isinstance(named, str) or callable(named)):
            named = text_of(named)
        return self._replace(node_embedding=named, blocks=None), digest_of(self.blocks)

    @property
    def is_composed(self) -> bool:
        """Whether points are made of blocks, which `fitted_to` fits to the training nodes."""
        return is_composed(self.node_embedding)

    @property
    def method(self) -> Method | None:
        """The one method that makes the points, unless they are composed, a callable's or none."""
        embedding = self.node_embedding
        if embedding is None or self.is_composed or callable(embedding):
            return None
        return NODE_EMBEDDINGS[named_blocks(embedding)[0][0]]

    @property
    def is_on_scale(self) -> bool:
        """Whether points need no common scale: in the unit cube, or blocks with their own."""
        if self.node_embedding is None or self.is_composed:
            return True
        return self.method is not None and self.method.in_unit_cube

    @property
    def takes_labels(self) -> bool:
        """Whether "auto" compares labels: not if features tell the nodes apart already.

        Weisfeiler-Lehman iterations and depths are asked for, and start from the labels.
        """
        embedding = self.node_embedding
        asked = self.wl_iterations or self.wl_depths == "all"
        if embedding is None or callable(embedding) or asked:
            return True
        return not any(NODE_EMBEDDINGS[name].is_feature for name, _ in named_blocks(embedding))

    @property
    def n_columns(self) -> int:
        """The number of coordinates, unless a callable decides it."""
        if self.node_embedding is None:
            return 0
        width = sum(block.width for block in self.blocks) if self.blocks else self.n_dimensions
        return width * (self.smoothing + 1)

    @property
    def farthest(self) -> float | None:
        """How far apart points are that have nothing in common; None: a unit cube's diagonal.

        In a block of standardised columns, the root mean square distance of two training nodes; of
        labels, the distance of any two; else the largest that there is.
        """
        return None if self.blocks is None else math.sqrt(sum(map(farthest_square, self.blocks)))

    def decided_for(self, batch: GraphBatch, *, can_carry_labels: bool) -> NodeRecipe:
        """Return a recipe without "auto": labels are used if all of these graphs have them.

        ``can_carry_labels`` tells whether random graphs can; points drawn uniformly cannot.
        """
        batch = self.read.of(batch)
        labels, along = self.use_node_labels, self.use_edge_labels
        if labels == "auto":
            labels = batch.node_labels is not None and can_carry_labels and self.takes_labels
        if along == "auto":
            along = batch.edge_labels is not None and self.wl_iterations > 0
        return self._replace(
            use_node_labels=bool(labels),
            use_edge_labels=bool(along),
            read=self.read.fitted_to(batch),
        )

    def fitted_to(self, batch: GraphBatch, n_jobs: int | None = None) -> NodeRecipe:
        """Return a recipe whose blocks have the scales and labels of these training graphs."""
        if not self.is_composed:
            return self
        batch = self.read.of(batch)
        work = Work(batch, node_degrees(batch), self.n_dimensions, n_jobs)
        return self._replace(blocks=fitted_blocks(work, self.node_embedding))

    def scaled_to(self, extent: tuple[float, float]) -> NodeRecipe:
        """Return a recipe by which training points between these ends fit into a unit cube."""
        low, high = extent
        if self.is_on_scale:
            return self
        # Depths side by side are divided by the root of their number, and must stay so.
        depths = math.sqrt(self.smoothing + 1)
        return self._replace(scale=(high - low) * depths if high > low else 1.0)
