"""One test fold of each kind of method: choose on the training part, then score once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.embedding import features_in_place, gamma_scale
from graphmover.evaluation._columns import RandomColumns
from graphmover.evaluation._methods import Method
from graphmover.evaluation._selection import (
    SVM_C,
    Choice,
    LinearSVM,
    choose_c,
    leave_one_out_ridge,
)
from graphmover.graphs import GraphBatch
from graphmover.labels import label_codes

Floats = NDArray[np.float64]
Rows = list[dict[str, Any]]
SVMS = [LinearSVM(C) for C in SVM_C]

#: Settings are compared on at most this many training graphs: the cost is cubic in them.
_MOST_COMPARED = 1000


class Fold(NamedTuple):
    """The graphs of one training and one test part."""

    number: int  # over all repetitions
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int


def embedding_fold(
    method: Method,
    columns: RandomColumns,
    n_components: Sequence[int],
    selection: str,
    target: NDArray[np.int64],
    fold: Fold,
) -> Rows:
    """Score the setting that did best on the training part, for each number of columns."""
    rows = []
    compared = fold.train
    if len(compared) > _MOST_COMPARED:
        compared = np.random.default_rng(fold.seed).choice(compared, _MOST_COMPARED, replace=False)
    for R in n_components:
        best, chosen = Choice(-1.0, 0.0, None), None
        for setting, features in _all_features(method, columns, R, fold):
            if selection == "ridge":
                choice = leave_one_out_ridge(features[compared], target[compared])
            else:
                choice = choose_c(SVMS, features[fold.train], target[fold.train], fold.seed)
            if chosen is None or choice[:2] > best[:2]:
                best, chosen = choice, (setting, features)
        assert chosen is not None
        setting, features = chosen
        row = {"n_components": R, **setting, "selection_accuracy": best.accuracy}
        if selection == "ridge":
            row["ridge_strength"] = best.value
            best = choose_c(SVMS, features[fold.train], target[fold.train], fold.seed)
        rows.append({**row, **svm_score(best, features, target, fold)})
    return rows


def _all_features(
    method: Method, columns: RandomColumns, n_columns: int, fold: Fold
) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield every setting of the grid and its features of all graphs."""
    for points in method.blocks():
        distances = [columns.of_fold(fold.number, point, n_columns) for point in points]
        relative = method.relative_gamma
        units = [gamma_scale(block[fold.train]) if relative else 1.0 for block in distances]
        for gamma in method.gammas:
            features = [
                features_in_place(block.copy(), gamma * unit)
                for block, unit in zip(distances, units, strict=True)
            ]
            setting = {**points[-1]._asdict(), "gamma": gamma}
            yield setting, np.concatenate(features, axis=1)


def svm_score(choice: Choice, x: Floats, target: NDArray[np.int64], fold: Fold) -> dict[str, Any]:
    """Return the row of a machine that was chosen: its C, and its accuracy on both parts."""
    machine = choice.value
    predicted = machine.fit_predict(x, fold.train, fold.test, target)
    return {
        "C": machine.C,
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
    choice = choose_c(SVMS, x[fold.train], target[fold.train], fold.seed)
    return [svm_score(choice, x, target, fold)]


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
