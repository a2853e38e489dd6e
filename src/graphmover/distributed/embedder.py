"""The function that all engines share: record batches of graphs into those of vectors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphmover.distributed.layout import Layout
from graphmover.graphs.arrow import pyarrow
from graphmover.graphs.dataset import Dataset
from graphmover.io.networkx_files import batches_of_json
from graphmover.io.parquet import Wanted, graphs_of_rows
from graphmover.io.reading import Readable, Reading
from graphmover.io.smiles import Line, batches_of_lines

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer

    Model = RandomGraphEmbedding | GraphVectorizer

#: A graph as text, and the line it was on.
SMILES, NODE_LINK, LINE = "smiles", "node_link", "line"


class RowReader:
    """Turns record batches of rows into graphs.

    Parameters
    ----------
    wanted : Wanted
        Which columns hold ids and targets.
    file : path-like
        What messages call the source.
    how : Reading
        How much memory reading may take, and what to do about graphs that cannot be read.
    first : int
        Index of the first row in the file.
    """

    def __init__(self, wanted: Wanted, file: Readable, how: Reading, first: int = 0) -> None:
        self._wanted, self._file = wanted, file
        self._how = how._replace(target_column=wanted.target, id_column=wanted.id)
        self._n_read = first

    def graphs(self, rows: Any, indices: Sequence[int] | None = None) -> Dataset | None:
        """Return the graphs of a ``pyarrow.RecordBatch``, or None if none is left.

        ``indices`` are those of the rows in the file, where they are not consecutive.
        """
        first, self._n_read = self._n_read, self._n_read + len(rows)
        how = self._how._replace(batch_size=max(1, len(rows)))
        with self._naming(rows, range(first, first + len(rows)) if indices is None else indices):
            if SMILES in rows.schema.names:
                return next(batches_of_lines(self._lines(rows, first), self._file, how), None)
            if NODE_LINK in rows.schema.names:
                texts = zip(_values(rows, LINE), _values(rows, NODE_LINK), strict=True)
                return next(batches_of_json(texts, self._file, how), None)
            if indices is not None:
                return graphs_of_rows(rows, self._wanted, self._file, 0, how)
        return graphs_of_rows(rows, self._wanted, self._file, first, how)

    @contextmanager
    def _naming(self, rows: Any, indices: Sequence[int]) -> Iterator[None]:
        """Name graphs in errors, which count them from the first row, by their places in the file.

        These are lines, if the rows have been lines.
        """
        file = os.fspath(self._file)
        has_lines = LINE in rows.schema.names

        def named(found: re.Match[str]) -> str:
            index = int(found[1])
            if has_lines:
                return f"{file}, line {rows.column(LINE)[index].as_py()}"
            return f"{file}: graph {indices[index]}"

        try:
            yield
        except (TypeError, ValueError) as error:
            message = re.sub(rf"^{re.escape(file)}: graph (\d+)", named, str(error))
            raise (TypeError if isinstance(error, TypeError) else ValueError)(message) from error

    @contextmanager
    def naming_all(self, rows: Any) -> Iterator[None]:
        """Name the graphs that were read last in errors about all of them, by their places."""
        try:
            yield
        except ValueError as error:
            places = self._places(rows)
            said = re.sub(r"^graphs? \d+(?: to \d+)? ha(?:s|ve) ", "", str(error))  # in the batch
            named = f", {places}: {said}" if said == str(error) else f": {places} have {said}"
            raise ValueError(f"{os.fspath(self._file)}{named}") from error

    def _places(self, rows: Any) -> str:
        if LINE in rows.schema.names:
            lines = rows.column(LINE)
            return f"lines {lines[0].as_py()} to {lines[-1].as_py()}"
        return f"graphs {self._n_read - len(rows)} to {self._n_read - 1}"

    def _lines(self, rows: Any, first: int) -> Iterator[Line]:
        target, id = self._wanted.target, self._wanted.id
        has_lines = LINE in rows.schema.names
        numbers = _values(rows, LINE) if has_lines else list(range(first, first + len(rows)))
        lacking = [None] * len(rows)
        texts = _values(rows, SMILES)
        ids = lacking if id is None else _values(rows, id)
        targets = lacking if target is None else _values(rows, target)
        for number, text, name, value in zip(numbers, texts, ids, targets, strict=True):
            yield Line(number, text or "", name, id is not None, value)


class Embedder:
    """Turns record batches of graphs into record batches of vectors, with ids and targets."""

    def __init__(self, model: Model, layout: Layout, reader: RowReader) -> None:
        self.model, self.layout = model, layout
        self.n_empty = 0
        self.unknown = model._unknown_labels()
        self._reader = reader

    def __call__(self, rows: Any) -> Any:
        """Return the vectors of a ``pyarrow.RecordBatch`` of graphs, as another."""
        data = self._reader.graphs(rows)
        if data is None:  # all of them are left out
            return pyarrow().RecordBatch.from_pylist([], schema=self.layout.schema())
        self.n_empty += int((data.graphs.node_counts == 0).sum())
        with self._reader.naming_all(rows):
            vectors = self.model._features_of_batch(data.graphs, self.unknown, None)
        return self.layout.rows(vectors, data.ids, data.target)


def _values(rows: Any, name: str) -> list[Any]:
    values: list[Any] = rows.column(rows.schema.get_field_index(name)).to_pylist()
    return values
