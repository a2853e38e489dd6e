"""What a rival costs: processor seconds to fit and to transform, and memory."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.evaluation.folds import repeated_folds
from graphmover.evaluation.target import surely_classes
from graphmover.graphs.batch import GraphBatch
from graphmover.rivals.catalogue import known_rivals
from graphmover.rivals.limited import run_limited

#: Graphs that are fitted before the clock starts: what is compiled or loaded is not counted.
_WARM_UP = 24


class Cost(NamedTuple):
    """Of one fold of ten: fitted to nine tenths of the graphs, applied to the last one."""

    fit_seconds: float | None
    transform_seconds: float | None
    peak_mb: float | None
    failure: str | None  # "time-out", "out of memory" or an error


def cost_of(
    name: str,
    graphs: GraphBatch,
    target: NDArray[Any],
    *,
    regression: bool = False,
    seconds: float | None = None,
    megabytes: float | None = None,
) -> Cost:
    """Measure one fold of a rival with its default parameters, in a process of its own.

    A kernel is fitted when its values between all training graphs are known; a model includes its
    classifier and what this chooses.

    Parameters
    ----------
    name : str
        One of `RIVALS`.
    target : ndarray
        Classes 0, 1, ... or values, of all graphs.
    seconds, megabytes : float, optional
        The limits.
    """
    outcome = run_limited(
        _fold_seconds, name, graphs, target, regression, seconds=seconds, megabytes=megabytes
    )
    fit, transform = outcome.result or (None, None)
    return Cost(fit, transform, outcome.peak_mb, outcome.failure)


def _fold_seconds(
    name: str, graphs: GraphBatch, target: NDArray[Any], regression: bool
) -> tuple[float | None, float | None]:
    [rival] = known_rivals([name])
    estimator = rival.measurable(regression=regression)
    if estimator is None:
        return None, None
    fold = repeated_folds(target, 10, 1, 0)[0]
    train, test = graphs[fold.train], graphs[fold.test]
    warm = _few_of_all(target[fold.train], regression)
    _run(estimator, train[warm], target[fold.train][warm], test[:2])
    return _run(estimator, train, target[fold.train], test)


def _few_of_all(target: NDArray[Any], regression: bool) -> NDArray[np.int64]:
    """Return some training graphs, of two classes at least."""
    if regression:
        return np.arange(min(_WARM_UP, len(target)))
    kinds = np.unique(target)[:2]
    few = [np.flatnonzero(target == kind)[: _WARM_UP // 2] for kind in kinds]
    return np.sort(np.concatenate(few))


def _run(estimator: Any, train: GraphBatch, target: Any, test: GraphBatch) -> tuple[float, float]:
    from sklearn.base import clone

    model = clone(estimator)
    start = time.process_time()
    if hasattr(model, "predict"):
        with surely_classes():
            model.fit(train, target)
        middle = time.process_time()
        model.predict(test)
    else:
        model.fit_transform(train, target)
        middle = time.process_time()
        model.transform(test)
    return middle - start, time.process_time() - middle
