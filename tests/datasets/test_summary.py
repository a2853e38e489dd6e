import numpy as np
import pytest
from graph_zoo import complete, cycle, disjoint_union, path

import graphmover as gm
from graphmover.datasets.summary import summarise


def test_everything_is_counted_whatever_the_batches(monkeypatch):
    graphs = [path(3), gm.Graph(0, []), disjoint_union(cycle(4), complete(5), path(1))]
    data = gm.Dataset("x", gm.as_graph_batch(graphs), np.array(["a", "b", "a"]))
    summary = summarise(data)
    assert summary.graphs == 3
    assert (summary.nodes.total, summary.nodes.least, summary.nodes.most) == (13, 0, 10)
    assert (summary.edges.total, summary.edges.mean) == (16, 16 / 3)
    assert (summary.components.total, summary.components.most) == (4, 3)
    assert summary.node_histogram == {"0": 1, "1": 0, "2-3": 1, "4-7": 0, "8-15": 1}
    assert summary.degree_histogram == {"0": 1, "1": 2, "2-3": 5, "4-7": 5}
    assert summary.target == {"classes": {"a": 2, "b": 1}}
    monkeypatch.setattr(
        "graphmover.datasets.summary.iter_batches", lambda s, **_: gm.iter_batches(s, 1)
    )
    assert summarise(data) == summary


def test_labels_attributes_weights_and_real_targets():
    graph = gm.Graph(
        3,
        [(0, 1), (1, 2)],
        node_labels=["C", "O", "C"],
        node_attributes=[[1, 2], [3, 4], [5, 6]],
        edge_weights=[0.5, 1],
        edge_labels=["single", 2],
        edge_attributes=[[1, 2, 3], [4, 5, 6]],
    )
    data = gm.Dataset("x", gm.as_graph_batch([graph, graph]), np.array([0.5, -1.5]))
    summary = summarise(data)
    assert (summary.node_labels, summary.node_attributes, summary.edge_weights) == (2, 2, True)
    assert (summary.edge_labels, summary.edge_attributes) == (2, 3)
    plain = summarise(path(3))
    assert (plain.edge_labels, plain.edge_attributes) == (0, 0)
    assert summary.target == {"least": -1.5, "most": 0.5, "mean": -0.5}
    data = gm.Dataset("x", data.graphs, np.array([[1, 2], [3, 6]]))
    assert summarise(data).target == {"least": 1, "most": 6, "mean": 3}
    assert summarise(data.graphs).target is None


def test_a_collection_of_nothing_is_rejected():
    with pytest.raises(ValueError, match="holds no graphs"):
        summarise(gm.as_graph_batch([path(2)])[:0])
