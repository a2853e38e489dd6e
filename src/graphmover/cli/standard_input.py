"""Standard input as a source: ``-``, which is kept in a file until the command ends."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import typer

STANDARD_INPUT = "-"
_DEFAULT = "jsonl"
_FOLDER, _FILE = "graphmover-", "standard-input"


def known_format(ending: str | None) -> str | None:
    """Reject the name of a format that is not read from one file."""
    from graphmover.io.formats import FILES

    if ending is None:
        return None
    ending = ending.removeprefix(".")
    if f".{ending}" not in FILES:
        known = ", ".join(name.removeprefix(".") for name in FILES)
        raise typer.BadParameter(f"{ending!r} is not one of {known}")
    return ending


def named_in(message: str) -> str:
    """Call standard input by its name in a message, and say how it was read."""
    from tempfile import gettempdir

    folder = re.escape(os.path.join(gettempdir(), _FOLDER))  # its name may have spaces
    named, n_found = re.subn(rf"({folder})?\S*{_FILE}\.\w+", "standard input", message)
    if not n_found:
        return message
    ending = re.search(rf"{_FILE}\.(\w+)", message)
    assert ending is not None
    return f"{named} (it was read as .{ending[1]}: --format names another format)"


def is_standard_input(source: str) -> bool:
    """Tell whether a source is what `as_file` has made of standard input."""
    path = Path(source)
    return path.stem == _FILE and path.parent.name.startswith(_FOLDER)


def as_file(context: typer.Context, source: str) -> str:
    """Return a source as it is, and standard input as a file: commands may read it twice."""
    ending: str | None = context.params.get("format")
    if source != STANDARD_INPUT:
        if ending is not None:
            raise typer.BadParameter(
                f"leave out --format, which is for standard input (-): the extension of {source} "
                f"tells its format"
            )
        return source
    if context.resilient_parsing:
        return source
    from shutil import copyfileobj
    from tempfile import TemporaryDirectory

    # After an error the file may still be open, and Windows removes no open file.
    folder = context.with_resource(TemporaryDirectory(prefix=_FOLDER, ignore_cleanup_errors=True))
    path = Path(folder) / f"{_FILE}.{ending or _DEFAULT}"
    with path.open("wb") as file:
        copyfileobj(sys.stdin.buffer, file)
    return str(path)
