"""The pyramid match kernel, beside the definition."""

import naive
import numpy as np
import pytest
from graph_zoo import complete, cycle, path, random_graph, renumbered, star

import graphmover as gm
from graphmover.rivals import PyramidMatch
from graphmover.rivals.eigenvectors import eigenvector_points


def graphs_of(labels, seed=0):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, int(size), labels=labels) for size in rng.integers(1, 12, 8)]
    return gm.as_graph_batch(graphs if labels else [*graphs, cycle(6), star(5), complete(4)])


def pyramid(x, y, levels):
    """The formula of Nikolentzos et al. (2017), with points of nodes of one label."""
    matches = []
    for level in range(levels + 1):
        cells = 2**level
        total = 0
        for axis in range(x.shape[1]):
            a, b = (
                np.bincount(np.minimum((points[:, axis] * cells + 1e-9).astype(int), cells - 1))
                for points in (x, y)
            )
            common = min(len(a), len(b))
            total += np.minimum(a[:common], b[:common]).sum()
        matches.append(total)
    finer = sum(2.0 ** (k - levels) * (matches[k] - matches[k + 1]) for k in range(levels))
    return matches[levels] + finer


@pytest.mark.parametrize("levels", [0, 1, 4])
@pytest.mark.parametrize("labels", [0, 3])
def test_it_is_the_formula(levels, labels):
    graphs = graphs_of(labels)
    points = [naive.adjacency_points(graph, 3, scaled=False) for graph in graphs]
    kinds = np.zeros(graphs.n_nodes) if graphs.node_labels is None else graphs.node_labels
    kinds = np.split(kinds, graphs.offsets[1:-1])
    expected = [
        [
            sum(pyramid(x[a == kind], y[b == kind], levels) for kind in set(a) & set(b))
            for y, b in zip(points, kinds, strict=True)
        ]
        for x, a in zip(points, kinds, strict=True)
    ]
    assert np.allclose(PyramidMatch(levels, 3).kernel(graphs), expected, rtol=1e-12)


def test_the_numbering_of_nodes_does_not_matter():
    rng = np.random.default_rng(1)
    graphs = [cycle(6), complete(5), star(7), *graphs_of(0)]
    other = [renumbered(graph, rng) for graph in graphs]
    kernel = PyramidMatch(5, 4).fit(graphs)
    assert np.array_equal(kernel.transform(graphs).toarray(), kernel.transform(other).toarray())


def test_labels_are_ignored_only_if_asked():
    graphs = [
        gm.Graph(2, [(0, 1)], node_labels=[1, 1]),
        gm.Graph(2, [(0, 1)], node_labels=[2, 2]),
    ]
    assert PyramidMatch().kernel(graphs)[0, 1] == 0.0
    ignoring = PyramidMatch(use_node_labels=False).kernel(graphs)
    assert ignoring[0, 1] == ignoring[0, 0]


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("n_dimensions", [1, 3, 8])
def test_points_are_eigenvectors(scaled, n_dimensions):
    graphs = gm.as_graph_batch([*graphs_of(0), path(2), path(9), cycle(5), gm.Graph(1, [])])
    points = eigenvector_points(graphs, n_dimensions, scaled=scaled)
    expected = [naive.adjacency_points(graph, n_dimensions, scaled=scaled) for graph in graphs]
    assert np.allclose(points, np.concatenate(expected), atol=1e-7)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"levels": -1}, "levels must be at least 0, got -1"),
        ({"levels": 64}, "levels must be at most 20, got 64"),
        ({"levels": 2.5}, r"levels must be an integer, got 2\.5"),
        ({"n_dimensions": 0}, "n_dimensions must be at least 1, got 0"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises((TypeError, ValueError), match=message):
        PyramidMatch(**parameters).fit([path(3)])
