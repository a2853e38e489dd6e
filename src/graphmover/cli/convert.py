"""``graphmover convert``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from graphmover.cli.options import (
    BatchSize,
    Errors,
    Force,
    IdColumn,
    InputFormat,
    MaxBytes,
    MaxSmiles,
    OnError,
    Quiet,
    Source,
    TargetColumn,
)
from graphmover.cli.words import checking_options


def convert(
    source: Source,
    output: Annotated[
        Path, typer.Argument(help="A .parquet, .jsonl or .ndjson file.", metavar="OUTPUT")
    ],
    format: InputFormat = None,  # read with the source
    target_column: TargetColumn = None,
    id_column: IdColumn = None,
    errors: Errors = OnError.error,
    batch_size: BatchSize = None,
    max_bytes: MaxBytes = None,
    max_smiles: MaxSmiles = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write a collection of graphs in another format.

    OUTPUT.skipped.csv lists the graphs that --errors skip or empty did not read.
    """
    from graphmover.datasets import write_graphs
    from graphmover.io.formats import writer_of

    with checking_options():
        writer_of(output)
    n_graphs = write_graphs(
        source,
        output,
        target_column=target_column,
        id_column=id_column,
        errors=errors.value,
        overwrite=force,
        batch_size=batch_size or 10_000,
        max_bytes=max_bytes,
        max_smiles=max_smiles,
    )
    if not quiet:
        print(f"{n_graphs} graphs -> {output}", file=sys.stderr)
