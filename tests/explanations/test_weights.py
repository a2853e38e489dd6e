"""Weights of linear models over random graphs, and where random graphs came from."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from real_data import real_dataset
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import graphmover as gm
from graphmover.random_graphs import RandomGraphs


@pytest.fixture(scope="module")
def data():
    data = gm.make_graph_families(60, random_state=0)
    return gm.as_graph_batch(data.graphs, ids=[f"g{i}" for i in range(60)]), data.target


def assert_sources_are_right(random_graphs, nodes):
    for r in range(len(random_graphs)):
        drawn = random_graphs[r]
        source = nodes[int(drawn.source_graphs[0])]
        assert (drawn.points == source.points[drawn.source_nodes]).all()
        if drawn.labels is not None:
            assert (drawn.labels == source.labels[drawn.source_nodes]).all()


@pytest.mark.parametrize(
    "options",
    [{}, {"max_random_nodes": None}, {"max_random_nodes": None, "spread_anchors": True}],
)
def test_random_graphs_know_where_they_came_from(data, options, tmp_path):
    graphs = [gm.Graph(0, []), *data[0][:20]]  # empty ones are never drawn
    embedding = gm.RandomGraphEmbedding(12, random_state=0, **options)
    with pytest.warns(UserWarning, match="no nodes"):
        embedding.fit(graphs)
        nodes = gm.embed_nodes(graphs)
    drawn = embedding.random_graphs_
    assert_sources_are_right(drawn, nodes)
    assert (drawn.source_graphs > 0).all()
    assert_sources_are_right(drawn[[5, 1, -1]], nodes)
    assert_sources_are_right(drawn[2:7], nodes)
    assert_sources_are_right(drawn[np.arange(12) % 2 == 0], nodes)
    embedding.save(tmp_path / "model.npz")
    for again in (
        gm.RandomGraphEmbedding.load(tmp_path / "model.npz"),
        pickle.loads(pickle.dumps(embedding)),
    ):
        assert (again.random_graphs_.source_graphs == drawn.source_graphs).all()
        assert (again.random_graphs_.source_nodes == drawn.source_nodes).all()


def test_a_vectorizer_saves_the_sources_of_every_view(data, tmp_path):
    graphs, _ = data
    vectorizer = gm.GraphVectorizer(8, random_state=0).fit(graphs)
    vectorizer.save(tmp_path / "model.npz")
    loaded = gm.GraphVectorizer.load(tmp_path / "model.npz")
    for (_, one), (_, other) in zip(vectorizer.views_, loaded.views_, strict=True):
        if hasattr(one, "random_graphs_"):
            same = one.random_graphs_.source_nodes == other.random_graphs_.source_nodes
            assert same.all()


def test_uniform_random_graphs_and_old_models_come_from_nowhere(data):
    graphs, _ = data
    uniform = gm.RandomGraphEmbedding(4, sampling="uniform", random_state=0).fit(graphs)
    old = gm.RandomGraphEmbedding.load(Path(__file__).parent.parent / "io" / "model_format_1.npz")
    for embedding in (uniform, old):
        assert isinstance(embedding.random_graphs_, RandomGraphs)
        assert embedding.random_graphs_.source_graphs is None
        assert embedding.random_graphs_[0].source_nodes is None


def test_sources_do_not_change_what_a_model_is(data, tmp_path):
    """Rows that an interrupted run has written are those of the same vectors."""
    from graphmover.io.model_file import fingerprint

    model = gm.RandomGraphEmbedding(4, random_state=0).fit(data[0])._fitted_model()
    bare = model._replace(random_graphs=RandomGraphs.of(model.random_graphs, None, None))
    assert fingerprint(model) == fingerprint(bare)


@pytest.mark.parametrize("change", [{"source_nodes": None}, {"source_graphs": [-1] * 4}])
def test_damaged_sources_are_named(data, change, tmp_path):
    path = tmp_path / "model.npz"
    gm.RandomGraphEmbedding(4, random_state=0).fit(data[0]).save(path)
    with np.load(path) as file:
        arrays = dict(file) | change
    np.savez(path, **{name: value for name, value in arrays.items() if value is not None})
    with pytest.raises(ValueError, match=r"is a damaged graphmover model: .*source_"):
        gm.RandomGraphEmbedding.load(path)


@pytest.mark.parametrize(
    "head", [LogisticRegression(max_iter=1000), LinearSVC(), RidgeClassifier()]
)
@pytest.mark.parametrize("n_classes", [2, 6])
def test_weights_give_the_scores(data, head, n_classes):
    graphs, families = data
    y = np.array(families) % n_classes
    model = make_pipeline(gm.GraphVectorizer(8, random_state=0), StandardScaler(), head)
    model.fit(graphs, y)
    found = gm.explain_weights(model, graphs)
    vectors = model[0].transform(graphs)
    scores = model.decision_function(graphs)
    ours = vectors @ found.weights.T
    ours = ours[:, 1] if n_classes == 2 else ours
    assert (ours - ours[0]) == pytest.approx(scores - scores[0], abs=1e-6)
    assert found.importance == pytest.approx(found.weights * vectors.std(axis=0))
    assert found.targets == sorted(set(y.tolist()))
    assert found.columns == model[0].get_feature_names_out().tolist()


def test_the_frame_names_anchors(data):
    graphs, families = data
    model = make_pipeline(gm.RandomGraphEmbedding(10, random_state=0), RidgeClassifier())
    model.fit(graphs, families)
    found = gm.explain_weights(model, graphs)
    frame = found.to_frame(3)
    assert len(frame) == 3 * len(found.targets)
    drawn = model[0].random_graphs_
    for row in frame.itertuples():
        assert row.training_graph == drawn.source_graphs[row.random_graph]
        assert row.nodes == drawn[row.random_graph].source_nodes.tolist()
        assert row.id == f"g{row.training_graph}"
    assert frame.groupby("target")["importance"].apply(lambda x: x.is_monotonic_decreasing).all()
    assert len(found.to_frame()) == 10 * len(found.targets)


def test_halves_searches_and_regressions(data):
    graphs, families = data
    halves = make_pipeline(
        gm.RandomGraphDistances(12, random_state=0),
        gm.DistanceFeatures(n_components=5),
        Ridge(1e-3),
    )
    search = GridSearchCV(halves, {"ridge__alpha": [1e-3, 1.0]}, cv=2).fit(graphs, families)
    found = gm.explain_weights(search, graphs)
    assert found.targets == ["target"] and found.weights.shape == (1, 5)
    best = search.best_estimator_
    features = best[1].transform(best[0].transform(graphs))
    assert features @ found.weights[0] + best[-1].intercept_ == pytest.approx(best.predict(graphs))
    several = make_pipeline(gm.RandomGraphEmbedding(4, random_state=0), Ridge())
    several.fit(graphs, np.stack([families, families], axis=1))
    assert gm.explain_weights(several).targets == ["target 0", "target 1"]


def test_only_anchors_that_speak_for_a_class_are_drawn(data):
    pytest.importorskip("matplotlib")
    pytest.importorskip("igraph")
    graphs, families = data
    model = make_pipeline(gm.RandomGraphEmbedding(6, random_state=0), RidgeClassifier())
    found = gm.explain_weights(model.fit(graphs, families), graphs)
    every = np.ones(len(graphs), bool)
    for row, target in enumerate(found.targets):
        n_for = int((found.importance[row] > 0).sum())
        assert 0 < n_for < 6
        assert sum(bool(axes.get_title()) for axes in found.plot(target).axes) == n_for
        assert len(found.best(target, 6, every)) == n_for
        assert len(found.best(target, 6, every, against=True)) == 6 - n_for
    found.importance[0] = 0
    with pytest.raises(ValueError, match=f"no random graph that favours {found.targets[0]} is"):
        found.plot(found.targets[0])


def test_wrong_models_are_named(data):
    graphs, families = data
    embedding = gm.RandomGraphEmbedding(6, random_state=0)
    with pytest.raises(TypeError, match="model must be a fitted pipeline"):
        gm.explain_weights(embedding.fit(graphs))
    with pytest.raises(TypeError, match="DecisionTreeClassifier has no coef_"):
        model = make_pipeline(embedding, DecisionTreeClassifier()).fit(graphs, families)
        gm.explain_weights(model)
    with pytest.raises(TypeError, match="the step 'selectkbest' mixes or drops columns"):
        model = make_pipeline(embedding, SelectKBest(k=3), RidgeClassifier())
        gm.explain_weights(model.fit(graphs, families))
    with pytest.raises(ValueError, match="SVC has 15 rows of weights for 6 classes"):
        gm.explain_weights(make_pipeline(embedding, SVC(kernel="linear")).fit(graphs, families))
    model = make_pipeline(embedding, RidgeClassifier()).fit(graphs, families)
    with pytest.raises(ValueError, match="call explain_weights with training_graphs"):
        gm.explain_weights(model).plot()
    with pytest.raises(ValueError, match="pass those that the model was fitted to"):
        gm.explain_weights(model, graphs[:2])
    with pytest.raises(ValueError, match="there is no target 'x', only "):
        gm.explain_weights(model, graphs).plot("x")


def test_nitro_groups_speak_for_mutagenicity():
    """Known chemistry: aromatic nitro groups (an N between two O) make compounds mutagenic."""
    data = real_dataset("MUTAG")
    model = make_pipeline(gm.GraphVectorizer(64, random_state=0), LogisticRegression(max_iter=1000))
    model.fit(data.graphs, data.target)
    top = gm.explain_weights(model, data.graphs).to_frame(5).query("target == 1")
    nitrogen, oxygen = 1, 2  # the codes of MUTAG's labels
    for row in top.itertuples():
        graph = data.graphs[row.training_graph]
        labels = graph.node_labels
        neighbours = [labels[graph.edges[(graph.edges == v).any(1)]] for v in row.nodes]
        nitro = [
            labels[v] == nitrogen and (around == oxygen).sum() == 2
            for v, around in zip(row.nodes, neighbours, strict=True)
        ]
        assert any(nitro)
