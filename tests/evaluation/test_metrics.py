import json
import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import graphmover as gm
from graphmover.evaluation import (
    EMDKernel,
    FoldByFold,
    Method,
    PrecomputedKernels,
    evaluate,
    vertex_histograms,
)
from graphmover.evaluation.folds import repeated_folds
from graphmover.evaluation.kernels import KernelSVMs
from graphmover.evaluation.metrics import Predictions, classification_scores, regression_scores
from graphmover.evaluation.svm import LinearSVMs

ALL = ("accuracy", "balanced_accuracy", "roc_auc")
RESULTS = Path(__file__).parents[2] / "experiments" / "results"


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_agree_with_scikit_learn(n_classes):
    rng = np.random.default_rng(n_classes)
    classes = np.arange(n_classes)
    target = np.r_[classes, rng.choice(n_classes, 50, p=rng.dirichlet(classes + 1))]
    by_class = rng.random((len(target), n_classes)).round(1)  # with ties
    by_class /= by_class.sum(axis=1, keepdims=True)
    found = classification_scores(target, Predictions(by_class.argmax(axis=1), by_class), classes)
    assert found["balanced_accuracy"] == pytest.approx(
        balanced_accuracy_score(target, by_class.argmax(axis=1))
    )
    values = by_class[:, 1] if n_classes == 2 else by_class
    expected = roc_auc_score(target, values, multi_class="ovr", average="macro")
    assert found["roc_auc"] == pytest.approx(expected)


def test_classes_that_a_fold_lacks_do_not_count():
    by_class = np.array([[2.0, 1.0, -np.inf], [0.0, 1.0, 3.0], [1.0, 0.0, 0.5]])
    target = np.array([0, 1, 0])
    found = classification_scores(
        target, Predictions(by_class.argmax(axis=1), by_class), np.arange(3)
    )
    assert found == {
        "accuracy": pytest.approx(2 / 3),
        "balanced_accuracy": 0.5,  # class 2 is not in the fold
        "roc_auc": pytest.approx((1 + 0.75) / 2),
    }
    alone = classification_scores(target[:1], Predictions(target[:1], by_class[:1]), np.arange(3))
    assert alone == {"accuracy": 1.0, "balanced_accuracy": 1.0, "roc_auc": None}


def test_r2_of_equal_values_is_scikit_learns():
    for predicted in ([3.0, 3.0], [3.0, 4.0]):
        found = regression_scores(np.array([3.0, 3.0]), Predictions(np.array(predicted)))
        assert found["r2"] == r2_score([3.0, 3.0], predicted)


@pytest.mark.slow
@pytest.mark.parametrize("y", ["two", "six"])
def test_all_kinds_of_methods_have_all_metrics(data, y):
    target = data.target if y == "six" else np.where(data.target < 2, "rare", "common")
    counts = vertex_histograms(data.graphs)
    chosen = [
        "majority class",
        "bag of nodes",
        Method("grid", gm.RandomGraphEmbedding(), {"gamma": [0.3, 3.0]}),
        EMDKernel("EMD", n_dimensions=(4,)),
        PrecomputedKernels("histogram", {"counts": counts @ counts.T}),
        ("logistic", make_pipeline(gm.RandomGraphEmbedding(32), LogisticRegression(C=100.0))),
        ("neighbours", make_pipeline(gm.RandomGraphEmbedding(32), KNeighborsClassifier())),
        ("features", make_pipeline(gm.RandomGraphEmbedding(32))),
    ]
    options = {"n_components": 32, "n_folds": 3}
    result = evaluate(data.graphs, target, chosen, metrics=ALL, **options)
    scores = {row["method"]: row for row in result.summary()}
    majority = scores["majority class"]["metrics"]
    assert majority["balanced_accuracy"]["mean"] == pytest.approx(1 / len(np.unique(target)))
    assert majority["roc_auc"]["mean"] == 0.5
    for name in ("grid", "EMD", "logistic", "neighbours", "features"):
        assert 0.7 < scores[name]["metrics"]["roc_auc"]["mean"] <= 1, name
    plain = evaluate(data.graphs, target, chosen, **options)
    assert [row["accuracy"] for row in plain.folds] == [row["accuracy"] for row in result.folds]
    assert "roc_auc" not in plain.folds[0]
    assert "metrics" not in plain.summary()[0]


def test_the_first_metric_is_the_one_shown(data):
    found = evaluate(
        data.graphs, data.target, ["majority class"], metrics=["roc_auc", "accuracy"], n_folds=3
    )
    assert repr(found) == "Evaluation(majority class: ROC AUC 50.0 %)"
    assert found.summary()[0]["mean"] == 0.5
    assert list(found.folds[0])[4:6] == ["roc_auc", "accuracy"]


def test_scores_of_scikit_learn_estimators_are_those_by_hand(data):
    target = data.target % 2
    model = make_pipeline(gm.RandomGraphEmbedding(8), LogisticRegression())
    found = evaluate(data.graphs, target, [("m", model)], metrics=ALL, n_folds=3)
    for row, fold in zip(found.folds, repeated_folds(target, 3, 1, 0), strict=True):
        seeds = np.random.default_rng([0, fold.number]).integers(2**31 - 1, size=2)
        model.set_params(randomgraphembedding__random_state=int(seeds[1]))
        model.fit(data.graphs[fold.train], target[fold.train])
        decisions = model.decision_function(data.graphs[fold.test])
        assert row["roc_auc"] == pytest.approx(roc_auc_score(target[fold.test], decisions))


def test_an_estimator_without_decision_values_has_no_roc_auc(data):
    class Nearest(KNeighborsClassifier):
        predict_proba = property()

    model = make_pipeline(gm.RandomGraphEmbedding(8), Nearest())
    found = evaluate(data.graphs, data.target, [("m", model)], metrics=ALL, n_folds=3)
    assert {row["roc_auc"] for row in found.folds} == {None}
    assert found.summary()[0]["metrics"]["roc_auc"]["mean"] is None
    json.dumps(found.summary())


def test_a_rival_without_a_metric_is_named(data):
    class First(FoldByFold):
        name = "first class"

        def scorer(self, problem, progress):
            return lambda fold: problem.scores(fold, np.zeros(len(fold.test)))

    found = evaluate(data.graphs, data.target, [First()], metrics="balanced_accuracy", n_folds=3)
    assert found.summary()[0]["mean"] == pytest.approx(1 / 6)
    with pytest.raises(ValueError, match="'first class' has no roc_auc in its rows: return Prob"):
        evaluate(data.graphs, data.target, [First()], metrics="roc_auc", n_folds=3)


@pytest.mark.skipif("GRAPHMOVER_DATA" not in os.environ, reason="GRAPHMOVER_DATA is not set")
def test_folds_of_an_older_checkpoint_are_scored_again_for_a_metric_they_lack(tmp_path):
    data = gm.load_dataset("MUTAG")
    path = Path(shutil.copy(RESULTS / "MUTAG.checkpoint", tmp_path))
    before = path.read_text(encoding="utf-8")
    options = {"n_components": 256, "checkpoint": path}
    chosen = ["majority class", "bag of nodes"]
    old = evaluate(data.graphs, data.target, chosen, **options)
    assert path.read_text(encoding="utf-8") == before
    new = evaluate(data.graphs, data.target, chosen, metrics=ALL, **options)
    added = path.read_text(encoding="utf-8").removeprefix(before).splitlines()
    assert len(added) == 20
    for one, other in zip(old.folds, new.folds, strict=True):
        assert {**one, "seconds": 0} == {name: other[name] for name in one} | {"seconds": 0}
    again = evaluate(data.graphs, data.target, chosen, metrics=ALL, **options)
    assert again.folds == new.folds
    assert len(path.read_text(encoding="utf-8").removeprefix(before).splitlines()) == 20


# Rare classes.


def test_folds_are_scikit_learns():
    rng = np.random.default_rng(0)
    target = rng.choice(3, 100, p=[0.2, 0.3, 0.5])
    splits = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=3).split(target, target)
    for fold, (train, test) in zip(repeated_folds(target, 4, 2, 3), splits, strict=True):
        assert np.array_equal(fold.train, train)
        assert np.array_equal(fold.test, test)
        inner = StratifiedKFold(5, shuffle=True, random_state=fold.number)
        inner_splits = inner.split(train, target[train])
        for (fitted, held_out), (a, b) in zip(fold.inner_folds(target), inner_splits, strict=True):
            assert np.array_equal(fitted, train[a])
            assert np.array_equal(held_out, train[b])


def test_the_graphs_of_a_rare_class_are_in_different_folds():
    target = np.r_[np.zeros(40, int), np.ones(3, int), 2, np.full(20, 3)]
    for fold in repeated_folds(target, 10, 3, 0):
        assert np.bincount(target[fold.test], minlength=4)[1:3].max() <= 1
        assert len(np.unique(target[fold.train])) >= 3
        for _, held_out in fold.inner_folds(target):
            assert np.bincount(target[held_out], minlength=4)[1:3].max() <= 1
        everything = np.concatenate([b for _, b in fold.inner_folds(target)])
        assert np.array_equal(np.sort(everything), fold.train)


@pytest.mark.slow
def test_many_classes_are_not_asked_to_be_values():
    """They are classes, by their kind or as the user said: scikit-learn need not ask."""
    graphs = gm.make_graph_families(48, random_state=0, min_nodes=10, max_nodes=12).graphs
    evaluate(graphs, np.arange(48) % 24, n_folds=2, n_repeats=1)  # no warning


@pytest.mark.slow
def test_rare_classes_are_reported_and_do_not_stop_a_run(data):
    names = np.array(["a", "b", "c", "d", "e", "f"], object)[data.target]
    names[:2], names[2] = "two", "one"
    chosen = [
        "majority class",
        "bag of nodes",
        Method("grid", gm.RandomGraphEmbedding(), {"gamma": [0.3, 3.0]}),
        EMDKernel("EMD", n_dimensions=(4,)),
        ("logistic", make_pipeline(gm.RandomGraphEmbedding(32), LogisticRegression(C=100.0))),
        ("features", make_pipeline(gm.RandomGraphEmbedding(32))),
    ]
    options = {"n_components": 32, "n_folds": 5, "metrics": ALL}
    text = r"2 of 8 classes have fewer graphs than n_folds=5 \(one: 1, two: 2\): some test folds"
    with pytest.warns(UserWarning, match=text) as seen:
        found = evaluate(data.graphs, names, chosen, **options)
    assert len(seen) == 1  # scikit-learn's own warnings of folds do not come
    assert seen[0].filename == __file__
    assert "the only graph of a class is never in the training set" in found.notes[0]
    for score in found.summary():
        assert score["notes"] == list(found.notes)
        assert score["folds"] == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate(data.graphs, data.target, ["majority class"]).notes == ()


def test_a_binary_target_may_have_a_class_of_two_graphs(data):
    """Then inner training sets may have one class alone."""
    target = np.zeros(60, int)
    target[[7, 31]] = 1
    kernel = np.ones((60, 60)) + np.eye(60)
    chosen = ["bag of nodes", PrecomputedKernels("k", {1: kernel}), gm.RandomGraphEmbedding(8)]
    with pytest.warns(UserWarning, match="1 of 2 classes have fewer graphs"):
        found = evaluate(data.graphs, target, chosen, n_folds=3, metrics=ALL)
    assert all(row["accuracy"] >= 0.9 for row in found.folds)
    # The fold without the rare class has no ROC AUC.
    assert sum(row["roc_auc"] is None for row in found.folds) == 3


def test_machines_do_not_predict_classes_they_have_not_seen():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 5))
    target = np.arange(30) % 4
    test = np.arange(20, 30)
    for seen in ([0, 3], [2], [0, 1, 2]):
        train = np.flatnonzero(np.isin(target[:20], seen))
        for machines in (LinearSVMs(x, 20), KernelSVMs(x @ x.T, (1.0,))):
            [found] = machines.predictions(train, test, target, [1.0])
            assert set(found.target) <= set(seen)
            unseen = np.setdiff1d(np.arange(4), seen)
            assert (found.by_class[:, unseen] == -np.inf).all()
            assert np.isfinite(found.by_class[:, seen]).all()
