"""Checks of arguments that many public functions share."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_choice_of_labels(value: Any) -> bool:
    """Tell whether a value may stand for ``use_node_labels``."""
    return isinstance(value, bool | np.bool_) or (isinstance(value, str) and value == "auto")


def require_whole(name: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number of at least ``least``."""
    if not is_whole(value):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
