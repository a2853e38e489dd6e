"""Lists of values of an estimator's parameters, of which all combinations are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

ParameterGrid = Mapping[str, Sequence[Any]]


def require_parameters(name: str, estimator: Any, grid: ParameterGrid) -> None:
    """Raise an error unless a method's grid has lists of values of its estimator's parameters."""
    for parameter, values in grid.items():
        if parameter not in estimator.get_params():
            raise ValueError(
                f"the grid of {name!r} has {parameter!r}, expected parameters of "
                f"{type(estimator).__name__}: {', '.join(estimator.get_params())}"
            )
        if isinstance(values, str) or not len(values):
            raise ValueError(f"the grid of {name!r} has {values!r}, expected a list of values")


def combinations(grid: ParameterGrid) -> list[dict[str, Any]]:
    """Return all combinations of values; of an empty grid the one without any."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def in_words(chosen: Mapping[str, Any]) -> str:
    """Return a combination as text, for the table of results."""
    return ", ".join(f"{name}={value}" for name, value in chosen.items())
