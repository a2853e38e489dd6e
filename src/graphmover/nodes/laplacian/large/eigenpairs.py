"""The smallest eigenpairs of one connected, large, sparse Laplacian.

Thick-restart Lanczos (`lanczos.py`) finds them in most graphs. Where it does not, because an
eigenvalue has a high multiplicity or its vectors are not accurate enough, these become the start
of Chebyshev-filtered subspace iteration (`subspace.py`).
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from graphmover.nodes.laplacian.large.forest import leaves_first
from graphmover.nodes.laplacian.large.lanczos import (
    Report,
    ritz_estimates,
    thick_restart_lanczos,
)
from graphmover.nodes.laplacian.large.operators import (
    AdjacencyPolynomial,
    PseudoInverse,
    SpectralOperator,
)
from graphmover.nodes.laplacian.large.quotient import (
    Floats,
    Ints,
    QuotientGraph,
    bandwidth_reducing_order,
)
from graphmover.nodes.laplacian.large.subspace import (
    ACCURACY,
    dense_is_faster,
    filtered_subspace_iteration,
    pairs_up_to_a_gap,
    rayleigh_ritz,
)
from graphmover.nodes.laplacian.large.trees import TreeInverse

#: Products of a block with the operator, before the solver gives up.
MOST_PRODUCTS = 30_000

#: Graphs of this many nodes do not fit the processor's caches: they are renumbered first.
_LARGER_THAN_CACHES = 20_000

#: Eigenvalues below this take so many matrix products that a factorisation is tried first.
_SMALL_EIGENVALUE = 0.03

#: This many products beyond the number of eigenvalues wanted estimate how small these are.
_ESTIMATION_PRODUCTS = 25


class Eigenpairs(NamedTuple):
    """Eigenvalues above the null vector's 0, their eigenvectors, and a bound on all others."""

    values: Floats
    vectors: Floats  # as columns
    lower_bound: float  # of all eigenvalues that are not among the values


def smallest_eigenpairs(
    graph: QuotientGraph, want: int, tolerance: float, report: Report
) -> Eigenpairs:
    """Return at least ``want`` eigenpairs, up to the first gap wider than the tolerance."""
    n = len(graph.scale)
    width = want + max(8, want // 2)
    if dense_is_faster(width, n):
        return all_eigenpairs(graph)
    given, order = graph, None
    if graph.is_tree:
        order = leaves_first(graph.indptr, graph.indices)
    elif n >= _LARGER_THAN_CACHES:
        order = bandwidth_reducing_order(graph)
    if order is not None:
        graph = graph.renumbered(order)
    rng = np.random.default_rng(0)
    operator, cut, start = _operator(graph, want, rng, report)
    report(f"solving by {operator.name}")
    found = thick_restart_lanczos(
        operator.for_lanczos(cut),
        operator.null_vector,
        start,
        want,
        tolerance,
        MOST_PRODUCTS // 4,
        report,
    )
    values, vectors, residuals = rayleigh_ritz(found.vectors, operator)
    certain = values < found.lower_bound
    values, vectors, residuals = values[certain], vectors[:, certain], residuals[certain]
    count, error = pairs_up_to_a_gap(
        np.append(values, found.lower_bound), np.append(residuals, 0.0), want, tolerance
    )
    if error <= ACCURACY:
        vectors = _in_given_order(vectors[:, :count], order)
        return Eigenpairs(values[:count], vectors, found.lower_bound)
    # An exact eigenvector would stay in the block for ever, and hide others that have the same
    # or a smaller eigenvalue: hence the noise.
    block = rng.standard_normal((n, max(width, found.vectors.shape[1] + 8)))
    block /= np.linalg.norm(block, axis=0)
    block[:, : found.vectors.shape[1]] += 100 * found.vectors
    pairs = filtered_subspace_iteration(
        operator, block, want, tolerance, found.products, MOST_PRODUCTS, report
    )
    if pairs is None:
        return all_eigenpairs(given)
    values, vectors, residuals = pairs
    count, _ = pairs_up_to_a_gap(values, residuals, want, tolerance)
    lower_bound = float(values[count] - residuals[count])
    return Eigenpairs(values[:count], _in_given_order(vectors[:, :count], order), lower_bound)


def _operator(
    graph: QuotientGraph, want: int, rng: np.random.Generator, report: Report
) -> tuple[SpectralOperator, float, Floats]:
    """Choose an operator. Also returned are where to cut the spectrum, and a start vector."""
    n = len(graph.scale)
    if graph.is_tree:
        report(f"{n} classes of nodes: a tree")
        return TreeInverse(graph), inf, rng.standard_normal(n)
    polynomial = AdjacencyPolynomial(graph)
    report(f"{n} classes of nodes: estimating its smallest eigenvalues")
    values, vectors = ritz_estimates(polynomial, want + _ESTIMATION_PRODUCTS, rng)
    # These are upper bounds, so that all eigenvalues wanted lie below the cut.
    cut = min(max(float(values[want + 1]), 1.25 * float(values[want - 1])), 1.5)
    operator: SpectralOperator = polynomial
    if values[0] < _SMALL_EIGENVALUE:
        report("looking for a minimum-degree ordering")
        operator = PseudoInverse.within_budget(graph) or polynomial
    return operator, cut, vectors[: want + 2].sum(axis=0)


def _in_given_order(vectors: Floats, order: Ints | None) -> Floats:
    """Undo the renumbering of nodes."""
    if order is None:
        return vectors
    result = np.empty_like(vectors)
    result[order] = vectors
    return result


def all_eigenpairs(graph: QuotientGraph) -> Eigenpairs:
    """Return every eigenpair but that of the null vector, by a dense solver."""
    null_vector = graph.null_vector()
    # All eigenvalues are at most 2: 4 makes that of the null vector the last one.
    values, vectors = np.linalg.eigh(
        graph.dense_laplacian() + 4 * np.outer(null_vector, null_vector)
    )
    return Eigenpairs(values[:-1], vectors[:, :-1], inf)
