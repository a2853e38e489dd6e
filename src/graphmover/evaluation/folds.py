"""The test folds, the same for all methods, and the inner folds of a training set."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.evaluation.metrics import predicts_values

Indices = NDArray[np.int64]

INNER_FOLDS = 5


class Fold(NamedTuple):
    """The graphs of one training set and of one test fold."""

    number: int  # over all repetitions; it also seeds what is drawn within the fold
    train: Indices
    test: Indices
    repeat: int = 0
    place: int = 0  # in its repetition

    def training_sample(self, most: int) -> Indices:
        """Return all training graphs, or a random sample of ``most`` of them."""
        if len(self.train) <= most:
            return self.train
        return np.random.default_rng(self.number).choice(self.train, most, replace=False)

    def inner_folds(self, target: NDArray[Any]) -> list[tuple[Indices, Indices]]:
        """Split the training set into pairs of training and validation graphs.

        Of a class with fewer graphs than inner folds, some training sets have one less, and those
        of a class with a single graph may have none.
        """
        own = target[self.train]
        largest = len(own) if predicts_values(target) else int(np.bincount(own).max())
        n_folds = max(2, min(INNER_FOLDS, largest))
        rng = np.random.RandomState(self.number)
        places = _fold_of_each(own, n_folds, rng)
        return [(self.train[places != one], self.train[places == one]) for one in range(n_folds)]

    def __str__(self) -> str:
        return f"fold {self.place} of repetition {self.repeat}"


def repeated_folds(target: NDArray[Any], n_folds: int, n_repeats: int, seed: int) -> list[Fold]:
    """Return the folds of repeated cross-validation: stratified if the target has classes."""
    rng = np.random.RandomState(seed)
    folds: list[Fold] = []
    for repeat in range(n_repeats):
        places = _fold_of_each(target, n_folds, rng)
        for place in range(n_folds):
            train, test = np.flatnonzero(places != place), np.flatnonzero(places == place)
            folds.append(Fold(len(folds), train, test, repeat, place))
    return folds


def _fold_of_each(target: NDArray[Any], n_folds: int, rng: Any) -> Indices:
    """Return in which fold each graph is tested.

    The folds are those of scikit-learn's shuffled KFold, for values, and StratifiedKFold, for
    classes. The latter would warn of classes with fewer graphs than folds, and refuse some; these
    have at most one graph in each fold.
    """
    places = np.empty(len(target), np.int64)
    if predicts_values(target):
        order = np.arange(len(target))
        rng.shuffle(order)
        places[order] = np.repeat(
            np.arange(n_folds), [len(part) for part in np.array_split(order, n_folds)]
        )
        return places
    _, first, codes = np.unique(target, return_index=True, return_inverse=True)
    codes = np.argsort(np.argsort(first))[codes]  # classes in the order of their first graph
    in_order = np.sort(codes)
    for one in range(len(first)):
        shares = [np.count_nonzero(in_order[fold::n_folds] == one) for fold in range(n_folds)]
        own = np.repeat(np.arange(n_folds), shares)
        rng.shuffle(own)
        places[codes == one] = own
    return places
