"""Options that several commands share; those of the estimator are derived from its parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmover.cli.command import Result, give_options, option
from graphmover.cli.standard_input import as_file, known_format
from graphmover.cli.words import checking_options
from graphmover.parameters import (
    PARAMETERS,
    Bandwidth,
    Blocks,
    Flag,
    Integer,
    OneOf,
    Parameter,
    Positive,
    YesNoAuto,
    multiple_of_scale,
)

if TYPE_CHECKING:
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer


def _number_of_jobs(value: int) -> int:
    if value == 0:
        raise typer.BadParameter("must be an integer other than 0")
    return value


def _option(name: str, **settings: Any) -> Any:
    """Return the option of one of the estimator's parameters."""
    parameter = PARAMETERS[name]
    flags = [parameter.option] if parameter.short is None else [parameter.option, parameter.short]
    return typer.Option(*flags, help=parameter.help, **settings)


Source = Annotated[
    str,
    typer.Argument(
        help="A .parquet, .jsonl, .ndjson, .smi, .csv, .graphml, .gml, .gexf, .g6, .s6, .edgelist "
        "or .edges file, a folder or a quoted pattern of such files, a folder of CSV tables, or a "
        "TU data set: its name, folder or zip; - is standard input.",
        metavar="SOURCE",
        callback=as_file,
    ),
]
InputFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Format of standard input, as a file extension: smi, g6, csv, ...",
        show_default="jsonl",
        callback=known_format,
        is_eager=True,  # known before the source is read
    ),
]
TargetColumn = Annotated[
    str | None,
    typer.Option(
        help="Column, or graph attribute, that holds the target.", show_default="target, if any"
    ),
]


def _one_of_the_tasks(value: str) -> str:
    from graphmover.evaluation.target import TASKS

    if value not in TASKS:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(TASKS)}")
    return value


Task = Annotated[
    str,
    typer.Option(
        help="classification, regression, or auto: regression if the target has numbers that are "
        "not integers.",
        callback=_one_of_the_tasks,
    ),
]
NO_TARGET = (
    "{} has no target: name the column that holds a class or value per graph with --target-column; "
    "a table of edges needs a folder, with a graphs.csv beside it that has such a column"
)

IdColumn = Annotated[
    str | None,
    typer.Option(
        help="Column, or graph attribute, that holds the id.", show_default="id or name, if any"
    ),
]


class OnError(StrEnum):
    """What to do about a graph that cannot be read."""

    error = "raise"
    skip = "skip"
    empty = "empty"


Errors = Annotated[
    OnError,
    typer.Option(
        help="What to do about a graph that cannot be read: raise an error, skip it, or put an "
        "empty graph in its place."
    ),
]
Restart = Annotated[
    bool, typer.Option("--restart", help="Discard what an interrupted run left behind.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing output.")]
BatchSize = Annotated[
    int | None, typer.Option(min=1, help="Graphs in memory at a time.", show_default="10000")
]
MaxBytes = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Maximum memory that reading SOURCE may take, in bytes.",
        show_default="1 GB, or 1000 times the size of SOURCE",
    ),
]
MaxSmiles = Annotated[
    int | None,
    typer.Option(min=1, help="Maximum number of characters in a SMILES.", show_default="50000"),
]
KeepDirection = Annotated[
    bool, typer.Option("--keep-direction", help="Keep the directions of edges, as edge labels.")
]
FitGraphs = Annotated[
    int,
    typer.Option(
        min=1, help="Fit to at most this many graphs, drawn uniformly at random from the source."
    ),
]
Jobs = Annotated[int, _option("n_jobs", callback=_number_of_jobs)]
Seed = Annotated[int, _option("random_state", min=0)]
Components = Annotated[int, _option("n_components", min=1)]
ComponentsIfGiven = Annotated[
    int | None,
    _option(
        "n_components",
        min=1,
        show_default=f"1024; {PARAMETERS['n_components'].default} with RandomGraphEmbedding",
    ),
]

#: Any of these options selects the paper's embedding.
_PANEL = "RandomGraphEmbedding (any of these selects it)"

#: Parameters whose options have other types or defaults than in Python: a command uses all cores
#: and is reproducible.
_OWN: dict[str, tuple[Any, Any]] = {
    "n_components": (ComponentsIfGiven, None),
    "n_jobs": (Jobs, -1),
    "random_state": (Seed, 0),
}


def argument_of(name: str) -> str:
    """Return what the command line calls a parameter inside Python: --max-random-nodes."""
    return PARAMETERS[name].option.removeprefix("--").replace("-", "_")


def _annotated(name: str, parameter: Parameter) -> tuple[Any, Any]:
    """Return the type of an option, and its default."""
    if name in _OWN:
        return _OWN[name]
    rule, default = parameter.rule, parameter.default
    panel = {"rich_help_panel": _PANEL} if parameter.describes_embedding else {}
    if isinstance(rule, Flag):
        return Annotated[bool, _option(name, **panel)], default
    if isinstance(rule, Integer) and rule.none is not None:
        return Annotated[str, _option(name, metavar=f"INTEGER|{rule.none}", **panel)], str(default)
    if isinstance(rule, Integer):
        return Annotated[int, _option(name, min=rule.least, max=rule.most, **panel)], default
    if isinstance(rule, OneOf | YesNoAuto):
        names: tuple[str, ...] = ("auto", "yes", "no")
        if isinstance(rule, OneOf):
            names = rule.names
        default = {True: "yes", False: "no"}.get(default, default)  # type: ignore[call-overload]
        choices = StrEnum(name, {choice.replace("-", "_"): choice for choice in names})  # type: ignore[misc]
        return Annotated[choices, _option(name, **panel)], choices(str(default))
    if type(rule) is Positive:
        return Annotated[float, _option(name, **panel)], default
    if isinstance(rule, Bandwidth | Blocks):
        return Annotated[str, _option(name, **panel)], default
    raise TypeError(f"no kind of option is known for {name}")


#: The estimator's options as a command's parameters, by the names that commands see.
OPTIONS: dict[str, inspect.Parameter] = {}
for _name, _parameter in PARAMETERS.items():
    if _name != "verbose":  # -q, which all commands have
        OPTIONS[argument_of(_name)] = option(argument_of(_name), *_annotated(_name, _parameter))

#: The options of a source.
READING: dict[str, inspect.Parameter] = {
    "format": option("format", InputFormat, None),
    "target_column": option("target_column", TargetColumn, None),
    "id_column": option("id_column", IdColumn, None),
    "errors": option("errors", Errors, OnError.error),
    "max_bytes": option("max_bytes", MaxBytes, None),
    "max_smiles": option("max_smiles", MaxSmiles, None),
    "keep_direction": option("keep_direction", KeepDirection, False),
}


def _value(name: str, given: Any) -> Any:
    """Turn what an option holds into what the estimator takes."""
    rule = PARAMETERS[name].rule
    if isinstance(given, list):  # of `evaluate`, which computes the others from the largest
        return max(given, default=None)
    if isinstance(rule, YesNoAuto):
        return {"auto": "auto", "yes": True, "no": False}[given.value]
    if isinstance(rule, OneOf):
        return given.value
    if isinstance(rule, Blocks):
        return None if given == "none" else given
    if isinstance(rule, Integer) and rule.none is not None:
        return None if given == rule.none else _integer(given, PARAMETERS[name].option, rule)
    if isinstance(rule, Bandwidth):
        return given if multiple_of_scale(given) is not None else _number(given)
    return given


def _estimator(
    context: typer.Context, options: dict[str, Any]
) -> GraphVectorizer | RandomGraphEmbedding:
    """Return the estimator that the options describe, or the fitted model they name."""
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.vectorizer import GraphVectorizer

    values = {
        name: _value(name, options[argument_of(name)])
        for name in PARAMETERS
        if argument_of(name) in OPTIONS
    }
    values["verbose"] = True  # where messages are shown
    if context.params.get("method"):
        _reject(context, _DESCRIBING, "--method has its own hyperparameter grid")
    model: Path | None = context.params.get("model")
    embedding: GraphVectorizer | RandomGraphEmbedding
    if model is not None and context.command.name != "fit" and model.exists():
        remedy = "name a file that does not exist yet, to fit and save a new model"
        _reject(context, _FITTING, f"{model} is fitted already; or {remedy}")
        embedding = _loaded(model)
        unaffected = [name for name in PARAMETERS if not PARAMETERS[name].affects_vectors]
        embedding.set_params(**{name: values[name] for name in unaffected})
    else:
        if values["n_components"] is None:
            del values["n_components"]
        if any(is_given(context, name) for name in _DESCRIBING):
            embedding = RandomGraphEmbedding(**values)
        else:
            shared = {name: value for name, value in values.items() if name in _SHARED}
            embedding = GraphVectorizer(**shared)
    with checking_options():
        embedding.check_parameters()
    return embedding


def _loaded(model: Path) -> GraphVectorizer | RandomGraphEmbedding:
    """Return the estimator of a file, whichever it is."""
    from graphmover.embedding import RandomGraphEmbedding
    from graphmover.io.model_file import FittedViews, opened_model
    from graphmover.vectorizer import GraphVectorizer

    with opened_model(model) as fitted:
        if isinstance(fitted, FittedViews):
            return GraphVectorizer._from_fitted_model(fitted)
        return RandomGraphEmbedding._from_fitted_model(fitted)


#: Parameters that both estimators have.
_SHARED = [name for name, parameter in PARAMETERS.items() if not parameter.describes_embedding]

#: Options of `RandomGraphEmbedding` alone, and those that have no effect on a fitted model.
_DESCRIBING = [*(argument_of(name) for name in PARAMETERS if name not in _SHARED), "grid"]
_FITTING = [
    *(argument_of(name) for name, parameter in PARAMETERS.items() if parameter.affects_vectors),
    "fit_graphs",
]


def _reject(context: typer.Context, names: Iterable[str], reason: str) -> None:
    """Reject options that would have no effect."""
    for name in names:
        if is_given(context, name):
            raise typer.BadParameter(f"leave out --{name.replace('_', '-')}: {reason}")


def is_given(context: typer.Context, name: str) -> bool:
    """Return whether an option is on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def jobs_if_given(context: typer.Context) -> int | None:
    """Return the number of threads, if the command line has one."""
    name = argument_of("n_jobs")
    return context.params[name] if is_given(context, name) else None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(
            f"must be {Bandwidth()}, got {text!r}", param_hint="--gamma"
        ) from None


def _integer(text: str, option: str, rule: Integer) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(
            f'must be an integer of at least {rule.least} or "{rule.none}", got {text!r}',
            param_hint=option,
        ) from None


def takes_embedding(command: Callable[..., Result]) -> Callable[..., Result]:
    """Give a command the estimator's options; it gets the estimator as ``embedding``."""
    own = dict(inspect.signature(command, eval_str=True, locals=_TYPES).parameters)
    del own["embedding"]

    @functools.wraps(command)
    def wrapper(context: typer.Context, **values: Any) -> Result:
        options = {name: values[name] for name in OPTIONS}
        for name in OPTIONS:
            if name not in own:
                del values[name]
        if "context" in own:
            values["context"] = context
        return command(embedding=_estimator(context, options), **values)

    give_options(wrapper, own | {k: one for k, one in OPTIONS.items() if k not in own})
    return wrapper


def reads_graphs(command: Callable[..., Result]) -> Callable[..., Result]:
    """Give a command the options of its source; it gets them as ``reading``, for `iter_batches`."""
    own = dict(inspect.signature(command, eval_str=True, locals=_TYPES).parameters)
    del own["reading"]

    @functools.wraps(command)
    def wrapper(context: typer.Context, **values: Any) -> Result:
        reading = {name: values.pop(name) for name in READING}
        del reading["format"]  # Source has used it
        reading["errors"] = reading["errors"].value
        if "context" in own:
            values["context"] = context
        return command(reading=reading, **values)

    give_options(wrapper, own | READING)
    return wrapper


#: What only type checkers import above.
_TYPES: dict[str, Any] = {"GraphVectorizer": object, "RandomGraphEmbedding": object}
