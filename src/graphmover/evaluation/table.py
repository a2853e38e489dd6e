"""The result of an evaluation: a row per fold, and their summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphmover.evaluation.metrics import (
    CLASSIFICATION_METRICS,
    METRIC_NAMES,
    REGRESSION_METRICS,
)


def columns(metrics: Sequence[str], *, regression: bool) -> tuple[str, ...]:
    """Return the columns of every row, in their order."""
    error = "rmse" if regression else "accuracy"
    return (
        *("method", "n_components", "repeat", "fold", *metrics, "max_random_nodes"),
        *("n_dimensions", "wl_iterations", "gamma", "ridge_strength", "kernel", "C"),
        *("best_params", f"selection_{error}", f"inner_{error}"),
        *("negative_eigenvalues", "negative_share", "seconds"),
    )


#: Columns of integers that do not apply to every method.
_INTEGERS = ("n_components", "max_random_nodes", "n_dimensions", "wl_iterations")

#: Hyperparameters whose chosen values a summary counts.
_CHOICES = (
    "max_random_nodes",
    "n_dimensions",
    "wl_iterations",
    "gamma",
    "kernel",
    "C",
    "best_params",
)


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Scores of all methods in all folds, with every choice made.

    Attributes
    ----------
    folds : list of dict
        One row per method, number of random graphs, repetition and fold: the chosen
        hyperparameters, the metrics of the test fold, and ``seconds``. ``selection_accuracy`` and
        ``inner_accuracy`` are the accuracies on the training set that decided; in regression
        ``selection_rmse`` and ``inner_rmse``. Columns that do not apply to a method are None.
    metrics : tuple of str
        The columns that hold metrics; ``mean`` in `summary` is that of the first.
    notes : tuple of str
        What to keep in mind, such as classes with fewer graphs than folds.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.evaluation import evaluate
    >>> graphs, families = gm.make_graph_families(60, random_state=0, return_X_y=True)
    >>> result = evaluate(graphs, families, ["majority class"], n_folds=5, n_repeats=2)
    >>> result
    Evaluation(majority class: 16.7 %)
    >>> len(result.folds)
    10
    """

    folds: list[dict[str, Any]]
    metrics: tuple[str, ...] = ("accuracy",)
    notes: tuple[str, ...] = ()

    def summary(self) -> list[dict[str, Any]]:
        """Return one row per method and number of random graphs.

        ``mean`` is over all test folds, ``std`` is the standard deviation of the means of
        repetitions (None for a single one), ``fold_std`` that of folds, and ``choices`` counts
        how often each value was chosen. They are of the first metric; where others than accuracy
        were asked for, ``metrics`` has all of them. ``notes`` are there if there are any.
        """
        groups: dict[tuple[str, Any], list[dict[str, Any]]] = {}
        for row in self.folds:
            groups.setdefault((row["method"], row["n_components"]), []).append(row)
        return [self._summary(rows) for rows in groups.values()]

    def __repr__(self) -> str:
        scores = []
        for row in self.summary():
            R = f", R = {row['n_components']}" if row["n_components"] else ""
            scores.append(f"{row['method']}{R}: {_shown(self.metrics[0], row['mean'])}")
        return f"Evaluation({'; '.join(scores)})"

    def to_pandas(self) -> Any:
        """Return ``folds`` as a pandas DataFrame; columns of integers have the type Int64."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        return pd.DataFrame(self.folds).astype(dict.fromkeys(_INTEGERS, "Int64"))

    def _summary(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        by_metric = {name: _statistics(rows, name) for name in self.metrics}
        regression = self.metrics[0] in REGRESSION_METRICS
        names = (*_CHOICES, *(["ridge_strength"] if regression else []))
        chosen = {name: Counter(row[name] for row in rows) for name in names}
        n_repeats = len({row["repeat"] for row in rows})
        summary = {
            "method": rows[0]["method"],
            "n_components": rows[0]["n_components"],
            **by_metric[self.metrics[0]],
            "repeats": n_repeats,
            "folds": len(rows) // n_repeats,
            "seconds": sum(row["seconds"] for row in rows),
            "choices": {
                name: {str(value): counts[value] for value in sorted(counts, key=_strings_last)}
                for name, counts in chosen.items()
                if set(counts) != {None}
            },
            **_negative_eigenvalues(rows),
        }
        if self.metrics != ("accuracy",):
            summary["metrics"] = by_metric
        if self.notes:
            summary["notes"] = list(self.notes)
        return summary


def _shown(metric: str, value: float | None) -> str:
    """Return a score as text, with its metric unless that is the accuracy."""
    if value is None:
        text = "-"
    else:
        text = f"{100 * value:.1f} %" if metric in CLASSIFICATION_METRICS else f"{value:.4g}"
    return text if metric == "accuracy" else f"{METRIC_NAMES[metric]} {text}"


def _statistics(rows: list[dict[str, Any]], metric: str) -> dict[str, float | None]:
    """Return the mean and deviations over the folds in which a metric is defined."""
    defined = [row for row in rows if row[metric] is not None]
    if not defined:
        return {"mean": None, "std": None, "fold_std": None}
    values = np.array([row[metric] for row in defined])
    repeats = np.array([row["repeat"] for row in defined])
    means = [values[repeats == repeat].mean() for repeat in np.unique(repeats)]
    return {
        "mean": float(values.mean()),
        "std": float(np.std(means, ddof=1)) if len(means) > 1 else None,
        "fold_std": float(np.std(values, ddof=1)) if len(values) > 1 else None,
    }


def _strings_last(value: Any) -> tuple[bool, bool, Any]:
    return value is None, isinstance(value, str), 0 if value is None else value


def _negative_eigenvalues(rows: list[dict[str, Any]]) -> dict[str, float]:
    if rows[0]["negative_share"] is None:
        return {}
    names = ("negative_eigenvalues", "negative_share")
    return {name: float(np.mean([row[name] for row in rows])) for name in names}
