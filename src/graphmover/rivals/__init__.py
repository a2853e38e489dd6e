"""Other methods for collections of graphs, as scikit-learn estimators: docs/rivals.md.

The names below are imported lazily, on first use, and so are libraries that only some methods need.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "BagOfWLLabels": "weisfeiler_lehman",
    "DCNNClassifier": "neural.dcnn",
    "DGCNNClassifier": "neural.dgcnn",
    "DeepGraphKernel": "deep_graph_kernel",
    "Feather": "feather",
    "GATClassifier": "neural.gat",
    "GINClassifier": "neural.gin",
    "GrakelKernel": "grakel_kernel",
    "Graph2Vec": "graph2vec",
    "Graphlets": "graphlets",
    "LocalTopologicalProfile": "local_profile",
    "MorganFingerprint": "fingerprints",
    "NetLSD": "heat_trace",
    "NeuralClassifier": "neural.training",
    "NodeAssignment": "assignment",
    "PSCNClassifier": "neural.pscn",
    "PyramidMatch": "pyramid_match",
    "RandomWalks": "random_walks",
    "ShortestPaths": "shortest_path",
    "TemplateDistances": "templates",
    "VertexHistogram": "weisfeiler_lehman",
    "WLOptimalAssignment": "weisfeiler_lehman",
    "WassersteinWL": "wasserstein_wl",
}

__all__ = sorted(_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'graphmover.rivals' has no attribute {name!r}")
    value = getattr(import_module(f"graphmover.rivals.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
