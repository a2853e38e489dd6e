"""A cache of parsed data sets, as plain arrays in the cache folder.

The key of an entry is a hash of the data set's files, so a change to them invalidates it. An
entry that cannot be read is made again, and one that cannot be written is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.files import replacing
from graphmover.datasets.home import cache_folder
from graphmover.datasets.tu_files import BROKEN
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset

#: Increase it when the same files give other arrays than before.
_VERSION = 1

#: Smaller data sets are parsed faster than a second file is opened.
LEAST_BYTES = 1 << 20

_NUMBERS = ("offsets", "indptr", "indices", "node_attributes", "edge_attributes")
_LABELS = ("node_labels", "edge_labels")
_UNREADABLE = (*BROKEN, KeyError, TypeError)


def load_parsed(name: str, digest: str) -> Dataset | None:
    """Return the data set with that hash, or None if it is not in the cache."""
    try:
        with _entry(name, digest).open("rb") as stream:
            arrays = np.load(stream, allow_pickle=False)
            is_complete = isinstance(arrays, Mapping) and set(arrays["contents"]) == set(arrays)
            return _from_arrays(name, arrays) if is_complete else None
    except _UNREADABLE:
        return None


def store_parsed(dataset: Dataset, digest: str) -> None:
    """Cache a data set in place of older entries of its name; ignore failures to write."""
    entry = _entry(dataset.name, digest)
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        with replacing(entry) as file:
            np.savez(file, **_to_arrays(dataset))  # type: ignore[arg-type]
        for other in entry.parent.glob(f"{_safe(dataset.name)}.*.npz"):
            if other != entry:
                other.unlink(missing_ok=True)
    except OSError:
        pass


def _entry(name: str, digest: str) -> Path:
    return cache_folder() / "parsed" / f"{_safe(name)}.{digest[:32]}.v{_VERSION}.npz"


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:80]


def _to_arrays(dataset: Dataset) -> dict[str, NDArray[Any]]:
    graphs = dataset.graphs
    arrays = {key: getattr(graphs, key) for key in _NUMBERS} | {"target": dataset.target}
    arrays |= {key: _columns(getattr(graphs, key)) for key in _LABELS}
    present = {key: array for key, array in arrays.items() if array is not None}
    return present | {"contents": np.array(["contents", *present])}


def _from_arrays(name: str, arrays: Mapping[str, NDArray[Any]]) -> Dataset:
    columns = {key: arrays[key] for key in _NUMBERS if key in arrays}
    columns |= {key: as_labels(arrays[key]) for key in _LABELS if key in arrays}
    return Dataset(name, GraphBatch(**columns), arrays.get("target"))


def as_labels(columns: NDArray[np.int64]) -> NDArray[Any]:
    """Turn a table into one label per row: a number, or a tuple if there are several columns."""
    if columns.shape[1] == 1:
        return columns[:, 0]
    tuples = np.empty(len(columns), dtype=object)
    tuples[:] = list(map(tuple, columns.tolist()))
    return tuples


def _columns(labels: NDArray[Any] | None) -> NDArray[np.int64] | None:
    if labels is None:
        return None
    if labels.dtype != object:
        return labels.reshape(-1, 1)
    return np.array(labels.tolist(), dtype=np.int64).reshape(len(labels), -1)
