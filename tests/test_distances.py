import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline

import graphmover as gm
from graphmover.backends.fitted import DistancesToRandomGraphs

PARAMETERS = [
    {},
    {"sampling": "uniform", "max_random_nodes": 5},
    {"node_embedding": "degree", "node_mass": "equal", "n_jobs": 2},
    {"wl_iterations": 1, "n_dimensions": 2},
]


@pytest.fixture(scope="module")
def data():
    return gm.make_graph_families(40, random_state=0)


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("gamma", ["scale", "2*scale", 0.7])
def test_both_halves_give_the_bits_of_the_embedding(data, parameters, gamma):
    train, test = data.graphs[:30], data.graphs[30:]
    whole = gm.RandomGraphEmbedding(12, gamma=gamma, random_state=3, **parameters)
    halves = make_pipeline(
        gm.RandomGraphDistances(12, random_state=3, **parameters), gm.DistanceFeatures(gamma)
    )
    assert np.array_equal(halves.fit_transform(train), whole.fit_transform(train))
    assert np.array_equal(halves.transform(test), whole.transform(test))
    assert np.array_equal(halves[0].transform(test), whole.distances(test))
    assert halves[1].gamma_ == whole.gamma_
    assert np.array_equal(clone(halves).fit(train).transform(test), whole.transform(test))


def test_the_first_columns_are_those_of_a_smaller_embedding(data):
    distances = gm.RandomGraphDistances(12, random_state=0).fit_transform(data.graphs)
    before = distances.copy()
    small = gm.RandomGraphEmbedding(5, random_state=0)
    features = gm.DistanceFeatures(n_components=5)
    assert np.array_equal(features.fit_transform(distances), small.fit_transform(data.graphs))
    assert features.gamma_ == small.gamma_
    assert np.array_equal(distances, before)  # they are cached, and must not change


def test_distances_have_all_parameters_of_the_embedding_but_gamma():
    """Also those that it will gain, with their defaults."""
    own = inspect.signature(gm.RandomGraphDistances).parameters
    theirs = dict(inspect.signature(gm.RandomGraphEmbedding).parameters)
    del theirs["gamma"]
    assert dict(own) == theirs
    given = gm.RandomGraphDistances(7, node_mass="equal")
    assert given.get_params() == {
        **{name: parameter.default for name, parameter in theirs.items()},
        "n_components": 7,
        "node_mass": "equal",
    }
    assert repr(given) == "RandomGraphDistances(n_components=7, node_mass='equal')"


def test_a_search_over_gamma_and_r_computes_distances_once(data, tmp_path, monkeypatch):
    computed = []
    for name in ("of_nodes", "of_graphs"):
        own = getattr(DistancesToRandomGraphs, name)

        def counting(self, nodes, *args, own=own, name=name, **named):
            computed.append((name, len(nodes)))
            return own(self, nodes, *args, **named)

        monkeypatch.setattr(DistancesToRandomGraphs, name, counting)
    steps = [
        ("distances", gm.RandomGraphDistances(16, random_state=0)),
        ("features", gm.DistanceFeatures()),
        ("classifier", RidgeClassifier(1e-3)),
    ]
    grid = {"features__gamma": ["scale", 1.0, 4.0], "features__n_components": [4, None]}
    search = GridSearchCV(Pipeline(steps, memory=str(tmp_path)), grid, cv=StratifiedKFold(2))
    search.fit(data.graphs, data.target)
    # Of training sets: of two folds, and of all graphs at the end.
    assert sorted(n for name, n in computed if name == "of_nodes") == [20, 20, 40]
    assert search.best_params_["features__n_components"] is None
    by_hand = make_pipeline(
        gm.RandomGraphEmbedding(16, gamma=1.0, random_state=0), RidgeClassifier(1e-3)
    )
    [place] = [
        i
        for i, tried in enumerate(search.cv_results_["params"])
        if tried == {"features__gamma": 1.0, "features__n_components": None}
    ]
    train, test = next(StratifiedKFold(2).split(data.target, data.target))
    by_hand.fit(data.graphs[train], data.target[train])
    score = by_hand.score(data.graphs[test], data.target[test])
    assert search.cv_results_["split0_test_score"][place] == score


def test_names_and_tables(data):
    pandas = pytest.importorskip("pandas")
    halves = make_pipeline(gm.RandomGraphDistances(4, random_state=0), gm.DistanceFeatures())
    halves.set_output(transform="pandas")
    table = halves.fit_transform(data.graphs)
    assert isinstance(table, pandas.DataFrame)
    assert list(table) == [f"distancefeatures{i}" for i in range(4)]
    names = halves[0].get_feature_names_out()
    assert list(names) == [f"randomgraphdistances{i}" for i in range(4)]
    again = pickle.loads(pickle.dumps(halves))
    assert again.transform(data.graphs).equals(table)


def test_a_graph_without_nodes_becomes_a_row_of_zeros(data):
    graphs = gm.as_graph_batch([*(data.graphs[i] for i in range(5)), gm.Graph(0, [])])
    halves = make_pipeline(gm.RandomGraphDistances(4, random_state=0), gm.DistanceFeatures())
    with pytest.warns(UserWarning, match="1 of 6 graphs have no nodes"):
        Z = halves.fit_transform(graphs)
    assert (Z[5] == 0).all()
    assert (Z[:5] > 0).all()


def test_threads_may_change_after_fit(data):
    distances = gm.RandomGraphDistances(4, random_state=0).fit(data.graphs)
    before = distances.transform(data.graphs)
    assert np.array_equal(distances.set_params(n_jobs=2).transform(data.graphs), before)
    with pytest.raises(ValueError, match="device must be one of"):
        distances.set_params(device="abacus").transform(data.graphs)


@pytest.mark.parametrize(
    "features, X, error, message",
    [
        ({"gamma": -1}, np.ones((2, 3)), ValueError, 'gamma must be a positive number, "scale"'),
        ({"n_components": 0}, np.ones((2, 3)), ValueError, "n_components must be at least 1"),
        ({"n_components": 4}, np.ones((2, 3)), ValueError, "n_components must be at most 3, got 4"),
        ({"n_components": 2.0}, np.ones((2, 3)), TypeError, "n_components must be an integer"),
        ({}, [[1.0, np.nan]], ValueError, r"X has NaN at \[0, 1\], expected distances"),
        ({}, [[np.inf]], ValueError, "no finite distance, which gamma='scale' needs"),
    ],
)
def test_bad_features_raise(features, X, error, message):
    with pytest.raises(error, match=message):
        gm.DistanceFeatures(**features).fit(X)


def test_bad_distances_raise(data):
    with pytest.raises(TypeError, match="unexpected keyword argument 'gamma'"):
        gm.RandomGraphDistances(gamma=1.0)
    with pytest.raises(ValueError, match="max_random_nodes must be an integer of at least 1"):
        gm.RandomGraphDistances(max_random_nodes=0).fit(data.graphs)
    with pytest.raises(ValueError, match="not fitted yet"):
        gm.RandomGraphDistances().transform(data.graphs)
