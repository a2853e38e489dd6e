"""Small methods that several tests evaluate."""

import graphmover as gm
from graphmover.evaluation import EMDKernel, Method

#: More candidates than there are finalists, so that every rung of successive halving is used.
GRID = {"max_random_nodes": [3, 9], "n_dimensions": [4], "gamma": [0.1, 0.3, 1.0, 3.0, 10.0]}


def methods(**parameters):
    small = {"use_node_labels": True, **parameters}
    return [
        "majority class",
        "bag of nodes",
        Method("RF", gm.RandomGraphEmbedding(sampling="uniform"), GRID),
        Method("WL", gm.RandomGraphEmbedding(**small), {**GRID, "wl_iterations": [1, 2]}, True),
        EMDKernel("EMD", n_dimensions=(4,)),
    ]


def with_graph_replaced(batch, index, graph):
    return gm.as_graph_batch([graph if i == index else batch[i] for i in range(len(batch))])
