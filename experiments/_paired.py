"""Differences of rivals to GraphVectorizer, paired over the folds that checkpoints of both hold."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from graphmover.evaluation.paired import paired_difference
from graphmover.rivals.catalogue import REFERENCE

N_FOLDS = 10

Place = tuple[int, int]  # repetition and fold


class Beside(NamedTuple):
    """A rival beside GraphVectorizer, over the folds that both have."""

    difference: float
    standard_error: float
    reference: float  # the accuracy of GraphVectorizer on these folds


def beside_reference(results: Path, name: str, method: str, n_repeats: int) -> Beside | None:
    """Return how much more accurate a rival is; None unless they share whole repetitions."""
    rows = accuracies_of_folds(results / f"rivals-{name}.checkpoint", method)
    rows = {place: accuracy for place, accuracy in rows.items() if place[0] < n_repeats}
    reference = accuracies_of_folds(results / f"vectorizer-{name}.checkpoint", REFERENCE)
    shared = sorted(rows.keys() & reference.keys())
    if not shared or len(shared) % N_FOLDS:
        return None
    found = paired_difference(_as_rows(rows, shared), _as_rows(reference, shared))
    assert found is not None and found.standard_error is not None
    mean = sum(reference[place] for place in shared) / len(shared)
    return Beside(found.mean, found.standard_error, mean)


def _as_rows(accuracies: dict[Place, float], places: list[Place]) -> list[dict[str, float]]:
    return [{"repeat": r, "fold": f, "accuracy": accuracies[r, f]} for r, f in places]


def accuracies_of_folds(path: Path, method: str) -> dict[Place, float]:
    """Return the accuracies of a method; if it was run with several settings, with the last."""
    if not path.exists():
        return {}
    is_fold = re.compile(rf"{re.escape(method)}(( [0-9a-f]+)*) #(?P<fold>\d+) (.*)")
    settings: tuple[str, ...] = ()
    found: dict[Place, float] = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        record = json.loads(line)
        match = is_fold.fullmatch(record["key"])
        if match is None:
            continue
        if settings != (match[1], match[4]):
            settings, found = (match[1], match[4]), {}
        found[divmod(int(match["fold"]), N_FOLDS)] = record["result"][0]["accuracy"]
    return found
