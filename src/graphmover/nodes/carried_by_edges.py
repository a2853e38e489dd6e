"""Columns of what a node's edges carry: the mean of their labels, one-hot, and attributes.

Edge weights weigh. Labels and attributes may differ between u -> v and v -> u: those of u -> v, as
they stand in u's row, count for u. A node without edges has zeros.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.jit import JIT, NO_WEIGHTS, njit
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.carried import distinct_codes, places_among
from graphmover.nodes.labels import label_codes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def known_edge_labels(batch: GraphBatch) -> Ints:
    """Return the codes of all edge labels of the training graphs, increasing; perhaps none."""
    if batch.edge_labels is None:
        return np.empty(0, np.int64)
    return distinct_codes(label_codes(batch.edge_labels), "edges")


def edge_columns(
    batch: GraphBatch,
    degrees: Floats,
    known: Ints,
    n_columns: int | None = None,
    first_index: int = 0,
) -> Floats:
    """Return a column per known label, then one per attribute.

    ``n_columns`` is how many there were in fit, of graphs that had only labels, only attributes or
    both; None: these are the graphs of fit.
    """
    if n_columns is not None and not len(batch.indices):
        return np.zeros((batch.n_nodes, n_columns))
    if len(known) and batch.edge_labels is None:
        raise _lacking("edge labels")
    places = np.empty(0, np.int64)
    if len(known) and batch.edge_labels is not None:
        places = places_among(known, label_codes(batch.edge_labels))
    attributes = np.empty((len(batch.indices), 0))
    attributes.flags.writeable = False  # as a batch's own: one compiled copy for both
    if n_columns is None or n_columns > len(known):
        if batch.edge_attributes is not None:
            attributes = checked_edge_attributes(batch, batch.edge_attributes, first_index)
        elif n_columns is not None:
            raise _lacking("edge attributes")
    if not len(known) and not attributes.shape[1]:
        raise _lacking("edge labels, or edge attributes")
    columns = np.zeros((batch.n_nodes, len(known) + attributes.shape[1]))
    weights = NO_WEIGHTS if batch.edge_weights is None else batch.edge_weights
    _add_means(batch.indptr, weights, degrees, places, len(known), attributes, columns)
    return columns


def _lacking(what: str) -> ValueError:
    return ValueError(
        f'node_embedding has "edges", but not all graphs have {what}: add them to all graphs, '
        f"or leave it out"
    )


def checked_edge_attributes(batch: GraphBatch, attributes: Floats, first_index: int) -> Floats:
    """Return attributes of edges, once they are known to be finite."""
    bad = np.flatnonzero(~np.isfinite(attributes).all(axis=1))
    if len(bad):
        node = int(np.searchsorted(batch.indptr, bad[0], side="right")) - 1
        graph = int(np.searchsorted(batch.offsets, node, side="right")) - 1
        column = int(np.argmax(~np.isfinite(attributes[bad[0]])))
        raise ValueError(
            f"graph {first_index + graph}, edge {node - batch.offsets[graph]} -> "
            f"{batch.indices[bad[0]]}: attribute {column} is {attributes[bad[0], column]}, "
            f"expected a finite number: fill in what is missing, for example by the column's mean"
        )
    return attributes


@njit(**JIT)
def _add_means(indptr, weights, degrees, places, n_labels, attributes, out):
    for v in range(len(indptr) - 1):
        for i in range(indptr[v], indptr[v + 1]):
            share = (weights[i] if len(weights) else 1.0) / degrees[v]
            if n_labels and places[i] >= 0:
                out[v, places[i]] += share
            for c in range(attributes.shape[1]):
                out[v, n_labels + c] += share * attributes[i, c]
