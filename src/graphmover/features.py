"""Features of distances to random graphs, and the gamma that suits them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphmover.parameters import multiple_of_scale


def gamma_scale(distances: NDArray[np.float64]) -> float:
    """Return 1 / (median of the training distances), or 1 where all graphs are equal."""
    finite = distances[np.isfinite(distances)]
    median = float(np.median(finite, overwrite_input=True))
    # Below that it is the rounding error of eigenvectors of equal graphs: no scale at all.
    return 1.0 / median if median > 1e-9 else 1.0


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
