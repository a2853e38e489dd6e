"""Graph collections in the text format of TU Dortmund (Morris et al. 2020).

A set NAME is a folder, or a zip of one, with a number or a comma-separated row of
numbers on each line of each file:

- ``NAME_A.txt``: an edge, as two node ids; ids start at 1 and run through all graphs
- ``NAME_graph_indicator.txt``: the graph id of each node
- ``NAME_node_labels.txt``, ``NAME_node_attributes.txt``: of each node (optional)
- ``NAME_graph_labels.txt`` or ``NAME_graph_attributes.txt``: of each graph (optional)
"""

from __future__ import annotations

import lzma
import os
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from graphmover.datasets._dataset import Dataset
from graphmover.graphs import GraphBatch

#: What `zipfile` and its decompressors raise when they meet broken bytes.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    UnicodeDecodeError,
    EOFError,
    OSError,
    RuntimeError,
)

Ints = NDArray[np.int64]


@overload
def load_dataset(
    name_or_path: str | os.PathLike[str],
    *,
    data_home: str | os.PathLike[str] | None = ...,
    return_X_y: Literal[False] = ...,
) -> Dataset: ...


@overload
def load_dataset(
    name_or_path: str | os.PathLike[str],
    *,
    data_home: str | os.PathLike[str] | None = ...,
    return_X_y: Literal[True],
) -> tuple[GraphBatch, NDArray[Any] | None]: ...


def load_dataset(
    name_or_path: str | os.PathLike[str],
    *,
    data_home: str | os.PathLike[str] | None = None,
    return_X_y: bool = False,
) -> Dataset | tuple[GraphBatch, NDArray[Any] | None]:
    r"""Load a collection of graphs in the TU format.

    Parameters
    ----------
    name_or_path : str or path
        A name such as ``"MUTAG"``, or the path of a folder or a zip. A string with
        neither a slash nor the ending ``.zip`` is a name: write ``"./MUTAG"`` for a
        folder beside you.
    data_home : str or path, optional
        Where names are looked for: as NAME.zip, as the folder NAME, or as NAME.zip in it.
        By default the folder in the environment variable GRAPHMOVER_DATA, or else the
        user's cache folder.
    return_X_y : bool, default=False
        Return ``(graphs, target)`` instead of a `Dataset`.

    Returns
    -------
    Dataset
        ``target`` holds the classes as the files number them; or floats, where a set has
        graph attributes and no classes; or None. Several columns of node labels become a
        tuple per node. Graph ids without nodes become graphs without nodes. Edge labels
        and edge attributes are not read.

    Raises
    ------
    FileNotFoundError
        If there is no such set; the message tells where to put it.
    ValueError
        If a file is missing in the set or malformed; the message names file and line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import graphmover as gm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "TINY_A.txt").write_text("1, 2\n2, 1\n")
    ...     _ = Path(folder, "TINY_graph_indicator.txt").write_text("1\n1\n2\n")
    ...     _ = Path(folder, "TINY_graph_labels.txt").write_text("-1\n1\n")
    ...     gm.load_dataset(folder)
    Dataset('TINY', 2 graphs, 2 classes)
    """
    path = _locate(name_or_path, data_home)
    if path.is_dir():
        dataset = _read_set(_set_in_folder(path))
    else:
        with path.open("rb") as stream, _naming(path), zipfile.ZipFile(stream) as archive:
            dataset = _read_set(_set_in_zip(archive, path))
    return (dataset.graphs, dataset.target) if return_X_y else dataset


@contextmanager
def _naming(file: Path | zipfile.Path) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise ValueError(f"{file} cannot be read: {error}") from error


def _locate(name_or_path: str | os.PathLike[str], data_home: str | os.PathLike[str] | None) -> Path:
    given = os.fspath(name_or_path)
    is_name = (
        isinstance(name_or_path, str)
        and not given.endswith(".zip")
        and given == (os.path.basename(given))
    )
    if not is_name:
        path = Path(given).expanduser()
        if not path.exists():
            raise FileNotFoundError(f"there is no folder or zip {path}")
        return path
    home = _data_home(data_home)
    if (home / f"{given}.zip").is_file():
        return home / f"{given}.zip"
    if (home / given / f"{given}.zip").is_file():
        return home / given / f"{given}.zip"
    if (home / given / f"{given}_A.txt").is_file():
        return home / given
    raise FileNotFoundError(
        f"no set {given!r} in {home}, neither as {given}.zip nor as a folder {given}. Get "
        f"{given}.zip from https://chrsmrrs.github.io/datasets/ and put it there, or name "
        f"the folder it is in by data_home or the environment variable GRAPHMOVER_DATA"
    )


def _data_home(data_home: str | os.PathLike[str] | None) -> Path:
    chosen = data_home or os.environ.get("GRAPHMOVER_DATA")
    if chosen:
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("graphmover"))


@dataclass(frozen=True)
class _Set:
    """The files of one set, on disk or in a zip."""

    folder: Path | zipfile.Path
    name: str

    def file(self, part: str) -> Path | zipfile.Path:
        return self.folder / f"{self.name}_{part}.txt"

    def has(self, part: str) -> bool:
        return self.file(part).is_file()


def _set_in_folder(folder: Path) -> _Set:
    names = [path.name for path in folder.glob("*_A.txt")]
    return _Set(folder, _only_name(names, folder, preferred=folder.resolve().name))


def _set_in_zip(archive: zipfile.ZipFile, path: Path) -> _Set:
    folders = dict(reversed(member.rpartition("/")[::2]) for member in archive.namelist())
    name = _only_name(list(folders), path, preferred=path.stem)
    folder = folders[f"{name}_A.txt"]
    return _Set(zipfile.Path(archive, f"{folder}/" if folder else ""), name)


def _only_name(files: list[str], where: Path, preferred: str) -> str:
    """Tell NAME from the file NAME_A.txt, of which there should be one."""
    ending = "_A.txt"
    names = sorted(file.removesuffix(ending) for file in files if file.endswith(ending))
    names = [name for name in names if not name.startswith(".")]
    if preferred in names:
        return preferred
    if not names:
        raise ValueError(f"{where} holds no file {preferred}{ending}")
    if len(names) > 1:
        raise ValueError(f"{where} holds several sets: {', '.join(names)}")
    return names[0]


def _read_set(files: _Set) -> Dataset:
    ids = _read_numbers(files, "graph_indicator", np.int32, n_columns=1)[:, 0]
    target, n_graphs = _read_target(files, ids)
    graph_of_node = ids - 1
    node_counts = np.bincount(graph_of_node, minlength=n_graphs)
    order = np.argsort(graph_of_node, kind="stable")
    first_node = np.cumsum(node_counts) - node_counts
    number_in_graph = np.empty(len(ids), np.int64)
    number_in_graph[order] = np.arange(len(ids)) - np.repeat(first_node, node_counts)

    edges, edge_counts = _read_edges(files, graph_of_node, number_in_graph, n_graphs)
    labels = _read_node_labels(files, len(ids))
    attributes = _read_node_attributes(files, len(ids))
    graphs = GraphBatch.from_edges(
        node_counts,
        edge_counts,
        edges,
        node_labels=None if labels is None else labels[order],
        node_attributes=None if attributes is None else attributes[order],
    )
    return Dataset(files.name, graphs, target)


def _read_target(files: _Set, ids: NDArray[np.int32]) -> tuple[NDArray[Any] | None, int]:
    """Return the target and the number of graphs, which is its length where there is one."""
    target: NDArray[Any] | None = None
    n_graphs = int(ids.max(initial=0))
    if files.has("graph_labels"):
        target = _read_numbers(files, "graph_labels", np.int64, n_columns=1)[:, 0]
    elif files.has("graph_attributes"):
        values = _read_numbers(files, "graph_attributes", np.float64)
        target = values[:, 0] if values.shape[1] == 1 else values
    if target is not None:
        n_graphs = len(target)
    outside = (ids < 1) | (ids > n_graphs)
    if outside.any():
        row = int(np.argmax(outside))
        line = _line_of_row(files.file("graph_indicator"), row)
        raise ValueError(f"{line}: graph {ids[row]}, expected 1 to {n_graphs}")
    return target, n_graphs


def _read_edges(
    files: _Set, graph_of_node: NDArray[np.int32], number_in_graph: Ints, n_graphs: int
) -> tuple[Ints, Ints]:
    """Return edges graph after graph, nodes numbered within each, and how many each has."""
    edges = _read_numbers(files, "A", np.int32, n_columns=2)
    edges -= 1
    if len(edges) and not (edges.min() >= 0 and edges.max() < len(graph_of_node)):
        row = int(np.argmax(((edges < 0) | (edges >= len(graph_of_node))).any(axis=1)))
        u, v = (edges[row].astype(np.int64) + 1).tolist()
        line = _line_of_row(files.file("A"), row)
        raise ValueError(f"{line}: edge {u}, {v}, but nodes are 1 to {len(graph_of_node)}")
    graphs = graph_of_node[edges[:, 0]]
    apart = graphs != graph_of_node[edges[:, 1]]
    if apart.any():
        row = int(np.argmax(apart))
        u, v = (edges[row] + 1).tolist()
        line = _line_of_row(files.file("A"), row)
        raise ValueError(f"{line}: edge {u}, {v} joins two graphs")
    if (graphs[1:] < graphs[:-1]).any():
        edges = edges[np.argsort(graphs, kind="stable")]
    return number_in_graph[edges], np.bincount(graphs, minlength=n_graphs)


def _read_node_labels(files: _Set, n_nodes: int) -> NDArray[Any] | None:
    if not files.has("node_labels"):
        return None
    columns = _read_numbers(files, "node_labels", np.int64, n_rows=(n_nodes, "nodes"))
    if columns.shape[1] == 1:
        return columns[:, 0]
    tuples = np.empty(n_nodes, dtype=object)
    tuples[:] = list(map(tuple, columns.tolist()))
    return tuples


def _read_node_attributes(files: _Set, n_nodes: int) -> NDArray[np.float64] | None:
    if not files.has("node_attributes"):
        return None
    return _read_numbers(files, "node_attributes", np.float64, n_rows=(n_nodes, "nodes"))


def _read_numbers(
    files: _Set,
    part: str,
    dtype: DTypeLike,
    *,
    n_columns: int | None = None,
    n_rows: tuple[int, str] | None = None,
) -> NDArray[Any]:
    """Read a table of finite numbers; `n_rows` is the number due, and of what."""
    file = files.file(part)
    if not file.is_file():
        raise ValueError(f"{file} is missing")
    with _naming(file), _open(file) as text, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*input contained no data")
        warnings.simplefilter("error", DeprecationWarning)  # NumPy 1 cuts 1.5 to 1 with it
        try:
            table = np.loadtxt(text, dtype, comments=None, delimiter=",", ndmin=2)
        except ValueError as error:
            raise ValueError(_first_bad_line(file, dtype) or f"{file}: {error}") from None
    if table.size == 0:
        table = table.reshape(0, n_columns or 1)
    if n_columns is not None and table.shape[1] != n_columns:
        raise ValueError(f"{_line_of_row(file, 0)}: {table.shape[1]} numbers, expected {n_columns}")
    if n_rows is not None and len(table) != n_rows[0]:
        raise ValueError(f"{file} has {len(table)} lines for {n_rows[0]} {n_rows[1]}")
    if table.dtype.kind == "f" and not np.isfinite(table).all():
        row = int(np.argmin(np.isfinite(table).all(axis=1)))
        raise ValueError(f"{_line_of_row(file, row)}: {table[row].tolist()} is not finite")
    return table


def _open(file: Path | zipfile.Path) -> IO[str]:
    return file.open("r", encoding="utf-8-sig", errors="replace")


def _numbered_rows(file: Path | zipfile.Path) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, but empty lines, as `numpy.loadtxt` does."""
    with _open(file) as text:
        for number, line in enumerate(text, start=1):
            if line != "\n":
                yield number, line.rstrip("\n")


def _line_of_row(file: Path | zipfile.Path, row: int) -> str:
    number = next(number for i, (number, _) in enumerate(_numbered_rows(file)) if i == row)
    return f"{file}, line {number}"


def _first_bad_line(file: Path | zipfile.Path, dtype: DTypeLike) -> str | None:
    """Describe the line that `numpy.loadtxt` stumbled over, if we can tell which."""
    number_type: Any = np.dtype(dtype).type
    n_expected = 0
    for line_number, line in _numbered_rows(file):
        fields = line.split(",")
        n_expected = n_expected or len(fields)
        if len(fields) != n_expected:
            return (
                f"{file}, line {line_number}: {len(fields)} numbers, expected {n_expected} as "
                f"in the lines before"
            )
        for field in fields:
            try:
                number_type(field)
            except (ValueError, OverflowError):
                kind = "a whole number" if np.dtype(dtype).kind == "i" else "a number"
                return f"{file}, line {line_number}: {field.strip()[:40]!r} is not {kind}"
    return None
