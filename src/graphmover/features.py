"""Features of distances to random graphs, and the gamma that suits them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def gamma_scale(distances: NDArray[np.float64]) -> float:
    """Return 1 / (median of the training distances), or 1 where all graphs are equal."""
    finite = distances[np.isfinite(distances)]
    median = float(np.median(finite, overwrite_input=True))
    # Below that it is the rounding error of eigenvectors of equal graphs: no scale at all.
    return 1.0 / median if median > 1e-9 else 1.0


def features_in_place(distances: NDArray[np.float64], gamma: float) -> NDArray[np.float64]:
    """Algorithm 1, lines 6-8, wherever the array lies."""
    distances *= -gamma
    np.exp(distances, out=distances)
    distances /= math.sqrt(distances.shape[1])
    return distances
