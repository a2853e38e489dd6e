"""Cross-validated predictions of the target: vectors and a linear model, folds shuffled."""

from __future__ import annotations

import math
import warnings
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.parallel import single_threaded_blas
from graphmover._utils.progress import Bar
from graphmover.evaluation.folds import repeated_folds
from graphmover.evaluation.target import Target, surely_classes
from graphmover.graphs.batch import GraphBatch
from graphmover.vectorizer import GraphVectorizer

Floats = NDArray[np.float64]


#: BLAS uses several threads for at least this many numbers.
_WORTH_THREADS = 4_000_000


class Predictions(NamedTuple):
    """What was predicted for each graph while it was in a test fold."""

    values: NDArray[Any]
    scores: dict[str, str]  # in words


def linear_model(target: Target, seed: int) -> Any:
    """Return the linear model that is put on top of vectors."""
    if len(target.classes):
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=300, tol=1e-3, random_state=seed)
    from sklearn.linear_model import Ridge

    return Ridge()


def fitted(model: Any, vectors: Floats, target: NDArray[Any]) -> Any:
    """Fit a model that need not converge to the last digit."""
    from sklearn.exceptions import ConvergenceWarning

    # Of small matrices, threads of BLAS wait for each other longer than they compute.
    one_thread = single_threaded_blas() if vectors.size < _WORTH_THREADS else nullcontext()
    with one_thread, surely_classes(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(vectors, target)


def cross_validated(
    batch: GraphBatch,
    target: Target,
    vectorizer: GraphVectorizer,
    n_folds: int,
    seed: int,
    bar: Bar,
) -> Predictions:
    """Predict every graph by a model fitted to the other folds: random graphs come from these."""
    from sklearn.base import clone

    predicted = np.zeros(len(batch), target.values.dtype)
    of_folds = []
    for fold in repeated_folds(target.values, n_folds, 1, seed):
        own = clone(vectorizer)
        model = linear_model(target, seed)
        fitted(model, own.fit_transform(batch[fold.train]), target.values[fold.train])
        predicted[fold.test] = model.predict(own.transform(batch[fold.test]))
        of_folds.append(_score(target, predicted[fold.test], fold.test))
        bar.advance()
    return Predictions(predicted, _in_words(target, predicted, np.array(of_folds)))


def _score(target: Target, predicted: NDArray[Any], test: NDArray[np.int64]) -> float:
    if len(target.classes):
        return float((predicted == target.values[test]).mean())
    return float(np.abs(predicted - target.values[test]).mean())


def _in_words(target: Target, predicted: NDArray[Any], of_folds: Floats) -> dict[str, str]:
    if len(target.classes):
        common = np.bincount(target.values).max() / len(target.values)
        hits = [
            (predicted[target.values == c] == c).mean() for c in np.unique(target.values).tolist()
        ]
        spread = f"standard deviation between folds {100 * of_folds.std():.1f} points"
        return {
            "Accuracy": f"{(predicted == target.values).mean():.1%} ({spread})",
            "Mean accuracy of the classes": f"{np.mean(hits):.1%}",
            "Always predicting the most common class": f"{common:.1%}",
        }
    errors = predicted - target.values
    spread_of_target = float(((target.values - target.values.mean()) ** 2).mean())
    explained = 1 - float((errors**2).mean()) / spread_of_target if spread_of_target else math.nan
    alone = np.abs(target.values - np.median(target.values)).mean()
    spread = f"standard deviation between folds {_rounded(of_folds.std(), 3)}"
    return {
        "Mean absolute error": f"{_rounded(np.abs(errors).mean())} ({spread})",
        "Root mean square error": _rounded(math.sqrt((errors**2).mean())),
        "R squared": "undefined" if math.isnan(explained) else f"{explained:.3f}",
        "Mean absolute error of always predicting the median": _rounded(alone),
    }


def _rounded(value: float, digits: int = 4) -> str:
    """Return a number with a few digits that count; only a huge or tiny one has an exponent."""
    return f"{float(f'{value:.{digits}g}'):.12g}"
