"""Our WL-ST, WL-OA, SP and WL-SP are GraKeL's, entry by entry."""

import warnings

import numpy as np
import pytest
from graph_zoo import complete, path, random_graph, star
from real_data import real_dataset

import graphmover as gm
from graphmover.rivals import BagOfWLLabels, GrakelKernel, ShortestPaths, WLOptimalAssignment

pytest.importorskip("grakel")

PAIRS = [
    pytest.param(BagOfWLLabels(2), GrakelKernel("WL-ST", iterations=2), id="WL-ST"),
    pytest.param(WLOptimalAssignment(2), GrakelKernel("WL-OA", iterations=2), id="WL-OA"),
    pytest.param(ShortestPaths(), GrakelKernel("SP"), id="SP"),
    pytest.param(ShortestPaths(2), GrakelKernel("WL-SP", iterations=2), id="WL-SP"),
    pytest.param(
        ShortestPaths(use_node_labels=False),
        GrakelKernel("SP", use_node_labels=False),
        id="SP without labels",
    ),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_the_same_matrix_on_molecules(ours, theirs):
    graphs = real_dataset("MUTAG").graphs[::6]
    assert np.array_equal(ours.kernel(graphs), theirs.kernel(graphs))


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize("labels", [0, 3])
def test_the_same_matrix_on_random_graphs(ours, theirs, labels):
    rng = np.random.default_rng(labels)
    graphs = [random_graph(rng, n, labels=labels) for n in (2, 3, 5, 8, 13)]
    if not labels:
        graphs += [path(4), star(5), complete(4)]
    batch = gm.as_graph_batch(graphs)
    assert np.allclose(ours.kernel(batch), theirs.kernel(batch), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_the_same_values_for_unseen_graphs(ours, theirs):
    graphs = real_dataset("PTC_MR").graphs
    train, test = graphs[:20], graphs[20:30]
    products = ours.fit_transform(train) @ ours.transform(test).T
    assert np.array_equal(products.toarray().T, theirs.fit(train).transform(test))


@pytest.mark.parametrize("name", ["RW", "GL", "WL-SP", "PM"])
def test_every_kernel_is_symmetric_and_finite(name):
    graphs = real_dataset("MUTAG").graphs[:8]
    kernel = GrakelKernel(name, iterations=1, random_state=0)
    matrix = kernel.fit_transform(graphs)
    assert np.isfinite(matrix).all()
    assert np.allclose(matrix, matrix.T)
    if name != "GL":  # GraKeL's own transform counts the graphlets of training graphs anew
        assert np.allclose(kernel.transform(graphs), matrix)


def test_lovasz_theta():
    pytest.importorskip("cvxopt")
    graphs = [complete(3), path(3), complete(4), path(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # GraKeL's own
        matrix = GrakelKernel("Lo-theta", n_samples=5, random_state=0).fit_transform(graphs)
    assert matrix.shape == (4, 4)
    assert np.isfinite(matrix).all()


def test_lovasz_theta_of_a_graph_larger_than_all_of_training():
    pytest.importorskip("cvxopt")
    small, large = [complete(3), path(3)], [path(6), path(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # GraKeL's own
        rows, same = (
            GrakelKernel("Lo-theta", n_samples=5, random_state=0).fit(small).transform(graphs)
            for graphs in (large, small)
        )
        # The padding of larger graphs: the same samples, the same angles.
        kernel = GrakelKernel("Lo-theta", n_samples=5, random_state=0).fit(small)
        kernel.kernel_.d_ += 7
        padded = kernel.transform(small)
    assert rows.shape == (2, 2)
    assert np.isfinite(rows).all()
    assert np.allclose(padded, same)


def test_a_name_that_is_not_known_lists_those_that_are():
    with pytest.raises(ValueError, match=r"name must be one of RW, GL, SP, WL-ST, .*, got 'WWL'"):
        GrakelKernel("WWL").fit([path(3)])


def test_a_graph_without_nodes_is_named():
    with pytest.raises(ValueError, match="graph 1 has no nodes, which GraKeL cannot compare"):
        GrakelKernel("SP").fit([path(3), gm.Graph(0, [])])
