"""What networks read: node and edge features as tensors, many graphs as one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphmover.graphs.adjacency import neighbours
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embed import embed_batch
from graphmover.nodes.labels import label_codes
from graphmover.nodes.recipe import NodeRecipe
from graphmover.rivals.base import Floats, Ints, carried_recipe, graph_of_node
from graphmover.rivals.optional import optional

#: Larger degrees count as this one.
_LARGEST_DEGREE = 127


class Tensors(NamedTuple):
    """Some graphs as one disconnected graph."""

    x: Any  # (nodes, n_node_features)
    edge_index: Any  # (2, entries): from and to, each edge in both directions
    edge_attr: Any  # (entries, n_edge_features), or None
    batch: Any  # (nodes,) the number of each node's graph
    n_graphs: int


class Inputs(NamedTuple):
    """How nodes and edges become features: learnt from the training graphs."""

    nodes: NodeRecipe | None  # None: degrees are labels
    degrees: Ints | None  # of training nodes, increasing
    n_node_features: int
    edge_labels: Ints | None  # codes, increasing
    edge_centres: Floats | None
    edge_scales: Floats | None

    @classmethod
    def fitted_to(cls, batch: GraphBatch) -> Inputs:
        """Learn scales and labels, which are degrees where nodes carry nothing."""
        recipe = degrees = None
        if batch.node_attributes is None and batch.node_labels is None:
            degrees = np.unique(_degrees(batch))
            n_features = len(degrees)
        else:
            recipe = carried_recipe(batch)
            n_features = recipe.n_columns
        labels = centres = scales = None
        if batch.edge_labels is not None:
            labels = np.unique(label_codes(batch.edge_labels))
        if batch.edge_attributes is not None and len(batch.indices):
            centres = batch.edge_attributes.mean(axis=0)
            scales = batch.edge_attributes.std(axis=0)
            scales = np.where(scales > 0, scales, 1.0)
        return cls(recipe, degrees, n_features, labels, centres, scales)

    @property
    def n_edge_features(self) -> int:
        """The number of columns of edges; 0 if there are none."""
        labels = 0 if self.edge_labels is None else len(self.edge_labels)
        return labels + (0 if self.edge_centres is None else len(self.edge_centres))

    def node_features(self, batch: GraphBatch) -> Floats:
        """Return a row for each node; an unseen label or degree is a row of zeros."""
        if self.nodes is not None:
            return embed_batch(batch, self.nodes).points
        assert self.degrees is not None
        columns: Floats = (_degrees(batch)[:, np.newaxis] == self.degrees).astype(np.float64)
        return columns

    def tensors(self, batch: GraphBatch) -> Tensors:
        """Return some graphs as tensors."""
        torch = optional("torch", "a neural network")
        points = self.node_features(batch)
        ends = neighbours(batch)
        starts = np.repeat(np.arange(batch.n_nodes), np.diff(batch.indptr))
        # Entry u -> v is read by u: its message comes from v.
        edge_index = torch.from_numpy(np.stack([ends, starts]).astype(np.int64))
        edges = self._edge_features(batch)
        return Tensors(
            torch.from_numpy(np.asarray(points, np.float32)),
            edge_index,
            None if edges is None else torch.from_numpy(edges.astype(np.float32)),
            torch.from_numpy(graph_of_node(batch)),
            len(batch),
        )

    def _edge_features(self, batch: GraphBatch) -> Floats | None:
        blocks = []
        if self.edge_labels is not None:
            if batch.edge_labels is None:
                codes = np.zeros((len(batch.indices), len(self.edge_labels)))
            else:
                codes = label_codes(batch.edge_labels)[:, np.newaxis] == self.edge_labels
            blocks.append(codes.astype(np.float64))
        if self.edge_centres is not None:
            assert self.edge_scales is not None
            if batch.edge_attributes is None:
                blocks.append(np.zeros((len(batch.indices), len(self.edge_centres))))
            else:
                blocks.append((batch.edge_attributes - self.edge_centres) / self.edge_scales)
        return np.concatenate(blocks, axis=1) if blocks else None


def _degrees(batch: GraphBatch) -> Ints:
    return np.minimum(np.diff(batch.indptr), _LARGEST_DEGREE)
