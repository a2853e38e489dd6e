"""Large graphs, component by component, without a dense matrix of all nodes.

The spectrum is put together from eigenvalues in closed form, and from as many eigenpairs of the
components as the first d columns need:

- each component with edges has the eigenvalue 0 once, with the eigenvector sqrt(degree);
- classes of twins have their own eigenvalues (`twins.py`), isolated nodes the eigenvalue 1;
- the other eigenpairs of a component come from `eigenpairs.py`. Where d components fill all
  columns with zeros, none are needed as long as all other eigenvalues are known to be larger: a
  component of diameter D, volume V (the sum of its degrees) and least weight w has none but 0
  below w / (D V) (Chung 1997, lemma 1.9).
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.nodes.laplacian.eigenspaces import eigenspace, fill_eigenspace
from graphmover.nodes.laplacian.large.eigenpairs import (
    Eigenpairs,
    all_eigenpairs,
    smallest_eigenpairs,
)
from graphmover.nodes.laplacian.large.kernels import components, eccentricity
from graphmover.nodes.laplacian.large.lanczos import Report
from graphmover.nodes.laplacian.large.quotient import Floats, Ints, QuotientGraph, quotient_of
from graphmover.nodes.laplacian.twins import twin_classes, twin_eigenvalues


class _Component:
    """One component of two classes or more, and its eigenpairs above 0 that are known."""

    def __init__(self, classes: Ints) -> None:
        self.classes = classes
        self.pairs = Eigenpairs(np.empty(0), np.empty((len(classes), 0)), 0.0)

    def find(
        self, want: int, quotient: QuotientGraph, tolerance: float, dense: int, report: Report
    ) -> None:
        graph = quotient.component(self.classes)
        if len(self.classes) <= dense:
            self.pairs = all_eigenpairs(graph)
        else:
            self.pairs = smallest_eigenpairs(graph, want, tolerance, report)


class _Eigenvalue(NamedTuple):
    """An eigenvalue, its multiplicity, and the diagonal of its projector on some classes."""

    value: float
    multiplicity: int
    classes: Ints
    diagonal: Floats  # summed over the nodes of a class


class _Eigenspace(NamedTuple):
    """The eigenvalues first to stop - 1 of a sorted spectrum, which count as one."""

    first: int
    stop: int
    dimension: int


def embed_large(
    rows: Ints,
    indices: NDArray[np.int32],
    weights: Floats,
    degrees: Floats,
    tolerance: float,
    dense: int,
    report: Report,
    out: Floats,
) -> None:
    """Fill ``out``, one row per node of one graph; components of up to ``dense`` are dense."""
    n, d = out.shape
    class_of, members = np.empty(n, np.int64), np.empty(n, np.int64)
    firsts = twin_classes(rows, indices, weights, class_of, members)
    members = members[: len(firsts)]
    sizes = np.abs(members)
    twins = np.empty(len(firsts))
    twin_eigenvalues(firsts, members, degrees, twins)
    quotient = quotient_of(rows, indices, weights, degrees, class_of, members, firsts)
    closed_form, unsolved = _closed_form_spectrum(quotient, sizes, twins, tolerance, d)
    n_zeros = closed_form[0].multiplicity
    if n_zeros < d:
        for component in unsolved:
            component.find(d - n_zeros, quotient, tolerance, dense, report)
    while True:
        spectrum = closed_form + [
            _Eigenvalue(value, 1, component.classes, vector**2)
            for component in unsolved
            for value, vector in zip(
                component.pairs.values.tolist(), component.pairs.vectors.T, strict=True
            )
        ]
        spectrum = sorted((e for e in spectrum if e.multiplicity), key=lambda e: e.value)
        eigenspaces, last = _leading_eigenspaces(spectrum, d, tolerance)
        # A component whose next eigenvalue could belong to the last eigenspace, or before it.
        uncertain = [
            component
            for component in unsolved
            if component.pairs.lower_bound <= last + tolerance and component.pairs.lower_bound < inf
        ]
        if not uncertain:
            break
        for component in uncertain:
            want = len(component.pairs.values) + 1
            component.find(want, quotient, tolerance, dense, report)
    column = 0
    for space in eigenspaces:
        diagonal = np.zeros(len(firsts))
        for eigenvalue in spectrum[space.first : space.stop]:
            diagonal[eigenvalue.classes] += eigenvalue.diagonal
        column = fill_eigenspace(diagonal / sizes, space.dimension, class_of, column, out)


def _leading_eigenspaces(
    spectrum: list[_Eigenvalue], d: int, tolerance: float
) -> tuple[list[_Eigenspace], float]:
    """Return the eigenspaces that d columns need, and their largest eigenvalue.

    It is infinite where the spectrum has fewer than d eigenvalues.
    """
    values = np.array([eigenvalue.value for eigenvalue in spectrum])
    multiplicities = np.array([eigenvalue.multiplicity for eigenvalue in spectrum], np.int64)
    spaces: list[_Eigenspace] = []
    column = stop = 0
    while column < d and stop < len(values):
        first = stop
        stop, dimension = eigenspace(values, multiplicities, first, tolerance)
        spaces.append(_Eigenspace(first, stop, dimension))
        column += dimension
    return spaces, float(values[stop - 1]) if column >= d else inf


def _closed_form_spectrum(
    quotient: QuotientGraph, sizes: Ints, twins: Floats, tolerance: float, d: int
) -> tuple[list[_Eigenvalue], list[_Component]]:
    """List the eigenvalues in closed form, 0 first, and the components that have others."""
    labels = components(quotient.indptr, quotient.indices)
    count = int(labels.max()) + 1
    volumes = quotient.scale**2
    volume: Floats = np.bincount(labels, weights=volumes).astype(np.float64)
    with_edges = np.flatnonzero(volumes > 0)
    isolated = np.flatnonzero(volumes == 0)  # all isolated nodes are twins: one class, or none
    shares = volumes[with_edges] / volume[labels[with_edges]]
    spectrum = [_Eigenvalue(0.0, len(np.unique(labels[with_edges])), with_edges, shares)]
    spectrum.append(_Eigenvalue(1.0, len(isolated), isolated, np.ones(len(isolated))))
    several = np.flatnonzero(sizes > 1)
    several = several[np.argsort(twins[several], kind="stable")]
    values, firsts = np.unique(twins[several], return_index=True)
    ends = [*firsts[1:].tolist(), len(several)]
    for value, first, last in zip(values.tolist(), firsts.tolist(), ends, strict=False):
        classes = several[first:last]
        own = (sizes[classes] - 1).astype(np.float64)
        spectrum.append(_Eigenvalue(value, int(own.sum()), classes, own))
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(count + 1))
    several_classes = np.flatnonzero(np.diff(starts) > 1)
    unsolved = [_Component(order[starts[label] : starts[label + 1]]) for label in several_classes]
    if spectrum[0].multiplicity >= d:
        bounds = _lower_bounds(quotient, sizes, labels, volume)
        for component in unsolved:
            bound = float(bounds[labels[component.classes[0]]])
            if bound <= tolerance:
                # Bound the diameter by breadth-first search rather than by the number of nodes.
                graph = quotient.component(component.classes)
                diameter = max(2 * eccentricity(graph.indptr, graph.indices, 0), 2)
                bound *= float(sizes[component.classes].sum()) / diameter
            component.pairs = component.pairs._replace(lower_bound=bound)
    return spectrum, unsolved


def _lower_bounds(quotient: QuotientGraph, sizes: Ints, labels: Ints, volume: Floats) -> Floats:
    """Return w / (n V) of each component: a lower bound of all its eigenvalues but 0."""
    least = np.full(len(volume), inf)
    rows = np.repeat(np.arange(len(sizes)), np.diff(quotient.indptr))
    pairs = sizes[rows] * sizes[quotient.indices]
    np.minimum.at(least, labels[rows], quotient.weights / pairs)
    nodes = np.bincount(labels, weights=sizes)
    bounds: Floats = least / (nodes * np.where(volume > 0, volume, 1.0))
    return bounds
