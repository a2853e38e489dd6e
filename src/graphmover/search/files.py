"""Files of `NearestGraphs`: what an index file holds of it."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from graphmover.embedding import RandomGraphEmbedding
from graphmover.graphs.dataset import Dataset
from graphmover.io.index_file import StoredIndex, opened_index, write_index
from graphmover.search.embeddings import require_metric
from graphmover.search.library import MOST_PIVOTS, Library

#: Parameters that a file keeps.
_SAVED = ("n_neighbors", "radius", "exact", "device", "n_jobs", "verbose")


class SavedIndex:
    """Mixin that gives `NearestGraphs` the methods `save` and `load`."""

    exact: bool
    index: Any
    embedding_: RandomGraphEmbedding
    ids_: Any
    recall_: float
    _library: Library
    _vectors: Any
    _restore: Any
    _embedded: Any
    check_parameters: Any

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file: plain arrays, no pickle.

        The file is replaced atomically. It holds the embedded nodes of the graphs, not the graphs,
        and with ``exact=False`` their vectors too. A random_state is not saved: it is no longer
        needed. A custom ``index``, or a ``node_embedding`` that is a callable, cannot be written
        without pickle: pickle the estimator instead.
        """
        check_is_fitted(self)
        if self.index is not None:
            raise ValueError("a custom index (index=...) cannot be saved: pickle the estimator")
        write_index(path, self._stored())

    def _stored(self, batch: Dataset | None = None) -> StoredIndex:
        """Return what a file holds of the graphs that are searched, or of others."""
        parameters = {name: _plain(getattr(self, name)) for name in _SAVED}
        model = self.embedding_._fitted_model()
        if batch is not None:
            nodes, distances = self._embedded(batch.graphs)
            pivots = distances[:, :MOST_PIVOTS].copy()
            return StoredIndex(parameters, model, nodes, pivots, batch.graphs.ids)
        vectors = recall = None
        if not self.exact:
            vectors, recall = self._vectors, self.recall_
        library = self._library
        graphs = (library.nodes, library.pivots, self.ids_)
        return StoredIndex(parameters, model, *graphs, vectors, recall)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Map an index that `save` wrote into memory.

        Files from others are safe to load: nothing in them is executed, and loading takes memory
        in proportion to the size of the file. ``embedding`` is the model of the file, frozen.

        Raises
        ------
        ValueError
            The file is damaged, is no index, or has a format that this version cannot read.
        """
        from sklearn.frozen import FrozenEstimator

        with opened_index(path) as stored:
            unknown = set(stored.parameters) - set(_SAVED)
            if unknown:
                raise ValueError(f"{min(unknown)!r:.80} is not a parameter")
            embedding = RandomGraphEmbedding._from_fitted_model(stored.model)
            frozen = FrozenEstimator(require_metric(embedding))
            near = cls(embedding=frozen, **stored.parameters)  # type: ignore[call-arg]
            near.check_parameters()
            if near.exact != (stored.vectors is None):
                raise ValueError("vectors are there with exact=False, and only then")
            library = Library(embedding._to_random_graphs, stored.nodes, stored.pivots)
            near._restore(embedding, library, stored.ids, stored.vectors, stored.recall)
            return near


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
