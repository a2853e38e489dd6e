"""Random Graph Embeddings: turn collections of graphs into vectors.

The names below are imported lazily, on first use, to keep ``graphmover --help`` and ``import
graphmover`` fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphmover.compilation import compile_all
    from graphmover.datasets.families import make_graph_families
    from graphmover.datasets.tu import load_dataset
    from graphmover.distances import DistanceFeatures, RandomGraphDistances
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.explanations.alignment import Alignment, explain
    from graphmover.explanations.weights import AnchorWeights, explain_weights
    from graphmover.graphs.batch import GraphBatch
    from graphmover.graphs.dataset import Dataset
    from graphmover.graphs.edge_list import from_edge_list
    from graphmover.graphs.graph import Graph
    from graphmover.graphs.interop import as_graph_batch
    from graphmover.io.formats import iter_batches, read_graphs, write_graphs
    from graphmover.neighbors import NearestGraphs
    from graphmover.nodes.embed import embed_nodes
    from graphmover.nodes.embeddings import NodeEmbeddings
    from graphmover.nodes.labels import wl_labels
    from graphmover.page.report import report
    from graphmover.random_graphs import sample_random_graphs
    from graphmover.theory import random_graphs_needed
    from graphmover.transport import earth_movers_distance, transport_plan
    from graphmover.vectorizer import GraphVectorizer
    from graphmover.views.sizes import GraphSizes

__version__ = "0.1.0"

__all__ = [
    "Alignment",
    "AnchorWeights",
    "Dataset",
    "DistanceFeatures",
    "Graph",
    "GraphBatch",
    "GraphSizes",
    "GraphVectorizer",
    "NearestGraphs",
    "NodeEmbeddings",
    "RandomGraphDistances",
    "RandomGraphEmbedding",
    "as_graph_batch",
    "compile_all",
    "earth_movers_distance",
    "embed_nodes",
    "explain",
    "explain_weights",
    "from_edge_list",
    "iter_batches",
    "load_dataset",
    "make_graph_families",
    "random_graphs_needed",
    "read_graphs",
    "report",
    "sample_random_graphs",
    "transport_plan",
    "wl_labels",
    "write_graphs",
]

_HOME = {
    "Alignment": "explanations.alignment",
    "AnchorWeights": "explanations.weights",
    "Dataset": "graphs.dataset",
    "DistanceFeatures": "distances",
    "Graph": "graphs.graph",
    "GraphBatch": "graphs.batch",
    "GraphSizes": "views.sizes",
    "GraphVectorizer": "vectorizer",
    "NearestGraphs": "neighbors",
    "NodeEmbeddings": "nodes.embeddings",
    "RandomGraphDistances": "distances",
    "RandomGraphEmbedding": "embedding",
    "as_graph_batch": "graphs.interop",
    "compile_all": "compilation",
    "earth_movers_distance": "transport",
    "embed_nodes": "nodes.embed",
    "explain": "explanations.alignment",
    "explain_weights": "explanations.weights",
    "from_edge_list": "graphs.edge_list",
    "iter_batches": "io.formats",
    "load_dataset": "datasets.tu",
    "make_graph_families": "datasets.families",
    "random_graphs_needed": "theory",
    "read_graphs": "io.formats",
    "report": "page.report",
    "sample_random_graphs": "random_graphs",
    "transport_plan": "transport",
    "wl_labels": "nodes.labels",
    "write_graphs": "io.formats",
}


#: Subpackages that are imported on first use.
_PACKAGES = ("datasets", "distributed", "evaluation", "rivals", "views")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"graphmover.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'graphmover' has no attribute {name!r}")
    value = getattr(import_module(f"graphmover.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
