"""Files that networkx reads: JSON lines (node-link), GraphML, GML and GEXF.

Labels, attributes and weights are stored under ``label``, ``attributes`` and ``weight``, as in
`as_graph_batch`; a graph's target and its id are its own attributes.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

from graphmover.graphs.columns import is_id, nested_tuple
from graphmover.graphs.dataset import Dataset
from graphmover.graphs.graph import (
    NODE_ATTRIBUTES,
    NODE_LABEL,
)
from graphmover.io.chunks import TARGET, Record, chunks_of, library, naming
from graphmover.io.many_files import files_of, is_pattern
from graphmover.io.reading import Readable, Reading, id_of

#: Memory that networkx takes for a character of a file, measured, rounded up.
_PER_CHARACTER = 200


def read_json_lines(path: Path, how: Reading) -> Iterator[Dataset]:
    """Yield the graphs of a file with a node-link object on each line."""

    def lines() -> Iterator[tuple[int, bytes]]:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                text = line.removeprefix(BOM_UTF8) if number == 1 else line
                if text.strip():
                    yield number, text

    networkx_library("JSON lines")  # a missing library is an error before the first batch
    return batches_of_json(lines(), path, how)


def batches_of_json(
    lines: Iterable[tuple[int, bytes]], path: Readable, how: Reading
) -> Iterator[Dataset]:
    """Yield the graphs of node-link objects with the numbers of their lines."""
    nx = networkx_library("JSON lines")

    def graph_of(text: bytes, where: str) -> Any:
        how.limit.require(_PER_CHARACTER * len(text), f"a line of {len(text)} bytes", where)
        try:
            data = _node_link(_parsed(text))
            graph = nx.node_link_graph(data, edges="edges")
            _make_tuples(graph)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error
        except Exception as error:  # networkx raises all kinds on malformed input
            raise ValueError(
                f"{where}: {_words(error)}, expected a node-link object as "
                f"networkx.node_link_data makes it"
            ) from error
        return graph

    def records() -> Iterator[Record]:
        for number, text in lines:
            where = f"{path}, line {number}"
            yield from record_of(partial(graph_of, text, where), number, where, how)

    return chunks_of(records(), path, how)


def record_of(
    read: Callable[[], Any], position: int | str, where: str, how: Reading, name: str | None = None
) -> Iterator[Record]:
    """Yield a graph with its target and its id.

    ``name`` is its id unless another is asked for.
    """
    try:
        graph = read()
    except ValueError as error:
        if how.bad.are_raised:
            raise
        reason = ValueError(str(error).removeprefix(f"{where}: "))
        yield Record(None, None, name, position, reason)
        return
    with naming(where):
        id = name if name is not None and how.id_column is None else id_of(graph.graph, how)
        target = _target(graph, how)
    yield Record(graph, target, id, position)


_A_NODE, _AN_EDGE = '{"id": 0}', '{"source": 0, "target": 1}'


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} of the line is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError(
            f"not JSON ({error.msg}, character {error.pos}), expected a node-link object as "
            f"networkx.node_link_data makes it"
        ) from error


def _node_link(data: Any) -> dict[str, Any]:
    """Check what networkx would change silently: unlisted nodes, repeated nodes and edges."""
    if not isinstance(data, dict):
        raise ValueError(f"the line is {_json(data)}, expected an object with nodes and edges")
    if not isinstance(data.get("graph", {}), dict):
        raise ValueError(f"graph is {_json(data['graph'])}, expected an object")
    field, *others = _edge_fields(data)
    if others:
        raise ValueError("there are edges and links")
    nodes, edges = _objects(data, "nodes", _A_NODE), _objects(data, field, _AN_EDGE)
    names: set[Any] = set()
    for position, node in enumerate(nodes):
        name = _node_name(node.get("id", position), f"nodes[{position}]")
        if name in names:
            raise ValueError(f"the node {name!r:.80} is repeated")
        names.add(name)
    for position, edge in enumerate(edges):
        for end in ("source", "target"):
            if end not in edge:
                raise ValueError(
                    f"{field}[{position}] has no {end}: it is {_json(edge)}, expected an object "
                    f"such as {_AN_EDGE}"
                )
    pairs = [
        tuple(_node_name(edge[end], f"{field}[{position}]") for end in ("source", "target"))
        for position, edge in enumerate(edges)
    ]
    for pair in pairs:
        for end in pair:
            if end not in names:
                raise ValueError(
                    f"the edge {pair!r:.80} has the node {end!r:.80}, which is not listed"
                )
    for edge in edges:
        edge.pop("key", None)  # edges with the same key would replace each other
    # In a multigraph repeated edges stay, and are merged by the rules of `GraphBatch.from_edges`.
    return {
        "directed": bool(data.get("directed", False)),
        "multigraph": len(set(map(frozenset, pairs))) < len(pairs),
        "graph": data.get("graph", {}),
        "nodes": nodes,
        "edges": edges,
    }


def _objects(data: dict[str, Any], field: str, example: str) -> list[dict[str, Any]]:
    """Return the objects of a list, of which this is an example."""
    expected = f"expected a list of objects such as {example}"
    if field not in data:
        raise ValueError(f"there is no field {field}, {expected}")
    listed = data[field]
    if not isinstance(listed, list):
        raise ValueError(f"{field} is {_json(listed)}, {expected}")
    for position, one in enumerate(listed):
        if not isinstance(one, dict):
            raise ValueError(
                f"{field}[{position}] is {_json(one)}, expected an object such as {example}"
            )
    return listed


def _node_name(value: Any, where: str) -> Any:
    """Return the name of a node; lists in it become tuples."""
    name = nested_tuple(value)
    try:
        hash(name)
    except TypeError:
        name = None
    if name is None:
        raise ValueError(f"{where} has the node {_json(value)}, expected a string or a number")
    return name


def _json(value: Any) -> str:
    """Return the first characters of what a line says."""
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:80]} ..."


def _edge_fields(data: dict[str, Any]) -> list[str]:
    """Return the names under which there are edges; of two lists the one that is not empty."""
    fields: list[str] = [name for name in ("edges", "links") if name in data]
    return [name for name in fields if data[name]] or fields[:1] or ["edges"]


def write_json_lines(file: IO[bytes], chunks: Iterator[Dataset]) -> int:
    """Write a node-link object per graph; return the number of graphs."""
    nx = networkx_library("JSON lines")
    n_graphs = 0
    for chunk in chunks:
        targets = [None] * len(chunk.graphs) if chunk.target is None else chunk.target.tolist()
        for index, target in enumerate(targets):
            graph = chunk.graphs[index].to_networkx()
            if target is not None and target == target:  # noqa: PLR0124 - NaN is a missing one
                graph.graph[TARGET] = target
            for record in _records(graph):
                if NODE_ATTRIBUTES in record:
                    record[NODE_ATTRIBUTES] = record[NODE_ATTRIBUTES].tolist()
            try:
                line = json.dumps(nx.node_link_data(graph, edges="edges"), allow_nan=False)
            except (TypeError, ValueError) as error:
                raise type(error)(
                    f"graph {n_graphs}: a label or the target cannot be written as JSON: {error}"
                ) from error
            file.write(line.encode() + b"\n")
            n_graphs += 1
    return n_graphs


def read_graphml(path: Path, how: Reading) -> Iterator[Dataset]:
    """Yield the graph of a file, or of each file of a folder, in the order of their names."""
    nx = networkx_library("GraphML")

    def read(file: Path) -> Any:
        _require_listed_nodes(file)
        return nx.read_graphml(file)

    return read_files(path, "graphml", read, how)


def _require_listed_nodes(file: Path) -> None:
    """Reject edges to nodes that are not in the file: networkx would add them."""
    from xml.etree.ElementTree import iterparse

    names: set[str | None] = set()
    ends: dict[str | None, None] = {}
    for _, element in iterparse(file):
        tag = element.tag.rpartition("}")[2]
        if tag == "node":
            names.add(element.get("id"))
        elif tag == "edge":
            ends |= {element.get("source"): None, element.get("target"): None}
    for end in ends:
        if end not in names:
            raise ValueError(f"an edge has the node {end!r:.80}, which is not listed")


def read_gml(path: Path, how: Reading) -> Iterator[Dataset]:
    """Yield the graph of a file, or of each file of a folder, in the order of their names.

    In GML the ``label`` of a node is its name, which differs from node to node: it is dropped,
    and a node's label is its attribute ``node_label``. An edge's label is ``label``.
    """
    nx = networkx_library("GML")

    return read_files(path, "gml", lambda file: _relabelled(nx.read_gml(file, label="id")), how)


def read_gexf(path: Path, how: Reading) -> Iterator[Dataset]:
    """Yield the graph of a file, or of each of several files; labels are as in GML."""
    nx = networkx_library("GEXF")

    def read(file: Path) -> Any:
        _require_listed_nodes(file)
        return _relabelled(nx.read_gexf(file))

    return read_files(path, "gexf", read, how)


def _relabelled(graph: Any) -> Any:
    """Drop names of nodes that are under ``label``, and move labels from ``node_label`` there."""
    for _, record in graph.nodes(data=True):
        record.pop(NODE_LABEL, None)
        if "node_label" in record:
            record[NODE_LABEL] = record.pop("node_label")
    return graph


def read_files(
    path: Path, ending: str, read: Callable[[Path], Any], how: Reading
) -> Iterator[Dataset]:
    """Yield the graph of a file, or of each file of a folder or pattern, in natural order."""
    files = files_of(path, f".{ending}")
    are_named = path.is_dir() or is_pattern(path)  # the names of files tell the graphs apart

    def graph_of(file: Path) -> Any:
        n_bytes = file.stat().st_size
        how.limit.require(_PER_CHARACTER * n_bytes, f"a file of {n_bytes} bytes", str(file))
        try:
            graph = read(file)
            _make_tuples(graph)
        except OSError as error:
            if error.errno is None:
                raise ValueError(f"{file} cannot be read as {ending}: {error}") from error
            raise
        except Exception as error:  # networkx raises all kinds on malformed input
            raise ValueError(f"{file} cannot be read as {ending}: {_words(error)}") from error
        return graph

    def records() -> Iterator[Record]:
        for file in files:
            name = file.stem if are_named and is_id(file.stem) else None
            yield from record_of(partial(graph_of, file), file.name, str(file), how, name)

    return chunks_of(records(), path, how)


def networkx_library(what: str) -> Any:
    """Return networkx, which reading this needs."""
    try:
        import networkx as nx
    except ImportError:
        raise library("networkx", what, "networkx") from None
    return nx


def _make_tuples(graph: Any) -> None:
    """Turn labels that are lists in the file, which have no tuples, into tuples."""
    for record in _records(graph):
        if isinstance(record.get(NODE_LABEL), list):
            record[NODE_LABEL] = nested_tuple(record[NODE_LABEL])


def _records(graph: Any) -> Iterator[dict[str, Any]]:
    """Yield what nodes and edges carry, under the same names."""
    for *_, record in chain(graph.nodes(data=True), graph.edges(data=True)):
        yield record


def _target(graph: Any, how: Reading) -> Any:
    name = how.target_column or TARGET
    if how.target_column is not None and how.bad.are_raised and name not in graph.graph:
        raise ValueError(f"the graph has no attribute {name!r}")
    return graph.graph.get(name)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]
