"""Attributes that encode categories, read as labels: equal vectors become equal labels.

Many libraries store labels as numbers: one-hot columns, as in ``x`` and ``edge_attr`` of PyTorch
Geometric's TU data sets, or several integers, as for the atoms of molecules. Read as labels, they
can be refined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.hashing import GOLDEN, mix64
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.carried import attribute_columns
from graphmover.nodes.carried_by_edges import checked_edge_attributes
from graphmover.nodes.labels import wl_labels
from graphmover.parameters import ATTRIBUTES_AS_LABELS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Neighbourhoods recur if at least this share of the nodes has a label, refined this many times,
#: that a node of another graph has, too: in molecules 0.83 or more, in small proteins 0.55, in
#: large ones 0.01.
_RECURRING_SHARE = 0.75
_RECURRING_DEPTH = 2

#: Vectors that are not one-hot are taken for labels if there are at most this many different ones,
#: and each occurs on ten nodes or edges on average. Others recur in copies of a graph alone.
_MOST_KINDS = 1000
_LEAST_PER_KIND = 10

#: In place of a number of columns: whatever number there is.
_ANY = -1


class ReadAsLabels(NamedTuple):
    """Whether the attributes of nodes, and those of edges, are read as labels.

    Each is a number of columns: 0 if they are not read, -1 before `fit` has seen the number.
    """

    nodes: int = 0
    edges: int = 0

    @classmethod
    def of_choice(cls, choice: str) -> ReadAsLabels:
        """Return what an estimator's ``attributes_as_labels`` asks for."""
        return cls(
            _ANY if choice in ("nodes", "both") else 0, _ANY if choice in ("edges", "both") else 0
        )

    @property
    def choice(self) -> str:
        """What an estimator's ``attributes_as_labels`` would ask for."""
        return _choice(bool(self.nodes), bool(self.edges))

    def fitted_to(self, batch: GraphBatch) -> ReadAsLabels:
        """Return the same with numbers of columns, which later graphs must have, too."""
        node_table, edge_table = batch.node_attributes, batch.edge_attributes
        return ReadAsLabels(
            node_table.shape[1] if self.nodes and node_table is not None else self.nodes,
            edge_table.shape[1] if self.edges and edge_table is not None else self.edges,
        )

    def of(self, batch: GraphBatch, first_index: int = 0) -> GraphBatch:
        """Return the graphs with labels in place of what is read as such."""
        if not any(self):
            return batch
        node_labels, edge_labels = batch.node_labels, batch.edge_labels
        if self.nodes and batch.n_nodes:
            wanted = f'attributes_as_labels="{self.choice}"'
            table = attribute_columns(batch, first_index, wanted)
            node_labels = row_codes(_of_width(table, self.nodes, "node"))
        if self.edges and len(batch.indices):
            if batch.edge_attributes is None:
                raise ValueError(
                    f'attributes_as_labels="{self.choice}", but not all graphs have edge '
                    f"attributes: add them to all graphs, or leave them out"
                )
            table = checked_edge_attributes(batch, batch.edge_attributes, first_index)
            edge_labels = row_codes(_of_width(table, self.edges, "edge"))
        return GraphBatch(
            batch.offsets,
            batch.indptr,
            batch.indices,
            batch.edge_weights,
            node_labels,
            batch.node_attributes,
            edge_labels,
            batch.edge_attributes,
            batch.ids,
        )


def row_codes(table: Floats) -> Ints:
    """Return a stable 64-bit code per row; equal rows have equal codes."""
    codes = np.zeros(len(table), np.uint64)
    for column in table.T:
        bits = (column + 0.0).view(np.uint64)  # -0.0 equals 0.0
        codes = mix64((codes ^ mix64(bits + GOLDEN)) + GOLDEN)
    labels: Ints = codes.view(np.int64)
    return labels


def read_by_default(batch: GraphBatch) -> str:
    """Return the ``attributes_as_labels`` that suits these graphs.

    Read as labels are one-hot vectors, and those by which neighbourhoods recur as they do in
    molecules. Where there are labels, they stay.
    """
    nodes = edges = False
    if batch.node_labels is None and (table := batch.node_attributes) is not None:
        nodes = is_one_hot(table) or _are_kinds(table, batch, ReadAsLabels(nodes=_ANY))
    if batch.edge_labels is None and (table := batch.edge_attributes) is not None:
        read = ReadAsLabels(_ANY if nodes else 0, _ANY)
        edges = is_one_hot(table) or _are_kinds(table, batch, read)
    return _choice(nodes, edges)


def _choice(nodes: bool, edges: bool) -> str:
    return ATTRIBUTES_AS_LABELS[nodes + 2 * edges]


def is_one_hot(table: Floats) -> bool:
    """Return whether each row has a single 1 among zeros, in two columns or more."""
    if not len(table) or table.shape[1] < 2:
        return False
    is_one = table == 1.0
    return bool((is_one.sum(axis=1) == 1).all() and (np.count_nonzero(table, axis=1) == 1).all())


def neighbourhoods_recur(batch: GraphBatch) -> bool:
    """Return whether most nodes have a neighbourhood that some node of another graph has, too."""
    if not batch.n_nodes:
        return False
    labels = wl_labels(batch, _RECURRING_DEPTH, use_edge_labels=batch.edge_labels is not None)
    _, code = np.unique(labels, return_inverse=True)
    graph = np.repeat(np.arange(len(batch)), batch.node_counts)
    first, last = np.full(code.max() + 1, len(batch)), np.full(code.max() + 1, -1)
    np.minimum.at(first, code, graph)
    np.maximum.at(last, code, graph)
    return bool((first != last)[code].mean() >= _RECURRING_SHARE)


def _are_kinds(table: Floats, batch: GraphBatch, read: ReadAsLabels) -> bool:
    """Return whether vectors are few, and neighbourhoods still recur if they are labels."""
    if not table.size or not np.isfinite(table).all():
        return False
    n_kinds = len(np.unique(row_codes(table)))
    most = min(_MOST_KINDS, len(table) // _LEAST_PER_KIND)
    return 1 < n_kinds <= most and neighbourhoods_recur(read.of(batch))


def _of_width(table: Floats, n_columns: int, kind: str) -> Floats:
    if n_columns > 0 and table.shape[1] != n_columns:
        raise ValueError(
            f"the model reads {n_columns} attributes of each {kind} as its label, but these graphs "
            f"have {table.shape[1]}"
        )
    return table
