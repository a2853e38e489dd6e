"""Deep graph convolutional network, DGCNN (Zhang et al. 2018): SortPooling."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from graphmover.graphs.batch import GraphBatch
from graphmover.rivals.neural.inputs import Tensors
from graphmover.rivals.neural.training import NeuralClassifier
from graphmover.rivals.optional import optional

_LAYERS = 3
#: Shares of graphs that are larger than the number of nodes that are kept, and convolutions.
_KEPT, _FILTERS, _WIDTH = 0.6, (16, 32), 5


class DGCNNClassifier(NeuralClassifier):
    """Graph convolutions, nodes sorted by the last of them, and convolutions along that order.

    Three layers of ``hidden`` units and one of a single unit, tanh; the first k nodes in the order
    of the last unit, where k is such that 60 % of the training graphs have more; one-dimensional
    convolutions with 16 and 32 filters; a dense layer of 128 units. The parameters are those of
    all networks, `NeuralClassifier`, with the paper's 32 units and a smaller learning rate.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import DGCNNClassifier
    >>> graphs, families = gm.make_graph_families(24, random_state=0, return_X_y=True)
    >>> DGCNNClassifier(8, epochs=2, random_state=0).fit(graphs, families).predict(graphs).shape
    (24,)
    """

    def __init__(
        self,
        hidden: int = 32,
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
        # Pooling halves the length, and the second convolution needs five after that.
        most = int(np.quantile(batch.node_counts, 1 - _KEPT, method="lower"))
        self.k_ = max(most, 2 * _WIDTH)

    def _network(self, n_classes: int) -> Any:
        torch, nn = (optional(name, "DGCNNClassifier") for name in ("torch", "torch.nn"))
        sort_pooling = optional("torch_geometric.nn", "DGCNNClassifier").SortAggregation
        width, k = [self.inputs_.n_node_features, *[self.hidden] * _LAYERS, 1], self.k_
        total = sum(width[1:])

        class Network(nn.Module):  # type: ignore[name-defined]
            def __init__(self) -> None:
                super().__init__()
                layers = [nn.Linear(n, m, bias=False) for n, m in pairwise(width)]
                self.layers = nn.ModuleList(layers)
                self.pool = sort_pooling(k)
                # A convolution as long as its stride, one node each: so it is faster.
                self.of_node = nn.Linear(total, _FILTERS[0])
                self.read = nn.Sequential(
                    nn.ReLU(), nn.MaxPool1d(2, 2),
                    nn.Conv1d(_FILTERS[0], _FILTERS[1], _WIDTH), nn.ReLU(), nn.Flatten(),
                    nn.Linear(_FILTERS[1] * (k // 2 - _WIDTH + 1), 128), nn.ReLU(),
                    nn.Dropout(0.5), nn.Linear(128, n_classes),
                )  # fmt: skip

            def forward(self, graphs: Tensors) -> Any:
                x, found = graphs.x, []
                source, target = graphs.edge_index
                count = torch.bincount(target, minlength=len(x)).add(1.0).unsqueeze(1)
                for layer in self.layers:  # D^-1 (A + I) X W
                    y = layer(x)
                    x = torch.tanh(y.index_add(0, target, y[source]) / count)
                    found.append(x)
                rows = self.pool(torch.cat(found, dim=1), graphs.batch, dim_size=graphs.n_graphs)
                nodes = self.of_node(rows.unflatten(1, (k, total)))
                return self.read(nodes.transpose(1, 2))

        return Network()
