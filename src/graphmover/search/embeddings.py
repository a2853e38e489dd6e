"""Which embedding a search compares graphs by."""

from __future__ import annotations

from typing import Any

from graphmover.embedding import RandomGraphEmbedding
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.input_warnings import CARRIED, carries
from graphmover.views import automatic_views, seen_by


def default_embedding(batch: GraphBatch, n_components: int) -> RandomGraphEmbedding:
    """Return the main view of what graphs carry; the paper's if that is nothing but edges."""
    carried = {what for what in CARRIED if carries(batch, what)} - {"edge weights"}
    if not carried:
        return RandomGraphEmbedding(n_components)
    views = automatic_views(batch, n_components)
    main = views[0]
    if carried <= {"edge labels", "edge attributes"}:  # the main view need not see attributes
        seeing = (view for view in views if carried <= seen_by(view, batch))
        main = next(seeing, main)
    assert isinstance(main.transformer, RandomGraphEmbedding)
    return main.transformer


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
