"""``graphmover embed``."""

from __future__ import annotations

import warnings
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmover._utils.messages import counted, logger
from graphmover.cli.command import Result, hinting_at_resume
from graphmover.cli.fit import fit_to
from graphmover.cli.many_workers import Workers, embed_on_workers
from graphmover.cli.options import (
    BatchSize,
    FitGraphs,
    Force,
    Restart,
    Source,
    jobs_if_given,
    reads_graphs,
    takes_embedding,
)
from graphmover.cli.standard_input import is_standard_input
from graphmover.cli.words import checking_options

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer


#: Options of units of work.
_PANEL = "Many workers"


@takes_embedding
@reads_graphs
def embed(
    context: typer.Context,
    source: Source,
    output: Annotated[
        str,
        typer.Option(
            *("--output", "-o"),
            help="A .npy, .npz, .parquet, .csv or .jsonl file; - writes CSV to standard output. "
            "With --cluster or --workers: a folder of Parquet files, as a path or URI.",
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
    restart: Restart = False,
    force: Force = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Compute on a cluster: tcp://HOST:PORT, a Dask scheduler, or ray://HOST:PORT.",
            metavar="ADDRESS",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Processes on this machine, or Ray actors.", rich_help_panel=_PANEL
        ),
    ] = None,
    gpus: Annotated[
        float,
        typer.Option(min=0, help="GPUs for each worker of the cluster.", rich_help_panel=_PANEL),
    ] = 0,
    unit_rows: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Graphs per unit of work, and rows per file of the folder.",
            show_default="100000",
            rich_help_panel=_PANEL,
        ),
    ] = None,
) -> Result:
    """Turn a collection of graphs into a matrix, one row per graph.

    Uses GraphVectorizer and everything the graphs carry.
    Any option listed under RandomGraphEmbedding switches to that class.

    After a crash, a kill or Ctrl-C the same command resumes where it stopped.
    With --errors skip or empty, OUTPUT.skipped.csv lists the graphs that could not be read.

    With --cluster or --workers, OUTPUT is a folder of Parquet files, one per unit of work.
    """
    if cluster is not None or workers is not None:
        if is_standard_input(source):
            raise typer.BadParameter(
                "workers cannot read standard input: name a file, which a resumed run finds again, "
                "or leave out --cluster and --workers"
            )
        return embed_on_workers(
            embedding,
            source,
            output,
            reading,
            Workers(cluster, workers, gpus, unit_rows, batch_size, jobs_if_given(context)),
            model=model,
            fit_graphs=fit_graphs,
            overwrite=force or restart,
        )
    for name, value in (("--gpus", gpus), ("--unit-rows", unit_rows)):
        if value:
            raise typer.BadParameter(f"leave out {name}: it is only for --cluster or --workers")
    return _embed_here(
        context,
        embedding,
        source,
        Path(output),
        reading,
        model,
        fit_graphs,
        batch_size,
        restart=restart,
        force=force,
    )


def _embed_here(
    context: typer.Context,
    embedding: GraphVectorizer | RandomGraphEmbedding,
    source: str,
    output: Path,
    reading: dict[str, Any],
    model: Path | None,
    fit_graphs: int,
    batch_size: int | None,
    *,
    restart: bool,
    force: bool,
) -> Result:
    """Embed in this process, into one file."""
    from graphmover._utils.files import require_new, require_other_file, require_writable
    from graphmover.io.output import finisher_of
    from graphmover.io.reading import ReadingOptions
    from graphmover.nodes.input_warnings import EMPTY

    if str(output) == "-":
        if context.params["as_json"]:
            raise typer.BadParameter("leave out --json: standard output has the vectors, in CSV")
    else:  # fail on an unwritable output before the work
        with checking_options():
            finisher_of(output)
        require_other_file(source, output)
        require_writable(output)
        require_new(output, overwrite=force)
    graphs: Any = source
    options, rows = reading, None
    if not any(hasattr(embedding, name) for name in ("random_graphs_", "views_")):
        unlisted: deque[object] = deque(maxlen=0)  # listed as they are read for the output
        with warnings.catch_warnings():  # their rows in the output have a warning of their own
            warnings.filterwarnings("ignore", message=f".* graphs {EMPTY}")
            fitted = fit_to(embedding, source, fit_graphs, model, {**reading, "skipped": unlisted})
        rows = fitted.rows  # a small source has its distances computed only once
        if rows is not None and reading["errors"] == "raise":  # and is read only once
            graphs = fitted.sample
            of_files = {"target_column": None, "id_column": None, "keep_direction": False}
            options = {**reading, **of_files}
    with hinting_at_resume(output):
        n_graphs, n_features = embedding._write_vectors(
            graphs,
            output,
            batch_size,
            ReadingOptions(**options),
            resume=not restart,
            overwrite=force,
            known=rows,
        )
    where = "standard output" if str(output) == "-" else output
    shape = f"{counted(n_graphs, 'graph')} x {counted(n_features, 'feature')}"
    logger.info("%s -> %s", shape, where)
    values = {"output": str(output), "graphs": n_graphs, "features": n_features}
    return Result({**values, "seed": embedding.random_state})
