"""Names under which nodes and edges carry their data."""

import warnings

import numpy as np
import pytest

import graphmover as gm

nx = pytest.importorskip("networkx")


def calls():
    """Return a graph with data under names of its own."""
    graph = nx.Graph()
    graph.add_node("main", kind="public", lines=12, depth=0.5)
    graph.add_node("read", kind="private", lines=3, depth=1.5)
    graph.add_edge("main", "read", count=2)
    return graph


def in_igraph():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph([(0, 1)])
    graph.vs["kind"], graph.vs["lines"], graph.vs["depth"] = ["a", "b"], [12, 3], [0.5, 1.5]
    graph.es["count"] = [2]
    return graph


def in_rustworkx():
    rustworkx = pytest.importorskip("rustworkx")
    graph = rustworkx.PyGraph()
    graph.add_nodes_from([{"lines": 12, "depth": 0.5}, {"lines": 3, "depth": 1.5}])
    graph.add_edge(0, 1, {"count": 2})
    return graph


KINDS = [calls, in_igraph, in_rustworkx]


@pytest.mark.parametrize("make", KINDS)
def test_several_attributes_are_columns_side_by_side(make):
    batch = gm.as_graph_batch(
        [make()], node_attributes=["depth", "lines"], edge_attributes=["count"]
    )
    assert np.array_equal(batch.node_attributes, [[0.5, 12], [1.5, 3]])
    assert np.array_equal(batch.edge_attributes, [[2], [2]])


def test_several_tensors_are_columns_side_by_side():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data(
        edge_index=torch.tensor([[0, 1], [1, 0]]), x=torch.ones(2, 2), pos=torch.zeros(2, 1)
    )
    batch = gm.as_graph_batch([data], node_attributes=["pos", "x"])
    assert np.array_equal(batch.node_attributes, [[0, 1, 1], [0, 1, 1]])


def test_a_misspelt_attribute_among_several_is_named():
    with pytest.raises(ValueError, match=r"graph 0: there is no attribute 'line', expected all of"):
        gm.as_graph_batch([calls()], node_attributes=["depth", "line"])
    with pytest.raises(ValueError, match=r"node_attributes=\['x'\] is found in no graph"):
        gm.as_graph_batch([calls()], node_attributes=["x"])
    for wrong in ([1], [], 1):
        with pytest.raises(TypeError, match=r"must be a string, a list of strings or None, got"):
            gm.as_graph_batch([calls()], node_attributes=wrong)
    with pytest.raises(TypeError, match=r"node_label must be a string or None, got \['kind'\]"):
        gm.as_graph_batch([calls()], node_label=["kind"])


@pytest.mark.parametrize("make", KINDS)
def test_data_under_other_names_is_not_dropped_in_silence(make):
    with pytest.warns(UserWarning, match="the graphs carry") as caught:
        gm.as_graph_batch([make()])
    of_nodes, of_edges = (str(warning.message) for warning in caught)
    assert "'depth'" in of_nodes and "'lines' on their nodes, which is not read" in of_nodes
    assert "node_label= or node_attributes= of as_graph_batch" in of_nodes
    assert "'count' on their edges" in of_edges
    assert of_edges.endswith("rename it to 'weight', 'label' or 'attributes'")
    assert all(warning.filename == __file__ for warning in caught)


@pytest.mark.parametrize(
    "names",
    [
        {"node_label": "kind", "edge_weight": "count"},
        {"node_attributes": ["lines"], "edge_label": "count"},
        {"node_label": None, "edge_label": None},
    ],
)
def test_who_has_chosen_names_is_not_warned(names):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gm.as_graph_batch([calls()], **names)


def test_graphs_without_data_or_with_the_usual_names_give_no_warning():
    usual = nx.path_graph(3)
    usual.add_edge(0, 1, weight=2.0, colour="red")
    nx.set_node_attributes(usual, 1, "label")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gm.as_graph_batch([nx.path_graph(3)])
        gm.as_graph_batch([usual])


def test_a_table_of_smiles_is_told_from_one_of_edges():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=r"Pass its column of SMILES: table\['Smiles'\]"):
        gm.as_graph_batch(pandas.DataFrame({"id": [1], "Smiles": ["CCO"]}))


def test_only_what_looks_like_a_file_is_taken_for_one():
    pytest.importorskip("rdkit")
    with pytest.raises(ValueError, match=r"SMILES 'CC\.C1CC'") as caught:
        gm.as_graph_batch(["CCO", "CC.C1CC"])
    assert "file" not in str(caught.value)
    assert any('errors="skip"' in note for note in caught.value.__notes__)
    with pytest.raises(ValueError, match=r"'drugs.csv'; graphs in a file are read by"):
        gm.as_graph_batch(["drugs.csv"])
