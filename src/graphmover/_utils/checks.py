"""Argument checks shared by many public functions."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_missing(value: Any) -> bool:
    """Return whether a value stands for a missing one: None, NaN, or pandas' NA and NaT."""
    if isinstance(value, float | np.floating | np.datetime64):
        return bool(value != value)  # noqa: PLR0124 - that is what NaN means
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def is_choice_of_labels(value: Any) -> bool:
    """Return whether a value is allowed for ``use_node_labels``."""
    return isinstance(value, bool | np.bool_) or (isinstance(value, str) and value == "auto")


def require_integer(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Raise an error unless the value is an integer from ``least`` to ``most``."""
    if not is_integer(value):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {shown(value)}")
    if most is not None and value > most:
        raise ValueError(f"{name} must be at most {most}, got {shown(value)}")


def require_one_of(noun: str, number: Any, n_things: int) -> None:
    """Raise an error unless a number is that of one of some things, from 0."""
    if not is_integer(number):
        raise TypeError(f"the number of a {noun} must be an integer, got {number!r}")
    if not 0 <= number < n_things:
        raise ValueError(
            f"there is no {noun} {shown(number)} among {n_things} (0 to {n_things - 1})"
        )


def shown(value: Any) -> str:
    """Return the text of a value for messages; Python has none for integers that are too long."""
    try:
        return str(value)
    except ValueError:
        return f"an integer of {value.bit_length()} bits"
