"""Checks of output paths, and files that are written atomically."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


def require_writable(path: str | os.PathLike[str]) -> None:
    """Raise an error if a path cannot be written: call it before long work, not after."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {target}: it is a folder")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {target}: there is no folder {target.parent}")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"cannot write {target}: the folder {target.parent} is read-only")


def require_other_file(source: Any, output: str | os.PathLike[str]) -> None:
    """Raise an error if the output is the file that is being read."""
    if not isinstance(source, str | os.PathLike):
        return
    read, written = Path(source).expanduser(), Path(output)
    if read.is_file() and written.exists() and read.samefile(written):
        raise ValueError(f"cannot write {written}: it is the source, expected another file")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces ``path`` atomically if the block raises no error."""
    require_writable(path)
    target = Path(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with open(draft, "wb") as file:
            yield file
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
