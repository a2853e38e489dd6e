"""The test folds, the same for all methods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


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

    def __str__(self) -> str:
        return f"fold {self.place} of repetition {self.repeat}"


def stratified_folds(target: Indices, n_folds: int, n_repeats: int, seed: int) -> list[Fold]:
    """Return the folds of repeated, stratified cross-validation."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    splits = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    return [
        Fold(number, train, test, *divmod(number, n_folds))
        for number, (train, test) in enumerate(splits.split(target, target))
    ]
