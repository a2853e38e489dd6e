"""Counts of codes: the features of kernels that count substructures, as sparse matrices.

A kernel that adds up products of counts is an inner product of such rows, so it takes time linear
in the graphs, and a linear machine on the rows is a kernel machine.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.hashing import GOLDEN, mix64
from graphmover.graphs.batch import GraphBatch
from graphmover.rivals.base import Floats, Ints, KernelTransformer


class Entries(NamedTuple):
    """What was counted; a pair of graph and code may occur more than once."""

    graphs: Ints
    codes: Ints
    counts: NDArray[Any]  # integers, or roots of weights


class GraphCounts(KernelTransformer):
    """A sparse row of counts per graph: a subclass needs `_entries`.

    There is a column for each code of the training graphs; other codes are not counted.
    """

    def _learn_rows(self, batch: GraphBatch, y: Any) -> Any:
        entries = self._entries(batch)
        self.codes_, columns = np.unique(entries.codes, return_inverse=True)
        self.n_features_ = len(self.codes_)
        return _counted(entries, columns, (len(batch), self.n_features_))

    def _kernel(self, batch: GraphBatch) -> Floats:
        counts = self._learn_rows(batch, None)
        products: Floats = (counts @ counts.T).toarray()
        return products

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the codes in hexadecimal, after the name of the class."""
        check_is_fitted(self)
        name = type(self).__name__.lower()
        codes = self.codes_.view(np.uint64)
        return np.array([f"{name}_{int(code):016x}" for code in codes], dtype=object)

    def _learn(self, batch: GraphBatch, y: Any) -> None:
        self.codes_ = np.unique(self._entries(batch).codes)
        self.n_features_ = len(self.codes_)

    def _rows(self, batch: GraphBatch) -> Any:
        entries = self._entries(batch)
        columns = np.searchsorted(self.codes_, entries.codes)
        columns = np.minimum(columns, max(self.n_features_ - 1, 0))
        known = self.codes_[columns] == entries.codes if self.n_features_ else columns < 0
        kept = Entries(*(part[known] for part in entries))
        return _counted(kept, columns[known], (len(batch), self.n_features_))

    @abstractmethod
    def _entries(self, batch: GraphBatch) -> Entries:
        """Count the codes of each graph."""


def mixed(*parts: Any) -> Ints:
    """Return one 64-bit code for several integers: the order of the parts counts."""
    code = np.zeros(1, np.uint64)
    for part in parts:
        numbers = np.atleast_1d(np.asarray(part, np.int64)).view(np.uint64)
        code = mix64(code * np.uint64(3) + mix64(numbers + GOLDEN) + GOLDEN)
    return code.view(np.int64)


def occurrences(graphs: Ints, codes: Ints) -> Ints:
    """Return 0, 1, ... for the first, second, ... occurrence of a code in its graph."""
    order = np.lexsort((codes, graphs))
    same = (np.diff(graphs[order]) == 0) & (np.diff(codes[order]) == 0)
    starts = np.flatnonzero(np.concatenate([np.ones(1, bool), ~same])[: len(order)])
    lengths = np.diff(np.append(starts, len(order)))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    return numbers


def _counted(entries: Entries, columns: Ints, shape: tuple[int, int]) -> Any:
    from scipy.sparse import coo_array

    # scikit-learn's SVMs take 32-bit indices only.
    places = (entries.graphs.astype(np.int32), columns.astype(np.int32))
    values = entries.counts.astype(np.float64)
    return coo_array((values, places), shape=shape).tocsr()
