"""The choice of node embedding and of node masses."""

import math
import pickle

import naive
import numpy as np
import pytest
from graph_zoo import SYMMETRIC, complete, cycle, path, random_graph, renumbered, star
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import graphmover as gm
from graphmover.nodes.registry import NODE_EMBEDDINGS


def walked(graph, steps):
    """Powers of D^-1 A, plainly."""
    a = naive.adjacency(graph)
    degrees = a.sum(axis=1)
    walk = a / np.where(degrees > 0, degrees, 1)[:, np.newaxis]
    return np.column_stack(
        [np.diag(np.linalg.matrix_power(walk, k)) for k in range(1, steps + 1)]
    ).reshape(graph.n_nodes, steps)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 9), st.booleans())
def test_return_probabilities_equal_powers_of_the_walk(seed, n, steps, weighted):
    graph = random_graph(np.random.default_rng(seed), n, weighted=weighted)
    nodes = gm.embed_nodes(graph, steps, node_embedding="return-probability")
    assert nodes.points == pytest.approx(walked(graph, steps), abs=1e-12)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_return_probabilities_of_symmetric_graphs(name):
    graph = SYMMETRIC[name]
    points = gm.embed_nodes(graph, 7, node_embedding="return-probability").points
    assert points == pytest.approx(walked(graph, 7), abs=1e-12)


def test_return_probabilities_of_large_graphs():
    n = 100_000
    points = gm.embed_nodes(cycle(n), 6, node_embedding="return-probability").points
    assert points[n // 2] == pytest.approx([0, 2 / 4, 0, 6 / 16, 0, 20 / 64])
    hub = gm.embed_nodes(star(n), 4, node_embedding="return-probability").points
    assert hub[0] == pytest.approx([0, 1, 0, 1])
    assert hub[1] == pytest.approx([0, 1 / (n - 1), 0, 1 / (n - 1)])


def test_log_degrees():
    nodes = gm.embed_nodes([star(5), gm.Graph(2, [])], node_embedding="degree")
    assert nodes.n_dimensions == 1
    assert nodes.points[:, 0] == pytest.approx([math.log(5), *[math.log(2)] * 4, 0, 0])
    weighted = gm.Graph(2, [(0, 1)], edge_weights=[2.5])
    assert gm.embed_nodes(weighted, node_embedding="degree").points[0] == math.log(3.5)


def test_masses():
    assert gm.embed_nodes(star(4)).masses.tolist() == [3, 1, 1, 1]
    nodes = gm.embed_nodes([star(4), gm.Graph(2, [])], node_mass="equal")
    assert nodes.masses.tolist() == [1] * 6
    assert nodes.weights.tolist() == [0.25] * 4 + [0.5] * 2


def sizes(batch):
    """An embedding of a user's own: degree and size of the graph, in hundreds."""
    return [
        100.0 * np.column_stack([np.bincount(g.edges.ravel(), minlength=n), np.full(n, n)])
        for g in batch
        for n in [g.n_nodes]
    ]


def test_callables_are_used_as_they_are():
    nodes = gm.embed_nodes([star(4), path(2)], node_embedding=sizes)
    assert nodes.points.tolist() == [[300, 400], *[[100, 400]] * 3, *[[100, 200]] * 2]


@pytest.mark.parametrize(
    "result, error, message",
    [
        (None, TypeError, "must return a list of arrays, one per graph, got NoneType"),
        ([np.zeros((3, 2))], ValueError, "returned 1 arrays for 2 graphs"),
        ([np.zeros((3, 2)), np.zeros(2)], ValueError, r"graph 1: .*shape \(2,\), expected \(2, 2"),
        ([np.zeros((3, 2)), np.zeros((3, 2))], ValueError, r"graph 1: .*\(3, 2\), expected \(2, 2"),
        ([np.zeros((3, 2)), np.zeros((2, 1))], ValueError, r"graph 1: .*\(2, 1\), expected \(2, 2"),
        ([np.zeros((3, 0)), np.zeros((2, 0))], ValueError, r"graph 0: .*shape \(3, 0\)"),
        ([np.zeros((3, 2)), np.full((2, 2), np.nan)], ValueError, "graph 1: .*the value nan"),
        ([np.zeros((3, 2)), np.full((2, 2), np.inf)], ValueError, "graph 1: .*the value inf"),
        ([np.full((3, 2), "a"), np.zeros((2, 2))], TypeError, "graph 0: .*expected real numbers"),
    ],
)
def test_bad_callables_are_named(result, error, message):
    with pytest.raises(error, match=message):
        gm.embed_nodes([path(3), path(2)], node_embedding=lambda batch: result)


@pytest.mark.parametrize("bad", ["spectral", 3, ["spectral"]])
def test_unknown_names_list_the_known_ones(bad):
    expected = "node_embedding must be one of laplacian, return-probability, degree, attributes, "
    with pytest.raises(ValueError, match=expected):
        gm.embed_nodes(path(3), node_embedding=bad)
    with pytest.raises(ValueError, match=expected):
        gm.RandomGraphEmbedding(node_embedding=bad).fit([path(3)])
    with pytest.raises(ValueError, match="node_mass must be one of degree, equal, got"):
        gm.embed_nodes(path(3), node_mass=bad)
    with pytest.raises(ValueError, match="node_mass must be one of degree, equal, got"):
        gm.RandomGraphEmbedding(node_mass=bad).fit([path(3)])


@pytest.fixture(scope="module")
def graphs():
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 15, 40)
    carried = {"labels": 3, "attributes": 2, "edge_labels": 2}
    return gm.as_graph_batch([random_graph(rng, n, **carried) for n in sizes])


def model(**parameters):
    return gm.RandomGraphEmbedding(**{"n_components": 16, "random_state": 0} | parameters)


@pytest.mark.parametrize("node_embedding", [*NODE_EMBEDDINGS, sizes])
@pytest.mark.parametrize("sampling", ["anchor", "uniform"])
@pytest.mark.parametrize("node_mass", ["degree", "equal"])
def test_every_choice_makes_a_kernel(graphs, node_embedding, sampling, node_mass):
    choice = {"node_embedding": node_embedding, "sampling": sampling, "node_mass": node_mass}
    fitted = model(**choice).fit(graphs)
    expected = fitted.distances(graphs)
    assert np.isfinite(expected).all() and expected.max() > 0
    if node_embedding not in ("attributes", "ranked-attributes", "edges", "structure"):
        # Points fit into a unit cube, and labels are as far apart as its corners.
        drawn = fitted.random_graphs_.points
        assert np.ptp(drawn, axis=0).max() <= 1 + 1e-12
        assert expected.max() <= fitted.random_graphs_.n_dimensions**0.5 * (1 + 1e-9)
    assert (fitted.transform(graphs) == model(n_jobs=2, **choice).fit_transform(graphs)).all()
    rng = np.random.default_rng(0)
    others = [renumbered(graph, rng) for graph in graphs]
    assert fitted.distances(others) == pytest.approx(expected, abs=1e-8)
    values = np.linalg.eigvalsh(fitted.kernel(graphs))
    assert values[0] > -1e-10 * values[-1]
    assert (pickle.loads(pickle.dumps(fitted)).distances(graphs) == expected).all()
    assert clone(fitted).get_params() == fitted.get_params()


@pytest.mark.parametrize("node_embedding", NODE_EMBEDDINGS)
def test_saved_models_carry_the_choice(tmp_path, graphs, node_embedding):
    fitted = model(node_embedding=node_embedding, node_mass="equal").fit(graphs)
    fitted.save(tmp_path / "model.npz")
    loaded = gm.RandomGraphEmbedding.load(tmp_path / "model.npz")
    assert (loaded.transform(graphs) == fitted.transform(graphs)).all()
    assert loaded.get_params() == fitted.get_params()
    expected = fitted.transform(graphs)
    fitted.set_params(node_embedding="degree", node_mass="degree")  # takes effect in the next fit
    assert (fitted.transform(graphs) == expected).all()


def test_callables_cannot_be_saved(tmp_path, graphs):
    fitted = model(node_embedding=sizes).fit(graphs)
    with pytest.raises(ValueError, match="node_embedding is a callable cannot be saved"):
        fitted.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_models_with_a_damaged_choice_are_refused(tmp_path, graphs):
    model(node_embedding="degree").fit(graphs).save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as file:
        arrays = dict(file)
    for change in ({"node_embedding": "x"}, {"node_mass": "x"}, {"node_scale": 0.0}):
        np.savez(tmp_path / "bad.npz", **arrays | change)
        with pytest.raises(ValueError, match="is a damaged graphmover model"):
            gm.RandomGraphEmbedding.load(tmp_path / "bad.npz")


def test_a_callable_must_keep_its_dimensions(graphs):
    widths = iter([2, 3])

    def changing(batch):
        width = next(widths)
        return [np.zeros((n, width)) for n in batch.node_counts]

    fitted = model(node_embedding=changing, gamma=1.0).fit(graphs)
    with pytest.raises(ValueError, match="of 3 dimensions, expected 2 as in fit"):
        fitted.transform(graphs)


def test_distances_name_the_graph_within_the_whole_collection(graphs, monkeypatch):
    monkeypatch.setattr("graphmover.backends.threads._CHUNK_NODES", 7)
    heavy = gm.Graph(3, [(0, 1), (1, 2)], edge_weights=[1e308, 1e308])
    with pytest.raises(ValueError, match="graph 3: its edge weights add up"):
        model().fit([path(3), complete(4)]).distances([path(3), path(4), cycle(5), heavy])
