import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from batches import assert_same, two_way_batch
from graph_zoo import cycle, random_graph, star
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, train_test_split
from sklearn.utils import indexable, shuffle

import graphmover as gm


def assert_same_graph(a, b):
    assert (a.n_nodes, a.id) == (b.n_nodes, b.id)
    for name in set(gm.Graph.__slots__) - {"n_nodes", "id", "_behind"}:
        left, right = getattr(a, name), getattr(b, name)
        assert (left is None) == (right is None), name
        if left is not None:
            assert left.tolist() == right.tolist(), name


@pytest.fixture
def batch():
    graphs = [
        gm.Graph(
            3,
            [(0, 1), (1, 2)],
            node_labels=list("abc"),
            node_attributes=np.eye(3),
            edge_labels=["x", 1],
            edge_attributes=[[0.5, 1.5], [2.5, 3.5]],
        ),
        gm.Graph(0, []),
        gm.Graph(2, [], node_labels=list("de"), node_attributes=np.ones((2, 3))),
        gm.Graph(
            2,
            [(1, 0)],
            node_labels=["f", 7],
            node_attributes=np.zeros((2, 3)),
            edge_labels=["y"],
            edge_attributes=[[4.5, 5.5]],
        ),
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
    assert batch[0].edge_labels.tolist() == ["x", 1]
    assert batch[3].edge_attributes.tolist() == [[4.5, 5.5]]
    described = "nodes in 4 graphs, node labels, node attributes, edge labels, edge attributes)"
    assert described in repr(batch)


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
        gm.Graph(
            2,
            [(0, 1)],
            edge_weights=[2.5],
            node_labels=[1, 2],
            node_attributes=np.eye(2, 3),
            edge_labels=[9],
            edge_attributes=[[1, 2]],
        )
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
        "graph 4 has no edge labels while others have",
        "graph 4 has no edge attributes while others have",
    ]
    assert joined.node_labels is joined.edge_labels is joined.edge_attributes is None
    narrow = gm.as_graph_batch(gm.Graph(1, [], node_labels=[0], node_attributes=[[1.0]]))
    with pytest.raises(ValueError, match="graph 4: 1 node attributes per node, expected 3"):
        gm.GraphBatch.concatenate([batch, narrow])
    narrow = gm.Graph(
        2,
        [(0, 1)],
        node_labels=[0, 0],
        node_attributes=np.eye(2, 3),
        edge_labels=[1],
        edge_attributes=[1],
    )
    with pytest.raises(ValueError, match="graph 4: 1 edge attributes per edge, expected 2"):
        gm.GraphBatch.concatenate([batch, gm.as_graph_batch(narrow)])
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
        ((3, [(0, 1), (1, 2, 5)]), ValueError, r"edge 1 is \(1, 2, 5\), expected two node numbers"),
        ((2, [(0.0, 1.0)]), TypeError, "edges must be integers, got an array of float64"),
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
        ({"node_labels": [1]}, ValueError, "node_labels has 1 entry for 2 nodes"),
        ({"node_labels": [1, [2]]}, TypeError, r"node 1 has the label \[2\], expected a hashable"),
        ({"node_labels": [1, np.nan]}, ValueError, "node 1 has the label nan"),
        ({"node_labels": np.eye(2)}, ValueError, "give a tuple per node"),
        ({"node_attributes": [[1.0]]}, ValueError, r"shape \(1, 1\), expected a row for each of 2"),
        ({"node_attributes": [[1.0], [np.inf]]}, ValueError, r"node 1 has the attributes \[inf\]"),
        ({"node_attributes": [["a"], ["b"]]}, TypeError, "node attributes must be real numbers"),
        (
            {"node_attributes": [[1], [-(10**400)]]},
            ValueError,
            "node 1 has an attribute .* too large",
        ),
        ({"node_attributes": [[1], [1, 2]]}, ValueError, "node_attributes has rows of different"),
        ({"edge_labels": [1, 2]}, ValueError, "edge_labels has 2 entries for 1 edge"),
        ({"edge_labels": [[2]]}, TypeError, r"edge \(0, 1\) has the label \[2\], expected a hash"),
        ({"edge_labels": [np.nan]}, ValueError, r"edge \(0, 1\) has the label nan"),
        ({"edge_labels": np.eye(1)}, ValueError, "give a tuple per edge"),
        (
            {"edge_attributes": [[1], [2]]},
            ValueError,
            r"\(2, 1\), expected a row for each of 1 edg",
        ),
        (
            {"edge_attributes": [[-np.inf]]},
            ValueError,
            r"edge \(0, 1\) has the attributes \[-inf\]",
        ),
        ({"edge_attributes": [["a"]]}, TypeError, "edge attributes must be real numbers"),
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
    with pytest.raises(TypeError, match=r"graph 1: edge \(1, 2\) has the label \{\}"):
        gm.GraphBatch.from_edges(counts, [1, 2], edges, edge_labels=["a", 1, {}])
    with pytest.raises(ValueError, match=r"graph 1: edge \(0, 1\) has the attributes \[0.0, nan\]"):
        gm.GraphBatch.from_edges(
            counts, [1, 2], edges, edge_attributes=[[0, 1], [0, np.nan], [1, 1]]
        )
    with pytest.raises(ValueError, match="edges has 3 rows, expected 2"):
        gm.GraphBatch.from_edges(counts, [1, 1], edges)
    with pytest.raises(TypeError, match="node_counts must be a one-dimensional array of integers"):
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


def test_graphs_have_a_readable_repr():
    assert repr(star(4)) == "Graph(n_nodes=4, n_edges=3, no node_labels, no attributes, no weights)"
    full = gm.Graph(2, [(0, 1)], edge_labels=[1], edge_attributes=[[1.0]])
    assert repr(full).endswith("no weights, edge_labels, edge_attributes)")


# Labels and attributes of edges.


def naive_values(edges, weights, values):
    """What each entry u -> v has: the value of the first row u, v, or else of the first v, u."""
    rows = {}
    for turn in (1, -1):
        for edge, weight, value in zip(edges, weights, values, strict=True):
            u, v = edge[::turn]
            if u != v and weight > 0:
                rows.setdefault((u, v), value)
    return [rows[entry] for entry in sorted(rows)]


@st.composite
def edge_lists(draw):
    n = draw(st.integers(1, 5))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=12))
    return n, edges, [draw(st.sampled_from([0.0, 1.0, 2.5])) for _ in edges]


@settings(max_examples=100, deadline=None)
@given(st.lists(edge_lists(), min_size=1, max_size=4), st.booleans())
def test_edge_values_are_those_of_the_first_row_in_their_direction(graphs, weighted):
    expected, number = [], 0
    for _, edges, weights in graphs:
        values = range(number, number + len(edges))
        expected += naive_values(edges, weights if weighted else [1.0] * len(edges), values)
        number += len(edges)
    batch = gm.GraphBatch.from_edges(
        [n for n, _, _ in graphs],
        [len(edges) for _, edges, _ in graphs],
        [edge for _, edges, _ in graphs for edge in edges],
        edge_weights=[w for _, _, weights in graphs for w in weights] if weighted else None,
        edge_labels=[f"row {k}" for k in range(number)],
        edge_attributes=np.arange(number),
    )
    assert batch.edge_labels.tolist() == [f"row {k}" for k in expected]
    assert batch.edge_attributes.ravel().tolist() == expected
    assert batch.edge_attributes.shape == (len(batch.indices), 1)


def test_of_repeated_edges_the_largest_weight_and_the_first_values_stay():
    batch = gm.GraphBatch.from_edges(
        [3],
        [5],
        [(0, 1), (1, 0), (0, 1), (1, 2), (2, 1)],
        edge_weights=[2, 5, 3, 0, 1],
        edge_labels=["01", "10", "again", "no edge", "21"],
    )
    assert batch.indices.tolist() == [1, 0, 2, 1]
    assert batch.edge_weights.tolist() == [5, 5, 1, 1]
    assert batch.edge_labels.tolist() == ["01", "10", "21", "21"]


def test_a_graph_has_the_values_from_the_smaller_to_the_larger_node():
    graph = gm.Graph(2, [(1, 0), (0, 1)], edge_labels=["down", "up"], edge_attributes=[-1, 1])
    assert graph.edge_labels.tolist() == ["up"]
    assert graph.edge_attributes.tolist() == [[1.0]]
    assert gm.Graph(2, [(1, 0)], edge_labels=["down"]).edge_labels.tolist() == ["down"]
    assert graph.edge_labels.dtype == object
    assert gm.Graph(2, [(1, 0)], edge_labels=[3]).edge_labels.dtype == np.int64


def entries(batch):
    """Everything known of each edge of each graph, in both directions."""
    found = []
    for index in range(len(batch)):
        one = batch[index : index + 1]
        sources = np.repeat(np.arange(one.n_nodes), np.diff(one.indptr))
        columns = (sources, one.indices, one.edge_labels, one.edge_attributes)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        found.append({(u, v): (label, *row) for u, v, label, row in rows})
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_edge_values_go_along_when_graphs_are_chosen_and_joined(seed, sizes):
    rng = np.random.default_rng(seed)
    batch = two_way_batch(rng, sizes)
    expected = entries(batch)
    order = rng.permutation(len(batch))
    start, stop = sorted(rng.integers(0, len(batch) + 1, 2).tolist())
    for key in (order, slice(start, stop), slice(None, None, -1), rng.random(len(batch)) < 0.5):
        chosen = np.arange(len(batch))[key]
        assert entries(batch[key]) == [expected[i] for i in chosen]
    if batch.n_edges:
        assert_same(gm.GraphBatch.concatenate([batch[:start], batch[start:]]), batch)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(2, 6), min_size=1, max_size=6))
def test_edge_values_of_both_directions_stay_with_single_graphs(seed, sizes):
    batch = two_way_batch(np.random.default_rng(seed), sizes)
    graphs = list(batch)
    if batch.n_edges:
        assert_same(gm.as_graph_batch(graphs), batch)
        assert_same(gm.as_graph_batch(pickle.loads(pickle.dumps(graphs))), batch)
        pytest.importorskip("networkx")
        assert_same(gm.as_graph_batch([graph.to_networkx() for graph in graphs]), batch)


def test_directions_stay_with_single_graphs():
    nx = pytest.importorskip("networkx")
    digraphs = [nx.DiGraph([(0, 1), (2, 1), (1, 3)]), nx.DiGraph([(1, 0), (0, 1), (1, 2)])]
    batch = gm.as_graph_batch(digraphs, keep_direction=True)
    assert_same(gm.as_graph_batch(list(batch)), batch)
    embedding = gm.RandomGraphEmbedding(
        4, node_embedding=None, wl_iterations=2, wl_depths="all", use_edge_labels=True
    )
    rows = embedding.fit_transform(batch)
    assert (embedding.transform(list(batch)) == rows).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 8))
def test_renumbering_nodes_renumbers_edge_values(seed, n):
    rng = np.random.default_rng(seed)
    (before,) = entries(two_way_batch(rng, [n]))
    new = rng.permutation(n).tolist()
    moved = [((new[u], new[v]), values) for (u, v), values in before.items()]
    moved = [moved[k] for k in rng.permutation(len(moved))]
    after = gm.GraphBatch.from_edges(
        [n],
        [len(moved)],
        [edge for edge, _ in moved],
        edge_labels=[values[0] for _, values in moved],
        edge_attributes=np.array([values[1:] for _, values in moved]).reshape(-1, 2),
    )
    assert entries(after) == [dict(moved)]


def test_a_batch_without_edges_lacks_no_edge_values():
    labelled = gm.as_graph_batch(gm.Graph(2, [(0, 1)], edge_labels=[5], edge_attributes=[[0.5]]))
    edgeless = gm.as_graph_batch(gm.Graph(2, []))
    joined = gm.GraphBatch.concatenate([edgeless, labelled, edgeless])
    assert joined.edge_labels.tolist() == [5, 5]
    assert joined.edge_attributes.tolist() == [[0.5], [0.5]]
    assert_same(gm.as_graph_batch(list(joined)), joined)


def test_a_data_set_shows_the_edge_values_of_its_graphs():
    graphs = gm.as_graph_batch(gm.Graph(2, [(0, 1)], edge_labels=[5], edge_attributes=[[0.5]]))
    data = gm.Dataset("x", graphs)
    assert data.edge_labels is graphs.edge_labels
    assert data.edge_attributes is graphs.edge_attributes
    with pytest.raises(AttributeError):
        data.edge_labels = None
    with pytest.raises(ValueError, match="read-only"):
        graphs.edge_labels[0] = 6


def test_direction_is_kept_as_edge_labels():
    edges = [(0, 1), (1, 2), (2, 1), (0, 1), (1, 0), (0, 2)]
    options = {"directed": [True, False], "keep_direction": True}
    counts = ([3, 3], [3, 3], edges)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is lost
        batch = gm.GraphBatch.from_edges(*counts, **options)
        labelled = gm.GraphBatch.from_edges(*counts, edge_labels=[*"abcdef"], **options)
    out, back, both = 1, 2, 3
    assert batch.indices.tolist() == [1, 0, 2, 1, 1, 2, 0, 0]
    assert batch.edge_labels.tolist() == [out, back, both, both, both, both, both, both]
    assert labelled.edge_labels.tolist() == [
        (out, "a"), (back, "a"), (both, "b"), (both, "c"),
        (both, "d"), (both, "f"), (both, "e"), (both, "f"),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="keep_direction=True needs directed"):
        gm.GraphBatch.from_edges(*counts, keep_direction=True)
    with pytest.warns(UserWarning, match="edges have two weights"):
        weighted = gm.GraphBatch.from_edges(*counts, edge_weights=[1, 2, 3, 1, 1, 1], **options)
    assert weighted.edge_weights.tolist() == [1, 1, 3, 3, 1, 1, 1, 1]
    assert weighted.edge_labels.tolist() == batch.edge_labels.tolist()


def test_refinement_tells_in_and_out_neighbours_apart():
    networkx = pytest.importorskip("networkx")
    outwards = networkx.DiGraph([(0, 1), (0, 2)])
    inwards = networkx.DiGraph([(1, 0), (2, 0)])
    inwards_too = networkx.DiGraph([(2, 0), (1, 0)])
    batch = gm.as_graph_batch([outwards, inwards, inwards_too], keep_direction=True)
    options = {"node_embedding": None, "wl_iterations": 1, "max_random_nodes": None}
    model = gm.RandomGraphEmbedding(3, use_edge_labels=True, random_state=0, **options).fit(batch)
    distances = model.distances(batch)
    assert (distances[1] == distances[2]).all()
    assert sorted(distances[0]) == [0, 1, 1]
    blind = gm.RandomGraphEmbedding(3, random_state=0, **options).fit(batch)
    assert (blind.distances(batch) == 0).all()


def test_a_graph_without_the_values_behind_can_be_unpickled():
    """As graphs were pickled when they kept the values of one direction."""
    graph = gm.Graph(2, [(0, 1)], edge_labels=["x"])
    reduced = graph.__reduce_ex__(4)
    state = {name: value for name, value in reduced[2][1].items() if name != "_behind"}
    old = gm.Graph.__new__(gm.Graph)
    old.__setstate__((None, state))
    assert_same(gm.as_graph_batch(old), gm.as_graph_batch(graph))
