import pickle
import tracemalloc

import numpy as np
import pytest
from graph_zoo import cycle, random_graph, star
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, train_test_split
from sklearn.utils import indexable, shuffle

import graphmover as gm


def assert_same_graph(a, b):
    assert a.n_nodes == b.n_nodes
    for name in ("edges", "edge_weights", "node_labels", "node_attributes"):
        left, right = getattr(a, name), getattr(b, name)
        assert (left is None) == (right is None), name
        if left is not None:
            assert left.tolist() == right.tolist(), name


@pytest.fixture
def batch():
    graphs = [
        gm.Graph(3, [(0, 1), (1, 2)], node_labels=list("abc"), node_attributes=np.eye(3)),
        gm.Graph(0, []),
        gm.Graph(2, [], node_labels=list("de"), node_attributes=np.ones((2, 3))),
        gm.Graph(2, [(1, 0)], node_labels=["f", 7], node_attributes=np.zeros((2, 3))),
    ]
    return gm.as_graph_batch(graphs)


def test_edges_are_simple_and_undirected():
    graph = gm.Graph(4, [(2, 1), (1, 2), (1, 2), (3, 3), (0, 3)], edge_weights=[1, 2, 3, 4, 0])
    assert graph.edges.tolist() == [[1, 2]]
    assert graph.edge_weights.tolist() == [3.0]
    assert gm.Graph(3, [(0, 1)], edge_weights=[1.0]).edge_weights is None
    assert graph.to_scipy().toarray().tolist() == [
        [0, 0, 0, 0],
        [0, 0, 3, 0],
        [0, 3, 0, 0],
        [0] * 4,
    ]


def test_a_batch_gives_back_its_graphs(batch):
    assert len(batch) == 4
    assert batch.shape == (4,)
    assert batch.node_counts.tolist() == [3, 0, 2, 2]
    assert batch.edge_counts.tolist() == [2, 0, 0, 1]
    assert batch[0].node_labels.tolist() == ["a", "b", "c"]
    assert batch[-1].node_labels.tolist() == ["f", 7]
    assert [graph.n_nodes for graph in batch] == [3, 0, 2, 2]
    assert "7 nodes in 4 graphs, node labels, node attributes" in repr(batch)


@pytest.mark.parametrize(
    "key",
    [
        slice(1, 4),
        slice(3, 9),
        slice(3, 1),
        slice(None, None, -1),
        [3, 0, 0],
        [],
        np.array([True, False, False, True]),
    ],
)
def test_choosing_graphs(batch, key):
    expected = [batch[int(i)] for i in np.arange(4)[key]]
    chosen = batch[key]
    assert len(chosen) == len(expected)
    for a, b in zip(chosen, expected, strict=True):
        assert_same_graph(a, b)


def test_consecutive_graphs_are_chosen_without_a_look_at_the_others():
    batch = gm.as_graph_batch([cycle(10)])[np.zeros(100_000, int)]
    tracemalloc.start()
    part = batch[50_000:50_100]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000
    assert np.shares_memory(part.indices, batch.indices)
    assert_same_graph(part[99], batch[50_099])


@pytest.mark.parametrize(
    "key, error",
    [(4, IndexError), (-5, IndexError), ([0, 9], IndexError), ([True], IndexError)]
    + [(1.5, TypeError), ("a", TypeError), ([[0]], TypeError), (None, TypeError)],
)
def test_bad_indices(batch, key, error):
    with pytest.raises(error):
        batch[key]


def test_concatenation_joins_and_pickling_keeps(batch):
    weighted = gm.as_graph_batch(
        gm.Graph(2, [(0, 1)], edge_weights=[2.5], node_labels=[1, 2], node_attributes=np.eye(2, 3))
    )
    joined = gm.GraphBatch.concatenate([batch, weighted, batch[:0]])
    assert joined.edge_weights.tolist() == [1.0] * 6 + [2.5] * 2
    for a, b in zip(pickle.loads(pickle.dumps(joined)), joined, strict=True):
        assert_same_graph(a, b)
    assert_same_graph(joined[4], weighted[0])


def test_concatenation_of_unlike_batches(batch):
    plain = gm.as_graph_batch(cycle(3))
    with pytest.warns(UserWarning) as warned:
        joined = gm.GraphBatch.concatenate([batch, plain])
    assert [str(w.message).split(":")[0] for w in warned] == [
        "graph 4 has no node labels while others have",
        "graph 4 has no node attributes while others have",
    ]
    assert joined.node_labels is None
    narrow = gm.as_graph_batch(gm.Graph(1, [], node_labels=[0], node_attributes=[[1.0]]))
    with pytest.raises(ValueError, match="graph 4: 1 node attributes per node, expected 3"):
        gm.GraphBatch.concatenate([batch, narrow])
    with pytest.raises(ValueError, match="at least one batch"):
        gm.GraphBatch.concatenate([])


def test_scikit_learn_takes_a_batch_as_it_takes_an_array(batch):
    train, test, _, y_test = train_test_split(batch, [0, 1, 2, 3], random_state=0)
    assert len(train) == 3
    assert test[0].n_nodes == batch[y_test[0]].n_nodes
    assert isinstance(train, gm.GraphBatch)
    for train_rows, _ in KFold(2).split(batch):
        assert len(batch[train_rows]) == 2
    assert len(indexable(batch, [1, 2, 3, 4])[0]) == 4
    assert len(shuffle(batch, random_state=0)) == 4


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ((-1, []), ValueError, "n_nodes must be at least 0, got -1"),
        ((2.0, []), TypeError, "n_nodes must be an integer, got 2.0"),
        ((2, [(0, 2)]), ValueError, r"edge \(0, 2\) is out of range, the graph has 2 nodes"),
        ((2, [(-1, 0)]), ValueError, r"edge \(-1, 0\) is out of range"),
        ((2, [(0, 1, 1)]), ValueError, r"edges must have the shape \(m, 2\), got \(1, 3\)"),
        ((2, [(0.0, 1.0)]), TypeError, "edges must be whole numbers, got an array of float64"),
        ((2, "ab"), ValueError, "edges must have the shape"),
    ],
)
def test_bad_graphs_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        gm.Graph(*arguments)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"edge_weights": [np.nan]}, ValueError, r"edge \(0, 1\) has the weight nan"),
        ({"edge_weights": [np.inf]}, ValueError, r"edge \(0, 1\) has the weight inf"),
        ({"edge_weights": [-1.0]}, ValueError, r"edge \(0, 1\) has the weight -1.0"),
        ({"edge_weights": [1.0, 2.0]}, ValueError, r"shape \(2,\), expected \(1,\)"),
        ({"edge_weights": ["a"]}, TypeError, "edge weights must be real numbers"),
        ({"node_labels": [1]}, ValueError, "node_labels has 1 entries for 2 nodes"),
        ({"node_labels": [1, [2]]}, TypeError, r"node 1 has the label \[2\], expected a hashable"),
        ({"node_labels": [1, np.nan]}, ValueError, "node 1 has the label nan"),
        ({"node_labels": np.eye(2)}, ValueError, "give a tuple per node"),
        ({"node_attributes": [[1.0]]}, ValueError, r"shape \(1, 1\), expected a row for each of 2"),
        ({"node_attributes": [[1.0], [np.inf]]}, ValueError, r"node 1 has the attributes \[inf\]"),
        ({"node_attributes": [["a"], ["b"]]}, TypeError, "node attributes must be real numbers"),
    ],
)
def test_bad_node_and_edge_data_is_named(options, error, message):
    with pytest.raises(error, match=message):
        gm.Graph(2, [(0, 1)], **options)


def test_in_a_batch_the_culprits_index_is_named():
    counts, edges = [2, 3], [(0, 1), (0, 1), (1, 2)]
    with pytest.raises(ValueError, match=r"graph 1: edge \(1, 2\) has the weight nan"):
        gm.GraphBatch.from_edges(counts, [1, 2], edges, edge_weights=[1, 1, np.nan])
    with pytest.raises(ValueError, match=r"graph 0: edge \(1, 2\) is out of range"):
        gm.GraphBatch.from_edges(counts, [3, 0], edges)
    with pytest.raises(TypeError, match=r"graph 1: node 1 has the label \{\}"):
        gm.GraphBatch.from_edges(counts, [1, 2], edges, node_labels=["a", 1, 2, {}, 3])
    with pytest.raises(ValueError, match="edges has 3 rows, expected 2"):
        gm.GraphBatch.from_edges(counts, [1, 1], edges)
    with pytest.raises(TypeError, match="node_counts must be a one-dimensional array of whole"):
        gm.GraphBatch.from_edges([2.7, 3], [1, 2], edges)
    with pytest.raises(ValueError, match="graph 1: edge_counts is -1"):
        gm.GraphBatch.from_edges(counts, [4, -1], edges)
    with pytest.raises(ValueError, match="node_counts has 2 entries, edge_counts 1"):
        gm.GraphBatch.from_edges(counts, [3], edges)
    with pytest.raises(ValueError, match=r"directed has the shape \(1,\), expected \(2,\)"):
        gm.GraphBatch.from_edges(counts, [1, 2], edges, directed=[True])


def test_a_batch_cannot_be_changed_through_its_graphs(batch):
    with pytest.raises(ValueError, match="read-only"):
        batch[0].node_labels[0] = "z"


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_batches_of_random_graphs_give_them_back(seed, weighted):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, n, labels=3, weighted=weighted) for n in rng.integers(1, 9, 6)]
    batch = gm.as_graph_batch(graphs)
    for a, b in zip(batch, graphs, strict=True):
        assert_same_graph(a, b)
    halves = gm.GraphBatch.concatenate([batch[:3], batch[3:]])
    for a, b in zip(halves, graphs, strict=True):
        assert_same_graph(a, b)


def test_star_has_a_readable_repr():
    assert repr(star(4)) == "Graph(n_nodes=4, n_edges=3, no node_labels, no attributes, no weights)"
