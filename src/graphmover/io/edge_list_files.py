"""Plain lists of edges: one graph per file, an edge per line.

A line has two names of nodes, and optionally a weight or, as networkx writes it, a dict of
attributes; spaces, tabs or commas are between them. What follows ``#`` or ``%`` is a comment.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from graphmover.graphs.dataset import Dataset
from graphmover.graphs.graph import EDGE_WEIGHT
from graphmover.io.networkx_files import networkx_library, read_files
from graphmover.io.reading import Reading


def read_edge_list(path: Path, how: Reading, ending: str) -> Iterator[Dataset]:
    """Yield the graph of a file, or of each of several files, in the order of their names."""
    nx = networkx_library("an edge list")
    empty = nx.MultiDiGraph if how.keep_direction else nx.MultiGraph
    return read_files(path, ending, partial(_graph, empty), how)


def _graph(empty: Callable[[], Any], file: Path) -> Any:
    graph = empty()  # repeated edges are merged by the rules of `GraphBatch.from_edges`
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            text = line.split("#")[0].split("%")[0].strip()
            if text:
                u, v, values = _edge(text, number)
                graph.add_edge(u, v, **values)
    if not graph:
        raise ValueError("there are no edges")
    return graph


def _edge(text: str, number: int) -> tuple[str, str, dict[str, Any]]:
    start = text.find("{")
    names = (text if start < 0 else text[:start]).replace(",", " ").split()
    try:
        values = {} if start < 0 else literal_eval(text[start:])
        if len(names) == 3 and start < 0:
            values = {EDGE_WEIGHT: float(names.pop())}
        is_edge = len(names) == 2 and isinstance(values, dict)
    except (SyntaxError, ValueError):
        is_edge = False
    if not is_edge:
        raise ValueError(
            f"line {number} is {text[:80]!r}, expected two nodes, and optionally a weight or a "
            f"dict of attributes"
        )
    return names[0], names[1], values
