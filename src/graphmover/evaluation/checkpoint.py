"""Results of finished folds, one line of JSON each, so that a killed evaluation can be resumed."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphmover._utils.files import replacing, require_writable

_FORMAT = 2


class Checkpoint:
    """Results by key, in memory and, with a path, in a file.

    A line counts once it is complete: one that was cut short by a kill is dropped.

    Parameters
    ----------
    path : path or None
        An existing file is resumed.
    shared : mapping
        What all results have in common, such as a fingerprint of the data. An existing file must
        have the same.
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
            self._path.write_text(self._header, encoding="utf-8", newline="\n")
            return
        text = self._path.read_bytes().decode(errors="replace")
        if not text.startswith('{"format": '):
            raise ValueError(f"{self._path} exists and is not a checkpoint: name another file")
        *lines, unfinished = text.split("\n")
        try:
            found = json.loads(lines[0])
        except (IndexError, ValueError):
            found = {}
        if found != header:
            raise ValueError(
                f"{self._path} is the checkpoint of another evaluation, "
                f"{_difference(found, header)}: name another file, or delete this one"
            )
        self._results = dict(self._records(lines))
        if unfinished:
            os.truncate(self._path, self._path.stat().st_size - len(unfinished.encode()))

    def _records(self, lines: list[str]) -> Iterator[tuple[str, Any]]:
        for number, line in enumerate(lines[1:], 2):
            try:
                record = json.loads(line)
                yield record["key"], record["result"]
            except (ValueError, KeyError, TypeError):
                raise ValueError(
                    f"{self._path}, line {number}, is damaged: delete the line, and its result is "
                    f"computed again"
                ) from None

    def __contains__(self, key: str) -> bool:
        return key in self._results

    def __getitem__(self, key: str) -> Any:
        return self._results[key]

    def drop(self, obsolete: Callable[[str], bool]) -> None:
        """Remove the results with obsolete keys; the file is replaced atomically."""
        with self._lock:
            kept = {key: value for key, value in self._results.items() if not obsolete(key)}
            self._results = kept
            if self._path is None:
                return
            *lines, _ = self._path.read_text(encoding="utf-8").split("\n")
            records = [(key, result) for key, result in self._records(lines) if not obsolete(key)]
            with replacing(self._path) as file:
                file.write(self._header.encode())
                file.writelines(_line(key, result).encode() for key, result in records)

    def add(self, key: str, result: Any) -> None:
        """Keep a result; it is on disk when this returns."""
        line = _line(key, result)
        with self._lock:
            self._results[key] = json.loads(line)["result"]
            if self._path is not None:
                with open(self._path, "a", encoding="utf-8", newline="\n") as file:
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())


def _difference(found: Mapping[str, Any], header: Mapping[str, Any]) -> str:
    if found.get("format") != header["format"]:
        return "in another format"
    parts = []
    for name, value in header.items():
        other = found.get(name)
        if other != value:
            readable = isinstance(value, int) or name == "version"  # the others are fingerprints
            parts.append(f"{name}={other} not {name}={value}" if readable else f"other {name}")
    return " and ".join(parts)


def _line(key: str, result: Any) -> str:
    return json.dumps({"key": key, "result": result}) + "\n"
