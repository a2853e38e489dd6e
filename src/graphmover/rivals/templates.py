"""Fused Gromov-Wasserstein distances to templates (Vincent-Cuaz et al. 2022), by POT."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmover._utils.random_state import random_generator
from graphmover.graphs.adjacency import graph_adjacency
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embed import embed_batch
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.rivals.base import Floats, GraphMethod, carried_recipe
from graphmover.rivals.optional import optional


class TemplateDistances(GraphMethod):
    """Fused Gromov-Wasserstein distances to training graphs that were drawn as templates.

    Structures are compared by adjacency matrices, nodes by their attributes and labels or, without
    both, by the logarithm of their degree. TFGW learns its templates together with a network;
    these are training graphs as they are, as many of each class.

    Parameters
    ----------
    n_templates : int
        The number of templates, all training graphs if there are fewer.
    alpha : float
        The weight of structure, from 0 to 1; the rest is that of node features.
    random_state : int, None or Generator
        Seed of the choice.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import TemplateDistances
    >>> graphs = gm.make_graph_families(12, random_state=0).graphs
    >>> TemplateDistances(3, random_state=0).fit_transform(graphs).shape
    (12, 3)
    """

    def __init__(
        self, n_templates: int = 10, *, alpha: float = 0.5, random_state: Any = None
    ) -> None:
        self.n_templates = n_templates
        self.alpha = alpha
        self.random_state = random_state

    def _learn(self, batch: GraphBatch, y: Any) -> None:
        filled = np.flatnonzero(batch.node_counts)
        if not len(filled):
            raise ValueError("templates are graphs with nodes, but no graph has any")
        order = random_generator(self.random_state).permutation(filled)
        if y is not None:
            order = _class_by_class(order, np.asarray(y))
        self.recipe_ = carried_recipe(batch)
        self.templates_ = batch[np.sort(order[: self.n_templates])]
        self.template_nodes_ = embed_batch(self.templates_, self.recipe_)
        self.n_features_ = len(self.templates_)

    def _rows(self, batch: GraphBatch) -> Floats:
        fgw = optional("ot.gromov", "TemplateDistances").fused_gromov_wasserstein2
        nodes = embed_batch(batch, self.recipe_)
        rows = np.zeros((len(batch), self.n_features_))
        ends = [_structure(self.templates_, self.template_nodes_, t) for t in range(rows.shape[1])]
        for i in np.flatnonzero(batch.node_counts).tolist():
            matrix, points, masses = _structure(batch, nodes, i)
            for t, (other, other_points, other_masses) in enumerate(ends):
                costs = ((points[:, np.newaxis] - other_points) ** 2).sum(axis=2)
                rows[i, t] = fgw(
                    costs, matrix, other, masses, other_masses, alpha=self.alpha, max_iter=200
                )
        return np.sqrt(np.maximum(rows, 0.0))


def _class_by_class(order: Any, classes: Any) -> Any:
    """Return the order in which classes take turns."""
    kinds = classes[order]
    turn = np.zeros(len(order), np.int64)
    for kind in np.unique(kinds):
        own = np.flatnonzero(kinds == kind)
        turn[own] = np.arange(len(own))
    return order[np.argsort(turn, kind="stable")]


def _structure(batch: GraphBatch, nodes: NodeEmbeddings, number: int) -> tuple[Any, Any, Any]:
    """Return the adjacency matrix, the points and the masses of a graph."""
    own = nodes[number]
    n = len(own.points)
    return graph_adjacency(batch, number).toarray(), np.asarray(own.points), np.full(n, 1 / n)
