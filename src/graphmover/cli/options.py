"""Options that several commands share; those of the estimator stand here alone."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmover.cli.words import checking_options

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding


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


class Device(StrEnum):
    """What computes distances."""

    cpu = "cpu"
    cuda = "cuda"
    auto = "auto"


def _number_of_jobs(value: int) -> int:
    if value == 0:
        raise typer.BadParameter("must be a whole number other than 0")
    return value


Source = Annotated[
    str,
    typer.Argument(
        help="A .parquet, .jsonl, .ndjson, .smi, .csv, .graphml or .gml file, a folder of CSV, "
        "GraphML or GML files, or a TU set: its name, folder or zip.",
        metavar="SOURCE",
    ),
]
TargetColumn = Annotated[
    str | None,
    typer.Option(
        help="Column, or attribute of a graph, with the target.", show_default="target, if any"
    ),
]
BatchSize = Annotated[
    int | None, typer.Option(min=1, help="Graphs in memory at a time.", show_default="10000")
]
FitGraphs = Annotated[
    int,
    typer.Option(min=1, help="Fit to at most this many graphs, drawn evenly from the source."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars, no messages.")]
Jobs = Annotated[
    int,
    typer.Option("--jobs", "-j", callback=_number_of_jobs, help="Threads; -1 uses all cores."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random state.")]
Components = Annotated[
    int, typer.Option("--components", "-r", min=1, help="Random graphs, one per feature: R.")
]

_PANEL = "The embedding"


def _estimator(
    context: typer.Context,
    components: Components = 256,
    gamma: Annotated[
        str, typer.Option(help='Bandwidth: a number or "scale".', rich_help_panel=_PANEL)
    ] = "scale",
    max_random_nodes: Annotated[
        int, typer.Option(min=1, help="Largest random graph: D_max.", rich_help_panel=_PANEL)
    ] = 20,
    dimensions: Annotated[
        int,
        typer.Option(min=1, help="Eigenvectors, or steps of walks: d.", rich_help_panel=_PANEL),
    ] = 4,
    node_embedding: Annotated[
        NodeEmbedding, typer.Option(help="What places a node.", rich_help_panel=_PANEL)
    ] = NodeEmbedding.laplacian,
    node_mass: Annotated[
        NodeMass, typer.Option(help="What a node weighs.", rich_help_panel=_PANEL)
    ] = NodeMass.degree,
    sampling: Annotated[
        Sampling, typer.Option(help="How random graphs are drawn.", rich_help_panel=_PANEL)
    ] = Sampling.anchor,
    node_labels: Annotated[
        NodeLabels, typer.Option(help="Whether labels count.", rich_help_panel=_PANEL)
    ] = NodeLabels.auto,
    wl_iterations: Annotated[
        int, typer.Option(min=0, help="Weisfeiler-Lehman iterations.", rich_help_panel=_PANEL)
    ] = 0,
    device: Annotated[
        Device, typer.Option(help="What computes distances.", rich_help_panel=_PANEL)
    ] = Device.cpu,
    jobs: Jobs = -1,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> RandomGraphEmbedding:
    """Return the estimator that the options describe, or the fitted model they name."""
    from graphmover.embedding import RandomGraphEmbedding

    if context.params.get("method"):
        _refuse(context, _CHOSEN_BY_METHODS, "--method has a grid of its own for it")
    model: Path | None = context.params.get("model")
    if model is not None and context.command.name != "fit" and model.exists():
        remedy = "name a file that is not there yet, and a new model is fitted and saved"
        _refuse(context, _FITTING, f"{model} is fitted already; or {remedy}")
        embedding = RandomGraphEmbedding.load(model)
        embedding.set_params(n_jobs=jobs, verbose=not quiet)
        return _checked(embedding)
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
        device=device.value,
        n_jobs=jobs,
        random_state=seed,
        verbose=not quiet,
    )
    return _checked(embedding)


def _checked(embedding: RandomGraphEmbedding) -> RandomGraphEmbedding:
    with checking_options():
        embedding._check_parameters()
    return embedding


_CHOSEN_BY_METHODS = (
    *("gamma", "max_random_nodes", "dimensions", "sampling", "node_labels"),
    *("node_embedding", "node_mass", "wl_iterations"),
)
_FITTING = ("components", *_CHOSEN_BY_METHODS, "device", "seed", "fit_graphs")


def _refuse(context: typer.Context, names: Iterable[str], reason: str) -> None:
    """Refuse options that would have no effect."""
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"leave out --{name.replace('_', '-')}: {reason}")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(
            f'must be a positive number or "scale", got {text!r}', param_hint="--gamma"
        ) from None


def takes_embedding(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the estimator's options; it gets the estimator as ``embedding``."""
    own = dict(inspect.signature(command, eval_str=True, locals=_TYPES).parameters)
    del own["embedding"]
    shared = dict(inspect.signature(_estimator, eval_str=True, locals=_TYPES).parameters)
    passed_on = [name for name in shared if name in own]

    @functools.wraps(command)
    def wrapper(**values: Any) -> None:
        options = {name: values[name] for name in shared}
        for name in shared:
            if name not in passed_on:
                del values[name]
        command(embedding=_estimator(**options), **values)

    parameters = {**own, **{k: v for k, v in shared.items() if k not in own}}
    wrapper.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters.values()]
    )
    wrapper.__annotations__ = {name: p.annotation for name, p in parameters.items()}
    return wrapper


#: What only type checkers import above.
_TYPES: dict[str, Any] = {"RandomGraphEmbedding": object}
