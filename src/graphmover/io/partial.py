"""Checkpoints of unfinished output: committed rows survive a crash or a kill.

Rows are kept in the folder NAME.part beside the output. A row is committed once the checkpoint
(``journal.json``) counts it. The checkpoint is replaced atomically, so a process killed at any
moment leaves a state to resume from: bytes beyond the committed rows are truncated. Checksums
tell whether the committed bytes are still those that were written.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.files import remove_stale_drafts, require_writable
from graphmover._utils.growing_file import GrowingFile
from graphmover._utils.locks import only_writer_of
from graphmover._utils.own_folder import OwnFolder
from graphmover.graphs.columns import is_id
from graphmover.io.checkpoint import MAX_BYTES, Checkpoint
from graphmover.io.chunks import text_array

#: In the order of removal: without a checkpoint the others count for nothing.
_CHECKPOINT, _VECTORS, _TARGETS = "journal.json", "vectors.npy", "target.jsonl"
_IDS = "id.jsonl"
_NAMES = (_CHECKPOINT, _VECTORS, _TARGETS, _IDS)
_OF_ALL_FORMATS = (_CHECKPOINT, _VECTORS, _TARGETS)

#: What a killed process may leave besides: drafts of checkpoints, and the lock of old versions.
_LITTER = re.compile(r"journal\.json\.new|\.journal\.json\.\d+\.\d+\.part|lock")


#: Bytes of ids read at a time.
_BLOCK = 2**20


class Ids(NamedTuple):
    """The ids of all rows, which are not held in memory."""

    are_text: bool
    values: Iterator[str | int | None]


class PartialRows:
    """Rows of equal length, their targets and ids, in a folder from which a later run can resume.

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
    allow_missing : bool
        Allow graphs without a target beside others that have one.
    """

    def __init__(
        self,
        output: str | os.PathLike[str],
        n_columns: int,
        *,
        model: str,
        resume: bool,
        allow_missing: bool = False,
    ) -> None:
        require_writable(output)
        self.output = Path(output)
        self.folder = self.output.with_name(f"{self.output.name}.part")
        self.n_columns = n_columns
        self.model = model
        self.rows = 0
        self.source = ""  # fingerprint of the graphs whose rows are committed
        self._resume = resume
        self._allow_missing = allow_missing
        self._is_resumable = False

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(only_writer_of(self.output))
            remove_stale_drafts(self.output)
            self._files = stack.enter_context(OwnFolder(self.folder, _NAMES, _LITTER))
            # Files are missing after a kill before the first commit or after the last.
            self._is_resumable = self._resume and all(map(self._files.exists, _OF_ALL_FORMATS))
            stack.callback(self._remove_unless_resumable)
            if not self._is_resumable:
                self._files.unlink(_CHECKPOINT)
            checkpoint = self._read_checkpoint() if self._is_resumable else None
            header_size = len(_header(0, self.n_columns))
            vectors = stack.enter_context(self._files.open(_VECTORS))
            targets = stack.enter_context(self._files.open(_TARGETS))
            self._vectors = GrowingFile(vectors, header_size)
            self._targets = GrowingFile(targets)
            self._ids = GrowingFile(stack.enter_context(self._files.open(_IDS)))
            self._restore(checkpoint)
            self._closing = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_resumable = kind is not None and self.rows > 0
        self._closing.__exit__(kind, error, trace)

    def append(
        self,
        vectors: NDArray[np.float64],
        target: NDArray[Any] | None,
        source: str,
        ids: NDArray[Any] | None = None,
    ) -> None:
        """Append rows and commit them."""
        is_other = self.rows and (target is None) != (self._targets.size == 0)
        if is_other and not self._allow_missing:
            found, before = ("no target", "one") if target is None else ("a target", "none")
            raise ValueError(f"graph {self.rows} has {found}, but the graphs before have {before}")
        lines = None if target is None else target_lines(target)
        self._vectors.append(np.ascontiguousarray(vectors, "<f8").reshape(-1).view(np.uint8).data)
        self._append_lines(self._targets, lines, len(vectors))
        self._append_lines(self._ids, None if ids is None else id_lines(ids), len(vectors))
        checkpoint = Checkpoint(
            self.model,
            self.n_columns,
            self.rows + len(vectors),
            source,
            self._targets.size,
            self._vectors.checksum,
            self._targets.checksum,
            self._ids.size,
            self._ids.checksum,
        )
        self._files.replace(_CHECKPOINT, checkpoint.to_json())
        self.rows, self.source = checkpoint.rows, source

    def _append_lines(self, file: GrowingFile, lines: bytes | None, n_rows: int) -> None:
        """Append a line per row; rows that have none are null once others have one."""
        if lines is None:
            lines = b"null\n" * n_rows if file.size else b""
        elif not file.size:
            lines = b"null\n" * self.rows + lines
        if lines:
            file.append(lines)

    def finish_vectors(self) -> IO[bytes]:
        """Return the rows as a ``.npy`` file, open at its beginning."""
        self._vectors.write_header(_header(self.rows, self.n_columns))
        return self._vectors.file

    def move_vectors(self) -> None:
        """Make the ``.npy`` file of the rows the output."""
        self.finish_vectors().close()
        self._files.move(_VECTORS, self.output)

    def read_target(self) -> NDArray[Any] | None:
        """Return the targets of all rows, or None if there are none."""
        self._targets.file.seek(0)
        lines = self._targets.file.readall().splitlines()
        if not lines:
            return None
        with self._reporting_damage(_TARGETS):
            if len(lines) != self.rows:
                raise ValueError(f"it holds {len(lines)} lines, expected {self.rows}")
            return _array_of(lines)

    def ids(self) -> Ids | None:
        """Return the ids of all rows, or None if no row has one."""
        if not self._ids.size:
            return None
        with self._reporting_damage(_IDS):
            n_lines = sum(1 for _ in lines_of(self._ids.file))
            if n_lines != self.rows:
                raise ValueError(f"it holds {n_lines} lines, expected {self.rows}")
            are_text = any(line.startswith(b'"') for line in lines_of(self._ids.file))
        return Ids(are_text, self._read_ids(are_text))

    def _read_ids(self, are_text: bool) -> Iterator[str | int | None]:
        with self._reporting_damage(_IDS):
            for line in lines_of(self._ids.file):
                value = json.loads(line)
                if value is not None and not is_id(value):
                    raise ValueError(f"it holds {value!r:.80}, expected a string or an integer")
                yield str(value) if are_text and value is not None else value

    def _read_checkpoint(self) -> Checkpoint:
        with self._reporting_damage(_CHECKPOINT), self._files.open(_CHECKPOINT) as file:
            checkpoint = Checkpoint.from_json(file.read(MAX_BYTES + 1))
            if checkpoint.columns != self.n_columns and checkpoint.model == self.model:
                raise ValueError(f"columns is {checkpoint.columns}, expected {self.n_columns}")
        if checkpoint.model != self.model:
            raise ValueError(
                f"{self.folder} holds {checkpoint.rows} rows of another model: finish it with "
                f"that model, or pass resume=False to start over"
            )
        return checkpoint

    def _restore(self, checkpoint: Checkpoint | None) -> None:
        """Verify the committed rows and targets, and truncate what follows them."""
        if checkpoint is None:
            self._vectors.restore(0, None)
            self._targets.restore(0, None)
            self._ids.restore(0, None)
            return
        with self._reporting_damage(_VECTORS):
            n_bytes = 8 * self.n_columns * checkpoint.rows
            self._vectors.restore(n_bytes, checkpoint.vectors_checksum)
        with self._reporting_damage(_TARGETS):
            self._targets.restore(checkpoint.target_bytes, checkpoint.target_checksum)
        with self._reporting_damage(_IDS):
            self._ids.restore(checkpoint.id_bytes, checkpoint.id_checksum)
        self.rows, self.source = checkpoint.rows, checkpoint.source

    @contextmanager
    def _reporting_damage(self, name: str) -> Iterator[None]:
        try:
            yield
        except (ArithmeticError, RecursionError, TypeError, ValueError) as error:
            raise ValueError(
                f"{self.folder} is damaged ({name}: {error}): pass resume=False to start over"
            ) from error

    def _remove_unless_resumable(self) -> None:
        if not self._is_resumable:
            self._files.remove()


def target_lines(target: NDArray[Any]) -> bytes:
    """Return targets as JSON lines."""
    try:
        return "".join(json.dumps(value) + "\n" for value in target.tolist()).encode()
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"targets must be numbers or strings, got an array of {target.dtype}: {error}"
        ) from None


def id_lines(ids: NDArray[Any]) -> bytes:
    """Return ids as JSON lines."""
    return "".join(json.dumps(value) + "\n" for value in ids.tolist()).encode()


def lines_of(file: FileIO) -> Iterator[bytes]:
    """Yield the lines of a file from its beginning, a block of them in memory at a time."""
    file.seek(0)
    rest = b""
    while block := file.read(_BLOCK):
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
    if rest:
        yield rest


def _array_of(lines: list[bytes]) -> NDArray[Any]:
    """Return JSON lines as an array: one value, or equally many, per line; texts are objects."""
    rows = [json.loads(line) for line in lines]
    first = next((row for row in rows if row is not None), None)
    is_table = isinstance(first, list)
    width = len(first) if isinstance(first, list) else 1
    if is_table:
        rows = [[None] * width if row is None else row for row in rows]
    flat = [value for row in rows for value in row] if is_table else rows
    if any(isinstance(row, list) != is_table or (is_table and len(row) != width) for row in rows):
        raise ValueError("expected numbers or strings, or lists of equal length")
    if any(isinstance(value, dict | list) for value in flat):
        raise ValueError("expected numbers or strings, or lists of equal length")
    if any(isinstance(value, str) for value in flat):
        # NumPy would make all of them as long as the longest.
        array: NDArray[Any] = text_array([v if v is None else str(v) for v in flat])
    else:
        array = np.asarray(flat)
        if array.dtype == object and all(map(_fits_a_float, flat)):
            array = np.array([np.nan if value is None else value for value in flat], np.float64)
    return array.reshape(len(rows), width) if is_table else array


def _fits_a_float(value: object) -> bool:
    return value is None or isinstance(value, float) or abs(int(value)) <= 2**53  # type: ignore[call-overload]


def _header(n_rows: int, n_columns: int) -> bytes:
    """Return the header of a ``.npy`` file; its length does not depend on the number of rows."""
    from io import BytesIO

    stream = BytesIO()
    description = {"descr": "<f8", "fortran_order": False, "shape": (n_rows, n_columns)}
    np.lib.format.write_array_header_1_0(stream, description)
    return stream.getvalue()
