"""``graphmover embed``."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmover._utils.messages import counted, logger
from graphmover.cli.command import Result
from graphmover.cli.fit import fit_to
from graphmover.cli.options import (
    BatchSize,
    FitGraphs,
    Force,
    Source,
    reads_graphs,
    takes_embedding,
)
from graphmover.cli.words import checking_options

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer


@takes_embedding
@reads_graphs
def embed(
    context: typer.Context,
    source: Source,
    output: Annotated[
        Path,
        typer.Option(
            *("--output", "-o"),
            help=".npy, .npz, .parquet, .csv or .jsonl; - is CSV to standard output.",
        ),
    ],
    embedding: GraphVectorizer | RandomGraphEmbedding,
    reading: dict[str, Any],
    model: Annotated[
        Path | None,
        typer.Option(
            *("--model", "-m"),
            help="Use this fitted model (.npz); if the file does not exist, fit and save it.",
        ),
    ] = None,
    fit_graphs: FitGraphs = 10_000,
    batch_size: BatchSize = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard what an interrupted run left.")
    ] = False,
    force: Force = False,
) -> Result:
    """Turn a collection of graphs into a matrix, one row per graph.

    Vectors are those of GraphVectorizer, by all that the graphs carry.
    Any option of RandomGraphEmbedding selects that: the paper's variants.

    After a crash, a kill or Ctrl-C the same command resumes where it stopped.
    OUTPUT.skipped.csv lists the graphs that --errors skip or empty did not read.
    """
    from graphmover._utils.files import require_new, require_other_file, require_writable
    from graphmover.io.output import finisher_of

    if str(output) == "-":
        if context.params["as_json"]:
            raise typer.BadParameter("leave out --json: standard output has the vectors, in CSV")
    else:  # an unwritable output is an error before the work
        with checking_options():
            finisher_of(output)
        require_other_file(source, output)
        require_writable(output)
        require_new(output, overwrite=force)
    graphs: Any = source
    options, rows = reading, None
    if not any(hasattr(embedding, name) for name in ("random_graphs_", "views_")):
        unlisted: deque[object] = deque(maxlen=0)  # listed as they are read for the output
        fitted = fit_to(embedding, source, fit_graphs, model, {**reading, "skipped": unlisted})
        rows = fitted.rows  # a small source has its distances computed only once
        if rows is not None and reading["errors"] == "raise":  # and is read only once
            graphs = fitted.sample
            options = {**reading, "target_column": None, "id_column": None}
    try:
        n_graphs, n_features = embedding._write_vectors(
            graphs,
            output,
            batch_size,
            resume=not restart,
            overwrite=force,
            known=rows,
            **options,
        )
    except KeyboardInterrupt:
        if output.with_name(f"{output.name}.part").exists():
            logger.info("run the same command again to resume")
        raise
    where = "standard output" if str(output) == "-" else output
    shape = f"{counted(n_graphs, 'graph')} x {counted(n_features, 'feature')}"
    logger.info("%s -> %s", shape, where)
    values = {"output": str(output), "graphs": n_graphs, "features": n_features}
    return Result({**values, "seed": embedding.random_state})
