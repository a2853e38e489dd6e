"""``graphmover evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmover._utils.messages import printable
from graphmover.cli.command import Result
from graphmover.cli.grids import Grid, parsed_grid
from graphmover.cli.options import (
    NO_TARGET,
    Source,
    Task,
    reads_graphs,
    takes_embedding,
)
from graphmover.cli.tables import print_scores
from graphmover.parameters import PARAMETERS

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer

_VECTORIZER = "vectorizer"

_CLASSIFIER = "a linear SVM predicts, unless the method's name says otherwise"

#: Of the paper's methods; the vectorizer has a default of its own.
_COMPONENTS = int(str(PARAMETERS["n_components"].default))


@takes_embedding
@reads_graphs
def evaluate(
    source: Source,
    embedding: GraphVectorizer | RandomGraphEmbedding,
    reading: dict[str, Any],
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="A method to evaluate beside both baselines: vectorizer, or one of the paper's "
            "with its hyperparameter grid: RGE(RF), RGE(ASG), RGE(ASG)+labels, WL-RGE(ASG), EMD, "
            "EMD+labels. May be repeated.",
            show_default="vectorizer, or the RandomGraphEmbedding that options describe",
        ),
    ] = None,
    components: Annotated[
        list[int] | None,
        typer.Option(
            *("--components", "-r"),
            min=1,
            help="Number of random graphs, R; each gets its own rows. May be repeated.",
            show_default=f"1024; {_COMPONENTS} with RandomGraphEmbedding",
        ),
    ] = None,
    grid: Grid = None,
    task: Task = "auto",
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="A metric to report: accuracy, balanced_accuracy or roc_auc; for regression r2, "
            "mae or rmse. May be repeated.",
            show_default="accuracy; for regression all three",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, help="Repetitions, shuffled differently.")] = 1,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Save finished folds to this file; if interrupted, run the same command to resume."
        ),
    ] = None,
) -> Result:
    """Cross-validate how well the vectors predict the classes, or values, of a collection.

    Uses GraphVectorizer and everything the graphs carry, with logistic or ridge regression.
    Any option listed under RandomGraphEmbedding switches to that class, with an SVM or ridge
    regression whose strength is chosen on the training set.

    In every fold, random graphs are drawn from the training set, and hyperparameters are chosen on
    it. --json reports every choice of every fold.
    """
    from graphmover.datasets import read_graphs
    from graphmover.evaluation import evaluate as cross_validate
    from graphmover.evaluation import paper_methods
    from graphmover.evaluation.methods import BASELINES, REGRESSION_BASELINES
    from graphmover.evaluation.methods.random_graph_embedding import named_after_parameters
    from graphmover.evaluation.methods.vectorizer import vectorizer_pipelines
    from graphmover.evaluation.metrics import METRIC_NAMES
    from graphmover.evaluation.target import encoded_target, with_known_target
    from graphmover.vectorizer import GraphVectorizer

    for name in method or []:
        if name != _VECTORIZER and name not in paper_methods():
            known = ", ".join([_VECTORIZER, *paper_methods()])
            raise typer.BadParameter(f"{name!r} is not one of {known}", param_hint="--method")
    for name in metric or []:
        if name not in METRIC_NAMES:
            known = ", ".join(METRIC_NAMES)
            raise typer.BadParameter(f"{name!r} is not one of {known}", param_hint="--metric")

    data = read_graphs(source, **reading)
    if reading["errors"] == "skip":
        data = with_known_target(data)
    if data.target is None:
        raise ValueError(NO_TARGET.format(data.name))
    target = encoded_target(data.target, len(data), folds, task, ids=data.ids)
    regression = not len(target.classes)
    baselines = REGRESSION_BASELINES if regression else BASELINES
    n_jobs = embedding.n_jobs
    methods: list[Any] = list(method or [_VECTORIZER])
    if isinstance(embedding, GraphVectorizer):  # as it is with --method
        numbers = sorted(set(components or []))
        pipelines = vectorizer_pipelines(embedding, numbers, regression=regression)
        methods = [m for one in methods for m in (pipelines if one == _VECTORIZER else [one])]
    else:
        methods = [named_after_parameters(embedding, data.graphs, parsed_grid(grid or []))]
    result = cross_validate(
        data.graphs,
        data.target,
        [*baselines, *methods],
        task=task,
        metrics=metric,
        n_components=components or _COMPONENTS,
        n_folds=folds,
        n_repeats=repeats,
        random_state=embedding.random_state,
        n_jobs=n_jobs,
        device=embedding.device,
        checkpoint=checkpoint,
        progress=True,
    )

    def show() -> None:
        classes = "" if regression else f", {len(target.classes)} classes"
        print(f"{printable(data.name)}: {len(data):,} graphs{classes}")
        machine = "ridge regression predicts" if regression else _CLASSIFIER
        print(f"{repeats} x {folds}-fold cross-validation; {machine}")
        print(f"+- is the standard deviation of {'folds' if repeats == 1 else 'repetitions'}\n")
        print_scores(result.summary())

    return Result({"summary": result.summary(), "folds": result.folds}, show)
