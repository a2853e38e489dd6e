"""Collections of graphs: files in the TU format, and random graphs for demonstrations."""

from graphmover.datasets._dataset import Dataset
from graphmover.datasets.catalogue import DatasetInfo, catalogue
from graphmover.datasets.families import make_graph_families
from graphmover.datasets.tu import load_dataset

__all__ = ["Dataset", "DatasetInfo", "catalogue", "load_dataset", "make_graph_families"]
