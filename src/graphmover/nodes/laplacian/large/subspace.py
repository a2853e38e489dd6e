"""Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and Chelikowsky 2006).

A block of vectors is filtered by a polynomial (`operators.py`), and replaced by the Ritz vectors
of its span (Rayleigh-Ritz), until their residuals are small. A block of k vectors finds
multiplicities of up to k; where the last eigenspace is larger, the block is widened.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf

import numpy as np

from graphmover.nodes.laplacian.large.chebyshev import degree_for
from graphmover.nodes.laplacian.large.kernels import project_out
from graphmover.nodes.laplacian.large.lanczos import Report
from graphmover.nodes.laplacian.large.operators import RitzPairs, SpectralOperator
from graphmover.nodes.laplacian.large.quotient import Floats

#: The error of an eigenvector is its residual over the distance from its eigenvalue to the
#: next other one. It is at most ACCURACY; or LEAST_ACCURACY, where the residual is at the level
#: of rounding, ROUNDING, or stops decreasing. So two numberings of one graph never differ by
#: more than twice LEAST_ACCURACY.
ACCURACY = 1e-9
LEAST_ACCURACY = 4e-7
ROUNDING = 2e-15

#: A block holds at most this many numbers, or the columns wanted and SPARE_COLUMNS more.
BLOCK_ENTRIES = 2**25
SPARE_COLUMNS = 32

#: After this many rounds that did not halve the error, rounding allows no more.
_PATIENCE = 5

#: One polynomial amplifies the first eigenvector at most by this; more makes the block singular.
_GROWTH = 1e9

#: New vectors are filtered this often before a gap in the spectrum is trusted.
_ROUNDS = 2


def filtered_subspace_iteration(
    operator: SpectralOperator,
    block: Floats,
    want: int,
    tolerance: float,
    products: int,
    most_products: int,
    report: Report,
) -> RitzPairs | None:
    """Filter a block, and widen it, until ``want`` pairs and the gap behind them are known.

    Returns None where a dense solver is faster. ``products`` are those spent before.
    """
    n, width = block.shape
    rng = np.random.default_rng(2)
    widest = max(want + SPARE_COLUMNS, BLOCK_ENTRIES // n)
    pairs = rayleigh_ritz(block, operator)
    rounds = stalled = 0  # since the block was widened; in a row without progress
    best = inf
    while True:
        values, block, residuals = pairs
        count, error = pairs_up_to_a_gap(values, residuals, want, tolerance)
        stalled, best = (stalled + 1, best) if error > best / 2 else (0, error)
        enough = LEAST_ACCURACY if stalled >= _PATIENCE else ACCURACY
        if error <= enough and rounds >= _ROUNDS:
            return pairs
        settled = residuals[: width - 2].max() <= max(tolerance, 1e-6)
        # No polynomial separates eigenvalues that are almost equal.
        smallest = max(float(values[0]), 1e-18)
        settled |= operator.chebyshev_argument(smallest, float(values[-2])) < 1 + 1e-5
        if count == 0 and settled:
            # There is no gap: the last eigenspace is larger than the block.
            if dense_is_faster(2 * width, n) and n * n <= BLOCK_ENTRIES:
                return None
            if 2 * width > widest:
                raise np.linalg.LinAlgError(
                    f"more than {width} eigenvalues near {values[want - 1]:.6g} differ by less "
                    f"than {tolerance:g} from the next, and their eigenspace, which is needed "
                    f"whole, is too large"
                )
            block = np.concatenate([block, rng.standard_normal((n, width))], axis=1)
            width, rounds, stalled, best = 2 * width, 0, 0, inf
        elif products >= most_products or stalled >= 8 * _PATIENCE:
            raise np.linalg.LinAlgError(
                f"the residual is {residuals[:want].max():.1e} after {products} products"
            )
        else:
            degree = _filter_degree(operator, values, residuals)
            block = operator.filtered(block, float(values[-1]), degree)
            products, rounds = products + degree, rounds + 1
        pairs = rayleigh_ritz(block, operator)
        residual = pairs.residuals[:want].max()
        report(f"residual {residual:.1e} after {products} products, {width} vectors")


def dense_is_faster(width: int, n: int) -> bool:
    """Whether all n eigenvectors by a dense solver take less time than ``width`` of them here."""
    return 3 * width >= n


def _filter_degree(operator: SpectralOperator, values: Floats, residuals: Floats) -> int:
    """The degree of the next polynomial."""
    low = max(values[0] - residuals[0], 1e-18)  # a lower bound of all eigenvalues
    t = operator.chebyshev_argument(float(low), float(values[-1]))
    if t < 1 + 1e-9:
        return 200
    return int(np.clip(degree_for(2 * _GROWTH, t), 1, 200))


def pairs_up_to_a_gap(
    values: Floats, residuals: Floats, want: int, tolerance: float
) -> tuple[int, float]:
    """Count the pairs up to the first gap behind ``want``; 0 if there is none.

    Also returned is their largest error, infinite where the gap itself is not certain.
    """
    ends = np.flatnonzero(values[1:] - residuals[1:] - values[:-1] > tolerance) + 1
    enough = ends[ends >= want]
    if not len(enough):
        return 0, inf
    count = int(enough[0])
    if residuals[count] > 0.1 * (values[count] - values[count - 1]):
        return count, inf  # the eigenvalue behind the gap is not accurate enough to trust the gap
    error = 0.0
    for first, last in pairwise([0, *ends[ends <= count].tolist()]):
        gap = values[last] - values[last - 1]
        if first:
            gap = min(gap, values[first] - values[first - 1])
        residual = float(np.linalg.norm(residuals[first:last]))
        if residual > min(ROUNDING * (last - first) ** 0.5, LEAST_ACCURACY * gap):
            error = max(error, residual / gap)
    return count, error


def rayleigh_ritz(block: Floats, operator: SpectralOperator) -> RitzPairs:
    """Return the Ritz pairs of the span of a block, orthogonal to the null vector."""
    block = np.ascontiguousarray(block / np.linalg.norm(block, axis=0))
    for _ in range(2):  # the columns of a filtered block may be almost parallel
        project_out(operator.null_vector, block)
        block = np.ascontiguousarray(np.linalg.qr(block)[0])
    return operator.ritz_pairs(block)
