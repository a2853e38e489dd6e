"""What is explained of a fitted model: its random graphs, and where they came from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from graphmover.backends.fitted import DistancesToRandomGraphs
from graphmover.distances import RandomGraphDistances
from graphmover.embedding import RandomGraphEmbedding
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.graph import Graph
from graphmover.graphs.interop import as_graph_batch
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.random_graphs import RandomGraphs
from graphmover.vectorizer import GraphVectorizer


def to_random_graphs(model: Any, view: str | None = None) -> DistancesToRandomGraphs:
    """Return how a fitted model compares graphs."""
    from sklearn.pipeline import Pipeline

    if isinstance(model, Pipeline):
        model = model[0]
    if isinstance(model, RandomGraphDistances | RandomGraphEmbedding | GraphVectorizer):
        check_is_fitted(model)
    if isinstance(model, RandomGraphDistances):
        model = model._embedding
    elif isinstance(getattr(model, "embedding_", None), RandomGraphEmbedding):
        model = model.embedding_  # NearestGraphs
    if isinstance(model, GraphVectorizer):
        model = _view_of(model, view)
    elif view is not None:
        raise ValueError(f"view={view!r} is for a GraphVectorizer, got {type(model).__name__}")
    if isinstance(model, DistancesToRandomGraphs):
        return model
    if not isinstance(model, RandomGraphEmbedding):
        raise TypeError(
            f"embedding must be a fitted RandomGraphEmbedding, RandomGraphDistances, "
            f"GraphVectorizer, NearestGraphs, or a pipeline that begins with one, got "
            f"{type(model).__name__}"
        )
    return model._to_random_graphs


def _view_of(vectorizer: GraphVectorizer, name: str | None) -> RandomGraphEmbedding:
    views = {own: view for own, view in vectorizer.views_ if isinstance(view, RandomGraphEmbedding)}
    if not views:
        raise ValueError("no view of this GraphVectorizer compares nodes, so there is no alignment")
    chosen = next(iter(views)) if name is None else name
    if chosen not in views:
        raise ValueError(
            f"there is no view {chosen!r} with random graphs: expected one of {', '.join(views)}"
        )
    return views[chosen]


def require_training_graphs(graphs: Any, random_graphs: NodeEmbeddings) -> GraphBatch:
    """Return training graphs as a batch, of which the random graphs may have been drawn."""
    batch = as_graph_batch(graphs)
    sources = source_graphs(random_graphs)
    if sources is not None:
        last = int(sources.max())
        if last >= len(batch):
            raise ValueError(
                f"a random graph was drawn from training graph {last}, but training_graphs has "
                f"{len(batch)} graphs: pass those that the model was fitted to"
            )
        assert isinstance(random_graphs, RandomGraphs) and random_graphs.source_nodes is not None
        largest = np.maximum.reduceat(random_graphs.source_nodes, random_graphs.offsets[:-1])
        wrong = np.flatnonzero(largest >= batch.node_counts[sources])
        if len(wrong):
            raise ValueError(
                f"random graph {wrong[0]} was drawn from node {largest[wrong[0]]} of training "
                f"graph {sources[wrong[0]]}, which has fewer nodes: pass the graphs that the model "
                f"was fitted to"
            )
    return batch


def source_graphs(random_graphs: NodeEmbeddings) -> Any:
    """Return the training graph of each random graph; None if that is not known."""
    return getattr(random_graphs, "source_graphs", None)


def random_graph_as_graph(
    random_graphs: NodeEmbeddings, number: int, training_graphs: Any = None
) -> Graph:
    """Return the subgraph of a training graph that a random graph consists of.

    Nodes are in the order of the random graph. Without training graphs, or if it is not known
    where they come from, they have neither edges nor labels.
    """
    n_nodes = int(random_graphs.node_counts[number])
    if training_graphs is None or source_graphs(random_graphs) is None:
        return Graph(n_nodes, np.empty((0, 2), np.int64))
    batch = require_training_graphs(training_graphs, random_graphs)
    whole, nodes = source_of(random_graphs, number, batch)
    # A node that was drawn twice is there twice; edges are between all copies.
    copies: dict[int, list[int]] = {}
    for place, node in enumerate(nodes.tolist()):
        copies.setdefault(node, []).append(place)
    edges, labels = [], []
    for at, (u, v) in enumerate(whole.edges.tolist()):
        for one in copies.get(u, ()):
            for other in copies.get(v, ()):
                edges.append((one, other))
                labels.append(None if whole.edge_labels is None else whole.edge_labels[at])
    return Graph(
        n_nodes,
        np.array(edges, np.int64).reshape(-1, 2),
        node_labels=None if whole.node_labels is None else whole.node_labels[nodes],
        edge_labels=None if whole.edge_labels is None else labels,
        id=whole.id,
    )


def source_of(
    random_graphs: NodeEmbeddings, number: int, training_graphs: GraphBatch
) -> tuple[Graph, Any]:
    """Return the training graph of a random graph, and the nodes drawn from it."""
    assert isinstance(random_graphs, RandomGraphs)
    assert random_graphs.source_graphs is not None and random_graphs.source_nodes is not None
    first, last = random_graphs.offsets[number : number + 2]
    graph = training_graphs[int(random_graphs.source_graphs[number])]
    return graph, random_graphs.source_nodes[first:last]
