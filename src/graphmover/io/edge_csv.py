"""Edges in CSV: one file with the graph of each, or a folder with the rows of all graphs.

In one file: columns ``graph``, ``source``, ``target``, optionally ``weight`` and ``label``; others
are edge attributes. In a folder:

- ``nodes.csv``: columns ``node``, ``graph``, optionally ``label``; others are node attributes
- ``edges.csv``: columns ``source``, ``target``, optionally ``graph``, ``weight`` and ``label``;
  others are edge attributes. With ``graph``, names of nodes need to differ within a graph only
- ``graphs.csv`` (optional): columns ``graph`` and others, one of which may be the target

The names of graphs are their ids, unless another column of ``graphs.csv`` is asked for. Names of
nodes and graphs are text, compared as written. Graphs come in the order of ``graphs.csv``, or else
of ``nodes.csv``; lines need not be sorted. The files are read into memory as a whole.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.messages import warn
from graphmover._utils.segments import offsets_from_counts
from graphmover.graphs.arrow import pyarrow
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.columns import NEGATIVE_WEIGHTS
from graphmover.graphs.dataset import Dataset
from graphmover.graphs.edge_list import from_edge_list
from graphmover.graphs.graph import EDGE_LABEL, EDGE_WEIGHT, NODE_LABEL
from graphmover.io.chunks import TARGET, naming, require_one_column, target_array
from graphmover.io.limits import Limit
from graphmover.io.reading import Reading
from graphmover.io.text_columns import ids_of, labels_of, targets_of

EDGES = "edges.csv"
_NODES = "nodes.csv"
_GRAPHS = "graphs.csv"
TABLES = (_NODES, EDGES, _GRAPHS)

#: Columns with a meaning of their own; all others are attributes.
_COLUMNS = {
    "node": ("node", "graph", NODE_LABEL),
    "edge": ("source", "target", "graph", EDGE_WEIGHT, EDGE_LABEL),
}

#: The names that pandas gives the index of a table when it writes it, and reads it again.
_INDEX = re.compile(r"|Unnamed: \d+")

#: Stands between the name of a graph and that of its node.
_OF = "\0"

#: Memory that Arrow takes for a column, however short, measured, rounded up.
_PER_COLUMN = 10_000

Ints = NDArray[np.int64]


def read_edge_csv(folder: Path, how: Reading) -> Iterator[Dataset]:
    """Yield the graphs of a folder."""
    with naming(folder):
        data = _read_folder(folder, how)
    for start in range(0, len(data.graphs), how.batch_size):
        yield data[start : start + how.batch_size]


def is_edge_table(file: Path) -> bool:
    """Tell whether a CSV file has an edge per line, and the graph of each."""
    names = _header(file)
    return {"graph", "source", "target"} <= set(names)


def is_folder_of_tables(folder: Path) -> bool:
    """Tell whether a folder holds tables of nodes and of edges."""
    return all((folder / name).is_file() for name in (_NODES, EDGES))


def read_edge_table(file: Path, how: Reading) -> Iterator[Dataset]:
    """Yield the graphs of one CSV file with an edge per line, and the graph of each."""
    for what, column in (("target", how.target_column), ("id", how.id_column)):
        if column is not None:
            raise ValueError(
                f"{file} is a table of edges, without a column of a graph's {what}: put it into a "
                f"folder as {EDGES}, with {_NODES} and {_GRAPHS} beside it"
            )
    with naming(file):
        table = _read(file, how.limit, "graph", "source", "target")
        names = [name for name in table.column_names if name not in _COLUMNS["edge"]]
        order = np.arange(len(table))
        columns: dict[str, Any] = {
            name: table.column(name).to_pylist() for name in ("graph", "source", "target")
        }
        if EDGE_WEIGHT in table.column_names:
            columns[EDGE_WEIGHT] = _numbers(table, EDGE_WEIGHT, file)
        if EDGE_LABEL in table.column_names:
            columns[EDGE_LABEL] = _labels(table, EDGE_LABEL, order, file)
        columns |= {name: _numbers(table, name, file, "edge") for name in names}
        graphs = from_edge_list(
            columns, edge_attributes=names or None, keep_direction=how.keep_direction
        )
        assert graphs.ids is not None
        data = Dataset(file.stem, graphs.with_ids(ids_of(graphs.ids.tolist())))
    for start in range(0, len(data.graphs), how.batch_size):
        yield data[start : start + how.batch_size]


def _read_folder(folder: Path, how: Reading) -> Dataset:
    nodes = _read(folder / _NODES, how.limit, "node", "graph")
    edges = _read(folder / EDGES, how.limit, "source", "target")
    numbers_of_graphs, ids, target = _graphs(folder, nodes, how)
    n_graphs = len(ids)
    order = np.argsort(numbers_of_graphs, kind="stable")
    node_counts = np.bincount(numbers_of_graphs, minlength=n_graphs)
    offsets = offsets_from_counts(node_counts)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))

    file = folder / EDGES
    by_name_alone = "graph" not in edges.column_names
    names = nodes.column("node") if by_name_alone else _of_graph(nodes, "node")
    hint = f": names must differ over all graphs, unless {EDGES} has a column graph"
    _require_distinct(names, folder / _NODES, hint if by_name_alone else "")
    u, v = (
        _find(
            edges.column(end) if by_name_alone else _of_graph(edges, end),
            names,
            file,
            folder / _NODES,
        )
        for end in ("source", "target")
    )
    graph_of_edge = numbers_of_graphs[u]
    apart = graph_of_edge != numbers_of_graphs[v]
    if apart.any():
        row = int(np.argmax(apart))
        raise ValueError(f"{file}, line {row + 2}: the edge joins two graphs")
    by_graph = np.argsort(graph_of_edge, kind="stable")
    first = offsets[graph_of_edge[by_graph]]
    weights = _numbers(edges, EDGE_WEIGHT, file) if EDGE_WEIGHT in edges.column_names else None
    graphs = GraphBatch.from_edges(
        node_counts,
        np.bincount(graph_of_edge, minlength=n_graphs),
        np.column_stack([place[u][by_graph] - first, place[v][by_graph] - first]),
        edge_weights=None if weights is None else weights[by_graph],
        node_labels=_labels(nodes, NODE_LABEL, order, folder / _NODES),
        node_attributes=_attributes(nodes, "node", order, folder / _NODES),
        edge_labels=_labels(edges, EDGE_LABEL, by_graph, file),
        edge_attributes=_attributes(edges, "edge", by_graph, file),
        ids=ids_of(ids),
        directed=np.ones(n_graphs, bool) if how.keep_direction else None,
        keep_direction=how.keep_direction,
    )
    return Dataset(folder.name, graphs, target)


def _read(file: Path, limit: Limit, *required: str) -> Any:
    """Read a table of text: by Arrow's inference ``01`` and ``1`` would be the same name."""
    pa = pyarrow()
    from pyarrow import csv as arrow_csv

    if not file.is_file():
        raise ValueError(f"{file.parent} holds no file {file.name}")
    names = _header(file)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    for name in (*required, *repeated):
        require_one_column(names, name, file)
    limit.require(_PER_COLUMN * len(names), f"{len(names)} columns", str(file))
    as_text = arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    try:
        table = arrow_csv.read_csv(file, convert_options=as_text)
    except pa.ArrowException as error:
        raise ValueError(f"{file} cannot be read as CSV: {error}") from error
    if table.column_names != names:
        raise ValueError(f"{file}: the header is ambiguous, expected one line of plain names")
    if indices := [name for name in names if _INDEX.fullmatch(name)]:
        warn(
            f"{file}: the column {indices[0]!r} looks like the index of a pandas table, and is not "
            f"read: write tables by to_csv(..., index=False), or name the column"
        )
        table = table.drop_columns(indices)
    for name in required:
        is_empty = np.asarray(table.column(name).to_numpy() == "")
        if is_empty.any():
            line = int(np.argmax(is_empty)) + 2
            raise ValueError(f"{file}, line {line}: the column {name} is empty")
    return table


def _header(file: Path) -> list[str]:
    """Return the names of the columns as Python's csv module reads them."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            return next((row for row in csv.reader(lines) if row), [])
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{file} cannot be read as CSV: {error}") from error


def _graphs(folder: Path, nodes: Any, how: Reading) -> tuple[Ints, list[str], NDArray[Any] | None]:
    """Return the index of each node's graph, the ids of all graphs, and their targets."""
    graph_of_node = nodes.column("graph")
    if not (folder / _GRAPHS).is_file():
        for column in (how.target_column, how.id_column):
            if column is not None:
                raise ValueError(
                    f"{folder} holds no {_GRAPHS}, which would have the column {column!r}"
                )
        names = graph_of_node.unique()
        return _find(graph_of_node, names, folder / _NODES, folder), names.to_pylist(), None
    file = folder / _GRAPHS
    table = _read(file, how.limit, "graph")
    for column in (how.target_column, how.id_column):
        require_one_column(table.column_names, column, file)
    name = how.target_column or (TARGET if TARGET in table.column_names else None)
    target = None
    if name is not None:
        values = targets_of(table.column(name).to_pylist())
        target = target_array(values, allow_missing=not how.bad.are_raised)
    names = table.column("graph")
    _require_distinct(names, file)
    ids = table.column(how.id_column or "graph").to_pylist()
    return _find(graph_of_node, names, folder / _NODES, file), ids, target


def _of_graph(table: Any, column: str) -> Any:
    """Return names of nodes together with those of their graphs."""
    from pyarrow import compute

    return compute.binary_join_element_wise(table.column("graph"), table.column(column), _OF)


def _shown(name: str) -> str:
    graph, is_of_graph, node = name.rpartition(_OF)
    return f"{node!r} of the graph {graph!r}" if is_of_graph else repr(name)


def _find(column: Any, names: Any, file: Path, where: Path) -> Ints:
    """Return the position of each value among names."""
    from pyarrow import compute

    places = compute.index_in(column, value_set=names)
    if places.null_count:
        row = int(np.argmax(places.is_null().to_numpy()))
        raise ValueError(f"{file}, line {row + 2}: {_shown(column[row].as_py())} is not in {where}")
    return np.asarray(places.to_numpy(), dtype=np.int64)


def _require_distinct(names: Any, file: Path, hint: str = "") -> None:
    if len(names.unique()) == len(names):
        return
    seen: set[Any] = set()
    for row, name in enumerate(names.to_pylist()):
        if name in seen:
            raise ValueError(
                f"{file}, line {row + 2}: {_shown(name)} is in an earlier line already{hint}"
            )
        seen.add(name)


def _numbers(
    table: Any, name: str, file: Path, attribute_of: str | None = None
) -> NDArray[np.float64]:
    """Return a column of numbers: weights, or attributes of what ``attribute_of`` says."""
    pa = pyarrow()
    column = table.column(name)
    try:
        numbers: NDArray[np.float64] = column.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        numbers = np.array([_number(text) for text in column.to_pylist()])
    is_weight = attribute_of is None
    bad = ~np.isfinite(numbers) | (is_weight & (numbers < 0))
    if not bad.any():
        return numbers
    row = int(np.argmax(bad))
    text = column[row].as_py()
    got = "empty or NaN" if text.strip().lower() in ("", "nan") else repr(text[:40])
    if np.isnan(numbers[row]):
        expected = "a number" + ("" if attribute_of is None else _remedy(name, attribute_of))
    elif is_weight and numbers[row] < 0:
        expected = f"a number that is not negative: {NEGATIVE_WEIGHTS}"
    else:
        expected = "a finite number"
    raise ValueError(f"{file}, line {row + 2}: {name} is {got}, expected {expected}")


def _remedy(name: str, kind: str) -> str:
    known = _COLUMNS[kind]
    listed = f"{', '.join(known[:-1])} and {known[-1]}"
    return (
        f": columns other than {listed} are {kind} attributes. Rename {name} to {known[-1]} if it "
        f"holds labels of {kind}s, move it to {_GRAPHS} in a folder of tables if it is about whole "
        f"graphs, such as a target, or else drop it"
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _labels(table: Any, name: str, order: Ints, file: Path) -> list[Any] | None:
    if name not in table.column_names:
        return None
    texts = table.column(name).to_pylist()
    if "" in texts:
        raise ValueError(f"{file}, line {texts.index('') + 2}: the column {name} is empty")
    labels = labels_of(texts)
    return [labels[i] for i in order.tolist()]


def _attributes(table: Any, kind: str, order: Ints, file: Path) -> NDArray[np.float64] | None:
    names = [name for name in table.column_names if name not in _COLUMNS[kind]]
    if not names:
        return None
    return np.column_stack([_numbers(table, name, file, kind) for name in names])[order]
