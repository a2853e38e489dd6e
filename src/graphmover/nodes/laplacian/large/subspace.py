"""The smallest eigenpairs of one connected, large, sparse Laplacian.

Lanczos' method (`_lanczos.py`) finds them in most graphs. Where it does not, because an
eigenvalue repeats many times, or its vectors are not accurate enough, they go on into subspace
iteration: a block of vectors is filtered by a polynomial (`_operators.py`), and the best vectors
in its span are taken (Rayleigh-Ritz), until their residuals are small. A block sees as many
copies of an eigenvalue as it has vectors; where these are too few, it is widened.
"""

from __future__ import annotations

from itertools import pairwise
from math import acosh, inf, log

import numpy as np
from numpy.typing import NDArray

from graphmover.nodes.laplacian.large.kernels import project_out
from graphmover.nodes.laplacian.large.lanczos import first_look, leading_eigenvectors
from graphmover.nodes.laplacian.large.operators import (
    Component,
    Floats,
    Products,
    Say,
    elimination,
    neighbours_nearby,
)

#: The error of an eigenvector is its residual over the distance from its eigenvalue to the
#: next other one. It is at most ACCURACY; or LEAST_ACCURACY, where the residual is at the level
#: of rounding, ROUNDING, or does not get smaller. So two numberings of one graph never differ
#: by more than twice LEAST_ACCURACY.
ACCURACY = 1e-9
LEAST_ACCURACY = 4e-7
ROUNDING = 2e-15

#: A block holds at most this many numbers, or the columns wanted and SPARE_COLUMNS more.
BLOCK_ENTRIES = 2**25
SPARE_COLUMNS = 32

#: After this many rounds that did not halve the error, rounding allows no more.
_PATIENCE = 5

#: Products of a block with the operator, before the solver gives up.
MOST_PRODUCTS = 30_000

#: By how much one polynomial lets one vector outgrow another: more, and they become parallel.
_GROWTH = 1e9

#: Graphs of so many nodes do not fit the processor's caches: neighbours are put together.
_FAR_APART = 20_000

#: Eigenvalues below this take so many products that elimination is tried first.
_SMALL_EIGENVALUE = 0.03

#: This many products beyond the number of eigenvalues wanted show how small these are.
_FIRST_PRODUCTS = 25

#: New vectors are filtered this often before the absence of an eigenvalue is believed.
_ROUNDS = 2


def smallest_eigenpairs(
    graph: Component, want: int, same: float, say: Say
) -> tuple[Floats, Floats, float]:
    """Return eigenvalues above the kernel's 0, their eigenvectors, and what lies beyond.

    At least ``want`` pairs, and on to the first gap wider than ``same``, unless there are no
    more. All other eigenvalues are at least the number that comes last.
    """
    n = len(graph.scale)
    width = want + max(8, want // 2)
    if _as_good_as_all(width, n):
        return *all_eigenpairs(graph), inf
    whole, order = graph, None
    if n >= _FAR_APART:
        order = neighbours_nearby(graph)
        graph = graph.renumbered(order)
    rng = np.random.default_rng(0)
    operator = Products(graph)
    say(f"{n} classes of nodes: looking for its smallest eigenvalues")
    values, vectors = first_look(operator, want + _FIRST_PRODUCTS, rng)
    # Upper bounds on eigenvalues, so that all that are wanted lie below the cut.
    cut = min(max(float(values[want + 1]), 1.25 * float(values[want - 1])), 1.5)
    start = vectors[: want + 2].sum(axis=0)
    if values[0] < _SMALL_EIGENVALUE:
        say("looking for an order of elimination")
        operator = elimination(graph) or operator
    say(f"solving by {operator.name}")
    found = leading_eigenvectors(
        operator.mapped(cut), operator.kernel, start, want, same, MOST_PRODUCTS // 4, say
    )
    values, vectors, residuals = _best_in_span(found.vectors, operator)
    mine = values < found.bound
    values, vectors, residuals = values[mine], vectors[:, mine], residuals[mine]
    count, error = _leading_pairs(
        np.append(values, found.bound), np.append(residuals, 0.0), want, same
    )
    if error <= ACCURACY:
        return values[:count], _in_place(vectors[:, :count], order), found.bound
    # An exact eigenvector would stay in the block for ever, and hide copies of smaller ones.
    block = rng.standard_normal((n, max(width, found.vectors.shape[1] + 8)))
    block /= np.linalg.norm(block, axis=0)
    block[:, : found.vectors.shape[1]] += 100 * found.vectors
    values, vectors, residuals = _by_subspaces(operator, block, want, same, found.products, say)
    if not len(values):
        return *all_eigenpairs(whole), inf
    count, _ = _leading_pairs(values, residuals, want, same)
    beyond = float(values[count] - residuals[count])
    return values[:count], _in_place(vectors[:, :count], order), beyond


def _by_subspaces(
    operator: Products, block: Floats, want: int, same: float, products: int, say: Say
) -> tuple[Floats, Floats, Floats]:
    """Filter a block, and widen it, until ``want`` pairs and the gap that follows are known.

    Returned are values, vectors and residuals; no values where a dense solver should take over.
    """
    n, width = block.shape
    rng = np.random.default_rng(2)
    widest = max(want + SPARE_COLUMNS, BLOCK_ENTRIES // n)
    values, block, residuals = _best_in_span(block, operator)
    rounds = stalled = 0
    best = inf
    while True:
        count, error = _leading_pairs(values, residuals, want, same)
        stalled, best = (stalled + 1, best) if error > best / 2 else (0, error)
        enough = LEAST_ACCURACY if stalled >= _PATIENCE else ACCURACY
        if error <= enough and rounds >= _ROUNDS:
            return values, block, residuals
        settled = residuals[: width - 2].max() <= max(same, 1e-6)
        # No polynomial can tell eigenvalues apart that are all but equal.
        settled |= operator.reach(max(float(values[0]), 1e-18), float(values[-2])) < 1 + 1e-5
        if count == 0 and settled:
            # There is no gap: the space is wider than the block.
            if _as_good_as_all(2 * width, n) and n * n <= BLOCK_ENTRIES:
                return values[:0], block, residuals
            if 2 * width > widest:
                raise np.linalg.LinAlgError(
                    f"more than {width} eigenvalues near {values[want - 1]:.6g} follow each other "
                    f"by less than {same:g}, and their space, which is needed whole, is too large"
                )
            block = np.concatenate([block, rng.standard_normal((n, width))], axis=1)
            width, rounds, stalled, best = 2 * width, 0, 0, inf
        elif products >= MOST_PRODUCTS or stalled >= 8 * _PATIENCE:
            raise np.linalg.LinAlgError(
                f"the residual is {residuals[:want].max():.1e} after {products} products"
            )
        else:
            degree = _degree(operator, values, residuals)
            block = operator.filtered(block, float(values[-1]), degree)
            products, rounds = products + degree, rounds + 1
        values, block, residuals = _best_in_span(block, operator)
        say(f"residual {residuals[:want].max():.1e} after {products} products, {width} vectors")


def _in_place(vectors: Floats, order: NDArray[np.int64] | None) -> Floats:
    """Put rows that stand in an order back where they belong."""
    if order is None:
        return vectors
    result = np.empty_like(vectors)
    result[order] = vectors
    return result


def _as_good_as_all(width: int, n: int) -> bool:
    """Whether so many of n eigenvectors are found faster together with all others."""
    return 3 * width >= n


def all_eigenpairs(graph: Component) -> tuple[Floats, Floats]:
    """Return every eigenpair but the kernel's, by a dense solver."""
    n = len(graph.scale)
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    matrix = np.diag(1.0 - graph.diagonal)
    matrix[rows, graph.indices] = -graph.weights / (graph.scale[rows] * graph.scale[graph.indices])
    kernel = graph.kernel()
    values, vectors = np.linalg.eigh(matrix + 4 * np.outer(kernel, kernel))  # 4: above all others
    return values[:-1], vectors[:, :-1]


def _degree(operator: Products, values: Floats, residuals: Floats) -> int:
    """How many products the next polynomial takes."""
    low = max(values[0] - residuals[0], 1e-18)  # no eigenvalue is below it
    reach = operator.reach(float(low), float(values[-1]))
    if reach < 1 + 1e-9:
        return 200
    return int(np.clip(log(2 * _GROWTH) / acosh(reach), 1, 200))


def _leading_pairs(values: Floats, residuals: Floats, want: int, same: float) -> tuple[int, float]:
    """How many pairs the answer has, 0 when no gap ends them, and their largest error."""
    ends = np.flatnonzero(values[1:] - residuals[1:] - values[:-1] > same) + 1
    enough = ends[ends >= want]
    if not len(enough):
        return 0, inf
    count = int(enough[0])
    if residuals[count] > 0.1 * (values[count] - values[count - 1]):
        return count, inf  # what follows the gap is not known well enough to believe in the gap
    error = 0.0
    for first, last in pairwise([0, *ends[ends <= count].tolist()]):
        gap = values[last] - values[last - 1]
        if first:
            gap = min(gap, values[first] - values[first - 1])
        residual = float(np.linalg.norm(residuals[first:last]))
        if residual > min(ROUNDING * (last - first) ** 0.5, LEAST_ACCURACY * gap):
            error = max(error, residual / gap)
    return count, error


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
    rest = image - block * values
    settled = np.linalg.norm(rest, axis=0) < 1e-8  # others could fall in with these
    block[:, settled] = operator.corrected(block[:, settled], rest[:, settled])
    image = operator.laplacian(block)
    values = (block * image).sum(axis=0)
    order = np.argsort(values, kind="stable")
    residuals = np.linalg.norm(image - block * values, axis=0)
    return values[order], np.ascontiguousarray(block[:, order]), residuals[order]
