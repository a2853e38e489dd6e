"""Warnings about graphs that can be embedded, but of which little can be expected."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.batch import GraphBatch

Floats = NDArray[np.float64]

#: Warnings point to the line that called the library.
_PACKAGE = (os.path.join(Path(__file__).parent, ""),)


def warn_about_empty_graphs(batch: GraphBatch) -> None:
    """Warn once if graphs have no nodes."""
    empty = np.flatnonzero(batch.node_counts == 0)
    if len(empty):
        _warn(
            f"{len(empty)} of {len(batch)} graphs have no nodes (the first is graph {empty[0]}): "
            f"they are infinitely far from everything and embedded as zeros"
        )


class UnknownLabels:
    """Counts graphs none of whose labels the model knows, over any number of batches.

    They are equally far from all random graphs, which their rows show.
    """

    def __init__(self, *, uses_node_labels: bool, wl_iterations: int) -> None:
        self._uses_node_labels, self._wl_iterations = uses_node_labels, wl_iterations
        self._n_graphs = self._n_unknown = 0

    def add(self, rows: Floats) -> None:
        """Look at rows of distances or features."""
        self._n_graphs += len(rows)
        if not self._uses_node_labels or rows.shape[1] < 2:
            return
        some = np.flatnonzero(rows[:, 0] == rows[:, 1])  # so that few rows are read in full
        some = some[np.isfinite(rows[some, 0]) & (rows[some, 0] > 0)]
        self._n_unknown += int((rows[some] == rows[some, :1]).all(axis=1).sum())

    def warn(self) -> None:
        """Warn once if there were such graphs."""
        n_unknown, n_graphs = self._n_unknown, self._n_graphs
        # Refined labels are so many that this happens to some graphs, but not to all of many.
        if not n_unknown or (self._wl_iterations and not 10 <= n_graphs == n_unknown):
            return
        _warn(
            f"{n_unknown} of {n_graphs} graphs have no node label in common with any random graph: "
            f"their vectors carry no information. Are the labels of the kind that the model was "
            f"fitted with, numbers or strings?"
        )


def warn_about_zero_rows(n_empty: int) -> None:
    """Warn once, at the end of a long run, if graphs had no nodes."""
    if n_empty:
        _warn(f"{n_empty} graphs have no nodes and are embedded as zeros")


def warn_of_notes(notes: Iterable[str]) -> None:
    """Warn of what a result says about itself, such as classes that are too rare."""
    for note in notes:
        _warn(note)


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=_depth())


def _depth() -> int:
    """Return the stack level of the first caller outside the package."""
    import sys

    frame, level = sys._getframe(2), 2
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]
    return level
