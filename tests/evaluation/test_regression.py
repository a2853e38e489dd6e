import numpy as np
import pytest
from evaluation_cases import GRID, with_graph_replaced
from sklearn.dummy import DummyRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold
from sklearn.pipeline import make_pipeline

import graphmover as gm
from graphmover._utils.cuda import gpu_available
from graphmover.evaluation import EMDKernel, FoldByFold, Method, PrecomputedKernels, evaluate
from graphmover.evaluation.arrays import HOST
from graphmover.evaluation.folds import Fold, repeated_folds
from graphmover.evaluation.kernels import centred
from graphmover.evaluation.ridge import KernelRidges, Ridges
from graphmover.evaluation.selection import STRENGTHS, choose_by_inner_folds, leave_one_out_ridge


@pytest.fixture(scope="module")
def values(data):
    """The number of triangles per node: structure predicts it, degrees do not."""

    def triangles(graph):
        table = np.zeros(2 * [len(graph.indptr) - 1])
        table[np.repeat(np.arange(len(table)), np.diff(graph.indptr)), graph.indices] = 1
        return np.trace(table @ table @ table) / 6 / len(table)

    return np.array([triangles(data.graphs[i : i + 1]) for i in range(len(data.graphs))])


def rows(result):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in result.folds]


@pytest.mark.slow
def test_all_kinds_of_methods_predict_values(data, values):
    chosen = [
        "mean value",
        "bag of nodes",
        Method("grid", gm.RandomGraphEmbedding(), GRID),
        gm.RandomGraphEmbedding(32),
        EMDKernel("EMD", n_dimensions=(4,)),
        PrecomputedKernels("sizes", {"n": np.multiply.outer(*[data.graphs.node_counts] * 2)}),
        ("ridge", make_pipeline(gm.RandomGraphEmbedding(32), Ridge(1e-3))),
        ("features", make_pipeline(gm.RandomGraphEmbedding(32))),
    ]
    result = evaluate(data.graphs, values, chosen, n_components=32, n_folds=3, n_repeats=2)
    scores = {row["method"]: row for row in result.summary()}
    assert set(scores["EMD"]["metrics"]) == {"r2", "mae", "rmse"}
    assert scores["mean value"]["mean"] <= 0 < 0.5 < scores["grid"]["mean"]
    for name, row in scores.items():
        if name not in ("mean value", "bag of nodes", "sizes"):
            assert row["mean"] == row["metrics"]["r2"]["mean"] > 0.4, name
    by_name = {row["method"]: row for row in result.folds}
    assert by_name["grid"]["selection_rmse"] > 0 < by_name["grid"]["inner_rmse"]
    assert by_name["grid"]["ridge_strength"] in STRENGTHS
    assert "accuracy" not in by_name["grid"]
    assert by_name["grid"]["C"] is None
    assert sum(scores["grid"]["choices"]["ridge_strength"].values()) == 6
    assert "mean value: R2 -0." in repr(result)
    frame = result.to_pandas()
    assert frame[frame.method == "grid"].r2.mean() == pytest.approx(scores["grid"]["mean"])


def test_scores_are_those_by_hand(data, values):
    from sklearn.metrics import mean_absolute_error, r2_score

    model = make_pipeline(gm.RandomGraphEmbedding(16), Ridge(1e-3))
    found = evaluate(data.graphs, values, [("m", model)], n_folds=3, random_state=5).folds
    splits = RepeatedKFold(n_splits=3, n_repeats=1, random_state=5).split(values)
    for number, (row, (train, test)) in enumerate(zip(found, splits, strict=True)):
        seed = int(np.random.default_rng([5, number]).integers(2**31 - 1, size=2)[0])
        model = make_pipeline(gm.RandomGraphEmbedding(16, random_state=seed), Ridge(1e-3))
        predicted = model.fit(data.graphs[train], values[train]).predict(data.graphs[test])
        assert row["r2"] == pytest.approx(r2_score(values[test], predicted))
        assert row["mae"] == pytest.approx(mean_absolute_error(values[test], predicted))
        rmse = np.sqrt(np.mean((values[test] - predicted) ** 2))
        assert row["rmse"] == pytest.approx(rmse)


def test_folds_are_shuffled_and_not_stratified(values):
    folds = repeated_folds(values, 3, 2, 7)
    splits = RepeatedKFold(n_splits=3, n_repeats=2, random_state=7).split(values)
    for fold, (train, test) in zip(folds, splits, strict=True):
        assert np.array_equal(fold.train, train)
        assert np.array_equal(fold.test, test)
        inner = KFold(5, shuffle=True, random_state=fold.number).split(train)
        for (fitted, held_out), (a, b) in zip(fold.inner_folds(values), inner, strict=True):
            assert np.array_equal(fitted, train[a])
            assert np.array_equal(held_out, train[b])


def test_the_mean_is_scikit_learns_dummy(data, values):
    dummy = make_pipeline(gm.RandomGraphEmbedding(4), DummyRegressor())
    one, other = evaluate(data.graphs, values, ["mean value", dummy], n_folds=3).summary()
    for metric, score in one["metrics"].items():
        assert score == pytest.approx(other["metrics"][metric]), metric


def test_float_targets_are_values_and_integers_classes_unless_told(data, values):
    def metrics(y, **options):
        return evaluate(data.graphs, y, n_folds=3, methods=["bag of nodes"], **options).metrics

    counts = data.graphs.node_counts
    assert metrics(values) == metrics(list(values)) == ("r2", "mae", "rmse")
    assert metrics(counts, task="regression") == ("r2", "mae", "rmse")
    assert metrics(values, metrics="mae") == ("mae",)
    assert metrics(data.target.astype(float)) == ("accuracy",)
    assert metrics(data.target.astype(float), task="regression")[0] == "r2"


def test_the_default_methods_are_those_of_the_task(data, values):
    """Without a grid search, which takes long: names are checked before anything is computed."""
    with pytest.raises(ValueError, match="a method of regression must be one of mean value, bag o"):
        evaluate(data.graphs, values, ["majority class"])
    with pytest.raises(ValueError, match="a method of classification must be one of majority cla"):
        evaluate(data.graphs, data.target, ["mean value"])
    with pytest.raises(TypeError, match="'x' is a classifier, expected a regressor or a trans"):
        evaluate(data.graphs, values, [("x", LogisticRegression())])


@pytest.mark.parametrize("sampling", ["anchor", "uniform"])
def test_no_test_graph_influences_a_choice(data, values, sampling):
    changed = with_graph_replaced(data.graphs, 17, gm.Graph(3, [(0, 1), (1, 2)]))
    other = values.copy()
    other[17] = 1e6
    method = Method("m", gm.RandomGraphEmbedding(sampling=sampling), GRID)
    found = [
        evaluate(graphs, y, [method], n_components=24, n_folds=4)
        for graphs, y in ((data.graphs, values), (changed, other))
    ]
    [number] = [fold.number for fold in repeated_folds(values, 4, 1, 0) if 17 in fold.test]
    choices = [rows(result)[number] for result in found]
    for row in choices:
        for metric in ("r2", "mae", "rmse"):
            del row[metric]
    assert choices[0] == choices[1]


def test_results_do_not_depend_on_threads_or_units(data, values):
    method = Method("m", gm.RandomGraphEmbedding(), GRID)

    def of(y, **options):
        return rows(evaluate(data.graphs, y, [method], n_components=16, n_folds=3, **options))

    assert of(values) == of(values, n_jobs=2)
    for row, scaled in zip(of(values), of(1024 * values), strict=True):
        assert scaled["r2"] == pytest.approx(row["r2"])
        assert scaled["rmse"] == pytest.approx(1024 * row["rmse"])
        assert scaled["ridge_strength"] == row["ridge_strength"]


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_available(), reason="no GPU, or no CuPy")
def test_a_gpu_predicts_alike(data, values):
    chosen = [Method("m", gm.RandomGraphEmbedding(), GRID), EMDKernel("EMD", n_dimensions=(4,))]
    options = {"n_components": [16, 128], "n_folds": 3}
    found = [
        rows(evaluate(data.graphs, values, chosen, device=device, **options))
        for device in ("cpu", "cuda")
    ]
    for row, same in zip(*found, strict=True):
        for name, value in row.items():
            number = isinstance(value, float)
            assert same[name] == (pytest.approx(value, rel=1e-4) if number else value), name


def test_the_exhaustive_search_compares_inner_folds(data, values):
    method = Method("m", gm.RandomGraphEmbedding(), {"gamma": [0.1, 1.0, 10.0]})
    options = {"n_components": 16, "n_folds": 3}
    full = evaluate(data.graphs, values, [method], selection="svm", **options)
    short = evaluate(data.graphs, values, [method], **options)
    for searched, chosen in zip(full.folds, short.folds, strict=True):
        assert searched["selection_rmse"] == searched["inner_rmse"] <= chosen["inner_rmse"]


def test_a_grid_search_of_scikit_learn_is_a_method(data, values):
    pipeline = make_pipeline(gm.RandomGraphDistances(16), gm.DistanceFeatures(), Ridge(1e-3))
    grid = {"distancefeatures__gamma": ["scale", 1e-6]}
    [score] = evaluate(data.graphs, values, [GridSearchCV(pipeline, grid, cv=3)]).summary()
    assert score["choices"]["best_params"] == {"{'distancefeatures__gamma': 'scale'}": 10}


def test_finished_folds_are_resumed(data, values, tmp_path):
    options = {"n_folds": 3, "checkpoint": tmp_path / "j.jsonl"}
    chosen = ["mean value", Method("m", gm.RandomGraphEmbedding(8), {})]
    first = evaluate(data.graphs, values, chosen, **options)
    before = (tmp_path / "j.jsonl").read_text()
    assert evaluate(data.graphs, values, chosen, **options).folds == first.folds
    assert (tmp_path / "j.jsonl").read_text() == before
    target = data.target.astype(float)
    options["checkpoint"] = tmp_path / "k.jsonl"
    evaluate(data.graphs, target, ["bag of nodes"], task="regression", **options)
    with pytest.raises(ValueError, match="is the checkpoint of another evaluation, other"):
        evaluate(data.graphs, target, ["bag of nodes"], **options)


def test_ridge_regressions_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    train, test = np.flatnonzero(np.arange(40) % 4), np.arange(0, 40, 4)
    for n_columns in (6, 90):  # by columns, by rows
        x = rng.random((40, n_columns))
        y = x @ rng.standard_normal(n_columns) + 3
        unit = ((x[train] - x[train].mean(axis=0)) ** 2).sum() / len(train)
        found = Ridges(x, len(train), HOST).predictions(train, test, y, STRENGTHS)
        by_kernel = KernelRidges(x @ x.T).predictions(train, test, y, STRENGTHS)
        for strength, one, other in zip(STRENGTHS, found, by_kernel, strict=True):
            model = Ridge(strength * unit, solver="svd").fit(x[train], y[train])
            assert one.target == pytest.approx(model.predict(x[test]), rel=1e-6)
            assert other.target == pytest.approx(model.predict(x[test]), rel=1e-4)


def test_classes_by_ridge_are_one_vs_rest():
    rng = np.random.default_rng(1)
    target = np.arange(40) % 3
    x = rng.random((40, 8)) + 0.3 * target[:, None] * rng.random(8)
    train, test = np.arange(30), np.arange(30, 40)
    [found] = Ridges(x, 30, HOST).predictions(train, test, target, [1e-2])
    unit = ((x[train] - x[train].mean(axis=0)) ** 2).sum() / 30
    wanted = np.where(target[:, None] == np.arange(3), 1.0, -1.0)
    model = Ridge(1e-2 * unit).fit(x[train], wanted[train])
    assert found.by_class == pytest.approx(model.predict(x[test]))
    assert (found.target == found.by_class.argmax(axis=1)).all()


def test_an_indefinite_kernel_gives_the_regression_of_its_positive_part():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    indefinite = x[:, :3] @ x[:, :3].T - 0.3 * np.multiply.outer(x[:, 3], x[:, 3])
    everything = np.arange(30)
    [one] = KernelRidges(indefinite).predictions(everything, everything, y, [0.1])
    values, axes = np.linalg.eigh(centred(indefinite))
    assert values[0] < -1
    positive = (axes * np.maximum(values, 0)) @ axes.T
    unit = np.trace(positive) / 30
    model = KernelRidge(alpha=0.1 * unit, kernel="precomputed").fit(positive, y - y.mean())
    assert one.target == pytest.approx(model.predict(positive) + y.mean())


def test_constant_features_predict_the_mean():
    y = np.arange(10.0)
    for x in (np.ones((10, 3)), np.zeros((10, 30))):
        found = Ridges(x, 8, HOST).predictions(np.arange(8), np.arange(8, 10), y, STRENGTHS)
        for one in found:
            assert one.target == pytest.approx([3.5, 3.5])


def test_the_closed_form_agrees_with_leaving_out_each_value():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(20)
    for n_columns in (8, 50):  # by either Gram matrix
        x = rng.random((20, n_columns)) + 0.5 * y[:, None]
        found = leave_one_out_ridge(x, y)
        unit = ((x - x.mean(axis=0)) ** 2).sum() / 20
        errors = []
        for strength in STRENGTHS:
            left_out = []
            for i in range(20):
                others = np.arange(20) != i
                model = Ridge(strength * unit, solver="svd").fit(x[others], y[others])
                left_out.append(model.predict(x[[i]])[0])
            errors.append(np.mean((left_out - y) ** 2))
        assert found.value == STRENGTHS[np.argmin(errors)]
        assert found.score == pytest.approx(-np.sqrt(min(errors)), rel=1e-6)


def test_inner_folds_choose_the_smallest_squared_error():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((60, 30))
    y = x[:, 0] + 2 * rng.standard_normal(60)
    fold = Fold(4, np.arange(50), np.arange(50, 60))
    choice = choose_by_inner_folds(Ridges(x, 50, HOST), fold, y)
    errors = {}
    for strength in STRENGTHS:
        errors[strength] = 0.0
        for a, b in KFold(5, shuffle=True, random_state=4).split(np.arange(50)):
            [found] = Ridges(x, 50, HOST).predictions(a, b, y, [strength])
            errors[strength] += ((found.target - y[b]) ** 2).sum()
    assert choice.value == min(errors, key=errors.get)
    assert choice.score == pytest.approx(-np.sqrt(min(errors.values()) / 50))


def test_a_rival_returns_the_scores_of_its_predictions(data, values):
    class Size(FoldByFold):
        name = "size"

        def scorer(self, problem, progress):
            sizes = problem.graphs.node_counts

            def row(fold):
                line = np.polyfit(sizes[fold.train], problem.target[fold.train], 1)
                return problem.scores(fold, np.polyval(line, sizes[fold.test]))

            return row

    class Accuracy(FoldByFold):
        name = "accuracy alone"

        def scorer(self, problem, progress):
            return lambda fold: {"accuracy": 1.0}

    found = evaluate(data.graphs, values, [Size()], n_folds=3)
    assert set(found.summary()[0]["metrics"]) == {"r2", "mae", "rmse"}
    with pytest.raises(ValueError, match="'accuracy alone' has no r2 in its rows: return Problem"):
        evaluate(data.graphs, values, [Accuracy()], n_folds=3)


@pytest.mark.parametrize(
    "y, options, message",
    [
        (np.r_[np.linspace(0, 1, 59), np.nan], {}, r"y\[59\] is nan, expected a finite number"),
        ([0.5, "a"] * 30, {}, r"y\[1\] is a, expected a finite number"),
        (["a", "b"] * 30, {"task": "regression"}, r"y\[0\] is a, expected a finite number"),
        (np.full(60, 0.5), {}, "all values of y are 0.5, expected at least 2 diff"),
        (np.linspace(0, 1, 60), {"n_folds": 31}, "60 values, expected 62 or more with n_folds=31"),
        (np.ones((60, 2)), {}, r"shape \(60, 2\), .*one column at a time, such as y\[:, 0\]"),
        (
            np.linspace(0, 1, 60),
            {"metrics": ["accuracy"]},
            "metrics must be among r2, mae",
        ),
    ],
)
def test_bad_values_raise(data, y, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate(data.graphs, y, ["mean value"], **options)


def test_predictions_that_are_not_finite_raise(data, values):
    class Broken(DummyRegressor):
        def predict(self, X):
            return np.full(len(X), np.nan)

    model = make_pipeline(gm.RandomGraphEmbedding(4), Broken())
    with pytest.raises(RuntimeError, match=r"predict returned nan at \[0\], expected finite"):
        evaluate(data.graphs, values, [("b", model)], n_folds=3)
