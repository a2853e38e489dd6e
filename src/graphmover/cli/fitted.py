"""What a model was fitted with, for people and for --json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphmover._utils.messages import counted

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.graphs.batch import GraphBatch
    from graphmover.vectorizer import GraphVectorizer
    from graphmover.views.sizes import GraphSizes


def fitted_values(
    model: GraphVectorizer | RandomGraphEmbedding, graphs: GraphBatch
) -> dict[str, Any]:
    """Describe a model that was fitted to these graphs, in plain types."""
    views = getattr(model, "views_", [("vectors", model)])
    return {
        "estimator": type(model).__name__,
        "features": len(model.get_feature_names_out()),
        "views": [_view(name, view, graphs) for name, view in views],
    }


def _view(name: str, view: RandomGraphEmbedding | GraphSizes, graphs: GraphBatch) -> dict[str, Any]:
    from graphmover.views import View, described

    values: dict[str, Any] = {"name": name, "sees": described(View(name, view), graphs)}
    if not hasattr(view, "random_graphs_"):
        return values
    counts = view.random_graphs_.node_counts
    values |= {"random_graphs": len(counts), "least_nodes": int(counts.min())}
    return values | {"most_nodes": int(counts.max()), "gamma": view.gamma_}


def print_fitted(values: Mapping[str, Any]) -> None:
    """Print what `fitted_values` returns, a line per view."""
    print(f"{values['estimator']}: {counted(values['features'], 'feature')}")
    width = max(len(view["name"]) for view in values["views"])
    for view in values["views"]:
        print(f"  {view['name']:<{width}}  {view['sees']}")
        if "random_graphs" in view:
            least, most = view["least_nodes"], view["most_nodes"]
            nodes = counted(most, "node") if least == most else f"{least} to {most} nodes"
            number = counted(view["random_graphs"], "random graph")
            print(f"  {'':<{width}}  {number} of {nodes}, gamma = {view['gamma']:.4g}")
