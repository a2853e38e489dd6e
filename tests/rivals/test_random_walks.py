"""The random walk kernel, beside linear algebra and beside GraKeL."""

import warnings

import numpy as np
import pytest
from graph_zoo import complete, path, random_graph, renumbered, star
from real_data import real_dataset

import graphmover as gm
from graphmover.graphs.adjacency import graph_adjacency
from graphmover.rivals import RandomWalks, VertexHistogram


def graphs_of(labels, weights=False):
    rng = np.random.default_rng(labels)
    sizes = (1, 2, 3, 5, 8, 13)
    return gm.as_graph_batch([random_graph(rng, n, labels=labels, weighted=weights) for n in sizes])


def naive(batch, decay):
    """Return ``1^T (I - decay A)^-1 1``, with A the adjacency of the direct product."""
    n = len(batch)
    matrices = [graph_adjacency(batch, k).toarray() for k in range(n)]
    labels = np.zeros(batch.n_nodes) if batch.node_labels is None else batch.node_labels
    labels = np.split(labels, batch.offsets[1:-1])
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            equal = (labels[i][:, None] == labels[j]).ravel()
            product = np.kron(matrices[i], matrices[j])[np.ix_(equal, equal)]
            ones = np.ones(len(product))
            found[i, j] = ones @ np.linalg.solve(np.eye(len(product)) - decay * product, ones)
    return found


@pytest.mark.parametrize("labels", [0, 1, 3])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("decay", [1e-4, 0.001, 10.0])
def test_it_is_the_sum_over_all_walks(labels, weights, decay):
    graphs = graphs_of(labels, weights)
    kernel = RandomWalks(decay)
    found = kernel.kernel(graphs)
    used = kernel.fit(graphs).decay_
    assert (used < decay) == (decay == 10.0)
    assert np.allclose(found, naive(graphs, used), rtol=1e-8)
    assert np.allclose(kernel.transform(graphs), found, rtol=1e-12)


def test_what_is_left_out_is_less_than_promised():
    """In complete graphs, all walks of k steps together grow as fast as they can."""
    graphs = gm.as_graph_batch([complete(9), complete(4)])
    found = RandomWalks(0.99 / 8**2).kernel(graphs)
    expected = naive(graphs, 0.99 / 8**2)
    promised = 1e-9 * np.outer([9, 4], [9, 4])
    assert (np.abs(expected - found) <= 1.001 * promised + 1e-12 * expected).all()
    assert expected[0, 0] - found[0, 0] > 0.1 * promised[0, 0]  # it counts no further


@pytest.mark.parametrize("labels", [0, 2])
def test_graphs_larger_than_those_of_training(labels):
    rng = np.random.default_rng(7)
    graphs = gm.as_graph_batch([random_graph(rng, n, labels=labels) for n in (3, 4, 60)])
    kernel = RandomWalks(0.01).fit(graphs[:2])
    expected = naive(graphs, 0.01)[:, :2]
    assert np.allclose(kernel.transform(graphs), expected, rtol=1e-8)


def test_a_graph_for_which_the_sum_diverges_is_named():
    kernel = RandomWalks(0.1).fit([path(3)])
    message = "graph 1: the sum over the walks .* largest eigenvalue is up to 39: set decay to less"
    with pytest.raises(ValueError, match=message):
        kernel.transform([path(2), complete(40)])


def test_the_decay_is_lowered_no_more_than_needed():
    graphs = [path(30), star(9), complete(6), gm.Graph(2, [])]
    largest = max(np.linalg.eigvalsh(graph.to_scipy().toarray())[-1] for graph in graphs)
    assert RandomWalks(0.99 / largest**2).fit(graphs).decay_ == 0.99 / largest**2
    lowered = RandomWalks(1.01 / largest**2).fit(graphs).decay_
    assert np.isclose(lowered, 0.5 / largest**2, rtol=1e-6)


def test_threads_change_no_bit():
    graphs = gm.as_graph_batch(
        [random_graph(np.random.default_rng(k), 9, labels=2) for k in range(99)]
    )
    one, two = (RandomWalks(0.01, n_jobs=jobs).kernel(graphs) for jobs in (1, 2))
    assert np.array_equal(one, two)


def test_one_label_for_all_is_no_label():
    graphs = graphs_of(1)
    ignored = RandomWalks(0.01, use_node_labels=False).kernel(graphs)
    assert np.allclose(RandomWalks(0.01).kernel(graphs), ignored)


def test_a_graph_without_edges_has_walks_of_no_steps_only():
    graphs = [gm.Graph(3, []), gm.Graph(2, [])]
    assert RandomWalks().kernel(graphs).tolist() == [[9.0, 6.0], [6.0, 4.0]]


def test_the_numbering_of_nodes_does_not_matter():
    rng = np.random.default_rng(2)
    graphs = [random_graph(rng, 9, labels=2) for _ in range(4)]
    kernel = RandomWalks(0.01).fit(graphs)
    other = [renumbered(graph, rng) for graph in graphs]
    assert np.allclose(kernel.transform(graphs), kernel.transform(other), rtol=1e-12)


def test_bad_values_are_named():
    for decay in (0, np.inf, np.nan, "a"):
        with pytest.raises(ValueError, match=f"decay must be a positive number, got {decay!r}"):
            RandomWalks(decay).fit([path(3)])


def in_grakels_terms(graphs, labels=None):
    grakel = pytest.importorskip("grakel")
    return [
        grakel.Graph(
            graph_adjacency(graphs, k).toarray(),
            None if labels is None else dict(enumerate(labels[graphs.offsets[k] :].tolist())),
            graph_format="all",
        )
        for k in range(len(graphs))
    ]


def test_without_labels_it_is_grakels():
    kernels = pytest.importorskip("grakel.kernels")
    graphs = gm.as_graph_batch([path(4), star(5), complete(4), *graphs_of(0)])
    unlabelled = RandomWalks(0.01, use_node_labels=False)
    theirs = kernels.RandomWalk(lamda=0.01).fit_transform(in_grakels_terms(graphs))
    assert np.allclose(unlabelled.kernel(graphs), theirs, rtol=1e-6)


def test_with_labels_it_is_grakels_baseline_but_for_walks_of_no_steps():
    """GraKeL counts every pair of nodes as a pair of walks of no steps, whatever their labels."""
    kernels = pytest.importorskip("grakel.kernels")
    graphs = real_dataset("MUTAG").graphs[:8]
    labels = np.unique(graphs.node_labels, return_inverse=True)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # GraKeL's own
        baseline = kernels.RandomWalkLabeled(lamda=0.01, method_type="baseline")
        theirs = baseline.fit_transform(in_grakels_terms(graphs, labels))
    pairs = np.outer(graphs.node_counts, graphs.node_counts)
    theirs = theirs - pairs + VertexHistogram().kernel(graphs)
    assert np.allclose(RandomWalks(0.01).kernel(graphs), theirs, rtol=1e-9)
