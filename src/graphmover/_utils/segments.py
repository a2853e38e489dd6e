"""Consecutive segments of flat arrays: many graphs, or the neighbours of many nodes, in one.

Segment i of an array is ``array[offsets[i] : offsets[i + 1]]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]


def offsets_from_counts(counts: ArrayLike) -> Ints:
    """Return the boundaries of segments of these sizes, starting at 0."""
    sizes = np.asarray(counts, dtype=np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def segment_numbers(offsets: Ints) -> Ints:
    """Return the number of the segment that each entry belongs to."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def ranges(starts: Ints, counts: Ints) -> Ints:
    """Concatenate ``arange(start, start + count)`` over all pairs."""
    ends = np.cumsum(counts)
    shifts: Ints = np.repeat(starts - (ends - counts), counts)
    return np.arange(len(shifts)) + shifts


def segment_sums(values: NDArray[Any], offsets: Ints) -> NDArray[Any]:
    """Sum each segment separately, so that no sum depends on the segments before it."""
    filled = np.flatnonzero(np.diff(offsets))
    sums = np.zeros(len(offsets) - 1, values.dtype)
    if len(filled):
        with np.errstate(over="ignore"):  # callers check for infinite sums
            # Of segments that are not empty, each ends where the next one starts.
            sums[filled] = np.add.reduceat(values[: offsets[-1]], offsets[filled])
    return sums


def selected_segments(key: Any, length: int) -> Ints:
    """Turn a slice, an index array or a mask into segment numbers from 0 to length - 1."""
    if isinstance(key, slice):
        return np.arange(*key.indices(length))
    rows = np.asarray(key)
    if rows.size == 0:
        rows = rows.astype(np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "biu":
        raise TypeError(
            f"index with an integer, a slice, or a one-dimensional array of integers or "
            f"booleans, not {key!r}"
        )
    if rows.dtype.kind == "b":
        if len(rows) != length:
            raise IndexError(f"the mask has {len(rows)} entries for {length} graphs")
        return np.flatnonzero(rows)
    rows = rows.astype(np.int64)
    outside = (rows < -length) | (rows >= length)
    if outside.any():
        raise IndexError(
            f"graph {rows[outside][0]} is out of range for a collection of {length} graphs"
        )
    return np.where(rows < 0, rows + length, rows)
