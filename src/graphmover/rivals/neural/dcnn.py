"""Diffusion-convolutional network, DCNN (Atwood and Towsley 2016)."""

from __future__ import annotations

from typing import Any

from graphmover.rivals.neural.inputs import Tensors
from graphmover.rivals.neural.training import NeuralClassifier
from graphmover.rivals.optional import optional

_HOPS = 3


class DCNNClassifier(NeuralClassifier):
    """Features diffused over 0 to 3 steps, averaged over the nodes, weighted, and a dense layer.

    ``hidden`` is the size of the dense layer; the other parameters are those of all networks:
    `NeuralClassifier`.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.rivals import DCNNClassifier
    >>> graphs, families = gm.make_graph_families(24, random_state=0, return_X_y=True)
    >>> DCNNClassifier(8, epochs=2, random_state=0).fit(graphs, families).predict(graphs).shape
    (24,)
    """

    def _network(self, n_classes: int) -> Any:
        torch, nn = (optional(name, "DCNNClassifier") for name in ("torch", "torch.nn"))
        geometric = optional("torch_geometric.nn", "DCNNClassifier")
        n_inputs, hidden = self.inputs_.n_node_features, self.hidden

        class Network(nn.Module):  # type: ignore[name-defined]
            def __init__(self) -> None:
                super().__init__()
                n = (_HOPS + 1) * n_inputs
                self.weights = nn.Parameter(torch.empty(n).uniform_(-1, 1))
                self.read = nn.Sequential(
                    nn.Linear(n, hidden), nn.ReLU(), nn.Dropout(0.5), nn.Linear(hidden, n_classes)
                )

            def forward(self, graphs: Tensors) -> Any:
                x = graphs.x
                source, target = graphs.edge_index
                count = torch.bincount(target, minlength=len(x)).clamp(min=1).unsqueeze(1)
                hops = [x]
                for _ in range(_HOPS):
                    near = torch.zeros_like(x).index_add(0, target, hops[-1][source])
                    hops.append(near / count)
                mean = geometric.global_mean_pool(
                    torch.cat(hops, dim=1), graphs.batch, graphs.n_graphs
                )
                return self.read(torch.tanh(self.weights * mean))

        return Network()
