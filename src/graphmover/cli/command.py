"""What all commands have in common: -q, -v and --json.

A command is a function that returns a `Result`. `with_common_options` gives it the three options:
it need not know them. Progress bars and messages go through the logger ``graphmover``
(`_utils/messages.py`, `_utils/progress.py`), whose level -q and -v set.
"""

from __future__ import annotations

import functools
import inspect
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from graphmover._utils.messages import logger


class Result(NamedTuple):
    """What a command found.

    Attributes
    ----------
    values : mapping
        What --json prints, in plain types. The command, the version and the seed are added;
        ``"seed"`` here overrides that of --seed, which is null where nothing is random.
    show : callable
        Prints the same for people. A command whose result is a file may log a message instead.
    is_message : bool
        Whether -q suppresses it, since the result is a file.
    """

    values: Mapping[str, Any]
    show: Callable[[], object] = lambda: None
    is_message: bool = False


Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No progress bars, no messages; warnings are shown."),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="More messages: each step, and how long it takes."),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON, with version and seed.")
]


def with_common_options(command: Callable[..., Result]) -> Callable[..., None]:
    """Give a command -q, -v and --json; print its result."""
    own = dict(inspect.signature(command, eval_str=True).parameters)

    @functools.wraps(command)
    def wrapper(
        context: typer.Context, quiet: bool, verbose: bool, as_json: bool, **values: Any
    ) -> None:
        if quiet and verbose:
            raise typer.BadParameter("-q and -v contradict each other: leave out one of them")
        if "context" in own:
            values["context"] = context
        with _level(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO):
            result = command(**values)
        if as_json:
            print(json.dumps(_record(context, result)))
        elif not (quiet and result.is_message):
            result.show()

    added = {"quiet": Quiet, "verbose": Verbose, "as_json": Json}
    # Terminals break lines where they need to; Typer would keep the docstring's breaks.
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    wrapper.__doc__ = "\n\n".join(" ".join(one.split()) for one in paragraphs)
    give_options(wrapper, own | {name: option(name, kind, False) for name, kind in added.items()})
    return wrapper


def option(name: str, kind: Any, default: Any) -> inspect.Parameter:
    """Return an option as a command's parameter."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def give_options(wrapper: Callable[..., Any], parameters: Mapping[str, inspect.Parameter]) -> None:
    """Let Typer see these parameters, and the context, in place of a function's own."""
    context = option("context", typer.Context, inspect.Parameter.empty)
    seen = {"context": context} | {k: one for k, one in parameters.items() if k != "context"}
    wrapper.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in seen.values()]
    )
    wrapper.__annotations__ = {name: one.annotation for name, one in seen.items()}


@contextmanager
def _level(level: int) -> Iterator[None]:
    before = logger.level
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)


def _record(context: typer.Context, result: Result) -> dict[str, Any]:
    from graphmover import __version__

    seed = context.params.get("seed")
    return {"command": context.command.name, "version": __version__, "seed": seed, **result.values}


@contextmanager
def hinting_at_resume(output: Path) -> Iterator[None]:
    """After Ctrl-C, say how to resume, if anything of an output is finished."""
    try:
        yield
    except KeyboardInterrupt:
        if output.with_name(f"{output.name}.part").exists():
            logger.info("run the same command again to resume")
        raise
