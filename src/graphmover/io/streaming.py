"""Collections larger than memory: embedded batch by batch, or sampled."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.messages import logger, tell, timed
from graphmover._utils.progress import Bar, progress_bar
from graphmover._utils.random_state import RandomState, random_generator
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.io.chunks import joined, name_of, naming
from graphmover.io.formats import iter_batches, with_progress
from graphmover.io.output import Finisher, Rows, finisher_of, write_to_stdout
from graphmover.io.partial import PartialRows, id_lines, target_lines
from graphmover.io.skipped_file import SkippedFile
from graphmover.nodes.labels import label_codes

Floats = NDArray[np.float64]
#: Computes the rows of a batch, given the index of its first graph in the source, and advances the
#: progress bar.
Embed = Callable[[GraphBatch, int, Bar], Floats]


class Writer(Protocol):
    """Makes an output of rows."""

    def finisher_of(self, output: str | os.PathLike[str]) -> Finisher:
        """Return what converts committed rows to a file."""

    def to_stdout(self, pieces: Iterable[Rows], names: NDArray[Any]) -> int:
        """Write rows as they arrive; return their number."""


def write_rows(
    batches: Iterable[Dataset],
    embed: Embed,
    output: str | os.PathLike[str],
    *,
    names: NDArray[Any],
    model: str,
    resume: bool = True,
    skipped: SkippedFile | None = None,
    progress: str | None = None,
    total: int | None = None,
    writer: Writer | None = None,
) -> int:
    """Write one row per graph to a file, holding one batch in memory; return the number of rows.

    Parameters
    ----------
    embed : function
        See `Embed`. Each row must depend on its graph alone.
    names : array of str
        Column names.
    model : str
        Fingerprint of ``embed``.
    resume : bool
        Resume an interrupted run. Its graphs are read again and must be the same.
    skipped : SkippedFile, optional
        What takes the graphs that cannot be read; it is finished just before the output. Then
        graphs may lack a target that others have.
    progress : str, optional
        Title of the progress bar; None shows no bar.
    total : int, optional
        Number of graphs, if known.
    writer : Writer, optional
        What makes an output of rows, if they are not vectors.
    """
    if os.fspath(output) == "-":
        to_stdout = write_to_stdout if writer is None else writer.to_stdout
        with progress_bar(progress, total) as bar:
            return to_stdout(_embedded(batches, embed, bar), names)
    finish = finisher_of(output) if writer is None else writer.finisher_of(output)
    with PartialRows(
        output, len(names), model=model, resume=resume, allow_missing=skipped is not None
    ) as part:
        content, unread = Content(), iter(batches)
        left = _checked(unread, part, content, progress)
        with progress_bar(progress, total, done=part.rows) as bar:
            for batch in chain(left, unread):
                content.add(batch)
                rows = embed(batch.graphs, part.rows, bar)
                part.append(rows, batch.target, content.digest(), batch.ids)
        if skipped is not None:
            skipped.finish()
        with timed("writing %s", output):
            finish(part, names)
        return part.rows


def sample_graphs(
    source: Any,
    n_graphs: int,
    *,
    random_state: RandomState = None,
    progress: str | None = None,
    **options: Any,
) -> tuple[Dataset, int]:
    """Draw graphs uniformly from a collection, holding one batch and the sample in memory.

    Parameters
    ----------
    source, options
        As for `iter_batches`.
    n_graphs : int
        Sample size; a smaller collection is taken whole.
    progress : str, optional
        Title of the progress bar; None shows no bar.

    Returns
    -------
    sample : Dataset
        Graphs and targets, in the order of the source.
    n_seen : int
        Number of graphs in the source.
    """
    rng = random_generator(random_state)
    kept: list[Dataset] = []
    keys = np.empty(0)
    highest, n_seen = np.inf, 0
    start = time.perf_counter()
    for batch in with_progress(iter_batches(source, **options), source, progress):
        # Each graph draws a random key; the graphs with the smallest keys are the sample.
        drawn = rng.random(len(batch.graphs))
        n_seen += len(drawn)
        kept.append(batch[drawn < highest])
        keys = np.concatenate([keys, drawn[drawn < highest]])
        if len(keys) > n_graphs:
            chosen = np.sort(np.argpartition(keys, n_graphs)[:n_graphs])
            kept = [_join(kept, source, options)[chosen]]
            keys = keys[chosen]
            highest = keys.max()
    if not kept:
        raise ValueError(f"{source} holds no graphs")
    logger.debug("read %d graphs in %.2f s", n_seen, time.perf_counter() - start)
    return _join(kept, source, options), n_seen


def _join(parts: list[Dataset], source: Any, options: Mapping[str, Any]) -> Dataset:
    allow_missing = options.get("errors", "raise") != "raise"
    with naming(name_of(source)):
        return joined(parts, allow_missing=allow_missing)


def _embedded(batches: Iterable[Dataset], embed: Embed, bar: Bar) -> Iterator[Rows]:
    n_done = 0
    for batch in batches:
        ids = None if batch.ids is None else batch.ids.tolist()
        yield Rows(embed(batch.graphs, n_done, bar), batch.target, ids)
        n_done += len(batch.graphs)


def _checked(
    batches: Iterator[Dataset], part: PartialRows, content: Content, progress: str | None
) -> list[Dataset]:
    """Read the graphs that have rows, and make sure that they are unchanged.

    Return what is left of the last batch that was read.
    """
    if not part.rows:
        return []
    tell("resuming after %d rows", part.rows, shown=progress is not None)
    title = None if progress is None else "checking graphs that have rows"
    n_old, batch = 0, None
    with progress_bar(title, part.rows) as bar:
        while content.n_graphs < part.rows:
            batch = next(batches, None)
            if batch is None:
                raise ValueError(
                    f"{part.folder} holds {part.rows} rows, but the source has only "
                    f"{content.n_graphs} graphs: pass resume=False to start over"
                )
            n_old = min(part.rows - content.n_graphs, len(batch.graphs))
            content.add(batch[:n_old])
            bar.advance(n_old)
    if content.digest() != part.source:
        raise ValueError(
            f"{part.folder} was started with other graphs: finish it with those, or pass "
            f"resume=False to start over"
        )
    return [batch[n_old:]] if batch is not None and n_old < len(batch.graphs) else []


class Content:
    """Fingerprint of graphs, targets and ids, independent of batch boundaries."""

    def __init__(self) -> None:
        self.n_graphs = 0
        self._columns = [hashlib.blake2b(digest_size=16) for _ in range(7)]
        self._edge_columns = [hashlib.blake2b(digest_size=16) for _ in range(2)]
        self._ids = hashlib.blake2b(digest_size=16)
        self._has_ids = False

    def add(self, batch: Dataset) -> None:
        """Add the next graphs."""
        graphs = batch.graphs
        columns: list[Any] = [
            graphs.node_counts,
            np.diff(graphs.indptr),
            graphs.indices,
            graphs.adjacency_weights,
            b"" if graphs.node_labels is None else label_codes(graphs.node_labels),
            b"" if graphs.node_attributes is None else graphs.node_attributes,
            b"" if batch.target is None else target_lines(batch.target),
        ]
        for column, values in zip(self._columns, columns, strict=True):
            column.update(np.ascontiguousarray(values).data if len(values) else b"")
        edges: list[Any] = [
            b"" if graphs.edge_labels is None else label_codes(graphs.edge_labels),
            b"" if graphs.edge_attributes is None else graphs.edge_attributes,
        ]
        for column, values in zip(self._edge_columns, edges, strict=True):
            column.update(np.ascontiguousarray(values).data if len(values) else b"")
        self._has_ids = self._has_ids or graphs.ids is not None
        self._ids.update(b"null\n" * len(graphs) if graphs.ids is None else id_lines(graphs.ids))
        self.n_graphs += len(graphs)

    def digest(self, *, edge_data: bool = True, ids: bool = True) -> str:
        """Return the fingerprint of all graphs, targets and ids added so far.

        ``edge_data``: whether labels and attributes of edges count. ``ids``: whether ids count,
        if there are any.
        """
        columns = [*self._columns, *(self._edge_columns if edge_data else ())]
        columns += [self._ids] if ids and self._has_ids else []
        return hashlib.blake2b(b"".join(column.digest() for column in columns)).hexdigest()
