"""The graphs of a page, and what is to be predicted of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphmover._utils.messages import warn
from graphmover.evaluation.target import Target, encoded_target
from graphmover.graphs.dataset import Dataset
from graphmover.io.formats import read_graphs


class Data(NamedTuple):
    """Graphs, or a sample of them, with their target."""

    dataset: Dataset
    n_all: int  # how many graphs there were
    target: Target | None
    no_target: str  # why there is none

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of the target."""
        return (self.no_target,) if self.target is None else self.target.notes


def read_data(
    source: Any, y: Any, task: str, max_graphs: int, seed: int, reading: dict[str, Any]
) -> Data:
    """Read graphs; of more than ``max_graphs``, a random sample.

    A target that cannot be predicted is no error, for a page shows more than that: a warning.
    """
    dataset = read_graphs(source, **reading)
    if y is not None:
        dataset = Dataset(dataset.name, dataset.graphs, np.asarray(y))
    n_all = len(dataset)
    if not dataset.graphs.n_nodes:
        raise ValueError("no graph has any nodes, so there is nothing to show")
    if n_all > max_graphs:
        chosen = np.random.default_rng(seed).choice(n_all, max_graphs, replace=False)
        dataset = dataset[np.sort(chosen)]
    if dataset.target is None:
        return Data(dataset, n_all, None, "The graphs have no target, so nothing is predicted.")
    try:
        target = encoded_target(_named(dataset), len(dataset), 2, task, ids=dataset.ids)
    except ValueError as error:
        reason = f"Nothing is predicted: {error}"
        warn(reason)
        return Data(dataset, n_all, None, f"{reason}.")
    return Data(dataset, n_all, target, "")


def _named(dataset: Dataset) -> Any:
    """Return the target with the names of classes, where it has them."""
    names, target = dataset.target_names, dataset.target
    if names is None or target is None or target.dtype.kind not in "iu":
        return target
    return np.array([names[code] for code in target.tolist()], dtype=object)
