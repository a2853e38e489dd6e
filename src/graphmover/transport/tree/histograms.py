"""Histograms of labels, and an index from labels to the graphs that have them.

Functions take the array module ``xp``, NumPy or CuPy, of the arrays they are given.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from graphmover.transport.side import running_sums

#: The masses of a label are kept for all graphs, zeros included, if at least this share has it.
_DENSE = 0.25


class Histograms(NamedTuple):
    """How much of a graph's mass has each label of an index, graph by graph."""

    offsets: Any  # (graphs + 1,) the entries of graph g are offsets[g] to offsets[g + 1]
    ids: Any  # (entries,) 32-bit numbers of labels
    masses: Any  # (entries,) positive integers as floats
    totals: Any  # (graphs,) all mass of a graph, labels that are not in the index included


class LabelIndex(NamedTuple):
    """The graphs that have each label, and how much of it."""

    codes: tuple[Any, ...]  # of each depth: the codes of its labels, increasing
    totals: Any  # (graphs,) the mass of a graph
    offsets: Any  # (labels + 1,) the graphs with label l are offsets[l] to offsets[l + 1]
    graphs: Any  # (entries,) their 32-bit numbers, increasing
    masses: Any  # (entries,) their masses with this label
    row_of: Any  # (labels,) the row of a label that many graphs have; -1: of others
    rows: Any  # (rows, graphs) its mass in every graph

    @property
    def n_depths(self) -> int:
        """The number of label columns."""
        return len(self.codes)

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""
        return len(self.totals)


def depths(labels: Any) -> Any:
    """Return labels as an array (nodes, depths)."""
    return labels[:, np.newaxis] if labels.ndim == 1 else labels


def index_labels(xp: Any, labels: Any, masses: Any, offsets: Any) -> LabelIndex:
    """Return the index of a collection; ``offsets`` of its graphs are on the host."""
    labels = depths(labels)
    codes = tuple(xp.unique(labels[:, depth]) for depth in range(labels.shape[1]))
    found = _histograms(xp, codes, labels, masses, offsets)
    n_graphs, n_labels = len(offsets) - 1, sum(map(len, codes))
    graphs = _numbers(xp, found.offsets, len(found.ids))
    order = xp.argsort(found.ids, kind="stable")
    ids, graphs, amounts = found.ids[order], graphs[order], found.masses[order]
    counts = xp.bincount(ids, minlength=n_labels)
    row_of = xp.full(n_labels, -1, np.int32)
    dense = xp.flatnonzero(counts >= max(1.0, _DENSE * n_graphs))
    row_of[dense] = xp.arange(len(dense), dtype=np.int32)
    rows = xp.zeros((len(dense), n_graphs))
    if len(dense):
        in_rows = xp.flatnonzero(row_of[ids] >= 0)
        rows[row_of[ids[in_rows]], graphs[in_rows]] = amounts[in_rows]
    return LabelIndex(codes, found.totals, running_sums(xp, counts), graphs, amounts, row_of, rows)


def histograms(xp: Any, index: LabelIndex, labels: Any, masses: Any, offsets: Any) -> Histograms:
    """Return the histograms of graphs over the labels of an index."""
    return _histograms(xp, index.codes, depths(labels), masses, offsets)


def histograms_of_index(index: LabelIndex) -> Histograms:
    """Return the histograms of the graphs of an index, whose arrays are NumPy's, from it alone."""
    shape = (len(index.row_of), index.n_graphs)
    by_graph = csr_matrix((index.masses, index.graphs, index.offsets), shape=shape).tocsc()
    offsets, ids = by_graph.indptr.astype(np.int64), by_graph.indices.astype(np.int32)
    return Histograms(offsets, ids, by_graph.data, index.totals)


def _histograms(
    xp: Any, codes: tuple[Any, ...], labels: Any, masses: Any, offsets: Any
) -> Histograms:
    n_graphs, n_labels = len(offsets) - 1, sum(map(len, codes))
    places = xp.asarray(offsets)
    totals = xp.diff(running_sums(xp, masses)[places]).astype(np.float64)
    of_nodes = _numbers(xp, places, len(masses)).astype(np.int64)
    keys, amounts = [], []
    first = 0
    for depth, known in enumerate(codes):
        if len(known):
            at = xp.searchsorted(known, labels[:, depth])
            at = xp.minimum(at, len(known) - 1)
            kept = xp.flatnonzero((known[at] == labels[:, depth]) & (masses > 0))
            keys.append(of_nodes[kept] * n_labels + (first + at[kept]))
            amounts.append(masses[kept])
        first += len(known)
    key = xp.concatenate(keys) if keys else xp.zeros(0, np.int64)
    amount = xp.concatenate(amounts) if amounts else xp.zeros(0, np.int64)
    order = xp.argsort(key)
    key, sums = key[order], running_sums(xp, amount[order])
    starts = xp.flatnonzero(xp.concatenate([xp.ones(1, bool), key[1:] != key[:-1]])[: len(key)])
    merged = xp.diff(sums[xp.append(starts, len(key))]).astype(np.float64)
    graphs, ids = key[starts] // max(1, n_labels), key[starts] % max(1, n_labels)
    counts = xp.bincount(graphs, minlength=n_graphs)
    return Histograms(running_sums(xp, counts), ids.astype(np.int32), merged, totals)


def _numbers(xp: Any, offsets: Any, n: int) -> Any:
    """Return the number of the segment of each of n entries."""
    return (xp.searchsorted(offsets, xp.arange(n), side="right") - 1).astype(np.int32)
