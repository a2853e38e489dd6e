"""Features that count, beside counts made by hand."""

from collections import Counter
from itertools import combinations

import naive
import numpy as np
import pytest
from graph_zoo import path, random_graph, renumbered
from scipy.optimize import linear_sum_assignment

import graphmover as gm
from graphmover.evaluation import vertex_histograms
from graphmover.rivals import (
    BagOfWLLabels,
    Graphlets,
    NodeAssignment,
    ShortestPaths,
    VertexHistogram,
    WLOptimalAssignment,
)


def random_graphs(seed=0, n=8, labels=2):
    rng = np.random.default_rng(seed)
    return [random_graph(rng, int(size), labels=labels) for size in rng.integers(2, 9, n)]


def test_labels_that_fit_has_not_seen_have_no_column():
    seen = gm.Graph(2, [(0, 1)], node_labels=[1, 1])
    unseen = gm.Graph(3, [(0, 1), (1, 2)], node_labels=[1, 7, 7])
    histogram = VertexHistogram().fit([seen])
    assert histogram.transform([unseen]).toarray().tolist() == [[1.0]]
    assert histogram.transform([]).shape == (0, 1)


def test_vertex_histograms_count_degrees_without_labels():
    assert vertex_histograms([path(4), path(2)]).tolist() == [[2.0, 2.0], [2.0, 0.0]]


@pytest.mark.parametrize("iterations", [0, 1, 3])
def test_histogram_intersection_is_the_optimal_assignment(iterations):
    """Kriege et al.: the kernel is the best assignment by the number of equal depths."""
    graphs = gm.as_graph_batch(random_graphs())
    kernel = WLOptimalAssignment(iterations).kernel(graphs)
    codes = gm.wl_labels(graphs, iterations, depths="all")
    parts = np.split(codes, graphs.offsets[1:-1])
    for i, x in enumerate(parts):
        for j, y in enumerate(parts):
            equal = (x[:, None] == y).sum(axis=2)
            rows, columns = linear_sum_assignment(equal, maximize=True)
            assert kernel[i, j] == equal[rows, columns].sum()


def test_graphlets_beside_a_look_at_all_threes():
    graphs = gm.as_graph_batch(random_graphs(2))
    counts = []
    for graph in graphs:
        edges = {frozenset(edge) for edge in graph.edges.tolist()}
        labels, found = graph.node_labels.tolist(), Counter()
        for three in combinations(range(graph.n_nodes), 3):
            own = [pair for pair in map(frozenset, combinations(three, 2)) if pair in edges]
            if len(own) == 3:
                found["triangle", *sorted(labels[v] for v in three)] += 1
            elif len(own) == 2:
                [middle] = own[0] & own[1]
                ends = sorted(labels[v] for v in three if v != middle)
                found["path", labels[middle], *ends] += 1
        counts.append(found)
    assert {"path", "triangle"} == {kind for found in counts for kind, *_ in found}
    expected = [[sum(a[code] * b[code] for code in a) for b in counts] for a in counts]
    assert Graphlets().kernel(graphs).tolist() == expected


def test_shortest_paths_beside_a_plain_count():
    networkx = pytest.importorskip("networkx")
    graphs = gm.as_graph_batch(random_graphs(1))
    counts = []
    for graph in graphs:
        lengths = dict(networkx.all_pairs_shortest_path_length(graph.to_networkx()))
        labels = graph.node_labels.tolist()
        pairs = [(labels[u], labels[v], d) for u in lengths for v, d in lengths[u].items() if d]
        counts.append(Counter(pairs))
    expected = [[sum(a[key] * b[key] for key in a) for b in counts] for a in counts]
    assert ShortestPaths().kernel(graphs).tolist() == expected


def test_labels_of_any_kind_and_many_of_them():
    rng = np.random.default_rng(0)
    graph = random_graph(rng, 30, labels=2)
    each = gm.as_graph_batch(graph)
    labelled = gm.GraphBatch(
        each.offsets,
        each.indptr,
        each.indices,
        node_labels=np.array([f"atom {v}" for v in range(30)], dtype=object),
    )
    assert ShortestPaths().kernel(labelled) == ShortestPaths().fit_transform(labelled).sum()


@pytest.mark.parametrize("edges", [False, True])
def test_edge_labels_refine_only_where_asked(edges):
    one = gm.GraphBatch.from_edges([2, 2], [1, 1], [(0, 1), (0, 1)], edge_labels=[1, 2])
    kernel = BagOfWLLabels(1, use_edge_labels=edges).kernel(one)
    assert (kernel[0, 1] == kernel[0, 0]) != edges


def brute_force(x, y):
    """The best assignment of the smaller side's nodes, by trying all."""
    from itertools import permutations

    if len(x) > len(y):
        x, y = y, x
    similar = np.exp(-np.linalg.norm(x[:, None] - y, axis=2))
    rows = range(len(x))
    return max(sum(similar[i, p[i]] for i in rows) for p in permutations(range(len(y)), len(x)))


def test_assignment_is_the_best_of_all():
    graphs = [random_graph(np.random.default_rng(n), n) for n in (2, 3, 4, 5)]
    estimator = NodeAssignment(2).fit(graphs)
    points = estimator.prepared_.points
    expected = [[brute_force(x, y) for y in points] for x in points]
    assert np.allclose(estimator.transform(graphs), expected)


@pytest.mark.parametrize("iterations", [None, 1])
def test_assignment_does_not_depend_on_the_numbering(iterations):
    rng = np.random.default_rng(3)
    graphs = [random_graph(rng, 7, labels=2) for _ in range(3)]
    graphs.append(gm.Graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)], node_labels=[0, 1, 0, 1]))
    other = [renumbered(graph, rng) for graph in graphs]
    kernel = NodeAssignment(3, iterations=iterations).fit(graphs)
    assert np.allclose(kernel.transform(graphs), kernel.transform(other), atol=1e-6)


def test_refinement_tells_apart_what_the_naive_one_does():
    graph = random_graph(np.random.default_rng(5), 8, labels=2)
    columns = BagOfWLLabels(2).fit([graph]).codes_
    classes = [set(naive.wl_partition(graph, graph.node_labels, k)) for k in range(3)]
    assert len(columns) == sum(map(len, classes))
