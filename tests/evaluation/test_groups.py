"""Graphs of one group are on one side of every split."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import graphmover as gm
from graphmover.evaluation import KernelGrid, Method, evaluate
from graphmover.evaluation.folds import Fold, group_codes, repeated_folds
from graphmover.rivals import BagOfWLLabels

N = 60


@pytest.mark.parametrize("values", [False, True])
def test_no_group_is_on_both_sides(values):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 14, N)
    target = rng.random(N) if values else rng.integers(0, 3, N)
    folds = repeated_folds(target, 4, 2, 0, groups)
    assert len(folds) == 8
    for repeat in (0, 1):
        tested = np.concatenate([fold.test for fold in folds if fold.repeat == repeat])
        assert sorted(tested) == list(range(N))
    for fold in folds:
        assert not set(groups[fold.train]) & set(groups[fold.test])
        inner = fold.inner_folds(target)
        assert len(inner) == 5
        for train, validation in inner:
            assert not set(groups[train]) & set(groups[validation])
            assert sorted([*train, *validation]) == fold.train.tolist()
    again = repeated_folds(target, 4, 2, 0, groups)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(folds, again, strict=True))


def test_what_is_left_of_one_group_is_split_all_the_same():
    target, groups = np.arange(20) % 2, np.zeros(20, np.int64)
    inner = Fold(0, np.arange(20), np.arange(0), groups=groups).inner_folds(target)
    assert len(inner) == 5


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the class of graphs as large as one that it has seen; else guesses 0."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.known_ = dict(zip(X.node_counts.tolist(), y, strict=True))
        return self

    def predict(self, X):
        return np.array([self.known_.get(n, 0) for n in X.node_counts.tolist()])


def test_copies_of_a_graph_do_not_help():
    """Three graphs of each size: seen without groups, never seen with them."""
    sizes = np.repeat(np.arange(2, 22), 3)
    graphs = gm.as_graph_batch([gm.Graph(int(n), [(0, 1)]) for n in sizes])
    target = np.random.default_rng(1).permutation(np.arange(20) % 2)[sizes - 2]
    [leaking] = evaluate(graphs, target, [Memory()], n_folds=5).summary()
    [honest] = evaluate(graphs, target, [Memory()], groups=sizes, n_folds=5).summary()
    assert leaking["mean"] > 0.9
    assert honest["mean"] == pytest.approx(0.5, abs=0.1)


def test_methods_take_groups(tmp_path):
    data = gm.make_graph_families(36, random_state=0)
    groups = [f"scaffold {k % 9}" for k in range(36)]
    methods = [
        "bag of nodes",
        KernelGrid("WL-ST", BagOfWLLabels(), {"iterations": [1, 2]}),
        Method("rge", gm.RandomGraphEmbedding(8), grid={"gamma": [0.3, 3.0]}),
    ]
    options = {"n_components": 8, "n_folds": 3, "checkpoint": tmp_path / "c"}
    found = evaluate(data, methods=methods, groups=groups, selection="svm", **options)
    assert len(found.summary()) == 3
    with pytest.raises(ValueError, match=r'need selection="svm" for \'rge\': leave-one-out sees'):
        evaluate(data, methods=methods, groups=groups, n_folds=3)
    with pytest.raises(ValueError, match="groups"):  # the checkpoint is of other folds
        evaluate(data, methods=methods, selection="svm", **options)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], r"groups has the shape \(2,\), expected \(4,\): one per graph"),
        ([1, None, 2, 3], r"groups\[1\] is None, expected the group of a graph"),
        (["a", "a", "b", "b"], "there are 2 groups for 3 folds: take fewer folds"),
    ],
)
def test_bad_groups_are_named(groups, message):
    with pytest.raises(ValueError, match=message):
        group_codes(groups, 4, 3)
