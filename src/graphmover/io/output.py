"""Write vectors as ``.npy``, ``.npz``, ``.parquet``, ``.csv`` and JSON lines."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.files import FULL, naming_file, replacing
from graphmover.graphs.arrow import ID, pyarrow
from graphmover.io.chunks import TARGET
from graphmover.io.limits import LEAST_LIMIT
from graphmover.io.partial import Ids, PartialRows

#: Entries held in memory while committed rows are converted to the output: about 16 MB.
_CHUNK_ENTRIES = 2_000_000
#: Ids held in memory, where rows are short.
_CHUNK_IDS = 50_000
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
    target, ids = part.read_target(), part.ids()
    if target is not None and target.dtype == object:
        target = _fixed_width(target, part.output)
    named = None if ids is None else _id_array(ids, part.output)
    with replacing(part.output) as file, zipfile.ZipFile(file, "w") as archive:
        with archive.open("vectors.npy", "w", force_zip64=True) as member:
            shutil.copyfileobj(part.finish_vectors(), member, 2**20)
        if target is not None:
            _write_array(archive, TARGET, target)
        if named is not None:
            _write_array(archive, ID, named)


def _write_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array(member, array, allow_pickle=False)


def _id_array(ids: Ids, output: Path) -> NDArray[Any] | None:
    """Return ids as NumPy stores them, or None if that takes too much: texts have one width."""
    values = list(ids.values)
    if not ids.are_text and None not in values:
        return np.array(values, np.int64)
    texts = ["" if value is None else str(value) for value in values]
    if _takes_too_much(texts):
        warnings.warn(
            f"{output}: ids are left out, since an .npz file pads all of them to the longest, of "
            f"{max(map(len, texts))} characters. Write .csv or .parquet to keep them.",
            UserWarning,
            stacklevel=2,
        )
        return None
    return np.asarray(texts, np.str_)


def _fixed_width(target: NDArray[Any], output: Path) -> NDArray[np.str_]:
    """Return texts as NumPy stores them: all as long as the longest."""
    texts = target.ravel().tolist()
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(
            f"{output}: an .npz file holds 64-bit numbers or strings, but a target is "
            f"None or a larger integer: write .csv instead"
        )
    if _takes_too_much(texts):
        longest = max(map(len, texts))
        raise ValueError(
            f"{output}: an .npz file pads all targets to the longest, and {len(texts)} of "
            f"{longest} characters would take {4 * longest * len(texts) / 1e9:.1f} GB: write .csv "
            f"or .parquet"
        )
    return np.asarray(texts, np.str_).reshape(target.shape)


def _takes_too_much(texts: list[str]) -> bool:
    """Tell whether texts, all as long as the longest, take far more than they are long."""
    n_bytes = 4 * max(map(len, texts)) * len(texts)
    return n_bytes > max(LEAST_LIMIT, _BYTES_PER_CHARACTER * sum(map(len, texts)))


def _finish_csv(part: PartialRows, names: NDArray[Any]) -> None:
    target, ids = part.read_target(), part.ids()
    with replacing(part.output) as file:
        file.write(csv_header(names, target, has_ids=ids is not None))
        for rows in chunks_of(part, target, ids):
            file.write(csv_lines(*rows))


def _finish_json_lines(part: PartialRows, names: NDArray[Any]) -> None:
    import json

    with replacing(part.output) as file:
        for rows in chunks_of(part, part.read_target(), part.ids()):
            lines: list[dict[str, Any]] = [{"vector": vector} for vector in rows.vectors.tolist()]
            if rows.target is not None:
                for line, value in zip(lines, rows.target.tolist(), strict=True):
                    line[TARGET] = None if value != value else value  # noqa: PLR0124 - NaN
            if rows.ids is not None:
                pairs = zip(lines, rows.ids, strict=True)
                lines = [{ID: value, **line} for line, value in pairs]
            file.write("".join(json.dumps(line) + "\n" for line in lines).encode())


def _finish_parquet(part: PartialRows, names: NDArray[Any]) -> None:
    pa = pyarrow()
    import pyarrow.parquet as pq

    target, ids = part.read_target(), part.ids()
    width = part.n_columns
    is_text = target is not None and any(isinstance(v, str) for v in target.ravel().tolist())
    kind = pa.string() if is_text else None

    def table(rows: Rows) -> Any:
        columns = {}
        if ids is not None:
            columns[ID] = pa.array(rows.ids, pa.string() if ids.are_text else pa.int64())
        flat = pa.array(rows.vectors.ravel())
        columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, width)
        if rows.target is not None and rows.target.ndim == 1:
            columns[TARGET] = pa.array(rows.target, kind)
        elif rows.target is not None:
            flat = pa.array(rows.target.ravel(), kind)
            columns[TARGET] = pa.FixedSizeListArray.from_arrays(flat, rows.target.shape[1])
        return pa.table(columns)

    none = Rows(np.empty((0, width)), None if target is None else target[:0], [])
    with replacing(part.output) as file, pq.ParquetWriter(file, table(none).schema) as writer:
        for rows in chunks_of(part, target, ids):
            writer.write_table(table(rows))


_FINISHERS: dict[str, Finisher] = {
    ".npy": _finish_npy,
    ".npz": _finish_npz,
    ".csv": _finish_csv,
    ".parquet": _finish_parquet,
    ".jsonl": _finish_json_lines,
    ".ndjson": _finish_json_lines,
}


class Rows(NamedTuple):
    """Vectors with their targets and ids, if they have any."""

    vectors: Floats
    target: NDArray[Any] | None
    ids: list[Any] | None


def chunks_of(part: PartialRows, target: NDArray[Any] | None, ids: Ids | None) -> Iterator[Rows]:
    """Yield the committed rows in chunks."""
    step = max(1, _CHUNK_ENTRIES // part.n_columns)
    if ids is not None:
        step = min(step, _CHUNK_IDS)
    file = part.finish_vectors()
    np.lib.format.read_magic(file)
    np.lib.format.read_array_header_1_0(file)
    for start in range(0, part.rows, step):
        rows = slice(start, min(start + step, part.rows))
        n_rows = rows.stop - rows.start
        yield Rows(
            np.fromfile(file, "<f8", n_rows * part.n_columns).reshape(-1, part.n_columns),
            None if target is None else target[rows],
            None if ids is None else list(islice(ids.values, n_rows)),
        )


def write_to_stdout(pieces: Iterable[Rows], names: NDArray[Any]) -> int:
    """Write rows as CSV to standard output as they arrive; return the number of rows."""
    n_rows, has_ids = 0, False
    with naming_file("standard output", FULL):
        for index, rows in enumerate(pieces):
            if not index:
                has_ids = rows.ids is not None
                write_bytes(csv_header(names, rows.target, has_ids=has_ids))
            if rows.ids is not None and not has_ids:
                raise ValueError(
                    f"from graph {n_rows} on there are ids, but those before have none: write to "
                    f"a file instead of standard output"
                )
            ids = [None] * len(rows.vectors) if has_ids and rows.ids is None else rows.ids
            write_bytes(csv_lines(rows.vectors, rows.target, ids))
            n_rows += len(rows.vectors)
    return n_rows


def write_bytes(content: bytes) -> None:
    """Write to standard output, which may be a stream of text, as in a notebook."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(content.decode())
    else:
        stream.write(content)
    sys.stdout.flush()


def csv_header(names: NDArray[Any], target: NDArray[Any] | None, *, has_ids: bool) -> bytes:
    """Return the header line: the id, the names of features, and targets."""
    columns = [*([ID] if has_ids else []), *map(str, names)]
    if target is not None:
        columns += (
            [TARGET] if target.ndim == 1 else [f"{TARGET}{i}" for i in range(target.shape[1])]
        )
    return (",".join(columns) + "\n").encode()


def csv_lines(vectors: Floats, target: NDArray[Any] | None, ids: list[Any] | None = None) -> bytes:
    """Return one line per row; every float reads back to the same bits."""
    rows = vectors.tolist()
    texts: list[Any] = [] if ids is None else ids
    if target is not None:
        values = target.reshape(len(rows), -1).tolist()
        texts = [*texts, *chain.from_iterable(values)]
        rows = [row + more for row, more in zip(rows, values, strict=True)]
    if ids is not None:
        rows = [[id, *row] for row, id in zip(rows, ids, strict=True)]
    return csv_text(rows, texts)


def csv_text(rows: Iterable[Sequence[Any]], texts: Iterable[Any]) -> bytes:
    """Return lines of CSV; ``texts`` are the values in them that may be text."""
    import csv
    from io import StringIO

    # Before Python 3.13 the writer quotes no "\r".
    is_odd = any(isinstance(text, str) and "\r" in text for text in texts)
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if is_odd else csv.QUOTE_MINIMAL
    text = StringIO()
    csv.writer(text, quoting=quoting, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
