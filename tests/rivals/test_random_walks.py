"""The random walk kernel, beside linear algebra and beside GraKeL."""

import warnings

import numpy as np
import pytest
from graph_zoo import complete, path, random_graph, renumbered, star
from real_data import real_dataset

import graphmover as gm
from graphmover.rivals import RandomWalks, VertexHistogram
from graphmover.rivals.base import graph_adjacency


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
    assert np.allclose(found, naive(graphs, used), rtol=1e-7)
    assert np.allclose(kernel.transform(graphs), found, rtol=1e-12)


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
    with pytest.raises(ValueError, match="decay must be a positive number, got 0"):
        RandomWalks(0).fit([path(3)])
    labelled = RandomWalks().fit(graphs_of(2))
    with pytest.raises(ValueError, match="not all graphs have node labels"):
        labelled.transform([path(3)])


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
