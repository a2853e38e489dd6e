"""Labels of all depths, whole training graphs and counts in RandomGraphEmbedding."""

import pickle
import warnings

import numpy as np
import pytest
from graph_zoo import random_graph
from sklearn.base import clone

import graphmover as gm
from graphmover.evaluation import Method
from graphmover.evaluation.fingerprints import description
from graphmover.transport import GroundDistance, TreeDistance


def graph(rng, n):
    plain = random_graph(rng, n, labels=3)
    labels = rng.integers(0, 2, plain.n_edges)
    return gm.Graph(n, plain.edges, node_labels=plain.node_labels, edge_labels=labels)


@pytest.fixture(scope="module")
def graphs():
    rng = np.random.default_rng(0)
    return gm.as_graph_batch([graph(rng, n) for n in rng.integers(2, 15, 40)])


def embedding(**parameters):
    defaults = {"n_components": 12, "node_embedding": None, "random_state": 0}
    return gm.RandomGraphEmbedding(**defaults | parameters)


VARIANTS = [
    {},
    {"wl_iterations": 2},
    {"wl_iterations": 2, "wl_depths": "all"},
    {"wl_iterations": 2, "wl_depths": "all", "use_node_labels": False},
    {"wl_iterations": 2, "wl_depths": "all", "use_edge_labels": True, "node_mass": "equal"},
    {"wl_iterations": 2, "wl_depths": "all", "max_random_nodes": None, "partial": True},
    {"wl_depths": "all", "max_random_nodes": None, "spread_anchors": True},
    {"wl_iterations": 1, "wl_depths": "all", "node_embedding": "laplacian"},
    {"wl_iterations": 1, "use_edge_labels": "auto", "node_embedding": "degree"},
    {"node_embedding": "laplacian", "max_random_nodes": None, "spread_anchors": True},
    {"node_embedding": "laplacian", "partial": True},
    {"node_embedding": "laplacian", "partial": True, "use_node_labels": False, "smoothing": 1},
    {"node_embedding": "degree", "partial": True, "wl_iterations": 1, "wl_depths": "all"},
    {"node_embedding": "structure", "partial": True, "node_mass": "equal"},
    {
        "node_embedding": "labels:3,laplacian",
        "partial": True,
        "max_random_nodes": None,
        "spread_anchors": True,
    },
]

#: What mass without a match costs in those of them that count and have coordinates.
UNMATCHED = {
    "laplacian": 2.0,  # 4 dimensions; labels or none
    "degree": 2.0,  # 1 dimension, and labels that weigh 1
    "structure": 6**0.5,  # 3 standardised columns
    "labels:3,laplacian": (2 * 3**2 + 4) ** 0.5,
}


def ids(parameters):
    return ", ".join(f"{name}={value}" for name, value in parameters.items()) or "labels"


@pytest.mark.parametrize("parameters", VARIANTS, ids=ids)
def test_distances_are_those_of_the_engine(graphs, parameters):
    model = embedding(**parameters).fit(graphs)
    names = ("wl_iterations", "wl_depths", "use_edge_labels", "use_node_labels", "node_mass")
    nodes = gm.embed_nodes(
        graphs,
        node_embedding=model.node_embedding,
        **{name: getattr(model, name) for name in names},
        smoothing=model.smoothing,
    ).divided_by(model.node_scale_)
    if model.node_embedding is None:
        ground = TreeDistance(model.partial)
    elif model.wl_depths == "all":
        ground = GroundDistance(0.0, 1 / (model.wl_iterations + 1))
    else:
        ground = None
    if model.partial and model.node_embedding is not None:
        ground = ground or GroundDistance(nodes.n_dimensions**0.5, 0.0)
        ground = ground._replace(unmatched=UNMATCHED[model.node_embedding])
    expected = gm.earth_movers_distance(nodes, model.random_graphs_, ground=ground)
    assert (model.distances(graphs) == expected).all()


@pytest.mark.parametrize("parameters", VARIANTS, ids=ids)
def test_models_are_saved_streamed_pickled_and_cloned(graphs, parameters, tmp_path):
    model = embedding(**parameters)
    features = model.fit_transform(graphs)
    model.save(tmp_path / "model.npz")
    loaded = gm.RandomGraphEmbedding.load(tmp_path / "model.npz")
    assert loaded.get_params() == model.get_params()
    for same in (loaded, pickle.loads(pickle.dumps(model)), clone(model).fit(graphs)):
        assert (same.transform(graphs) == features).all()
        assert same.uses_edge_labels_ == model.uses_edge_labels_
    loaded.set_params(n_jobs=2).transform_to(graphs, tmp_path / "vectors.npy", batch_size=7)
    assert (np.load(tmp_path / "vectors.npy") == features).all()


def test_defaults_are_left_out_of_model_files(graphs, tmp_path):
    gm.RandomGraphEmbedding(4, random_state=0).fit(graphs).save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as arrays:
        assert not {"wl_depths", "uses_edge_labels"} & set(arrays.files)


@pytest.mark.parametrize(
    "changes",
    [
        {"wl_depths": "some"},
        {"wl_depths": "last"},
        {"labels": np.zeros((5, 9), np.int64)},
        {"node_embedding": "laplacian"},
        {"wl_iterations": 1},
        {"points": np.zeros((5, 2))},
    ],
    ids=str,
)
def test_damaged_models_are_named(graphs, tmp_path, changes):
    file = tmp_path / "model.npz"
    embedding(wl_iterations=2, wl_depths="all").fit(graphs).save(file)
    with np.load(file) as arrays:
        kept = dict(arrays)
    n_nodes = len(kept["points"])
    changes = {k: v if np.ndim(v) < 2 else np.zeros((n_nodes, v.shape[1]), v.dtype)
               for k, v in changes.items()}  # fmt: skip
    np.savez(file, **kept | changes)
    with pytest.raises(ValueError, match=r"model\.npz is a damaged graphmover model"):
        gm.RandomGraphEmbedding.load(file)


def test_whole_graphs_are_drawn_once_each_and_fewer_are_the_first_of_more(graphs):
    with_empty = gm.GraphBatch.concatenate([graphs, gm.as_graph_batch(gm.Graph(0, []))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for spread in (False, True):
            options = {"max_random_nodes": None, "spread_anchors": spread, "wl_iterations": 1}
            many = embedding(n_components=500, **options)
            features = many.fit_transform(with_empty)
            assert features.shape == (41, 40) and len(many.get_feature_names_out()) == 40
            assert (features[-1] == 0).all()
            zeros = many.distances(graphs) == 0
            assert zeros.any(axis=0).all()  # each column is a training graph
            assert sorted(many.random_graphs_.node_counts) == sorted(graphs.node_counts)
            few = embedding(**options).fit(with_empty).random_graphs_
            assert (few.labels == many.random_graphs_[:12].labels).all()


def test_whole_graphs_have_their_own_masses(graphs):
    drawn = embedding(max_random_nodes=None).fit(graphs).random_graphs_
    assert drawn.masses.max() > 1
    nodes = gm.embed_nodes(graphs, node_embedding=None)
    whole = gm.sample_random_graphs(nodes, 12, max_random_nodes=None, random_state=0)
    assert (whole.masses == drawn.masses).all() and (whole.labels == drawn.labels).all()


@pytest.mark.parametrize("parameters", [{}, {"partial": True}, {"node_embedding": "laplacian"}])
def test_spread_anchors_are_farther_apart_and_do_not_depend_on_threads(parameters):
    rng = np.random.default_rng(1)
    far = [graph(rng, 12) for _ in range(3)]
    crowd = [far[0]] * 60 + far  # all but two are copies of one graph
    options = {"wl_iterations": 2, "wl_depths": "all", "max_random_nodes": None, "n_components": 3}
    options |= parameters
    for seed in range(5):
        model = embedding(**options, spread_anchors=True, random_state=seed).fit(crowd)
        assert np.unique(model.distances(far).round(9), axis=1).shape[1] == 3
        again = clone(model).set_params(n_jobs=3).fit(crowd)
        assert (again.random_graphs_.labels == model.random_graphs_.labels).all()
        assert (again.random_graphs_.offsets == model.random_graphs_.offsets).all()


def test_partial_sees_size():
    cycle = [(i, (i + 1) % 6) for i in range(6)]
    twice = cycle + [(u + 6, v + 6) for u, v in cycle]
    pair = [gm.Graph(6, cycle), gm.Graph(12, twice)]
    options = {"wl_iterations": 2, "wl_depths": "all", "max_random_nodes": None}
    shares = embedding(**options).fit(pair).distances(pair)
    assert (shares == 0).all()
    counts = embedding(**options, partial=True, node_mass="equal").fit(pair)
    sizes = counts.random_graphs_.node_counts
    distances = counts.distances(pair)
    assert distances[0, sizes == 12] == 0.5 and distances[1, sizes == 6] == 0


@pytest.mark.parametrize("node_embedding", ["laplacian", "structure", "degree"])
def test_counts_of_points_see_size(node_embedding):
    """A graph beside its copy: a node of either finds its like, as often as there are any."""
    path = [(0, 1), (1, 2), (2, 3)]
    pair = [gm.Graph(4, path), gm.Graph(8, path + [(u + 4, v + 4) for u, v in path])]
    options = {"node_embedding": node_embedding, "max_random_nodes": None, "node_mass": "equal"}
    if node_embedding != "laplacian":  # two components have other eigenvectors than one
        assert (embedding(**options).fit(pair).distances(pair) == 0).all()
    counts = embedding(**options, partial=True).fit(pair)
    large = counts.random_graphs_.node_counts == 8
    distances = counts.distances(pair)
    assert (np.diag(distances[:, np.argsort(large)]) == 0).all()
    assert distances[0, large] > 0.4


def test_weighted_degrees_cannot_be_counted():
    graphs = [gm.Graph(3, [(0, 1), (1, 2)], edge_weights=weights) for weights in ([1, 2], [1, 0.5])]
    for node_embedding in ("laplacian", None):
        options = {"node_embedding": node_embedding, "wl_iterations": 1, "partial": True}
        embedding(**options).fit(graphs[:1])  # integers
        with pytest.raises(ValueError, match=r"partial transport counts masses.*node_mass=\"equal"):
            embedding(**options, max_random_nodes=None).fit(graphs)
        embedding(**options, max_random_nodes=None, node_mass="equal").fit(graphs)


def test_edge_labels_tell_graphs_apart():
    edges = [(0, 1), (1, 2)]
    pair = [gm.Graph(3, edges, edge_labels=labels) for labels in ([1, 2], [2, 2])]
    options = {"wl_iterations": 1, "wl_depths": "all", "max_random_nodes": None}
    assert (embedding(**options).fit(pair).distances(pair) == 0).all()
    for use in (True, "auto"):
        model = embedding(**options, use_edge_labels=use).fit(pair)
        assert model.uses_edge_labels_ and (model.distances(pair) > 0).any()
        with pytest.raises(ValueError, match="the model was fitted with edge labels, but"):
            model.transform([gm.Graph(2, [(0, 1)])])
    unlabelled = [gm.Graph(3, edges)]
    assert not embedding(**options, use_edge_labels="auto").fit(unlabelled).uses_edge_labels_
    with pytest.raises(ValueError, match="use_edge_labels=True, but not all graphs have edge"):
        embedding(**options, use_edge_labels=True).fit(unlabelled)


def test_a_resumed_file_must_have_the_same_edge_labels():
    from graphmover.datasets import Dataset
    from graphmover.io.streaming import Content

    digests = set()
    for labels in (None, [1], [2]):
        content = Content()
        batch = gm.as_graph_batch(gm.Graph(2, [(0, 1)], edge_labels=labels))
        content.add(Dataset("", batch, None))
        digests.add(content.digest())
    assert len(digests) == 3


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"sampling": "uniform"}, 'node_embedding=None needs sampling="anchor"'),
        ({"use_node_labels": False}, "node_embedding=None compares labels alone"),
        ({"use_edge_labels": True}, "use_edge_labels=True needs wl_iterations of at least 1"),
        ({"spread_anchors": True}, "spread_anchors=True needs max_random_nodes=None"),
        (
            {"node_embedding": "degree", "sampling": "uniform", "max_random_nodes": None},
            'max_random_nodes=None needs sampling="anchor"',
        ),
        (
            {"node_embedding": "degree", "sampling": "uniform", "wl_depths": "all"},
            'wl_depths="all" needs sampling="anchor"',
        ),
    ],
)
def test_parameters_that_do_not_go_together(graphs, parameters, message):
    with pytest.raises(ValueError, match=message):
        embedding(**parameters).fit(graphs)


def test_labels_alone_need_labels():
    with pytest.raises(ValueError, match="node_embedding=None compares labels alone, but not all"):
        embedding().fit([gm.Graph(2, [(0, 1)])])
    with (
        pytest.raises(ValueError, match="random graphs are drawn from nodes, but no graph has"),
        pytest.warns(UserWarning, match="1 of 1 graphs have no nodes"),
    ):
        embedding(max_random_nodes=None, spread_anchors=True).fit([gm.Graph(0, [])])


def test_evaluation_uses_them_or_says_that_it_cannot():
    default = Method("m", gm.RandomGraphEmbedding()).fingerprint
    for changes in ({"wl_depths": "all"}, {"wl_iterations": 1, "use_edge_labels": True}):
        assert Method("m", gm.RandomGraphEmbedding(**changes)).fingerprint != default
    Method("m", embedding(max_random_nodes=None))
    with pytest.raises(ValueError, match="'m' has spread_anchors=True, but folds share"):
        Method("m", embedding(max_random_nodes=None, spread_anchors=True))


def test_parameters_at_their_defaults_leave_fingerprints_of_pipelines_alone():
    text = repr(description(gm.RandomGraphEmbedding()))
    assert "wl_iterations" in text and "wl_depths" not in text and "partial" not in text
    assert "wl_depths" in repr(description(gm.RandomGraphEmbedding(wl_depths="all")))
