import inspect
import pickle
import tracemalloc
import warnings

import naive
import numpy as np
import pytest
from graph_zoo import complete, cycle, path, random_graph, renumbered
from real_data import real_dataset
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import graphmover as gm


@pytest.fixture(scope="module")
def graphs():
    rng = np.random.default_rng(0)
    return gm.as_graph_batch([random_graph(rng, n, labels=3) for n in rng.integers(3, 15, 40)])


def embedding(**parameters):
    return gm.RandomGraphEmbedding(**{"n_components": 16, "random_state": 0} | parameters)


def test_the_whole_pipeline_equals_the_paper_written_plainly(graphs):
    for parameters in ({}, {"sampling": "uniform"}, {"use_node_labels": False, "gamma": 2.0}):
        model = embedding(n_components=6, **parameters).fit(graphs)
        features = model.transform(graphs[:4])
        for row, graph in zip(features, graphs[:4], strict=True):
            labels = gm.wl_labels(gm.as_graph_batch(graph), 0) if model.uses_node_labels_ else None
            nodes = gm.NodeEmbeddings(
                naive.node_points(graph, 4), naive.node_weights(graph), [0, graph.n_nodes], labels
            )
            for value, random_graph_ in zip(row, model.random_graphs_, strict=True):
                distance = naive.earth_movers_distance(nodes, random_graph_)
                assert value == pytest.approx(np.exp(-model.gamma_ * distance) / 6**0.5, rel=1e-8)


def test_the_pieces_fit_together(graphs):
    model = embedding()
    features = model.fit_transform(graphs)
    distances = model.distances(graphs)
    assert features.shape == (40, 16)
    assert features.dtype == np.float64
    assert (features == model.fit(graphs).transform(graphs)).all()
    assert features == pytest.approx(np.exp(-model.gamma_ * distances) / 4, rel=1e-15)
    assert model.gamma_ == 1 / np.median(distances)
    assert (model.kernel(graphs) == features @ features.T).all()
    assert (model.kernel(graphs[:3], graphs[5:]) == features[:3] @ features[5:].T).all()
    nodes = gm.embed_nodes(graphs)
    assert (gm.earth_movers_distance(nodes, model.random_graphs_) == distances).all()
    assert list(model.get_feature_names_out()[:2]) == [
        "randomgraphembedding0",
        "randomgraphembedding1",
    ]


def test_fewer_components_are_the_first_columns(graphs):
    few, many = (embedding(n_components=r).fit(graphs).distances(graphs) for r in (5, 16))
    assert (many[:, :5] == few).all()


def test_labels_are_used_when_all_graphs_have_them(graphs):
    unlabelled = gm.as_graph_batch([path(4), cycle(5)])
    assert embedding().fit(graphs).uses_node_labels_
    assert not embedding(sampling="uniform").fit(graphs).uses_node_labels_
    assert not embedding().fit(unlabelled).uses_node_labels_
    with pytest.raises(
        ValueError, match="fitted with node labels, but not all of these graphs have them"
    ):
        embedding().fit(graphs).transform(unlabelled)
    with pytest.raises(ValueError, match="not all graphs have node labels"):
        embedding(use_node_labels=True).fit(unlabelled)
    # Labels of the data are nothing to a model that was fitted without any.
    assert embedding().fit(unlabelled).transform(graphs).shape == (40, 16)


def test_labels_never_seen_differ_from_every_label(graphs, tmp_path):
    model = embedding().fit(graphs)
    graph = graphs[0]
    strange = gm.Graph(graph.n_nodes, graph.edges, node_labels=["new"] * graph.n_nodes)
    message = r"1 of 1 graphs have no node label in common .* numbers or strings\?"
    with pytest.warns(UserWarning, match=message):
        assert model.distances(strange) == pytest.approx(np.full((1, 16), 4**0.5))
    with pytest.warns(UserWarning, match=message):
        assert (model.transform(strange) > 0).all()
    with pytest.warns(UserWarning, match="2 of 42 graphs have no node label in common"):
        model.transform_to([*graphs, strange, strange], tmp_path / "z.npy", batch_size=20)
    refined = embedding(wl_iterations=1).fit(graphs)
    refined.transform(strange)  # of one graph this proves nothing
    with pytest.warns(UserWarning, match="10 of 10 graphs"):
        refined.transform([strange] * 10)


@pytest.mark.parametrize("depths", ["all", "last"])
def test_graphs_with_unknown_labels_take_little_memory(depths):
    def paths(label, count):
        one = gm.Graph(60, [(i, i + 1) for i in range(59)], node_labels=[label] * 60)
        return gm.GraphBatch.concatenate([gm.as_graph_batch([one])] * count)

    shape = {"wl_iterations": 3, "wl_depths": depths, "n_components": 16}
    model = embedding(node_embedding=None, **shape).fit(paths("A", 20))
    many = paths("new", 4_000)
    model.transform(paths("A", 20))
    tracemalloc.start()
    try:
        with pytest.warns(UserWarning, match="4000 of 4000 graphs have no node label in common"):
            model.transform(many)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


def test_labels_in_common_are_not_said_to_be_unknown():
    """Distances to all random graphs may be equal for other reasons."""

    def pair(labels):
        return gm.Graph(2, [(0, 1)], node_labels=labels)

    whole = {"node_embedding": None, "max_random_nodes": None, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for parameters in (whole | {"wl_iterations": 2, "wl_depths": "all"}, whole):
            alike = gm.RandomGraphEmbedding(4, **parameters).fit([pair("CO")] * 5)
            assert (alike.transform([pair("CO")]) == 0.5).all()  # this is every random graph
            assert len(set(alike.distances([pair("CN")]).ravel())) == 1
        refined = gm.RandomGraphEmbedding(4, wl_iterations=1, **whole).fit([pair("CO")] * 5)
        refined.transform([pair("CO")] * 10)
    with pytest.warns(UserWarning, match="look the same"):
        vectorizer = gm.GraphVectorizer(4, random_state=0).fit([pair("CO")] * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectorizer.transform([pair("CO")] * 10)
    with pytest.warns(UserWarning, match="2 of 3 graphs have no node label in common"):
        alike.transform([pair("CN"), pair("NN"), pair("SN")])


def test_weisfeiler_lehman_labels_keep_more_nodes_apart(graphs):
    depths = [embedding(wl_iterations=h).fit(graphs).distances(graphs).mean() for h in range(3)]
    assert depths[0] < depths[1] < depths[2]
    structure = embedding(use_node_labels=False, wl_iterations=1).fit([path(4), cycle(5)])
    assert structure.random_graphs_.labels is not None


def test_graphs_without_nodes_are_rows_of_zeros(graphs):
    model = embedding().fit(graphs)
    some_empty = gm.GraphBatch.concatenate([graphs[:2], gm.as_graph_batch(gm.Graph(0, []))])
    with pytest.warns(UserWarning, match="1 of 3 graphs have no nodes .the first is graph 2") as w:
        features = model.transform(some_empty)
    assert len(w) == 1
    assert (features[2] == 0).all()
    assert (features[:2] == model.transform(graphs[:2])).all()
    with pytest.warns(UserWarning, match="have no nodes") as w:
        assert (embedding().fit_transform(some_empty)[2] == 0).all()
    assert len(w) == 1
    with pytest.warns(UserWarning, match="1 of 3 graphs have no nodes"):
        embedding().fit(some_empty)
    with pytest.raises(ValueError, match="no graph has any"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        embedding().fit(gm.Graph(0, []))


@pytest.mark.parametrize("graph", [gm.Graph(1, []), cycle(12), complete(7)], ids=repr)
def test_equal_graphs_have_no_scale(graph):
    rng = np.random.default_rng(0)
    model = embedding().fit([graph] * 10)
    if graph.n_nodes > 1:  # rounding of equal eigenvectors must not become a scale
        assert np.abs(model.distances(renumbered(graph, rng))).max() < 1e-9
    assert model.gamma_ == 1.0


def test_a_fit_that_fails_leaves_the_model_as_it_was(graphs):
    model = embedding().fit(graphs)
    expected = model.transform(graphs)
    with pytest.raises(ValueError, match="no graph has any"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit([gm.Graph(0, [])])
    assert (model.transform(graphs) == expected).all()
    model.set_params(wl_iterations=2, n_dimensions=3)  # takes effect in the next fit
    assert (model.transform(graphs) == expected).all()


def test_scikit_learn_tools(graphs):
    pytest.importorskip("pandas")
    y = np.arange(40) % 2
    pipeline = make_pipeline(embedding(n_components=8), LinearSVC())
    for data in (graphs, list(graphs)):
        assert len(cross_val_score(pipeline, data, y, cv=3)) == 3
        grid = {
            "randomgraphembedding__sampling": ["anchor", "uniform"],
            "randomgraphembedding__gamma": [0.1, "scale"],
            "randomgraphembedding__n_dimensions": [2, 4],
        }
        search = GridSearchCV(pipeline, grid, cv=2).fit(data, y)
        assert search.predict(data).shape == (40,)
    frame = embedding().set_output(transform="pandas").fit_transform(graphs)
    assert list(frame.columns) == list(embedding().fit(graphs).get_feature_names_out())
    model = embedding().fit(graphs)
    assert not hasattr(clone(model), "random_graphs_")
    restored = pickle.loads(pickle.dumps(model))
    assert (restored.transform(graphs) == model.transform(graphs)).all()


def test_signature_is_the_contract():
    defaults = {
        name: p.default for name, p in inspect.signature(gm.RandomGraphEmbedding).parameters.items()
    }
    assert defaults == {
        "n_components": 256,
        "gamma": "scale",
        "max_random_nodes": 20,
        "n_dimensions": 4,
        "node_embedding": "laplacian",
        "smoothing": 0,
        "node_mass": "degree",
        "sampling": "anchor",
        "use_node_labels": "auto",
        "wl_iterations": 0,
        "wl_depths": "last",
        "label_weight": 1.0,
        "use_edge_labels": False,
        "attributes_as_labels": "none",
        "spread_anchors": False,
        "partial": False,
        "device": "cpu",
        "n_jobs": None,
        "random_state": None,
        "verbose": False,
    }


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1, got 0"),
        ({"n_components": 2.0}, "n_components must be an integer of at least 1, got 2.0"),
        ({"gamma": -1}, 'gamma must be .* such as "2.scale", got -1'),
        ({"gamma": "auto"}, "gamma must be .*, got 'auto'"),
        ({"gamma": np.nan}, "gamma must be a positive number"),
        ({"gamma": True}, "gamma must be a positive number"),
        ({"max_random_nodes": 0}, "max_random_nodes must be"),
        ({"n_dimensions": "6"}, "n_dimensions must be"),
        ({"sampling": "ASG"}, "sampling must be one of anchor, uniform, got 'ASG'"),
        ({"use_node_labels": "yes"}, "use_node_labels must be"),
        ({"wl_iterations": -1}, "wl_iterations must be"),
        ({"device": "tpu"}, "device must be one of auto, cpu, cuda, got 'tpu'"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"verbose": "x"}, "verbose must be"),
        ({"sampling": "uniform", "use_node_labels": True}, "use_node_labels=True needs"),
        ({"sampling": "uniform", "wl_iterations": 2}, "wl_iterations=2 needs"),
    ],
)
def test_parameters_out_of_range_are_named_in_fit_not_before(parameters, message):
    model = embedding(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit([path(3)])


@pytest.mark.parametrize("bad", [None, "graph", 5, [None], [[0, 1]], {"a": 1}, [path(3), "x"]])
def test_bad_graphs_are_refused_everywhere(bad, graphs):
    model = embedding(use_node_labels=False).fit(graphs)
    for method in (model.transform, model.distances, model.kernel, embedding().fit):
        with pytest.raises((TypeError, ValueError)):
            method(bad)


def test_transform_before_fit(tmp_path):
    for call in (embedding().transform, embedding().distances, embedding().kernel):
        with pytest.raises(NotFittedError):
            call([path(3)])
    with pytest.raises(NotFittedError):
        embedding().save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_verbose_shows_progress_and_quiet_does_not(graphs, capfd, terminal):
    embedding(verbose=True).fit(graphs).transform(graphs)
    shown = capfd.readouterr()
    assert "training distances" in shown.err
    assert "embedding graphs" in shown.err
    assert shown.out == ""
    embedding().fit(graphs).transform(graphs)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("sampling, C", [("uniform", 1e3), ("anchor", 1e2)])
def test_accuracy_on_mutag(sampling, C):
    data = real_dataset("MUTAG")
    scores = []
    for seed in range(3):
        model = gm.RandomGraphEmbedding(
            256,
            sampling=sampling,
            n_dimensions=4,
            use_node_labels=False,
            random_state=seed,
            n_jobs=-1,
        )
        pipeline = make_pipeline(model, LinearSVC(C=C, dual=False, fit_intercept=False))
        folds = StratifiedKFold(10, shuffle=True, random_state=seed)
        scores.append(cross_val_score(pipeline, data.graphs, data.target, cv=folds).mean())
    assert np.mean(scores) > 0.83
