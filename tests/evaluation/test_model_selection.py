import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

from graphmover.evaluation.arrays import arrays_on
from graphmover.evaluation.selection import leave_one_out_ridge
from graphmover.evaluation.svm import SVM_C, LinearSVMs


def test_the_closed_form_agrees_with_leaving_out_each_row():
    rng = np.random.default_rng(0)
    target = np.arange(20) % 3
    wanted = np.where(target[:, None] == np.arange(3), 1.0, -1.0)
    for n_columns in (8, 50):  # by either Gram matrix
        features = rng.random((20, n_columns)) + 0.5 * wanted[:, [0]]
        found = leave_one_out_ridge(features, target)
        unit = (features**2).sum() / 20
        best = (-1.0, -np.inf)
        for strength in 10.0 ** np.arange(-7, 3):
            left_out = np.empty((20, 3))
            for i in range(20):
                others = np.arange(20) != i
                ridge = Ridge(strength * unit, fit_intercept=False, solver="svd")
                left_out[i] = ridge.fit(features[others], wanted[others]).predict(features[[i]])[0]
            accuracy = (left_out.argmax(axis=1) == target).mean()
            best = max(best, (accuracy, -((left_out - wanted) ** 2).mean()))
        assert found.score == best[0]
        assert found.minus_error == pytest.approx(best[1], rel=1e-6)


@pytest.mark.parametrize("n_columns", [6, 25, 90])  # by columns, by rows, by rows
@pytest.mark.parametrize("n_classes", [2, 4])
def test_svms_agree_with_liblinear(n_columns, n_classes):
    rng = np.random.default_rng(n_columns)
    target = np.arange(60) % n_classes
    x = rng.random((60, n_columns)) + 0.15 * target[:, None] * rng.random(n_columns)
    train, test = np.flatnonzero(np.arange(60) % 4), np.arange(0, 60, 4)
    length = np.sqrt((x[train] ** 2).sum(axis=1).mean())
    for scale in (1.0, 1e-6):
        machines = LinearSVMs(scale * x, len(train), arrays_on("cpu"))
        found = machines.predictions(train, test, target, SVM_C)
        for C, (classes, _) in zip(SVM_C[:5], found, strict=False):  # more takes LIBLINEAR too long
            plain = LinearSVC(C=C, dual=False, fit_intercept=False, tol=1e-9, max_iter=100_000)
            expected = plain.fit(x[train] / length, target[train]).predict(x[test] / length)
            assert (classes == expected).all()


def test_svms_converge_where_rounding_errors_outweigh_a_large_c():
    """Rows that are all but equal, of opposite classes, as duplicates among graphs give."""
    rng = np.random.default_rng(0)
    x = 1 + 1e-5 * rng.standard_normal((60, 40))
    x = np.concatenate([x, x + 1e-12 * rng.standard_normal(x.shape)])
    target = np.arange(120) // 60
    train, test = np.arange(0, 120, 2), np.arange(1, 120, 2)
    found = LinearSVMs(x, len(train), arrays_on("cpu")).predictions(train, test, target, SVM_C)
    assert len(found) == len(SVM_C)


def test_the_minimum_has_no_gradient():
    """Solutions, not only the classes they predict: w = 2 C sum of y_i (1 - y_i w.x_i)+ x_i."""
    from graphmover.evaluation.svm import _ColumnSystem, _minima, _RowSystem

    rng = np.random.default_rng(0)
    x = rng.standard_normal((80, 30))
    signs = np.where(x[:, 0] + 0.5 * rng.standard_normal(80) > 0, 1.0, -1.0)
    arrays = arrays_on("cpu")
    strengths = (1e-2, 1.0, 1e3, 1e6)
    by_columns = _minima(_ColumnSystem(x, arrays), signs, strengths)
    by_rows = _minima(_RowSystem(x @ x.T, arrays), signs, strengths)
    for C, w, coefficients in zip(strengths, by_columns, by_rows, strict=True):
        short = np.maximum(0, 1 - signs * (x @ w))
        assert w == pytest.approx(2 * C * (signs * short) @ x, rel=1e-6, abs=1e-8)
        assert coefficients @ x == pytest.approx(w, rel=1e-6, abs=1e-8)
