"""The batch function for engines that map record batches themselves, such as Spark."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from graphmover.distributed.embedder import Embedder, RowReader
from graphmover.distributed.layout import Layout
from graphmover.graphs.arrow import pyarrow
from graphmover.io.limits import Limit
from graphmover.io.parquet import Wanted
from graphmover.io.reading import BadGraphs, Errors, Reading

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer


class ArrowMap:
    """Maps record batches of graphs to record batches of vectors, with ids and targets.

    Parameters
    ----------
    model : RandomGraphEmbedding or GraphVectorizer
        A fitted model.
    id_column, target_column : str, optional
        Columns of the input to pass through, as ``id`` and ``target``.
    id_type : {"int64", "string"}
    target_type : {"bool", "int64", "double", "string"}
    errors : {"raise", "skip", "empty"}
        What to do about graphs that cannot be read, see `iter_batches`.
    keep_direction : bool
        See `iter_batches`: whether the model was fitted to graphs with directions.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import graphmover as gm
    >>> data = gm.make_graph_families(60, random_state=0)
    >>> model = gm.RandomGraphEmbedding(8, random_state=0).fit(data.graphs)
    >>> embed = gm.distributed.ArrowMap(model)
    >>> (vectors,) = embed(data.graphs.to_arrow().to_batches())
    >>> vectors.num_rows, vectors.schema.names
    (60, ['vector'])
    """

    def __init__(
        self,
        model: RandomGraphEmbedding | GraphVectorizer,
        *,
        id_column: str | None = None,
        id_type: str = "string",
        target_column: str | None = None,
        target_type: str = "double",
        errors: Errors = "raise",
        keep_direction: bool = False,
    ) -> None:
        check_is_fitted(model)
        BadGraphs(errors)  # checks the name
        self._model, self._errors, self._keep_direction = model, errors, keep_direction
        self._wanted = Wanted([], target_column, id_column)
        self._layout = Layout(
            len(model.get_feature_names_out()),
            None if id_column is None else id_type,
            None if target_column is None else target_type,
        )

    @property
    def schema(self) -> Any:
        """The ``pyarrow.Schema`` of the output; vectors are lists, which Spark knows, too."""
        pa = pyarrow()
        fields = [
            pa.field(field.name, pa.list_(field.type.value_type))
            if pa.types.is_fixed_size_list(field.type)
            else field
            for field in self._layout.schema()
        ]
        return pa.schema(fields)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the vectors of each ``pyarrow.RecordBatch``.

        The input has the columns of `GraphBatch.to_arrow`, or a column ``smiles``.
        """
        pa = pyarrow()
        limit, bad = Limit(Path(os.devnull)), BadGraphs(self._errors)
        how = Reading(1, None, None, limit, bad, self._keep_direction)
        reader = RowReader(self._wanted, Path("graphs"), how)
        embed = Embedder(self._model, self._layout, reader)
        for rows in batches:
            yield from pa.Table.from_batches([embed(rows)]).cast(self.schema).to_batches()
