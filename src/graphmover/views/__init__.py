"""Which embeddings suit a collection of graphs: the views of `GraphVectorizer`.

A rule for what graphs carry, with constants that were measured on the data sets of docs/results.md
by cross-validation (return probabilities on generated ones, too); it never looks at a target.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphmover.embedding import RandomGraphEmbedding
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.attributes_as_labels import (
    ReadAsLabels,
    neighbourhoods_recur,
    read_by_default,
)
from graphmover.nodes.input_warnings import CARRIED, carries, unused_by
from graphmover.nodes.labels import label_codes
from graphmover.nodes.masses import node_degrees
from graphmover.nodes.recipe import NodeRecipe
from graphmover.nodes.registry import NODE_EMBEDDINGS, named_blocks
from graphmover.views.sizes import GraphSizes

#: One-hot columns only up to this many labels; more are compared by refinement alone.
_MOST_ONE_HOT = 100

#: Whole training graphs are compared with attributes up to this many nodes on average.
_WHOLE_NODES = 40

#: How often labels are refined, and gamma: in general, and where neighbourhoods of labels recur, as
#: in molecules. There deeper labels tell more; they also bring most distances closer together, so
#: that a larger gamma is needed to tell near graphs from others.
_DEPTH, _GAMMA = 3, "scale"
_DEPTH_IF_RECURRING, _GAMMA_IF_RECURRING = 4, "2*scale"

#: The paper's view sees what others do not, such as communities, with this share of the components.
_SHAPE_SHARE = 1 / 4

#: The weight of one-hot labels beside standardised attributes, and beside structure.
_LABELS_WITH_ATTRIBUTES = 4.0
_LABELS_WITH_STRUCTURE = 3.0

#: Where all nodes have about as many neighbours, degrees tell little, but the probabilities that a
#: random walk is back after 1 to 8 steps see cycles. Few neighbours keep them cheap. In ego
#: networks, whose degrees differ, they were no gain.
_WALKS, _STEPS = ("return-probability", 3.0), 8
_MOST_NEIGHBOURS, _MOST_DEVIATION = 6.0, 0.5

#: The variance of log-degrees beside attributes without labels, relative to theirs.
_DEGREE_SHARE = 0.15

#: What it costs to match nodes of different refined labels, in distances of typical nodes: they
#: count as one more attribute, but no more than this.
_LABEL_SHARE = 0.25

#: The weights of the views. Recurring labels see most of what structure does. Attributes matter
#: most where nodes have them, the more so the more there are: they are compared together with
#: labels, and without labels degrees stand beside them.
_WEIGHTS = {"labels": 1.0, "counts": 0.7, "structure": 1.0, "shape": 0.3, "sizes": 0.1}
_WEIGHTS_IF_RECURRING = _WEIGHTS | {"structure": 0.5, "shape": 0.15, "sizes": 0.05}
_WEIGHTS_WITH_ATTRIBUTES = {"attributes": 1.0, "counts": 0.6, "sizes": 0.1}
_WEIGHTS_WITH_ATTRIBUTES_ALONE = {"attributes": 1.0, "labels": 0.2, "sizes": 0.1}

#: A view of less weight than this is left out.
_LEAST_WEIGHT = 0.05


class View(NamedTuple):
    """One embedding among those that stand side by side."""

    name: str
    transformer: RandomGraphEmbedding | GraphSizes
    weight: float = 1.0  # its share of the length of a vector, relative to the others


def automatic_views(batch: GraphBatch, n_components: int) -> list[View]:
    """Choose views by what the graphs carry.

    Labels at all depths, as shares and as counts, the structure around nodes, and the shape as a
    whole, by the paper's embedding; where nodes have attributes, these averaged over
    neighbourhoods; always the sizes. Without labels, Weisfeiler-Lehman refinement starts from one
    label for all, so labels are degrees, and so on. Attributes that are labels in other clothes
    are read as labels.
    """
    as_labels = read_by_default(batch)
    read = ReadAsLabels.of_choice(as_labels)
    batch = read.of(batch)
    recurring = batch.node_labels is not None and neighbourhoods_recur(batch)
    found: dict[str, RandomGraphEmbedding | GraphSizes] = {
        "labels": _labels(n_components, recurring=recurring, partial=False),
        "counts": _labels(n_components, recurring=recurring, partial=True),
        "structure": _structure(batch, read, n_components),
        "shape": _shape(n_components),
        "sizes": GraphSizes(),
    }
    weights = _WEIGHTS_IF_RECURRING if recurring else _WEIGHTS
    if carries(batch, "node attributes") and not read.nodes:
        found["attributes"] = _attributes(batch, read, n_components)
        weights = _WEIGHTS_WITH_ATTRIBUTES_ALONE
        if batch.node_labels is not None:
            weights = dict(_WEIGHTS_WITH_ATTRIBUTES)
            weights["counts"] *= _share_of_one_more(batch)
    for name in {"labels", "counts", "structure", "attributes"} & found.keys():
        found[name].set_params(attributes_as_labels=as_labels)
    return [
        View(name, found[name], weight)
        for name, weight in weights.items()
        if weight >= _LEAST_WEIGHT
    ]


def seen_by(view: View, batch: GraphBatch) -> set[str]:
    """Return what a view uses of what graphs carry, such as "node labels"."""
    if isinstance(view.transformer, GraphSizes):
        return set()
    unused = unused_by(view.transformer.get_params(deep=False), batch)
    return {what for what in CARRIED if carries(batch, what) and what not in unused}


def described(view: View, batch: GraphBatch) -> str:
    """Say what a view sees of graphs, such as "node labels refined 3 times, in shares"."""
    embedding = view.transformer
    if isinstance(embedding, GraphSizes):
        return _SIZES
    recipe = NodeRecipe.of_parameters(embedding.get_params(deep=False))
    recipe = recipe.decided_for(batch, can_carry_labels=embedding.sampling == "anchor")
    return _seen(
        embedding,
        by_node_labels=bool(recipe.use_node_labels),
        along_edge_labels=bool(recipe.use_edge_labels),
        by_edge_weights=batch.edge_weights is not None,
    )


def described_after_fit(transformer: RandomGraphEmbedding | GraphSizes) -> str:
    """Say what a fitted view sees of graphs; a model does not know if they had edge weights."""
    if isinstance(transformer, GraphSizes):
        return _SIZES
    return _seen(
        transformer,
        by_node_labels=transformer.uses_node_labels_,
        along_edge_labels=transformer.uses_edge_labels_,
    )


_SIZES = "numbers of nodes and edges"


def _seen(
    embedding: RandomGraphEmbedding,
    *,
    by_node_labels: bool,
    along_edge_labels: bool,
    by_edge_weights: bool = False,
) -> str:
    read = ReadAsLabels.of_choice(embedding.attributes_as_labels)
    of_nodes = "labels from node attributes" if read.nodes else "node labels"
    of_edges = "labels from edge attributes" if read.edges else "edge labels"
    labels = of_nodes if by_node_labels else ""
    refined = _refined(embedding.wl_iterations, labels, of_edges if along_edge_labels else "")
    if embedding.node_embedding is None:
        return f"{refined}, {'counted' if embedding.partial else 'in shares'}"
    points = _points(embedding.node_embedding, of_nodes)
    if embedding.smoothing:
        by = " by edge weight" if by_edge_weights else ""
        points += f"; averaged over neighbours{by}, {embedding.smoothing} deep"
    return f"{points}; {refined}" if refined else points


def _refined(times: int, labels: str, along: str) -> str:
    """Name the labels that are compared; "" if there are none."""
    if not labels and not times:
        return ""
    if not labels:
        labels, times = "degrees", times - 1  # one label for all is refined to degrees first
    if times:
        labels += " refined once" if times == 1 else f" refined {times} times"
    return f"{labels} along {along}" if along else labels


def _points(node_embedding: Any, of_nodes: str) -> str:
    if callable(node_embedding):
        return f"points by {getattr(node_embedding, '__name__', repr(node_embedding))}"
    names = [name for name, _ in named_blocks(node_embedding)]
    words = {"labels": of_nodes}
    return ", ".join(words.get(name) or NODE_EMBEDDINGS[name].in_words or name for name in names)


def _labels(n_components: int, *, recurring: bool, partial: bool) -> RandomGraphEmbedding:
    return RandomGraphEmbedding(
        n_components,
        gamma=_GAMMA_IF_RECURRING if recurring else _GAMMA,
        node_embedding=None,
        node_mass="equal",
        max_random_nodes=None,
        wl_iterations=_DEPTH_IF_RECURRING if recurring else _DEPTH,
        wl_depths="all",
        use_edge_labels="auto",
        partial=partial,
    )


def _structure(batch: GraphBatch, read: ReadAsLabels, n_components: int) -> RandomGraphEmbedding:
    blocks: list[str | tuple[str, float]] = ["structure"]
    walks = batch.node_labels is None and _degrees_tell_little(batch)
    if walks:
        blocks.append(_WALKS)
    if 0 < _n_labels(batch) <= _MOST_ONE_HOT:
        blocks.append(("labels", _LABELS_WITH_STRUCTURE))
    elif read.nodes:
        blocks.append("ranked-attributes")
    if batch.edge_attributes is not None and not read.edges:
        blocks.append("edges")
    embedding = RandomGraphEmbedding(
        n_components,
        node_embedding=blocks,
        node_mass="equal",
        use_node_labels=False,
        smoothing=2,
        max_random_nodes=20,
    )
    return embedding.set_params(n_dimensions=_STEPS) if walks else embedding


def _degrees_tell_little(batch: GraphBatch) -> bool:
    """Tell whether nodes have few neighbours, and about as many each."""
    degrees = np.diff(batch.indptr)
    mean = float(degrees.mean()) if len(degrees) else 0.0
    return 0 < mean <= _MOST_NEIGHBOURS and float(degrees.std()) <= _MOST_DEVIATION * mean


def _shape(n_components: int) -> RandomGraphEmbedding:
    n_shapes = max(1, round(_SHAPE_SHARE * n_components))
    return RandomGraphEmbedding(n_shapes, use_node_labels=False)


def _attributes(batch: GraphBatch, read: ReadAsLabels, n_components: int) -> RandomGraphEmbedding:
    blocks: list[str | tuple[str, float]] = ["ranked-attributes"]
    mean_nodes = batch.n_nodes / max(1, len(batch))
    embedding = RandomGraphEmbedding(
        n_components,
        node_mass="equal",
        use_node_labels=False,
        smoothing=1,
        max_random_nodes=None if mean_nodes <= _WHOLE_NODES else _WHOLE_NODES,
    )
    assert batch.node_attributes is not None
    variance = float(batch.node_attributes.shape[1])
    if batch.node_labels is not None:
        if _n_labels(batch) <= _MOST_ONE_HOT:
            blocks.append(("labels", _LABELS_WITH_ATTRIBUTES))
            variance += _LABELS_WITH_ATTRIBUTES**2 * _chance_of_different_labels(batch)
        embedding.set_params(
            use_node_labels=True,
            wl_iterations=2,
            wl_depths="all",
            use_edge_labels="auto",
            label_weight=min(_LABEL_SHARE, _share_of_one_more(batch)) * math.sqrt(2 * variance),
        )
    elif spread := _spread_of_degrees(batch):
        blocks.append(("degree", math.sqrt(_DEGREE_SHARE * variance) / spread))
    if batch.edge_attributes is not None and not read.edges:
        blocks.append("edges")
    embedding.set_params(node_embedding=blocks)
    return embedding


def _share_of_one_more(batch: GraphBatch) -> float:
    """Return the share of one more attribute among all."""
    assert batch.node_attributes is not None
    return 1 / (int(batch.node_attributes.shape[1]) + 1)


def _n_labels(batch: GraphBatch) -> int:
    return 0 if batch.node_labels is None else len(np.unique(label_codes(batch.node_labels)))


def _spread_of_degrees(batch: GraphBatch) -> float:
    """Return the standard deviation of log-degrees as "degree" has them, in shares of their range.

    0 if all degrees are equal.
    """
    degrees = np.log1p(node_degrees(batch))
    extent = float(degrees.max() - degrees.min())
    return float(degrees.std()) / extent if extent > 1e-9 else 0.0


def _chance_of_different_labels(batch: GraphBatch) -> float:
    """Return the variance of all one-hot columns together: the Gini impurity of the labels."""
    assert batch.node_labels is not None
    _, counts = np.unique(label_codes(batch.node_labels), return_counts=True)
    return 1.0 - float(((counts / counts.sum()) ** 2).sum())
