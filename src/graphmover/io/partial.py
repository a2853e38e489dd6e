"""Checkpoints of unfinished output: committed rows survive a crash or a kill.

Rows are kept in the folder NAME.part beside the output. A row is committed once the checkpoint
(``journal.json``) counts it. The checkpoint is replaced atomically, so a process killed at any
moment leaves a state to resume from: bytes beyond the committed rows are truncated.
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
    """Rows of equal length and their targets, in a folder from which a later run can resume.

    Parameters
    ----------
    output : path
        The file that will hold the rows.
    n_columns : int
        Length of a row.
    model : str
        Fingerprint of the model that computes the rows.
    resume : bool
        Resume an interrupted run rather than start over.
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
        self.source = ""  # fingerprint of the graphs whose rows are committed
        self._target_bytes = 0
        self._resume = resume

    def __enter__(self) -> Self:
        self.folder.mkdir(exist_ok=True)
        self._lock = _acquire_lock(self.folder / "lock", self.output)
        try:
            checkpoint = self._read_checkpoint()
        except ValueError:
            self._lock.close()
            raise
        if checkpoint is not None:
            self.rows, self.source = checkpoint["rows"], checkpoint["source"]
            self._target_bytes = checkpoint["target_bytes"]
        self._vectors = _open_at(self.vectors, self._header_size() + self._row_size() * self.rows)
        self._targets = _open_at(self.folder / "target.jsonl", self._target_bytes)
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
        """The rows as a ``.npy`` file, valid after `close_vectors`."""
        return self.folder / "vectors.npy"

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "journal.json"

    def append(
        self, vectors: NDArray[np.float64], target: NDArray[Any] | None, source: str
    ) -> None:
        """Append rows and commit them."""
        self._vectors.write(np.ascontiguousarray(vectors, dtype="<f8").data)
        if target is not None:
            self._targets.write(target_lines(target))
        for file in (self._vectors, self._targets):
            file.flush()
            os.fsync(file.fileno())
        self.rows += len(vectors)
        self.source = source
        checkpoint = {
            "format": _FORMAT,
            "model": self.model,
            "columns": self.n_columns,
            "rows": self.rows,
            "source": source,
            "target_bytes": self._targets.tell(),
        }
        with replacing(self._checkpoint) as file:
            file.write(json.dumps(checkpoint).encode())
            file.flush()
            os.fsync(file.fileno())

    def close_vectors(self) -> Path:
        """Write the header of the file of rows, and return its path."""
        self._vectors.seek(0)
        self._vectors.write(_header(self.rows, self.n_columns))
        self._vectors.flush()
        os.fsync(self._vectors.fileno())
        self._vectors.close()
        return self.vectors

    def read_target(self) -> NDArray[Any] | None:
        """Return the targets of all rows, or None if there are none."""
        self._targets.seek(0)
        values = [json.loads(line) for line in self._targets]
        if not values:
            return None
        if len(values) != self.rows:
            raise ValueError(
                f"{len(values)} of {self.rows} graphs have a target: expected all or none"
            )
        return np.asarray(values)

    def _header_size(self) -> int:
        return len(_header(0, self.n_columns))

    def _row_size(self) -> int:
        return 8 * self.n_columns

    def _read_checkpoint(self) -> Any:
        """Return the checkpoint of an interrupted run, or None if there is none."""
        if not self._resume:
            self._checkpoint.unlink(missing_ok=True)
        try:
            checkpoint = json.loads(self._checkpoint.read_bytes())
            size = self.vectors.stat().st_size
            targets = (self.folder / "target.jsonl").stat().st_size
        except FileNotFoundError:  # killed before the first commit, or after the last
            return None
        if checkpoint["format"] != _FORMAT or checkpoint["model"] != self.model:
            raise ValueError(
                f"{self.folder} holds {checkpoint['rows']} rows of another model: finish it with "
                f"that model, or pass resume=False to start over"
            )
        committed = self._header_size() + self._row_size() * checkpoint["rows"]
        if size < committed or targets < checkpoint["target_bytes"]:
            raise ValueError(f"{self.folder} is damaged: pass resume=False to start over")
        return checkpoint


def target_lines(target: NDArray[Any]) -> bytes:
    """Return targets as JSON lines."""
    return "".join(json.dumps(value) + "\n" for value in target.tolist()).encode()


def _header(n_rows: int, n_columns: int) -> bytes:
    """Return the header of a ``.npy`` file; its length does not depend on the number of rows."""
    from io import BytesIO

    stream = BytesIO()
    description = {"descr": "<f8", "fortran_order": False, "shape": (n_rows, n_columns)}
    np.lib.format.write_array_header_1_0(stream, description)
    return stream.getvalue()


def _open_at(path: Path, size: int) -> IO[bytes]:
    """Open a file for appending after its first ``size`` bytes; the rest is truncated."""
    file = open(path, "r+b" if path.exists() else "w+b")  # noqa: SIM115 - closed on exit
    file.truncate(size)
    file.seek(size)
    return file


def _acquire_lock(path: Path, output: Path) -> IO[bytes]:
    """Lock out other processes until the file is closed or this process ends."""
    file = open(path, "wb")  # noqa: SIM115 - closed on exit
    try:
        import fcntl
    except ImportError:  # Windows, which cannot delete a folder that holds an open file
        file.close()
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ValueError(f"another process is writing {output}") from None
    return file
