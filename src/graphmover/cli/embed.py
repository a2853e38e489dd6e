"""``graphmover embed``."""

from __future__ import annotations

import json
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmover.cli.fit import fit_to
from graphmover.cli.options import (
    BatchSize,
    Errors,
    FitGraphs,
    Force,
    IdColumn,
    InputFormat,
    Json,
    MaxBytes,
    MaxSmiles,
    OnError,
    Quiet,
    Source,
    TargetColumn,
    takes_embedding,
)
from graphmover.cli.words import checking_options

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer


@takes_embedding
def embed(
    source: Source,
    output: Annotated[
        Path,
        typer.Option(
            *("--output", "-o"),
            help=".npy, .npz, .parquet, .csv or .jsonl; - is CSV to standard output.",
        ),
    ],
    embedding: GraphVectorizer | RandomGraphEmbedding,
    model: Annotated[
        Path | None,
        typer.Option(
            *("--model", "-m"),
            help="Use this fitted model (.npz); if the file does not exist, fit and save it.",
        ),
    ] = None,
    format: InputFormat = None,  # read with the source
    target_column: TargetColumn = None,
    id_column: IdColumn = None,
    errors: Errors = OnError.error,
    fit_graphs: FitGraphs = 10_000,
    batch_size: BatchSize = None,
    max_bytes: MaxBytes = None,
    max_smiles: MaxSmiles = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard what an interrupted run left.")
    ] = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Turn a collection of graphs into a matrix, one row per graph.

    Vectors are those of GraphVectorizer, by all that the graphs carry.
    Any option of RandomGraphEmbedding selects that: the paper's variants.

    After a crash, a kill or Ctrl-C the same command resumes where it stopped.
    OUTPUT.skipped.csv lists the graphs that --errors skip or empty did not read.
    """
    from graphmover._utils.files import require_new, require_other_file, require_writable
    from graphmover.io.output import finisher_of

    if str(output) != "-":  # an unwritable output is an error before the work
        with checking_options():
            finisher_of(output)
        require_other_file(source, output)
        require_writable(output)
        require_new(output, overwrite=force)
    graphs: Any = source
    rows = None
    options: dict[str, Any] = {"target_column": target_column, "id_column": id_column}
    options |= {"errors": errors.value, "max_bytes": max_bytes, "max_smiles": max_smiles}
    if not any(hasattr(embedding, name) for name in ("random_graphs_", "views_")):
        unlisted: deque[object] = deque(maxlen=0)  # listed as they are read for the output
        sampling = {**options, "skipped": unlisted}
        fitted = fit_to(embedding, source, fit_graphs, model, sampling, quiet=quiet)
        if fitted is not None:  # a small source has its distances computed only once
            sample, rows = fitted
            if errors is OnError.error:  # and is read only once
                graphs = sample
                options |= {"target_column": None, "id_column": None}
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
            print("graphmover: run the same command again to resume", file=sys.stderr)
        raise
    if as_json:
        print(json.dumps({"output": str(output), "graphs": n_graphs, "features": n_features}))
    elif not quiet:
        where = "standard output" if str(output) == "-" else output
        print(f"{n_graphs} graphs x {n_features} features -> {where}", file=sys.stderr)
