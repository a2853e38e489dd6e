import numpy as np
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold

import graphmover as gm
from graphmover.evaluation import cross_validate


@pytest.fixture(scope="module")
def data():
    return gm.make_graph_families(90, random_state=0)


def test_scores_are_those_of_scikit_learn(data):
    embedding = gm.RandomGraphEmbedding(32, random_state=0, gamma=1.0)
    scores = cross_validate(embedding, data, n_folds=3, n_repeats=2, random_state=4)
    assert [score.method for score in scores] == [
        "majority class",
        "degree histogram",
        "RGE(ASG), R = 32",
    ]
    assert not hasattr(embedding, "random_graphs_")
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=4)
    shares = []
    for train, test in folds.split(np.zeros(90), data.target):
        most = np.bincount(data.target[train]).argmax()
        shares.append((data.target[test] == most).mean())
    assert scores[0].mean == pytest.approx(np.mean(shares))
    assert scores[0].std == pytest.approx(np.std(shares))
    assert scores[2].mean > 0.5 > scores[1].mean


@pytest.mark.parametrize(
    "target, message",
    [
        (None, "x has no target, expected a class"),
        (np.linspace(0, 1, 90), "the target of x is real numbers, expected a class"),
        (np.zeros(90, int), "x has 1 classes"),
        (np.r_[np.zeros(89, int), 1], r"the rarest \(1\) with 1 graphs, .* n_folds=5"),
    ],
)
def test_targets_that_are_no_classes_are_refused(data, target, message):
    with pytest.raises(ValueError, match=message):
        cross_validate(gm.RandomGraphEmbedding(4), gm.Dataset("x", data.graphs, target), n_folds=5)
