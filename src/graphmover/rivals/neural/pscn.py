"""PATCHY-SAN, PSCN (Niepert, Ahmed and Kutzkov 2016): receptive fields by canonical order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.labels import wl_labels
from graphmover.rivals.base import Floats, Ints
from graphmover.rivals.betweenness import edge_betweenness
from graphmover.rivals.neural.training import NeuralClassifier
from graphmover.rivals.optional import optional

#: Nodes of a receptive field, and filters of both convolutions.
_FIELD, _FILTERS, _SECOND = 10, (16, 8), 10


class _Prepared(NamedTuple):
    points: Floats  # of all nodes, and zeros
    fields: Ints  # (graphs, width * _FIELD): rows of points, the last where there is no node


class _Fields(NamedTuple):
    x: Any  # (graphs, n_features, width * _FIELD)


class PSCNClassifier(NeuralClassifier):
    """The first w nodes of a graph, each with its nearest ten in canonical order, convolved.

    w is the mean number of nodes of the training graphs. Nodes are ordered by betweenness, then by
    degree, then by Weisfeiler-Lehman label; a field is ordered by the distance from its node and
    then in the same way. Fields that are too small are filled up with zeros. ``hidden`` is the
    size of the dense layer; the other parameters are those of all networks, `NeuralClassifier`,
    with a smaller learning rate.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import PSCNClassifier
    >>> graphs, families = gm.make_graph_families(24, random_state=0, return_X_y=True)
    >>> PSCNClassifier(8, epochs=2, random_state=0).fit(graphs, families).predict(graphs).shape
    (24,)
    """

    def __init__(
        self,
        hidden: int = 64,
        *,
        learning_rate: float = 0.001,
        batch_size: int = 64,
        epochs: int = 300,
        patience: int = 40,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            hidden,
            learning_rate=learning_rate,
            batch_size=batch_size,
            epochs=epochs,
            patience=patience,
            random_state=random_state,
        )

    def _learn(self, batch: GraphBatch) -> None:
        super()._learn(batch)
        self.width_ = max(_SECOND, round(float(batch.node_counts.mean())))

    def _prepared(self, batch: GraphBatch) -> _Prepared:
        points = self.inputs_.node_features(batch)
        ranks = _canonical_ranks(batch)
        nothing = len(points)
        fields = np.full((len(batch), self.width_ * _FIELD), nothing)
        for number in range(len(batch)):
            own = _fields(batch, number, ranks, self.width_)
            fields[number, : own.size] = np.where(own < 0, nothing, own).ravel()
        return _Prepared(np.concatenate([points, np.zeros((1, points.shape[1]))]), fields)

    def _taken(self, prepared: _Prepared, chosen: Any) -> _Fields:
        torch = optional("torch", "PSCNClassifier")
        x = prepared.points[prepared.fields[chosen]].transpose(0, 2, 1).astype(np.float32)
        return _Fields(torch.from_numpy(np.ascontiguousarray(x)))

    def _network(self, n_classes: int) -> Any:
        nn = optional("torch.nn", "PSCNClassifier")
        n_inputs, width, hidden = self.inputs_.n_node_features, self.width_, self.hidden

        class Network(nn.Module):  # type: ignore[name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.read = nn.Sequential(
                    nn.Conv1d(n_inputs, _FILTERS[0], _FIELD, _FIELD), nn.ReLU(),
                    nn.Conv1d(_FILTERS[0], _FILTERS[1], _SECOND), nn.ReLU(), nn.Flatten(),
                    nn.Linear(_FILTERS[1] * (width - _SECOND + 1), hidden), nn.ReLU(),
                    nn.Dropout(0.5), nn.Linear(hidden, n_classes),
                )  # fmt: skip

            def forward(self, graphs: _Fields) -> Any:
                return self.read(graphs.x)

        return Network()


def _canonical_ranks(batch: GraphBatch) -> Ints:
    """Return a number for each node: smaller ones are first in their graph."""
    between = edge_betweenness(batch.offsets, batch.indptr, batch.indices)
    sums = np.concatenate([[0.0], np.cumsum(between)])
    # In a connected graph the betweenness of a node is half this sum, less a constant.
    nodes = (sums[batch.indptr[1:]] - sums[batch.indptr[:-1]]).round(9)
    order = np.lexsort((wl_labels(batch, 3), -np.diff(batch.indptr), -nodes))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _fields(batch: GraphBatch, number: int, ranks: Ints, width: int) -> Ints:
    """Return the nodes of the fields of a graph, over all nodes of the batch; -1 is none."""
    first, last = batch.offsets[number], batch.offsets[number + 1]
    chosen = first + np.argsort(ranks[first:last])[:width]
    fields = np.full((len(chosen), _FIELD), -1)
    for row, node in enumerate(chosen.tolist()):
        seen, layer, found = {node}, [node], [node]
        while layer and len(found) < _FIELD:
            near = {
                int(first + w)
                for v in layer
                for w in batch.indices[batch.indptr[v] : batch.indptr[v + 1]]
            }
            layer = sorted(near - seen, key=ranks.__getitem__)
            seen.update(layer)
            found += layer
        kept = found[:_FIELD]
        fields[row, : len(kept)] = kept
    return fields
