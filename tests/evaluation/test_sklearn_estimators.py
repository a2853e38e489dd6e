"""Any scikit-learn estimator of graphs is a method."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import graphmover as gm
from graphmover.evaluation import FoldByFold, evaluate, vertex_histograms
from graphmover.evaluation.fingerprints import description, digest
from graphmover.evaluation.folds import repeated_folds
from graphmover.evaluation.methods.estimator import SklearnEstimator


def pipeline(n_components=16, **parameters):
    embedding = gm.RandomGraphEmbedding(n_components, **parameters)
    return make_pipeline(embedding, StandardScaler(), LogisticRegression())


class Recorder(BaseEstimator):
    """Records the sizes of the graphs it sees."""

    seen = []

    def fit(self, X, y=None):
        self.seen.append(("fit", tuple(X.node_counts), tuple(y)))
        return self

    def transform(self, X):
        self.seen.append(("transform", tuple(X.node_counts)))
        return X.node_counts[:, None].astype(float)


class Histogram(BaseEstimator):
    """A transformer without `fit_transform`, of sparse features."""

    def fit(self, X, y=None):
        self.width_ = 40
        return self

    def transform(self, X):
        counts = np.zeros((len(X), self.width_))
        own = vertex_histograms(X)[:, : self.width_]
        counts[:, : own.shape[1]] = own
        return csr_matrix(counts)


class Sizes(BaseEstimator):
    """The number of nodes, or nothing."""

    def __init__(self, hidden=True):
        self.hidden = hidden

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return (0.0 if self.hidden else 1.0) * X.node_counts[:, None]


class Failing(ClassifierMixin, BaseEstimator):
    def __init__(self, what="fit"):
        self.what = what

    def fit(self, X, y):
        if self.what == "fit":
            raise ZeroDivisionError("no luck")
        return self

    def predict(self, X):
        return np.zeros(3)


class Broken(BaseEstimator):
    def __init__(self, table=None):
        self.table = table

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.full((len(X), 2), np.nan) if self.table is None else np.ones(self.table)


def test_a_pipeline_is_a_method(data):
    found = evaluate(data.graphs, data.target, [pipeline(), ("mine", pipeline())], n_folds=3)
    names = ["RandomGraphEmbedding + StandardScaler + LogisticRegression", "mine"]
    assert [score["method"] for score in found.summary()] == names
    one, other = (score["mean"] for score in found.summary())
    assert one == other > 0.4  # of six classes
    assert {row["n_components"] for row in found.folds} == {None}


def test_a_pipeline_scores_as_by_hand(data):
    [score] = evaluate(data.graphs, data.target, [pipeline()], n_folds=3, random_state=5).summary()
    accuracies = []
    for fold in repeated_folds(data.target, 3, 1, 5):
        seed = int(np.random.default_rng([5, fold.number]).integers(2**31 - 1, size=2)[1])
        model = pipeline(random_state=seed).fit(data.graphs[fold.train], data.target[fold.train])
        accuracies.append(model.score(data.graphs[fold.test], data.target[fold.test]))
    assert score["mean"] == pytest.approx(np.mean(accuracies))


def test_a_grid_search_reports_its_choice(data):
    grid = {"logisticregression__C": [1e-6, 1.0]}
    search = GridSearchCV(pipeline(), grid, cv=StratifiedKFold(2))
    found = evaluate(data.graphs, data.target, [search], n_folds=3)
    [score] = found.summary()
    assert score["method"].startswith("GridSearchCV(RandomGraphEmbedding + Standard")
    assert score["choices"] == {"best_params": {"{'logisticregression__C': 1.0}": 3}}


def test_a_dummy_on_top_of_a_transformer_is_the_majority_class(data):
    dummy = make_pipeline(gm.RandomGraphEmbedding(4), DummyClassifier())
    found = evaluate(data.graphs, data.target, ["majority class", dummy], n_folds=3)
    one, other = found.summary()
    assert one["mean"] == other["mean"]


def test_a_transformer_gets_the_linear_svm(data):
    chosen = [("rge", make_pipeline(gm.RandomGraphEmbedding(32))), Histogram(), "bag of nodes"]
    found = evaluate(data.graphs, data.target, chosen, n_folds=3).summary()
    rge, histogram, baseline = found
    assert rge["mean"] > 0.5
    assert histogram["mean"] == pytest.approx(baseline["mean"], abs=0.2)
    for score in found:
        assert sum(score["choices"]["C"].values()) == 3


def test_a_named_embedding_is_treated_like_one_without_a_name(data):
    embedding = gm.RandomGraphEmbedding(16)
    found = evaluate(data.graphs, data.target, [embedding, ("named", embedding)], n_folds=3)
    plain, named = found.summary()
    assert named["method"] == "named"
    assert {**plain, "method": 0, "seconds": 0} == {**named, "method": 0, "seconds": 0}
    assert named["n_components"] == 16


def test_only_training_graphs_are_seen_in_fit(data):
    """Of the inner folds as well, by which the C of a transformer's SVM is chosen."""
    sizes, target = data.graphs.node_counts, data.target
    for top in (None, DummyClassifier()):
        Recorder.seen.clear()
        method = Recorder() if top is None else make_pipeline(Recorder(), top)
        evaluate(data.graphs, target, [method], n_folds=3, n_repeats=2)
        expected = []
        for fold in repeated_folds(target, 3, 2, 0):
            inner = fold.inner_folds(target) if top is None else []
            for train, test in [*inner, (fold.train, fold.test)]:
                expected += [("fit", tuple(sizes[train]), tuple(target[train]))]
                expected += [("transform", tuple(sizes[train])), ("transform", tuple(sizes[test]))]
        assert Recorder.seen == expected


def test_results_are_reproducible_and_depend_on_the_seed(data):
    forest = make_pipeline(gm.RandomGraphEmbedding(8), RandomForestClassifier(5))

    def rows(**options):
        found = evaluate(data.graphs, data.target, [forest], n_folds=3, **options)
        return [row["accuracy"] for row in found.folds]

    assert rows() == rows() == rows(n_jobs=2)
    assert rows() != rows(random_state=1)
    assert forest[0].random_state is None  # clones are seeded, not the estimator


def test_classes_are_passed_as_the_user_wrote_them(data):
    names = np.array(["odd", "even"])[data.target % 2]
    model = make_pipeline(
        gm.RandomGraphEmbedding(8), LogisticRegression(class_weight={"odd": 1, "even": 2})
    )
    assert len(evaluate(data.graphs, names, [model], n_folds=3).folds) == 3


def test_finished_folds_are_resumed(data, tmp_path, monkeypatch):
    path = tmp_path / "folds.jsonl"
    chosen = [pipeline(), ("rge", make_pipeline(gm.RandomGraphEmbedding(8)))]
    options = {"n_folds": 3, "checkpoint": path}
    first = evaluate(data.graphs, data.target, chosen, **options)
    before = path.read_text()
    monkeypatch.setattr(gm.RandomGraphEmbedding, "fit", None)  # nothing is fitted again
    monkeypatch.setattr(gm.RandomGraphEmbedding, "fit_transform", None)
    chosen = [pipeline(), ("rge", make_pipeline(gm.RandomGraphEmbedding(8, n_jobs=2)))]
    assert evaluate(data.graphs, data.target, chosen, **options).folds == first.folds
    assert path.read_text() == before
    with pytest.raises(RuntimeError, match="failed in fold 0 of repetition 0"):
        evaluate(data.graphs, data.target, [pipeline(max_random_nodes=3)], **options)


def _parameters(scale=3):
    offset = [1, {"a", "b"}]
    return {
        "estimator": GridSearchCV(pipeline(), {"standardscaler": [StandardScaler(), None]}, cv=3),
        "function": FunctionTransformer(lambda X: [x in ("a", scale, offset) for x in X]),
        "partial": partial(np.add, scale),
        "distribution": loguniform(1e-3, scale),
        "arrays": (np.arange(3), {"x": np.float64(2)}),
        "folds": StratifiedKFold(3),
    }


@pytest.mark.slow
def test_fingerprints_are_the_same_in_every_process():
    program = (
        "import test_sklearn_estimators as t; print(t.digest(t.description(t._parameters()), 8))"
    )
    own = digest(description(_parameters()), 8)
    path = repr(sys.path)
    for seed in ("0", "1"):
        answer = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path[:] = {path}; {program}"],
            env={"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        )
        assert answer.stdout.strip() == own


def test_fingerprints_tell_parameters_apart():
    one, other = _parameters(3), _parameters(4)
    for name in ("function", "partial", "distribution"):
        assert description(one[name]) != description(other[name]), name
    assert description(pipeline(16)) == description(pipeline(16, random_state=3))
    assert description(pipeline(16)) != description(pipeline(17))


@pytest.mark.parametrize(
    "method, error, message",
    [
        (object(), ValueError, r"a scikit-learn estimator or a pair \(name, estimator\), got <obj"),
        (("x", object()), TypeError, "'x' is a object without fit, expected a scikit-learn"),
        (BaseEstimator(), TypeError, "'BaseEstimator' is a BaseEstimator without fit"),
        (("x", Ridge()), TypeError, "'x' is a regressor, expected a classifier"),
        (KMeans(), TypeError, "'KMeans' is a clusterer, expected a classifier"),
        (LogisticRegression, TypeError, "a method is the class LogisticRegression, expected an"),
        (Failing(), RuntimeError, "'Failing' failed in fold 0 of repetition 0: no luck"),
        (Failing("predict"), RuntimeError, r"predict returned the shape \(3,\), expected \(20,\)"),
        (("b", Broken()), RuntimeError, r"'b' failed .* transform returned nan at \[0, 0\]"),
        (("b", Broken((7, 2))), RuntimeError, r"transform returned the shape \(7, 2\), expected"),
        (
            ("p", FunctionTransformer(func=print, kw_args={"to": sys.stderr})),
            TypeError,
            "a parameter of 'p' has no fingerprint: .* cannot be pickled",
        ),
    ],
)
def test_bad_estimators_raise(data, method, error, message):
    with pytest.raises(error, match=message):
        evaluate(data.graphs, data.target, [method], n_folds=3)


def test_an_estimator_without_predict_and_transform_raises(data):
    class Useless(BaseEstimator):
        def fit(self, X, y=None):
            return self

    with pytest.raises(TypeError, match="'Useless' is a Useless without predict and without trans"):
        evaluate(data.graphs, data.target, [Useless()], n_folds=3)


def test_two_estimators_of_one_name_raise(data):
    with pytest.raises(ValueError, match=r"two methods are called .*: rename one of them; an esti"):
        evaluate(data.graphs, data.target, [pipeline(4), pipeline(8)], n_folds=3)


def test_a_rival_is_one_class(data, tmp_path):
    class Size(FoldByFold):
        name = "size"

        def scorer(self, problem, progress):
            sizes, target = problem.graphs.node_counts, problem.target

            def row(fold):
                nearest = np.abs(sizes[fold.test, None] - sizes[fold.train]).argmin(axis=1)
                return {
                    "accuracy": float((target[fold.train][nearest] == target[fold.test]).mean())
                }

            return row

    options = {"n_folds": 3, "checkpoint": tmp_path / "folds.jsonl"}
    first = evaluate(data.graphs, data.target, [Size()], **options)
    assert first.folds == evaluate(data.graphs, data.target, [Size()], **options).folds
    assert first.summary()[0]["mean"] > 0


def test_inner_folds_choose_the_parameters_of_a_transformer():
    graphs = gm.as_graph_batch([gm.Graph(3 + 5 * (k % 2), [(0, 1)]) for k in range(24)])
    classes = np.arange(24) % 2
    fixed, chosen = (
        SklearnEstimator("sizes", Sizes(), grid=grid) for grid in ({}, {"hidden": [True, False]})
    )
    assert fixed.fingerprint == digest(description(Sizes()), size=8)
    assert fixed.fingerprint != chosen.fingerprint
    assert evaluate(graphs, classes, [fixed], n_folds=3).summary()[0]["mean"] == 0.5
    result = evaluate(graphs, classes, [chosen], n_folds=3)
    assert result.summary()[0]["mean"] == 1
    assert {row["best_params"] for row in result.folds} == {"hidden=False"}


def test_grids_that_cannot_be_used_are_refused():
    with pytest.raises(ValueError, match=r"'sizes' has 'h', expected parameters of Sizes: hidden"):
        SklearnEstimator("sizes", Sizes(), grid={"h": [1]})
    with pytest.raises(ValueError, match="'forest' predicts by itself: pass a GridSearchCV"):
        SklearnEstimator("forest", RandomForestClassifier(), grid={"max_depth": [1]})
