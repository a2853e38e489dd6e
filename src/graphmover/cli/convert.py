"""``graphmover convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from graphmover._utils.messages import counted, logger
from graphmover.cli.command import Result
from graphmover.cli.options import BatchSize, Force, Source, reads_graphs
from graphmover.cli.words import checking_options


@reads_graphs
def convert(
    source: Source,
    output: Annotated[
        Path, typer.Argument(help="A .parquet, .jsonl or .ndjson file.", metavar="OUTPUT")
    ],
    reading: dict[str, Any],
    batch_size: BatchSize = None,
    force: Force = False,
) -> Result:
    """Write a collection of graphs in another format.

    With --errors skip or empty, OUTPUT.skipped.csv lists the graphs that could not be read.
    """
    from graphmover.datasets import write_graphs
    from graphmover.io.formats import writer_of

    with checking_options():
        writer_of(output)
    n_graphs = write_graphs(
        source,
        output,
        overwrite=force,
        batch_size=batch_size or 10_000,
        progress=True,
        **reading,
    )
    logger.info("%s -> %s", counted(n_graphs, "graph"), output)
    return Result({"output": str(output), "graphs": n_graphs})
