"""``graphmover report``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from graphmover._utils.messages import counted, logger
from graphmover.cli.command import Result
from graphmover.cli.options import Components, Force, Jobs, Seed, Source, Task, reads_graphs
from graphmover.cli.words import checking_options


class Map(StrEnum):
    """How vectors are mapped to a plane."""

    auto = "auto"
    tsne = "tsne"
    pca = "pca"


@reads_graphs
def report(
    source: Source,
    output: Annotated[Path, typer.Option(*("--output", "-o"), help="The .html file to write.")],
    reading: dict[str, Any],
    title: Annotated[
        str | None, typer.Option(help="The heading of the page.", show_default="SOURCE's name")
    ] = None,
    components: Components = 256,
    neighbors: Annotated[int, typer.Option(min=0, help="How many nearest graphs to show.")] = 5,
    task: Task = "auto",
    folds: Annotated[
        int, typer.Option(min=0, help="Folds of the cross-validation; 0 for no predictions.")
    ] = 5,
    map: Annotated[
        Map, typer.Option(help="auto: t-SNE for up to 5000 graphs, principal components for more.")
    ] = Map.auto,
    max_graphs: Annotated[
        int, typer.Option(min=1, help="Show a random sample of this many graphs if there are more.")
    ] = 20_000,
    force: Force = False,
    jobs: Jobs = -1,
    seed: Seed = 0,
) -> Result:
    """Write one HTML page that shows a collection of graphs.

    It shows what the collection holds, a map of all graphs with drawings and nearest graphs, how
    well the target is predicted, and which random graphs matter. The page works offline.
    """
    from graphmover.page.report import report as write_report
    from graphmover.page.report import require_page_name

    with checking_options():
        require_page_name(output)
        if folds == 1:
            raise ValueError("--folds must be 0 or at least 2, got 1")
    made = write_report(
        source,
        output,
        title=title,
        n_components=components,
        n_neighbors=neighbors,
        task=task,
        n_folds=folds,
        map=map.value,
        max_graphs=max_graphs,
        overwrite=force,
        n_jobs=jobs,
        random_state=seed,
        verbose=True,
        **reading,
    )
    size = f"{made.n_bytes / 1e6:.1f} MB"
    logger.info("%s -> %s (%s)", counted(made.n_graphs, "graph"), output, size)
    return Result(
        {
            "output": str(output),
            "graphs": made.n_graphs,
            "bytes": made.n_bytes,
            "seconds": made.seconds,
            **({"notes": list(made.notes)} if made.notes else {}),
        }
    )
