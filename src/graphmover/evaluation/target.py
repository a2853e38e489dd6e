"""Classes as integers, values as floats, with errors that name what cannot be one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover._utils.checks import is_missing
from graphmover._utils.messages import counted, warn
from graphmover.graphs.dataset import Dataset
from graphmover.io.chunks import text_array

TASKS = ("auto", "classification", "regression")

#: A note names at most this many rare classes.
_NAMED = 5


class Target(NamedTuple):
    """What is to be predicted."""

    values: NDArray[Any]  # integers 0, 1, ... that index the classes, or floats
    classes: NDArray[Any]  # as the user wrote them; none for regression
    notes: tuple[str, ...] = ()  # of classes that are too rare for the folds


def encoded_target(
    y: ArrayLike,
    n_graphs: int,
    n_folds: int,
    task: str = "auto",
    *,
    ids: NDArray[Any] | None = None,
) -> Target:
    """Return the target of an evaluation.

    Parameters
    ----------
    task : {"auto", "classification", "regression"}
        "auto" decides as scikit-learn's ``type_of_target``: numbers that are not all integers are
        values, everything else is a class.
    ids : ndarray, optional
        Of the graphs, for error messages.

    Raises
    ------
    ValueError
        If something is neither a class nor a value, or there are too few for the folds.
    """
    require_task(task)
    # As objects first: beside strings, NumPy would turn NaN and None into strings.
    values = np.asarray(y) if hasattr(y, "dtype") else np.asarray(y, dtype=object)
    if values.shape != (n_graphs,):
        kind = f"is a {type(y).__name__} of" if values.ndim == 0 else "has"
        columns = values.ndim == 2 and len(values) == n_graphs
        remedy = "; evaluate one column at a time, such as y[:, 0]" if columns else ""
        raise ValueError(
            f"y {kind} the shape {values.shape}, expected ({n_graphs},): one per graph{remedy}"
        )
    if values.dtype.kind not in "biufUSO":
        raise ValueError(f"y has the type {values.dtype}, expected a class or value for each graph")
    listed = values.tolist()
    if task == "auto":
        fractional = any(_is_number(value) and not _is_class(value) for value in listed)
        task = "regression" if fractional else "classification"
    if task == "regression":
        _require(_is_number, "a finite number for each graph", listed, ids)
        return _values(listed, n_folds)
    _require(_is_class, "a class for each graph, a string or an integer", listed, ids)
    return _classes(listed, n_folds)


@contextmanager
def surely_classes() -> Iterator[None]:
    """Keep scikit-learn from asking whether many classes are values: that is decided."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes")
        yield


def require_task(task: Any) -> None:
    """Raise ValueError unless a task is one of `TASKS`."""
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, got {task!r}")


def _require(
    is_fit: Callable[[Any], bool], expected: str, listed: list[Any], ids: NDArray[Any] | None
) -> None:
    """Raise ValueError that names the first value that is not fit, and its graph."""
    place = next((place for place, value in enumerate(listed) if not is_fit(value)), None)
    if place is None:
        return
    known = None if ids is None else ids[place]
    graph = "" if known is None else f", of the graph with the id {str(known)[:80]},"
    raise ValueError(
        f"y[{place}]{graph} is {listed[place]}, expected {expected}{_remedy(listed, place)}"
    )


def _remedy(listed: list[Any], place: int) -> str:
    """Say what to do about targets that are missing, if that is what is wrong."""
    if not is_missing(listed[place]):
        return ""
    n_missing = sum(map(is_missing, listed))
    have = "has" if n_missing == 1 else "have"
    return (
        f". {n_missing} of {len(listed)} graphs {have} no target: drop such rows from the source, "
        f"or on the command line add --errors skip, or in Python select the others with a mask, "
        f"graphs[known] and y[known]"
    )


def with_known_target(data: Dataset) -> Dataset:
    """Leave out graphs whose target is missing, with one warning."""
    if data.target is None or data.target.ndim > 1:
        return data
    known = np.array([not is_missing(value) for value in data.target.tolist()], np.bool_)
    if known.all():
        return data
    missing = counted(int((~known).sum()), "graph has", "graphs have")
    warn(f"{missing} no target, of {len(data)}: left out")
    return data[known]


def _values(listed: list[Any], n_folds: int) -> Target:
    if len(listed) < 2 * n_folds:
        raise ValueError(
            f"y has {len(listed)} values, expected {2 * n_folds} or more with n_folds={n_folds}: "
            f"R2 needs 2 in every test fold"
        )
    values = np.array(listed, np.float64)
    if (values == values[0]).all():
        raise ValueError(f"all values of y are {values[0]}, expected at least 2 different ones")
    return Target(values, np.empty(0))


def _classes(listed: list[Any], n_folds: int) -> Target:
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
        found = "only one class" if len(classes) else "no classes"
        raise ValueError(f"y has {found}, expected 2 or more")
    counts = np.bincount(target)
    largest = str(classes[counts.argmax()])[:80]
    remedy = "" if kinds != {"numbers"} else ', or task="regression" if these are values'
    if counts.max() < n_folds:
        folds = f" with n_folds={n_folds}: use fewer folds" if n_folds > 2 else ": use more graphs"
        raise ValueError(
            f"the largest class, {largest}, has {counted(int(counts.max()), 'graph')}, expected "
            f"{n_folds} or more{folds}{remedy}"
        )
    if np.sort(counts)[-2] < 2:
        raise ValueError(
            f"only class {largest} has 2 graphs or more, but a training set "
            f"needs 2 classes: use more graphs{remedy}"
        )
    return Target(target.astype(np.int64), classes, _notes(classes, counts, n_folds))


def _notes(classes: NDArray[Any], counts: NDArray[np.int64], n_folds: int) -> tuple[str, ...]:
    rare = np.flatnonzero(counts < n_folds)
    if not len(rare):
        return ()
    named = ", ".join(f"{str(classes[one])[:80]}: {counts[one]}" for one in rare[:_NAMED])
    more = ", ..." if len(rare) > _NAMED else ""
    text = (
        f"{len(rare)} of {len(classes)} classes have fewer graphs than n_folds={n_folds} "
        f"({named}{more}): some test folds lack them"
    )
    if counts.min() == 1:
        text += ", and the only graph of a class is never in the training set when it is tested"
    return (text,)


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


def _is_number(value: Any) -> bool:
    if isinstance(value, str | bytes):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError, OverflowError):
        return False
