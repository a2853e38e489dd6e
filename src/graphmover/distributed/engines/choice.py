"""Engines by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphmover._utils.checks import is_integer
from graphmover.distributed.engines.dask import Dask
from graphmover.distributed.engines.processes import Processes
from graphmover.distributed.engines.protocol import Engine
from graphmover.distributed.engines.ray import Ray
from graphmover.distributed.engines.serial import Serial

#: Each with the settings that it takes.
ENGINES: dict[str, tuple[Callable[..., Engine], tuple[str, ...]]] = {
    "processes": (Processes, ("workers",)),
    "dask": (Dask, ("client", "resources")),
    "ray": (Ray, ("workers", "num_gpus")),
    "serial": (Serial, ()),
}


def engine_of(
    name: str | None,
    *,
    client: Any = None,
    workers: int | None = None,
    resources: dict[str, float] | None = None,
    num_gpus: float = 0,
) -> Engine:
    """Return the engine of a name, with its settings."""
    if name is None:
        name = "processes" if client is None else "dask"
    if name not in ENGINES:
        known = ", ".join(map(repr, ENGINES))
        raise ValueError(f"engine must be one of {known}, got {name!r}")
    if not _is_amount(num_gpus):
        raise ValueError(f"num_gpus must be a number, at least 0, got {num_gpus!r}")
    if resources is not None and not (
        isinstance(resources, dict) and all(map(_is_amount, resources.values()))
    ):
        raise ValueError(
            f"resources must be a dict of numbers, such as {{'GPU': 1}}, got {resources!r}"
        )
    make, takes = ENGINES[name]
    given = {"client": client, "workers": workers, "resources": resources, "num_gpus": num_gpus}
    for setting, value in given.items():
        if value and setting not in takes:
            raise ValueError(f"leave out {setting}: it has no effect with engine={name!r}")
    return make(**{setting: given[setting] for setting in takes})


def _is_amount(value: Any) -> bool:
    return (is_integer(value) or isinstance(value, float)) and 0 <= value < float("inf")
