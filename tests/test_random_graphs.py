import numpy as np
import pytest
from graph_zoo import random_graph

import graphmover as gm


@pytest.fixture(scope="module")
def nodes():
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, n, labels=4) for n in (5, 1, 12, 8)]
    return gm.embed_nodes([*graphs, gm.Graph(0, [])], 3)


@pytest.mark.parametrize("sampling", ["anchor", "uniform"])
def test_fewer_are_the_first_of_more(nodes, sampling):
    source = nodes if sampling == "anchor" else nodes.with_labels(None)
    many = gm.sample_random_graphs(source, 50, sampling=sampling, random_state=3)
    few = gm.sample_random_graphs(source, 20, sampling=sampling, random_state=3)
    assert (many[:20].points == few.points).all()
    assert (many[:20].offsets == few.offsets).all()
    if sampling == "anchor":
        assert (many[:20].labels == few.labels).all()


def test_anchors_are_nodes_of_one_graph_with_their_labels(nodes):
    drawn = gm.sample_random_graphs(nodes, 300, max_random_nodes=7, random_state=0)
    assert set(drawn.node_counts) == set(range(1, 8))
    assert (drawn.masses == 1).all()
    rows = [
        {(*p, label) for p, label in zip(g.points.tolist(), g.labels.tolist(), strict=True)}
        for g in nodes
    ]
    seen = set()
    for graph in drawn:
        mine = [(*p, a) for p, a in zip(graph.points.tolist(), graph.labels.tolist(), strict=True)]
        homes = [i for i, home in enumerate(rows) if set(mine) <= home]
        assert homes
        seen.update(homes[:1])
        if homes == [2]:  # 12 nodes: enough for all, so none twice
            distinct = len(set(mine)) if len(rows[2]) == 12 else None
            assert distinct in (None, len(mine))
        if homes == [1]:  # a single node is taken as often as it takes
            assert len(set(mine)) == 1
    assert seen == {0, 1, 2, 3}


def test_a_larger_random_graph_has_every_node_of_its_graph():
    nodes = gm.NodeEmbeddings(np.arange(3.0).reshape(3, 1), [1, 1, 1], [0, 3])
    drawn = gm.sample_random_graphs(nodes, 50, max_random_nodes=9, random_state=0)
    for graph in drawn:
        values = graph.points[:, 0].tolist()
        assert len(set(values)) == min(len(values), 3)


def test_uniform_points_fill_the_range_of_all_coordinates(nodes):
    drawn = gm.sample_random_graphs(
        nodes.with_labels(None), 500, sampling="uniform", random_state=0
    ).points
    low, high = nodes.points.min(), nodes.points.max()
    assert low <= drawn.min() < low + 0.01
    assert high - 0.01 < drawn.max() <= high
    assert drawn.mean() == pytest.approx((low + high) / 2, abs=0.02)
    assert drawn.var() == pytest.approx((high - low) ** 2 / 12, rel=0.1)


def test_sizes_are_uniform(nodes):
    counts = np.bincount(gm.sample_random_graphs(nodes, 4000, random_state=1).node_counts)[1:]
    assert len(counts) == 20
    assert np.abs(counts - 200).max() < 60


def test_random_states(nodes):
    draw = lambda state: gm.sample_random_graphs(nodes, 5, random_state=state).points  # noqa: E731
    assert (draw(1) == draw(np.random.default_rng(1))).all()
    assert (draw(np.random.RandomState(1)) == draw(np.random.RandomState(1))).all()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one, other = draw(None), draw(None)
    assert one.shape != other.shape or (one != other).any()
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    for bad in ("a", 1.5, True):
        with pytest.raises(TypeError, match="random_state must be"):
            draw(bad)
    with pytest.raises(ValueError, match="random_state must not be negative"):
        draw(-1)


def test_bad_arguments_are_named(nodes):
    with pytest.raises(ValueError, match="sampling must be one of anchor, uniform, got 'grid'"):
        gm.sample_random_graphs(nodes, 5, sampling="grid")
    with pytest.raises(ValueError, match="draws points without labels"):
        gm.sample_random_graphs(nodes, 5, sampling="uniform")
    with pytest.raises(ValueError, match="n_components must be at least 1, got 0"):
        gm.sample_random_graphs(nodes, 0)
    with pytest.raises(ValueError, match="no graph has any"):
        gm.sample_random_graphs(nodes[[4]], 5)
