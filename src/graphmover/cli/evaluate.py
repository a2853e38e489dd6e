"""``graphmover evaluate``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from graphmover.cli._options import Json, Quiet, Source, TargetColumn, takes_embedding
from graphmover.cli._tables import print_scores

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding


@takes_embedding
def evaluate(
    source: Source,
    embedding: RandomGraphEmbedding,
    target_column: TargetColumn = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, help="Repetitions, each shuffled anew.")] = 1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Tell how well the classes of a collection can be told from the vectors.

    In every fold random graphs are drawn, and the classifier is chosen, on the training part.
    """
    from graphmover.datasets import read_graphs
    from graphmover.evaluation import cross_validate

    data = read_graphs(source, target_column=target_column)
    scores = cross_validate(
        embedding,
        data,
        n_folds=folds,
        n_repeats=repeats,
        random_state=embedding.random_state,
        progress=not quiet,
    )
    if as_json:
        print(json.dumps([score.__dict__ for score in scores]))
        return
    print(f"{data}; linear SVM, {repeats} x {folds}-fold cross-validation\n")
    print_scores(scores)
