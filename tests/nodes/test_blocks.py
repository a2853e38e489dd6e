"""Node features as points: attributes, labels and structure, side by side and smoothed."""

import itertools
import math
import sys

import numpy as np
import pytest
from batches import two_way_batch
from graph_zoo import SYMMETRIC, complete, cycle, path, random_graph, renumbered, star
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import graphmover as gm
from graphmover.backends import cuda
from graphmover.evaluation import Method, evaluate
from graphmover.evaluation.columns import FoldDistances, Hyperparameters
from graphmover.nodes.blocks import means_and_deviations
from graphmover.nodes.embed import embed_batch
from graphmover.nodes.recipe import NodeRecipe

ALL = ["attributes", ("labels", 4), "edges", "structure", "laplacian", ("degree", 0.5)]


def random_graphs(seed, n_graphs, **columns):
    rng = np.random.default_rng(seed)
    columns = {"labels": 3, "attributes": 2, "edge_labels": 3} | columns
    return [random_graph(rng, n, **columns) for n in rng.integers(1, 14, n_graphs)]


def fitted_to(graphs, **parameters):
    defaults = {"n_components": 12, "node_embedding": ALL, "random_state": 0, "smoothing": 2}
    return gm.RandomGraphEmbedding(**defaults | parameters).fit(graphs)


def with_attributes(batch, node_attributes=None, edge_attributes=None):
    """The same graphs with other attributes, unchecked."""
    return gm.GraphBatch(
        batch.offsets,
        batch.indptr,
        batch.indices,
        batch.edge_weights,
        batch.node_labels,
        node_attributes,
        batch.edge_labels,
        edge_attributes,
    )


def adjacency(graph):
    matrix = np.zeros((graph.n_nodes, graph.n_nodes))
    weights = 1 if graph.edge_weights is None else graph.edge_weights
    matrix[tuple(graph.edges.T)] = weights
    return matrix + matrix.T


def naive_structure(graph):
    matrix = adjacency(graph)
    rows = []
    for v in range(graph.n_nodes):
        near = np.flatnonzero(matrix[v])
        pairs = list(itertools.combinations(near, 2))
        triangles = sum(matrix[u, w] > 0 for u, w in pairs)
        share = triangles / len(pairs) if pairs else 0
        rows.append([math.log1p(matrix[v].sum()), share, math.log1p(triangles)])
    return np.array(rows).reshape(-1, 3)


def naive_smoothing(graph, points, depth):
    matrix = adjacency(graph)
    depths = [points]
    for _ in range(depth):
        last = depths[-1].copy()
        for v in range(graph.n_nodes):
            if matrix[v].any():
                last[v] = (depths[-1][v] + matrix[v] @ depths[-1] / matrix[v].sum()) / 2
        depths.append(last)
    return np.hstack(depths) / math.sqrt(depth + 1)


def standardised(columns):
    deviations = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(deviations > 0, deviations, 1)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1.0, 3.0, 12.0]))
@settings(max_examples=30, deadline=None)
def test_structure_equals_the_naive_count(seed, weighted, mean_degree):
    rng = np.random.default_rng(seed)
    graphs = []
    for n in rng.integers(1, 25, 4):
        edges = np.argwhere(np.triu(rng.random((n, n)) < mean_degree / n, 1))
        weights = rng.random(len(edges)) + 0.1 if weighted else None
        graphs.append(gm.Graph(n, edges, edge_weights=weights))
    found = gm.embed_nodes(graphs, node_embedding="structure").points
    assert found == pytest.approx(standardised(np.vstack(list(map(naive_structure, graphs)))))


@pytest.mark.parametrize("graph", SYMMETRIC.values(), ids=SYMMETRIC)
def test_structure_of_symmetric_graphs(graph):
    points = gm.embed_nodes([graph, star(4)], node_embedding="structure").points
    expected = np.vstack([naive_structure(graph), naive_structure(star(4))])
    assert points == pytest.approx(standardised(expected))


@given(st.integers(0, 10**6), st.booleans(), st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_smoothing_equals_the_naive_average(seed, weighted, depth):
    graphs = random_graphs(seed, 5, weighted=weighted)
    plain = gm.embed_nodes(graphs, node_embedding=ALL)
    smooth = gm.embed_nodes(graphs, node_embedding=ALL, smoothing=depth)
    for graph, before, after in zip(graphs, plain, smooth, strict=True):
        assert after.points == pytest.approx(naive_smoothing(graph, before.points, depth))


def test_smoothing_of_any_points():
    graphs = random_graphs(0, 20)

    def sizes(batch):
        return [np.full((n, 2), n) + np.arange(n)[:, np.newaxis] for n in batch.node_counts]

    for node_embedding in ("laplacian", "degree", "return-probability", sizes):
        one = fitted_to(graphs, node_embedding=node_embedding, smoothing=0)
        three = fitted_to(graphs, node_embedding=node_embedding, smoothing=2)
        width = one.random_graphs_.n_dimensions
        assert three.random_graphs_.n_dimensions == 3 * width
        # The points at depth 0 are those without smoothing, up to the root of 3.
        own = three.random_graphs_.points[:, :width] * math.sqrt(3)
        assert own == pytest.approx(one.random_graphs_.points, rel=1e-12)


def test_extreme_weights_do_not_overflow():
    edges = [(0, 1), (1, 2)]
    for size in (1e307, 1e-300):
        graph = gm.Graph(3, edges, edge_weights=[size, 2 * size], node_attributes=[0, 1e3, 1])
        same = gm.Graph(3, edges, edge_weights=[1, 2], node_attributes=[0, 1e3, 1])
        points = gm.embed_nodes(graph, node_embedding="attributes", smoothing=2).points
        expected = gm.embed_nodes(same, node_embedding="attributes", smoothing=2).points
        assert points == pytest.approx(expected)


def test_blocks_side_by_side():
    graphs = gm.as_graph_batch(random_graphs(1, 10))
    found = gm.embed_nodes(graphs, node_embedding=ALL).points
    codes = np.unique(graphs.node_labels)
    degrees = gm.embed_nodes(graphs, node_embedding="degree").points
    parts = [
        standardised(graphs.node_attributes),
        4 * (graphs.node_labels[:, np.newaxis] == codes),
        gm.embed_nodes(graphs, node_embedding="edges").points,
        gm.embed_nodes(graphs, node_embedding="structure").points,
        gm.embed_nodes(graphs).points,
        0.5 * degrees / np.ptp(degrees),
    ]
    assert found == pytest.approx(np.hstack(parts))
    text = "attributes, labels:4, edges, structure, laplacian, degree:0.5"
    assert_array_equal(gm.embed_nodes(graphs, node_embedding=text).points, found)
    one = gm.embed_nodes(graphs, node_embedding=["laplacian"])
    assert_array_equal(one.points, gm.embed_nodes(graphs).points)


def test_a_constant_column_adds_nothing():
    rng = np.random.default_rng(0)
    graphs = [gm.Graph(3, [(0, 1)], node_attributes=np.c_[rng.random(3), [0.1] * 3])] * 4
    points = gm.embed_nodes(graphs, node_embedding="attributes").points
    assert (points[:, 1] == 0).all() and points[:, 0].std() == pytest.approx(1)
    fitted = fitted_to(graphs, node_embedding="attributes", smoothing=0)
    other = gm.Graph(1, [], node_attributes=[[graphs[0].node_attributes[0, 0], 0.6]])
    here = gm.Graph(1, [], node_attributes=[graphs[0].node_attributes[0]])
    one = gm.RandomGraphEmbedding(1, max_random_nodes=1, node_embedding="attributes")
    one.fit([here])
    assert one.distances([other]) == pytest.approx(0.5)  # its unit is 1
    assert np.isfinite(fitted.transform(graphs)).all()


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_attributes_of_any_size(size):
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(200, 3)) + [0, 5, -1000]
    centres, scales = means_and_deviations(columns * size)
    assert centres == pytest.approx(columns.mean(axis=0) * size, rel=1e-12)
    assert scales == pytest.approx(columns.std(axis=0) * size, rel=1e-9)
    graphs = [gm.Graph(2, [(0, 1)], node_attributes=pair) for pair in columns.reshape(-1, 2, 3)]
    large = [
        gm.Graph(2, [(0, 1)], node_attributes=pair) for pair in (columns * size).reshape(-1, 2, 3)
    ]
    same = fitted_to(graphs, node_embedding="attributes").transform(graphs)
    assert fitted_to(large, node_embedding="attributes").transform(large) == pytest.approx(same)


def test_rounding_errors_are_no_deviation():
    column = np.full((3, 1), 0.1 + 0.2)
    column[1] = 0.3
    assert means_and_deviations(column)[1] == [1.0]


def test_outliers_do_not_break_the_engine():
    rng = np.random.default_rng(0)
    graphs = [gm.Graph(4, [(0, 1)], node_attributes=rng.random((4, 2))) for _ in range(10)]
    fitted = fitted_to(graphs, node_embedding=[("attributes", 1e100)])
    for value in (1e12, 1e308, -1e308):
        outlier = gm.Graph(2, [(0, 1)], node_attributes=[[0, value], [value, 1]])
        assert np.isfinite(fitted.distances([outlier])).all()
        trained = fitted_to([*graphs, outlier], node_embedding="attributes")
        assert np.isfinite(trained.distances(graphs)).all()


def test_thousands_of_columns():
    rng = np.random.default_rng(0)
    graphs = [gm.Graph(3, [(0, 1)], node_attributes=rng.random((3, 5000))) for _ in range(6)]
    features = fitted_to(graphs, node_embedding="attributes", smoothing=1).transform(graphs)
    assert features.shape == (6, 12) and np.isfinite(features).all()


def test_unknown_labels_are_zeros():
    graphs = [gm.Graph(2, [], node_labels=["C", "N"]), gm.Graph(1, [], node_labels=["O"])]
    fitted = fitted_to(graphs, node_embedding="labels", smoothing=0, max_random_nodes=1)
    unknown = gm.Graph(2, [], node_labels=["new", ("other", 1)])
    assert fitted.distances([unknown]) == pytest.approx(1.0)
    known = fitted.distances([gm.Graph(1, [], node_labels=["C"])])
    assert set(known.round(12).ravel()) <= {0.0, round(math.sqrt(2), 12)}


def test_labels_enter_once():
    graphs = random_graphs(2, 20)
    assert fitted_to(graphs, node_embedding="laplacian").uses_node_labels_
    assert fitted_to(graphs, node_embedding=["laplacian", "degree"]).uses_node_labels_
    for node_embedding in ("labels", "attributes", "structure", ALL):
        chosen = {"node_embedding": node_embedding}
        assert not fitted_to(graphs, **chosen).uses_node_labels_
        assert fitted_to(graphs, **chosen).random_graphs_.labels is None
        assert fitted_to(graphs, use_node_labels=True, **chosen).uses_node_labels_
        assert fitted_to(graphs, wl_iterations=1, **chosen).uses_node_labels_
        assert gm.embed_nodes(graphs, **chosen).labels is None


@pytest.mark.slow
@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=15, deadline=None)
def test_invariant_and_independent_of_batches(seed, weighted):
    graphs = random_graphs(seed, 12, weighted=weighted)
    fitted = fitted_to(graphs)
    expected = fitted.distances(graphs)
    rng = np.random.default_rng(seed)
    turned = [renumbered(graph, rng) for graph in graphs]
    assert fitted.distances(turned) == pytest.approx(expected, abs=1e-8)
    order = rng.permutation(len(graphs))
    assert_array_equal(fitted.distances([graphs[i] for i in order]), expected[order])
    one_by_one = np.vstack([fitted.distances([graph]) for graph in graphs])
    assert_array_equal(one_by_one, expected)
    for n_jobs in (2, 5):
        other = fitted_to(graphs, n_jobs=n_jobs)
        assert_array_equal(other.distances(graphs), expected)


def test_graphs_without_nodes():
    graphs = random_graphs(3, 8)
    empty = gm.Graph(0, [], node_labels=[], node_attributes=np.empty((0, 2)), edge_labels=[])
    with pytest.warns(UserWarning, match="no nodes"):
        fitted = fitted_to([*graphs, empty])
    with pytest.warns(UserWarning, match="no nodes"):
        assert (fitted.transform([empty, gm.Graph(0, [])]) == 0).all()
    with pytest.raises(ValueError, match="fitted to nodes, but no graph has any"):
        gm.embed_nodes([empty], node_embedding="attributes")


def test_what_graphs_lack_is_named():
    graphs = random_graphs(4, 6)
    plain = [path(3), star(4)]
    for name in ("attributes", "labels"):
        message = f'node_embedding has "?{name}"?, but not all graphs have node {name}: add them'
        with pytest.raises(ValueError, match=message):
            fitted_to(plain, node_embedding=["structure", name])
        fitted = fitted_to(graphs, node_embedding=name)
        with pytest.raises(ValueError, match=f"not all .*graphs have (them|node {name}): add"):
            fitted.transform(plain)
        with pytest.warns(UserWarning, match="are left out"), pytest.raises(ValueError):
            fitted.transform([*graphs, *plain])
    wide = gm.Graph(2, [(0, 1)], node_labels=[0, 1], node_attributes=np.zeros((2, 7)))
    with pytest.raises(ValueError, match=r"ha(s|ve) 7 columns of attributes, expected 2 as in fit"):
        fitted_to(graphs, node_embedding="attributes").transform([wide])
    none = gm.Graph(2, [(0, 1)], node_attributes=np.zeros((2, 0)))
    with pytest.raises(ValueError, match="not all graphs have node attributes"):
        fitted_to([none], node_embedding="attributes")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_attributes_that_are_not_finite_are_named(value):
    whole = gm.as_graph_batch(random_graphs(5, 6))
    attributes = whole.node_attributes.copy()
    attributes[whole.offsets[4] + 0, 1] = value  # an array of its own, as a caller may pass
    batch = with_attributes(whole, attributes)
    message = f"graph 4, node 0: attribute 1 is {value}, expected a finite number: fill in"
    with pytest.raises(ValueError, match=message):
        fitted_to(batch)
    with pytest.raises(ValueError, match=message):
        fitted_to(whole).transform(batch)


def test_too_many_labels():
    graph = gm.Graph(10_001, [], node_labels=np.arange(10_001))
    with pytest.raises(ValueError, match="there are 10001 different labels, and 10000 columns"):
        gm.embed_nodes(graph, node_embedding="labels")


def test_saved_models_hold_what_fit_decided(tmp_path):
    graphs = random_graphs(6, 15)
    fitted = fitted_to(graphs, n_dimensions=3)
    expected = fitted.transform(graphs)
    fitted.save(tmp_path / "model.npz")
    loaded = gm.RandomGraphEmbedding.load(tmp_path / "model.npz")
    assert_array_equal(loaded.transform(graphs), expected)
    assert loaded.node_embedding == "attributes,labels:4.0,edges,structure,laplacian,degree:0.5"
    assert (loaded.smoothing, loaded.n_dimensions) == (2, 3)
    loaded.save(tmp_path / "again.npz")
    again = gm.RandomGraphEmbedding.load(tmp_path / "again.npz")
    assert_array_equal(again.transform(graphs), expected)
    assert_array_equal(loaded.fit_transform(graphs), expected)


def test_damaged_blocks_are_refused(tmp_path):
    fitted_to(random_graphs(7, 15)).save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as file:
        arrays = dict(file)
    widths, codes = arrays["block_widths"], arrays["block_labels"]
    for change in (
        {"block_widths": widths[:-1]},
        {"block_widths": -widths},
        {"block_widths": widths[::-1].copy()},
        {"block_widths": widths + 1},
        {"block_scales": arrays["block_scales"] * 0},
        {"block_scales": arrays["block_scales"][1:]},
        {"block_centres": arrays["block_centres"] * np.nan},
        {"block_labels": codes[::-1].copy()},
        {"block_labels": codes[1:]},
        {"block_edge_labels": np.arange(9)},
        {"smoothing": np.array(-1)},
        {"smoothing": np.array(1)},
        {"n_dimensions": np.array(0)},
        {"node_embedding": np.array("labels,laplacian")},
        {"node_embedding": np.array("labels:-1")},
    ):
        np.savez(tmp_path / "bad.npz", **arrays | change)
        with pytest.raises(ValueError, match="is a damaged graphmover model"):
            gm.RandomGraphEmbedding.load(tmp_path / "bad.npz")
    del arrays["block_scales"]
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(ValueError, match="block_scales is missing"):
        gm.RandomGraphEmbedding.load(tmp_path / "bad.npz")


def test_folds_are_standardised_by_their_training_nodes():
    graphs = gm.as_graph_batch(random_graphs(8, 30))
    embedding = gm.RandomGraphEmbedding(node_embedding=["attributes", "structure"], smoothing=1)
    training_sets = [np.arange(20), np.arange(10, 30)]
    hyperparameters = Hyperparameters(4, 2, 0)
    found = FoldDistances(graphs, embedding, training_sets, 8, seed=0)
    found.compute(hyperparameters, 8, None, [0, 1])
    # What the test fold holds changes no distance between training graphs.
    attributes = graphs.node_attributes.copy()
    attributes[graphs.offsets[20] :] *= 1000
    other = with_attributes(graphs, attributes)
    changed = FoldDistances(other, embedding, training_sets, 8, seed=0)
    changed.compute(hyperparameters, 8, None, [0, 1])
    train = training_sets[0]
    expected = found.of_fold(0, hyperparameters, 8, train)
    assert_array_equal(changed.of_fold(0, hyperparameters, 8, train), expected)
    assert (changed.of_fold(1, hyperparameters, 8) != found.of_fold(1, hyperparameters, 8)).any()


def test_evaluation_takes_features():
    graphs = random_graphs(9, 24)
    method = Method("features", gm.RandomGraphEmbedding(node_embedding=ALL, smoothing=1))
    scores = evaluate(graphs, np.arange(24) % 2, [method], n_components=8, n_folds=2)
    assert len(scores.folds) == 2
    as_text = gm.RandomGraphEmbedding(
        node_embedding="attributes,labels:4,edges,structure,laplacian,degree:0.5", smoothing=1
    )
    assert Method("features", as_text).fingerprint == method.fingerprint


def naive_edges(batch):
    """Row after row; u -> v and v -> u may carry different labels and attributes."""
    codes = [] if batch.edge_labels is None else sorted(set(batch.edge_labels.tolist()))
    rows = []
    for v in range(batch.n_nodes):
        entries = range(batch.indptr[v], batch.indptr[v + 1])
        weights = batch.adjacency_weights[list(entries)]
        one_hot = [[float(batch.edge_labels[i] == code) for code in codes] for i in entries]
        table = np.array(one_hot).reshape(len(entries), len(codes))
        if batch.edge_attributes is not None:
            table = np.hstack([table, batch.edge_attributes[list(entries)]])
        mean = weights @ table / weights.sum() if entries else np.zeros(table.shape[1])
        rows.append(mean)
    return np.array(rows)


@given(st.integers(0, 10**6), st.sampled_from(["labels", "attributes", "both"]), st.booleans())
@settings(max_examples=20, deadline=None)
def test_edges_equal_the_naive_mean(seed, carried, weighted):
    rng = np.random.default_rng(seed)
    batch = two_way_batch(rng, [4, 1, 9, 6], labels=(7, -2, 3))
    batch = gm.GraphBatch(
        batch.offsets,
        batch.indptr,
        batch.indices,
        np.ones(len(batch.indices)) * 2 if weighted else None,
        edge_labels=None if carried == "attributes" else batch.edge_labels,
        edge_attributes=None if carried == "labels" else batch.edge_attributes,
    )
    points = gm.embed_nodes(batch, node_embedding="edges").points
    assert points == pytest.approx(standardised(naive_edges(batch)))
    fitted = fitted_to(batch, node_embedding="edges")
    one_by_one = np.vstack([fitted.distances(batch[i : i + 1]) for i in range(4)])
    assert_array_equal(one_by_one, fitted.distances(batch))


def test_bonds_tell_molecules_apart():
    bonds = [gm.Graph(2, [(0, 1)], edge_labels=[order]) for order in (1, 2, 3)]
    fitted = fitted_to(bonds * 5, node_embedding="edges")
    assert len(np.unique(fitted.transform(bonds).round(9), axis=0)) == 3
    # An unknown label, and a node without edges, have no share in any column.
    unknown, alone = gm.Graph(2, [(0, 1)], edge_labels=["new"]), gm.Graph(1, [])
    assert fitted.distances([unknown]) == pytest.approx(fitted.distances([alone]))


def test_edges_that_lack_something_are_named():
    rng = np.random.default_rng(0)
    both = two_way_batch(rng, [5, 7, 6], labels=(1, 2))
    plain = gm.GraphBatch(both.offsets, both.indptr, both.indices)
    labels = gm.GraphBatch(both.offsets, both.indptr, both.indices, edge_labels=both.edge_labels)
    with pytest.raises(ValueError, match='has "edges", but not all graphs have edge labels, or'):
        fitted_to(plain, node_embedding="edges")
    fitted = fitted_to(both, node_embedding="edges")
    with pytest.raises(ValueError, match="not all graphs have edge labels: add"):
        fitted.transform(plain)
    with pytest.raises(ValueError, match="not all graphs have edge attributes: add"):
        fitted.transform(labels)
    # What fit did not have is not used.
    assert_array_equal(
        *(fitted_to(labels, node_embedding="edges").transform(x) for x in (both, labels))
    )
    attributes = both.edge_attributes.copy()
    entry = both.indptr[both.offsets[1] + 2]
    attributes[entry, 1] = np.nan
    bad = with_attributes(both, None, attributes)
    message = f"graph 1, edge 2 -> {both.indices[entry]}: attribute 1 is nan, expected a finite"
    with pytest.raises(ValueError, match=message):
        fitted.transform(bad)


@pytest.mark.parametrize("chosen", [(ALL, 0), (ALL, 2), ("laplacian", 2), ("degree", 1)])
def test_a_gpu_is_given_the_same_points(monkeypatch, chosen):
    """Points of features, and smoothed ones, are computed on the host, then uploaded."""
    monkeypatch.setitem(sys.modules, "cupy", np)  # uploads become copies
    node_embedding, smoothing = chosen
    batch = gm.as_graph_batch(random_graphs(10, 9))
    recipe = NodeRecipe(3, node_embedding, smoothing=smoothing).fitted_to(batch)
    on_device = cuda._embed(batch, recipe, 0)
    assert_array_equal(on_device.points, embed_batch(batch, recipe).points)
    assert on_device.points.shape[1] == recipe.n_columns or node_embedding == "degree"


def test_cycles_and_cliques_differ():
    fitted = fitted_to([cycle(6), complete(6)], node_embedding="structure", smoothing=0)
    one, other = fitted.transform([cycle(6), complete(6)])
    assert np.abs(one - other).max() > 0.01
