"""Classes as integers, with errors that name what cannot be one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover.io.chunks import text_array


def encoded_classes(
    y: ArrayLike, n_graphs: int, n_folds: int
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes, and for each graph the index of its class.

    Raises
    ------
    ValueError
        If a value is not a class, or a class has too few graphs for the folds.
    """
    # As objects first: beside strings, NumPy would turn NaN and None into strings.
    values = np.asarray(y) if hasattr(y, "dtype") else np.asarray(y, dtype=object)
    if values.shape != (n_graphs,):
        kind = f"is a {type(y).__name__} of" if values.ndim == 0 else "has"
        raise ValueError(
            f"y {kind} the shape {values.shape}, expected ({n_graphs},): one per graph"
        )
    if values.dtype.kind not in "biufUSO":
        raise ValueError(f"y has the type {values.dtype}, expected a class for each graph")
    listed = values.tolist()
    for place, value in enumerate(listed):
        if not _is_class(value):
            raise ValueError(
                f"y[{place}] is {value}, expected a class for each graph, a string or an integer"
            )
    kinds = {_kind(value) for value in listed}
    if len(kinds) > 1:
        found = " and ".join(sorted(kinds, reverse=True))
        raise ValueError(f"y has {found}, expected classes of one kind")
    if kinds == {"numbers"}:
        classes, target = np.unique(np.array(listed), return_inverse=True)
    else:
        # As objects: in an array of fixed width, one long text would set the size of all.
        classes = text_array(sorted(set(listed)))
        places = {value: place for place, value in enumerate(classes)}
        target = np.array([places[value] for value in listed], np.int64)
    if len(classes) < 2:
        raise ValueError(f"y has {len(classes)} classes, expected 2 or more")
    counts = np.bincount(target)
    _require_enough_graphs(str(classes[np.argmin(counts)])[:80], int(counts.min()), n_folds)
    return classes, target.astype(np.int64)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "strings"
    return "bytes" if isinstance(value, bytes) else "numbers"


def _is_class(value: Any) -> bool:
    if isinstance(value, str | bytes):
        return True
    try:
        return bool(np.isfinite(value) and value == round(value))
    except (TypeError, ValueError):  # None, pandas' NA, a list
        return False


def _require_enough_graphs(rarest: str, fewest: int, n_folds: int) -> None:
    # Inner folds need 2 training graphs of each class.
    needed = max(n_folds, 3 if n_folds > 2 else 4)
    if fewest < needed:
        remedy = "n_folds=3" if fewest == 3 else "fewer folds" if fewest > 3 else "more such graphs"
        raise ValueError(
            f"class {rarest} has {fewest} graphs, expected {needed} or more with "
            f"n_folds={n_folds}: use {remedy}, or leave out the class"
        )
