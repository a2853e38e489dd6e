"""Collections of graphs: files in many formats, and random graph families."""

from graphmover.datasets.catalogue import DatasetInfo, catalogue
from graphmover.datasets.families import make_graph_families
from graphmover.datasets.tu import load_dataset
from graphmover.graphs.dataset import Dataset
from graphmover.io.formats import iter_batches, read_graphs, write_graphs

__all__ = [
    "Dataset",
    "DatasetInfo",
    "catalogue",
    "iter_batches",
    "load_dataset",
    "make_graph_families",
    "read_graphs",
    "write_graphs",
]
