"""Lists of edges, dicts of neighbours and GraKeL's pairs against graphs made by hand."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import graphmover as gm

PATH = gm.as_graph_batch(gm.Graph(4, [(0, 1), (1, 2), (2, 3)]))
WEIGHTED = gm.as_graph_batch(gm.Graph(3, [(0, 1), (1, 2)], edge_weights=[2.0, 1.0]))
LABELS = ["C", "C", "O", "N"]


@pytest.mark.parametrize("edges", [[(0, 1), (1, 2), (2, 3)], [("a", "b"), ("b", 7), (7, (1, 2))]])
@pytest.mark.parametrize("kind", [list, lambda edges: [*edges, edges[0][::-1]]])
def test_lists_of_edges(edges, kind):
    assert gm.as_graph_batch([kind(edges)]) == PATH
    assert gm.as_graph_batch(iter([kind(edges), kind(edges)])).node_counts.tolist() == [4, 4]


def test_sets_of_edges_and_weights():
    assert gm.as_graph_batch([{(0, 1)}]) == gm.as_graph_batch(gm.Graph(2, [(0, 1)]))
    assert gm.as_graph_batch([[(0, 1, 2.0), (1, 2)]]) == WEIGHTED
    assert gm.as_graph_batch([{(0, 1): 2.0, (1, 2): 1.0}]) == WEIGHTED
    assert gm.as_graph_batch([{0: {1: 2.0}, 1: {2: 1}}]) == WEIGHTED
    unweighted = gm.as_graph_batch([[(0, 1, 2.0), (1, 2)]], edge_weight=None)
    assert unweighted == gm.as_graph_batch(gm.Graph(3, [(0, 1), (1, 2)]))
    assert gm.as_graph_batch([[], gm.Graph(1, [])]).node_counts.tolist() == [0, 1]


@pytest.mark.parametrize("kind", [list, tuple, set, np.array])
@pytest.mark.parametrize(
    "graph", [nx.path_graph(4), nx.grid_2d_graph(2, 3), nx.empty_graph(3), nx.star_graph(["a", 5])]
)
def test_dicts_of_neighbours(graph, kind):
    if kind is np.array and graph.number_of_nodes() == 6:
        kind = list  # an array of tuples is a table
    neighbours = {node: kind(others) for node, others in nx.to_dict_of_lists(graph).items()}
    if kind is np.array and "a" in neighbours:
        neighbours = {node: np.array(others, object) for node, others in neighbours.items()}
    expected = gm.as_graph_batch(graph)
    assert gm.as_graph_batch(neighbours) == expected
    assert gm.as_graph_batch([neighbours]) == expected
    assert gm.read_graphs(neighbours).graphs == expected


def test_a_neighbour_need_not_be_a_key():
    assert gm.as_graph_batch({0: [1], 1: [2], 2: [3]}) == PATH


def test_dicts_of_ids_to_collections():
    named = {"x": [(0, 1), (1, 2), (2, 3)], "y": {0: [1], 1: [2], 2: [3]}}
    batch = gm.as_graph_batch(named)
    assert batch.ids.tolist() == ["x", "y"]
    assert batch == gm.GraphBatch.concatenate([PATH, PATH]).with_ids(["x", "y"])
    assert gm.read_graphs(named).graphs == batch
    weighted = gm.as_graph_batch({"x": {(0, 1): 2.0, (1, 2): 1.0}, "y": {(0, 1): 2.0, (1, 2): 1}})
    assert weighted == gm.GraphBatch.concatenate([WEIGHTED, WEIGHTED]).with_ids(["x", "y"])
    of_pairs = {7: ([(0, 1)], {0: "C", 1: "O"})}
    assert gm.as_graph_batch(of_pairs).ids.tolist() == [7]


BONDS = {(0, 1): 1, (1, 2): 2, (3, 2): 1}
FULL = gm.Graph(4, [(0, 1), (1, 2), (2, 3)], node_labels=LABELS, edge_labels=[1, 2, 1])


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 2), (2, 3)],
        {(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)},
        {0: [1], 1: [0, 2], 2: [1, 3], 3: [2]},
        {0: {1: 1.0}, 1: {0: 1.0, 2: 1.0}, 2: {1: 1.0, 3: 1.0}, 3: {2: 1.0}},
        dict.fromkeys([(0, 1), (1, 2), (2, 3)], 1.0),
        nx.to_numpy_array(nx.path_graph(4)),
        sp.csr_array(nx.to_numpy_array(nx.path_graph(4))),
    ],
)
def test_grakel(edges):
    labels = dict(enumerate(LABELS))
    full = gm.as_graph_batch(FULL)
    assert gm.as_graph_batch([(edges, labels, BONDS)]) == full
    assert gm.as_graph_batch([[edges, labels, BONDS]]) == full
    without = gm.as_graph_batch(FULL, edge_label=None)
    assert gm.as_graph_batch([(edges, labels)]) == without
    assert gm.as_graph_batch([(edges, labels, None)]) == without
    assert gm.as_graph_batch([(edges, labels, {})]) == without
    assert gm.as_graph_batch([(edges, labels, BONDS)], edge_label=None) == without
    bare = gm.as_graph_batch([(edges, labels, BONDS)], edge_label=None, node_label=None)
    assert bare == PATH


def test_grakel_isolated_nodes_and_attributes():
    batch = gm.as_graph_batch([({("a", "b")}, {"b": [1.0, 2.0], "c": [3, 4], "a": [5, 6]})])
    expected = gm.Graph(3, [(2, 0)], node_attributes=[[1, 2], [3, 4], [5, 6]])
    assert batch == gm.as_graph_batch(expected)
    lengths = {("a", "b"): np.array([0.5])}
    batch = gm.as_graph_batch([([("a", "b")], {"a": 1, "b": 2}, lengths)])
    assert batch.edge_attributes.tolist() == [[0.5], [0.5]]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([(0, 1), (1,)], r"edge 1 is \(1,\), expected two nodes, or two nodes and a weight"),
        ([(0, 1, "x")], r"edge 0 is \(0, 1, 'x'\), expected two nodes"),
        ([(0, [1])], r"a node is \[1\], expected a hashable value"),
        ([(0, 1, -1.0)], r"edge \(0, 1\) has the weight -1"),
        (((0, 1), (1, 2)), "a list of tuples"),
        ([[0, 1], [1, 2]], "a list of tuples"),
        (([(0, 1)], {0: "C"}), "node 1 has no label, but other nodes of this graph do"),
        (([(0, 1), (1, 2)], None, {(0, 1): 1}), r"edge \(1, 2\) has no label"),
        (([(0, 1)], None, {(0, 2): 1}), r"a label for \(0, 2\), which is not one of its edges"),
        (([(0, 1)], None, {5: 1}), "a label for 5, which is not one of its edges"),
        ({0: [1], 1: 5}, r"\{node: \[neighbours\]\}"),
    ],
)
def test_bad_collections(graph, message):
    with pytest.raises((TypeError, ValueError), match=f"^graph 1: .*{message}"):
        gm.as_graph_batch([gm.Graph(1, []), graph])


def test_a_list_of_edges_alone_is_not_taken_for_graphs():
    for edges in ([(0, 1), (1, 2)], [((0, 0), (0, 1)), ((0, 1), (1, 1))]):
        with pytest.raises(TypeError, match=r"graph 0: .* in a list of graphs"):
            gm.as_graph_batch(edges)
