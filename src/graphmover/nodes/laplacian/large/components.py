"""Large graphs, component by component, without a dense matrix of all nodes.

The spectrum is put together from eigenvalues in closed form, and from as many eigenpairs of the
components as the first d columns need:

- each component with edges has the eigenvalue 0 once, with the eigenvector sqrt(degree);
- classes of twins have their own eigenvalues (`twins.py`), isolated nodes the eigenvalue 1;
- equal branches have the eigenvalues of one of them (`branches.py`), which are computed where a
  count shows that the first d columns need them;
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
from graphmover.nodes.laplacian.large.branches import Branches, merge_equal_branches
from graphmover.nodes.laplacian.large.eigenpairs import (
    Eigenpairs,
    all_eigenpairs,
    smallest_eigenpairs,
)
from graphmover.nodes.laplacian.large.kernels import components, eccentricity
from graphmover.nodes.laplacian.large.lanczos import Report
from graphmover.nodes.laplacian.large.quotient import Floats, Ints, QuotientGraph, quotient_of
from graphmover.nodes.laplacian.twins import twin_classes, twin_eigenvalues


class _Classes(NamedTuple):
    """The classes of nodes that are equal as twins or in equal branches, and their graph."""

    graph: QuotientGraph
    of_node: Ints  # the class of each node
    sizes: Ints  # the number of nodes of each class
    copies: Ints  # the number of classes of twins that each was merged from
    twins: Floats  # the eigenvalue of each class's twins
    branches: Branches | None


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


class _Part:
    """One component of two classes or more, or one of several equal branches."""

    def __init__(self, classes: Ints, parent: int = -1, multiplicity: int = 1) -> None:
        self.classes = classes
        self.parent = parent  # where a branch hangs; -1: a component
        self.multiplicity = multiplicity  # of each of its eigenvalues in the whole graph
        # The eigenpairs that are known, apart from a component's eigenvalue 0.
        self.pairs = Eigenpairs(np.empty(0), np.empty((len(classes), 0)), 0.0)

    def find(
        self, want: int, quotient: QuotientGraph, tolerance: float, dense: int, report: Report
    ) -> None:
        """Find at least this many eigenpairs."""
        if self.parent < 0:
            graph = quotient.component(self.classes)
        else:
            graph = quotient.branch(self.classes, self.parent)
        if len(self.classes) <= dense:
            pairs = all_eigenpairs(graph)
        else:
            pairs = smallest_eigenpairs(graph, want, tolerance, report)
        # The grounded node of a branch is none of its classes.
        self.pairs = pairs._replace(vectors=pairs.vectors[: len(self.classes)])

    def spectrum(self) -> list[_Eigenvalue]:
        """List the eigenvalues that are known."""
        return [
            _Eigenvalue(value, self.multiplicity, self.classes, self.multiplicity * vector**2)
            for value, vector in zip(self.pairs.values.tolist(), self.pairs.vectors.T, strict=True)
        ]


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
    d = out.shape[1]
    classes = _classes(rows, indices, weights, degrees)
    closed_form, solvable = _closed_form_spectrum(classes, tolerance, d)
    branches: dict[int, _Part] = {}  # those needed, by their roots
    n_zeros = closed_form[0].multiplicity
    unsolved = [(component, d - n_zeros) for component in solvable] if n_zeros < d else []
    while True:
        for part, want in unsolved:
            part.find(want, classes.graph, tolerance, dense, report)
        parts = [*solvable, *branches.values()]
        spectrum = closed_form + [eigenvalue for part in parts for eigenvalue in part.spectrum()]
        spectrum = sorted((e for e in spectrum if e.multiplicity), key=lambda e: e.value)
        eigenspaces, last = _leading_eigenspaces(spectrum, d, tolerance)
        # Components whose next eigenvalue could belong to the last eigenspace, or before it.
        unsolved = [
            (component, _more_than(len(component.pairs.values), classes.branches))
            for component in solvable
            if component.pairs.lower_bound <= last + tolerance and component.pairs.lower_bound < inf
        ]
        unsolved += _unsolved_branches(classes.branches, branches, last + tolerance)
        if not unsolved:
            break
    column = 0
    for space in eigenspaces:
        diagonal = np.zeros(len(classes.sizes))
        for eigenvalue in spectrum[space.first : space.stop]:
            diagonal[eigenvalue.classes] += eigenvalue.diagonal
        diagonal /= classes.sizes
        column = fill_eigenspace(diagonal, space.dimension, classes.of_node, column, out)


def _classes(rows: Ints, indices: NDArray[np.int32], weights: Floats, degrees: Floats) -> _Classes:
    """Merge twins, then equal branches."""
    n = len(degrees)
    of_node, members = np.empty(n, np.int64), np.empty(n, np.int64)
    firsts = twin_classes(rows, indices, weights, of_node, members)
    members = members[: len(firsts)]
    twins = np.empty(len(firsts))
    twin_eigenvalues(firsts, members, degrees, twins)
    graph = quotient_of(rows, indices, weights, degrees, of_node, members, firsts)
    sizes = np.abs(members)
    branches = merge_equal_branches(graph, sizes)
    if branches is None:
        return _Classes(graph, of_node, sizes, np.ones(len(sizes), np.int64), twins, None)
    return _Classes(
        branches.graph,
        branches.node_of[of_node],
        sizes[branches.kept] * branches.copies,
        branches.copies,
        twins[branches.kept],
        branches,
    )


def _unsolved_branches(
    branches: Branches | None, known: dict[int, _Part], bound: float
) -> list[tuple[_Part, int]]:
    """Return branches with more eigenvalues below a bound than are known, and how many."""
    unsolved: list[tuple[_Part, int]] = []
    if branches is None:
        return unsolved
    for root, count in branches.with_eigenvalues_below(min(bound, 3.0)):  # all are at most 2
        if root not in known:
            parent = int(branches.parent[root])
            known[root] = _Part(branches.nodes(root), parent, branches.multiplicity(root))
        n_known = len(known[root].pairs.values)
        if count > n_known:
            unsolved.append((known[root], max(count, _more_than(n_known, branches))))
    return unsolved


def _more_than(n_known: int, branches: Branches | None) -> int:
    """Return how many eigenpairs to ask for next.

    The eigenvalues of a graph and of its branches alternate. Where many are closer than the
    tolerance, each of the two would ask the other for one more, again and again.
    """
    return n_known + 1 if branches is None else n_known + max(1, n_known // 2)


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
    classes: _Classes, tolerance: float, d: int
) -> tuple[list[_Eigenvalue], list[_Part]]:
    """List the eigenvalues in closed form, 0 first, and the components that have others."""
    quotient = classes.graph
    labels = components(quotient.indptr, quotient.indices)
    count = int(labels.max()) + 1
    volumes = quotient.scale**2
    volume: Floats = np.bincount(labels, weights=volumes).astype(np.float64)
    with_edges = np.flatnonzero(volumes > 0)
    isolated = np.flatnonzero(volumes == 0)  # all isolated nodes are twins: one class, or none
    shares = volumes[with_edges] / volume[labels[with_edges]]
    spectrum = [_Eigenvalue(0.0, len(np.unique(labels[with_edges])), with_edges, shares)]
    spectrum.append(_Eigenvalue(1.0, len(isolated), isolated, np.ones(len(isolated))))
    several = np.flatnonzero(classes.sizes > classes.copies)
    several = several[np.argsort(classes.twins[several], kind="stable")]
    values, firsts = np.unique(classes.twins[several], return_index=True)
    ends = [*firsts[1:].tolist(), len(several)]
    for value, first, last in zip(values.tolist(), firsts.tolist(), ends, strict=False):
        twins = several[first:last]
        own = (classes.sizes[twins] - classes.copies[twins]).astype(np.float64)
        spectrum.append(_Eigenvalue(value, int(own.sum()), twins, own))
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(count + 1))
    several_classes = np.flatnonzero(np.diff(starts) > 1)
    unsolved = [_Part(order[starts[label] : starts[label + 1]]) for label in several_classes]
    if spectrum[0].multiplicity >= d:
        bounds = _lower_bounds(classes, labels, volume)
        for component in unsolved:
            bound = float(bounds[labels[component.classes[0]]])
            if bound <= tolerance:
                # Bound the diameter by breadth-first search rather than by the number of nodes.
                graph = quotient.component(component.classes)
                # Seen from a class that is in no branch, merging has changed no distance.
                start = int(np.argmin(classes.copies[component.classes]))
                diameter = max(2 * eccentricity(graph.indptr, graph.indices, start), 2)
                bound *= float(classes.sizes[component.classes].sum()) / diameter
            component.pairs = component.pairs._replace(lower_bound=bound)
    return spectrum, unsolved


def _lower_bounds(classes: _Classes, labels: Ints, volume: Floats) -> Floats:
    """Return w / (n V) of each component: a lower bound of all its eigenvalues but 0."""
    quotient, sizes, copies = classes.graph, classes.sizes, classes.copies
    least = np.full(len(volume), inf)
    rows = np.repeat(np.arange(len(sizes)), np.diff(quotient.indptr))
    # An edge joins all twins of two classes, but only within one copy of the upper class.
    pairs = sizes[rows] * sizes[quotient.indices]
    pairs //= np.minimum(copies[rows], copies[quotient.indices])
    np.minimum.at(least, labels[rows], quotient.weights / pairs)
    nodes = np.bincount(labels, weights=sizes)
    bounds: Floats = least / (nodes * np.where(volume > 0, volume, 1.0))
    return bounds
