"""Results of folds, a line of JSON each, so that a killed evaluation can go on."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from graphmover._files import require_writable

_FORMAT = 2


class Journal:
    """Results by key, in memory and, with a path, in a file.

    A line counts when it is complete: one that a kill has cut short is dropped.

    Parameters
    ----------
    path : path or None
        A file that is there is gone on with.
    shared : mapping
        What all results have in common, such as a fingerprint of the data; that in the file must
        be the same.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, shared: Mapping[str, str | int]
    ) -> None:
        self._path = None if path is None else Path(path)
        self._results: dict[str, Any] = {}
        self._lock = threading.Lock()
        if self._path is None:
            return
        require_writable(self._path)
        header = {"format": _FORMAT, **shared}
        self._header = json.dumps(header) + "\n"
        if not self._path.exists() or not self._path.stat().st_size:
            self._path.write_text(self._header)
            return
        text = self._path.read_bytes().decode(errors="replace")
        if not text.startswith('{"format": '):
            raise ValueError(f"{self._path} is there already, and is no journal: name another file")
        *lines, unfinished = text.split("\n")
        found = json.loads(lines[0]) if lines else {}
        other = [name for name, value in header.items() if found.get(name) != value]
        if "format" in other:
            other = ["format"]  # its names are others too
        if other:
            raise ValueError(
                f"{self._path} is the journal of another evaluation, of different "
                f"{' and '.join(other)}: name another file, or delete this one"
            )
        for line in lines[1:]:
            record = json.loads(line)
            self._results[record["key"]] = record["result"]
        if unfinished:
            os.truncate(self._path, self._path.stat().st_size - len(unfinished.encode()))

    def __contains__(self, key: str) -> bool:
        return key in self._results

    def __getitem__(self, key: str) -> Any:
        return self._results[key]

    def drop(self, useless: Callable[[str], bool]) -> None:
        """Forget the results with such keys."""
        with self._lock:
            useful = {key: value for key, value in self._results.items() if not useless(key)}
            self._results = useful
            if self._path is None:
                return
            new = self._path.with_name(self._path.name + ".new")
            with open(new, "w") as file:
                file.write(self._header)
                file.writelines(_line(key, result) for key, result in self._results.items())
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self._path)

    def add(self, key: str, result: Any) -> None:
        """Keep a result; it is on disk when this returns."""
        line = _line(key, result)
        with self._lock:
            self._results[key] = json.loads(line)["result"]
            if self._path is not None:
                with open(self._path, "a") as file:
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())


def _line(key: str, result: Any) -> str:
    return json.dumps({"key": key, "result": result}) + "\n"
