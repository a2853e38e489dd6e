"""The smallest eigenpairs of one connected, large, sparse Laplacian.

Subspace iteration with Chebyshev polynomials: a block of vectors is filtered (`_operators.py`),
and the best vectors in its span are taken (Rayleigh-Ritz), until their residuals are small. A
block, unlike a single Lanczos vector, sees every copy of a repeated eigenvalue; where the block
is not wider than the space that it must hold, it is widened.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import acosh, inf, log

import numpy as np

from graphmover.laplacian._kernels import project_out
from graphmover.laplacian._operators import Component, Floats, Products, operator_for

Say = Callable[[str], None]

#: An eigenvector is accepted when its residual, over the distance from its eigenvalue to the
#: next other one, is at most ACCURACY; or when its residual is at the level of rounding.
ACCURACY = 1e-9
ROUNDING = 2e-15

#: A block holds at most this many numbers, or the columns wanted and SPARE_COLUMNS more.
BLOCK_ENTRIES = 2**25
SPARE_COLUMNS = 32

#: Products of a block with the operator, before the solver gives up.
MOST_PRODUCTS = 30_000

#: By how much one polynomial lets one vector outgrow another: more, and they become parallel.
_GROWTH = 1e9

_TOO_NARROW = -1
_NOT_YET = -2


def smallest_eigenpairs(
    graph: Component, want: int, same: float, say: Say
) -> tuple[Floats, Floats, float]:
    """Return eigenvalues above the kernel's 0, their eigenvectors, and what lies beyond.

    At least ``want`` pairs, and on to the first gap wider than ``same``, unless there are no
    more. All other eigenvalues are at least the number that comes last.
    """
    n = len(graph.scale)
    say(f"{n} classes of nodes: looking for an order of elimination")
    operator = operator_for(graph)
    say(f"solving by {operator.name}")
    rng = np.random.default_rng(0)
    width = min(n - 1, want + max(8, want // 2))
    widest = min(n - 1, max(want + SPARE_COLUMNS, BLOCK_ENTRIES // n))
    values, block, residuals = _best_in_span(rng.standard_normal((n, width)), operator)
    products = 0
    while True:
        if width == n - 1:  # the span is everything: nothing is left to find
            residuals = np.minimum(residuals, ROUNDING)
        found = _accepted(values, residuals, want, same, everything=width == n - 1)
        if found >= 0:
            beyond = values[found] - residuals[found] if found < width else inf
            return values[:found], block[:, :found], float(beyond)
        if found == _TOO_NARROW:
            if width >= widest:
                raise np.linalg.LinAlgError(
                    f"more than {width} eigenvalues near {values[want - 1]:.6g} follow each other "
                    f"by less than {same:g}, and their space, which is needed whole, is too large"
                )
            more = rng.standard_normal((n, min(widest, 2 * width) - width))
            block = np.concatenate([block, more], axis=1)
            width = block.shape[1]
        elif products >= MOST_PRODUCTS:
            raise np.linalg.LinAlgError(
                f"the residual is {residuals[:want].max():.1e} after {products} products"
            )
        else:
            degree = _degree(operator, values, residuals)
            block = operator.filtered(block, float(values[-1]), degree)
            products += degree
        values, block, residuals = _best_in_span(block, operator)
        say(f"residual {residuals[:want].max():.1e} after {products} products, {width} vectors")


def _degree(operator: Products, values: Floats, residuals: Floats) -> int:
    """How many products the next polynomial takes."""
    low = max(values[0] - residuals[0], 1e-18)  # no eigenvalue is below it
    reach = operator.reach(float(low), float(values[-1]))
    if reach < 1 + 1e-9:
        return 200
    return int(np.clip(log(2 * _GROWTH) / acosh(reach), 1, 200))


def _accepted(values: Floats, residuals: Floats, want: int, same: float, everything: bool) -> int:
    """How many leading pairs are an answer, or why there is none yet."""
    width = len(values)
    ends = np.flatnonzero(values[1:] - residuals[1:] - values[:-1] > same) + 1
    if everything:
        ends = np.append(ends, width)
    enough = ends[ends >= min(want, width)]
    if not len(enough):
        # While the last vectors have not settled, a gap may still show.
        settled = residuals[: width - 2].max(initial=0.0) <= max(same, 1e-6)
        return _TOO_NARROW if settled else _NOT_YET
    count = int(enough[0])
    for first, last in pairwise([0, *ends[ends <= count].tolist()]):
        gap = inf if first == 0 else values[first] - values[first - 1]
        if last < width:
            gap = min(gap, values[last] - values[last - 1])
        if residuals[first:last].max() > max(ACCURACY * gap, ROUNDING):
            return _NOT_YET
    return count


def _best_in_span(block: Floats, operator: Products) -> tuple[Floats, Floats, Floats]:
    """Ritz values, Ritz vectors and the lengths of their residuals, without the kernel."""
    block = np.ascontiguousarray(block / np.linalg.norm(block, axis=0))
    for _ in range(2):
        project_out(operator.kernel, block)
        block = np.ascontiguousarray(np.linalg.qr(block)[0])
    image = operator.laplacian(block)
    small = block.T @ image
    values, turn = np.linalg.eigh((small + small.T) / 2)
    block, image = block @ turn, image @ turn
    return values, np.ascontiguousarray(block), np.linalg.norm(image - block * values, axis=0)
