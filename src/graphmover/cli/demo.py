"""``graphmover demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphmover.cli.command import Result
from graphmover.cli.options import Components, Jobs, Seed
from graphmover.cli.tables import print_scores
from graphmover.cli.words import checking_options

_PICTURE = Path("graphmover-demo.png")

#: One run of 5 folds with 240 graphs and R = 128: the view of eigenvectors alone reached 95 %, that
#: of structure 73 %, refined degrees chance; all with weight 1 for eigenvectors 96 %, in place of
#: 91 %. R = 1,024 (92 %) and C = 100 (90 %) changed little.
_WHY = """\
On these families the paper's own method, RGE(ASG), beats the general-purpose one: they differ
mostly in their shape as a whole, which its coordinates, eigenvectors of the Laplacian, capture
best. GraphVectorizer uses them too, but with a small weight, chosen on the real data sets of
docs/results.md (advice: docs/which-option.md)."""


def demo(
    graphs: Annotated[int, typer.Option(min=60, help="Number of graphs.")] = 240,
    components: Components = 128,
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Where to save the picture (.png, .svg, .pdf).",
            show_default="graphmover-demo.png, if matplotlib is installed",
        ),
    ] = None,
    jobs: Jobs = -1,
    seed: Seed = 0,
) -> Result:
    """Generate six families of graphs; turn them into vectors, classify and plot them."""
    from graphmover._utils.messages import logger
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
    if lacking:
        logger.info("no picture drawn: %s", lacking)
    else:
        draw_embedding(vectors, data, drawn)

    def show() -> None:
        families = data.target_names or ()
        print(f"{len(data.graphs)} graphs of {len(families)} families: {', '.join(families)}")
        print("matched in size and density; 5-fold cross-validation;")
        print("a linear SVM predicts, unless the method's name says otherwise\n")
        print_scores(scores)
        if scores[-1]["mean"] > scores[0]["mean"]:
            print(f"\n{_WHY}")
        if not lacking:
            print(f"\nPicture: {drawn}")

    return Result({"picture": None if lacking else str(drawn), "summary": scores}, show)
