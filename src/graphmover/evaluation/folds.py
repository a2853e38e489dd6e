"""The test folds, the same for all methods, and the inner folds of a training set."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover._utils.checks import is_missing
from graphmover._utils.messages import counted
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
    groups: Indices | None = None  # of all graphs: no group is on both sides of any split

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
        groups = None if self.groups is None else self.groups[self.train]
        if groups is None or (groups == groups[0]).all():  # what is left of one group is split
            largest = len(own) if predicts_values(target) else int(np.bincount(own).max())
            groups = None
        else:
            largest = len(np.unique(groups))
        n_folds = max(2, min(INNER_FOLDS, largest))
        rng = np.random.RandomState(self.number)
        places = _fold_of_each(own, n_folds, rng, groups)
        return [(self.train[places != one], self.train[places == one]) for one in range(n_folds)]

    def __str__(self) -> str:
        return f"fold {self.place} of repetition {self.repeat}"


def repeated_folds(
    target: NDArray[Any], n_folds: int, n_repeats: int, seed: int, groups: Indices | None = None
) -> list[Fold]:
    """Return the folds of repeated cross-validation: stratified if the target has classes."""
    rng = np.random.RandomState(seed)
    folds: list[Fold] = []
    for repeat in range(n_repeats):
        places = _fold_of_each(target, n_folds, rng, groups)
        for place in range(n_folds):
            train, test = np.flatnonzero(places != place), np.flatnonzero(places == place)
            folds.append(Fold(len(folds), train, test, repeat, place, groups))
    return folds


def group_codes(groups: ArrayLike, n_graphs: int, n_folds: int) -> Indices:
    """Return groups as integers; raise ValueError if there are too few, or one is missing."""
    values = np.asarray(groups) if hasattr(groups, "dtype") else np.asarray(groups, dtype=object)
    if values.shape != (n_graphs,):
        raise ValueError(
            f"groups has the shape {values.shape}, expected ({n_graphs},): one per graph"
        )
    listed = values.tolist()
    missing = next((at for at, value in enumerate(listed) if is_missing(value)), None)
    if missing is not None:
        raise ValueError(f"groups[{missing}] is {listed[missing]}, expected the group of a graph")
    numbers: dict[Any, int] = {}
    codes = np.array([numbers.setdefault(value, len(numbers)) for value in listed], np.int64)
    if len(numbers) < n_folds:
        raise ValueError(
            f"there are {counted(len(numbers), 'group')} for {n_folds} folds: take fewer folds"
        )
    return codes


def _fold_of_each(
    target: NDArray[Any], n_folds: int, rng: Any, groups: Indices | None = None
) -> Indices:
    """Return in which fold each graph is tested; graphs of one group in the same.

    The folds are those of scikit-learn's shuffled KFold, for values, and StratifiedKFold, for
    classes. The latter would warn of classes with fewer graphs than folds, and refuse some; these
    have at most one graph in each fold.
    """
    places = np.empty(len(target), np.int64)
    if groups is not None:
        from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

        kind = GroupKFold if predicts_values(target) else StratifiedGroupKFold
        splits = kind(n_folds, shuffle=True, random_state=rng)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class")  # there is a note of it
            for place, (_, test) in enumerate(splits.split(target, target, groups)):
                places[test] = place
        if len(np.unique(places)) < n_folds:
            raise ValueError("the groups differ so much that a fold is empty: take fewer folds")
        return places
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
