"""``graphmover fit``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmover.cli.options import (
    Errors,
    FitGraphs,
    Force,
    IdColumn,
    InputFormat,
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
    import numpy as np
    from numpy.typing import NDArray

    from graphmover.datasets import Dataset
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer


@takes_embedding
def fit(
    source: Source,
    model: Annotated[Path, typer.Option("--model", "-m", help="Where to save the model (.npz).")],
    embedding: GraphVectorizer | RandomGraphEmbedding,
    format: InputFormat = None,  # read with the source
    target_column: TargetColumn = None,
    id_column: IdColumn = None,
    errors: Errors = OnError.error,
    fit_graphs: FitGraphs = 10_000,
    max_bytes: MaxBytes = None,
    max_smiles: MaxSmiles = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Fit to a collection of graphs, and save the model.

    The model is a GraphVectorizer, by all that the graphs carry.
    Any option of RandomGraphEmbedding selects that: the paper's variants.
    """
    from graphmover._utils.files import require_new

    require_new(model, overwrite=force)
    options: dict[str, Any] = {"target_column": target_column, "id_column": id_column}
    options |= {"errors": errors.value, "max_bytes": max_bytes, "max_smiles": max_smiles}
    fit_to(embedding, source, fit_graphs, model, options, quiet=quiet)


def fit_to(
    embedding: GraphVectorizer | RandomGraphEmbedding,
    source: str,
    most: int,
    model: Path | None,
    options: dict[str, Any],
    *,
    quiet: bool,
) -> tuple[Dataset, NDArray[np.float64]] | None:
    """Fit to a source, or to a sample of it, and save the model if it has a name.

    ``options`` are those of `iter_batches`. Where fitting takes the distances of the whole source,
    return it and its rows.
    """
    from graphmover._utils.files import require_writable
    from graphmover.io.model_file import require_model_name
    from graphmover.io.streaming import sample_graphs

    if model is not None:
        with checking_options():
            require_model_name(model)
        require_writable(model)
    sample, n_graphs = sample_graphs(source, most, random_state=embedding.random_state, **options)
    rows = None
    if getattr(embedding, "gamma", "scale") == "scale" and len(sample.graphs) == n_graphs:
        rows = embedding.fit_transform(sample.graphs)
    else:
        embedding.fit(sample.graphs)
    if model is not None:
        embedding.save(model)
    if not quiet and (model is not None or len(sample.graphs) < n_graphs):
        where = "" if model is None else f" -> {model}"
        print(f"fitted to {len(sample.graphs)} of {n_graphs} graphs{where}", file=sys.stderr)
    return None if rows is None else (sample, rows)
