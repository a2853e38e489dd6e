"""Several files as one source: a folder, or a pattern such as ``runs/*.g6``."""

from __future__ import annotations

import re
from glob import glob, has_magic
from pathlib import Path
from typing import Any


def is_pattern(path: Path) -> bool:
    """Tell a pattern from the name of a file that has the same characters."""
    return has_magic(str(path)) and not path.exists()


def files_of(path: Path, ending: str = "") -> list[Path]:
    """Return one file as it is, and those of a folder or pattern in the natural order of names."""
    if is_pattern(path):
        found = [Path(name) for name in glob(str(path), recursive=True)]
    elif path.is_dir():
        found = list(path.glob(f"*{ending}"))
    else:
        return [path]
    return sorted((file for file in found if file.is_file()), key=by_number)


def by_number(file: str | Path) -> list[Any]:
    """Sort graph2 before graph10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", str(file))]
