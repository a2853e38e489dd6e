"""Rows on their way to a file: what is committed survives any end of the process.

They wait in the folder NAME.part beside the output. A row counts once the journal says so,
and the journal is replaced as a whole, so that a kill at any moment leaves a state to go on
from: bytes beyond the journal's count are cut off.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.files import replacing, require_writable

_FORMAT = 1


class PartialRows:
    """Rows of equal length and their targets, in a folder that a later run can go on with.

    Parameters
    ----------
    output : path
        The file that will hold the rows.
    n_columns : int
        The length of a row.
    model : str
        A fingerprint of what computes the rows.
    resume : bool
        Go on with what an earlier run left, rather than begin anew.
    """

    def __init__(
        self, output: str | os.PathLike[str], n_columns: int, *, model: str, resume: bool
    ) -> None:
        require_writable(output)
        self.output = Path(output)
        self.folder = self.output.with_name(f"{self.output.name}.part")
        self.n_columns = n_columns
        self.model = model
        self.rows = 0
        self.source = ""  # a fingerprint of the graphs whose rows are committed
        self._target_bytes = 0
        self._resume = resume

    def __enter__(self) -> Self:
        self.folder.mkdir(exist_ok=True)
        self._lock = _locked(self.folder / "lock", self.output)
        try:
            journal = self._journal()
        except ValueError:
            self._lock.close()
            raise
        if journal is not None:
            self.rows, self.source = journal["rows"], journal["source"]
            self._target_bytes = journal["target_bytes"]
        self._vectors = _opened(self.vectors, self._header_size() + self._row_size() * self.rows)
        self._targets = _opened(self.folder / "target.jsonl", self._target_bytes)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._vectors.close()
        self._targets.close()
        if kind is None or not self.rows:
            shutil.rmtree(self.folder)
        self._lock.close()

    @property
    def vectors(self) -> Path:
        """The rows as a ``.npy`` file, which is one after `close_vectors`."""
        return self.folder / "vectors.npy"

    def append(
        self, vectors: NDArray[np.float64], target: NDArray[Any] | None, source: str
    ) -> None:
        """Add rows and commit them."""
        self._vectors.write(np.ascontiguousarray(vectors, dtype="<f8").data)
        if target is not None:
            self._targets.write(target_lines(target))
        for file in (self._vectors, self._targets):
            file.flush()
            os.fsync(file.fileno())
        self.rows += len(vectors)
        self.source = source
        journal = {
            "format": _FORMAT,
            "model": self.model,
            "columns": self.n_columns,
            "rows": self.rows,
            "source": source,
            "target_bytes": self._targets.tell(),
        }
        with replacing(self.folder / "journal.json") as file:
            file.write(json.dumps(journal).encode())
            file.flush()
            os.fsync(file.fileno())

    def close_vectors(self) -> Path:
        """Give the file of rows its header, and return its path."""
        self._vectors.seek(0)
        self._vectors.write(_header(self.rows, self.n_columns))
        self._vectors.flush()
        os.fsync(self._vectors.fileno())
        self._vectors.close()
        return self.vectors

    def read_target(self) -> NDArray[Any] | None:
        """Return the targets of all rows, or None where there are none."""
        self._targets.seek(0)
        values = [json.loads(line) for line in self._targets]
        if not values:
            return None
        if len(values) != self.rows:
            raise ValueError(
                f"{len(values)} of {self.rows} graphs have a target: all must, or none"
            )
        return np.asarray(values)

    def _header_size(self) -> int:
        return len(_header(0, self.n_columns))

    def _row_size(self) -> int:
        return 8 * self.n_columns

    def _journal(self) -> Any:
        """Return the journal of an earlier run, if its rows are there."""
        if not self._resume:
            (self.folder / "journal.json").unlink(missing_ok=True)
        try:
            journal = json.loads((self.folder / "journal.json").read_bytes())
            size = self.vectors.stat().st_size
            targets = (self.folder / "target.jsonl").stat().st_size
        except FileNotFoundError:  # killed before the first commit, or after the last
            return None
        if journal["format"] != _FORMAT or journal["model"] != self.model:
            raise ValueError(
                f"{self.folder} was begun with another model, after {journal['rows']} rows: "
                f"finish it with that one, or begin anew by resume=False"
            )
        complete = self._header_size() + self._row_size() * journal["rows"]
        if size < complete or targets < journal["target_bytes"]:
            raise ValueError(f"{self.folder} is damaged: begin anew by resume=False")
        return journal


def target_lines(target: NDArray[Any]) -> bytes:
    """Write targets as JSON, one on each line."""
    return "".join(json.dumps(value) + "\n" for value in target.tolist()).encode()


def _header(n_rows: int, n_columns: int) -> bytes:
    """Return the header of a .npy file, equally long for any number of rows."""
    from io import BytesIO

    stream = BytesIO()
    description = {"descr": "<f8", "fortran_order": False, "shape": (n_rows, n_columns)}
    np.lib.format.write_array_header_1_0(stream, description)
    return stream.getvalue()


def _opened(path: Path, size: int) -> IO[bytes]:
    """Open a file for appending at that size; what stands behind it is cut off."""
    file = open(path, "r+b" if path.exists() else "w+b")  # noqa: SIM115 - closed on exit
    file.truncate(size)
    file.seek(size)
    return file


def _locked(path: Path, output: Path) -> IO[bytes]:
    """Keep other processes out until the file is closed, at the latest when the process ends."""
    file = open(path, "wb")  # noqa: SIM115 - closed on exit
    try:
        import fcntl
    except ImportError:  # Windows, which would not delete the folder with an open file in it
        file.close()
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ValueError(f"another process is writing {output}") from None
    return file
