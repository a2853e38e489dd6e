import json

import numpy as np
import pytest
from batches import LABELS, assert_same, batch_with, two_way_batch
from graph_zoo import SYMMETRIC, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmover as gm
from graphmover.nodes.labels import label_codes

pa = pytest.importorskip("pyarrow")


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_return(kind):
    batch = batch_with(LABELS[kind])
    back = gm.GraphBatch.from_arrow(batch.to_arrow())
    assert_same(batch, back)
    assert (label_codes(back.node_labels) == label_codes(batch.node_labels)).all()


@pytest.mark.parametrize("kind", LABELS)
def test_edge_labels_of_every_kind_return(kind):
    batch = gm.GraphBatch.from_edges(
        [2, 0, 3], [1, 0, 2], [(0, 1), (0, 1), (1, 2)], edge_labels=LABELS[kind]
    )
    back = gm.GraphBatch.from_arrow(batch.to_arrow())
    assert_same(batch, back)
    assert (label_codes(back.edge_labels) == label_codes(batch.edge_labels)).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_edge_values_of_both_directions_return(seed, sizes):
    rng = np.random.default_rng(seed)
    batch = two_way_batch(rng, sizes)
    table = batch.to_arrow()
    back = gm.GraphBatch.from_arrow(table)
    if batch.n_edges:
        assert_same(batch, back)
    shuffled = table.to_pydict()  # each node's neighbours in another order, values beside them
    for graph in range(len(batch)):
        for node, row in enumerate(shuffled["neighbours"][graph]):
            order = rng.permutation(len(row))
            for column in shuffled.values():
                column[graph][node] = [column[graph][node][k] for k in order]
    types = {name: table.schema.field(name) for name in table.column_names}
    arrays = [pa.array(shuffled[name], types[name].type) for name in types]
    other = gm.GraphBatch.from_arrow(pa.Table.from_arrays(arrays, schema=table.schema))
    if batch.n_edges:
        assert_same(batch, other)


def test_attributes_weights_isolated_nodes_and_empty_graphs_return():
    batch = batch_with(["C", "N", "O"], [[0.1, -2], [1e-300, 3], [4, 5]], [0.25])
    assert_same(batch, gm.GraphBatch.from_arrow(batch.to_arrow()))
    nothing = batch[:0]
    assert len(gm.GraphBatch.from_arrow(nothing.to_arrow())) == 0
    symmetric = gm.as_graph_batch(list(SYMMETRIC.values()))
    assert_same(symmetric, gm.GraphBatch.from_arrow(symmetric.to_arrow()))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 12), min_size=1, max_size=8), st.booleans())
def test_random_graphs_return(seed, sizes, weighted):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, n, labels=3, weighted=weighted) for n in sizes]
    plain = gm.as_graph_batch(graphs)
    batch = gm.GraphBatch(
        plain.offsets,
        plain.indptr,
        plain.indices,
        plain.edge_weights,
        plain.node_labels,
        rng.random((plain.n_nodes, 3)),
    )
    table = batch.to_arrow()
    assert_same(batch, gm.GraphBatch.from_arrow(table))
    start, stop = sorted(rng.integers(0, len(batch) + 1, 2).tolist())
    assert_same(batch[start:stop], gm.GraphBatch.from_arrow(table.slice(start, stop - start)))
    pieces = pa.concat_tables([table.slice(i, 1) for i in range(len(batch))])
    assert_same(batch, gm.GraphBatch.from_arrow(pieces))


def test_nothing_is_copied():
    batch = batch_with([1, 2, 3], [[1.0], [2.0], [3.0]], [0.5], edge_labels=[7])
    back = gm.GraphBatch.from_arrow(batch.to_arrow())
    for name in ("offsets", "indptr", "indices", "edge_weights", "node_labels", "edge_labels"):
        assert np.shares_memory(getattr(batch, name), getattr(back, name)), name


def test_tables_of_other_programs_are_read():
    """Lists of any kind, one-way edges, loops, repeated and unsorted neighbours."""
    table = {"neighbours": [[[2, 1, 1, 0], [], []], [[]]], "node_labels": [["a", "b", "a"], ["c"]]}
    with pytest.warns(UserWarning, match="made undirected"):
        batch = gm.GraphBatch.from_arrow(table)
    assert batch[0].edges.tolist() == [[0, 1], [0, 2]]
    assert batch.node_labels.tolist() == ["a", "b", "a", "c"]
    one_way = {"neighbours": [[[2, 1, 1], [], []]], "edge_labels": [[["b", "a", "x"], [], []]]}
    one_way["edge_attributes"] = [[[2, 1, 9], [], []]]
    with pytest.warns(UserWarning, match="made undirected"):
        batch = gm.GraphBatch.from_arrow(one_way)
    assert batch.edge_labels.tolist() == ["a", "b", "a", "b"]
    assert batch.edge_attributes.tolist() == [[1], [2], [1], [2]]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"neighbours": [[[1], [0]]], "node_attributes": [[0.5, 2.0]]})
    batch = gm.GraphBatch.from_arrow(pa.Table.from_pandas(frame))
    assert batch.node_attributes.tolist() == [[0.5], [2.0]]
    labels = pa.array([["a", "b"]], pa.list_(pa.dictionary(pa.int8(), pa.string())))
    batch = gm.GraphBatch.from_arrow({"neighbours": [[[1], [0]]], "node_labels": labels})
    assert batch.node_labels.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "table, message",
    [
        ({"x": [1]}, "no column 'neighbours' among \\['x'\\]"),
        ({"neighbours": [1]}, "'neighbours' holds int64, expected large_list"),
        ({"neighbours": [[[0.5]]]}, "'neighbours' holds list"),
        ({"neighbours": [[[1], [0]], None]}, "graph 1: neighbours is null"),
        ({"neighbours": [[[1], None]]}, "graph 0: node 1 has null in neighbours"),
        ({"neighbours": [[[]], [[1], [5]]]}, r"graph 1: edge \(1, 5\) is out of range"),
        ({"neighbours": [[[]], [[-1]]]}, r"graph 1: edge \(0, -1\) is out of range"),
        ({"neighbours": [[[]]], "node_labels": [[1, 2]]}, "graph 0: 2 node labels, expected one"),
        (
            {"neighbours": [[[]]], "node_labels": [[None]]},
            "graph 0: node 0 has null in node_labels",
        ),
        ({"neighbours": [[[]]], "node_labels": [5]}, "'node_labels' holds int64, expected a list"),
        ({"neighbours": [[[]]], "node_attributes": [["a"]]}, "holds string, expected numbers"),
        (
            {"neighbours": [[[], []]], "node_attributes": [[[1.0], [1.0, 2.0]]]},
            "graph 0: node 1 has 2 attributes, expected 1 as the first node has",
        ),
        (
            {"neighbours": [[[]]], "node_attributes": [[[float("nan")]]]},
            "graph 0: node 0 has the attributes",
        ),
        (
            {"neighbours": [[[1], [0]]], "edge_weights": [[[1.0], []]]},
            "graph 0: node 1 has 0 edge_weights, expected one for each of its 1 neighbours",
        ),
        (
            {"neighbours": [[[1], [0]]], "edge_weights": [[[1.0], [-2.0]]]},
            r"graph 0: edge \(1, 0\) has the weight -2.0",
        ),
        ({"neighbours": [[[None]]]}, "graph 0: node 0 has null in its list of neighbours"),
        (
            {"neighbours": [[[]], [[], []]], "node_attributes": [[[1.0]], [[1.0], [None]]]},
            "graph 1: node 1 has null in node_attributes",
        ),
        (
            {"neighbours": [[[]], [[1], [0]]], "edge_labels": [[[]], [["a"], ["b", "c"]]]},
            "graph 1: node 1 has 2 edge_labels, expected one for each of its 1 neighbours",
        ),
        (
            {"neighbours": [[[]], [[1], [0]]], "edge_labels": [[[]], [["a"], [None]]]},
            "graph 1: node 1 has null in its list of edge_labels",
        ),
        (
            {"neighbours": [[[]], [[1], [0]]], "edge_labels": [[], [["a"], ["b"]]]},
            "graph 0: 0 edge labels, expected one for each of 1 nodes",
        ),
        (
            {"neighbours": [[[1], [0]]], "edge_labels": [["a", "b"]]},
            "'edge_labels' holds string per node, expected lists",
        ),
        (
            {"neighbours": [[[]], [[1], [0]]], "edge_labels": [[[]], [[0.5], [float("nan")]]]},
            r"graph 1: edge \(1, 0\) has the label nan",
        ),
        (
            {"neighbours": [[[]], [[1], [0]]], "edge_attributes": [[[]], [[[1.0]], [[1.0, 2.0]]]]},
            r"graph 1: edge \(1, 0\) has 2 attributes, expected 1 as the first edge has",
        ),
        (
            {"neighbours": [[[]], [[1], [0]]], "edge_attributes": [[[]], [[1.0], [float("inf")]]]},
            r"graph 1: edge \(1, 0\) has the attributes \[inf\]",
        ),
        (
            {"neighbours": [[[1], [0]]], "edge_attributes": [[[[1.0]], [[None]]]]},
            r"graph 0: edge \(1, 0\) has null in edge_attributes",
        ),
        (
            {"neighbours": [[[1], [0]]], "edge_attributes": [[["a"], ["b"]]]},
            "edge_attributes holds string, expected numbers",
        ),
    ],
)
def test_bad_tables_are_rejected(table, message):
    with pytest.raises((TypeError, ValueError), match=message):
        gm.GraphBatch.from_arrow(table)


def test_labels_that_arrow_cannot_hold_are_named():
    with pytest.raises(TypeError, match="Arrow cannot hold frozenset"):
        batch_with([frozenset([1]), 2, 3]).to_arrow()


def test_marked_labels_are_json():
    column = batch_with(LABELS["tuple"]).to_arrow()["node_labels"].to_pylist()
    assert [json.loads(text) for text in column[0]] == [["C", 1], ["C", 2]]
