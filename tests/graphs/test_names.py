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
    with pytest.warns(UserWarning, match="which (is|are) not read") as caught:
        gm.as_graph_batch([make()])
    of_nodes, of_edges = (str(warning.message) for warning in caught)
    assert of_nodes.startswith("nodes carry 'depth'") and "'lines', which are not read" in of_nodes
    assert "pass them as node_label= or node_attributes= to gm.as_graph_batch" in of_nodes
    assert of_edges == (
        "edges carry 'count', which is not read: pass it as edge_weight=, edge_label= or "
        "edge_attributes= to gm.as_graph_batch, or pass edge_attributes=None to ignore it"
    )
    assert all(warning.filename == __file__ for warning in caught)


def test_data_under_other_names_in_a_table_is_not_dropped_in_silence():
    edges = {"graph": [0], "source": [1], "target": [2], "strength": [0.5]}
    nodes = {"graph": [0, 0], "node": [1, 2], "kind": list("ab"), "size": [1, 2]}
    with pytest.warns(UserWarning, match="which (is|are) not read") as caught:
        gm.from_edge_list(edges, nodes)
    of_edges, of_nodes = (str(warning.message) for warning in caught)
    assert of_edges.startswith("edges carry 'strength', which is not read: pass it as edge_weight=")
    assert of_nodes == (
        "nodes carry 'kind' and 'size', which are not read: pass them as node_label= or "
        "node_attributes= to gm.from_edge_list, or drop these columns to ignore them"
    )
    assert all(warning.filename == __file__ for warning in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gm.from_edge_list(edges, nodes, edge_weight="strength", node_attributes="size")
        gm.from_edge_list(edges, nodes, edge_weight=None, node_label=None)
    with pytest.warns(UserWarning, match="carry 'strength', which is not read"):
        gm.from_edge_list(edges | {"weight": [1.0]}, nodes | {"label": [0, 0]}, node_label="label")


def test_data_under_other_names_in_a_file_can_be_renamed(tmp_path):
    nx.write_graphml(calls(), tmp_path / "calls.graphml")
    with pytest.warns(UserWarning, match="which (is|are) not read") as caught:
        gm.read_graphs(tmp_path / "calls.graphml")
    of_nodes, of_edges = (str(warning.message) for warning in caught)
    assert of_nodes.startswith(
        "nodes carry 'depth', 'kind' and 'lines', which are not read: rename"
    )
    assert "to 'label' or 'attributes' (in GML and GEXF 'node_label' for 'label')" in of_nodes
    assert of_edges.endswith("not read: rename it to 'weight', 'label' or 'attributes'")
    with pytest.warns(UserWarning, match="to gm.as_graph_batch"):
        gm.read_graphs([calls()])


def test_six_names_are_too_many_to_list():
    graph = nx.Graph()
    graph.add_node(0, **dict.fromkeys("abcdef", 1))
    with pytest.warns(UserWarning, match="carry 'a', 'b', 'c', 'd', 'e' and others, which are"):
        gm.as_graph_batch([graph])


@pytest.mark.parametrize(
    ("pos", "message"),
    [
        ([1, 2, 3], r"graph 0: node 'b' has 3 attributes under 'pos', expected 2 as the first"),
        (
            [1, float("nan")],
            r"node 'b' has the attributes \[1.0, nan\] under 'pos', expected finite",
        ),
        ("north", r"node 'b' has the attributes 'north' under 'pos', expected a number"),
        (None, r"node 'b' has no attributes under 'pos', but other nodes of this graph do: give"),
    ],
)
def test_what_is_wrong_with_an_attribute_names_it(pos, message):
    graph = nx.Graph()
    graph.add_node("a", size=1, pos=[0, 0])
    graph.add_node("b", size=2, **({} if pos is None else {"pos": pos}))
    with pytest.raises((TypeError, ValueError), match=message):
        gm.as_graph_batch([graph], node_attributes=["size", "pos"])


def test_a_tensor_that_is_not_finite_is_named():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data(
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        x=torch.ones(2, 2),
        pos=torch.tensor([0, torch.inf]),
    )
    with pytest.raises(ValueError, match=r"graph 0: node 1 has the attributes \[inf\] under 'pos'"):
        gm.as_graph_batch([data], node_attributes=["x", "pos"])
    data.edge_attr = torch.tensor([[0.5], [torch.nan]])
    with pytest.raises(
        ValueError, match=r"edge \(1, 0\) has the attributes \[nan\] under 'edge_attr'"
    ):
        gm.as_graph_batch([data])


def test_a_label_that_only_some_nodes_have():
    graph = nx.path_graph(2)
    graph.nodes[0]["label"] = "C"
    message = "node 1 has no label, but other nodes of this graph do: label all nodes or none"
    with pytest.raises(ValueError, match=message):
        gm.as_graph_batch([graph])


def test_negative_weights_have_a_remedy():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=-0.5)
    for graphs in ([graph], {"graph": [0], "source": [0], "target": [1], "weight": [-0.5]}):
        convert = gm.as_graph_batch if isinstance(graphs, list) else gm.from_edge_list
        with pytest.raises(ValueError, match="take absolute values, or keep only edges above"):
            convert(graphs)


def test_names_of_columns_are_strings():
    edges = {"graph": [0], "source": [1], "target": [2], "kind": ["a"], "vip": [1]}
    with pytest.raises(
        TypeError, match=r"edge_label must be a string or None, got \['kind', 'vip'"
    ):
        gm.from_edge_list(edges, edge_label=["kind", "vip"])
    with pytest.raises(TypeError, match=r"must be a string, a list of strings or None, got \[\]"):
        gm.from_edge_list(edges, edge_attributes=[])


def test_columns_that_are_not_there():
    edges = {"graph": [0], "from": [1], "target": [2]}
    message = r"edges has no column 'source'; its columns are .*: name another by source="
    with pytest.raises(ValueError, match=message):
        gm.from_edge_list(edges)
    nodes = {"graph": [0, 0], "node": [1, 2], "age": [1, 2]}
    with pytest.raises(ValueError, match=r"no column 'agee'; its columns are \[.*'age'\]$"):
        gm.from_edge_list(edges, nodes, source="from", node_attributes=["agee"])


def test_what_to_do_comes_before_all_that_is_accepted():
    for wrong, message in (
        ("x.csv", "got an object of type str. Read a file with gm.read_graphs"),
        ([[[0, 1]]], "graph 0: got an object of type list. Wrap a matrix with numpy.array"),
        ([3], "graph 0: got an object of type int, expected a networkx"),
    ):
        with pytest.raises(TypeError, match=message):
            gm.as_graph_batch(wrong)


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
    usual.add_edge(0, 1, weight=2.0)
    nx.set_node_attributes(usual, 1, "label")
    more = usual.copy()
    more.add_edge(0, 1, colour="red")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gm.as_graph_batch([nx.path_graph(3)])
        gm.as_graph_batch([usual])
        gm.as_graph_batch([more], edge_attributes=None)
    with pytest.warns(UserWarning, match="edges carry 'colour', which is not read"):
        gm.as_graph_batch([more])


def test_a_table_of_smiles_is_told_from_one_of_edges():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=r"Pass its column of SMILES: table\['Smiles'\]"):
        gm.as_graph_batch(pandas.DataFrame({"id": [1], "Smiles": ["CCO"]}))


def test_only_what_looks_like_a_file_is_taken_for_one():
    pytest.importorskip("rdkit")
    with pytest.raises(ValueError, match=r"SMILES 'CC\.C1CC'") as caught:
        gm.as_graph_batch(["CCO", "CC.C1CC"])
    assert "file" not in str(caught.value)
    assert 'gm.read_graphs(graphs, errors="skip").graphs leaves out' in str(caught.value)
    pandas = pytest.importorskip("pandas")
    for missing in (float("nan"), pandas.NA):
        message = (
            r"graph 1: it is missing \(.*\), expected a graph; gm.read_graphs\(graphs, errors="
        )
        with pytest.raises(TypeError, match=message):
            gm.as_graph_batch(pandas.Series(["CCO", missing], dtype=object))
    with pytest.raises(TypeError, match=r"graph 1: got None, .* gm.read_graphs\(graphs, errors="):
        gm.as_graph_batch(["CCO", None])
    for bad in ("CC.C1CC", None):
        with pytest.raises((TypeError, ValueError), match='pass errors="skip"') as caught:
            gm.read_graphs(["CCO", bad])
        assert "gm.read_graphs" not in str(caught.value)
        with pytest.warns(UserWarning, match="1 graph could not be read"):
            assert len(gm.read_graphs(["CCO", bad], errors="skip")) == 1
    with pytest.raises(ValueError, match=r"'drugs.csv'; graphs in a file are read by"):
        gm.as_graph_batch(["drugs.csv"])
