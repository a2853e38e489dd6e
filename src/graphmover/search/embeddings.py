"""Which embedding a search compares graphs by."""

from __future__ import annotations

from typing import Any

from graphmover.embedding import RandomGraphEmbedding
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.input_warnings import carries
from graphmover.views import automatic_views


def default_embedding(batch: GraphBatch, n_components: int) -> RandomGraphEmbedding:
    """Return the main view of what graphs carry; the paper's if that is nothing but edges."""
    if batch.node_labels is None and not carries(batch, "node attributes"):
        return RandomGraphEmbedding(n_components)
    embedding = automatic_views(batch, n_components)[0].transformer
    assert isinstance(embedding, RandomGraphEmbedding)
    return embedding


def require_metric(embedding: Any) -> RandomGraphEmbedding:
    """Return an embedding whose distances are a metric; raise an error if they are not."""
    if not isinstance(embedding, RandomGraphEmbedding):
        raise TypeError(
            f"embedding must be a RandomGraphEmbedding, a FrozenEstimator of one, or None, got "
            f"{type(embedding).__name__}"
        )
    if embedding.partial:
        raise ValueError(
            "distances by counts (partial=True) are not a metric, which nearest graphs need: "
            "compare shares"
        )
    return embedding
