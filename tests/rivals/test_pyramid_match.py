"""The pyramid match kernel, beside the definition."""

import numpy as np
import pytest
from graph_zoo import complete, cycle, random_graph, renumbered, star

import graphmover as gm
from graphmover.rivals import PyramidMatch
from graphmover.rivals.eigenvectors import eigenvector_points


def graphs_of(labels, seed=0):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, int(size), labels=labels) for size in rng.integers(1, 12, 8)]
    return gm.as_graph_batch(graphs if labels else [*graphs, cycle(6), star(5), complete(4)])


def naive(x, y, levels):
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
    points = np.split(eigenvector_points(graphs, 3, scaled=False), graphs.offsets[1:-1])
    kinds = np.zeros(graphs.n_nodes) if graphs.node_labels is None else graphs.node_labels
    kinds = np.split(kinds, graphs.offsets[1:-1])
    expected = [
        [
            sum(naive(x[a == kind], y[b == kind], levels) for kind in set(a) & set(b))
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
