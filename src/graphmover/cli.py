"""The command line: each command parses, then calls one function.

Results go to standard output or to the named file, progress and messages to standard error.
Imports that take time happen inside the commands, so that ``--help`` is quick.
"""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Random Graph Embeddings: collections of graphs into vectors.",
)


class Sampling(StrEnum):
    """How random graphs are drawn."""

    anchor = "anchor"
    uniform = "uniform"


class NodeEmbedding(StrEnum):
    """What places a node."""

    laplacian = "laplacian"
    return_probability = "return-probability"
    degree = "degree"


class NodeMass(StrEnum):
    """What a node weighs."""

    degree = "degree"
    equal = "equal"


class NodeLabels(StrEnum):
    """Whether node labels count."""

    auto = "auto"
    yes = "yes"
    no = "no"


_INTERRUPTED = 130  # what shells expect after Ctrl-C

Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 uses all cores.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random state.")]
Components = Annotated[
    int, typer.Option("--components", "-r", min=1, help="Random graphs, one per feature: R.")
]


def main() -> None:
    """Run the command line; an error is one line, not a traceback."""
    try:
        app()
    except BrokenPipeError:  # the reader of our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (ImportError, OSError, TypeError, ValueError) as error:
        sys.exit(f"graphmover: {error}")
    except SystemExit as stop:
        if stop.code == _INTERRUPTED:  # leave at once, whatever threads are still busy
            print("graphmover: interrupted, nothing was written", file=sys.stderr, flush=True)
            os._exit(_INTERRUPTED)
        raise


def _show_version(wanted: bool) -> None:
    if wanted:
        from graphmover import __version__

        print(f"graphmover {__version__}")
        raise typer.Exit


@app.callback()
def _graphmover(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    graphs: Annotated[int, typer.Option(min=60, help="Number of graphs.")] = 600,
    components: Components = 256,
    picture: Annotated[
        Path, typer.Option(help="Where to save the picture (.png, .svg, .pdf).")
    ] = Path("graphmover-demo.png"),
    jobs: Jobs = -1,
    seed: Seed = 0,
) -> None:
    """Make families of graphs, embed them, tell them apart, and draw them."""
    from graphmover.demo import draw_embedding, require_picture, run_demo

    require_picture(picture)
    data, vectors, scores = run_demo(
        n_graphs=graphs, n_components=components, n_jobs=jobs, random_state=seed
    )
    families = data.target_names or ()
    print(f"{len(data.graphs)} graphs of {len(families)} families: {', '.join(families)}")
    print("matched in size and density; linear SVM, 5-fold cross-validation\n")
    width = max(len(score.method) for score in scores)
    print(f"{'method':<{width}}   accuracy       seconds")
    for score in scores:
        accuracy = f"{100 * score.mean:5.1f} +- {100 * score.std:3.1f} %"
        print(f"{score.method:<{width}}   {accuracy}   {score.seconds:5.1f}")
    draw_embedding(vectors, data, picture)
    print(f"\nPicture: {picture}")


@app.command()
def embed(
    source: Annotated[str, typer.Argument(help="A folder or zip in TU format, or a set's name.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help=".npy, .npz or .csv; - is CSV to standard output."),
    ],
    components: Components = 256,
    gamma: Annotated[str, typer.Option(help='Bandwidth: a number or "scale".')] = "scale",
    max_random_nodes: Annotated[int, typer.Option(min=1, help="Largest random graph: D_max.")] = 10,
    dimensions: Annotated[int, typer.Option(min=1, help="Eigenvectors, or steps of walks: d.")] = 6,
    node_embedding: Annotated[
        NodeEmbedding, typer.Option(help="What places a node.")
    ] = NodeEmbedding.laplacian,
    node_mass: Annotated[NodeMass, typer.Option(help="What a node weighs.")] = NodeMass.degree,
    sampling: Annotated[
        Sampling, typer.Option(help="How random graphs are drawn.")
    ] = Sampling.anchor,
    node_labels: Annotated[
        NodeLabels, typer.Option(help="Whether labels count.")
    ] = NodeLabels.auto,
    wl_iterations: Annotated[int, typer.Option(min=0, help="Weisfeiler-Lehman iterations.")] = 0,
    jobs: Jobs = -1,
    seed: Seed = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars.")] = False,
) -> None:
    """Turn a collection of graphs into a matrix, one row per graph."""
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.output import embed_dataset

    embedding = RandomGraphEmbedding(
        components,
        gamma="scale" if gamma == "scale" else _number(gamma),
        max_random_nodes=max_random_nodes,
        n_dimensions=dimensions,
        node_embedding=node_embedding.value,
        node_mass=node_mass.value,
        sampling=sampling.value,
        use_node_labels={"auto": "auto", "yes": True, "no": False}[node_labels.value],  # type: ignore[arg-type]
        wl_iterations=wl_iterations,
        n_jobs=jobs,
        random_state=seed,
        verbose=not quiet,
    )
    shape = embed_dataset(source, embedding, output)
    if not quiet:
        where = "standard output" if str(output) == "-" else output
        print(f"{shape[0]} graphs x {shape[1]} features -> {where}", file=sys.stderr)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'--gamma must be a positive number or "scale", got {text!r}') from None
