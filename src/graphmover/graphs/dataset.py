"""A collection of graphs with targets, as loaders and generators return it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.batch import GraphBatch


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A named collection of graphs, optionally with one target per graph.

    Attributes
    ----------
    name : str
    graphs : GraphBatch
    target : ndarray or None
        Integers are classes, floats are values to predict; one row per graph.
    target_names : tuple of str or None
        ``target_names[c]`` is the name of class c.
    ids, edge_labels, edge_attributes : ndarray or None
        Those of ``graphs``.

    Examples
    --------
    >>> import graphmover as gm
    >>> gm.Dataset("pair", gm.GraphBatch.from_edges([2, 1], [1, 0], [(0, 1)]))
    Dataset('pair', 2 graphs, no target)
    """

    name: str
    graphs: GraphBatch
    target: NDArray[Any] | None = None
    target_names: tuple[str, ...] | None = None

    @property
    def edge_labels(self) -> NDArray[Any] | None:
        """``graphs.edge_labels``."""
        return self.graphs.edge_labels

    @property
    def edge_attributes(self) -> NDArray[np.float64] | None:
        """``graphs.edge_attributes``."""
        return self.graphs.edge_attributes

    @property
    def ids(self) -> NDArray[Any] | None:
        """``graphs.ids``."""
        return self.graphs.ids

    def __len__(self) -> int:
        return len(self.graphs)

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {len(self.graphs)} graphs, {self._describe_target()})"

    def _describe_target(self) -> str:
        if self.target is None:
            return "no target"
        if self.target.dtype.kind != "f":
            return f"{len(set(self.target.ravel().tolist()))} classes"
        n_values = 1 if self.target.ndim == 1 else self.target.shape[1]
        return f"{n_values} real target{'s' if n_values != 1 else ''}"
