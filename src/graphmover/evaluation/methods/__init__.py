"""The kinds of methods, one file each, and what users may pass for them."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any

from graphmover.embedding import RandomGraphEmbedding
from graphmover.evaluation.methods.estimator import SklearnEstimator, named_after_class
from graphmover.evaluation.methods.majority_class import MajorityClass
from graphmover.evaluation.methods.mean_value import MeanValue
from graphmover.evaluation.methods.paper import paper_methods
from graphmover.evaluation.methods.random_graph_embedding import Method, named_after_parameters
from graphmover.evaluation.methods.vertex_histogram import VertexHistogram
from graphmover.evaluation.protocol import EvaluationMethod
from graphmover.graphs.batch import GraphBatch

#: Methods that see no structure, by name: of classes, and of values.
BASELINES: dict[str, Callable[[], EvaluationMethod]] = {
    baseline.name: baseline for baseline in (MajorityClass, VertexHistogram)
}
REGRESSION_BASELINES: dict[str, Callable[[], EvaluationMethod]] = {
    baseline.name: baseline for baseline in (MeanValue, VertexHistogram)
}


def as_method(method: Any, graphs: GraphBatch, *, regression: bool = False) -> EvaluationMethod:
    """Return the method that a user means: the one place that knows all kinds.

    Parameters
    ----------
    method : str, EvaluationMethod, estimator, or (name, estimator)
    graphs : GraphBatch
        Some names depend on whether they have labels.
    regression : bool
        Whether it is to predict values, not classes.
    """
    if isinstance(method, type):
        raise TypeError(f"a method is the class {method.__name__}, expected an instance of it")
    if isinstance(method, EvaluationMethod):
        return method
    baselines = REGRESSION_BASELINES if regression else BASELINES
    if isinstance(method, str) and method in baselines:
        return baselines[method]()
    known = paper_methods()
    if isinstance(method, str) and method in known:
        return known[method]
    if isinstance(method, RandomGraphEmbedding):
        return named_after_parameters(method, graphs, n_components=method.n_components)
    if isinstance(method, tuple) and len(method) == 2 and isinstance(method[0], str):
        name, estimator = method
        if isinstance(estimator, RandomGraphEmbedding):
            return Method(name, estimator, n_components=estimator.n_components)
        return SklearnEstimator(name, estimator, regression=regression)
    if hasattr(method, "fit") or hasattr(method, "get_params"):
        return named_after_class(method, regression=regression)
    task, other = "classification", "regression"
    if regression:
        task, other = other, task
    is_of_other = isinstance(method, str) and method in BASELINES | REGRESSION_BASELINES
    hint = f', which task="{other}" has' if is_of_other else ""
    raise ValueError(
        f"a method of {task} must be one of {', '.join([*baselines, *known])}, an object such as "
        f"Method, EMDKernel or PrecomputedKernels, a scikit-learn estimator or a pair (name, "
        f"estimator), got {reprlib.repr(method)}"
        f"{hint}"
    )
