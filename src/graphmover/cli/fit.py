"""``graphmover fit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from graphmover._utils.messages import counted, logger
from graphmover.cli.command import Result
from graphmover.cli.fitted import fitted_values, print_fitted
from graphmover.cli.options import FitGraphs, Force, Source, reads_graphs, takes_embedding
from graphmover.cli.words import checking_options

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphmover.datasets import Dataset
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer


@takes_embedding
@reads_graphs
def fit(
    source: Source,
    model: Annotated[Path, typer.Option("--model", "-m", help="Where to save the model (.npz).")],
    embedding: GraphVectorizer | RandomGraphEmbedding,
    reading: dict[str, Any],
    fit_graphs: FitGraphs = 10_000,
    force: Force = False,
) -> Result:
    """Fit to a collection of graphs, save the model, and show what was fitted.

    Uses GraphVectorizer and everything the graphs carry.
    Any option listed under RandomGraphEmbedding switches to that class.
    """
    from graphmover._utils.files import require_new

    require_new(model, overwrite=force)
    sample, n_graphs, _ = fit_to(embedding, source, fit_graphs, model, reading)
    fitted = fitted_values(embedding, sample.graphs)
    values = {"model": str(model), "fitted_to": len(sample.graphs), "graphs": n_graphs, **fitted}
    return Result(values, lambda: print_fitted(fitted), is_message=True)


class Fitted(NamedTuple):
    """What `fit_to` read and computed."""

    sample: Dataset  # the graphs it fitted to
    n_graphs: int  # how many the source has
    rows: NDArray[np.float64] | None  # of all graphs, where fitting takes their distances


def fit_to(
    embedding: GraphVectorizer | RandomGraphEmbedding,
    source: str,
    most: int,
    model: Path | None,
    reading: dict[str, Any],
) -> Fitted:
    """Fit to a source, or to a sample of it, and save the model if it has a name.

    ``reading`` are the options of `iter_batches`.
    """
    from graphmover._utils.files import require_writable
    from graphmover.io.model_file import require_model_name
    from graphmover.io.streaming import sample_graphs

    if model is not None:
        with checking_options():
            require_model_name(model)
        require_writable(model)
    sample, n_graphs = sample_graphs(
        source, most, random_state=embedding.random_state, progress="reading graphs", **reading
    )
    rows = None
    if isinstance(getattr(embedding, "gamma", "scale"), str) and len(sample.graphs) == n_graphs:
        rows = embedding.fit_transform(sample.graphs)
    else:
        embedding.fit(sample.graphs)
    if model is not None:
        embedding.save(model)
    if model is not None or len(sample.graphs) < n_graphs:
        where = "" if model is None else f" -> {model}"
        logger.info("fitted to %d of %s%s", len(sample.graphs), counted(n_graphs, "graph"), where)
    return Fitted(sample, n_graphs, rows)
