"""The hyperparameter grid of random graph embeddings, and the features of its candidates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphmover.evaluation.arrays import Arrays
from graphmover.evaluation.columns import FoldDistances, Hyperparameters
from graphmover.evaluation.folds import Fold, Indices
from graphmover.evaluation.protocol import Row
from graphmover.features import features_in_place, gamma_scale

#: The scale of gamma is the median distance to at most this many random graphs.
COLUMNS_FOR_SCALE = 128


class SearchSpace(NamedTuple):
    """Everything that cross-validation chooses from: all pairs of ``stacks`` and ``gammas``."""

    stacks: list[tuple[Hyperparameters, ...]]  # one block of features for each in a tuple
    gammas: list[float]
    relative_gamma: bool  # whether gamma is a multiple of 1 / (median training distance)

    @property
    def whole_graphs(self) -> bool:
        """Whether some candidates have whole training graphs as random graphs."""
        return any(one.max_random_nodes is None for one in self.hyperparameters())

    @property
    def n_candidates(self) -> int:
        """The size of the grid."""
        return len(self.stacks) * len(self.gammas)

    def hyperparameters(self) -> list[Hyperparameters]:
        """Return all that distances are needed for, each once."""
        return list(dict.fromkeys(one for stack in self.stacks for one in stack))

    def candidates(
        self, distances: FoldDistances, n_components: int, fold: Fold
    ) -> list[Candidate]:
        """Return all candidates, with the scales of gamma in a fold."""
        found = []
        for stack in self.stacks:
            scales = [1.0] * len(stack)
            if self.relative_gamma:
                few = min(n_components, COLUMNS_FOR_SCALE)
                scales = [
                    gamma_scale(distances.of_fold(fold.number, one, few, fold.train))
                    for one in stack
                ]
            found += [Candidate(stack, gamma, tuple(scales)) for gamma in self.gammas]
        return found


class Candidate(NamedTuple):
    """One element of a hyperparameter grid, as a fold sees it."""

    stack: tuple[Hyperparameters, ...]  # one block of features each
    gamma: float
    scales: tuple[float, ...]  # what gamma is a multiple of, in each block

    @classmethod
    def from_json(cls, stack: Any, gamma: float, scales: Any) -> Candidate:
        """Return the candidate that a checkpoint holds."""
        return cls(tuple(Hyperparameters(*one) for one in stack), gamma, tuple(scales))

    def blocks(self, distances: list[Any]) -> list[Any]:
        """Return the features for the distances of each block."""
        scaled = zip(distances, self.scales, strict=True)
        return [features_in_place(block.copy(), self.gamma * scale) for block, scale in scaled]

    def features(
        self,
        distances: FoldDistances,
        n_components: int,
        arrays: Arrays,
        fold: Fold,
        rows: Indices | None = None,
    ) -> Any:
        """Return the features of some graphs, or of all, the blocks side by side."""
        tables = [distances.of_fold(fold.number, one, n_components, rows) for one in self.stack]
        return arrays.module.concatenate(self.blocks(tables), axis=1)

    def sources(
        self, distances: FoldDistances, n_components: int, fold: Fold, rows: Indices | None = None
    ) -> Indices:
        """Return for each column of features the graph that its random graph is drawn from.

        Given rows, it is the place of the graph among them, or -1.
        """
        found = [distances.sources(fold.number, one, n_components) for one in self.stack]
        graphs = np.concatenate(found)
        if rows is None:
            return graphs
        places = np.full(1 + max(graphs.max(), rows.max()), -1)
        places[rows] = np.arange(len(rows))
        return places[graphs]

    @property
    def order(self) -> tuple[tuple[float, ...], ...]:
        """What candidates are sorted by: those that share distances follow each other."""
        return tuple((most or np.inf, *others) for most, *others in self.stack)

    def row(self) -> Row:
        """Return its columns in the table of results."""
        return {**self.stack[-1]._asdict(), "gamma": self.gamma}
