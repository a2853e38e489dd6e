"""``graphmover compile``."""

from __future__ import annotations

from graphmover.cli.command import Result


def compile() -> Result:  # the name of the command
    """Compile all CPU kernels now, for container images and CI, so that no later command has to."""
    from graphmover.compilation import compile_all

    folder = compile_all()
    values = {"folder": None if folder is None else str(folder)}
    return Result(values, lambda: print(folder or "compiled code is not stored"))
