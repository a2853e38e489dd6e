"""Graphs as Python's own collections: lists of edges, dicts of neighbours, and pairs as in GraKeL.

Edges have no direction here. They are tuples in a list or set: a list of lists could be a matrix,
and a tuple of tuples one edge between nodes that are called by tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from graphmover.graphs.columns import Carriers
from graphmover.graphs.matrices import from_numpy, from_scipy
from graphmover.graphs.parts import (
    MISSING,
    Array,
    Flat,
    Names,
    Part,
    attributes_of,
    each_edge,
    each_node,
    labels_of,
    weights_of,
)


class _Edges(NamedTuple):
    """Edges by the names of their ends, and nodes that are listed apart from them."""

    nodes: Iterable[Any]
    pairs: list[tuple[Any, Any]]
    weights: list[Any] | None = None


_Reader = Callable[[Any], _Edges]


def collection_converter(graph: Any) -> Callable[[Any, Names, Flat], Part] | None:
    """Return the converter of a collection that is one graph, or None."""
    if _is_labelled(graph):
        return _from_labelled
    read = _reader(graph)
    if read is None:
        return None
    return lambda graph, names, _: _part(read(graph), names)


def _reader(graph: Any) -> _Reader | None:
    """Tell which collection of edges this is, or None if it is something else."""
    if isinstance(graph, list | Set):
        return _listed if all(isinstance(edge, tuple) for edge in graph) else None
    if not isinstance(graph, Mapping):
        return None
    if graph and all(map(_is_weighted_pair, graph.items())):
        return _weighted_pairs
    return _neighbours if all(_is_neighbours(value, graph) for value in graph.values()) else None


def _is_weighted_pair(item: tuple[Any, Any]) -> bool:
    pair, weight = item
    return isinstance(pair, tuple) and len(pair) == 2 and isinstance(weight, Real)


def _is_neighbours(value: Any, graph: Mapping[Any, Any]) -> bool:
    """Tell neighbours, or weights by neighbour, from a graph under the name of its id."""
    if isinstance(value, Mapping):
        is_weighted = all(isinstance(weight, Real) for weight in value.values())
        # Pairs that are not nodes of this graph are edges of another.
        return is_weighted and all(name in graph for name in value if isinstance(name, tuple))
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    if not isinstance(value, list | tuple | Set):
        return False
    return all(
        neighbour in graph if isinstance(neighbour, tuple) else isinstance(neighbour, Hashable)
        for neighbour in value
    )


def _listed(edges: Iterable[tuple[Any, ...]]) -> _Edges:
    """Read (u, v) and (u, v, weight)."""
    listed = list(edges)
    for number, edge in enumerate(listed):
        if len(edge) not in (2, 3) or not isinstance((*edge, 1.0)[2], Real):
            raise ValueError(
                f"edge {number} is {edge!r:.80}, expected two nodes, or two nodes and a weight"
            )
    weights = [edge[2] if len(edge) == 3 else MISSING for edge in listed]
    return _Edges((), [(edge[0], edge[1]) for edge in listed], weights)


def _weighted_pairs(weights: Mapping[tuple[Any, Any], Any]) -> _Edges:
    return _Edges((), list(weights), list(weights.values()))


def _neighbours(graph: Mapping[Any, Any]) -> _Edges:
    pairs: list[tuple[Any, Any]] = []
    weights: list[Any] = []
    for node, others in graph.items():
        names = others.tolist() if isinstance(others, np.ndarray) else list(others)
        pairs += [(node, neighbour) for neighbour in names]
        weights += others.values() if isinstance(others, Mapping) else [MISSING] * len(names)
    return _Edges(graph, pairs, weights)


def _part(edges: _Edges, names: Names) -> Part:
    nodes = _nodes(edges)
    ends = [nodes[end] for pair in edges.pairs for end in pair]
    sources, targets = np.array(ends, np.int64).reshape(-1, 2).T
    weights = None if names.edge_weight is None else weights_of(edges.weights)
    return Part(len(nodes), sources, targets, weights)


def _nodes(edges: _Edges) -> dict[Any, int]:
    """Return the numbers of nodes: those listed, then ends of edges by first appearance."""
    number: dict[Any, int] = {}
    for node in chain(edges.nodes, chain.from_iterable(edges.pairs)):
        try:
            number.setdefault(node, len(number))
        except TypeError:
            raise TypeError(f"a node is {node!r:.80}, expected a hashable value") from None
    return number


# As in GraKeL: edges or a matrix, labels of nodes by name, and labels of edges by their ends.


def _is_labelled(graph: Any) -> bool:
    return (
        isinstance(graph, list | tuple)
        and len(graph) in (2, 3)
        and all(isinstance(values, Mapping | None) for values in graph[1:])
        and (_reader(graph[0]) is not None or _is_matrix(graph[0]))
    )


def _is_matrix(value: Any) -> bool:
    return getattr(value, "ndim", 0) == 2


def _from_labelled(graph: Sequence[Any], names: Names, flat: Flat) -> Part:
    first, of_nodes, of_edges = (*graph, None)[:3]
    read = _reader(first)
    edges = _matrix_edges(first, names, flat) if read is None else read(first)
    edges = edges._replace(nodes=[*(of_nodes or ()), *edges.nodes])
    nodes = list(_nodes(edges))
    node_labels, node_attributes = _carried(
        None if not of_nodes else [of_nodes.get(node, MISSING) for node in nodes],
        each_node(nodes),
    )
    edge_labels, edge_attributes = _carried(
        None if not of_edges else _edge_values(of_edges, edges.pairs), each_edge(edges.pairs)
    )
    return _part(edges, names)._replace(
        node_labels=None if names.node_label is None else node_labels,
        node_attributes=None if names.node_attributes is None else node_attributes,
        edge_labels=None if names.edge_label is None else edge_labels,
        edge_attributes=None if names.edge_attributes is None else edge_attributes,
    )


def _matrix_edges(matrix: Any, names: Names, flat: Flat) -> _Edges:
    convert = from_numpy if isinstance(matrix, np.ndarray) else from_scipy
    part = convert(matrix, names, flat)
    pairs = np.column_stack([np.asarray(part.sources), np.asarray(part.targets)]).tolist()
    weights = None if part.edge_weights is None else np.asarray(part.edge_weights).tolist()
    return _Edges(range(part.n_nodes), list(map(tuple, pairs)), weights)


def _edge_values(values: Mapping[Any, Any], pairs: Sequence[tuple[Any, Any]]) -> list[Any]:
    """Return what edges carry under their ends, in this order or else in the other."""
    known = set(pairs)
    for pair in values:
        if not isinstance(pair, tuple) or len(pair) != 2 or not {pair, pair[::-1]} & known:
            raise ValueError(f"there is a label for {pair!r:.80}, which is not one of its edges")
    return [values.get(pair, values.get(pair[::-1], MISSING)) for pair in pairs]


def _carried(values: list[Any] | None, carriers: Carriers) -> tuple[list[Any] | None, Array | None]:
    """Return labels, or attributes if all values are lists or arrays."""
    if values is None:
        return None, None
    if all(isinstance(value, list | np.ndarray) for value in values if value is not MISSING):
        return None, attributes_of(values, carriers)
    return labels_of(values, carriers), None
