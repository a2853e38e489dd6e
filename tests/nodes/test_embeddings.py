import math

import naive
import numpy as np
import pytest
from graph_zoo import SYMMETRIC, complete, cycle, path, random_graph, renumbered, star
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmover as gm


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 25), st.integers(1, 8), st.booleans())
def test_random_graphs_equal_the_oracle(seed, n, d, weighted):
    graph = random_graph(np.random.default_rng(seed), n, weighted=weighted)
    nodes = gm.embed_nodes(graph, d)
    assert nodes.points == pytest.approx(naive.node_points(graph, d), abs=1e-8)
    assert nodes.weights == pytest.approx(naive.node_weights(graph), abs=1e-12)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_graphs_equal_the_oracle_in_any_numbering(name):
    graph, rng = SYMMETRIC[name], np.random.default_rng(0)
    expected = naive.node_points(graph, 6)
    for _ in range(5):
        other = renumbered(graph, rng)
        points = gm.embed_nodes(other, 6).points
        assert points == pytest.approx(naive.node_points(other, 6), abs=1e-8)
        by_row = lambda rows: rows[np.lexsort(rows.round(7).T)]  # noqa: E731
        assert by_row(points) == pytest.approx(by_row(expected), abs=1e-8)


def test_closed_forms():
    n = 9
    k = np.arange(4)
    angles = np.outer(np.arange(n), math.pi * k / (n - 1))
    vectors = np.cos(angles) * np.sqrt(np.where(np.isin(np.arange(n), [0, n - 1]), 1, 2))[:, None]
    assert gm.embed_nodes(path(n), 4).points == pytest.approx(
        np.abs(vectors / np.linalg.norm(vectors, axis=0)), abs=1e-9
    )
    assert gm.embed_nodes(cycle(n), 5).points == pytest.approx(np.full((n, 5), n**-0.5), abs=1e-9)
    assert gm.embed_nodes(complete(n), 3).points == pytest.approx(np.full((n, 3), n**-0.5))
    nodes = gm.embed_nodes(star(5), 2)
    assert nodes.points[:, 0] == pytest.approx([0.5**0.5] + [0.125**0.5] * 4)
    assert nodes.masses.tolist() == [4, 1, 1, 1, 1]


def test_small_empty_and_isolated():
    nodes = gm.embed_nodes([path(2), gm.Graph(0, []), gm.Graph(3, [])], 4)
    assert nodes.node_counts.tolist() == [2, 0, 3]
    assert nodes[0].points[:, 2:].tolist() == [[0, 0], [0, 0]]
    assert nodes[2].masses.tolist() == [1, 1, 1]
    isolated = gm.embed_nodes(gm.Graph(3, [(0, 1)]), 1)
    assert isolated.masses.tolist() == [1, 1, 0]
    assert isolated.points[:, 0] == pytest.approx([0.5**0.5, 0.5**0.5, 0])


def test_weights_are_kept_whole_or_rounded_as_stated():
    graph = gm.Graph(3, [(0, 1), (1, 2)], edge_weights=[2, 5])
    assert gm.embed_nodes(graph).masses.tolist() == [2, 7, 5]
    for scale in (1e-300, 0.3, 1e300):
        scaled = gm.Graph(3, [(0, 1), (1, 2)], edge_weights=[2 * scale, 5 * scale])
        nodes = gm.embed_nodes(scaled)
        assert nodes.weights == pytest.approx([2 / 14, 0.5, 5 / 14], abs=1e-13)
        assert nodes.points == pytest.approx(gm.embed_nodes(graph).points, abs=1e-9)
    with pytest.raises(ValueError, match="graph 1: its edge weights add up to more than 1e308"):
        gm.embed_nodes([path(2), gm.Graph(3, [(0, 1), (1, 2)], edge_weights=[1e308, 1e308])])


def test_threads_change_nothing():
    rng = np.random.default_rng(1)
    batch = gm.as_graph_batch([random_graph(rng, n) for n in rng.integers(1, 60, 200)])
    one, two = gm.embed_nodes(batch), gm.embed_nodes(batch, n_jobs=2)
    assert (one.points == two.points).all()


def test_labels_are_carried():
    labelled = gm.Graph(3, [(0, 1), (1, 2)], node_labels=[4, 5, 4])
    assert gm.embed_nodes(labelled).labels.tolist() == [4, 5, 4]
    assert gm.embed_nodes(labelled, use_node_labels=False).labels is None
    assert gm.embed_nodes(path(3)).labels is None
    refined = gm.embed_nodes(labelled, wl_iterations=1).labels
    assert (refined == gm.wl_labels(gm.as_graph_batch(labelled), 1)).all()
    structure = gm.embed_nodes(labelled, use_node_labels=False, wl_iterations=1).labels
    assert (structure == gm.wl_labels(gm.as_graph_batch(path(3)), 1)).all()
    assert gm.embed_nodes(labelled, use_node_labels=np.False_).labels is None
    with pytest.raises(ValueError, match="not all graphs have node labels"):
        gm.embed_nodes(path(3), use_node_labels=True)
    for bad in ("yes", 0, None):
        with pytest.raises(ValueError, match="use_node_labels must be True, False or"):
            gm.embed_nodes(labelled, use_node_labels=bad)


def test_several_label_columns_and_no_coordinates():
    nodes = gm.NodeEmbeddings(np.zeros((3, 0)), [1, 1, 1], [0, 2, 3], [[1, 2], [1, 3], [4, 5]])
    assert nodes.n_dimensions == 0 and nodes.extent == (0.0, 0.0)
    assert nodes[1].labels.tolist() == [[4, 5]]
    assert nodes.with_labels([[7], [8], [9]]).labels.tolist() == [[7], [8], [9]]
    assert nodes.divided_by(2.0).labels is nodes.labels


def test_what_was_checked_cannot_change_afterwards():
    points = np.zeros((2, 1))
    nodes = gm.NodeEmbeddings(points, [1, 1], [0, 2])
    points[0] = np.nan
    assert np.isfinite(nodes.points).all()


@pytest.mark.parametrize("n_jobs", [0, 1.5, "a"])
def test_bad_numbers_of_threads(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0"):
        gm.embed_nodes(path(3), n_jobs=n_jobs)


def test_choosing_graphs():
    nodes = gm.NodeEmbeddings(
        np.arange(6.0).reshape(6, 1), [1, 2, 3, 4, 5, 6], [0, 2, 5, 6], range(6)
    )
    assert len(nodes[1]) == 1
    assert nodes[[2, 0]].points[:, 0].tolist() == [5, 0, 1]
    assert nodes[1:].labels.tolist() == [2, 3, 4, 5]
    assert [len(graph.points) for graph in nodes] == [2, 3, 1]
    assert nodes.weights == pytest.approx([1 / 3, 2 / 3, 0.25, 1 / 3, 5 / 12, 1])
    with pytest.raises(IndexError, match="graph 3 is out of range for a collection of 3"):
        nodes[3]


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (([1.0], [1], [0, 1]), ValueError, r"points must have the shape \(nodes, dimensions\)"),
        (([[np.nan]], [1], [0, 1]), ValueError, "points must be finite"),
        (([[1e200]], [1], [0, 1]), ValueError, "at most 1e150 in size, got 1e"),
        (([[0.0]], [1, 2], [0, 1]), ValueError, r"masses has the shape \(2,\), expected \(1,\)"),
        (([[0.0]], [-1], [0, 1]), ValueError, "graph 0: mass -1, expected a finite number"),
        (([[0.0], [0.0]], [1, 0], [0, 1, 2]), ValueError, "graph 1: all masses are zero"),
        (([[0.0]], ["a"], [0, 1]), TypeError, "masses must be real numbers"),
        (
            ([[0.0]], [1], [0, 2]),
            ValueError,
            "offsets must increase from 0 to the number of points",
        ),
        (
            ([[0.0]], [1], [0.0, 1.0]),
            TypeError,
            "offsets must be a one-dimensional array of integers",
        ),
        (
            ([[0.0]], [1], [0, 1], [1, 2]),
            ValueError,
            r"labels has the shape \(2,\), expected \(1,\) or \(1, columns\)",
        ),
        (([[]], [1], [0, 1]), ValueError, r"points must have the shape \(nodes, dimensions\)"),
        (([[0.0]], [1], [0, 1], [[[1]]]), ValueError, r"labels has the shape \(1, 1, 1\)"),
        (([[0.0]], [1], [0, 1], ["C"]), TypeError, "labels must be integers"),
    ],
)
def test_bad_embeddings_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        gm.NodeEmbeddings(*arguments)


@pytest.mark.parametrize(
    "middle",
    [
        np.array([0, 2, 1, 2], np.uint64),  # unsigned differences wrap around
        np.array([0, 2, 1, 2], np.uint8),
        np.array([0, 2**64 - 1, 2**64 - 1, 2], np.uint64),
        np.array([0, 2**63 - 1, -(2**63), 2], np.int64),  # the difference overflows
        np.array([0, -1, 1, 2], np.int64),
        np.array([0, 2**63, 2**63, 2], np.uint64),
    ],
    ids=str,
)
def test_offsets_that_fall_are_rejected_whatever_their_type(middle):
    with pytest.raises(ValueError, match=r"offsets must increase .* to the .* points, 2; offset "):
        gm.NodeEmbeddings([[0.0], [1.0]], [1, 1], middle)


@pytest.mark.parametrize("offsets", [2, np.uint64(2), np.array(0), [0, 10**30], [[0, 2]], []])
def test_offsets_must_be_a_list_of_integers(offsets):
    with pytest.raises((TypeError, ValueError), match="offsets must"):
        gm.NodeEmbeddings([[0.0], [1.0]], [1, 1], offsets)


@pytest.mark.parametrize("kind", [np.uint8, np.uint64, np.int16])
def test_offsets_of_any_integer_type(kind):
    nodes = gm.NodeEmbeddings([[0.0], [1.0]], [1, 1], np.array([0, 2], kind))
    assert nodes.offsets.dtype == np.int64 and nodes.offsets.tolist() == [0, 2]


@pytest.mark.parametrize("d, error", [(0, ValueError), (2.5, TypeError), (True, TypeError)])
def test_bad_dimensions(d, error):
    with pytest.raises(error, match="n_dimensions must be"):
        gm.embed_nodes(path(3), d)
