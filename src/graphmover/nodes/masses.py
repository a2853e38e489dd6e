"""Algorithm 1, line 1: the mass of a node, an integer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.segments import segment_sums
from graphmover.graphs.batch import GraphBatch

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Integer masses up to this total per graph are kept as they are; others are rounded to
#: multiples of 2**-53 of their graph's total, an error below 1e-16 of it per node.
MAX_EXACT_TOTAL = 2**53


def node_degrees(batch: GraphBatch, first_index: int = 0) -> Floats:
    """Return the sum of each node's edge weights; errors number graphs from ``first_index``."""
    if batch.edge_weights is None:
        return np.diff(batch.indptr).astype(np.float64)
    degrees: Floats = segment_sums(batch.edge_weights, batch.indptr)
    overflowing = np.flatnonzero(~np.isfinite(segment_sums(degrees, batch.offsets)))
    if len(overflowing):
        index = first_index + overflowing[0]
        raise ValueError(f"graph {index}: its edge weights add up to more than 1e308")
    return degrees


def node_masses(batch: GraphBatch, degrees: Floats, node_mass: str) -> Ints:
    """Return the masses of all nodes: their degrees, or the same for all.

    All nodes of a graph without edges have the same mass.
    """
    if node_mass == "equal":
        return np.ones(batch.n_nodes, np.int64)
    without_edges = np.repeat(batch.edge_counts == 0, batch.node_counts)
    return integer_masses(np.where(without_edges, 1.0, degrees), batch.offsets)


def integer_masses(masses: NDArray[Any], offsets: Ints) -> Ints:
    """Check masses, and round those that are not integers to multiples of a small unit."""
    if masses.shape != (offsets[-1],):
        raise ValueError(f"masses has the shape {masses.shape}, expected ({offsets[-1]},)")
    if masses.dtype.kind not in "biuf" and masses.size:
        raise TypeError(f"masses must be real numbers, got an array of {masses.dtype}")
    reals = masses.astype(np.float64)
    bad = ~(np.isfinite(reals) & (reals >= 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"graph {np.searchsorted(offsets, at, side='right') - 1}: mass {masses[at]}, "
            f"expected a finite number that is not negative"
        )
    totals = segment_sums(reals, offsets)
    weightless = (totals == 0) & (np.diff(offsets) > 0)
    if weightless.any():
        raise ValueError(f"graph {np.argmax(weightless)}: all masses are zero")
    are_integers = np.floor(reals) == reals
    has_fractions = segment_sums((~are_integers).astype(np.int64), offsets) > 0
    result = np.where(are_integers & (reals <= MAX_EXACT_TOTAL), reals, 0).astype(np.int64)
    for index in np.flatnonzero(has_fractions | (totals > MAX_EXACT_TOTAL)):
        segment = slice(offsets[index], offsets[index + 1])
        result[segment] = _rounded(reals[segment])
    return result


def require_counts(totals: Any) -> None:
    """Raise ValueError if the masses of a graph are rounded shares, which nobody can count."""
    if (totals >= MAX_EXACT_TOTAL).any():
        raise ValueError(
            "partial transport counts masses, but those of a graph are not integers, or add "
            'up to more than 2**53, as weighted degrees may: use node_mass="equal", or shares '
            "(partial=False)"
        )


def _rounded(masses: Floats) -> Ints:
    """Round to integers that add up to MAX_EXACT_TOTAL: the largest takes up the slack."""
    masses = masses / masses.max()  # no overflow in the sum
    rounded: Ints = np.rint(masses / masses.sum() * MAX_EXACT_TOTAL).astype(np.int64)
    rounded[np.argmax(rounded)] += MAX_EXACT_TOTAL - rounded.sum()
    return rounded
