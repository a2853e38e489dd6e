"""Random Graph Embeddings: collections of graphs into vectors.

The names below are loaded when they are first used, so that ``graphmover --help``
and ``import graphmover`` cost nothing they do not need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphmover.datasets import (
        Dataset,
        iter_batches,
        load_dataset,
        make_graph_families,
        read_graphs,
        write_graphs,
    )
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.graphs import Graph, GraphBatch
    from graphmover.interop import as_graph_batch
    from graphmover.labels import wl_labels
    from graphmover.node_embedding import NodeEmbeddings, embed_nodes
    from graphmover.random_graphs import sample_random_graphs
    from graphmover.theory import random_graphs_needed
    from graphmover.transport import earth_movers_distance, transport_plan

__version__ = "0.1.0"

__all__ = [
    "Dataset",
    "Graph",
    "GraphBatch",
    "NodeEmbeddings",
    "RandomGraphEmbedding",
    "as_graph_batch",
    "earth_movers_distance",
    "embed_nodes",
    "iter_batches",
    "load_dataset",
    "make_graph_families",
    "random_graphs_needed",
    "read_graphs",
    "sample_random_graphs",
    "transport_plan",
    "wl_labels",
    "write_graphs",
]

_HOME = {
    "Dataset": "datasets",
    "Graph": "graphs",
    "GraphBatch": "graphs",
    "NodeEmbeddings": "node_embedding",
    "RandomGraphEmbedding": "embedding",
    "as_graph_batch": "interop",
    "earth_movers_distance": "transport",
    "embed_nodes": "node_embedding",
    "iter_batches": "datasets",
    "load_dataset": "datasets",
    "make_graph_families": "datasets",
    "random_graphs_needed": "theory",
    "read_graphs": "datasets",
    "sample_random_graphs": "random_graphs",
    "transport_plan": "transport",
    "wl_labels": "labels",
    "write_graphs": "datasets",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'graphmover' has no attribute {name!r}")
    value = getattr(import_module(f"graphmover.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
