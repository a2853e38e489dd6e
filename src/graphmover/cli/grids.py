"""Hyperparameter grids on the command line: ``--grid gamma=0.3,1,3``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from graphmover.parameters import PARAMETERS, Integer

#: What a grid may hold, by the names of options.
_SEARCHED = {
    PARAMETERS[name].option.removeprefix("--"): name
    for name in ("max_random_nodes", "n_dimensions", "wl_iterations", "gamma")
}


def _checked(texts: list[str] | None) -> list[str] | None:
    parsed_grid(texts or [])
    return texts


Grid = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        help=f"Values of an option to choose among on the training set, such as gamma=0.3,1,3 "
        f"(multiples of 1 / median distance): {', '.join(_SEARCHED)}. May be repeated.",
        callback=_checked,
        metavar="NAME=VALUE,...",
    ),
]


def parsed_grid(texts: Iterable[str]) -> dict[str, list[Any]]:
    """Return the values by parameter."""
    grid: dict[str, list[Any]] = {}
    for text in texts:
        option, equals, values = text.partition("=")
        name = _SEARCHED.get(option.removeprefix("--").replace("_", "-"))
        if name is None or not equals or not values:
            known = ", ".join(_SEARCHED)
            raise typer.BadParameter(
                f"{text!r} is not NAME=VALUE,VALUE,... with a NAME of {known}", param_hint="--grid"
            )
        if name in grid:
            raise typer.BadParameter(f"{option} has two grids: join them", param_hint="--grid")
        grid[name] = [_value(name, value.strip()) for value in values.split(",")]
    return grid


def _value(name: str, text: str) -> Any:
    rule = PARAMETERS[name].rule
    if isinstance(rule, Integer) and text == rule.none:
        return None
    value: int | float | None
    try:
        value = int(text) if isinstance(rule, Integer) else float(text)
    except ValueError:  # "scale", too: gamma of a grid is a multiple of it
        value = None
    if value is None or not rule.accepts(value):
        expected = str(rule).replace("None", str(getattr(rule, "none", None)))
        expected = expected.partition(", ")[0]
        option = PARAMETERS[name].option.removeprefix("--")
        raise typer.BadParameter(f"{option} must be {expected}, got {text!r}", param_hint="--grid")
    return value
