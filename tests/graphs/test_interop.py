"""Every library's graphs against the same graph built by hand."""

import copy
import pickle
import sys
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import igraph
import networkx as nx
import numpy as np
import pytest
import rustworkx as rx
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphmover as gm
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.graph import Graph
from graphmover.graphs.interop import as_graph_batch

EDGES = [(0, 1), (1, 2), (2, 3)]
WEIGHTS = [0.5, 2.0, 3.0]
LABELS = ["C", "C", "O", "N"]
ATTRIBUTES = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]
BONDS = ["single", ("ring", 1), "single"]
LENGTHS = [[1.5], [1.25], [1.0]]


def path(**columns):
    return Graph(4, EDGES, **columns)


FULL = path(
    node_labels=LABELS,
    node_attributes=ATTRIBUTES,
    edge_weights=WEIGHTS,
    edge_labels=BONDS,
    edge_attributes=LENGTHS,
)


def assert_same(batch, expected):
    for name in GraphBatch.__slots__:
        one, other = getattr(batch, name), getattr(expected, name)
        if other is None:
            assert one is None, name
        else:
            np.testing.assert_array_equal(one, other, err_msg=name)


def assert_is(graph_or_graphs, *expected, **names):
    batches = [as_graph_batch(graph) for graph in expected]
    assert_same(as_graph_batch(graph_or_graphs, **names), GraphBatch.concatenate(batches))


def edge_values():
    rows = zip(WEIGHTS, BONDS, LENGTHS, strict=True)
    return [{"weight": w, "label": bond, "attributes": row} for w, bond, row in rows]


def nx_full(kind=nx.Graph, ids=(0, 1, 2, 3)):
    graph = kind()
    for node, label, row in zip(ids, LABELS, ATTRIBUTES, strict=True):
        graph.add_node(node, label=label, attributes=row)
    for (u, v), values in zip(EDGES, edge_values(), strict=True):
        graph.add_edge(ids[u], ids[v], **values)
        if graph.is_directed():
            graph.add_edge(ids[v], ids[u], **values)
    return graph


def igraph_full():
    graph = igraph.Graph(n=4, edges=EDGES)
    graph.vs["label"], graph.vs["attributes"], graph.es["weight"] = LABELS, ATTRIBUTES, WEIGHTS
    graph.es["label"], graph.es["attributes"] = BONDS, LENGTHS
    return graph


def rx_full(kind=rx.PyGraph):
    graph = kind()
    removed = graph.add_node("removed")
    rows = zip(LABELS, ATTRIBUTES, strict=True)
    nodes = graph.add_nodes_from([{"label": name, "attributes": row} for name, row in rows])
    for (u, v), values in zip(EDGES, edge_values(), strict=True):
        graph.add_edge(nodes[u], nodes[v], values)
        if kind is rx.PyDiGraph:
            graph.add_edge(nodes[v], nodes[u], values)
    graph.remove_node(removed)
    return graph


class MyGraph(nx.Graph):
    pass


# Each library.


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph, MyGraph])
@pytest.mark.parametrize(
    "ids", [(0, 1, 2, 3), (3, 2, 1, 0), ("a", ("b", 1), None, 2.5), (False, True, 2.0, 3)]
)
def test_networkx(kind, ids):
    if None in ids:
        ids = tuple("none" if node is None else node for node in ids)  # networkx refuses None
    assert_is(nx_full(kind, ids), FULL)


def test_networkx_subgraph_view_keeps_its_own_node_order():
    view = nx_full().subgraph([3, 1, 2])
    expected = nx.Graph()
    expected.add_nodes_from((node, view.nodes[node]) for node in view)
    expected.add_edges_from(view.edges(data=True))
    assert_is(view, as_graph_batch(expected))
    assert as_graph_batch(view)[0].n_edges == 2


def test_networkx_adjacency_in_another_order_than_the_nodes():
    graph = nx_full()
    graph._node = dict(reversed(graph._node.items()))
    reversed_edges = [(3 - u, 3 - v) for u, v in EDGES]
    assert_is(
        graph,
        Graph(
            4,
            reversed_edges,
            node_labels=LABELS[::-1],
            node_attributes=ATTRIBUTES[::-1],
            edge_weights=WEIGHTS,
            edge_labels=BONDS,
            edge_attributes=LENGTHS,
        ),
    )


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_of_parallel_edges_the_largest_weight_stays(kind):
    graph = kind()
    for u, v in [(0, 1), (1, 0)]:
        graph.add_edge(u, v, weight=2)
        graph.add_edge(u, v, weight=5)
        graph.add_edge(u, v)
    graph.add_edge(0, 0, weight=9)
    assert_is(graph, Graph(2, [(0, 1)], edge_weights=[5]))


def test_networkx_edge_without_weight_has_weight_one():
    graph = nx.Graph([(0, 1, {"weight": 3}), (1, 2), (2, 3, {"colour": "red"})])
    assert_is(graph, path(edge_weights=[3, 1, 1]))


def test_igraph():
    assert_is(igraph_full(), FULL)
    assert_is(igraph_full().as_directed(), FULL)
    assert_is(igraph.Graph(n=4, edges=[*EDGES, (1, 0), (2, 2)]), path())


def test_none_is_a_label_but_not_in_igraph():
    """There, it is what nodes have under a name that was given to others."""
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: None, 1: "C"}, "label")
    assert as_graph_batch(graph).node_labels.tolist() == [None, "C"]
    with pytest.raises(ValueError, match="graph 0: node 0 has no label, but other nodes"):
        as_graph_batch(igraph.Graph(n=2, edges=[(0, 1)], vertex_attrs={"label": [None, "C"]}))


def test_integers_beyond_64_bits_are_attributes():
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: [2**70, 1], 1: [0.5, 2]}, "attributes")
    assert as_graph_batch(graph).node_attributes.tolist() == [[2.0**70, 1], [0.5, 2]]


def test_igraph_missing_values_are_none():
    graph = igraph_full()
    graph.es["weight"] = [0.5, None, 3.0]
    graph.vs["label"] = [None] * 4
    graph.es["label"] = [None] * 3
    expected = path(
        node_attributes=ATTRIBUTES, edge_weights=[0.5, 1.0, 3.0], edge_attributes=LENGTHS
    )
    assert_is(graph, expected)


@pytest.mark.parametrize("kind", [rx.PyGraph, rx.PyDiGraph, rx.PyDAG])
def test_rustworkx(kind):
    kind = rx.PyDiGraph if kind is rx.PyDAG else kind
    assert_is(rx_full(kind), FULL)


def test_rustworkx_payloads():
    graph = rx.PyGraph()
    graph.add_nodes_from(["a", None, {"other": 1}, 7])
    graph.add_edges_from([(0, 1, None), (1, 2, 2), (2, 3, {"weight": 3.0})])
    assert_is(graph, path(edge_weights=[1, 2, 3]))
    assert_is(graph, path(), edge_weight=None)
    graph.update_edge(0, 1, "heavy")
    assert_is(graph, path(), edge_weight=None)
    with pytest.raises(TypeError, match=r"graph 0: an edge has the weight 'heavy'"):
        as_graph_batch(graph)


def adjacency(dtype=float):
    matrix = np.zeros((4, 4), dtype)
    for (u, v), weight in zip(EDGES, WEIGHTS, strict=True):
        matrix[u, v] = matrix[v, u] = weight
    return matrix


@pytest.mark.parametrize("form", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
@pytest.mark.parametrize("make", [sp.coo_array, sp.coo_matrix])
def test_scipy(form, make):
    assert_is(make(adjacency()).asformat(form), path(edge_weights=WEIGHTS))


def test_scipy_stored_twice_means_the_sum_and_stored_zero_no_edge():
    both = np.array([0, 1, 0, 1, 1, 2]), np.array([1, 0, 1, 0, 2, 1])
    matrix = sp.coo_array((np.array([1.0, 1, 1, 1, 0, 0]), both), shape=(3, 3))
    assert_is(matrix, Graph(3, [(0, 1)], edge_weights=[2]))
    assert_is(matrix, Graph(3, [(0, 1)]), edge_weight=None)
    rows = sp.csr_array((np.ones(4), np.array([1, 1, 0, 0]), np.array([0, 2, 4])), shape=(2, 2))
    assert_is(rows, Graph(2, [(0, 1)], edge_weights=[2]))
    assert rows.nnz == 4


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, float])
def test_numpy(dtype):
    matrix = (adjacency() != 0).astype(dtype)
    matrix[2, 2] = 1
    assert_is(matrix, path())
    assert_is(matrix.view(np.matrix) if matrix.ndim == 2 else None, path())
    assert_is(np.stack([matrix, matrix]), path(), path())
    assert_is(adjacency(), path(edge_weights=WEIGHTS))
    assert_is(adjacency(), path(), edge_weight=None)


# PyTorch Geometric.


def pyg_data(**columns):
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    ends = [*EDGES, *((v, u) for u, v in EDGES)]
    return data.Data(edge_index=torch.tensor(ends).T, num_nodes=4, **columns)


def test_pyg():
    pytest.importorskip("torch_geometric")
    import torch

    weights, codes = torch.tensor(WEIGHTS * 2), torch.tensor([6, 6, 8, 7])
    data = pyg_data(x=torch.tensor(ATTRIBUTES), edge_weight=weights, label=codes, z=codes)
    expected = {"node_attributes": ATTRIBUTES, "edge_weights": WEIGHTS}
    assert_is(data, path(node_labels=[6, 6, 8, 7], **expected))
    assert_is(data, path(node_labels=[6, 6, 8, 7], **expected), node_label="z")
    assert_is(data, path(), node_label=None, node_attributes=None, edge_weight=None)
    assert_is(data, path(node_labels=[6, 6, 8, 7], **expected), node_attributes="x")
    assert_is([pyg_data(), path()], path(), path())
    column = pyg_data(x=codes, edge_attr=weights[:, None])
    attributes = [[6], [6], [8], [7]]
    assert_is(
        column, path(node_attributes=attributes, edge_weights=WEIGHTS), edge_weight="edge_attr"
    )


def test_pyg_edge_values():
    pytest.importorskip("torch_geometric")
    import torch

    table = torch.tensor([[1.5, 0], [1.25, 1], [1.0, 2], [-1.5, 0], [-1.25, 1], [-1.0, 2]])
    data = pyg_data(edge_attr=table, bond=torch.tensor([1, 2, 3, 4, 5, 6]))
    batch = as_graph_batch(data)
    assert batch.edge_labels is None
    assert batch.indices.tolist() == [1, 0, 2, 1, 3, 2]
    in_rows = [0, 3, 1, 4, 2, 5]  # 0 -> 1, 1 -> 0, 1 -> 2, ...
    assert batch.edge_attributes.tolist() == table[in_rows].tolist()
    batch = as_graph_batch(data, edge_label="bond", edge_attributes=None)
    assert batch.edge_labels.tolist() == [1, 4, 2, 5, 3, 6]
    assert batch.edge_attributes is None
    named = pyg_data(edge_attr=torch.tensor([1, 2, 3, 1, 2, 3]))
    assert_is(named, path(edge_attributes=[1, 2, 3]))
    assert_is(named, path(edge_labels=[1, 2, 3]), edge_label="edge_attr")
    both = path(edge_labels=[1, 2, 3], edge_attributes=[1, 2, 3])
    assert_is(named, both, edge_label="edge_attr", edge_attributes="edge_attr")
    # Under the default name a Data has labels of nodes.
    assert_is(pyg_data(label=torch.arange(4)), path(node_labels=range(4)))


def test_pyg_without_edges_or_nodes():
    pytest.importorskip("torch_geometric")
    import torch
    from torch_geometric.data import Data

    assert_is(Data(num_nodes=2), Graph(2, []))
    assert_is(Data(x=torch.ones(2, 1)), Graph(2, [], node_attributes=[[1], [1]]))


def test_pyg_bad_input():
    pytest.importorskip("torch_geometric")
    import torch
    from torch_geometric.data import Batch, Data, HeteroData

    for data, error, message in [
        (Batch(edge_index=torch.zeros(2, 1).long()), ValueError, "Batch.from_data_list"),
        (HeteroData(), TypeError, "HeteroData"),
        (Data(edge_index=torch.zeros(3, 1).long(), num_nodes=2), ValueError, "edge_index"),
        (Data(edge_index=torch.ones(2, 1), num_nodes=2), TypeError, "edge_index"),
        (Data(edge_index=torch.tensor([[0], [5]]), num_nodes=2), ValueError, "out of range"),
        (pyg_data(edge_weight=torch.ones(5)), ValueError, "edge_weight"),
        (pyg_data(edge_weight=torch.ones(6, 2)), ValueError, "one per edge"),
        (pyg_data(edge_weight=-torch.ones(6)), ValueError, "has the weight -1"),
        (pyg_data(x=torch.ones(3, 2)), ValueError, "expected 4 rows"),
        (pyg_data(x=torch.ones(4, 2, dtype=torch.complex64)), TypeError, "real numbers"),
        (pyg_data(label=torch.ones(4)), TypeError, "integers"),
        (pyg_data(edge_attr=torch.ones(5, 2)), ValueError, "edge_attr .* expected 6 rows"),
        (pyg_data(edge_attr=torch.ones(6, 2, 2)), ValueError, "edge_attr .* expected 6 rows"),
        (pyg_data(edge_attr=torch.ones(6).cfloat()), TypeError, "edge_attr .* real numbers"),
        (pyg_data(label=torch.ones(1).long()), ValueError, "expected 4 rows"),
        (pyg_data(adj_t=torch.eye(4)), None, None),
        (Data(adj_t=torch.eye(4), num_nodes=4), TypeError, "adj_t"),
    ]:
        if error is None:
            as_graph_batch(data)
            continue
        with pytest.raises(error, match=f"graph 1: .*{message}"):
            as_graph_batch([path(), data])
    with pytest.raises(ValueError, match=r"graph 0: edge \(0, 1\) has the attributes \[nan\]"):
        as_graph_batch(pyg_data(edge_attr=torch.full((6, 1), torch.nan)))
    for bond, error in [(torch.ones(6), TypeError), (torch.ones(5).long(), ValueError)]:
        with pytest.raises(error, match=r"graph 0: bond .* expected"):
            as_graph_batch(pyg_data(bond=bond), edge_label="bond")


# Labels and attributes of edges.


def test_edges_of_directed_graphs_keep_the_values_of_their_direction():
    ahead = {"label": "ahead", "attributes": [1.0]}
    back = {"label": "back", "attributes": [-1.0]}
    networkx = nx.DiGraph([("b", "a", back), ("a", "b", ahead)])
    networkx = nx.DiGraph(networkx.subgraph(["a", "b"]))
    rustworkx = rx.PyDiGraph()
    rustworkx.add_nodes_from([None, None])
    rustworkx.add_edges_from([(0, 1, ahead), (1, 0, back)])
    other = igraph.Graph([(0, 1), (1, 0)], directed=True)
    other.es["label"], other.es["attributes"] = ["ahead", "back"], [[1.0], [-1.0]]
    nodes = list(networkx)
    for graph in (networkx, rustworkx, other):
        batch = as_graph_batch(graph)
        flipped = graph is networkx and nodes[0] == "b"
        expected = ["back", "ahead"] if flipped else ["ahead", "back"]
        assert batch.edge_labels.tolist() == expected
        signs = [1.0 if label == "ahead" else -1.0 for label in expected]
        assert batch.edge_attributes.ravel().tolist() == signs
    with pytest.warns(UserWarning, match="made undirected"):
        one_way = as_graph_batch(nx.DiGraph([(0, 1, back)]))
    assert one_way.edge_labels.tolist() == ["back", "back"]


@pytest.mark.parametrize("turned", [False, True])
def test_of_parallel_edges_the_first_has_the_values(turned):
    ends = [(0, 1), (1, 0)][:: -1 if turned else 1]
    networkx, rustworkx = nx.MultiGraph(), rx.PyGraph()
    networkx.add_nodes_from([0, 1])
    rustworkx.add_nodes_from([None, None])
    for (u, v), label in zip(ends, ["first", "second"], strict=True):
        networkx.add_edge(u, v, label=label)
        rustworkx.add_edge(u, v, {"label": label})
    other = igraph.Graph(ends)
    other.es["label"] = ["first", "second"]
    for graph in (networkx, rustworkx, other):
        assert_is(graph, Graph(2, [(0, 1)], edge_labels=["first"]))


def test_edge_values_of_some_graphs_are_left_out_with_one_warning_each():
    full = path(edge_labels=BONDS, edge_attributes=LENGTHS)
    for graphs in ([full, path()], [nx_full(), nx.path_graph(4)], [full, adjacency(bool)]):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            batch = as_graph_batch(graphs, node_label=None, node_attributes=None)
        assert [str(w.message).split(":")[0] for w in caught] == [
            "graph 1 has no edge labels while others have",
            "graph 1 has no edge attributes while others have",
        ]
        assert {w.filename for w in caught} == {__file__}
        assert batch.edge_labels is batch.edge_attributes is None
    batch = as_graph_batch([full, nx.empty_graph(3), nx.Graph()])  # these lack no edge values
    assert batch.edge_labels.tolist() == as_graph_batch(full).edge_labels.tolist()


def test_edge_attributes_of_unequal_width_between_graphs():
    with pytest.raises(ValueError, match="graph 1: 2 edge attributes per edge, expected 1"):
        as_graph_batch(
            [path(edge_attributes=LENGTHS), path(edge_attributes=[[1, 2], [3, 4], [5, 6]])]
        )


# Collections.


def test_batch_is_returned_as_it_is():
    batch = as_graph_batch([path()])
    assert as_graph_batch(batch) is batch


def test_single_graphs_and_every_kind_of_iterable():
    objects = np.empty(2, object)
    objects[:] = [path(), path()]
    assert_is(path(), path())
    for graphs in ([path()] * 2, (path(),) * 2, objects, iter([path()] * 2)):
        assert_is(graphs, path(), path())
    assert_is((nx.path_graph(4) for _ in range(3)), path(), path(), path())


def test_mixture():
    graphs = [nx_full(), igraph_full(), rx_full(), FULL]
    assert_is(graphs, *[FULL] * 4)
    mixed = [nx.path_graph(4), adjacency(bool), sp.csr_array(adjacency()), path()]
    assert_is(mixed, path(), path(), path(edge_weights=WEIGHTS), path())


def test_round_trip():
    assert_is(FULL.to_networkx(), FULL)
    assert_is(FULL.to_scipy(), path(edge_weights=WEIGHTS))
    assert_is(path().to_networkx(), path())


def test_graphs_without_nodes():
    empty = [nx.Graph(), nx.MultiDiGraph(), igraph.Graph(), rx.PyGraph(), rx.PyDiGraph()]
    empty += [np.zeros((0, 0)), Graph(0, [])]
    batch = as_graph_batch([nx_full(), *empty])
    assert batch.node_counts.tolist() == [4] + [0] * len(empty)
    assert batch.node_labels.tolist() == LABELS  # graphs without nodes lack no labels
    assert as_graph_batch(empty).n_nodes == 0


def test_nodes_without_edges():
    graph = nx.empty_graph(3)
    assert_is([graph, igraph.Graph(3), np.zeros((3, 3))], *[Graph(3, [])] * 3)


def test_labels_of_some_graphs_are_left_out_with_one_warning():
    with pytest.warns(UserWarning, match="graph 1 has no node labels") as caught:
        batch = as_graph_batch([path(node_labels=LABELS), path(), path()])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert batch.node_labels is None


def test_one_way_edges_warn_once():
    one_way = np.triu(adjacency(bool))
    directed = [one_way, nx.DiGraph(EDGES), igraph.Graph(EDGES, directed=True)]
    with pytest.warns(UserWarning, match="the first is graph 1") as caught:
        batch = as_graph_batch([path(), *directed])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert_same(batch[2:4], as_graph_batch([path(), path()]))


# Names.


def test_names():
    graph = nx_full()
    renamed = nx.Graph()
    renamed.add_nodes_from(
        (n, {"atom": d["label"], "xy": d["attributes"]}) for n, d in graph.nodes(data=True)
    )
    renamed.add_edges_from(
        (u, v, {"strength": d["weight"], "bond": d["label"], "length": d["attributes"]})
        for u, v, d in graph.edges(data=True)
    )
    assert_is(renamed, path())
    names = {"node_label": "atom", "node_attributes": "xy", "edge_weight": "strength"}
    names |= {"edge_label": "bond", "edge_attributes": "length"}
    assert_is(renamed, FULL, **names)
    nothing = dict.fromkeys(names)
    for full in (graph, igraph_full(), rx_full(), FULL, adjacency()):
        assert_is(full, path(), **nothing)
    for argument, name in names.items():
        carrier = "an edge" if argument.startswith("edge") else "a node"
        complaint = f"{argument}='{name}' is found in no graph, expected the name of {carrier} attr"
        with pytest.raises(ValueError, match=complaint):
            as_graph_batch([graph, igraph_full()], **{argument: name})
        mixed = nx.Graph()
        mixed.add_edge(0, 1, **{"x": 1})
        mixed.edges[0, 1][7] = mixed.nodes[0][7] = mixed.nodes[0]["x"] = 2
        with pytest.raises(ValueError, match=f"{complaint}.* \\(.*s have 'x', 7\\)"):
            as_graph_batch(mixed, **{argument: name})
        assert len(as_graph_batch(nx.Graph(), **{argument: name})) == 1  # nothing to find
        with pytest.raises(TypeError, match=argument):
            as_graph_batch(graph, **{argument: 3})


def test_integer_labels_are_int64():
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: np.int8(3), 1: True}, "label")
    labels = as_graph_batch(graph).node_labels
    assert labels.dtype == np.int64
    assert labels.tolist() == [3, 1]


@pytest.mark.parametrize("values", [[1, 2.5], [[1], 2.5], [np.float32(1), np.array([2.5])]])
def test_number_attributes_are_one_column(values):
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, dict(enumerate(values)), "attributes")
    assert as_graph_batch(graph).node_attributes.tolist() == [[1.0], [2.5]]


@pytest.mark.parametrize("weight", [2, np.float32(2), np.int8(2), Fraction(2), 2.0])
def test_kinds_of_weights(weight):
    assert_is(nx.Graph([(0, 1, {"weight": weight})]), Graph(2, [(0, 1)], edge_weights=[2]))


# Bad input.


def nx_nodes(*values, name="label"):
    graph = nx.Graph()
    for node, value in enumerate(values):
        graph.add_node(f"n{node}", **({} if value is None else {name: value}))
    return graph


def nx_weight(weight):
    return nx.Graph([(0, 1, {"weight": weight}), (1, 2, {"weight": 1.0})])


def nx_edges(*values, name="label"):
    graph = nx.MultiGraph()
    for edge, value in enumerate(values):
        graph.add_edge(f"n{edge}", f"n{edge + 1}", **({} if value is None else {name: value}))
    return graph


def igraph_edges(*values, name="label"):
    graph = igraph.Graph([(k, k + 1) for k in range(len(values))])
    graph.es[name] = values
    return graph


def rx_edges(*values, name="label"):
    graph = rx.PyGraph()
    graph.add_nodes_from([None] * (len(values) + 1))
    for edge, value in enumerate(values):
        graph.add_edge(edge, edge + 1, None if value is None else {name: value})
    return graph


BAD_GRAPHS = {
    "non-square": (np.zeros((2, 3)), ValueError, r"\(2, 3\).*square"),
    "non-square sparse": (sp.csr_array((2, 3)), ValueError, r"\(2, 3\).*square"),
    "one-dimensional": (np.zeros(3), ValueError, "square"),
    "sparse vector": (sp.coo_array(np.ones(3)), ValueError, "square"),
    "nan": (np.full((2, 2), np.nan), ValueError, "has the weight nan"),
    "infinite": (sp.csr_array([[0, np.inf], [np.inf, 0]]), ValueError, "has the weight inf"),
    "negative": (-np.ones((2, 2)), ValueError, "has the weight -1"),
    "complex": (np.zeros((2, 2), complex), TypeError, "complex128"),
    "complex sparse": (sp.csr_array((2, 2), dtype=complex), TypeError, "complex128"),
    "object": (np.zeros((2, 2), object), TypeError, "object"),
    "strings": (np.array([["0", "1"], ["1", "0"]]), TypeError, "<U1"),
    "masked": (np.ma.masked_array(np.zeros((2, 2)), False), TypeError, "masked"),
    "nx nan": (nx_weight(float("nan")), ValueError, "has the weight nan"),
    "nx negative": (nx_weight(-2), ValueError, "has the weight -2"),
    "nx string": (nx_weight("1.5"), TypeError, "an edge has the weight '1.5'"),
    "nx None": (nx_weight(None), TypeError, "has the weight None"),
    "nx list": (nx_weight([1]), TypeError, r"has the weight \[1\]"),
    "nx complex": (nx_weight(1j), TypeError, "has the weight 1j"),
    "nx Decimal": (nx_weight(Decimal(1)), TypeError, "has the weight Decimal"),
    "nx huge": (nx_weight(10**400), ValueError, "too large"),
    "label missing": (nx_nodes(1, None), ValueError, "node 'n1' has no label"),
    "label nan": (nx_nodes(1, float("nan")), ValueError, "node 1 has the label nan"),
    "label unhashable": (nx_nodes(1, [2]), TypeError, r"node 1 has the label \[2\]"),
    "attributes missing": (
        nx_nodes([1], None, name="attributes"),
        ValueError,
        "node 'n1' has no attributes",
    ),
    "attributes unequal": (
        nx_nodes([1], [1, 2], name="attributes"),
        ValueError,
        "node 'n1' has 2 attributes under 'attributes', expected 1",
    ),
    "attributes string": (
        nx_nodes([1], ["1"], name="attributes"),
        TypeError,
        r"node 'n1' has the attributes \['1'\]",
    ),
    "attributes ragged": (
        nx_nodes([[1], [2, 3]], [1], name="attributes"),
        TypeError,
        "node 'n0' has the attributes",
    ),
    "attributes nan": (
        nx_nodes([1], [np.nan], name="attributes"),
        ValueError,
        r"node 'n1' has the attributes \[nan\]",
    ),
    "attributes huge": (
        nx_nodes([1], [10**400], name="attributes"),
        ValueError,
        "node 'n1' has an attribute that is too large for a float",
    ),
    "edge label missing": (nx_edges(1, None), ValueError, r"edge \('n1', 'n2'\) has no label"),
    "edge label missing in a directed graph": (
        nx.DiGraph([("a", "b", {"label": 1}), ("b", "a")]),
        ValueError,
        r"edge \('b', 'a'\) has no label, but other edges of this graph do",
    ),
    "edge label nan": (
        nx_edges(1, float("nan")),
        ValueError,
        r"edge \(1, 2\) has the label nan",
    ),
    "edge label unhashable": (nx_edges(1, [2]), TypeError, r"edge \(1, 2\) has the label \[2\]"),
    "edge attributes missing": (
        nx_edges([1], None, name="attributes"),
        ValueError,
        r"edge \('n1', 'n2'\) has no attributes",
    ),
    "edge attributes unequal": (
        nx_edges([1], [1, 2], name="attributes"),
        ValueError,
        r"edge \('n1', 'n2'\) has 2 attributes under 'attributes', expected 1 as the first",
    ),
    "edge attributes string": (
        nx_edges([1], ["1"], name="attributes"),
        TypeError,
        r"edge \('n1', 'n2'\) has the attributes \['1'\]",
    ),
    "edge attributes nan": (
        nx_edges([1], [np.nan], name="attributes"),
        ValueError,
        r"edge \('n1', 'n2'\) has the attributes \[nan\]",
    ),
    "igraph edge label missing": (
        igraph_edges("a", None),
        ValueError,
        r"edge \(1, 2\) has no label",
    ),
    "igraph edge attributes": (
        igraph_edges([1], "x", name="attributes"),
        TypeError,
        r"edge \(1, 2\) has the attributes 'x'",
    ),
    "rustworkx edge label missing": (
        rx_edges("a", None),
        ValueError,
        r"edge \(1, 2\) has no label",
    ),
    "rustworkx edge attributes": (
        rx_edges([1], [2, 3], name="attributes"),
        ValueError,
        r"edge \(1, 2\) has 2 attributes",
    ),
    "nested list": ([[0, 1], [1, 0]], TypeError, "numpy.array"),
    "batch": (as_graph_batch(path()), TypeError, "GraphBatch.concatenate"),
    "None": (None, TypeError, "got None, expected a graph: RDKit returns"),
    "number": (3, TypeError, "type int"),
    "numpy number": (np.float64(3), TypeError, "type float64"),
    "dict": ({0: 1}, TypeError, r"type dict\. .* is \{node: \[neighbours\]\}"),
    "edges": ([[(0, 1), (1, 2)]], TypeError, r"type list\. .* gm.Graph\(n_nodes, edges\)"),
    "class": (nx.Graph, TypeError, "type type"),
}


@pytest.mark.parametrize(("graph", "error", "message"), BAD_GRAPHS.values(), ids=BAD_GRAPHS)
def test_bad_graph_is_named_by_its_index(graph, error, message):
    with pytest.raises(error, match=f"^graph 1: .*{message}"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        as_graph_batch([nx.Graph(), graph])


@pytest.mark.parametrize(
    "graphs",
    ["ab", b"ab", None, 3, 2.5, {}, {0: 1, 1: 0}, object(), np.zeros(3), np.zeros((1, 2, 2, 2))]
    + [np.array(path()), np.float64(1), nx.Graph, lambda: None, [[0, 1], [1, 0]]],
    ids=lambda value: type(value).__name__,
)
def test_not_graphs(graphs):
    with pytest.raises(TypeError, match=r"[Ee]xpected"):
        as_graph_batch(graphs)


@pytest.mark.parametrize("graphs", [[], (), iter([]), np.zeros((0, 2, 2)), np.zeros(0, object)])
def test_no_graphs(graphs):
    with pytest.raises(ValueError, match="got no graphs"):
        as_graph_batch(graphs)


def test_attributes_of_unequal_width_between_graphs():
    wide, narrow = path(node_attributes=ATTRIBUTES), path(node_attributes=[[1]] * 4)
    with pytest.raises(ValueError, match="graph 1: 1 node attributes per node, expected 2"):
        as_graph_batch([wide, narrow])


def test_an_error_of_the_callers_generator_passes_through():
    def graphs():
        yield path()
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        as_graph_batch(graphs())


def test_callers_objects_are_unchanged():
    noncanonical = sp.csr_array(
        (np.ones(4), np.array([1, 1, 0, 0]), np.array([0, 2, 4])), shape=(2, 2)
    )
    graph, dense = nx_full(), adjacency()
    before = copy.deepcopy((graph._adj, graph._node)), dense.copy(), pickle.dumps(rx_full())
    nothing = dict.fromkeys(["node_label", "node_attributes", "edge_label", "edge_attributes"])
    as_graph_batch([graph, dense, noncanonical, rx_full()], **nothing)
    assert (graph._adj, graph._node) == before[0]
    np.testing.assert_array_equal(dense, before[1])
    assert noncanonical.indices.tolist() == [1, 1, 0, 0]


def test_no_library_is_imported_to_find_out():
    import subprocess

    code = (
        "import sys, numpy as np, graphmover as gm; gm.as_graph_batch(np.eye(3));"
        "print([m for m in ('networkx', 'igraph', 'rustworkx', 'torch') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
    assert gm.as_graph_batch is as_graph_batch


# Properties.


@st.composite
def simple_graphs(draw):
    n = draw(st.integers(0, 7))
    pairs = [(u, v) for u in range(n) for v in range(u)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    weights = draw(
        st.none() | st.lists(st.floats(0.5, 9), min_size=len(edges), max_size=len(edges))
    )
    bonds = draw(st.lists(st.sampled_from([1, "x"]), min_size=len(edges), max_size=len(edges)))
    return n, edges, weights, bonds


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(simple_graphs(), min_size=1, max_size=4))
def test_all_formats_agree(drawn):
    graphs = [
        Graph(
            n,
            edges,
            edge_weights=weights,
            edge_labels=bonds,
            edge_attributes=np.arange(len(edges)),
        )
        for n, edges, weights, bonds in drawn
    ]
    expected = as_graph_batch(graphs)
    networkx, igraphs, rustworkx = [], [], []
    for n, edges, weights, bonds in drawn:
        graph = nx.empty_graph(n)
        other = igraph.Graph(n=n, edges=edges)
        third = rx.PyGraph()
        third.add_nodes_from([None] * n)
        for k, (edge, bond) in enumerate(zip(edges, bonds, strict=True)):
            values = {"label": bond, "attributes": k}
            if weights is not None:
                values["weight"] = weights[k]
            graph.add_edge(*edge, **values)
            third.add_edge(*edge, values)
        other.es["label"], other.es["attributes"] = bonds, list(range(len(edges)))
        if weights is not None:
            other.es["weight"] = weights
        networkx.append(graph)
        igraphs.append(other)
        rustworkx.append(third)
    sparse = [graph.to_scipy() for graph in graphs]
    dense = [matrix.toarray() for matrix in sparse]
    directed = [graph.to_directed() for graph in networkx]
    multi = [nx.MultiGraph(graph) for graph in networkx]
    again = [graph.to_networkx() for graph in graphs]
    for form in (networkx, igraphs, rustworkx, directed, multi, again):
        assert_same(as_graph_batch(form), expected)
    mixed = [(networkx, igraphs, rustworkx)[i % 3][i] for i in range(len(graphs))]
    assert_same(as_graph_batch(mixed), expected)
    bare = as_graph_batch(graphs, edge_label=None, edge_attributes=None)
    for form in (sparse, dense):
        assert_same(as_graph_batch(form), bare)


@pytest.mark.parametrize(
    "source, hint",
    [
        (
            "x.parquet",
            r"gm.read_graphs\(path\).graphs, or pass it to transform_to; ",
        ),
        (
            Path("x.parquet"),
            r"gm.read_graphs\(path\).graphs, or pass it to transform_to; ",
        ),
        ([Path("x.parquet")], r"gm.read_graphs\(path\).graphs, or pass it to transform_to"),
        ([gm.make_graph_families(60, random_state=0)], r"of a Dataset: data.graphs\. Expected"),
    ],
)
def test_what_holds_graphs_but_is_none_gets_a_hint(source, hint):
    with pytest.raises(TypeError, match=hint):
        as_graph_batch(source)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
values = scalars | st.lists(scalars, max_size=3) | st.tuples(scalars, scalars)


@st.composite
def garbage_networkx(draw):
    graph = draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph]))()
    for node in range(draw(st.integers(0, 4))):
        graph.add_node(
            node, **draw(st.dictionaries(st.sampled_from(["label", "attributes"]), values))
        )
    for _ in range(draw(st.integers(0, 4))):
        u, v = draw(st.integers(0, 4)), draw(st.integers(0, 4))
        keys = st.sampled_from(["weight", "label", "attributes"])
        graph.add_edge(u, v, **draw(st.dictionaries(keys, values)))
    return graph


@st.composite
def garbage_arrays(draw):
    shape = draw(st.lists(st.integers(0, 3), max_size=4))
    dtype = draw(st.sampled_from([bool, int, float, complex, object, "U2", "M8[s]", "i4,f8"]))
    return np.zeros(shape, dtype) if draw(st.booleans()) else np.ones(shape).astype(float) * np.nan


@st.composite
def garbage_rustworkx(draw):
    graph = rx.PyDiGraph()
    graph.add_nodes_from([draw(values | st.just({"label": 1})) for _ in range(3)])
    graph.add_edge(0, 2, draw(values | st.just({"weight": "x"})))
    graph.add_edge(0, 1, draw(values | st.just({"label": [], "attributes": "x"})))
    return graph


garbage = st.recursive(
    scalars | st.binary(max_size=2) | garbage_networkx() | garbage_arrays() | garbage_rustworkx(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=5,
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(garbage)
def test_garbage_raises_type_or_value_errors_only(graphs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            batch = as_graph_batch(graphs)
        except (TypeError, ValueError) as error:
            assert str(error)
        else:
            assert isinstance(batch, GraphBatch)
