"""Columns with heavy tails as normal scores: what counts is the order of values, not their size.

A few nodes far out would otherwise set the scale of a column and dominate all distances. A value's
normal score is the quantile of the standard normal distribution at its rank (van der Waerden 1952).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from graphmover._utils.segments import offsets_from_counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Tails are heavy above this kurtosis; the normal distribution's is 3.
_HEAVY = 4.0

#: Between this many values, evenly spaced in score, scores are interpolated.
_MOST_KNOTS = 128


class Knots(NamedTuple):
    """Values of training nodes and their scores, increasing within each column.

    A column without any has no heavy tails and stays as it is.
    """

    offsets: Ints  # (columns + 1,) where each column starts
    values: Floats
    scores: Floats

    def replace(self, columns: Floats) -> Floats:
        """Return the columns with scores in place of values; the outermost score beyond them."""
        scored = np.array(columns, dtype=np.float64)
        for c in np.flatnonzero(np.diff(self.offsets)):
            own = slice(self.offsets[c], self.offsets[c + 1])
            scored[:, c] = np.interp(columns[:, c], self.values[own], self.scores[own])
        return scored


def fitted_knots(columns: Floats, centres: Floats, scales: Floats) -> Knots:
    """Return the knots of columns, given their means and standard deviations."""
    values, scores = [], []
    for c in range(columns.shape[1]):
        column = np.ascontiguousarray(columns[:, c])
        is_heavy = _has_heavy_tails(column, centres[c], scales[c])
        own = _knots_of(column) if is_heavy else (np.empty(0), np.empty(0))
        values.append(own[0])
        scores.append(own[1])
    offsets = offsets_from_counts([len(own) for own in values])
    return Knots(offsets, np.concatenate(values), np.concatenate(scores))


def _has_heavy_tails(column: Floats, centre: float, scale: float) -> bool:
    with np.errstate(over="ignore"):
        squares = ((column - centre) / scale) ** 2
    # A column that deviates by rounding errors alone counts as constant: its scale is not its own.
    is_standardised = abs(squares.mean() - 1) < 0.01
    return bool(is_standardised and np.square(squares).mean() > _HEAVY)


def _knots_of(column: Floats) -> tuple[Floats, Floats]:
    values, counts = np.unique(column, return_counts=True)
    # Equal values have the middle of their ranks.
    scores = ndtri((np.cumsum(counts) - counts / 2) / len(column))
    if len(values) > _MOST_KNOTS:
        even = np.linspace(scores[0], scores[-1], _MOST_KNOTS)
        kept = np.unique(np.searchsorted(scores, even))
        values, scores = values[kept], scores[kept]
    return values, scores
