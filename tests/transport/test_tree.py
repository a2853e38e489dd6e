"""The closed form for labels that refine each other, against linear programmes and the engine."""

import itertools

import naive
import numpy as np
import pytest
from graph_zoo import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmover as gm
from graphmover.transport import GroundDistance, TreeDistance
from graphmover.transport.tree.histograms import histograms, histograms_of_index, index_labels


def label_tree(rng, n_graphs, largest, columns, *, most_mass=3):
    """Random nodes without coordinates; the label of a column is a prefix of random digits."""
    sizes = rng.integers(1, largest + 1, n_graphs)
    digits = rng.integers(0, 3, (sizes.sum(), columns))
    labels = np.cumsum(digits * 5 ** np.arange(columns), axis=1)
    masses = rng.integers(0, most_mass + 1, sizes.sum())
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    masses[offsets[:-1]] += 1
    return gm.NodeEmbeddings(np.zeros((sizes.sum(), 0)), masses, offsets, labels)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_shares_equal_the_linear_programme(seed, columns):
    rng = np.random.default_rng(seed)
    x, y = label_tree(rng, 3, 7, columns), label_tree(rng, 3, 5, columns)
    distances = gm.earth_movers_distance(x, y, ground=TreeDistance())
    for i, j in np.ndindex(distances.shape):
        expected = naive.earth_movers_distance(x[i], y[j], (0.0, 1 / columns))
        assert distances[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_counts_equal_the_linear_programme_of_partial_transport(seed, columns):
    rng = np.random.default_rng(seed)
    x, y = label_tree(rng, 3, 7, columns), label_tree(rng, 3, 5, columns)
    distances = gm.earth_movers_distance(x, y, ground=TreeDistance(partial=True))
    for i, j in np.ndindex(distances.shape):
        expected = naive.partial_tree_distance(x[i], y[j])
        assert distances[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("use_edge_labels", [False, True])
@pytest.mark.parametrize("node_mass", ["degree", "equal"])
def test_weisfeiler_lehman_labels_equal_the_engine(node_mass, use_edge_labels):
    rng = np.random.default_rng(1)
    graphs = []
    for n in rng.integers(1, 60, 30):
        graph = random_graph(rng, n, labels=3)
        graphs.append(
            gm.Graph(
                n,
                graph.edges,
                node_labels=graph.node_labels,
                edge_labels=rng.integers(0, 2, graph.n_edges),
            )
        )
    batch = gm.as_graph_batch(graphs)
    labels = gm.wl_labels(batch, 3, depths="all", use_edge_labels=use_edge_labels)
    masses = gm.embed_nodes(batch, node_mass=node_mass).masses
    alone = gm.NodeEmbeddings(np.zeros((batch.n_nodes, 0)), masses, batch.offsets, labels)
    tree = gm.earth_movers_distance(alone, alone, ground=TreeDistance())
    same_place = gm.NodeEmbeddings(np.zeros((batch.n_nodes, 1)), masses, batch.offsets, labels)
    for nodes in (alone, same_place):
        engine = gm.earth_movers_distance(nodes, nodes, ground=GroundDistance(0.0, 1 / 4))
        assert tree == pytest.approx(engine, abs=1e-12)
    assert (np.diag(tree) == 0).all() and (tree == tree.T).all()
    plan, cost = gm.transport_plan(alone[3], alone[5], ground=TreeDistance())
    assert cost == pytest.approx(tree[3, 5]) and plan.sum() == pytest.approx(1)


def test_counts_see_size_and_shares_do_not():
    once = gm.NodeEmbeddings(np.zeros((2, 0)), [1, 1], [0, 2], [1, 2])
    twice = gm.NodeEmbeddings(np.zeros((4, 0)), [1] * 4, [0, 4], [1, 2, 1, 2])
    assert gm.earth_movers_distance(once, twice, ground=TreeDistance()) == 0
    partial = TreeDistance(partial=True)
    assert gm.earth_movers_distance(twice, once, ground=partial) == 0  # all of y is found in x
    assert gm.earth_movers_distance(once, twice, ground=partial) == 0.5


def test_neither_threads_nor_batches_change_a_bit(monkeypatch):
    from graphmover.backends import threads

    rng = np.random.default_rng(2)
    x, y = label_tree(rng, 50, 9, 3), label_tree(rng, 40, 9, 3)
    for ground in (TreeDistance(), TreeDistance(partial=True)):
        whole = gm.earth_movers_distance(x, y, ground=ground)
        with monkeypatch.context() as patch:
            patch.setattr(threads, "_CHUNK_LABELLED_NODES", 20)
            assert (gm.earth_movers_distance(x, y, ground=ground, n_jobs=2) == whole).all()
        for i, j in itertools.product((0, 17, 49), (3, 39)):
            assert gm.earth_movers_distance(x[i], y[j], ground=ground)[0, 0] == whole[i, j]


def test_rare_and_common_labels_are_added_alike(monkeypatch):
    from graphmover.transport.tree import histograms

    rng = np.random.default_rng(3)
    x, y = label_tree(rng, 20, 9, 3), label_tree(rng, 30, 9, 3)
    results = []
    for share in (0.0, 0.25, 2.0):  # all labels in rows, some, none
        monkeypatch.setattr(histograms, "_DENSE", share)
        results.append(gm.earth_movers_distance(x, y, ground=TreeDistance()))
    assert (results[0] == results[1]).all() and (results[1] == results[2]).all()


def test_a_graph_without_nodes_is_infinitely_far():
    nodes = gm.NodeEmbeddings(np.zeros((1, 0)), [1], [0, 0, 1, 1], [[4, 5]])
    for partial in (False, True):
        distances = gm.earth_movers_distance(nodes, nodes, ground=TreeDistance(partial))
        assert distances[1, 1] == 0
        assert np.isinf(np.delete(distances, 4)).all()
    empty = nodes[:0]
    assert gm.earth_movers_distance(empty, nodes, ground=TreeDistance()).shape == (0, 3)
    assert gm.earth_movers_distance(nodes, empty, ground=TreeDistance()).shape == (3, 0)
    one = gm.NodeEmbeddings(np.zeros((1, 0)), [1], [0, 1], [4])
    assert gm.earth_movers_distance(one[:0], one, ground=TreeDistance()).shape == (0, 1)
    assert np.isinf(gm.earth_movers_distance(nodes, nodes[[0, 0]], ground=TreeDistance())).all()


def test_huge_masses_are_rounded_but_never_negative():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 4, 20)
    nodes = gm.NodeEmbeddings(np.zeros((20, 0)), rng.random(20), [0, 20], labels)
    assert 0 <= gm.earth_movers_distance(nodes, nodes, ground=TreeDistance())[0, 0] < 1e-14


def test_nodes_that_do_not_suit_are_named():
    points = np.zeros((2, 0))
    mixed = gm.NodeEmbeddings(points, [1, 1], [0, 2], [[1, 3], [2, 3]])
    with pytest.raises(ValueError, match="label 3 of column 1 stands beside two labels of column"):
        gm.earth_movers_distance(mixed, mixed, ground=TreeDistance())
    for nodes in (
        gm.NodeEmbeddings([[0.0]], [1], [0, 1], labels=[1]),
        gm.NodeEmbeddings([[0.0]], [1], [0, 1]),
    ):
        with pytest.raises(ValueError, match="TreeDistance compares labels alone"):
            gm.earth_movers_distance(nodes, nodes, ground=TreeDistance())
    with pytest.raises(ValueError, match="no coordinates, only labels: give ground"):
        gm.earth_movers_distance(mixed, mixed)


def test_an_index_holds_the_histograms_of_its_graphs():
    nodes = label_tree(np.random.default_rng(0), 200, 12, 3)
    index = index_labels(np, nodes.labels, nodes.masses, nodes.offsets)
    expected = histograms(np, index, nodes.labels, nodes.masses, nodes.offsets)
    for found, wanted in zip(histograms_of_index(index), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype
