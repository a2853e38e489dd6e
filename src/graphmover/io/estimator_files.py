"""Files of an estimator: fitted models, and vectors written batch by batch."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.files import require_new, require_other_file, require_writable
from graphmover._utils.messages import timed
from graphmover._utils.progress import Bar, Progress
from graphmover.graphs.batch import GraphBatch
from graphmover.io.chunks import name_of
from graphmover.io.formats import batches_of, count_graphs
from graphmover.io.model_file import (
    FittedModel,
    FittedViews,
    fingerprint,
    opened_model,
    write_model,
)
from graphmover.io.reading import Errors, ReadingOptions
from graphmover.io.skipped_file import listing_skipped
from graphmover.io.streaming import write_rows
from graphmover.nodes.input_warnings import UnknownLabels, warn_about_zero_rows

Floats = NDArray[np.float64]

#: `transform_to` holds at most this many graphs, and this many features, at a time.
_BATCH_GRAPHS = 10_000
_BATCH_FEATURES = 2**24


def batch_size_for(n_features: int) -> int:
    """Return how many graphs to hold at a time by default."""
    return max(1, min(_BATCH_GRAPHS, _BATCH_FEATURES // n_features))


class FilesMixin:
    """Mixin that gives an estimator `transform_to`, `save` and `load`."""

    verbose: bool
    _kind_of_model: type[FittedModel] | type[FittedViews]
    get_feature_names_out: Callable[[], NDArray[Any]]

    @abstractmethod
    def _features_of_batch(
        self, batch: GraphBatch, unknown: UnknownLabels, progress: Progress
    ) -> Floats:
        """Return what `transform` returns; ``unknown`` collects what to warn about."""

    @abstractmethod
    def _unknown_labels(self) -> UnknownLabels:
        """Return what collects warnings over batches."""

    @abstractmethod
    def _fitted_model(self) -> FittedModel | FittedViews:
        """Return everything that `transform` depends on."""

    @classmethod
    @abstractmethod
    def _from_fitted_model(cls, model: FittedModel | FittedViews) -> Self:
        """Return the estimator of a model that was saved."""

    def transform_to(
        self,
        source: Any,
        output: str | os.PathLike[str],
        *,
        batch_size: int | None = None,
        target_column: str | None = None,
        id_column: str | None = None,
        errors: Errors = "raise",
        resume: bool = True,
        overwrite: bool = False,
        max_bytes: int | None = None,
        max_smiles: int | None = None,
        keep_direction: bool = False,
    ) -> tuple[int, int]:
        """Embed a collection that need not fit in memory, and write the vectors to a file.

        The file appears when it is complete. Until then rows are kept in the folder
        ``output + ".part"``: after a crash, a kill or Ctrl-C the same call resumes where the
        last one stopped, and the result is the same to the last bit. Graphs that are finished are
        read again, to check that they are the same, but not embedded again.

        Parameters
        ----------
        source : path, Dataset, GraphBatch or iterable of graphs
            See `iter_batches`.
        output : path
            ``.npy``: the matrix alone, which ``numpy.load(output, mmap_mode="r")`` can map into
            memory. ``.npz``: arrays ``vectors``, ``target`` and ``id``. ``.parquet``: columns
            ``id``, ``vector`` and ``target``. ``.jsonl``: objects of these. ``.csv``: ``id``, a
            column per feature and ``target``. ``-``: CSV on standard output. Ids and targets are
            there if the source has them.
        batch_size : int, optional
            Graphs in memory, and rows committed, at a time; by default 10,000, or fewer if
            their vectors would take more than 128 MB.
        target_column, id_column : str, optional
            See `iter_batches`.
        errors : {"raise", "skip", "empty"}
            What to do about graphs that cannot be read, see `iter_batches`. With the last two,
            ``output + ".skipped.csv"`` lists them: the line or index, the id and the reason.
        resume : bool
            False discards what an earlier call left.
        overwrite : bool
            Replace an existing output. The rows of an interrupted call do not count as one.
        max_bytes, max_smiles : int, optional
            See `iter_batches`.
        keep_direction : bool
            See `iter_batches`: whether the model was fitted to graphs with directions.

        Returns
        -------
        (int, int)
            The shape of the matrix written.

        Raises
        ------
        FileExistsError
            The output exists, and ``overwrite`` is False.
        ValueError
            Another process is writing the output; or the folder ``output + ".part"`` is damaged,
            belongs to another model or other graphs, or holds files that are not graphmover's.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> import graphmover as gm
        >>> data = gm.make_graph_families(60, random_state=0)
        >>> embedding = gm.RandomGraphEmbedding(8, random_state=0).fit(data.graphs)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     embedding.transform_to(data, f"{folder}/vectors.npz")
        ...     written = np.load(f"{folder}/vectors.npz")["vectors"]
        (60, 8)
        >>> bool((written == embedding.transform(data.graphs)).all())
        True
        """
        options = ReadingOptions(
            target_column, id_column, errors, None, max_bytes, max_smiles, keep_direction
        )
        return self._write_vectors(
            source, output, batch_size, options, resume=resume, overwrite=overwrite
        )

    def _write_vectors(
        self,
        source: Any,
        output: str | os.PathLike[str],
        batch_size: int | None,
        options: ReadingOptions,
        *,
        resume: bool,
        overwrite: bool,
        known: Floats | None = None,
    ) -> tuple[int, int]:
        """Do what `transform_to` promises; ``known`` are all rows, if they are known."""
        check_is_fitted(self)
        is_file = os.fspath(output) != "-"
        require_other_file(source, output)
        if is_file:
            require_writable(output)
            require_new(output, overwrite=overwrite)
        names = self.get_feature_names_out()
        if batch_size is None:
            batch_size = batch_size_for(len(names))
        unknown = self._unknown_labels()
        n_empty = 0

        def rows_of(batch: GraphBatch, first: int, bar: Bar) -> Floats:
            nonlocal n_empty
            n_empty += int((batch.node_counts == 0).sum())
            if known is not None and first + len(batch) > len(known):
                raise ValueError(f"{source} has more graphs than when it was read for fitting")
            if known is not None:
                bar.advance(len(batch))
                return known[first : first + len(batch)]
            return self._features_of_batch(batch, unknown, bar)

        table_of = output if is_file else None
        with (
            listing_skipped(table_of, options.errors, overwrite=overwrite) as skipped,
            timed("embedding %s", name_of(source)),
        ):
            n_rows = write_rows(
                batches_of(source, batch_size, options._replace(skipped=skipped)),
                rows_of,
                output,
                names=names,
                model=fingerprint(self._fitted_model()),
                resume=resume,
                skipped=skipped,
                progress="embedding graphs" if self.verbose else None,
                total=count_graphs(source) if self.verbose else None,
            )
        warn_about_zero_rows(n_empty)
        unknown.warn()
        return n_rows, len(names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to an ``.npz`` file: plain arrays, no pickle.

        The name must end in ``.npz``. A ``random_state`` that is a generator is saved as None:
        it is no longer needed. A ``node_embedding`` that is a callable cannot be saved.
        The file is replaced atomically.
        """
        write_model(path, self._fitted_model())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model written by `save`.

        Files from others are safe to load: nothing in them is executed, and reading takes memory
        in proportion to the size of the file.

        Raises
        ------
        ValueError
            The file is damaged, is not a model, is a model of another class, or has a format that
            this version cannot read.
        """
        with opened_model(path, cls._kind_of_model) as model:
            return cls._from_fitted_model(model)
