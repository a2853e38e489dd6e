"""Eigenspaces of a sorted spectrum, and the columns sqrt(diag(P) / m) that they make.

Consecutive eigenvalues that differ by no more than a tolerance count as one. Its eigenspace, of
dimension m with the projector P, makes m columns, and is needed whole as soon as one of them
is. Both solvers share `eigenspace` and `fill_eigenspace`; `eigenspaces.cuh` mirrors them on a GPU,
and `test_points_of_small_and_large_graphs` compares the two.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from graphmover._utils.jit import JIT, njit


@njit(**JIT)
def eigenspace(values, multiplicities, first, tolerance):
    """Where the eigenspace ends that begins with the sorted eigenvalue ``first``.

    Returned are the number of the first eigenvalue behind it, and its dimension.
    """
    stop, dimension = first + 1, multiplicities[first]
    while stop < len(values) and values[stop] - values[stop - 1] <= tolerance:
        dimension += multiplicities[stop]
        stop += 1
    return stop, dimension


@njit(**JIT)
def fill_eigenspace(diagonal, dimension, class_of, first, out):
    """Fill an eigenspace's columns from column ``first`` on; return the next free column.

    ``diagonal`` is that of the projector, for one node of each class; it is overwritten.
    """
    stop = min(out.shape[1], first + dimension)
    for c in range(len(diagonal)):
        diagonal[c] = sqrt(diagonal[c] / dimension)
    for v in range(len(class_of)):
        for k in range(first, stop):
            out[v, k] = diagonal[class_of[v]]
    return stop


@njit(**JIT)
def merged_spectrum(values, twins, members, order):
    """Merge the quotient's eigenvalues with those of the classes of twins (`twins.py`).

    ``order`` sorts the eigenvalues ``twins`` of the classes. Returned are the eigenvalues, their
    multiplicities and their sources: i for row i of the quotient's eigenvectors, -1 - c for the
    class c.
    """
    total = len(values) + len(order)
    merged = np.empty(total)
    multiplicities, sources = np.empty(total, np.int64), np.empty(total, np.int64)
    i = j = 0
    for k in range(total):
        if j == len(order) or (i < len(values) and values[i] <= twins[order[j]]):
            merged[k], multiplicities[k], sources[k] = values[i], 1, i
            i += 1
        else:
            c = order[j]
            merged[k], multiplicities[k], sources[k] = twins[c], abs(members[c]) - 1, -1 - c
            j += 1
    return merged, multiplicities, sources


@njit(**JIT)
def eigenvalues_needed(values, more, twins, members, order, d, tolerance):
    """How many of the quotient's ``values`` the first d columns need; -1: more than these.

    ``more`` says whether the quotient has eigenvalues beyond ``values``. Where all of these are
    needed, the next one could belong to the last eigenspace, too.
    """
    merged, multiplicities, sources = merged_spectrum(values, twins, members, order)
    column = stop = 0
    while column < d and stop < len(merged):
        stop, dimension = eigenspace(merged, multiplicities, stop, tolerance)
        column += dimension
    needed = 0
    for source in sources[:stop]:
        needed += source >= 0
    return -1 if more and needed == len(values) else needed


@njit(**JIT)
def fill_columns(values, vectors, twins, members, order, class_of, tolerance, out):
    """Fill ``out``, one row per node, from the quotient's eigenvectors, the rows of vectors."""
    merged, multiplicities, sources = merged_spectrum(values, twins, members, order)
    diagonal = np.empty(len(members))
    column = stop = 0
    while column < out.shape[1] and stop < len(merged):
        first = stop
        stop, dimension = eigenspace(merged, multiplicities, first, tolerance)
        diagonal[:] = 0.0
        for source in sources[first:stop]:
            if source >= 0:
                for c in range(len(members)):
                    diagonal[c] += vectors[source, c] * vectors[source, c] / abs(members[c])
            else:
                t = abs(members[-1 - source])
                diagonal[-1 - source] += (t - 1) / t
        column = fill_eigenspace(diagonal, dimension, class_of, column, out)
