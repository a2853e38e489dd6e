"""Differences between two methods on the same folds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np


class PairedDifference(NamedTuple):
    """How much better one method is than another, over the folds that both have."""

    mean: float
    standard_error: float | None  # None for a single fold
    folds: int

    @property
    def is_level(self) -> bool:
        """Whether the difference is within its standard error."""
        return self.standard_error is not None and abs(self.mean) <= self.standard_error


def paired_difference(
    rows: Iterable[Mapping[str, Any]],
    others: Iterable[Mapping[str, Any]],
    *,
    metric: str = "accuracy",
) -> PairedDifference | None:
    """Return the mean difference over the folds that both have, and its standard error.

    Training sets of folds overlap, so differences are not independent: their variance is not
    divided by the number J of folds, but multiplied by ``1 / J + 1 / (k - 1)`` for k folds in a
    repetition (Nadeau and Bengio 2003).

    Parameters
    ----------
    rows, others : iterables of dict
        Rows of ``Evaluation.folds``, of one method each.
    metric : str
        The column to compare.

    Returns
    -------
    PairedDifference or None
        None if there is no fold that both have.

    Examples
    --------
    >>> from graphmover.evaluation import paired_difference
    >>> scores = [{"repeat": 0, "fold": fold, "accuracy": 0.8 + fold / 10} for fold in (0, 1)]
    >>> other = [{"repeat": 0, "fold": fold, "accuracy": 0.7} for fold in (0, 1)]
    >>> difference = paired_difference(scores, other)
    >>> round(difference.mean, 3), round(difference.standard_error, 3)
    (0.15, 0.087)
    """
    scores = {(row["repeat"], row["fold"]): row[metric] for row in rows}
    baseline = {(row["repeat"], row["fold"]): row[metric] for row in others}
    shared = sorted(scores.keys() & baseline.keys())
    differences = np.array([scores[place] - baseline[place] for place in shared])
    if not shared:
        return None
    if len(shared) == 1:
        return PairedDifference(float(differences[0]), None, 1)
    n_folds = max(len({fold for _, fold in shared}), 2)
    variance = differences.var(ddof=1) * (1 / len(shared) + 1 / (n_folds - 1))
    return PairedDifference(float(differences.mean()), float(np.sqrt(variance)), len(shared))
