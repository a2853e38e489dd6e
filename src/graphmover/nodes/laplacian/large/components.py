"""Large graphs, component by component, without a dense matrix of all nodes.

The spectrum is put together from parts that need no solver, and from as many eigenpairs of the
components as the first d columns take:

- each component with edges has the eigenvalue 0 once, with the eigenvector sqrt(degree);
- classes of twins have their own eigenvalues (`_twins.py`), isolated nodes the eigenvalue 1;
- the other eigenpairs of a component's quotient come from a dense solver where it is small, else
  from `_iterative.py`; and where d components fill all columns with zeros, none are needed as
  long as all other eigenvalues are known to be larger. A component of diameter D, volume V (the
  sum of its degrees) and least weight w has none but 0 below w / (D V).
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.segments import offsets_from_counts, ranges
from graphmover.nodes.laplacian.large.kernels import components, eccentricity
from graphmover.nodes.laplacian.large.operators import Component, Floats, Say
from graphmover.nodes.laplacian.large.subspace import all_eigenpairs, smallest_eigenpairs
from graphmover.nodes.laplacian.twins import quotient_graph, twin_classes, twin_values

Ints = NDArray[np.int64]


class _Part:
    """One component of two classes or more: what is known of its eigenpairs above its 0."""

    def __init__(self, classes: Ints) -> None:
        self.classes = classes
        self.values: Floats = np.empty(0)
        self.vectors: Floats = np.empty((len(classes), 0))
        self.beyond = 0.0  # all other eigenvalues are at least this

    def find(self, want: int, quotient: Component, same: float, dense: int, say: Say) -> None:
        graph = _induced(quotient, self.classes)
        if len(self.classes) <= dense:
            self.values, self.vectors = all_eigenpairs(graph)
            self.beyond = inf
        else:
            found = smallest_eigenpairs(graph, want, same, say)
            self.values, self.vectors, self.beyond = found


class _Entry(NamedTuple):
    """An eigenvalue, its multiplicity, and the diagonal of its projector on some classes."""

    value: float
    dimension: int
    classes: NDArray[np.int64]
    diagonal: Floats  # summed over the nodes of a class


def embed_large(
    rows: Ints,
    indices: NDArray[np.int32],
    weights: Floats,
    degrees: Floats,
    same: float,
    dense: int,
    say: Say,
    out: Floats,
) -> None:
    """Fill ``out``, one row per node of one graph; quotients of up to ``dense`` are dense."""
    n, d = out.shape
    class_of, members = np.empty(n, np.int64), np.empty(n, np.int64)
    firsts = twin_classes(rows, indices, weights, class_of, members)
    members = members[: len(firsts)]
    sizes = np.abs(members)
    twins = np.empty(len(firsts))
    twin_values(firsts, members, degrees, twins)
    quotient = _quotient(rows, indices, weights, degrees, class_of, members, firsts)
    fixed, parts = _without_solver(quotient, sizes, twins, same, d)
    n_zeros = fixed[0].dimension
    if n_zeros < d:
        for part in parts:
            part.find(d - n_zeros, quotient, same, dense, say)
    while True:
        entries = fixed + [
            _Entry(value, 1, part.classes, vector**2)
            for part in parts
            for value, vector in zip(part.values.tolist(), part.vectors.T, strict=True)
        ]
        entries = sorted((e for e in entries if e.dimension), key=lambda e: e.value)
        groups, last = _groups(entries, d, same)
        unknown = [part for part in parts if part.beyond <= last + same and part.beyond < inf]
        if not unknown:
            break
        for part in unknown:
            part.find(len(part.values) + 1, quotient, same, dense, say)
    column = 0
    for group in groups:
        dimension = sum(entry.dimension for entry in group)
        spread = np.zeros(len(firsts))
        for entry in group:
            spread[entry.classes] += entry.diagonal
        stop = min(d, column + dimension)
        out[:, column:stop] = np.sqrt(spread / sizes / dimension)[class_of, np.newaxis]
        column = stop


def _groups(entries: list[_Entry], d: int, same: float) -> tuple[list[list[_Entry]], float]:
    """Eigenvalues that count as one, as far as d columns reach; the last value of them."""
    groups: list[list[_Entry]] = []
    total, last = 0, -inf
    for entry in entries:
        if entry.value - last > same:
            if total >= d:
                return groups, last
            groups.append([])
        groups[-1].append(entry)
        total, last = total + entry.dimension, entry.value
    return groups, last if total >= d else inf


def _quotient(
    rows: Ints,
    indices: NDArray[np.int32],
    weights: Floats,
    degrees: Floats,
    class_of: Ints,
    members: Ints,
    firsts: Ints,
) -> Component:
    """Build the graph of classes; weights over the largest degree, so that nothing overflows."""
    largest = max(float(degrees.max()), 5e-324)
    indptr, neighbours, sums = quotient_graph(
        rows, indices, weights / largest, class_of, members, firsts
    )
    if not len(weights):
        sums = sums / largest
    own = degrees[firsts]
    loops = (members < 0) * (np.abs(members) - 1) / np.where(own > 0, own, 1.0)
    scale = np.sqrt(own / largest * np.abs(members))
    return Component(indptr, neighbours, sums, scale, loops)


def _without_solver(
    quotient: Component, sizes: Ints, twins: Floats, same: float, d: int
) -> tuple[list[_Entry], list[_Part]]:
    """List the eigenvalues known in advance, 0 first, and the components to solve."""
    labels = components(quotient.indptr, quotient.indices)
    count = int(labels.max()) + 1
    volumes = quotient.scale**2
    volume: Floats = np.bincount(labels, weights=volumes).astype(np.float64)
    with_edges = np.flatnonzero(volumes > 0)
    isolated = np.flatnonzero(volumes == 0)  # one class, or none
    shares = volumes[with_edges] / volume[labels[with_edges]]
    entries = [_Entry(0.0, len(np.unique(labels[with_edges])), with_edges, shares)]
    entries.append(_Entry(1.0, len(isolated), isolated, np.ones(len(isolated))))
    several = np.flatnonzero(sizes > 1)
    several = several[np.argsort(twins[several], kind="stable")]
    values, firsts = np.unique(twins[several], return_index=True)
    ends = [*firsts[1:].tolist(), len(several)]
    for value, first, last in zip(values.tolist(), firsts.tolist(), ends, strict=False):
        mine = several[first:last]
        own = (sizes[mine] - 1).astype(np.float64)
        entries.append(_Entry(value, int(own.sum()), mine, own))
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(count + 1))
    several_classes = np.flatnonzero(np.diff(starts) > 1)
    parts = [_Part(order[starts[label] : starts[label + 1]]) for label in several_classes]
    if entries[0].dimension >= d:
        bounds = _lower_bounds(quotient, sizes, labels, volume)
        for part in parts:
            part.beyond = float(bounds[labels[part.classes[0]]])
            if part.beyond <= same:
                graph = _induced(quotient, part.classes)
                diameter = max(2 * eccentricity(graph.indptr, graph.indices, 0), 2)
                part.beyond *= float(sizes[part.classes].sum()) / diameter
    return entries, parts


def _lower_bounds(quotient: Component, sizes: Ints, labels: Ints, volume: Floats) -> Floats:
    """Of each component a number that none of its eigenvalues but 0 is below: w / (n V)."""
    least = np.full(len(volume), inf)
    rows = np.repeat(np.arange(len(sizes)), np.diff(quotient.indptr))
    pairs = sizes[rows] * sizes[quotient.indices]
    np.minimum.at(least, labels[rows], quotient.weights / pairs)
    nodes = np.bincount(labels, weights=sizes)
    bounds: Floats = least / (nodes * np.where(volume > 0, volume, 1.0))
    return bounds


def _induced(quotient: Component, classes: Ints) -> Component:
    """One component on its own, its classes numbered from 0."""
    if len(classes) == len(quotient.scale):
        return quotient
    lengths = np.diff(quotient.indptr)[classes]
    at = ranges(quotient.indptr[classes], lengths)
    return Component(
        offsets_from_counts(lengths),
        np.searchsorted(classes, quotient.indices[at]).astype(np.int32),
        quotient.weights[at],
        quotient.scale[classes],
        quotient.diagonal[classes],
    )
