"""What graphs are called, on the way from other libraries through a batch."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmover as gm

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
#: Lists of ids as they are kept: all integers, or all text, some of them missing.
IDS = st.one_of(
    *(st.lists(st.none() | values, min_size=1, max_size=8) for values in (TEXTS, NUMBERS))
)


def paths(n_graphs, ids=None):
    graphs = [gm.Graph(2 + i % 3, [(0, 1)]) for i in range(n_graphs)]
    return gm.as_graph_batch(graphs, ids=ids)


def listed(batch):
    return [None] * len(batch) if batch.ids is None else batch.ids.tolist()


@settings(deadline=None)
@given(IDS, st.data())
def test_ids_follow_their_graphs(ids, data):
    batch = paths(len(ids), ids)
    assert listed(batch) == ids == [graph.id for graph in batch]
    order = data.draw(st.lists(st.integers(0, len(ids) - 1), max_size=10))
    assert listed(batch[order]) == [ids[i] for i in order]
    start, stop = data.draw(st.integers(0, 8)), data.draw(st.integers(0, 8))
    assert listed(batch[start:stop]) == ids[start:stop]
    mask = np.arange(len(ids)) % 2 == 0
    assert listed(batch[mask]) == ids[::2]
    assert listed(gm.GraphBatch.concatenate([batch, batch[:1]])) == ids + ids[:1]
    assert pickle.loads(pickle.dumps(batch)) == batch


@settings(deadline=None)
@given(IDS)
def test_ids_return_from_lists_of_graphs_and_from_arrow(ids):
    batch = paths(len(ids), ids)
    if ids != [None] * len(ids):
        assert gm.as_graph_batch(list(batch)) == batch
    pytest.importorskip("pyarrow")
    assert gm.GraphBatch.from_arrow(batch.to_arrow()) == batch


def test_kinds_of_ids():
    assert paths(2).ids is None and paths(2, [None, float("nan")]).ids.tolist() == [None, None]
    assert paths(2, [3, np.int8(-1)]).ids.dtype == np.int64
    assert paths(2, np.array([3, 4], np.uint8)).ids.tolist() == [3, 4]
    text = paths(2, np.array(["a", "a long one"]))
    assert text.ids.dtype == object and set(map(type, text.ids)) == {str}
    assert paths(3, [1, "a", None]).ids.tolist() == ["1", "a", None]
    assert not text.ids.flags.writeable
    joined = gm.GraphBatch.concatenate([paths(1, [7]), paths(1), text])
    assert joined.ids.tolist() == ["7", None, "a", "a long one"]
    assert gm.GraphBatch.concatenate([paths(1, [7]), paths(1)]).ids.tolist() == [7, None]


def test_equality_and_repr_know_ids():
    batch = paths(2, ["a", "b"])
    assert batch == paths(2, ["a", "b"]) and batch != paths(2, ["a", "c"]) and batch != paths(2)
    assert batch != paths(3, ["a", "b", "c"]) and batch != "ab"
    assert batch.with_ids(None) == paths(2)
    assert paths(1, [1]) != paths(1, ["1"])
    assert repr(batch).endswith("in 2 graphs, ids)") and "ids" not in repr(paths(2))
    assert repr(batch[0]).endswith("no weights, id='a')") and "id=" not in repr(paths(1)[0])
    with pytest.raises(TypeError, match="unhashable"):
        hash(batch)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (["a"], ValueError, "1 ids for 2 graphs, expected one for each"),
        ("ab", TypeError, "ids must be a list or an array, got 'ab'"),
        (7, TypeError, "not iterable|must be a list"),
        ([["a"], "b"], TypeError, r"graph 0: the id is \['a'\], expected a string or an integer"),
        (["a", 1.5], TypeError, "graph 1: the id is 1.5"),
        ([True, False], TypeError, "graph 0: the id is True"),
        ([0, 2**63], TypeError, "graph 1: the id is 9223372036854775808, .* 64 bits"),
        (["a", "\ud800"], TypeError, "graph 1: the id is"),
        (np.zeros((2, 1), int), ValueError, r"one entry per graph, got the shape \(2, 1\)"),
    ],
)
def test_bad_ids(ids, error, message):
    with pytest.raises(error, match=message):
        gm.GraphBatch.from_edges([1, 1], [0, 0], [], ids=ids)
    with pytest.raises(error, match=message):
        paths(2).with_ids(ids)
    with pytest.raises(error, match=message):
        paths(2, ids)


def test_one_bad_id_of_a_graph():
    with pytest.raises(TypeError, match=r"^the id is 1\.5, expected a string or an integer"):
        gm.Graph(1, [], id=1.5)


def test_a_mapping_gives_ids():
    graphs = {"a": gm.Graph(1, []), "b": gm.Graph(2, [(0, 1)], id="mine")}
    batch = gm.as_graph_batch(graphs)
    assert batch.ids.tolist() == ["a", "b"] and batch.node_counts.tolist() == [1, 2]
    assert gm.as_graph_batch(graphs, ids=[1, 2]).ids.tolist() == [1, 2]
    assert gm.as_graph_batch(batch, ids=[3, 4]).ids.tolist() == [3, 4]
    with pytest.raises(TypeError, match=r"graph 0: the id is \(0, 1\)"):
        gm.as_graph_batch({(0, 1): gm.Graph(1, [])})


def test_networkx_names_are_ids_if_asked_for():
    nx = pytest.importorskip("networkx")
    named, plain = nx.petersen_graph(), nx.path_graph(3)
    assert named.name
    assert gm.as_graph_batch([named, plain]).ids is None
    assert gm.as_graph_batch([named, plain], graph_id="name").ids.tolist() == [named.name, None]
    plain.graph["id"] = "p"
    assert gm.as_graph_batch([named, plain]).ids.tolist() == [None, "p"]
    assert gm.as_graph_batch([named, plain], graph_id=None).ids is None
    for no_id in (1.5, ("no", "id"), True):
        plain.graph["id"] = no_id
        with pytest.raises(TypeError, match=r"graph 1: id is .*, expected .*; .*graph_id=None"):
            gm.as_graph_batch([named, plain])
        assert gm.as_graph_batch([plain], graph_id=None).ids is None
    of_nodes = (np.arange(3), ["a", "b", "c"], {0: "a"})
    for missing in (float("nan"), np.datetime64("NaT"), *of_nodes):
        plain.graph["id"] = missing
        assert gm.as_graph_batch([plain]).ids is None
    plain.graph["id"] = 7.0  # as igraph reads it from a file
    assert gm.as_graph_batch([plain]).ids.tolist() == [7]
    plain.graph["id"] = np.datetime64("2020-01-01", "ns")
    assert gm.as_graph_batch([plain]).ids[0].startswith("2020-01-01T")
    plain.graph["key"] = 1.5
    with pytest.raises(TypeError, match=r"graph 0: key is 1\.5, expected a string or an integer"):
        gm.as_graph_batch([plain], graph_id="key")
    with pytest.raises(ValueError, match="graph_id='nam' is found in no graph, expected the name"):
        gm.as_graph_batch([named], graph_id="nam")
    with pytest.raises(TypeError, match="graph_id must be a string or None, got 3"):
        gm.as_graph_batch([named], graph_id=3)
    assert paths(1, ["x"])[0].to_networkx().graph == {"id": "x"}


def test_igraph_rustworkx_and_pyg():
    igraph = pytest.importorskip("igraph")
    rx = pytest.importorskip("rustworkx")
    graph = igraph.Graph([(0, 1)])
    graph["id"], graph["name"] = 5, "five"
    assert gm.as_graph_batch([graph]).ids.tolist() == [5]
    assert gm.as_graph_batch([graph], graph_id="name").ids.tolist() == ["five"]
    graph["id"] = 7.0  # as igraph reads 7 in a file
    assert gm.as_graph_batch([graph]).ids.tolist() == [7]
    assert gm.as_graph_batch([rx.PyGraph(attrs={"id": "r"}), rx.PyGraph()]).ids.tolist() == [
        "r",
        None,
    ]
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    edges = torch.tensor([[0, 1], [1, 0]])
    graphs = [data.Data(edge_index=edges, num_nodes=2, id=i) for i in (7, torch.tensor([8]))]
    assert gm.as_graph_batch(graphs).ids.tolist() == [7, 8]
    mask = data.Data(edge_index=edges, num_nodes=2, id=torch.zeros(2))
    assert gm.as_graph_batch([mask]).ids is None


def test_tables_of_other_programs():
    pa = pytest.importorskip("pyarrow")
    neighbours = [[[]], [[]], [[]]]
    for ids, expected in [
        (pa.array(["a", None, "a"]).dictionary_encode(), ["a", None, "a"]),
        (pa.array(["a", None, "b"], pa.string_view()), ["a", None, "b"]),
        (pa.array([1, None, 200], pa.uint8()), [1, None, 200]),
        (pa.array([1, 2, 3], pa.int16()).dictionary_encode(), [1, 2, 3]),
        (pa.chunked_array([["a"], ["b", "a"]]), ["a", "b", "a"]),
        (pa.array([0.5, 1.5, 2.5]), None),
        (pa.nulls(3), None),
        (pa.nulls(3, pa.string()), [None] * 3),
    ]:
        batch = gm.GraphBatch.from_arrow({"neighbours": neighbours, "id": ids})
        assert (None if batch.ids is None else batch.ids.tolist()) == expected
    with pytest.raises(TypeError, match="graph 2: the id is 18446744073709551615"):
        gm.GraphBatch.from_arrow(
            {"neighbours": neighbours, "id": pa.array([0, 0, 2**64 - 1], pa.uint64())}
        )


def test_an_attribute_called_index_is_no_index():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    graph = data.Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    graph.index = torch.tensor([0.5])
    assert gm.as_graph_batch(graph).ids is None
