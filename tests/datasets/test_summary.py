import numpy as np
import pytest
from graph_zoo import complete, cycle, disjoint_union, path

import graphmover as gm
from graphmover.datasets.summary import summarise


def test_everything_is_counted_whatever_the_batches(monkeypatch):
    graphs = [path(3), gm.Graph(0, []), disjoint_union(cycle(4), complete(5), path(1))]
    data = gm.Dataset("x", gm.as_graph_batch(graphs), np.array(["a", "b", "a"]))
    summary = summarise(data)
    assert summary.graphs == 3
    assert (summary.nodes.total, summary.nodes.least, summary.nodes.most) == (13, 0, 10)
    assert (summary.edges.total, summary.edges.mean) == (16, 16 / 3)
    assert (summary.components.total, summary.components.most) == (4, 3)
    assert summary.node_histogram == {"0": 1, "1": 0, "2-3": 1, "4-7": 0, "8-15": 1}
    assert summary.degree_histogram == {"0": 1, "1": 2, "2-3": 5, "4-7": 5}
    assert summary.target == {"classes": {"a": 2, "b": 1}}
    monkeypatch.setattr(
        "graphmover.datasets.summary.iter_batches", lambda s, **_: gm.iter_batches(s, 1)
    )
    one_by_one = summarise(data)
    one_by_one.views = summary.views  # of the first batch
    assert one_by_one == summary


def test_labels_attributes_weights_and_real_targets():
    graph = gm.Graph(
        3,
        [(0, 1), (1, 2)],
        node_labels=["C", "O", "C"],
        node_attributes=[[1, 2], [3, 4], [5, 6]],
        edge_weights=[0.5, 1],
        edge_labels=["single", 2],
        edge_attributes=[[1, 2, 3], [4, 5, 6]],
    )
    data = gm.Dataset("x", gm.as_graph_batch([graph, graph]), np.array([0.5, -1.5]))
    summary = summarise(data)
    assert (summary.node_labels, summary.node_attributes, summary.edge_weights) == (2, 2, True)
    assert (summary.edge_labels, summary.edge_attributes) == (2, 3)
    plain = summarise(path(3))
    assert (plain.edge_labels, plain.edge_attributes) == (0, 0)
    assert summary.target == {"least": -1.5, "most": 0.5, "mean": -0.5}
    data = gm.Dataset("x", data.graphs, np.array([[1, 2], [3, 6]]))
    assert summarise(data).target == {"least": 1, "most": 6, "mean": 3}
    assert summarise(data.graphs).target is None


def test_a_collection_of_nothing_is_rejected():
    with pytest.raises(ValueError, match="holds no graphs"):
        summarise(gm.as_graph_batch([path(2)])[:0])


def test_all_that_graphs_carry_and_which_views_use_it():
    graph = gm.Graph(
        3,
        [(0, 1), (1, 2)],
        node_labels=["C", "O", "C"],
        edge_weights=[0.5, 1],
        edge_labels=["single", 2],
        id="water",
    )
    summary = summarise([graph, gm.Graph(1, [], node_labels=["C"])] * 3)
    assert (summary.ids, summary.first_ids) == (3, ["water"] * 3)
    assert summary.used == {
        "node labels": ["labels", "counts", "structure"],
        "edge weights": ["structure", "shape"],
        "edge labels": ["labels", "counts"],
    }
    assert summary.unused_by_default == ["edge labels"]
    plain = summarise([path(3)])
    assert (plain.ids, plain.first_ids, plain.used, plain.directed) == (0, [], {}, False)
    edges = [(0, 1), (1, 2)]
    rich = gm.Graph(3, edges, node_attributes=[[1], [2], [4]], edge_attributes=[[3], [5]])
    assert summarise([rich] * 3).used == {
        "node attributes": ["attributes"],
        "edge attributes": ["attributes"],
    }


@pytest.mark.parametrize("view", ["labels", "counts", "structure", "shape", "attributes"])
@pytest.mark.parametrize(
    "what", ["node labels", "node attributes", "edge weights", "edge labels", "edge attributes"]
)
def test_a_view_uses_what_changes_its_rows(view, what):
    """Shuffled values change the rows of the views that use them, and of no others."""
    from graphmover.views import automatic_views, seen_by

    def graphs(seed):
        rng = np.random.default_rng(0)
        edges = [np.argwhere(np.triu(rng.random((8, 8)) < 0.4, 1)) for _ in range(10)]
        n_edges, n_nodes = sum(map(len, edges)), 80
        columns = {
            "node_labels": rng.integers(0, 3, n_nodes),
            "node_attributes": rng.normal(size=(n_nodes, 2)),
            "edge_weights": rng.uniform(0.5, 2, n_edges),
            "edge_labels": rng.integers(0, 3, n_edges),
            "edge_attributes": rng.normal(size=(n_edges, 2)),
        }
        if view != "attributes":
            del columns["node_attributes"]
        changed = columns.get(what.replace(" ", "_"))
        if changed is not None:
            changed[:] = np.random.default_rng(seed).permutation(changed)
        counts = [len(part) for part in edges]
        return gm.GraphBatch.from_edges([8] * 10, counts, np.concatenate(edges), **columns)

    one, other = graphs(1), graphs(2)
    [chosen] = [v for v in automatic_views(one, 8) if v.name == view]
    fitted = chosen.transformer.set_params(random_state=0).fit(one)
    is_used = not np.allclose(fitted.transform(one), fitted.transform(other))
    assert is_used == (what in seen_by(chosen, one))


def test_directions_are_told_and_other_warnings_passed_on():
    nx = pytest.importorskip("networkx")
    assert summarise([nx.DiGraph([(0, 1)])]).directed
    assert not summarise([nx.DiGraph([(0, 1), (1, 0)]), nx.path_graph(2)]).directed
    labelled = gm.Graph(2, [(0, 1)], node_labels=["a", "b"])
    with pytest.warns(UserWarning, match="graph 1 has no node labels while others have"):
        assert summarise([labelled, nx.DiGraph([(0, 1)])]).directed


def test_equally_frequent_classes_are_in_order():
    graphs = gm.as_graph_batch([path(2)] * 7)
    numbers = summarise(gm.Dataset("x", graphs, np.array([10, 3, 9, 3, 9, -1, 10])))
    assert list(numbers.target["classes"]) == ["3", "9", "10", "-1"]
    names = summarise(gm.Dataset("x", graphs, ["b", "c", "a", "c", "b", "7", "d"]))
    assert list(names.target["classes"]) == ["b", "c", "7", "a", "d"]
