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
    with pytest.warns(UserWarning, match="of two weights the larger") as caught:
        graphs = gm.from_edge_list(table, keep_direction=True)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(graphs.edge_labels, [3, 3])
