"""``graphmover convert``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from graphmover.cli.options import BatchSize, MaxBytes, MaxSmiles, Quiet, Source, TargetColumn
from graphmover.cli.words import checking_options


def convert(
    source: Source,
    output: Annotated[
        Path, typer.Argument(help="A .parquet, .jsonl or .ndjson file.", metavar="OUTPUT")
    ],
    target_column: TargetColumn = None,
    batch_size: BatchSize = None,
    max_bytes: MaxBytes = None,
    max_smiles: MaxSmiles = None,
    quiet: Quiet = False,
) -> None:
    """Write a collection of graphs in another format."""
    from graphmover.datasets import write_graphs
    from graphmover.io.formats import writer_of

    with checking_options():
        writer_of(output)
    n_graphs = write_graphs(
        source,
        output,
        target_column=target_column,
        batch_size=batch_size or 10_000,
        max_bytes=max_bytes,
        max_smiles=max_smiles,
    )
    if not quiet:
        print(f"{n_graphs} graphs -> {output}", file=sys.stderr)
