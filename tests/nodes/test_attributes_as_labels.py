import pickle

import numpy as np
import pytest
from commands import run
from graph_zoo import random_graph, renumbered
from real_data import real_dataset

import graphmover as gm
from graphmover.nodes.attributes_as_labels import read_by_default, row_codes


def labelled(n_graphs=30, labels=3, edge_labels=2):
    rng = np.random.default_rng(0)
    return gm.as_graph_batch(
        [
            random_graph(rng, n, labels=labels, edge_labels=edge_labels)
            for n in rng.integers(4, 12, n_graphs)
        ]
    )


def one_hot(labels):
    _, codes = np.unique(labels, return_inverse=True)
    return np.eye(codes.max() + 1)[codes]


def two_integers(labels):
    return np.stack([labels // 2, 1 - labels], axis=1).astype(float)


def with_columns(batch, nodes=None, edges=None):
    """The same graphs, their labels replaced by attributes."""
    return gm.GraphBatch(
        batch.offsets,
        batch.indptr,
        batch.indices,
        node_attributes=nodes,
        edge_attributes=edges,
    )


def dressed(batch, columns=one_hot):
    return with_columns(batch, columns(batch.node_labels), columns(batch.edge_labels))


REFINED = {
    "node_embedding": None,
    "wl_iterations": 2,
    "wl_depths": "all",
    "use_edge_labels": "auto",
    "node_mass": "equal",
}
VARIANTS = [
    REFINED,
    REFINED | {"max_random_nodes": None, "partial": True},
    {"use_node_labels": True, "wl_iterations": 1, "use_edge_labels": True},
    {"node_embedding": "labels:3,structure", "use_node_labels": False, "smoothing": 1},
]


@pytest.mark.parametrize("columns", [one_hot, two_integers])
@pytest.mark.parametrize("parameters", VARIANTS)
def test_distances_are_those_of_labels(parameters, columns):
    graphs = labelled()
    estimator = gm.RandomGraphEmbedding(8, random_state=0, **parameters)
    expected = estimator.fit(graphs).distances(graphs)
    estimator.set_params(attributes_as_labels="both")
    assert estimator.fit(dressed(graphs, columns)).distances(
        dressed(graphs, columns)
    ) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("columns", [one_hot, two_integers])
def test_the_vectorizer_sees_labels_in_them(columns):
    edges = [(0, 1), (1, 2), (2, 3)]
    chains = [
        gm.Graph(4, edges, node_labels=[k % 4, k % 3, 2, 3], edge_labels=[0, 1, k % 2])
        for k in range(24)
    ]
    graphs = gm.as_graph_batch(chains)
    like = dressed(graphs, columns)
    assert read_by_default(like) == "both"
    plain, read = (gm.GraphVectorizer(16, random_state=0).fit(batch) for batch in (graphs, like))
    assert np.allclose(plain.transform(graphs), read.transform(like), rtol=1e-9, atol=1e-9)
    assert [name for name, _ in read.views_] == [name for name, _ in plain.views_]
    told = dict(read.describe())["labels"]
    assert told.startswith("labels from node attributes refined")
    assert "along labels from edge attributes" in told


def test_the_nearest_graphs_are_those_by_labels():
    graphs = labelled()
    like = with_columns(graphs, one_hot(graphs.node_labels))
    plain = gm.GraphBatch(
        graphs.offsets, graphs.indptr, graphs.indices, node_labels=graphs.node_labels
    )
    expected = gm.NearestGraphs(3).fit(plain).kneighbors(plain)
    found = gm.NearestGraphs(3).fit(like).kneighbors(like)
    assert found[0] == pytest.approx(expected[0])
    assert (found[1] == expected[1]).all()


def test_the_nearest_graphs_do_not_heed_attributes_that_are_equal():
    graphs = gm.make_graph_families(30, random_state=0).graphs
    like = with_columns(graphs, np.ones((graphs.n_nodes, 1)))
    expected = gm.NearestGraphs(3, random_state=0).fit(graphs).kneighbors()
    near = gm.NearestGraphs(3, random_state=0).fit(like)
    assert near.embedding_.node_embedding == "laplacian"  # the paper's, as without attributes
    for found, wanted in zip(near.kneighbors(), expected, strict=True):
        assert (found == wanted).all()


def test_what_is_not_taken_for_labels():
    graphs = labelled()
    rng = np.random.default_rng(0)
    n, m = graphs.n_nodes, len(graphs.indices)
    of_pairs = one_hot(graphs.edge_labels)
    assert read_by_default(with_columns(graphs, rng.normal(size=(n, 2)))) == "none"
    assert read_by_default(with_columns(graphs, np.ones((n, 2)))) == "none"
    assert read_by_default(with_columns(graphs, np.full((n, 2), np.nan))) == "none"
    assert read_by_default(with_columns(graphs, np.empty((n, 0)), np.empty((m, 0)))) == "none"
    assert read_by_default(with_columns(graphs, rng.normal(size=(n, 2)), of_pairs)) == "edges"
    assert read_by_default(graphs) == "none"  # there are labels
    # Copies of a graph recur whatever the numbers.
    rng = np.random.default_rng(1)
    copies = [
        renumbered(graph, rng)
        for graph in [random_graph(rng, 10, attributes=2) for _ in range(5)]
        for _ in range(3)
    ]
    assert read_by_default(gm.as_graph_batch(copies)) == "none"


def test_equal_rows_have_equal_codes():
    table = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    codes = row_codes(table)
    assert codes[0] == codes[1] and codes[2] == codes[4]
    assert len(set(codes.tolist())) == 3
    assert (codes == row_codes(table[::-1])[::-1]).all()


def model(**parameters):
    parameters = REFINED | {"attributes_as_labels": "both"} | parameters
    return gm.RandomGraphEmbedding(8, random_state=0, **parameters)


def test_models_are_saved_streamed_and_pickled(tmp_path):
    graphs = dressed(labelled())
    fitted = model().fit(graphs)
    features = fitted.transform(graphs)
    fitted.save(tmp_path / "model.npz")
    loaded = gm.RandomGraphEmbedding.load(tmp_path / "model.npz")
    assert loaded.attributes_as_labels == "both"
    for same in (loaded, pickle.loads(pickle.dumps(fitted))):
        assert (same.transform(graphs) == features).all()
    loaded.transform_to(graphs, tmp_path / "vectors.npy", batch_size=7)
    assert (np.load(tmp_path / "vectors.npy") == features).all()


def test_a_damaged_model_is_named(tmp_path):
    model().fit(dressed(labelled())).save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as arrays:
        members = dict(arrays)
    for columns in ([0, 0], [3, -1], [3], [[3, 2]], [3.5, 2.0]):
        np.savez(tmp_path / "bad.npz", **members | {"label_columns": np.array(columns)})
        with pytest.raises(ValueError, match=r"bad\.npz.*label_columns"):
            gm.RandomGraphEmbedding.load(tmp_path / "bad.npz")


def test_bad_attributes_are_named():
    graphs = labelled()
    like = dressed(graphs)
    fitted = model().fit(like)
    wider = with_columns(graphs, np.eye(5)[np.zeros(graphs.n_nodes, int)], like.edge_attributes)
    with pytest.raises(ValueError, match=r"reads 3 attributes of each node as its label.* have 5"):
        fitted.transform(wider)
    with pytest.raises(ValueError, match="fitted with node attributes, but not all of these"):
        fitted.transform(graphs)
    with pytest.raises(ValueError, match='attributes_as_labels="both", but not all graphs have e'):
        fitted.transform(with_columns(graphs, like.node_attributes))
    with pytest.raises(ValueError, match='attributes_as_labels="both", but not all graphs have no'):
        model().fit(graphs)
    holes = like.node_attributes.copy()
    holes[graphs.offsets[3]] = np.nan
    with pytest.raises(ValueError, match=r"graph 3.*nan"):
        fitted.transform(with_columns(graphs, holes, like.edge_attributes))
    with pytest.raises(ValueError, match="attributes_as_labels must be one of none, nodes, edges"):
        model(attributes_as_labels="all").fit(like)


def test_vectors_that_were_never_seen_are_unknown_labels():
    graphs = dressed(labelled())
    fitted = model().fit(graphs)
    other = with_columns(graphs, graphs.node_attributes + 1, graphs.edge_attributes)
    with pytest.warns(UserWarning, match="30 of 30 graphs have no node label in common"):
        assert (fitted.distances(other) == 1).all()


def test_what_is_read_is_used():
    from graphmover.nodes.input_warnings import unused_by

    graphs = dressed(labelled())
    assert unused_by(model().get_params(), graphs) == []
    only_nodes = model(attributes_as_labels="nodes").get_params()
    assert unused_by(only_nodes, graphs) == ["edge attributes"]
    labels_too = gm.GraphBatch(
        graphs.offsets,
        graphs.indptr,
        graphs.indices,
        node_labels=np.arange(graphs.n_nodes),
        node_attributes=graphs.node_attributes,
    )
    assert unused_by(only_nodes, labels_too) == ["node labels"]


def test_the_command_line_reads_them_too(tmp_path):
    gm.write_graphs(dressed(labelled()), tmp_path / "x.jsonl")
    command = f"embed {tmp_path / 'x.jsonl'} -o {tmp_path / 'v.npy'} --components 4"
    options = ["--node-embedding", "none", "--attributes-as-labels", "nodes"]
    answer = run(*command.split(), *options)
    assert answer.returncode == 0, answer.stderr
    assert np.load(tmp_path / "v.npy").shape == (30, 4)


def test_molecules_with_labels_as_columns():
    data = real_dataset("MUTAG")
    graphs = data.graphs[:60]
    like = dressed(graphs)
    plain, read = (gm.GraphVectorizer(32, random_state=0).fit(batch) for batch in (graphs, like))
    assert np.allclose(plain.transform(graphs), read.transform(like), rtol=1e-9, atol=1e-9)
