"""Graphs as data: one graph, many graphs as flat arrays, and other libraries' graphs."""

from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.graphs.graph import Graph
from graphmover.graphs.interop import as_graph_batch

__all__ = ["Dataset", "Graph", "GraphBatch", "as_graph_batch"]
