"""One test fold of each kind of method: choose on the training part, then score once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.embedding import features_in_place, gamma_scale
from graphmover.evaluation._columns import Point, RandomColumns
from graphmover.evaluation._methods import Method
from graphmover.evaluation._selection import (
    Choice,
    Machines,
    choose_c,
    leave_one_out_ridge,
)
from graphmover.evaluation._svm import Arrays, LinearSVMs, arrays_on
from graphmover.graphs import GraphBatch
from graphmover.labels import label_codes

Floats = NDArray[np.float64]
Rows = list[dict[str, Any]]


class Look(NamedTuple):
    """How much of the training part settings are compared on: the cost is cubic in it."""

    columns: int  # of all depths together
    graphs: int


#: All settings are looked at once, the best of them again.
FIRST_LOOK, SECOND_LOOK = Look(128, 1000), Look(512, 2000)

#: Of the settings this share is looked at again, and no fewer than these.
_SHARE_KEPT, _LEAST_KEPT = 1 / 8, 8


class Fold(NamedTuple):
    """The graphs of one training and one test part."""

    number: int  # over all repetitions
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int


class Setting(NamedTuple):
    """One point of a method's grid, as a fold sees it."""

    points: tuple[Point, ...]  # a block of features each
    gamma: float
    units: tuple[float, ...]  # what gamma is a multiple of, in each block

    def features(self, distances: list[Any]) -> list[Any]:
        """Return the features made of the distances of each block."""
        blocks = zip(distances, self.units, strict=True)
        return [features_in_place(block.copy(), self.gamma * unit) for block, unit in blocks]

    def row(self) -> dict[str, Any]:
        """Return what a table says of it."""
        return {**self.points[-1]._asdict(), "gamma": self.gamma}


def columns_looked_at(method: Method, n_components: int, selection: str) -> int:
    """How many random graphs of each point the choice among settings needs."""
    if selection == "svm":
        return n_components
    widths = [_per_point(SECOND_LOOK, block, n_components) for block in method.blocks()]
    return max(*widths, min(n_components, FIRST_LOOK.columns))


def _per_point(look: Look, points: tuple[Point, ...], n_components: int) -> int:
    return min(n_components, max(1, look.columns // len(points)))


def settings_of(
    method: Method, columns: RandomColumns, n_components: int, fold: Fold
) -> list[Setting]:
    """List the grid of a method."""
    found = []
    for points in method.blocks():
        units = [1.0] * len(points)
        if method.relative_gamma:
            few = min(n_components, FIRST_LOOK.columns)
            units = [
                gamma_scale(columns.of_fold(fold.number, point, few, fold.train))
                for point in points
            ]
        found += [Setting(points, gamma, tuple(units)) for gamma in method.gammas]
    return found


def choose_setting(
    method: Method,
    columns: RandomColumns,
    n_components: int,
    selection: str,
    target: NDArray[np.int64],
    fold: Fold,
) -> tuple[Setting, Choice]:
    """Return the setting that does best on the training part, and how well it does."""
    settings = settings_of(method, columns, n_components, fold)

    def best_first(some: list[Setting], choices: list[Choice]) -> list[tuple[Setting, Choice]]:
        pairs = zip(some, choices, strict=True)
        return sorted(pairs, key=lambda pair: pair[1][:2], reverse=True)

    if selection == "svm":
        choices = []
        for setting in settings:
            tables = [columns.of_fold(fold.number, p, n_components) for p in setting.points]
            features = np.concatenate(setting.features(tables), axis=1)
            machines = LinearSVMs(features, len(fold.train), arrays_on("cpu"))
            choices.append(choose_c(machines, fold.train, target, fold.seed))
        return best_first(settings, choices)[0]

    def looked_at(some: list[Setting], look: Look) -> list[tuple[Setting, Choice]]:
        rows = fold.train
        if len(rows) > look.graphs:
            rows = np.random.default_rng(fold.seed).choice(rows, look.graphs, replace=False)
        choices, tables, points = [], [], None
        for setting in some:
            if setting.points != points:  # settings that differ in gamma follow each other
                points = setting.points
                n_columns = _per_point(look, points, n_components)
                tables = [columns.of_fold(fold.number, p, n_columns, rows) for p in points]
            features = np.concatenate(setting.features(tables), axis=1)
            choices.append(leave_one_out_ridge(features, target[rows]))
        return best_first(some, choices)

    ranked = looked_at(settings, FIRST_LOOK)
    seen_all = len(fold.train) <= FIRST_LOOK.graphs and all(
        _per_point(FIRST_LOOK, points, n_components) == n_components for points in method.blocks()
    )
    if seen_all or len(settings) == 1:
        return ranked[0]
    n_kept = max(_LEAST_KEPT, round(_SHARE_KEPT * len(settings)))
    return looked_at([setting for setting, _ in ranked[:n_kept]], SECOND_LOOK)[0]


def embedding_score(
    setting: Setting,
    columns: RandomColumns,
    n_components: int,
    target: NDArray[np.int64],
    arrays: Arrays,
    fold: Fold,
) -> dict[str, Any]:
    """Return the row of one setting: the SVM's C, and accuracies on both parts."""
    with arrays.queue():
        tables = [columns.of_fold(fold.number, p, n_components) for p in setting.points]
        features = arrays.module.concatenate(setting.features(tables), axis=1)
        return svm_score(LinearSVMs(features, len(fold.train), arrays), target, fold)


def svm_score(
    machines: Machines, target: NDArray[np.int64], fold: Fold, choice: Choice | None = None
) -> dict[str, Any]:
    """Return the row of a machine: its C, unless chosen by inner folds, and its accuracies."""
    if choice is None:
        choice = choose_c(machines, fold.train, target, fold.seed)
    [predicted] = machines.predictions(fold.train, fold.test, target, [choice.value])
    return {
        "C": choice.value,
        "inner_accuracy": choice.accuracy,
        "accuracy": float((predicted == target[fold.test]).mean()),
    }


def majority_fold(target: NDArray[np.int64], fold: Fold) -> Rows:
    """Score the most frequent class of the training part."""
    most = np.bincount(target[fold.train]).argmax()
    return [{"accuracy": float((target[fold.test] == most).mean())}]


def bag_fold(counts: Floats, target: NDArray[np.int64], fold: Fold) -> Rows:
    """Score a linear SVM on the nodes of each kind, in units of the mean training graph."""
    shares = counts / max(counts[fold.train].sum(axis=1).mean(), 1.0)
    x = np.column_stack([shares, np.ones(len(shares))])  # counts, unlike RGE, need a bias
    return [svm_score(LinearSVMs(x, len(fold.train), arrays_on("cpu")), target, fold)]


def bags_of_nodes(graphs: GraphBatch) -> Floats:
    """Count the nodes of each label, or of each degree where there are no labels.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.evaluation import bags_of_nodes
    >>> bags_of_nodes(gm.as_graph_batch(gm.Graph(3, [(0, 1), (1, 2)])))  # degrees 1 and 2
    array([[2., 1.]])
    """
    labels = graphs.node_labels
    kinds = np.diff(graphs.indptr) if labels is None else label_codes(labels)
    names, kind_of_node = np.unique(kinds, return_inverse=True)
    counts = np.zeros((len(graphs), len(names)))
    graph_of_node = np.repeat(np.arange(len(graphs)), graphs.node_counts)
    np.add.at(counts, (graph_of_node, kind_of_node), 1)
    return counts
