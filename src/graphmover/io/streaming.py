"""Collections that do not fit in memory: rows computed batch by batch, and samples."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from graphmover._utils.random_state import RandomState, random_generator
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.io.chunks import joined, naming, rows_of
from graphmover.io.formats import iter_batches
from graphmover.io.output import finisher_of, write_to_stdout
from graphmover.io.partial import PartialRows, target_lines
from graphmover.nodes.labels import label_codes

Floats = NDArray[np.float64]
#: Computes the rows of graphs, the first of which has that number in the source.
Embed = Callable[[GraphBatch, int], Floats]


def write_rows(
    batches: Iterable[Dataset],
    embed: Embed,
    output: str | os.PathLike[str],
    *,
    names: NDArray[Any],
    model: str,
    resume: bool = True,
    progress: str | None = None,
    total: int | None = None,
) -> int:
    """Write a row per graph to a file, in the memory of one batch; return how many.

    Parameters
    ----------
    embed : function
        Computes the rows of a batch, whose first graph has that number; each must depend on its
        graph alone.
    names : array of str
        Names of the columns.
    model : str
        A fingerprint of ``embed``.
    resume : bool
        Go on with what an earlier run left. Its graphs are read again and must be the same.
    progress : str, optional
        The title of a progress bar.
    total : int, optional
        How many graphs there are, if that is known.
    """
    with tqdm(total=total, desc=progress, unit="graph", disable=progress is None) as bar:
        if os.fspath(output) == "-":
            return write_to_stdout(_computed(batches, embed, bar), names)
        finish = finisher_of(output)
        with PartialRows(output, len(names), model=model, resume=resume) as part:
            content = Content()
            if part.rows:
                _start_at(part.rows, bar)
            for batch in _new(batches, part, content):
                content.add(batch)
                part.append(embed(batch.graphs, part.rows), batch.target, content.digest())
                bar.update(len(batch.graphs))
            if content.n_graphs < part.rows:
                raise ValueError(
                    f"{part.folder} holds {part.rows} rows, but the source has only "
                    f"{content.n_graphs} graphs: begin anew by resume=False"
                )
            finish(part, names)
            return part.rows


def sample_graphs(
    source: Any, n_graphs: int, *, random_state: RandomState = None, **options: Any
) -> tuple[Dataset, int]:
    """Draw graphs evenly from a collection, in the memory of a batch and of the sample.

    Parameters
    ----------
    source, options
        What `iter_batches` takes.
    n_graphs : int
        How many to draw; where there are no more, all are taken.

    Returns
    -------
    sample : Dataset
        Graphs and targets in the order of the source.
    n_seen : int
        The number of graphs in the source.
    """
    rng = random_generator(random_state)
    kept: list[Dataset] = []
    keys = np.empty(0)
    highest, n_seen = np.inf, 0
    for batch in iter_batches(source, **options):
        # One number for each graph of the source: those with the smallest are the sample.
        drawn = rng.random(len(batch.graphs))
        n_seen += len(drawn)
        kept.append(_chosen(batch, drawn < highest))
        keys = np.concatenate([keys, drawn[drawn < highest]])
        if len(keys) > n_graphs:
            chosen = np.sort(np.argpartition(keys, n_graphs)[:n_graphs])
            kept = [_chosen(_joined(kept, source), chosen)]
            keys = keys[chosen]
            highest = keys.max()
    if not kept:
        raise ValueError(f"{source} holds no graphs")
    return _joined(kept, source), n_seen


def _joined(parts: list[Dataset], source: Any) -> Dataset:
    with naming(os.fspath(source) if isinstance(source, str | os.PathLike) else "graphs"):
        return joined(parts)


def _chosen(data: Dataset, which: NDArray[Any]) -> Dataset:
    target = None if data.target is None else data.target[which]
    return Dataset(data.name, data.graphs[which], target, data.target_names)


def _computed(
    batches: Iterable[Dataset], embed: Embed, bar: Any
) -> Iterator[tuple[Floats, NDArray[Any] | None]]:
    n_done = 0
    for batch in batches:
        yield embed(batch.graphs, n_done), batch.target
        n_done += len(batch.graphs)
        bar.update(len(batch.graphs))


def _start_at(n_rows: int, bar: Any) -> None:
    """Let a progress bar, if it is shown, begin where an earlier run stopped, and say so."""
    if bar.disable:
        return
    bar.write(f"resuming after {n_rows} rows", file=sys.stderr)
    bar.n = bar.initial = n_rows
    bar.refresh()


def _new(batches: Iterable[Dataset], part: PartialRows, content: Content) -> Iterator[Dataset]:
    """Yield graphs that have no row yet, after the others have proved to be the same."""
    n_done = part.rows
    for batch in batches:
        n_old = min(n_done - content.n_graphs, len(batch.graphs))
        if n_old <= 0:
            yield batch
            continue
        content.add(rows_of(batch, 0, n_old))
        if content.n_graphs == n_done:
            if content.digest() != part.source:
                raise ValueError(
                    f"{part.folder} was begun with other graphs: finish it with those, or begin "
                    f"anew by resume=False"
                )
            if n_old < len(batch.graphs):
                yield rows_of(batch, n_old)


class Content:
    """A fingerprint of graphs and targets that does not depend on how they are cut in batches."""

    def __init__(self) -> None:
        self.n_graphs = 0
        self._columns = [hashlib.blake2b(digest_size=16) for _ in range(7)]

    def add(self, batch: Dataset) -> None:
        """Take in the next graphs."""
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
        self.n_graphs += len(graphs)

    def digest(self) -> str:
        """Return what is the same for the same graphs and targets."""
        return hashlib.blake2b(b"".join(column.digest() for column in self._columns)).hexdigest()
