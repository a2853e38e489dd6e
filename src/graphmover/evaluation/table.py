"""The result of an evaluation: a row per fold, and their summary."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Every row has these columns, in this order.
COLUMNS = (
    *("method", "n_components", "repeat", "fold", "accuracy", "max_random_nodes", "n_dimensions"),
    *("wl_iterations", "gamma", "ridge_strength", "kernel", "C", "best_params"),
    *("selection_accuracy", "inner_accuracy", "negative_eigenvalues", "negative_share", "seconds"),
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
    """Accuracies of all methods in all folds, with every choice made.

    Attributes
    ----------
    folds : list of dict
        One row per method, number of random graphs, repetition and fold: the chosen
        hyperparameters, ``accuracy`` on the test fold, and ``seconds``. ``selection_accuracy`` and
        ``inner_accuracy`` are the accuracies on the training set that decided. Columns that do
        not apply to a method are None.

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

    def summary(self) -> list[dict[str, Any]]:
        """Return one row per method and number of random graphs.

        ``mean`` is over all test folds, ``std`` is the standard deviation of the means of
        repetitions (None for a single one), ``fold_std`` that of folds, and ``choices`` counts
        how often each value was chosen.
        """
        groups: dict[tuple[str, Any], list[dict[str, Any]]] = {}
        for row in self.folds:
            groups.setdefault((row["method"], row["n_components"]), []).append(row)
        return [_summary(rows) for rows in groups.values()]

    def __repr__(self) -> str:
        scores = []
        for row in self.summary():
            R = f", R = {row['n_components']}" if row["n_components"] else ""
            scores.append(f"{row['method']}{R}: {100 * row['mean']:.1f} %")
        return f"Evaluation({'; '.join(scores)})"

    def to_pandas(self) -> Any:
        """Return ``folds`` as a pandas DataFrame; columns of integers have the type Int64."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        return pd.DataFrame(self.folds).astype(dict.fromkeys(_INTEGERS, "Int64"))


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    accuracies = np.array([row["accuracy"] for row in rows])
    repeats = np.array([row["repeat"] for row in rows])
    means = [accuracies[repeats == repeat].mean() for repeat in np.unique(repeats)]
    chosen = {name: Counter(row[name] for row in rows) for name in _CHOICES}
    return {
        "method": rows[0]["method"],
        "n_components": rows[0]["n_components"],
        "mean": float(accuracies.mean()),
        "std": float(np.std(means, ddof=1)) if len(means) > 1 else None,
        "fold_std": float(np.std(accuracies, ddof=1)),
        "repeats": len(means),
        "folds": len(rows) // len(means),
        "seconds": sum(row["seconds"] for row in rows),
        "choices": {
            name: {str(value): counts[value] for value in sorted(counts, key=_strings_last)}
            for name, counts in chosen.items()
            if None not in counts
        },
        **_negative_eigenvalues(rows),
    }


def _strings_last(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value


def _negative_eigenvalues(rows: list[dict[str, Any]]) -> dict[str, float]:
    if rows[0]["negative_share"] is None:
        return {}
    names = ("negative_eigenvalues", "negative_share")
    return {name: float(np.mean([row[name] for row in rows])) for name in names}
