"""Translate error messages: Python's parameters have other names on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from graphmover.parameters import PARAMETERS, Flag

#: Typer has no name for the base class of all that is wrong with a command line.
UsageError: Any = typer.BadParameter.__base__

#: Options by the names that parameters have in Python.
OPTION_OF = {name: parameter.option for name, parameter in PARAMETERS.items()} | {
    "batch_size": "--batch-size",
    "unit_rows": "--unit-rows",
    "target_column": "--target-column",
    "id_column": "--id-column",
    "errors": "--errors",
    "n_folds": "--folds",
    "n_repeats": "--repeats",
    "task": "--task",
    "metrics": "--metric",
    "n_graphs": "--graphs",
    "max_bytes": "--max-bytes",
    "max_smiles": "--max-smiles",
    "keep_direction": "--keep-direction",
    "resume": "--restart",
    "overwrite": "--force",
}
#: Names of functions, which are for Python alone.
_FUNCTIONS = re.compile(r" \(gm\.\w+(, gm\.\w+)*\)")
#: What takes parameters that are options here.
_TAKES_PARAMETERS = re.compile(r"\bembedding=gm\.RandomGraphEmbedding\((.*?)\)")
_LOAD_INDEX = "load it with NearestGraphs.load"
_VALUES = {"True": "yes", "False": "no"}

#: A parameter, perhaps with a value: ``use_node_labels=True``, or at the start of a message.
_PARAMETER = re.compile(
    rf"(?:^({'|'.join(OPTION_OF)})(?= must)"
    rf"|\b({'|'.join(OPTION_OF)})=(?:(['\"])([\w.,:-]+)\3|([\w.-]+)))"
)


def in_words_of_options(message: str) -> str:
    """Replace parameter names in a message by the names of options."""

    def option(match: re.Match[str]) -> str:
        alone, name, _, quoted, bare = match.groups()
        if alone:
            return OPTION_OF[alone]
        if name in ("keep_direction", "resume", "overwrite"):
            return OPTION_OF[name]
        value = quoted or bare
        rule = PARAMETERS[name].rule if name in PARAMETERS else None
        if isinstance(rule, Flag) and value == "True":
            return OPTION_OF[name]
        if value == "None":
            value = getattr(rule, "none", None) or "none"
        return f"{OPTION_OF[name]} {_VALUES.get(value, value)}"

    message = message.replace(_LOAD_INDEX, "search it with `graphmover search`")
    message = _TAKES_PARAMETERS.sub(r"\1", _FUNCTIONS.sub("", message))
    return _PARAMETER.sub(option, message)


def usage_message(error: Any) -> str:
    """Return what is wrong with a command line, with the value that is; Typer's own omits some."""
    message: str = error.format_message().replace("Value error, ", "")  # pydantic's words
    if "Input should be" not in message:
        return message
    [first, *_] = error.__cause__.errors()
    return f"{message.replace('Input should', 'must')}, got {first['input']!r}"


@contextmanager
def checking_options() -> Iterator[None]:
    """Report a ValueError inside the block as wrong use of the command line."""
    try:
        yield
    except ValueError as error:
        raise UsageError(in_words_of_options(str(error))) from error
