"""Successive halving: which candidates of a grid are worth all random graphs.

As in Jamieson and Talwalkar (2016), all candidates are compared with few resources, and the best
with more. The resources are random graphs and training graphs; the cost is cubic in them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.evaluation.arrays import HOST
from graphmover.evaluation.candidates import COLUMNS_FOR_SCALE, Candidate, SearchSpace
from graphmover.evaluation.columns import FoldDistances
from graphmover.evaluation.folds import Fold
from graphmover.evaluation.ridge import ridge_choice
from graphmover.evaluation.selection import Choice


class Rung(NamedTuple):
    """What candidates are compared with, and how many are kept."""

    n_columns: int  # random graphs, of all blocks of a candidate together
    n_graphs: int
    n_kept: int  # candidates, and of each number of blocks equally many
    kept_share: float = 0.0  # or this share of them, if that is more


#: The first rung compares all candidates; those that the last one keeps are the finalists.
RUNGS = Rung(128, 1000, 8, 1 / 8), Rung(512, 2000, 8)


def columns_needed(space: SearchSpace, n_components: int) -> int:
    """Return how many random graphs per block the rungs need."""
    few = min(n_components, COLUMNS_FOR_SCALE)
    if space.n_candidates <= RUNGS[-1].n_kept:
        return few  # all are finalists
    return max(few, *(_per_block(r, len(s), n_components) for r in RUNGS for s in space.stacks))


def _per_block(rung: Rung, n_blocks: int, n_components: int) -> int:
    return min(n_components, max(1, rung.n_columns // n_blocks))


def finalists(
    candidates: list[Candidate],
    distances: FoldDistances,
    n_components: int,
    target: NDArray[Any],
    fold: Fold,
) -> list[Candidate]:
    """Return the candidates that no rung eliminates."""
    blocks = [one for candidate in candidates for one in candidate.stack]
    whole_graphs = any(one.max_random_nodes is None for one in blocks)
    for rung in RUNGS:
        n_kept = max(rung.n_kept, round(rung.kept_share * len(candidates)))
        if len(candidates) > n_kept:
            choices = _compared(
                candidates, rung, distances, n_components, target, fold, whole_graphs=whole_graphs
            )
            candidates = _best(candidates, choices, n_kept)
    return candidates


def _compared(
    candidates: list[Candidate],
    rung: Rung,
    distances: FoldDistances,
    n_components: int,
    target: NDArray[Any],
    fold: Fold,
    *,
    whole_graphs: bool,
) -> list[Choice]:
    rows = fold.training_sample(rung.n_graphs)
    choices, tables, stack, sources = [], [], None, None
    for candidate in candidates:
        if candidate.stack != stack:  # candidates that differ in gamma alone follow each other
            stack = candidate.stack
            n_columns = _per_block(rung, len(stack), n_components)
            tables = [distances.of_fold(fold.number, one, n_columns, rows) for one in stack]
            if whole_graphs:
                sources = candidate.sources(distances, n_columns, fold, rows)
        features = np.concatenate(candidate.blocks(tables), axis=1)
        choices.append(ridge_choice(features, target[rows], fold.number, HOST, sources))
    return choices


def _best(candidates: list[Candidate], choices: list[Choice], n_kept: int) -> list[Candidate]:
    """Return the best in their present order, equally many for each number of blocks.

    Blocks share the random graphs of a rung, which puts candidates of many blocks at a
    disadvantage that they do not have with all random graphs.
    """
    kept: set[int] = set()
    n_blocks = [len(candidate.stack) for candidate in candidates]
    ranking = sorted(range(len(candidates)), key=lambda i: choices[i][:2], reverse=True)
    for number in set(n_blocks):
        alike = [i for i in ranking if n_blocks[i] == number]
        kept.update(alike[: -(-n_kept // len(set(n_blocks)))])
    return [candidates[i] for i in sorted(kept)]
