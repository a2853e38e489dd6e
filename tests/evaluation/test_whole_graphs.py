"""Whole training graphs as random graphs: choices on the training set must not be flattered.

A training graph has the distance 0 to itself, and a test graph to none. So settings are compared
by inner folds that see no column drawn from a validation graph.
"""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline

import graphmover as gm
from graphmover._utils.cuda import gpu_available
from graphmover.evaluation import evaluate
from graphmover.evaluation.arrays import HOST
from graphmover.evaluation.candidates import SearchSpace
from graphmover.evaluation.checkpoint import Checkpoint
from graphmover.evaluation.columns import FoldDistances, Hyperparameters
from graphmover.evaluation.folds import repeated_folds
from graphmover.evaluation.grid_search import GridSearch
from graphmover.evaluation.protocol import FoldsLeft, Problem
from graphmover.evaluation.ridge import Ridges, ridge_choice
from graphmover.evaluation.selection import STRENGTHS, leave_one_out_ridge
from graphmover.evaluation.svm import LinearSVMs

WHOLE = Hyperparameters(None, 4, 0)
DRAWN = Hyperparameters(6, 4, 0)
SPACE = SearchSpace([(WHOLE,), (DRAWN,)], [0.3, 1.0, 3.0, 10.0, 30.0], True)


def problem(graphs, target, n_folds=3, selection="ridge", device="cpu"):
    classes = np.empty(0) if target.dtype.kind == "f" else np.unique(target)
    folds = repeated_folds(target, n_folds, 1, 0)
    return Problem(graphs, target, classes, folds, [12, 100], selection, 0, None, device)


def rows(problem, space=SPACE):
    """The rows of a search, as `Method` runs it."""
    keys = {fold.number: f"#{fold.number}" for fold in problem.folds}
    results = Checkpoint(None, {})
    embedding = gm.RandomGraphEmbedding()
    GridSearch(embedding, space, [12, 100], FoldsLeft(problem, keys, results, None)).score_folds()
    found = [row for key in keys.values() for row in results[key]]
    return [{name: row[name] for name in row if name != "seconds"} for row in found]


def distances_of(graphs, folds, n_columns=100):
    training_sets = [fold.train for fold in folds]
    found = FoldDistances(graphs, gm.RandomGraphEmbedding(), training_sets, n_columns, seed=0)
    for hyperparameters in (WHOLE, DRAWN):
        found.compute(hyperparameters, n_columns, None, range(len(folds)))
    return found


def test_columns_are_training_graphs_none_of_them_twice(data):
    folds = repeated_folds(data.target, 3, 1, 0)
    columns = distances_of(data.graphs, folds)
    nodes = gm.embed_nodes(data.graphs, 4)
    for fold in folds:
        sources = columns.sources(fold.number, WHOLE, 100)
        assert sorted(sources) == list(fold.train)  # all 40: there are no more
        table = columns.of_fold(fold.number, WHOLE, 100)
        assert np.array_equal(table, gm.earth_movers_distance(nodes, nodes[sources]))
        assert (table[sources, np.arange(40)] == 0).all()
        assert np.array_equal(columns.of_fold(fold.number, WHOLE, 7), table[:, :7])
        drawn = columns.sources(fold.number, DRAWN, 100)
        assert len(drawn) == 100
        assert set(drawn) <= set(fold.train)


@pytest.mark.slow
def test_no_test_graph_influences_a_random_graph_or_a_choice(data):
    graphs = [data.graphs[i] for i in range(60)]
    for other in (gm.Graph(3, [(0, 1), (1, 2)]), gm.Graph(0, [])):
        changed = gm.as_graph_batch([other if i == 17 else graphs[i] for i in range(60)])
        found = [rows(problem(batch, data.target)) for batch in (data.graphs, changed)]
        folds = repeated_folds(data.target, 3, 1, 0)
        [number] = [fold.number for fold in folds if 17 in fold.test]
        for one, same in zip(*(part[2 * number : 2 * number + 2] for part in found), strict=True):
            for row in (one, same):
                for metric in ("accuracy", "balanced_accuracy", "roc_auc"):
                    del row[metric]
            assert one == same


@pytest.mark.parametrize("regression", [False, True])
def test_inner_folds_are_those_of_a_fit_to_the_inner_training_set(data, regression):
    """By hand: the random graphs of an inner fold are its training graphs alone."""
    rng = np.random.default_rng(0)
    target = data.target + 0.3 * rng.standard_normal(60) if regression else data.target
    [fold, *_] = repeated_folds(target, 3, 1, 0)
    columns = distances_of(data.graphs, [fold])
    [candidate] = SearchSpace([(WHOLE,)], [3.0], True).candidates(columns, 100, fold)
    features = candidate.features(columns, 100, HOST, fold, fold.train)
    sources = candidate.sources(columns, 100, fold, fold.train)
    found = ridge_choice(features, target[fold.train], fold.number, HOST, sources)
    nodes = gm.embed_nodes(data.graphs, 4)
    E = gm.earth_movers_distance(nodes, nodes)
    [scale] = candidate.scales
    wanted = target[:, None] if regression else np.where(target[:, None] == np.arange(6), 1, -1)
    scores = []
    for strength in STRENGTHS:
        total = 0.0
        for fitted, validation in fold.inner_folds(target):
            Z = np.exp(-3.0 * scale * E[:, fitted])
            unit = ((Z[fitted] - Z[fitted].mean(axis=0)) ** 2).sum() / len(fitted)
            model = Ridge(strength * unit, solver="svd").fit(Z[fitted], wanted[fitted])
            predicted = model.predict(Z[validation]).reshape(len(validation), -1)
            if regression:
                total -= ((predicted[:, 0] - target[validation]) ** 2).sum()
            else:
                total += (predicted.argmax(axis=1) == target[validation]).sum()
        scores.append(total / len(fold.train))
    best = -np.sqrt(-max(scores)) if regression else max(scores)
    assert found.score == pytest.approx(best, rel=1e-6)
    assert found.value == STRENGTHS[int(np.argmax(scores))]


@pytest.mark.slow
def test_leaving_one_out_flatters_and_inner_folds_do_not():
    """With a narrow kernel, whose features see little but a graph's own column, and some noise."""
    data = gm.make_graph_families(120, random_state=1)
    noise = np.random.default_rng(1).integers(0, 6, 120)
    target = np.where(np.random.default_rng(0).random(120) < 0.3, noise, data.target)
    folds = repeated_folds(target, 5, 1, 0)
    columns = distances_of(data.graphs, folds)
    claimed, honest, reached = [], [], []
    for fold in folds:
        [candidate] = SearchSpace([(WHOLE,)], [10.0], True).candidates(columns, 100, fold)
        features = candidate.features(columns, 100, HOST, fold)
        own = features[fold.train]
        flattered = leave_one_out_ridge(own, target[fold.train])
        sources = candidate.sources(columns, 100, fold, fold.train)
        choice = ridge_choice(own, target[fold.train], fold.number, HOST, sources)
        [found] = Ridges(features, len(own)).predictions(
            fold.train, fold.test, target, [flattered.value]
        )
        claimed.append(flattered.score)
        honest.append(choice.score)
        reached.append((found.target == target[fold.test]).mean())
    assert np.mean(claimed) > np.mean(reached) + 0.3  # 0.70 claimed, 0.29 reached
    assert np.mean(honest) == pytest.approx(np.mean(reached), abs=0.1)


@pytest.mark.parametrize("selection", ["ridge", "svm"])
@pytest.mark.parametrize("regression", [False, True])
def test_a_search_compares_whole_and_drawn_graphs(data, selection, regression):
    target = data.target * 0.5 if regression else data.target
    found = rows(problem(data.graphs, target, selection=selection))
    assert len(found) == 6
    for row in found:
        assert row["max_random_nodes"] in (None, 6)
        assert row["ridge_strength" if regression else "C"] > 0
    if not regression:
        assert np.mean([row["accuracy"] for row in found]) > 0.5


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_available(), reason="no GPU, or no CuPy")
@pytest.mark.parametrize("selection", ["ridge", "svm"])
def test_a_gpu_chooses_alike(data, selection):
    found = [
        rows(problem(data.graphs, data.target, selection=selection, device=device))
        for device in ("cpu", "cuda")
    ]
    for row, same in zip(*found, strict=True):
        for name, value in row.items():
            number = isinstance(value, float)
            assert same[name] == (pytest.approx(value, rel=1e-6) if number else value), name


def test_machines_leave_out_the_columns_of_validation_graphs():
    rng = np.random.default_rng(0)
    x, target = rng.random((30, 12)), np.arange(30) % 3
    sources = rng.integers(0, 30, 12)
    train, test = np.arange(20), np.arange(20, 30)
    for kind in (LinearSVMs, Ridges):
        masked = kind(x, 20, HOST, sources).without(test)
        kept = ~np.isin(sources, test)
        assert 0 < kept.sum() < 12
        [one] = masked.predictions(train, test, target, [1.0])
        [other] = kind(x[:, kept], 20).predictions(train, test, target, [1.0])
        assert np.array_equal(one.by_class, other.by_class)
        plain = kind(x, 20)
        assert plain.without(test) is plain


class WholeGraphs(TransformerMixin, BaseEstimator):
    """Distances to all training graphs; remembers what it was fitted to and what it saw."""

    fits = []

    def fit(self, X, y=None):
        self.nodes_ = gm.embed_nodes(X, 4)
        self.fits.append(tuple(X.node_counts))
        return self

    def transform(self, X):
        return np.exp(-gm.earth_movers_distance(gm.embed_nodes(X, 4), self.nodes_))


@pytest.mark.slow
def test_searches_and_transformers_of_scikit_learn_draw_from_inner_training_sets(data):
    """By construction: they are fitted again in every inner fold."""
    sizes, target = data.graphs.node_counts, data.target
    search = GridSearchCV(
        make_pipeline(WholeGraphs(), RidgeClassifier()),
        {"ridgeclassifier__alpha": [1e-3, 1.0]},
        cv=StratifiedKFold(2),
    )
    for method in (search, make_pipeline(WholeGraphs())):
        WholeGraphs.fits.clear()
        evaluate(data.graphs, target, [("m", method)], n_folds=3)
        expected = []
        for fold in repeated_folds(target, 3, 1, 0):
            if method is search:
                splits = StratifiedKFold(2).split(fold.train, target[fold.train])
                inner = [fold.train[a] for a, _ in splits for _ in range(2)]  # alphas
            else:
                inner = [fitted for fitted, _ in fold.inner_folds(target)]
            expected += [tuple(sizes[train]) for train in [*inner, fold.train]]
        assert sorted(WholeGraphs.fits) == sorted(expected)


def test_cached_distances_are_of_inner_training_sets(data, tmp_path):
    """Random graphs of a search over gamma in a pipeline with memory."""
    from sklearn.pipeline import Pipeline

    steps = [
        ("distances", gm.RandomGraphDistances(16, random_state=0)),
        ("features", gm.DistanceFeatures()),
        ("classifier", RidgeClassifier(1e-3)),
    ]
    grid = {"features__gamma": ["scale", 30.0]}
    results = [
        evaluate(
            data.graphs,
            data.target,
            [("m", GridSearchCV(Pipeline(steps, memory=memory), grid, cv=3))],
            n_folds=3,
        ).folds
        for memory in (None, str(tmp_path))
    ]
    for one, other in zip(*results, strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
