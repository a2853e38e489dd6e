"""Scores of a test fold: of classes, and of values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: What a row of results may have, by task; the first is what `Evaluation` shows by default.
CLASSIFICATION_METRICS = ("accuracy", "balanced_accuracy", "roc_auc")
REGRESSION_METRICS = ("r2", "mae", "rmse")

#: What tables call them; those of classification are shares, shown in per cent.
METRIC_NAMES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc": "ROC AUC",
    "r2": "R2",
    "mae": "MAE",
    "rmse": "RMSE",
}

Scores = dict[str, float | None]


class Predictions(NamedTuple):
    """What is predicted for each of some graphs."""

    target: NDArray[Any]  # classes, or values
    by_class: NDArray[np.float64] | None = None  # a column of decision values for each class


def predicts_values(target: NDArray[Any]) -> bool:
    """Return whether a target is one of regression: classes are integers."""
    return target.dtype.kind == "f"


def classification_scores(
    target: NDArray[Any], predictions: Predictions, classes: NDArray[Any]
) -> Scores:
    """Return accuracy, balanced accuracy and, where decision values are known, ROC AUC.

    Balanced accuracy is the mean recall of the classes in the fold. ROC AUC is that of the second
    of two classes; for more, the mean over classes of one-vs-rest. None: no class of the fold can
    be told from the rest.
    """
    correct = predictions.target == target
    present = [target == one for one in classes if (target == one).any()]
    scores: Scores = {
        "accuracy": float(correct.mean()),
        "balanced_accuracy": float(np.mean([correct[own].mean() for own in present])),
    }
    if predictions.by_class is not None:
        areas = [
            _area_under_curve(target == one, values)
            for one, values in zip(classes, predictions.by_class.T, strict=True)
            if 0 < (target == one).sum() < len(target)
        ]
        if len(classes) == 2:
            areas = areas[-1:]
        scores["roc_auc"] = float(np.mean(areas)) if areas else None
    return scores


def _area_under_curve(positive: NDArray[np.bool_], values: NDArray[np.float64]) -> float:
    """Return the share of pairs in which a positive one has the larger value; ties count half."""
    from scipy.stats import rankdata

    n_positive = int(positive.sum())
    above = rankdata(values)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * (len(positive) - n_positive)))


def regression_scores(target: NDArray[np.float64], predictions: Predictions) -> Scores:
    """Return R2, the mean absolute error and the root mean squared error.

    As in scikit-learn, R2 is 0 where all values of the fold are equal, or 1 if predicted exactly.
    """
    errors = predictions.target - target
    squared, spread = float(errors @ errors), float(((target - target.mean()) ** 2).sum())
    return {
        "r2": 1.0 - squared / spread if spread else float(squared == 0.0),
        "mae": float(np.abs(errors).mean()),
        "rmse": float(np.sqrt(squared / len(target))),
    }
