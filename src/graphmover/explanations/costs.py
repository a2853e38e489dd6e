"""The cost of matching two nodes, split into what each of their columns adds to it.

The ground distance of `transport/ground.py` is a Euclidean distance, raised to a floor where labels
differ, plus a sum over label columns. Sums split as they are, and what the floor adds is due to
labels. Of a Euclidean distance ||v|| the columns C have the share

    sum over c in C of v_c^2 / ||v||

which is what the gradient of the distance adds up to in these columns along the straight line from
one node to the other: the Aumann-Shapley price (Aumann and Shapley 1974), known for neural networks
as integrated gradients (Sundararajan, Taly and Yan 2017). Shares are never negative, add up to the
distance, and do not depend on how blocks are cut any further.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.messages import counted
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.nodes.recipe import NodeRecipe
from graphmover.nodes.registry import OF_ATTRIBUTES
from graphmover.transport.ground import (
    Ground,
    GroundDistance,
    TreeDistance,
    default_ground_distance,
)
from graphmover.transport.side import label_columns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: What the parts of a cost are due to, in the order in which they are shown.
KINDS = ("coordinates", "labels", "attributes", "edges")

#: What the blocks of a node embedding are, unless they are coordinates.
_KIND_OF_BLOCK = dict.fromkeys(OF_ATTRIBUTES, "attributes") | {"labels": "labels", "edges": "edges"}


class Part(NamedTuple):
    """Columns of nodes that are compared together."""

    name: str  # such as "laplacian", or "labels after 2 iterations"
    kind: str  # one of KINDS


def general_rule(ground: Ground | None, nodes: NodeEmbeddings) -> GroundDistance:
    """Return a ground distance as the general rule states it; None is the paper's."""
    if isinstance(ground, TreeDistance):
        return ground.by_columns(label_columns(np, nodes.labels, len(nodes.points)).shape[1])
    return ground or default_ground_distance(nodes.n_dimensions)


def split_costs(
    recipe: NodeRecipe,
    rule: GroundDistance,
    x: NodeEmbeddings,
    y: NodeEmbeddings,
    pairs: tuple[Ints, Ints],
) -> dict[Part, Floats]:
    """Return what each part adds to the distances of some nodes of x to some nodes of y."""
    i, j = pairs
    squares = (x.points[i] - y.points[j]) ** 2
    distance = np.sqrt(squares.sum(axis=1))
    shares = np.divide(
        squares, distance[:, np.newaxis], out=np.zeros_like(squares), where=distance[:, None] > 0
    )
    parts: dict[Part, Floats] = {}
    for part, columns in _columns_of(recipe, x.n_dimensions):
        parts[part] = parts.get(part, 0.0) + shares[:, columns].sum(axis=1)
    differ = (
        label_columns(np, x.labels, len(x.points))[i]
        != label_columns(np, y.labels, len(y.points))[j]
    )
    if rule.floor and differ.shape[1]:
        raised = np.where(differ.any(axis=1), np.maximum(rule.floor - distance, 0.0), 0.0)
        parts[Part("labels that differ", "labels")] = raised
    if rule.per_label:
        for depth in range(differ.shape[1]):
            name = f"labels after {counted(depth, 'iteration')}" if depth else "labels"
            parts[Part(name, "labels")] = rule.per_label * differ[:, depth]
    return parts


def _columns_of(recipe: NodeRecipe, n_columns: int) -> list[tuple[Part, slice]]:
    """Return the parts of points; blocks return at every depth of smoothing."""
    if recipe.blocks is None:
        name = recipe.node_embedding if isinstance(recipe.node_embedding, str) else "coordinates"
        return [(Part(name, "coordinates"), slice(0, n_columns))] if n_columns else []
    columns, first = [], 0
    for _ in range(recipe.smoothing + 1):
        for block in recipe.blocks:
            kind = _KIND_OF_BLOCK.get(block.name, "coordinates")
            name = "one-hot labels" if kind == "labels" else block.name
            columns.append((Part(name, kind), slice(first, first + block.width)))
            first += block.width
    return columns
