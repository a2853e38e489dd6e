"""Features of distances to random graphs, and the gamma that suits them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphmover.parameters import multiple_of_scale

#: Above this many distances, a sample of this size narrows down where their median is.
_MANY, _SAMPLE = 200_000, 20_000


def gamma_scale(distances: NDArray[np.float64]) -> float:
    """Return 1 / (median of the training distances), or 1 where all graphs are equal."""
    finite = np.isfinite(distances)
    median = _median(distances.ravel() if finite.all() else distances[finite])
    # Anything less is rounding error in the eigenvectors of equal graphs, not a scale.
    return 1.0 / median if median > 1e-9 else 1.0


def _median(values: NDArray[np.float64]) -> float:
    """Return what `numpy.median` returns, in a third of the time where there are many values.

    Only those between two quantiles of a sample are sorted: the median is nearly always among them.
    """
    if len(values) > _MANY:
        sample = np.sort(values[:: len(values) // _SAMPLE])
        low, high = sample[[int(0.48 * len(sample)), int(0.52 * len(sample))]]
        middle = np.array([(len(values) - 1) // 2, len(values) // 2])
        places = middle - np.count_nonzero(values < low)
        inside = values[(values >= low) & (values <= high)]
        if places[0] >= 0 and places[1] < len(inside):
            return float(np.partition(inside, places)[places].mean())
    return float(np.median(values))


def bandwidth(gamma: float | str, distances: NDArray[np.float64]) -> float:
    """Return a parameter gamma as a number; "scale" and its multiples refer to the distances."""
    multiple = multiple_of_scale(gamma)
    return float(gamma) if multiple is None else multiple * gamma_scale(distances)


def features_in_place(distances: NDArray[np.float64], gamma: float) -> NDArray[np.float64]:
    """Algorithm 1, lines 6-8, wherever the array lies."""
    distances *= -gamma
    np.exp(distances, out=distances)
    distances /= math.sqrt(distances.shape[1])
    return distances
