"""The result of an evaluation: a row per fold, and what they add up to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Columns of whole numbers that some methods have no use for.
_WHOLE = ("n_components", "max_random_nodes", "n_dimensions", "wl_iterations")

#: What a summary counts the choices of.
_CHOICES = ("max_random_nodes", "n_dimensions", "wl_iterations", "gamma", "kernel", "C")


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Accuracies of all methods in all folds, with every choice made.

    Attributes
    ----------
    folds : list of dict
        One row per method, number of random graphs, repetition and fold: what was chosen,
        ``accuracy`` on the test part, and ``seconds``. ``selection_accuracy`` and
        ``inner_accuracy`` are those on the training part that decided. A value that a method
        has no use for is None.
    """

    folds: list[dict[str, Any]]

    def summary(self) -> list[dict[str, Any]]:
        """Return one row per method and number of random graphs.

        ``mean`` is over all test folds, ``std`` that of the means of repetitions (None for a
        single one), ``fold_std`` that of folds; ``choices`` tells how often what was chosen.
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
        """Return ``folds`` as a pandas DataFrame; whole numbers stay so, missing ones are NA."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        return pd.DataFrame(self.folds).astype(dict.fromkeys(_WHOLE, "Int64"))


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
