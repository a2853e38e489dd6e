"""Directions of edges: lost with a warning, or kept as labels, whatever graphs come as."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import graphmover as gm

OUT = nx.DiGraph([(0, 1), (0, 2), (0, 3)])
IN = nx.DiGraph([(1, 0), (2, 0), (3, 0)])
TABLE = pd.DataFrame(
    {
        "graph": ["o"] * 3 + ["i"] * 3,
        "source": [0, 0, 0, 1, 2, 3],
        "target": [1, 2, 3, 0, 0, 0],
    }
)


def test_a_warning_about_directions_points_to_the_line_that_reads():
    with pytest.warns(UserWarning, match="made undirected") as caught:
        gm.read_graphs([OUT, IN])
    assert {warning.filename for warning in caught} == {__file__}


def test_tables_of_edges_keep_directions():
    graphs = gm.as_graph_batch(TABLE, keep_direction=True)
    assert graphs.edge_labels.tolist() == [1, 1, 1, 2, 2, 2, 1, 2, 2, 2, 1, 1]
    assert graphs == gm.from_edge_list(TABLE, keep_direction=True)


def test_a_table_of_edges_has_no_directions_unless_they_are_asked_for():
    assert gm.as_graph_batch(TABLE).edge_labels is None


def test_directions_of_a_table_stand_beside_labels():
    graphs = gm.from_edge_list(TABLE[:1].assign(label="calls"), keep_direction=True)
    assert graphs.edge_labels.tolist() == [(1, "calls"), (2, "calls")]


def test_two_weights_of_a_table_are_told_from_one_with_directions_kept():
    table = {"graph": [0, 0], "source": [0, 1], "target": [1, 0], "weight": [1.0, 2.0]}
    with pytest.warns(UserWarning, match="edges have two weights, one in each direction") as caught:
        graphs = gm.from_edge_list(table, keep_direction=True)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(graphs.edge_labels, [3, 3])


def test_a_batch_that_has_lost_directions_cannot_keep_them():
    with pytest.warns(UserWarning, match="made undirected"):
        lost = gm.as_graph_batch([OUT, IN])
    with pytest.warns(UserWarning, match="keep_direction=True is too late") as caught:
        gm.as_graph_batch(lost, keep_direction=True)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="keep_direction=True is too late"):
        gm.read_graphs(gm.Dataset("stars", lost), keep_direction=True)


@pytest.mark.parametrize("label", [None, "calls"])
def test_a_batch_that_has_kept_directions_tells_them(label):
    graphs = [OUT.copy(), IN.copy(), nx.empty_graph(2)]
    if label is not None:
        for graph in graphs:
            nx.set_edge_attributes(graph, label, "label")
    kept = gm.as_graph_batch(graphs, keep_direction=True)
    assert kept.directions.tolist() == [1, 1, 1, 2, 2, 2, 1, 2, 2, 2, 1, 1]
    assert gm.as_graph_batch(kept, keep_direction=True) is kept
    assert gm.as_graph_batch(graphs[2:], keep_direction=True).directions.tolist() == []


def test_labels_of_other_kinds_are_no_directions():
    for labels in ([1, 1], ["a", "b"], [(1, "a"), (1, "b")], [(True, 1)], [4]):
        edges = [(0, 1), (1, 2)][: len(labels)]
        assert gm.as_graph_batch(gm.Graph(3, edges, edge_labels=labels)).directions is None
    assert gm.as_graph_batch(gm.Graph(2, [(0, 1)])).directions is None


def test_the_warning_about_directions_names_the_remedy():
    with pytest.warns(UserWarning, match=r"read them with keep_direction=True \(gm.as_graph_batch"):
        gm.as_graph_batch([OUT])


def test_a_model_with_directions_says_how_to_keep_them():
    kept = gm.as_graph_batch([OUT, IN] * 4, keep_direction=True)
    model = gm.GraphVectorizer(4, random_state=0).fit(kept)
    with (
        pytest.warns(UserWarning, match="made undirected"),
        pytest.raises(ValueError, match="with keep_direction=True if they are directions"),
    ):
        model.transform([OUT])
