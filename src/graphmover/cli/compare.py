"""``graphmover compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmover._utils.messages import printable
from graphmover.cli.command import Result
from graphmover.cli.options import NO_TARGET, Jobs, Seed, Source, Task, reads_graphs

if TYPE_CHECKING:
    from graphmover.rivals.compare import Comparison

_FIGURES = (".pdf", ".png", ".svg")


@reads_graphs
def compare(
    source: Source,
    reading: dict[str, Any],
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            "--method",
            help="A method to compare, such as WL-ST, LTP, WWL or GIN (docs/rivals.md). May be "
            "repeated.",
            show_default="those that fit the data",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Only methods whose time grows linearly with the number of graphs; 5 folds.",
        ),
    ] = False,
    task: Task = "auto",
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="Folds of the cross-validation.", show_default="10; 5 if quick"),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Repetitions, shuffled differently.")] = 1,
    figure: Annotated[
        Path | None,
        typer.Option(help="Plot scores against seconds to this .png, .svg or .pdf file."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Save finished folds to this file; if interrupted, run the same command to resume."
        ),
    ] = None,
    jobs: Jobs = -1,
    seed: Seed = 0,
) -> Result:
    """Compare methods on a collection: how well each predicts the target, and what it costs.

    Methods that suit what the graphs carry are cross-validated on the same folds; each makes its
    choices on the training set. CPU time and memory are measured on one fold, in a process of its
    own. The result says whether a cheaper method is as good as the best, within a standard error.
    """
    from graphmover.datasets import read_graphs
    from graphmover.evaluation.target import with_known_target
    from graphmover.rivals.catalogue import RIVALS, quoted_names
    from graphmover.rivals.compare import compare as compare_methods
    from graphmover.rivals.compare import draw

    for name in methods or []:
        if name not in RIVALS:
            raise typer.BadParameter(
                f"{name!r} is not one of {quoted_names()}", param_hint="--methods"
            )
    if figure is not None and figure.suffix.lower() not in _FIGURES:
        known = ", ".join(_FIGURES)
        raise typer.BadParameter(f"{figure} does not end in {known}", param_hint="--figure")
    data = read_graphs(source, **reading)
    if reading["errors"] == "skip":
        data = with_known_target(data)
    if data.target is None:
        raise ValueError(NO_TARGET.format(data.name))
    folds = folds or (5 if quick else 10)
    found = compare_methods(
        data.graphs,
        data.target,
        methods,
        quick=quick,
        task=task,
        n_folds=folds,
        n_repeats=repeats,
        random_state=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
        progress=True,
    )
    if figure is not None:
        draw(found, figure)

    def show() -> None:
        deviation = "the means of repetitions" if repeats > 1 else "folds"
        print(f"{data}; {repeats} x {folds}-fold cross-validation.")
        print(
            f"+- is the standard deviation of {deviation}, or the standard error of a difference."
        )
        print("Seconds are processor time, and MB peak memory, of one fold.\n")
        _print_table(found)
        print(f"\n{found.verdict}")
        for name, reason in found.left_out.items():
            print(f"Left out: {name}, which {reason}.")

    values = {
        "source": str(source),
        "folds": folds,
        "repeats": repeats,
        "metric": found.metric,
        "methods": found.rows,
        "left_out": found.left_out,
        "verdict": found.verdict,
    }
    return Result(values, show)


def _print_table(found: Comparison) -> None:
    width = max(len(row["method"]) for row in found.rows)
    print(f"{'method':<{width}}   {found.metric:<15}   behind the best     fit s  apply s      MB")
    for row in found.rows:
        name = f"{row['method']:<{width}}"
        if row["mean"] is None:
            print(f"{name}   {printable(row['note'])}")
            continue
        scale, digits = (100, 2) if found.metric == "accuracy" else (1, 3)
        score = f"{scale * row['mean']:6.{digits}f} +- {scale * (row['std'] or 0.0):5.{digits}f}"
        behind = ""
        if row["behind"] is not None:
            behind = f"{scale * row['behind']:5.{digits}f}"
            if row["standard_error"] is not None:
                behind += f" +- {scale * row['standard_error']:5.{digits}f}"
        times = [row["fit_seconds"], row["transform_seconds"]]
        cells = "  ".join(f"{'-' if t is None else f'{t:.3g}':>7}" for t in times)
        memory = "-" if row["peak_mb"] is None else f"{row['peak_mb']:.0f}"
        print(f"{name}   {score:<15}   {behind:<15}  {cells}  {memory:>6}")
