"""Classes as whole numbers, or a word on why they are none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def classes_of(y: ArrayLike, n_graphs: int, n_folds: int) -> NDArray[np.int64]:
    """Return classes as 0, 1, ..., or refuse what cannot be told apart in folds."""
    # As objects first: NumPy makes strings of what stands beside strings, NaN and None included.
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
                f"y[{place}] is {value}, expected a class for each graph, a string or a whole "
                f"number"
            )
    if len({isinstance(value, str | bytes) for value in listed}) > 1:
        raise ValueError("y has strings and numbers, expected classes of one kind")
    classes, target, counts = np.unique(np.array(listed), return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"y has {len(classes)} classes, expected 2 or more")
    _require_graphs_for_all_folds(str(classes[np.argmin(counts)]), int(counts.min()), n_folds)
    return target.astype(np.int64)


def _is_class(value: Any) -> bool:
    if isinstance(value, str | bytes):
        return True
    try:
        return bool(np.isfinite(value) and value == round(value))
    except (TypeError, ValueError):  # None, pandas' NA, a list
        return False


def _require_graphs_for_all_folds(rarest: str, fewest: int, n_folds: int) -> None:
    # Inner folds need 2 graphs of a class outside every fold.
    needed = max(n_folds, 3 if n_folds > 2 else 4)
    if fewest < needed:
        remedy = "n_folds=3" if fewest == 3 else "fewer folds" if fewest > 3 else "more such graphs"
        raise ValueError(
            f"class {rarest} has {fewest} graphs, expected {needed} or more with "
            f"n_folds={n_folds}: take {remedy}, or leave the class out"
        )
