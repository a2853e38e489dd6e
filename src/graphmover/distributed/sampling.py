"""A uniform sample of a source, to fit a model to, without reading the rest of the source."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.checks import require_integer
from graphmover._utils.random_state import RandomState, random_generator
from graphmover.distributed.embedder import RowReader
from graphmover.distributed.source import Source, cut_source, opened_unit
from graphmover.distributed.storage import Place
from graphmover.distributed.unit import Options, Unit
from graphmover.graphs.dataset import Dataset
from graphmover.io.chunks import joined
from graphmover.io.reading import Errors

if TYPE_CHECKING:
    from typing import TypeVar

    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer

    AnyModel = TypeVar("AnyModel", RandomGraphEmbedding, GraphVectorizer)

#: Keys drawn, and rows read, at a time.
_KEYS, _ROWS = 2**20, 10_000
#: Rows of a unit where it is cut for the sample: a row group, as `write_graphs` makes them.
_UNIT_ROWS = 10_000


def fit(
    model: AnyModel,
    source: str | os.PathLike[str],
    *,
    n_graphs: int = 10_000,
    target_column: str | None = None,
    id_column: str | None = None,
    errors: Errors = "raise",
    max_bytes: int | None = None,
    max_smiles: int | None = None,
    keep_direction: bool = False,
) -> AnyModel:
    """Fit a model to a uniform random sample of a source, in the calling process.

    Every graph is equally likely to be drawn. The sample depends on ``model.random_state`` and on
    the source alone, and is the one that ``graphmover embed`` fits to on one machine, as long as
    all graphs can be read. Of a Parquet file, only the pieces (10,000 graphs or a row group) in
    which graphs were drawn are read.

    Parameters
    ----------
    model : RandomGraphEmbedding or GraphVectorizer
    source, target_column, id_column, errors, max_bytes, max_smiles, keep_direction
        See `transform_to`.
    n_graphs : int
        Sample size; a smaller source is taken whole.

    Returns
    -------
    RandomGraphEmbedding or GraphVectorizer
        The model.

    Examples
    --------
    >>> import tempfile
    >>> import graphmover as gm
    >>> data = gm.make_graph_families(60, random_state=0)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     n_graphs = gm.write_graphs(data, f"{home}/graphs.parquet")
    ...     model = gm.RandomGraphEmbedding(8, random_state=0)
    ...     model = gm.distributed.fit(model, f"{home}/graphs.parquet", n_graphs=30)
    >>> model.transform(data.graphs).shape
    (60, 8)
    """
    options = Options(target_column, id_column, errors, max_bytes, max_smiles, keep_direction)
    sample, _ = even_sample(source, n_graphs, options, model.random_state)
    model.fit(sample.graphs)
    return model


def even_sample(
    source: str | os.PathLike[str], n_graphs: int, options: Options, random_state: RandomState
) -> tuple[Dataset, int]:
    """Return so many graphs of a source, and how many it has; a smaller one is taken whole."""
    require_integer("n_graphs", n_graphs, least=1)
    found = cut_source(source, options, _UNIT_ROWS)
    chosen = drawn(found.n_rows, n_graphs, random_state)
    ends = np.cumsum([unit.rows for unit in found.units])
    parts: list[Dataset] = []
    first = 0
    for unit, end in zip(found.units, ends.tolist(), strict=True):
        wanted = chosen[slice(*np.searchsorted(chosen, [first, end]))] - first
        if len(wanted):
            parts += _rows(found, unit, wanted, options)
        first = end
    if not parts:
        raise ValueError(f"{os.fspath(source)} holds no graphs that can be read")
    return joined(parts, allow_missing=options.errors != "raise"), found.n_rows


def drawn(n_rows: int, n_chosen: int, random_state: RandomState) -> NDArray[np.int64]:
    """Return the rows with the smallest keys, of one random key each, in ascending order."""
    rng = random_generator(random_state)
    rows, keys = np.empty(0, np.int64), np.empty(0)
    for start in range(0, n_rows, _KEYS):
        more = rng.random(min(_KEYS, n_rows - start))
        rows = np.concatenate([rows, np.arange(start, start + len(more))])
        keys = np.concatenate([keys, more])
        if len(keys) > n_chosen:
            smallest = np.sort(np.argpartition(keys, n_chosen)[:n_chosen])
            rows, keys = rows[smallest], keys[smallest]
    return rows


def _rows(
    source: Source, unit: Unit, wanted: NDArray[np.int64], options: Options
) -> Iterator[Dataset]:
    """Yield the graphs of some rows of a unit, those that can be read."""
    listed = source.files[unit.file]
    file = Place(source.name).file(listed.path)
    how = options.reading(file, listed.size, _ROWS, options.bad_graphs(None, []))
    columns, batches = opened_unit(file, unit, source.ending, how, source.columns.id)
    reader = RowReader(columns, file, how, unit.first)
    first = 0
    for rows in batches:
        of_unit = wanted[slice(*np.searchsorted(wanted, [first, first + len(rows)]))]
        if len(of_unit):
            graphs = reader.graphs(rows.take(of_unit - first), (unit.first + of_unit).tolist())
            if graphs is not None:
                yield graphs
        first += len(rows)
