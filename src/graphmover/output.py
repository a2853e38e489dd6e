"""Vectors into files that NumPy, pandas and other programs open."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphmover._files import replacing, require_writable
from graphmover.datasets import load_dataset
from graphmover.embedding import RandomGraphEmbedding


def embed_dataset(
    source: str | os.PathLike[str],
    embedding: RandomGraphEmbedding,
    output: str | os.PathLike[str],
) -> tuple[int, int]:
    """Embed a data set and write the vectors; return their shape.

    Parameters
    ----------
    source
        What `load_dataset` takes.
    embedding : RandomGraphEmbedding
        It is fitted to the data.
    output : path
        See `write_vectors`.
    """
    writer_for(output)  # what cannot be written is an error before the work, not after it
    if os.fspath(output) != "-":
        require_writable(output)
    data = load_dataset(source)
    vectors = np.asarray(embedding.fit_transform(data.graphs))
    write_vectors(output, vectors, embedding.get_feature_names_out(), data.target)
    return vectors.shape[0], vectors.shape[1]


def write_vectors(
    output: str | os.PathLike[str],
    vectors: NDArray[np.float64],
    names: NDArray[Any],
    target: NDArray[Any] | None = None,
) -> None:
    """Write vectors to a file, whole or not at all.

    Parameters
    ----------
    output : path
        ``.npy``: the matrix alone. ``.npz``: arrays ``vectors`` and ``target``. ``.csv``: a
        column per feature and ``target``. ``-``: CSV on standard output.
    names : array of str
        The features' names.
    target : array, optional
        One value per graph.
    """
    write = writer_for(output)
    if os.fspath(output) == "-":
        write(sys.stdout.buffer, vectors, names, target)
        sys.stdout.flush()
        return
    with replacing(output) as file:
        write(file, vectors, names, target)


Writer = Callable[[IO[bytes], NDArray[np.float64], NDArray[Any], NDArray[Any] | None], None]


def writer_for(output: str | os.PathLike[str]) -> Writer:
    """Return the function that writes the format of that file name."""
    ending = ".csv" if os.fspath(output) == "-" else Path(output).suffix.lower()
    if ending not in _WRITERS:
        known = ", ".join(_WRITERS)
        raise ValueError(f"cannot tell the format of {os.fspath(output)}: it must end in {known}")
    return _WRITERS[ending]


def _write_npy(
    file: IO[bytes],
    vectors: NDArray[np.float64],
    names: NDArray[Any],
    target: NDArray[Any] | None,
) -> None:
    np.save(file, vectors)


def _write_npz(
    file: IO[bytes],
    vectors: NDArray[np.float64],
    names: NDArray[Any],
    target: NDArray[Any] | None,
) -> None:
    if target is None:
        np.savez(file, vectors=vectors)
    else:
        np.savez(file, vectors=vectors, target=target)


def _write_csv(
    file: IO[bytes],
    vectors: NDArray[np.float64],
    names: NDArray[Any],
    target: NDArray[Any] | None,
) -> None:
    targets = np.empty((len(vectors), 0)) if target is None else target.reshape(len(vectors), -1)
    several = targets.shape[1] > 1
    columns = [f"target{i}" if several else "target" for i in range(targets.shape[1])]
    file.write((",".join([*names, *columns]) + "\n").encode())
    for row, extra in zip(vectors.tolist(), targets.tolist(), strict=True):
        file.write((",".join(map(str, [*row, *extra])) + "\n").encode())


_WRITERS: dict[str, Writer] = {".npy": _write_npy, ".npz": _write_npz, ".csv": _write_csv}
