"""Graph collections in the text format of TU Dortmund (Morris et al. 2020).

A data set NAME is a folder, or a zip of one. Each line of each file holds a number or a
comma-separated row of numbers:

- ``NAME_A.txt``: an edge, as two node ids; ids start at 1 and run through all graphs
- ``NAME_graph_indicator.txt``: the graph id of each node
- ``NAME_node_labels.txt``, ``NAME_node_attributes.txt``: a line per node (optional)
- ``NAME_edge_labels.txt``, ``NAME_edge_attributes.txt``: a line per line of A (optional)
- ``NAME_graph_labels.txt`` or ``NAME_graph_attributes.txt``: a line per graph (optional)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.segments import offsets_from_counts
from graphmover.datasets.home import locate
from graphmover.datasets.parsed import LEAST_BYTES, as_labels, load_parsed, store_parsed
from graphmover.datasets.tu_files import PARTS, TUFiles, opened
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.io.limits import PER_OBJECT, Limit, graph_bytes

if TYPE_CHECKING:  # importing Numba is slow, and needed only for parsing
    from graphmover.datasets.numbers import Kind

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]

#: Memory for a character of a table of numbers, measured, rounded up.
_PER_CHARACTER = 12

#: Without a file of targets, ids beyond this many graphs per node are an error.
_GRAPHS_PER_NODE = 1000


@overload
def load_dataset(
    name_or_path: str | os.PathLike[str],
    *,
    data_home: str | os.PathLike[str] | None = ...,
    download: bool = ...,
    max_bytes: int | None = ...,
    return_X_y: Literal[False] = ...,
) -> Dataset: ...


@overload
def load_dataset(
    name_or_path: str | os.PathLike[str],
    *,
    data_home: str | os.PathLike[str] | None = ...,
    download: bool = ...,
    max_bytes: int | None = ...,
    return_X_y: Literal[True],
) -> tuple[GraphBatch, NDArray[Any] | None]: ...


def load_dataset(
    name_or_path: str | os.PathLike[str],
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
    max_bytes: int | None = None,
    return_X_y: bool = False,
) -> Dataset | tuple[GraphBatch, NDArray[Any] | None]:
    r"""Load a collection of graphs in the TU format.

    Parameters
    ----------
    name_or_path : str or path
        A name such as ``"MUTAG"``, or the path of a folder or a zip. A string with
        neither a slash nor the extension ``.zip`` is a name: write ``"./MUTAG"`` for a
        folder in the working directory.
    data_home : str or path, optional
        The folder that holds data sets by name: as NAME.zip, as a folder NAME, or as
        NAME/NAME.zip.
        By default the folder in the environment variable GRAPHMOVER_DATA, or else the
        platform's cache folder.
    download : bool, default=True
        Download a missing data set of the TU collection (see
        `graphmover.datasets.catalogue`) to that folder. Its SHA-256 is stored next to it,
        and verified from then on.
    max_bytes : int, optional
        The maximum memory, in bytes, that reading is estimated to take. By default 1 GB, or 1000
        times the size of the files or of the zip if that is more.
    return_X_y : bool, default=False
        Return ``(graphs, target)`` instead of a `Dataset`.

    Returns
    -------
    Dataset
        ``target`` holds the classes as numbered in the files; or floats, if there are graph
        attributes and no classes; or None. Several columns of labels become tuples. Graph
        ids without nodes become graphs without nodes. Edge labels and attributes follow the
        rule of `GraphBatch.from_edges`.

    Raises
    ------
    FileNotFoundError
        If there is no such data set; the message says where to put it.
    ConnectionError
        If the download failed; the message says why, and where to put the file.
    ValueError
        If a file is missing or malformed, with the file and line in the message; or if a zip
        differs from the one downloaded.

    Notes
    -----
    Data sets of a megabyte of text and more are cached as arrays in the platform's cache
    folder, for as long as their files stay the same.

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
    path = locate(name_or_path, data_home, download=download)
    with opened(path, Limit(path, max_bytes)) as files:
        n_bytes = sum(files.size(part) or 0 for part in PARTS)
        digest = files.digest() if n_bytes >= LEAST_BYTES else None
        dataset = load_parsed(files.name, digest) if digest else None
        if dataset is None:
            dataset = _read_set(files)
            if digest:
                store_parsed(dataset, digest)
    return (dataset.graphs, dataset.target) if return_X_y else dataset


def _read_set(files: TUFiles) -> Dataset:
    n_bytes = sum(files.size(part) or 0 for part in PARTS)
    files.limit.require(_PER_CHARACTER * n_bytes, f"{n_bytes} bytes of text")
    ids = _read(files, "graph_indicator", "id", n_columns=1)[:, 0]
    target, n_graphs = _read_target(files, ids)
    files.limit.require(
        graph_bytes(n_graphs, len(ids), 0), f"{n_graphs} graphs of {len(ids)} nodes"
    )
    graph_of_node = ids - 1
    node_counts = np.bincount(graph_of_node, minlength=n_graphs)
    order = np.argsort(graph_of_node, kind="stable")
    first_node = offsets_from_counts(node_counts)[:-1]
    number_in_graph = np.empty(len(ids), np.int32)
    number_in_graph[order] = np.arange(len(ids)) - np.repeat(first_node, node_counts)

    edges, edge_counts, line_order = _read_edges(files, graph_of_node, number_in_graph, n_graphs)
    nodes, lines = (len(ids), "nodes"), (len(edges), "edges")
    graphs = GraphBatch.from_edges(
        node_counts,
        edge_counts,
        edges,
        node_labels=_read_labels(files, "node_labels", nodes, order),
        node_attributes=_read_attributes(files, "node_attributes", nodes, order),
        edge_labels=_read_labels(files, "edge_labels", lines, line_order),
        edge_attributes=_read_attributes(files, "edge_attributes", lines, line_order),
    )
    return Dataset(files.name, graphs, target)


def _read_target(files: TUFiles, ids: Ids) -> tuple[NDArray[Any] | None, int]:
    """Return the target and the number of graphs, which is the target's length if there is one."""
    target: NDArray[Any] | None = None
    # One stray id must not allocate 2**31 graphs.
    n_graphs = min(int(ids.max(initial=0)), _GRAPHS_PER_NODE * len(ids))
    if files.size("graph_labels") is not None:
        target = _read(files, "graph_labels", "integer", n_columns=1)[:, 0]
    elif files.size("graph_attributes") is not None:
        values = _read(files, "graph_attributes", "real")
        target = values[:, 0] if values.shape[1] == 1 else values
    if target is not None:
        n_graphs = len(target)
    outside = (ids < 1) | (ids > n_graphs)
    if outside.any():
        row = int(np.argmax(outside))
        _reject_row(files, "graph_indicator", row, f"graph {ids[row]}, expected 1 to {n_graphs}")
    return target, n_graphs


def _read_edges(
    files: TUFiles, graph_of_node: Ids, number_in_graph: Ids, n_graphs: int
) -> tuple[Ids, Ints, Ints | slice]:
    """Return edges sorted by graph, their number in each, and the order of the file's rows.

    Nodes are numbered within their graph.
    """
    edges = _read(files, "A", "id", n_columns=2)
    n_nodes = len(graph_of_node)
    what = f"{n_graphs} graphs of {n_nodes} nodes and {len(edges)} lines of edges"
    files.limit.require(graph_bytes(n_graphs, n_nodes, 2 * len(edges)), what)
    if len(edges) and not (edges.min() >= 1 and edges.max() <= n_nodes):
        row = int(np.argmax(((edges < 1) | (edges > n_nodes)).any(axis=1)))
        _reject_row(files, "A", row, f"edge {_pair(edges, row)}, but nodes are 1 to {n_nodes}")
    graphs = graph_of_node[edges[:, 0] - 1]
    apart = graphs != graph_of_node[edges[:, 1] - 1]
    if apart.any():
        row = int(np.argmax(apart))
        _reject_row(files, "A", row, f"edge {_pair(edges, row)} joins two graphs")
    edges -= 1
    line_order: Ints | slice = slice(None)
    if (graphs[1:] < graphs[:-1]).any():
        line_order = np.argsort(graphs, kind="stable")
        edges = edges[line_order]
    return number_in_graph[edges], np.bincount(graphs, minlength=n_graphs), line_order


def _read_labels(
    files: TUFiles, part: str, due: tuple[int, str], order: Ints | slice
) -> NDArray[Any] | None:
    if files.size(part) is None:
        return None
    table = _read(files, part, "integer", due=due)
    if table.shape[1] > 1:
        files.limit.require(
            PER_OBJECT * (len(table) + table.size), f"{table.size} labels in tuples"
        )
    return as_labels(table[order])


def _read_attributes(
    files: TUFiles, part: str, due: tuple[int, str], order: Ints | slice
) -> NDArray[np.float64] | None:
    return None if files.size(part) is None else _read(files, part, "real", due=due)[order]


def _read(
    files: TUFiles,
    part: str,
    kind: Kind,
    *,
    n_columns: int | None = None,
    due: tuple[int, str] | None = None,
) -> NDArray[Any]:
    """Read a table of numbers; ``due`` is the required number of rows, and what they are."""
    from graphmover.datasets.numbers import BadLineError, read_table

    if files.size(part) is None:
        raise ValueError(f"{files.file(part)} is missing")
    try:
        table = read_table(files.pieces(part), kind, n_columns)
    except BadLineError as error:
        raise ValueError(f"{files.file(part)}, {error}") from None
    if due is not None and len(table) > due[0]:
        _reject_row(files, part, due[0], f"there are {len(table)} lines for {due[0]} {due[1]}")
    if due is not None and len(table) < due[0]:
        raise ValueError(
            f"{files.file(part)} has {len(table)} lines for {due[0]} {due[1]}: "
            f"{due[1].removesuffix('s')} {len(table) + 1} has none"
        )
    return table


def _reject_row(files: TUFiles, part: str, row: int, complaint: str) -> NoReturn:
    from graphmover.datasets.numbers import line_of_row

    number = line_of_row(files.pieces(part), row)
    raise ValueError(f"{files.file(part)}, line {number}: {complaint}")


def _pair(edges: Ids, row: int) -> str:
    return ", ".join(map(str, edges[row].tolist()))
