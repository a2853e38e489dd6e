"""Graph isomorphism network, GIN (Xu et al. 2019)."""

from __future__ import annotations

from typing import Any

from graphmover.rivals.neural.inputs import Tensors
from graphmover.rivals.neural.training import NeuralClassifier
from graphmover.rivals.optional import optional

_LAYERS = 4


class GINClassifier(NeuralClassifier):
    """GIN: four layers of sums over neighbours and perceptrons, with a sum readout of each depth.

    The parameters are those of all networks: `NeuralClassifier`.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import GINClassifier
    >>> graphs, families = gm.make_graph_families(24, random_state=0, return_X_y=True)
    >>> GINClassifier(8, epochs=2, random_state=0).fit(graphs, families).predict(graphs).shape
    (24,)
    """

    def _network(self, n_classes: int) -> Any:
        nn = optional("torch.nn", "GINClassifier")
        geometric = optional("torch_geometric.nn", "GINClassifier")
        width = [self.inputs_.n_node_features, *[self.hidden] * _LAYERS]

        def perceptron(n_inputs: int) -> Any:
            return nn.Sequential(
                nn.Linear(n_inputs, self.hidden),
                nn.BatchNorm1d(self.hidden),
                nn.ReLU(),
                nn.Linear(self.hidden, self.hidden),
                nn.BatchNorm1d(self.hidden),
                nn.ReLU(),
            )

        class Network(nn.Module):  # type: ignore[name-defined]
            def __init__(self) -> None:
                super().__init__()
                layers = [geometric.GINConv(perceptron(n), train_eps=True) for n in width[:-1]]
                self.layers = nn.ModuleList(layers)
                self.heads = nn.ModuleList([nn.Linear(n, n_classes) for n in width])
                self.dropout = nn.Dropout(0.5)

            def forward(self, graphs: Tensors) -> Any:
                x, scores = graphs.x, 0
                for depth, head in enumerate(self.heads):
                    if depth:
                        x = self.layers[depth - 1](x, graphs.edge_index)
                    pooled = geometric.global_add_pool(x, graphs.batch, graphs.n_graphs)
                    scores = scores + self.dropout(head(pooled))
                return scores

        return Network()
