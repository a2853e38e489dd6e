"""Graph attention with edge features: GATv2 (Brody, Alon and Yahav 2022)."""

from __future__ import annotations

from typing import Any

from graphmover.rivals.neural.inputs import Tensors
from graphmover.rivals.neural.training import NeuralClassifier
from graphmover.rivals.optional import optional

_LAYERS, _HEADS = 3, 4


class GATClassifier(NeuralClassifier):
    """Three layers of attention with four heads; labels and attributes of edges enter it.

    Attention weighs neighbours by them, and nodes start with the mean of these over their edges,
    beside their own features: attention weights alone carry no information where all neighbours are
    alike. The parameters are those of all networks: `NeuralClassifier`.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import GATClassifier
    >>> graphs, families = gm.make_graph_families(24, random_state=0, return_X_y=True)
    >>> GATClassifier(8, epochs=2, random_state=0).fit(graphs, families).predict(graphs).shape
    (24,)
    """

    def _network(self, n_classes: int) -> Any:
        torch, nn = (optional(name, "GATClassifier") for name in ("torch", "torch.nn"))
        geometric = optional("torch_geometric.nn", "GATClassifier")
        n_inputs, n_edge = self.inputs_.n_node_features, self.inputs_.n_edge_features
        n_inputs += n_edge
        hidden = -(-self.hidden // _HEADS) * _HEADS  # a multiple of the number of heads

        class Network(nn.Module):  # type: ignore[name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.layers, self.norms = nn.ModuleList(), nn.ModuleList()
                for depth in range(_LAYERS):
                    layer = geometric.GATv2Conv(
                        hidden if depth else n_inputs,
                        hidden // _HEADS,
                        heads=_HEADS,
                        edge_dim=n_edge or None,
                    )
                    self.layers.append(layer)
                    self.norms.append(nn.BatchNorm1d(hidden))
                self.head = nn.Sequential(
                    nn.Linear(2 * hidden, hidden), nn.ReLU(), nn.Dropout(0.5),
                    nn.Linear(hidden, n_classes),
                )  # fmt: skip

            def forward(self, graphs: Tensors) -> Any:
                x = graphs.x
                if graphs.edge_attr is not None:
                    target = graphs.edge_index[1]
                    count = torch.bincount(target, minlength=len(x)).clamp(min=1).unsqueeze(1)
                    sums = torch.zeros(len(x), n_edge).index_add(0, target, graphs.edge_attr)
                    x = torch.cat([x, sums / count], dim=1)
                for layer, norm in zip(self.layers, self.norms, strict=True):
                    x = layer(x, graphs.edge_index, edge_attr=graphs.edge_attr)
                    x = norm(x).relu()
                mean = geometric.global_mean_pool(x, graphs.batch, graphs.n_graphs)
                largest = geometric.global_max_pool(x, graphs.batch, graphs.n_graphs)
                return self.head(torch.cat([mean, largest], dim=1))

        return Network()
