"""The smallest eigenpairs of one connected, large, sparse quotient Laplacian.

Subspace iteration, accelerated by Chebyshev polynomials: a block of vectors is multiplied by
a polynomial of an operator B that shares the Laplacian's eigenvectors, large where the wanted
eigenvalues are and small on all others; then the best vectors in the block's span are taken
(Rayleigh-Ritz). A block, unlike a single Lanczos vector, sees every copy of a repeated
eigenvalue; where the block is not wider than the space that it must hold, it is widened.

B is one of two. Where elimination in minimum-degree order (`_ordering.py`) fills a factor of at
most `FILL` entries per node and edge, B is the pseudo-inverse of the Laplacian: the factor
of the Laplacian of which one node is grounded. Such graphs (paths, trees, grids, roads) have
the smallest gaps, and a few products do. Elsewhere (random graphs, social networks) B is
Q itself: gaps are large, factors are huge.
"""

from __future__ import annotations

from collections.abc import Callable
from math import acosh, inf, log
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphmover.laplacian._ordering import minimum_degree
from graphmover.laplacian._twins import options

Floats = NDArray[np.float64]
Say = Callable[[str], None]

#: Entries of a factor per node and edge of its graph, at most.
FILL = 25

#: An eigenvector is accepted when its residual, over its eigenvalue's distance to the next
#: other one, is at most this; or when its residual is at the level of rounding.
ACCURACY = 1e-9
ROUNDING = 2e-15

#: A block's vectors hold at most this many numbers together, unless it is narrower than
#: LEAST_WIDTH beyond what is wanted.
BLOCK_ENTRIES = 2**25
LEAST_WIDTH = 24

#: Products with B before the solver gives up.
MOST_PRODUCTS = 30_000

_AMPLIFICATION = 1e9  # of one polynomial: more, and a block's vectors become parallel


class Component(NamedTuple):
    """A connected quotient graph of at least two classes, as compressed rows."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: Floats  # sums of edge weights between two classes, beside indices
    scale: Floats  # sqrt of the degrees of a class's nodes together: the kernel of I - Q
    diagonal: Floats  # of Q


@njit(**options)
def _product(indptr, indices, data, x, alpha, beta, gamma, y):
    """y = alpha Q x + beta x + gamma y; the diagonal stands among the entries."""
    width = x.shape[1]
    row = np.empty(width)
    for u in range(len(indptr) - 1):
        row[:] = 0.0
        for i in range(indptr[u], indptr[u + 1]):
            a, v = data[i], indices[i]
            for k in range(width):
                row[k] += a * x[v, k]
        for k in range(width):
            y[u, k] = alpha * row[k] + beta * x[u, k] + gamma * y[u, k]


@njit(**options)
def _project_out(kernel, x):
    """Take the direction of a unit vector out of the columns of x."""
    share = np.zeros(x.shape[1])
    for u in range(len(kernel)):
        for k in range(x.shape[1]):
            share[k] += kernel[u] * x[u, k]
    for u in range(len(kernel)):
        for k in range(x.shape[1]):
            x[u, k] -= kernel[u] * share[k]


def smallest_eigenpairs(
    graph: Component, want: int, same: float, say: Say
) -> tuple[Floats, Floats, float]:
    """Return eigenvalues above the kernel's 0, their eigenvectors, and what lies beyond.

    At least ``want`` pairs, and on to the first gap wider than ``same``, unless there are no
    more. All other eigenvalues are at least the number that comes last.
    """
    n = len(graph.scale)
    kernel = graph.scale / np.linalg.norm(graph.scale)
    data, indptr, indices = _matrix_entries(graph)
    rng = np.random.default_rng(0)

    def laplacian(x: Floats) -> Floats:
        y = np.empty_like(x)
        _product(indptr, indices, data, x, -1.0, 1.0, 0.0, y)
        return y

    def filtered_by_q(x: Floats, cut: float, degree: int) -> Floats:
        # Unwanted: Q's eigenvalues from -1 to 1 - cut.
        half, middle = (2.0 - cut) / 2, -cut / 2
        before, now = x.copy(), np.zeros_like(x)
        _product(indptr, indices, data, x, 1 / half, -middle / half, 0.0, now)
        # Rounding brings the kernel back in, and no eigenvector grows as fast as that one.
        often = max(1, int(log(1e6) / acosh((2 + cut) / (2 - cut))))
        for step in range(degree - 1):
            _product(indptr, indices, data, now, 2 / half, -2 * middle / half, -1.0, before)
            before, now = now, before
            if step % often == 0:
                _project_out(kernel, before)
                _project_out(kernel, now)
        return now

    solve = _pseudo_inverse(graph, kernel, say)

    def filtered_by_inverse(x: Floats, cut: float, degree: int) -> Floats:
        # Unwanted: the inverse's eigenvalues from 1/2 to 1 / cut.
        half, middle = (1 / cut - 0.5) / 2, (1 / cut + 0.5) / 2
        before, now = x, (solve(x) - middle * x) / half  # type: ignore[misc]
        for _ in range(degree - 1):
            before, now = now, 2 * (solve(now) - middle * now) / half - before  # type: ignore[misc]
        return now

    def degree_of_filter(values: Floats, residuals: Floats) -> int:
        cut, low = values[-1], max(values[0] - residuals[0], 1e-18)  # no eigenvalue is below it
        if solve is None:
            reach = (2 * (1 - low) + cut) / (2 - cut)
        else:
            reach = (2 / low - 1 / cut - 0.5) / (1 / cut - 0.5)
        if not reach > 1 + 1e-14:
            return 200
        return int(np.clip(log(2 * _AMPLIFICATION) / acosh(reach), 1, 200))

    apply = filtered_by_q if solve is None else filtered_by_inverse
    width = min(n - 1, want + max(8, want // 2))
    widest = max(want + LEAST_WIDTH, BLOCK_ENTRIES // n)
    block = _orthonormal(rng.standard_normal((n, width)), kernel)
    values, block, residuals = _best_in_span(block, laplacian)
    products = 0
    while True:
        width = block.shape[1]
        state = _accepted(values, residuals, want, same, exhausted=width >= n - 1)
        if state >= 0:
            beyond = values[state] - residuals[state] if state < width else inf
            return values[:state], block[:, :state], float(beyond)
        if state == _TOO_NARROW and width < n - 1:
            wider = min(n - 1, 2 * width)
            if wider > max(widest, 2 * want):
                raise np.linalg.LinAlgError(
                    f"more than {width} eigenvalues lie within {same:g} of their neighbours at "
                    f"{values[want - 1]:.6g}: their space does not fit into memory"
                )
            extra = rng.standard_normal((n, wider - width))
            block = np.concatenate([block, extra], axis=1)
            block = _orthonormal(block, kernel)
            values, block, residuals = _best_in_span(block, laplacian)
            if wider >= n - 1:
                residuals[:] = np.minimum(residuals, ROUNDING)
                continue
        if products >= MOST_PRODUCTS:
            raise np.linalg.LinAlgError(
                f"residual {residuals[:want].max():.1e} after {products} products with "
                f"{width} vectors"
            )
        degree = degree_of_filter(values, residuals)
        block = apply(block, float(values[-1]), degree)
        products += degree
        block = _orthonormal(block, kernel)
        values, block, residuals = _best_in_span(block, laplacian)
        say(
            f"{'elimination' if solve is not None else 'products'}, {width} vectors: residual "
            f"{residuals[:want].max():.1e} after {products}"
        )


_TOO_NARROW = -1
_NOT_YET = -2


def _accepted(values: Floats, residuals: Floats, want: int, same: float, exhausted: bool) -> int:
    """How many leading pairs are an answer, or why there is none yet."""
    width = len(values)
    if exhausted:
        residuals = np.minimum(residuals, ROUNDING)  # the span is everything
    wide = np.flatnonzero(values[1:] - residuals[1:] - values[:-1] > same) + 1
    ends = np.append(wide, width) if exhausted else wide
    enough = ends[ends >= min(want, width)]
    if not len(enough):
        # Where the last vectors have not settled, the gap may show later.
        settled = residuals[: width - 2].max(initial=0.0) <= max(same, 1e-6)
        return _TOO_NARROW if settled else _NOT_YET
    count = int(enough[0])
    starts = np.concatenate([[0], ends[ends <= count]])
    for first, last in zip(starts[:-1], starts[1:], strict=True):
        gap = inf if first == 0 else values[first] - values[first - 1]
        if last < width:
            gap = min(gap, values[last] - values[last - 1])
        if residuals[first:last].max() > max(ACCURACY * gap, ROUNDING):
            return _NOT_YET
    return count


def _matrix_entries(graph: Component) -> tuple[Floats, NDArray[np.int64], NDArray[np.int32]]:
    """Q with its diagonal, as compressed rows."""
    n = len(graph.scale)
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    data = graph.weights / (graph.scale[rows] * graph.scale[graph.indices])
    loops = np.flatnonzero(graph.diagonal)
    if not len(loops):
        return data, graph.indptr, graph.indices
    at = graph.indptr[loops]
    counts = np.diff(graph.indptr)
    counts[loops] += 1
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return (
        np.insert(data, at, graph.diagonal[loops]),
        indptr,
        np.insert(graph.indices, at, loops.astype(np.int32)),
    )


def _orthonormal(block: Floats, kernel: Floats) -> Floats:
    """An orthonormal basis of the block's span without the kernel."""
    block = np.ascontiguousarray(block / np.linalg.norm(block, axis=0))
    for _ in range(2):
        _project_out(kernel, block)
        block = np.ascontiguousarray(np.linalg.qr(block)[0])
    return block


def _best_in_span(
    block: Floats, laplacian: Callable[[Floats], Floats]
) -> tuple[Floats, Floats, Floats]:
    """Ritz values, Ritz vectors and the norms of their residuals."""
    image = laplacian(block)
    small = block.T @ image
    values, turn = np.linalg.eigh((small + small.T) / 2)
    block, image = block @ turn, image @ turn
    residuals = np.linalg.norm(image - block * values, axis=0)
    return values, np.ascontiguousarray(block), residuals


def _pseudo_inverse(graph: Component, kernel: Floats, say: Say) -> Callable[[Floats], Floats] | None:
    """Return the product with the pseudo-inverse of I - Q, where its factor is small."""
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    n, scale = len(graph.scale), graph.scale
    order = minimum_degree(graph.indptr, graph.indices, FILL * (n + len(graph.indices) // 2))
    if not len(order):
        return None
    order = order[:-1]  # the last one is grounded
    position = np.full(n, -1)
    position[order] = np.arange(n - 1)
    rows = np.repeat(position, np.diff(graph.indptr))
    columns = position[graph.indices]
    kept = (rows >= 0) & (columns >= 0)
    sums = np.add.reduceat(graph.weights, graph.indptr[:-1])  # connected: no row is empty
    rows, columns = rows[kept], columns[kept]
    entries = np.concatenate([-graph.weights[kept], sums[order]])
    loops = np.arange(n - 1)
    where = (np.concatenate([rows, loops]), np.concatenate([columns, loops]))
    matrix = csc_array((entries, where), shape=(n - 1, n - 1))
    say("factorising")
    factors = splu(
        matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )

    def solve(x: Floats) -> Floats:
        solution = np.zeros_like(x)
        solution[order] = factors.solve((scale[:, None] * x)[order])
        solution *= scale[:, None]
        _project_out(kernel, solution)
        return solution

    return solve
