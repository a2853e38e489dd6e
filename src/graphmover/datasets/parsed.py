"""A cache of parsed data sets, as plain arrays in the cache folder.

The key of an entry is a hash of the data set's files, so a change to them invalidates it. An entry
that cannot be read, or that no parser could have written, is made again; one that cannot be
written is skipped.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.files import replacing
from graphmover.datasets.home import cache_folder
from graphmover.datasets.tu_files import BROKEN
from graphmover.graphs.arrays import are_simple_rows
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset

#: Increase it when the same files give other arrays than before.
_VERSION = 2

#: Smaller data sets are parsed faster than a second file is opened.
LEAST_BYTES = 1 << 20

_NUMBERS = ("offsets", "indptr", "indices", "node_attributes", "edge_attributes")
_LABELS = ("node_labels", "edge_labels")
_KEYS = {*_NUMBERS, *_LABELS, "target", "contents"}
_UNREADABLE = (*BROKEN, KeyError, TypeError)


def load_parsed(name: str, digest: str) -> Dataset | None:
    """Return the data set with that hash, or None if the cache has no valid entry of it."""
    try:
        with _entry(name, digest).open("rb") as stream:
            archive = np.load(stream, allow_pickle=False)
            if not isinstance(archive, Mapping):
                return None
            arrays = dict(archive)
    except _UNREADABLE:
        return None
    return _from_arrays(name, arrays) if _is_valid(arrays) else None


def store_parsed(dataset: Dataset, digest: str) -> None:
    """Cache a data set in place of older entries of its name; ignore failures to write."""
    entry = _entry(dataset.name, digest)
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        with replacing(entry) as file:
            np.savez(file, **_to_arrays(dataset))  # type: ignore[arg-type]
        for other in entry.parent.glob(f"{_file_stem(dataset.name)}.*.npz"):
            if other != entry:
                other.unlink(missing_ok=True)
    except OSError:
        pass


def _entry(name: str, digest: str) -> Path:
    file = f"{_file_stem(name)}.{digest[:32]}.v{_VERSION}.npz"
    return cache_folder() / "parsed" / file


def _file_stem(name: str) -> str:
    """Return a readable stem that is safe in file names and differs for all names."""
    readable = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:80]
    exact = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{readable}-{exact}"


def _is_valid(arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Return whether arrays are as `_to_arrays` makes them, in time linear in their length.

    Compiled kernels check no bounds: a wild index would end the process.
    """
    contents = arrays.get("contents")
    if contents is None or contents.dtype.kind != "U":
        return False
    is_complete = set(contents.ravel().tolist()) == arrays.keys()
    if not (is_complete and {"offsets", "indptr", "indices"} <= arrays.keys() <= _KEYS):
        return False
    offsets, indptr, indices = arrays["offsets"], arrays["indptr"], arrays["indices"]
    if not (
        _is_array(indices, "int32", 1)
        and _are_offsets(indptr, len(indices))
        and _are_offsets(offsets, len(indptr) - 1)
        and np.diff(offsets).max(initial=0) <= np.iinfo(np.int32).max
        and are_simple_rows(offsets, indptr, indices, None)
    ):
        return False
    n_graphs, n_nodes, n_entries = len(offsets) - 1, len(indptr) - 1, len(indices)
    for key, dtype, length in (
        ("node_labels", "int64", n_nodes),
        ("node_attributes", "float64", n_nodes),
        ("edge_labels", "int64", n_entries),
        ("edge_attributes", "float64", n_entries),
    ):
        if key in arrays and not (_is_array(arrays[key], dtype, 2) and len(arrays[key]) == length):
            return False
    target = arrays.get("target")
    return target is None or (
        target.ndim in (1, 2)
        and (_is_array(target, "int64", 1) or _is_array(target, "float64", target.ndim))
        and len(target) == n_graphs
    )


def _is_array(array: NDArray[Any], dtype: str, ndim: int) -> bool:
    return array.dtype == np.dtype(dtype) and array.ndim == ndim and array.shape[1:] != (0,)


def _are_offsets(array: NDArray[Any], last: int) -> bool:
    return (
        _is_array(array, "int64", 1)
        and len(array) > 0
        and bool(array[0] == 0 and array[-1] == last)
        and bool((array[1:] >= array[:-1]).all())
    )


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
