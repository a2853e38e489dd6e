"""Which eigenvectors the first d columns need, and the columns made of them.

The spectrum is the union of the quotient's eigenvalues and those of the classes of twins
(`_twins.py`). Eigenvalues that follow each other closer than a tolerance count as one, and
its whole space is needed as soon as one of its columns is.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

from graphmover._utils.jit import JIT


@njit(**JIT)
def eigenvalues_needed(values, more, twins, members, order, d, same):
    """How many of the quotient's ``values`` the first d columns need; -1: more than these.

    ``order`` sorts the eigenvalues ``twins`` of the classes; ``more`` tells whether the
    quotient has eigenvalues beyond ``values``.
    """
    i = j = total = 0
    last = -np.inf
    while True:
        twin = twins[order[j]] if j < len(order) else np.inf
        if i == len(values) and more:
            return -1
        value = values[i] if i < len(values) else np.inf
        smallest = min(value, twin)
        if total >= d and smallest - last > same:
            return i
        if smallest == np.inf:
            return i
        if value <= twin:
            total += 1
            i += 1
        else:
            total += abs(members[order[j]]) - 1
            j += 1
        last = smallest


@njit(**JIT)
def fill_columns(values, vectors, twins, members, order, class_of, same, out):
    """Fill ``out``, one row per node, from the quotient's eigenvectors, the rows of vectors."""
    d = out.shape[1]
    spread = np.zeros(len(members))
    i = j = column = 0
    while column < d:
        spread[:] = 0.0
        dimension = 0
        last = -np.inf
        while True:
            value = values[i] if i < len(values) else np.inf
            twin = twins[order[j]] if j < len(order) else np.inf
            smallest = min(value, twin)
            if smallest == np.inf or (dimension and smallest - last > same):
                break
            if value <= twin:
                for c in range(len(members)):
                    spread[c] += vectors[i, c] * vectors[i, c] / abs(members[c])
                dimension += 1
                i += 1
            else:
                c = order[j]
                t = abs(members[c])
                spread[c] += (t - 1) / t
                dimension += t - 1
                j += 1
            last = smallest
        if dimension == 0:
            return
        stop = min(d, column + dimension)
        for c in range(len(members)):
            spread[c] = sqrt(spread[c] / dimension)
        for v in range(len(class_of)):
            for k in range(column, stop):
                out[v, k] = spread[class_of[v]]
        column = stop
