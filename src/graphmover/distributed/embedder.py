"""The function that all engines share: record batches of graphs into those of vectors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphmover.distributed.layout import Layout
from graphmover.graphs.arrow import pyarrow
from graphmover.graphs.dataset import Dataset
from graphmover.io.limits import Limit
from graphmover.io.networkx_files import batches_of_json
from graphmover.io.parquet import Wanted, graphs_of_rows
from graphmover.io.reading import BadGraphs, Readable, Reading
from graphmover.io.smiles import Line, batches_of_lines

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer

    Model = RandomGraphEmbedding | GraphVectorizer

#: A graph as text, and the line it was on.
SMILES, NODE_LINK, LINE = "smiles", "node_link", "line"


class Embedder:
    """Turns record batches of graphs into record batches of vectors, with ids and targets.

    Parameters
    ----------
    model : RandomGraphEmbedding or GraphVectorizer
        Fitted.
    layout : Layout
        The columns of the output.
    id, target : str, optional
        Columns of the input.
    file : path-like
        What messages call the source.
    limit : Limit
    bad : BadGraphs
        What to do about graphs that cannot be read.
    first : int
        Index of the first row in the file.
    """

    def __init__(
        self,
        model: Model,
        layout: Layout,
        *,
        id: str | None = None,
        target: str | None = None,
        file: Readable | None = None,
        limit: Limit | None = None,
        bad: BadGraphs | None = None,
        first: int = 0,
    ) -> None:
        self.model, self.layout = model, layout
        self.n_read = first
        self.n_empty = 0
        self.unknown = model._unknown_labels()
        self._wanted = Wanted([], target, id)
        self._file: Readable = Path("graphs") if file is None else file
        self._limit = Limit(Path(os.devnull)) if limit is None else limit
        self._bad = BadGraphs() if bad is None else bad

    def __call__(self, rows: Any) -> Any:
        """Return the vectors of a ``pyarrow.RecordBatch`` of graphs, as another.

        The input has the columns of `GraphBatch.to_arrow`, or a column ``smiles``.
        """
        data = self.graphs(rows)
        if data is None:  # all of them are left out
            return pyarrow().RecordBatch.from_pylist([], schema=self.layout.schema())
        self.n_empty += int((data.graphs.node_counts == 0).sum())
        vectors = self.model._features_of_batch(data.graphs, self.unknown, None)
        return self.layout.rows(vectors, data.ids, data.target)

    def map(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the vectors of each batch, as Spark's ``mapInArrow`` asks for."""
        return map(self, batches)

    def graphs(self, rows: Any) -> Dataset | None:
        """Return the graphs of a ``pyarrow.RecordBatch``, or None if none is left."""
        first, self.n_read = self.n_read, self.n_read + len(rows)
        how = Reading(
            max(1, len(rows)), self._wanted.target, self._wanted.id, self._limit, self._bad
        )
        if SMILES in rows.schema.names:
            return next(batches_of_lines(self._lines(rows, first), self._file, how), None)
        if NODE_LINK in rows.schema.names:
            texts = zip(_values(rows, LINE), _values(rows, NODE_LINK), strict=True)
            return next(batches_of_json(texts, self._file, how), None)
        return graphs_of_rows(rows, self._wanted, self._file, first, how)

    def _lines(self, rows: Any, first: int) -> Iterator[Line]:
        names, n = rows.schema.names, len(rows)
        has_ids = self._wanted.id is not None
        numbers = _values(rows, LINE) if LINE in names else range(first, first + n)
        ids = _values(rows, self._wanted.id) if self._wanted.id else [None] * n
        targets = _values(rows, self._wanted.target) if self._wanted.target else [None] * n
        for number, text, id, target in zip(
            numbers, _values(rows, SMILES), ids, targets, strict=True
        ):
            yield Line(number, text or "", id, has_ids, target)


def _values(rows: Any, name: str) -> list[Any]:
    values: list[Any] = rows.column(rows.schema.get_field_index(name)).to_pylist()
    return values
