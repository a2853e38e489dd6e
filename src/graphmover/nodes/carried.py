"""Columns of what nodes carry: their attributes, and their labels one-hot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.labels import label_codes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: More columns than this are not made of labels: they would hardly fit memory.
_MOST_LABELS = 10_000


def attribute_columns(
    batch: GraphBatch, first_index: int = 0, wanted: str = "node_embedding has attributes"
) -> Floats:
    """Return the node attributes, once they are known to be there and finite.

    ``wanted`` says why they are, in error messages.
    """
    attributes = batch.node_attributes
    if attributes is None or not attributes.shape[1]:
        raise ValueError(
            f"{wanted}, but not all graphs have node attributes: add them to all graphs, or leave "
            f"them out"
        )
    bad = np.flatnonzero(~np.isfinite(attributes).all(axis=1))
    if len(bad):
        node = bad[0]
        graph = int(np.searchsorted(batch.offsets, node, side="right")) - 1
        column = int(np.argmax(~np.isfinite(attributes[node])))
        raise ValueError(
            f"graph {first_index + graph}, node {node - batch.offsets[graph]}: attribute {column} "
            f"is {attributes[node, column]}, expected a finite number: fill in what is missing, "
            f"for example by the column's mean"
        )
    return attributes


def known_labels(batch: GraphBatch) -> Ints:
    """Return the codes of all labels of the training nodes, increasing."""
    return distinct_codes(_codes(batch), "labels")


def distinct_codes(codes: Ints, block: str) -> Ints:
    """Return different codes, increasing, if they are few enough for a column each."""
    distinct = np.unique(codes)
    if len(distinct) > _MOST_LABELS:
        raise ValueError(
            f'node_embedding has "{block}", but there are {len(distinct)} different labels, and '
            f"{_MOST_LABELS} columns at most: leave it out"
            + (", and use use_node_labels=True" if block == "labels" else "")
        )
    return distinct


def places_among(known: Ints, codes: Ints) -> Ints:
    """Return the place of each code among the known ones, which increase; -1 if unknown."""
    places = np.searchsorted(known, codes)
    return np.where(known[np.minimum(places, len(known) - 1)] == codes, places, -1)


def label_columns(batch: GraphBatch, known: Ints | None) -> Floats:
    """Return a column per known label, 1 where a node has it; other labels have none."""
    assert known is not None
    places = places_among(known, _codes(batch))
    columns = np.zeros((len(places), len(known)))
    found = np.flatnonzero(places >= 0)
    columns[found, places[found]] = 1.0
    return columns


def _codes(batch: GraphBatch) -> Ints:
    if batch.node_labels is None:
        raise ValueError(
            'node_embedding has "labels", but not all graphs have node labels: add them to all '
            "graphs, or leave it out"
        )
    return label_codes(batch.node_labels)
