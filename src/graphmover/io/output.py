"""Write vectors as ``.npy``, ``.npz``, ``.parquet`` and ``.csv``."""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.files import FULL, naming_file, replacing
from graphmover.graphs.arrow import pyarrow
from graphmover.io.limits import LEAST_LIMIT
from graphmover.io.partial import PartialRows

#: Entries held in memory while committed rows are converted to the output: about 16 MB.
_CHUNK_ENTRIES = 2_000_000
#: Targets of an .npz file may take 1 GB, or this many bytes for each character that they have.
_BYTES_PER_CHARACTER = 100

Floats = NDArray[np.float64]

#: Converts committed rows to the output file; the array holds the column names.
Finisher = Callable[[PartialRows, NDArray[Any]], None]


def finisher_of(output: str | os.PathLike[str]) -> Finisher:
    """Return the writer for the format that the file extension names."""
    extension = Path(output).suffix.lower()
    if extension not in _FINISHERS:
        known = ", ".join(_FINISHERS)
        raise ValueError(f"unknown output format of {os.fspath(output)}: it must end in {known}")
    if extension == ".parquet":
        pyarrow()  # a missing library is an error before the work, not after it
    return _FINISHERS[extension]


def _finish_npy(part: PartialRows, names: NDArray[Any]) -> None:
    part.move_vectors()


def _finish_npz(part: PartialRows, names: NDArray[Any]) -> None:
    target = part.read_target()
    if target is not None and target.dtype == object:
        target = _fixed_width(target, part.output)
    with replacing(part.output) as file, zipfile.ZipFile(file, "w") as archive:
        with archive.open("vectors.npy", "w", force_zip64=True) as member:
            shutil.copyfileobj(part.finish_vectors(), member, 2**20)
        if target is not None:
            with archive.open("target.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, target, allow_pickle=False)


def _fixed_width(target: NDArray[Any], output: Path) -> NDArray[np.str_]:
    """Return texts as NumPy stores them: all as long as the longest."""
    texts = target.ravel().tolist()
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(
            f"{output}: an .npz file holds 64-bit numbers or strings, but a target is "
            f"None or a larger integer: write .csv instead"
        )
    longest = max(map(len, texts))
    n_bytes = 4 * longest * len(texts)
    if n_bytes > max(LEAST_LIMIT, _BYTES_PER_CHARACTER * sum(map(len, texts))):
        raise ValueError(
            f"{output}: an .npz file holds all targets as long as the longest, and {len(texts)} of "
            f"{longest} characters would take {n_bytes / 1e9:.1f} GB: write .csv or .parquet"
        )
    return np.asarray(texts, np.str_).reshape(target.shape)


def _finish_csv(part: PartialRows, names: NDArray[Any]) -> None:
    target = part.read_target()
    with replacing(part.output) as file:
        file.write(csv_header(names, target))
        for rows, vectors in _chunks(part):
            file.write(csv_lines(vectors, None if target is None else target[rows]))


def _finish_parquet(part: PartialRows, names: NDArray[Any]) -> None:
    pa = pyarrow()
    import pyarrow.parquet as pq

    target = part.read_target()
    width = part.n_columns
    is_text = target is not None and any(isinstance(v, str) for v in target.ravel().tolist())
    kind = pa.string() if is_text else None

    def table(vectors: Floats, values: NDArray[Any] | None) -> Any:
        columns = {"vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), width)}
        if values is not None and values.ndim == 1:
            columns["target"] = pa.array(values, kind)
        elif values is not None:
            flat = pa.array(values.ravel(), kind)
            columns["target"] = pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
        return pa.table(columns)

    schema = table(np.empty((0, width)), None if target is None else target[:0]).schema
    with replacing(part.output) as file, pq.ParquetWriter(file, schema) as writer:
        for rows, vectors in _chunks(part):
            writer.write_table(table(vectors, None if target is None else target[rows]))


_FINISHERS: dict[str, Finisher] = {
    ".npy": _finish_npy,
    ".npz": _finish_npz,
    ".csv": _finish_csv,
    ".parquet": _finish_parquet,
}


def _chunks(part: PartialRows) -> Iterator[tuple[slice, Floats]]:
    """Yield the committed rows in chunks."""
    step = max(1, _CHUNK_ENTRIES // part.n_columns)
    file = part.finish_vectors()
    np.lib.format.read_magic(file)
    np.lib.format.read_array_header_1_0(file)
    for start in range(0, part.rows, step):
        rows = slice(start, min(start + step, part.rows))
        n_entries = (rows.stop - rows.start) * part.n_columns
        yield rows, np.fromfile(file, "<f8", n_entries).reshape(-1, part.n_columns)


def write_to_stdout(
    pieces: Iterable[tuple[Floats, NDArray[Any] | None]], names: NDArray[Any]
) -> int:
    """Write rows as CSV to standard output as they arrive; return the number of rows."""
    n_rows = 0
    with naming_file("standard output", FULL):
        for index, (vectors, target) in enumerate(pieces):
            if not index:
                _write_bytes(csv_header(names, target))
            _write_bytes(csv_lines(vectors, target))
            n_rows += len(vectors)
    return n_rows


def _write_bytes(content: bytes) -> None:
    """Write to standard output, which may be a stream of text, as in a notebook."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(content.decode())
    else:
        stream.write(content)
    sys.stdout.flush()


def csv_header(names: NDArray[Any], target: NDArray[Any] | None) -> bytes:
    """Return the header line: the names of features and targets."""
    columns = list(map(str, names))
    if target is not None:
        columns += (
            ["target"] if target.ndim == 1 else [f"target{i}" for i in range(target.shape[1])]
        )
    return (",".join(columns) + "\n").encode()


def csv_lines(vectors: Floats, target: NDArray[Any] | None) -> bytes:
    """Return one line per row; every float reads back to the same bits."""
    import csv
    from io import StringIO

    rows = vectors.tolist()
    quoting: Literal[0, 2] = csv.QUOTE_MINIMAL
    if target is not None:
        for row, values in zip(rows, target.reshape(len(rows), -1).tolist(), strict=True):
            row.extend(values)
            if any(isinstance(value, str) and "\r" in value for value in values):
                quoting = csv.QUOTE_NONNUMERIC  # before Python 3.13 the writer quotes no "\r"
    text = StringIO()
    csv.writer(text, quoting=quoting, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
