"""The kinds of methods, one file each, and what users may pass for them."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any

from graphmover.embedding import RandomGraphEmbedding
from graphmover.evaluation.methods.estimator import SklearnEstimator, named_after_class
from graphmover.evaluation.methods.majority_class import MajorityClass
from graphmover.evaluation.methods.paper import paper_methods
from graphmover.evaluation.methods.random_graph_embedding import Method, named_after_parameters
from graphmover.evaluation.methods.vertex_histogram import VertexHistogram
from graphmover.evaluation.protocol import EvaluationMethod
from graphmover.graphs.batch import GraphBatch

#: Methods that see no structure, by name.
BASELINES: dict[str, Callable[[], EvaluationMethod]] = {
    baseline.name: baseline for baseline in (MajorityClass, VertexHistogram)
}


def as_method(method: Any, graphs: GraphBatch) -> EvaluationMethod:
    """Return the method that a user means: the one place that knows all kinds.

    Parameters
    ----------
    method : str, EvaluationMethod, estimator, or (name, estimator)
    graphs : GraphBatch
        Some names depend on whether they have labels.
    """
    if isinstance(method, type):
        raise TypeError(f"a method is the class {method.__name__}, expected an object of it")
    if isinstance(method, EvaluationMethod):
        return method
    if isinstance(method, str) and method in BASELINES:
        return BASELINES[method]()
    known = paper_methods()
    if isinstance(method, str) and method in known:
        return known[method]
    if isinstance(method, RandomGraphEmbedding):
        return named_after_parameters(method, graphs)
    if isinstance(method, tuple) and len(method) == 2 and isinstance(method[0], str):
        name, estimator = method
        if isinstance(estimator, RandomGraphEmbedding):
            return Method(name, estimator, n_components=estimator.n_components)
        return SklearnEstimator(name, estimator)
    if hasattr(method, "fit") or hasattr(method, "get_params"):
        return named_after_class(method)
    raise ValueError(
        f"a method must be one of {', '.join([*BASELINES, *known])}, an object such as Method, "
        f"EMDKernel or PrecomputedKernels, a scikit-learn estimator or a pair (name, estimator), "
        f"got {reprlib.repr(method)}"
    )
