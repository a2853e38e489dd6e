"""Features and distances, beside plain computations or the library they come from."""

import naive
import numpy as np
import pytest
from graph_zoo import complete, cycle, path, random_graph, star

import graphmover as gm
from graphmover.rivals import (
    DeepGraphKernel,
    Feather,
    Graph2Vec,
    LocalTopologicalProfile,
    MorganFingerprint,
    NetLSD,
    TemplateDistances,
    WassersteinWL,
)
from graphmover.rivals.betweenness import edge_betweenness
from graphmover.rivals.fingerprints import are_molecules


def random_graphs(n=4, **columns):
    rng = np.random.default_rng(1)
    return [random_graph(rng, size, **columns) for size in range(3, 3 + n)]


def test_edge_betweenness_is_networkx_s():
    networkx = pytest.importorskip("networkx")
    graph = networkx.gnp_random_graph(25, 0.12, seed=2)  # with several components
    batch = gm.as_graph_batch([networkx.path_graph(4), graph])
    found = edge_betweenness(batch.offsets, batch.indptr, batch.indices)
    expected = networkx.edge_betweenness_centrality(graph)
    for v in range(25):
        for entry in range(batch.indptr[4 + v], batch.indptr[5 + v]):
            edge = tuple(sorted((v, int(batch.indices[entry]))))
            assert found[entry] == pytest.approx(expected[edge], abs=1e-12)


def plain_feather(graph, order, n_points, largest):
    matrix = naive.adjacency(graph)
    degrees = matrix.sum(axis=1)
    steps = matrix / np.maximum(degrees, 1)[:, None]
    triangles = np.diag(matrix @ matrix @ matrix) / 2
    clustering = triangles / np.maximum(degrees * (degrees - 1) / 2, 1)
    rows, reach = [], np.eye(len(matrix))
    for _ in range(order):
        reach = reach @ steps
        for feature in (np.log1p(degrees), clustering):
            theta = np.linspace(0.01, largest, n_points)
            angles = feature[:, None] * theta
            rows += [(reach @ np.cos(angles)).mean(0), (reach @ np.sin(angles)).mean(0)]
    return np.concatenate(rows)


def test_feather_beside_matrices():
    graphs = [path(2), star(5), *random_graphs()]
    rows = Feather(order=2, n_points=4).fit_transform(graphs)
    for graph, row in zip(graphs, rows, strict=True):
        assert np.allclose(row, plain_feather(graph, 2, 4, 2.5))


def test_heat_traces_are_sums_over_eigenvalues():
    pytest.importorskip("netlsd")
    [row] = NetLSD(n_times=5, normalization="none").fit_transform([cycle(5)])
    values = 1 - np.cos(2 * np.pi * np.arange(5) / 5)
    assert np.allclose(row, np.exp(-np.outer(np.logspace(-2, 2, 5), values)).sum(axis=1))


def test_profiles_count_every_node_and_edge_once():
    graphs = [path(5), star(6), complete(4), gm.Graph(3, [])]
    rows = LocalTopologicalProfile(n_bins=4).fit_transform(graphs).reshape(4, 8, 4).sum(axis=2)
    assert rows[:, :5].tolist() == [[n] * 5 for n in (5, 6, 4, 3)]
    assert rows[:, 5:].tolist() == [[m] * 3 for m in (4, 5, 6, 0)]


def test_profiles_of_edges():
    """In a triangle with a tail: betweenness, Jaccard index and local degree score by hand."""
    from graphmover.rivals.local_profile import _of_edges

    graph = gm.as_graph_batch(gm.Graph(4, [(0, 1), (0, 2), (1, 2), (2, 3)]))
    between, jaccard, score = _of_edges(graph).T
    assert np.allclose(between, np.array([2, 4, 4, 6]) / 12)
    assert np.allclose(jaccard, [1 / 3, 1 / 4, 1 / 4, 0])
    # Node 2 ranks 0 and 1 before 3; to 0, 1 and 3 the best neighbour is node 2.
    assert np.allclose(score, [0, 1, 1, 1])


@pytest.mark.parametrize("iterations", [0, 2])
def test_wwl_with_labels_beside_a_linear_programme(iterations):
    graphs = gm.as_graph_batch(random_graphs(labels=2))
    kernel = WassersteinWL(iterations, strength=0.7).kernel(graphs)
    codes = np.split(gm.wl_labels(graphs, iterations, depths="all"), graphs.offsets[1:-1])
    for i, x in enumerate(codes):
        for j, y in enumerate(codes):
            costs = (x[:, None] != y).mean(axis=2)
            masses = np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))
            distance = naive.transport_cost(*masses, costs)
            assert kernel[i, j] == pytest.approx(np.exp(-0.7 * distance), abs=1e-9)


def test_wwl_with_attributes_beside_a_linear_programme():
    graphs = gm.as_graph_batch(random_graphs(3, attributes=2))
    kernel = WassersteinWL(1).kernel(graphs)
    points = graphs.node_attributes
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    embedded = []
    for number, graph in enumerate(graphs):
        x = points[graphs.offsets[number] : graphs.offsets[number + 1]]
        matrix = naive.adjacency(graph)
        degrees = matrix.sum(axis=1, keepdims=True)
        near = np.where(degrees > 0, matrix @ x / np.maximum(degrees, 1e-300), x)
        embedded.append(np.hstack([x, (x + near) / 2]) / np.sqrt(2))
    for i, x in enumerate(embedded):
        for j, y in enumerate(embedded):
            costs = np.linalg.norm(x[:, None] - y, axis=2)
            masses = np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))
            distance = naive.transport_cost(*masses, costs)
            assert kernel[i, j] == pytest.approx(np.exp(-distance), abs=1e-9)


def test_wwl_without_labels_starts_from_degrees():
    assert WassersteinWL(0).kernel([star(4), path(4)])[0, 1] == pytest.approx(np.exp(-0.5))


def test_graph2vec_gives_each_graph_its_own_row():
    pytest.importorskip("gensim")
    graphs = gm.make_graph_families(18, random_state=0).graphs
    model = Graph2Vec(8, epochs=3, random_state=1).fit(graphs)
    rows = model.transform(graphs)
    assert np.array_equal(model.transform(graphs[5:9]), rows[5:9])
    again = Graph2Vec(8, epochs=3, random_state=1)
    assert np.array_equal(again.fit_transform(graphs), rows)


def test_deep_graph_kernels_are_sums_of_unit_vectors():
    pytest.importorskip("gensim")
    graphs = gm.make_graph_families(18, random_state=0).graphs
    model = DeepGraphKernel(8, iterations=0, epochs=1, random_state=1).fit(graphs)
    assert np.allclose(np.linalg.norm(model.vectors_, axis=1), 1)
    lengths = np.linalg.norm(model.transform(graphs), axis=1)
    assert np.allclose(lengths, graphs.node_counts)  # one label without labels and refinement


def test_fingerprints_are_rdkit_s():
    chem = pytest.importorskip("rdkit.Chem")
    generators = pytest.importorskip("rdkit.Chem.rdFingerprintGenerator")
    smiles = ["CCO", "c1ccccc1C(=O)O", "CC#N", "C1CCCCC1N", "c1ccoc1"]
    generator = generators.GetMorganGenerator(radius=2, fpSize=2048)
    expected = [generator.GetCountFingerprintAsNumPy(chem.MolFromSmiles(one)) for one in smiles]
    assert np.array_equal(MorganFingerprint().fit_transform(smiles), expected)
    bits = MorganFingerprint(counts=False).fit_transform(smiles)
    assert np.array_equal(bits, np.minimum(expected, 1))


def test_what_is_no_molecule_is_refused():
    assert are_molecules(gm.as_graph_batch(["CCO", "CN"]))
    ring = gm.Graph(3, [(0, 1), (1, 2), (2, 0)], node_labels=[0, 1, 2])
    assert not are_molecules(gm.as_graph_batch(ring))
    with pytest.raises(ValueError, match="takes molecules, as files of SMILES give them"):
        MorganFingerprint().fit([ring])


def test_a_template_has_no_distance_to_itself():
    pytest.importorskip("ot")
    graphs = [star(4), star(5), star(7)]  # POT finds a local optimum, here the only one
    rows = TemplateDistances(3, random_state=0).fit_transform(graphs)
    assert np.allclose(rows.diagonal(), 0, atol=1e-6)
    assert (rows[~np.eye(3, dtype=bool)] > 0.01).all()


def test_templates_are_spread_over_classes():
    pytest.importorskip("ot")
    graphs = [path(n) for n in range(2, 12)]
    model = TemplateDistances(4, random_state=0).fit(graphs, ["a"] * 8 + ["b"] * 2)
    assert (model.templates_.node_counts >= 10).sum() == 2
