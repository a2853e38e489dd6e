"""``graphmover index``."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmover._utils.messages import counted, logger
from graphmover.cli.command import Result, hinting_at_resume
from graphmover.cli.options import (
    BatchSize,
    FitGraphs,
    Force,
    Restart,
    Source,
    is_given,
    reads_graphs,
    takes_embedding,
)
from graphmover.cli.words import checking_options

#: Graphs that are embedded, and committed, at a time.
_BATCH_GRAPHS = 10_000

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.graphs.dataset import Dataset
    from graphmover.io.skipped_file import SkippedFile
    from graphmover.neighbors import NearestGraphs
    from graphmover.vectorizer import GraphVectorizer


@takes_embedding
@reads_graphs
def index(
    context: typer.Context,
    source: Source,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to save the index.", metavar="INDEX")
    ],
    embedding: GraphVectorizer | RandomGraphEmbedding,
    reading: dict[str, Any],
    fit_graphs: FitGraphs = 10_000,
    batch_size: BatchSize = None,
    restart: Restart = False,
    force: Force = False,
) -> Result:
    """Index a collection of graphs for `graphmover search`.

    Graphs are compared by what they carry (attributes, labels or coordinates), with 64 random
    graphs as pivots. Any option listed under RandomGraphEmbedding chooses another embedding; only
    then may --components be given.

    After a crash, a kill or Ctrl-C the same command resumes where it stopped.

    With --errors skip or empty, OUTPUT.skipped.csv lists the graphs that could not be read.
    """
    from graphmover._utils.files import require_new, require_other_file, require_writable
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.io.formats import iter_batches, with_progress
    from graphmover.io.skipped_file import listing_skipped
    from graphmover.io.streaming import sample_graphs
    from graphmover.neighbors import NearestGraphs

    require_other_file(source, output)
    require_writable(output)
    require_new(output, overwrite=force)
    settings: dict[str, Any] = {
        "device": embedding.device,
        "n_jobs": embedding.n_jobs,
        "verbose": True,
    }
    chosen = embedding if isinstance(embedding, RandomGraphEmbedding) else None
    if chosen is None and is_given(context, "components"):
        raise typer.BadParameter(
            "leave out --components: an index uses 64 random graphs, unless an option of "
            "RandomGraphEmbedding selects another embedding"
        )
    near = NearestGraphs(embedding=chosen, random_state=embedding.random_state, **settings)
    with checking_options():
        near.check_parameters()
    unlisted: deque[object] = deque(maxlen=0)  # listed as they are read for the index
    sample, n_graphs = sample_graphs(
        source,
        fit_graphs,
        random_state=embedding.random_state,
        progress="reading graphs",
        **{**reading, "skipped": unlisted},
    )
    near.fit(sample.graphs)
    near.set_params(verbose=False)
    n_indexed = len(sample.graphs)
    with listing_skipped(output, reading["errors"], overwrite=force) as skipped:
        if len(sample.graphs) == n_graphs and skipped is None:
            near.save(output)
        else:
            logger.info("fitted to %d of %s", len(sample.graphs), counted(n_graphs, "graph"))
            batches = iter_batches(source, batch_size or _BATCH_GRAPHS, skipped=skipped, **reading)
            every = with_progress(batches, source, "indexing graphs")
            n_indexed = _index_batches(near, every, output, skipped, resume=not restart)
    logger.info("%s -> %s", counted(n_indexed, "graph"), output)
    values = {"output": str(output), "graphs": n_indexed}
    return Result({**values, "fitted_to": len(sample.graphs), "seed": embedding.random_state})


def _index_batches(
    near: NearestGraphs,
    batches: Iterable[Dataset],
    output: Path,
    skipped: SkippedFile | None,
    *,
    resume: bool,
) -> int:
    """Embed graphs batch by batch into a file; return how many there are."""
    from graphmover.io.partial_index import PartialIndex

    model = near._stored()
    with hinting_at_resume(output), PartialIndex(output, model.model, resume=resume) as part:
        for batch in batches:
            part.add(batch, near._stored)
        if part.n_resumed:
            logger.info("%s from an earlier run", counted(part.n_resumed, "batch", "batches"))
        if skipped is not None:
            skipped.finish()
        return part.finish(model)
