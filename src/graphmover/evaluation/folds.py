"""One test fold of each kind of method: choose on the training part, then score once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.evaluation.arrays import HOST, Arrays
from graphmover.evaluation.columns import Point, RandomColumns
from graphmover.evaluation.methods import Method
from graphmover.evaluation.selection import (
    Choice,
    Machines,
    choose_c,
    leave_one_out_ridge,
)
from graphmover.evaluation.svm import LinearSVMs
from graphmover.features import features_in_place, gamma_scale
from graphmover.graphs.interop import as_graph_batch
from graphmover.nodes.labels import label_codes

Floats = NDArray[np.float64]
Rows = list[dict[str, Any]]


class Look(NamedTuple):
    """How much of the training part settings are compared on: the cost is cubic in it."""

    columns: int  # of all depths together
    graphs: int
    most: int  # of the settings go on, and of each number of depths equally many
    share: float = 0.0  # or more of them: this share


#: All settings are looked at, then the best of them; those of the second look are finalists.
LOOKS = Look(128, 1000, 8, 1 / 8), Look(512, 2000, 8)

#: Finalists are compared with all random graphs on so many graphs.
FINAL_GRAPHS = 2000

#: The first random graphs tell the unit of gamma.
_COLUMNS_OF_UNIT = 128


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

    @classmethod
    def of_json(cls, points: Any, gamma: float, units: Any) -> Setting:
        """Return the setting that was written as JSON."""
        return cls(tuple(Point(*point) for point in points), gamma, tuple(units))


def columns_looked_at(method: Method, n_components: int, selection: str) -> int:
    """How many random graphs of each point finding the finalists needs."""
    few = min(n_components, _COLUMNS_OF_UNIT)
    blocks = method.blocks()
    if selection == "svm" or len(blocks) * len(method.gammas) <= LOOKS[-1].most:
        return few  # all are finalists
    return max(few, *(_per_point(look, block, n_components) for look in LOOKS for block in blocks))


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
            few = min(n_components, _COLUMNS_OF_UNIT)
            units = [
                gamma_scale(columns.of_fold(fold.number, point, few, fold.train))
                for point in points
            ]
        found += [Setting(points, gamma, tuple(units)) for gamma in method.gammas]
    return found


def finalists(
    method: Method,
    columns: RandomColumns,
    n_components: int,
    selection: str,
    target: NDArray[np.int64],
    fold: Fold,
) -> list[Setting]:
    """Return the settings worth comparing with all random graphs; a full search has them all."""
    settings = settings_of(method, columns, n_components, fold)
    if selection == "svm":
        return settings
    for look in LOOKS:
        n_kept = max(look.most, round(look.share * len(settings)))
        if len(settings) > n_kept:
            choices = _looked_at(settings, look, columns, n_components, target, fold)
            settings = _best(settings, choices, n_kept)
    return settings


def _looked_at(
    settings: list[Setting],
    look: Look,
    columns: RandomColumns,
    n_components: int,
    target: NDArray[np.int64],
    fold: Fold,
) -> list[Choice]:
    rows = _some_of(fold, look.graphs)
    choices, tables, points = [], [], None
    for setting in settings:
        if setting.points != points:  # settings that differ in gamma follow each other
            points = setting.points
            n_columns = _per_point(look, points, n_components)
            tables = [columns.of_fold(fold.number, p, n_columns, rows) for p in points]
        features = np.concatenate(setting.features(tables), axis=1)
        choices.append(leave_one_out_ridge(features, target[rows]))
    return choices


def _some_of(fold: Fold, most: int) -> NDArray[np.int64]:
    """Return the graphs of a training part, or so many of them at random."""
    if len(fold.train) <= most:
        return fold.train
    return np.random.default_rng(fold.seed).choice(fold.train, most, replace=False)


def _best(settings: list[Setting], choices: list[Choice], n_kept: int) -> list[Setting]:
    """Return the best in the order of all, and of each number of depths equally many.

    Depths share the columns of a look, so those of many depths look worse than they are.
    """
    kept: set[int] = set()
    depths = [len(setting.points) for setting in settings]
    numbers = sorted(range(len(settings)), key=lambda i: choices[i][:2], reverse=True)
    for depth in set(depths):
        alike = [i for i in numbers if depths[i] == depth]
        kept.update(alike[: -(-n_kept // len(set(depths)))])
    return [settings[i] for i in sorted(kept)]


def final_look(
    setting: Setting,
    columns: RandomColumns,
    n_components: int,
    selection: str,
    target: NDArray[np.int64],
    arrays: Arrays,
    fold: Fold,
) -> Choice:
    """Return how well a finalist does on the training part, with all random graphs."""
    with arrays.queue():
        if selection == "svm":
            machines = _machines(setting, columns, n_components, arrays, fold)
            return choose_c(machines, fold.train, target, fold.seed)
        rows = _some_of(fold, FINAL_GRAPHS)
        features = _features(setting, columns, n_components, arrays, fold, rows)
        return leave_one_out_ridge(features, target[rows], arrays)


def embedding_score(
    setting: Setting,
    columns: RandomColumns,
    n_components: int,
    target: NDArray[np.int64],
    arrays: Arrays,
    fold: Fold,
    choice: Choice | None,
) -> dict[str, Any]:
    """Return the row of one setting: the SVM's C, unless chosen before, and its accuracies."""
    with arrays.queue():
        machines = _machines(setting, columns, n_components, arrays, fold)
        return svm_score(machines, target, fold, choice)


def _machines(
    setting: Setting, columns: RandomColumns, n_components: int, arrays: Arrays, fold: Fold
) -> LinearSVMs:
    features = _features(setting, columns, n_components, arrays, fold)
    return LinearSVMs(features, len(fold.train), arrays)


def _features(
    setting: Setting,
    columns: RandomColumns,
    n_components: int,
    arrays: Arrays,
    fold: Fold,
    rows: NDArray[np.int64] | None = None,
) -> Any:
    """Return the features of some graphs, or of all, the blocks of a setting side by side."""
    tables = [columns.of_fold(fold.number, p, n_components, rows) for p in setting.points]
    return arrays.module.concatenate(setting.features(tables), axis=1)


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
    return [svm_score(LinearSVMs(x, len(fold.train), HOST), target, fold)]


def bags_of_nodes(graphs: Any) -> Floats:
    """Count the nodes of each label, or of each degree where there are no labels.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.evaluation import bags_of_nodes
    >>> bags_of_nodes([gm.Graph(3, [(0, 1), (1, 2)])])  # degrees 1 and 2
    array([[2., 1.]])
    """
    graphs = as_graph_batch(graphs)
    labels = graphs.node_labels
    kinds = np.diff(graphs.indptr) if labels is None else label_codes(labels)
    names, kind_of_node = np.unique(kinds, return_inverse=True)
    counts = np.zeros((len(graphs), len(names)))
    graph_of_node = np.repeat(np.arange(len(graphs)), graphs.node_counts)
    np.add.at(counts, (graph_of_node, kind_of_node), 1)
    return counts
