"""``graphmover compile``."""

from __future__ import annotations


def compile() -> None:  # the name of the command
    """Compile all CPU kernels now, so that no later command has to: for images and CI."""
    from graphmover.compilation import compile_all

    folder = compile_all()
    print("compiled code is not stored" if folder is None else folder)
