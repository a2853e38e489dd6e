"""Errors speak of Python's parameters; on the command line these have other names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

#: Typer has no name for the base class of all that is wrong with a command line.
UsageError: Any = typer.BadParameter.__base__

_OPTIONS = {
    "n_components": "--components",
    "gamma": "--gamma",
    "max_random_nodes": "--max-random-nodes",
    "n_dimensions": "--dimensions",
    "node_embedding": "--node-embedding",
    "node_mass": "--node-mass",
    "sampling": "--sampling",
    "use_node_labels": "--node-labels",
    "wl_iterations": "--wl-iterations",
    "device": "--device",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "batch_size": "--batch-size",
    "target_column": "--target-column",
    "n_folds": "--folds",
    "n_repeats": "--repeats",
    "n_graphs": "--graphs",
    "resume": "--restart",
}
_VALUES = {"True": "yes", "False": "no"}

#: A parameter, perhaps with a value: ``use_node_labels=True``, or at the start of a message.
_PARAMETER = re.compile(
    rf"(?:^({'|'.join(_OPTIONS)})(?= must)|\b({'|'.join(_OPTIONS)})=(['\"]?)([\w.-]+)\3)"
)


def in_words_of_options(message: str) -> str:
    """Replace Python's names in a message by those of the command line."""

    def option(match: re.Match[str]) -> str:
        alone, name, _, value = match.groups()
        if alone:
            return _OPTIONS[alone]
        if name == "resume":
            return _OPTIONS[name]
        return f"{_OPTIONS[name]} {_VALUES.get(value, value)}"

    return _PARAMETER.sub(option, message)


@contextmanager
def checking_options() -> Iterator[None]:
    """Make what a check of options refuses wrong use of the command line."""
    try:
        yield
    except ValueError as error:
        raise UsageError(in_words_of_options(str(error))) from error
