"""Any scikit-learn estimator whose `fit` takes graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.evaluation.fingerprints import description, digest
from graphmover.evaluation.folds import INNER_FOLDS, Fold, Indices
from graphmover.evaluation.methods.fold_by_fold import FoldByFold
from graphmover.evaluation.metrics import Predictions, classification_scores
from graphmover.evaluation.parameter_grid import (
    ParameterGrid,
    combinations,
    in_words,
    require_parameters,
)
from graphmover.evaluation.protocol import Problem, Row
from graphmover.evaluation.ridge import linear_machines, linear_machines_for
from graphmover.evaluation.selection import (
    Choice,
    Machines,
    choose_by_inner_folds,
    score_on_test_fold,
)
from graphmover.evaluation.svm import SVM_C

_MOST_SEED = 2**31 - 1


class SklearnEstimator(FoldByFold):
    """A classifier or regressor of graphs, or a transformer followed by a linear machine.

    In every fold a clone is fitted to the training graphs. Its ``random_state`` parameters, those
    of nested estimators too, are set from `evaluate`'s and the fold.

    Parameters
    ----------
    name : str
        The method's name in the results.
    estimator : scikit-learn estimator
        With ``predict``: a classifier or regressor. Without it, but with ``transform``: its
        features go into a linear SVM with bias, or into ridge regression, whose C or strength is
        chosen on inner folds, with a clone fitted to each of their training sets. It is not
        fitted itself.
    regression : bool
        Whether it is to predict values, not classes.
    grid : mapping, optional
        Lists of values of a transformer's parameters: all combinations are compared on the inner
        folds, each with its best C or strength.
    """

    def __init__(
        self,
        name: str,
        estimator: Any,
        *,
        regression: bool = False,
        grid: ParameterGrid | None = None,
    ) -> None:
        self.name, self.estimator, self.grid = name, estimator, dict(grid or {})
        _require_estimator(name, estimator, regression=regression)
        self._predicts = hasattr(estimator, "predict")
        if self.grid and self._predicts:
            raise ValueError(f"{name!r} predicts by itself: pass a GridSearchCV, not a grid")
        require_parameters(name, estimator, self.grid)

    @property
    def fingerprint(self) -> str:
        """Equal for two methods of one name only if they give the same results."""
        try:
            own = description(self.estimator)
            # Without a grid as before there was one: old checkpoints remain.
            return digest((own, description(self.grid)) if self.grid else own, size=8)
        except TypeError as error:
            raise TypeError(f"a parameter of {self.name!r} has no fingerprint: {error}") from error

    def tuned_over(self) -> tuple[object, ...]:
        """Return the grid of C and the number of inner folds, unless it predicts for itself."""
        return () if self._predicts else (SVM_C, INNER_FOLDS, "refitted in inner folds")

    def scorer(self, problem: Problem, progress: str | None) -> Callable[[Fold], Row]:
        """Return the function that scores a fold."""
        score = self._predict if self._predicts else self._transform

        def row(fold: Fold) -> Row:
            try:
                return score(problem, fold)
            except Exception as error:
                raise RuntimeError(f"{self.name!r} failed in {fold}: {error}") from error

        return row

    def _predict(self, problem: Problem, fold: Fold) -> Row:
        target, test = _as_given(problem), problem.graphs[fold.test]
        model = _seeded_clone(self.estimator, problem, fold)
        model.fit(problem.graphs[fold.train], target[fold.train])
        predicted = np.asarray(model.predict(test))
        if predicted.shape != fold.test.shape:
            raise ValueError(
                f"predict returned the shape {predicted.shape}, expected {fold.test.shape}"
            )
        row: Row
        if problem.regression:
            row = problem.scores(fold, _finite(predicted))
        else:
            # Decision values mean a second pass over the test graphs.
            by_class = _by_class(model, test, problem) if "roc_auc" in problem.metrics else None
            found = Predictions(predicted, by_class)
            row = {**classification_scores(target[fold.test], found, problem.classes)}
            if "roc_auc" in problem.metrics:
                row.setdefault("roc_auc", None)
        if hasattr(model, "best_params_"):
            row["best_params"] = str(model.best_params_)
        return row

    def _transform(self, problem: Problem, fold: Fold) -> Row:
        from sklearn.base import clone

        best: Choice | None = None
        for values in combinations(self.grid):
            candidate = _Refitted(clone(self.estimator).set_params(**values), problem, fold)
            choice = choose_by_inner_folds(candidate, fold, problem.target)
            if best is None or choice.beats(best):
                best, machines, chosen = choice, candidate, values
        row = score_on_test_fold(machines.on(fold), problem, fold, best)
        return {**row, "best_params": in_words(chosen)} if chosen else row

    def __repr__(self) -> str:
        return f"SklearnEstimator({self.name!r}, {self.estimator!r})"


class _Refitted:
    """Linear machines on the features of a transformer, which is fitted for each inner fold.

    What it learns, such as random graphs, comes from the graphs that the machine is fitted to.
    """

    def __init__(self, estimator: Any, problem: Problem, fold: Fold) -> None:
        self._estimator, self._problem, self._fold = estimator, problem, fold
        kind = linear_machines_for(problem.target)
        self.grid, self.column = kind.grid, kind.column

    def without(self, graphs: Indices) -> Machines:
        """Return machines whose transformer has not seen these graphs."""
        rest = np.setdiff1d(self._fold.train, graphs, assume_unique=True)
        return self.on(self._fold._replace(train=rest, test=graphs))

    def on(self, fold: Fold) -> Machines:
        """Return machines for the training and test graphs of a fold."""
        problem, target = self._problem, _as_given(self._problem)
        transformer = _seeded_clone(self._estimator, problem, fold)
        train, test = problem.graphs[fold.train], problem.graphs[fold.test]
        if hasattr(transformer, "fit_transform"):
            fitted = transformer.fit_transform(train, target[fold.train])
        else:
            fitted = transformer.fit(train, target[fold.train]).transform(train)
        tables = [_features(fitted, len(train)), _features(transformer.transform(test), len(test))]
        if tables[0].shape[1] != tables[1].shape[1]:
            raise ValueError(
                f"transform returned {tables[1].shape[1]} features, expected {tables[0].shape[1]}"
            )
        # With the length of a typical row, so that the bias is regularised like any direction.
        bias = float(np.sqrt((tables[0] ** 2).sum(axis=1).mean())) or 1.0
        features = np.full((len(problem.graphs), tables[0].shape[1] + 1), bias)
        features[fold.train, :-1], features[fold.test, :-1] = tables
        return linear_machines(problem.target, features, len(fold.train))

    def predictions(
        self, train: Indices, test: Indices, target: NDArray[Any], values: Sequence[float]
    ) -> list[Predictions]:
        """Fit the transformer and machines to the graphs ``train``, and predict ``test``."""
        machines = self.on(self._fold._replace(train=train, test=test))
        return machines.predictions(train, test, target, values)


def named_after_class(estimator: Any, *, regression: bool = False) -> SklearnEstimator:
    """Return a method that is called by the classes of the estimator and of those within."""
    return SklearnEstimator(_class_names(estimator), estimator, regression=regression)


def _class_names(estimator: Any) -> str:
    """Return "A + B" for a pipeline, "A(B)" for an estimator of estimators."""
    from sklearn.pipeline import Pipeline

    if isinstance(estimator, Pipeline):
        steps = [step for _, step in estimator.steps if hasattr(step, "fit")]
        return " + ".join(map(_class_names, steps))
    within = getattr(estimator, "estimator", None)
    own = type(estimator).__name__
    return own if within is None else f"{own}({_class_names(within)})"


def _require_estimator(name: str, estimator: Any, *, regression: bool) -> None:
    kind = type(estimator).__name__
    for needed in ("fit", "get_params"):
        if not hasattr(estimator, needed):
            raise TypeError(
                f"{name!r} is a {kind} without {needed}, expected a scikit-learn estimator"
            )
    wanted, other = ("regressor", "classifier") if regression else ("classifier", "regressor")
    if not hasattr(estimator, "predict") and not hasattr(estimator, "transform"):
        raise TypeError(
            f"{name!r} is a {kind} without predict and without transform, expected a {wanted} "
            f"or a transformer of graphs"
        )
    for wrong in (other, "clusterer"):
        if _is(wrong, estimator):
            raise TypeError(
                f"{name!r} is a {wrong}, expected a {wanted} or a transformer of graphs: y has "
                f"{'values' if regression else 'classes'}, unless task says otherwise"
            )


def _is(kind: str, estimator: Any) -> bool:
    from sklearn import base

    try:
        return bool(getattr(base, f"is_{kind}")(estimator))
    except AttributeError:  # an estimator that says nothing of its kind
        return False


def _as_given(problem: Problem) -> NDArray[Any]:
    """Return the target as the user wrote it."""
    target = problem.target if problem.regression else problem.classes[problem.target]
    return np.asarray(target)


def _by_class(model: Any, graphs: Any, problem: Problem) -> NDArray[np.float64] | None:
    """Return decision values or probabilities, a column for each class; None if there are none."""
    known = getattr(model, "classes_", None)
    function = next((n for n in ("decision_function", "predict_proba") if hasattr(model, n)), None)
    if known is None or function is None:
        return None
    values = np.asarray(getattr(model, function)(graphs), np.float64)
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    if values.shape != (len(graphs), len(known)):
        raise ValueError(
            f"{function} returned the shape {values.shape}, expected {(len(graphs), len(known))}: "
            f"a column for each class"
        )
    columns = np.full((len(graphs), len(problem.classes)), -np.inf)
    columns[:, np.searchsorted(problem.classes, known)] = values
    return columns


def _finite(predicted: NDArray[Any]) -> NDArray[np.float64]:
    values = np.asarray(predicted, np.float64)
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"predict returned {values[place]} at [{place}], expected finite numbers")
    return values


def _seeded_clone(estimator: Any, problem: Problem, fold: Fold) -> Any:
    """Return a clone with a seed for each of its ``random_state`` parameters."""
    from sklearn.base import clone

    copy = clone(estimator)
    rng = np.random.default_rng([problem.random_state, fold.number])
    seeds = {
        name: int(rng.integers(_MOST_SEED))
        for name in sorted(copy.get_params(deep=True))
        if name.split("__")[-1] == "random_state"
    }
    return copy.set_params(**seeds) if seeds else copy


def _features(table: Any, n_graphs: int) -> NDArray[np.float64]:
    dense = table.toarray() if hasattr(table, "toarray") else table
    features = np.asarray(dense, np.float64)
    if features.ndim != 2 or len(features) != n_graphs:
        raise ValueError(
            f"transform returned the shape {features.shape}, expected ({n_graphs}, n_features)"
        )
    if not np.isfinite(features).all():
        row, column = np.argwhere(~np.isfinite(features))[0]
        raise ValueError(
            f"transform returned {features[row, column]} at [{row}, {column}], expected finite "
            f"numbers"
        )
    return features
