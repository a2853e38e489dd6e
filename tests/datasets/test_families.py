import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphmover.datasets import Dataset, make_graph_families

N_FAMILIES = 6


@pytest.fixture(scope="module")
def families():
    return make_graph_families(600, random_state=0)


def degrees(graph):
    return np.bincount(graph.edges.ravel(), minlength=graph.n_nodes)


def normalised_laplacian(graph):
    strength = 1 / np.sqrt(np.maximum(degrees(graph), 1))
    return np.eye(graph.n_nodes) - strength[:, None] * graph.to_scipy().toarray() * strength


def same_graphs(one, other):
    return np.array_equal(one.offsets, other.offsets) and np.array_equal(one.indices, other.indices)


def test_is_a_named_dataset(families):
    assert isinstance(families, Dataset)
    assert repr(families) == "Dataset('graph families', 600 graphs, 6 classes)"
    assert len(families.target_names) == N_FAMILIES
    assert families.target.shape == (600,)


def test_graphs_and_target_as_a_pair(families):
    graphs, target = make_graph_families(600, random_state=0, return_X_y=True)
    assert same_graphs(graphs, families.graphs)
    assert np.array_equal(target, families.target)


@pytest.mark.parametrize("n_graphs", [1, 5, 6, 100])
def test_families_are_balanced_and_shuffled(n_graphs):
    data = make_graph_families(n_graphs, random_state=1)
    counts = np.bincount(data.target, minlength=N_FAMILIES)
    assert counts.sum() == len(data.graphs) == n_graphs
    assert counts.max() - counts.min() <= 1
    if n_graphs == 100:
        assert (np.diff(data.target) < 0).sum() > 20


def test_sizes_and_densities_do_not_depend_on_the_family(families):
    sizes = families.graphs.node_counts
    assert sizes.min() == 30
    assert sizes.max() == 60
    assert np.array_equal(families.graphs.edge_counts, np.rint(8.0 * sizes / 2))
    means = [sizes[families.target == family].mean() for family in range(N_FAMILIES)]
    assert np.ptp(means) < 6  # standard error of each: 0.9


def test_degrees_vary_alike_in_every_family(families):
    variance = np.array([degrees(graph).var() for graph in families.graphs])
    means = np.array([variance[families.target == family].mean() for family in range(N_FAMILIES)])
    assert np.all(np.abs(means / means.mean() - 1) < 0.1)


def test_node_numbers_tell_nothing(families):
    for family in range(N_FAMILIES):
        graphs = families.graphs[families.target == family]
        u, v = np.concatenate([graph.edges / graph.n_nodes for graph in graphs]).T
        assert abs(np.abs(u - v).mean() - 1 / 3) < 0.02


def test_degree_histograms_are_near_chance(families):
    X = [
        np.bincount(degrees(graph), minlength=30)[:30] / graph.n_nodes for graph in families.graphs
    ]
    for classifier in (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        RandomForestClassifier(50, random_state=0),
    ):
        assert cross_val_score(classifier, X, families.target, cv=5).mean() < 0.27


def test_global_structure_tells(families):
    X = [np.linalg.eigvalsh(normalised_laplacian(graph))[:8] for graph in families.graphs]
    forest = RandomForestClassifier(50, random_state=0)
    assert cross_val_score(forest, X, families.target, cv=5).mean() > 0.8


@pytest.mark.slow
def test_laplacian_eigenvectors_tell(families):
    X = []
    for graph in families.graphs:
        vectors = np.abs(np.linalg.eigh(normalised_laplacian(graph))[1][:, :6])
        X.append(np.quantile(vectors, [0.1, 0.25, 0.5, 0.75, 0.9], axis=0).ravel())
    forest = RandomForestClassifier(50, random_state=0)
    assert cross_val_score(forest, X, families.target, cv=5).mean() > 0.75


def test_deterministic_and_without_global_state():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again = (make_graph_families(60, random_state=7) for _ in range(2))
    other = make_graph_families(60, random_state=8)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert same_graphs(first.graphs, again.graphs)
    assert np.array_equal(first.target, again.target)
    assert not same_graphs(first.graphs, other.graphs)


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_random_state_objects_are_drawn_from(kind):
    state, twin = kind(3), kind(3)
    first = make_graph_families(12, random_state=state)
    second = make_graph_families(12, random_state=state)
    assert same_graphs(first.graphs, make_graph_families(12, random_state=twin).graphs)
    assert not same_graphs(first.graphs, second.graphs)


def test_none_draws_anew():
    assert not same_graphs(make_graph_families(12).graphs, make_graph_families(12).graphs)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_every_valid_size_and_density_works(data):
    min_nodes = data.draw(st.integers(2, 30))
    max_nodes = data.draw(st.integers(min_nodes, 30))
    mean_degree = data.draw(st.floats(0.01, min_nodes - 1))
    graphs, _ = make_graph_families(
        12,
        min_nodes=min_nodes,
        max_nodes=max_nodes,
        mean_degree=mean_degree,
        random_state=0,
        return_X_y=True,
    )
    assert graphs.node_counts.min() >= min_nodes
    assert graphs.node_counts.max() <= max_nodes
    assert np.array_equal(graphs.edge_counts, np.rint(mean_degree * graphs.node_counts / 2))


def test_chunks_do_not_lose_graphs(monkeypatch):
    monkeypatch.setattr("graphmover.datasets.families._CHUNK_ENTRIES", 5000)
    graphs, _ = make_graph_families(60, max_nodes=31, random_state=0, return_X_y=True)
    assert np.array_equal(graphs.edge_counts, np.rint(4 * graphs.node_counts))


def test_ten_thousand_graphs_take_seconds():
    start = time.perf_counter()
    assert len(make_graph_families(10_000, random_state=0).graphs) == 10_000
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_graphs": 0}, ValueError, "n_graphs must be at least 1, got 0"),
        ({"n_graphs": 2.0}, TypeError, "n_graphs must be an integer, got 2.0"),
        ({"n_graphs": True}, TypeError, "n_graphs must be an integer"),
        ({"min_nodes": -1}, ValueError, "min_nodes must be at least 1, got -1"),
        ({"min_nodes": 50, "max_nodes": 40}, ValueError, "at least min_nodes = 50, got 40"),
        ({"mean_degree": 0}, ValueError, "mean_degree must be above 0"),
        ({"mean_degree": float("nan")}, ValueError, "mean_degree must be above 0"),
        ({"mean_degree": 30}, ValueError, "at most min_nodes - 1 = 29, got 30"),
        ({"mean_degree": "8"}, TypeError, "mean_degree must be a real number"),
        ({"random_state": "seed"}, TypeError, "random_state must be an integer"),
        ({"random_state": -1}, ValueError, "random_state must not be negative, got -1"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        make_graph_families(**arguments)


def test_classes_may_be_strings_and_some_missing():
    graphs = make_graph_families(12, random_state=0).graphs
    named = Dataset("named", graphs, np.array(["a", "b"] * 6))
    assert repr(named) == "Dataset('named', 12 graphs, 2 classes)"
    some = Dataset("some", graphs, np.array(["a", None] * 6, dtype=object))
    assert repr(some) == "Dataset('some', 12 graphs, 2 classes)"
