"""Files that networkx reads: JSON lines (node-link), GraphML and GML.

Labels, attributes and weights are the attributes ``label``, ``attributes`` and ``weight``, as
in `as_graph_batch`; a graph's target is its own attribute.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from graphmover.graphs.batch import NODE_ATTRIBUTES, NODE_LABEL
from graphmover.graphs.dataset import Dataset
from graphmover.io.chunks import TARGET, chunks_of, library


def read_json_lines(path: Path, batch_size: int, target_column: str | None) -> Iterator[Dataset]:
    """Yield the graphs of a file with a node-link object on each line."""
    nx = _networkx("JSON lines")

    def graphs() -> Iterator[tuple[Any, Any]]:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                try:
                    data = json.loads(line)
                    edges = "links" if "links" in data else "edges"
                    graph = nx.node_link_graph(data, edges=edges)
                    if not isinstance(graph.graph, dict):
                        raise TypeError(f"graph is {graph.graph!r}")
                except Exception as error:  # whatever networkx meets in what is no graph
                    raise ValueError(
                        f"{path}, line {number}: {_words(error)}, expected a node-link object as "
                        f"networkx.node_link_data makes it"
                    ) from error
                _make_tuples(graph)
                yield graph, _target(graph, target_column, f"{path}, line {number}")

    return chunks_of(graphs(), path, batch_size)


def write_json_lines(file: IO[bytes], chunks: Iterator[Dataset]) -> int:
    """Write a node-link object per graph; return the number of graphs."""
    nx = _networkx("JSON lines")
    n_graphs = 0
    for chunk in chunks:
        if not n_graphs and (chunk.edge_labels is not None or chunk.edge_attributes is not None):
            warnings.warn("labels and attributes of edges are not written to JSON", stacklevel=3)
        targets = [None] * len(chunk.graphs) if chunk.target is None else chunk.target.tolist()
        for graph, target in zip(chunk.graphs, targets, strict=True):
            other = graph.to_networkx()
            if target is not None:
                other.graph[TARGET] = target
            for _, record in other.nodes(data=True):
                if NODE_ATTRIBUTES in record:
                    record[NODE_ATTRIBUTES] = record[NODE_ATTRIBUTES].tolist()
            try:
                line = json.dumps(nx.node_link_data(other, edges="edges"), allow_nan=False)
            except TypeError as error:
                raise TypeError(
                    f"graph {n_graphs}: a label cannot be written as JSON: {error}"
                ) from error
            file.write(line.encode() + b"\n")
            n_graphs += 1
    return n_graphs


def read_graphml(path: Path, batch_size: int, target_column: str | None) -> Iterator[Dataset]:
    """Yield the graph of a file, or of each file of a folder, in the order of their names."""
    nx = _networkx("GraphML")
    return _read_files(path, "graphml", nx.read_graphml, batch_size, target_column)


def read_gml(path: Path, batch_size: int, target_column: str | None) -> Iterator[Dataset]:
    """Yield the graph of a file, or of each file of a folder, in the order of their names.

    In GML ``label`` is the name of a node, which differs from node to node: it is dropped, and
    a node's label is its attribute ``node_label``.
    """
    nx = _networkx("GML")

    def read(file: Path) -> Any:
        graph = nx.read_gml(file, label="id")
        for _, record in graph.nodes(data=True):
            record.pop(NODE_LABEL, None)
            if "node_label" in record:
                record[NODE_LABEL] = record.pop("node_label")
        return graph

    return _read_files(path, "gml", read, batch_size, target_column)


def _read_files(
    path: Path,
    ending: str,
    read: Callable[[Path], Any],
    batch_size: int,
    target_column: str | None,
) -> Iterator[Dataset]:
    files = sorted(path.glob(f"*.{ending}"), key=_by_number) if path.is_dir() else [path]

    def graphs() -> Iterator[tuple[Any, Any]]:
        for file in files:
            try:
                graph = read(file)
            except OSError:
                raise
            except Exception as error:  # whatever networkx meets in what is no graph
                raise ValueError(f"{file} cannot be read as {ending}: {_words(error)}") from error
            _make_tuples(graph)
            yield graph, _target(graph, target_column, str(file))

    return chunks_of(graphs(), path, batch_size)


def _networkx(what: str) -> Any:
    try:
        import networkx as nx
    except ImportError:
        raise library("networkx", what, "networkx") from None
    return nx


def _by_number(file: Path) -> list[Any]:
    """Sort graph2 before graph10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", file.name)]


def _make_tuples(graph: Any) -> None:
    """Make labels of several parts, which files hold as lists, the tuples they were."""
    for _, record in graph.nodes(data=True):
        if isinstance(record.get(NODE_LABEL), list):
            record[NODE_LABEL] = _tuple(record[NODE_LABEL])


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value


def _target(graph: Any, target_column: str | None, where: str) -> Any:
    name = target_column or TARGET
    if target_column is not None and name not in graph.graph:
        raise ValueError(f"{where}: the graph has no attribute {name!r}")
    return graph.graph.get(name)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]
