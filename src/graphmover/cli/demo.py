"""``graphmover demo``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from graphmover.cli.options import Components, Jobs, Seed
from graphmover.cli.tables import print_scores
from graphmover.cli.words import checking_options

_PICTURE = Path("graphmover-demo.png")


def demo(
    graphs: Annotated[int, typer.Option(min=60, help="Number of graphs.")] = 600,
    components: Components = 256,
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Where to save the picture (.png, .svg, .pdf).",
            show_default="graphmover-demo.png, if matplotlib is installed",
        ),
    ] = None,
    jobs: Jobs = -1,
    seed: Seed = 0,
) -> None:
    """Generate six families of graphs; turn them into vectors, classify and plot them."""
    from graphmover.demo import draw_embedding, require_picture, run_demo

    drawn, lacking = picture or _PICTURE, ""
    try:
        with checking_options():
            require_picture(drawn)
    except ImportError as error:
        if picture is not None:  # asked for
            raise
        lacking = str(error)
    data, vectors, scores = run_demo(
        n_graphs=graphs, n_components=components, n_jobs=jobs, random_state=seed
    )
    families = data.target_names or ()
    print(f"{len(data.graphs)} graphs of {len(families)} families: {', '.join(families)}")
    print("matched in size and density; 5-fold cross-validation, a linear SVM unless named\n")
    print_scores(scores)
    if lacking:
        print(f"graphmover: no picture drawn: {lacking}", file=sys.stderr)
        return
    draw_embedding(vectors, data, drawn)
    print(f"\nPicture: {drawn}")
