"""One converter per library: one graph into a `Part`, and nothing else.

Checks that all graphs need are made once, over all of them, in `arrays_from_edges`. No library
is imported here: a graph is recognised by the name of its class. Columns are lists where a
library hands out Python objects: concatenating lists is cheaper than making an array of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from numbers import Real
from operator import itemgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.arrays import edge_array
from graphmover.graphs.columns import Carriers, is_id
from graphmover.graphs.graph import (
    EDGE_ATTRIBUTES,
    EDGE_LABEL,
    EDGE_WEIGHT,
    GRAPH_ID,
    NODE_ATTRIBUTES,
    Graph,
)

Array = NDArray[Any]

#: A column of one graph: its values, or their range in `Flat`, which has one list for all graphs.
Column = Array | list[Any] | range

_REAL_KINDS = "biuf"


class Names(NamedTuple):
    """The names under which a graph carries its data; None: not wanted."""

    node_label: str | None
    node_attributes: str | None
    edge_weight: str | None
    edge_label: str | None
    edge_attributes: str | None
    graph_id: str | None


class Flat(NamedTuple):
    """Concatenated values of many graphs: a list per graph is too much for 100,000 graphs.

    Weights are checked once over the whole column, after all graphs are read.
    """

    degrees: list[int]
    targets: list[int]
    edge_weights: list[Any]
    node_labels: list[Any]
    edge_labels: list[Any]


def _appended(values: Iterable[Any] | None, column: list[Any]) -> range | None:
    """Append values to a flat column; return their range in it."""
    if values is None:
        return None
    start = len(column)
    column.extend(values)
    return range(start, len(column))


class Part(NamedTuple):
    """One graph as its converter read it. Edges are in any order, with repetitions and loops.

    Either ``sources`` are parallel to ``targets``, or ``degrees`` are the numbers of targets of
    each node in turn.
    """

    n_nodes: int
    sources: Column | None
    targets: Column
    edge_weights: Column | None = None
    node_labels: Column | None = None
    node_attributes: Array | None = None
    edge_labels: Column | None = None
    edge_attributes: Array | None = None
    directed: bool = False
    degrees: range | None = None
    id: str | int | None = None


class _Missing:
    """Marks a node or an edge that has no value under the wanted name."""


_MISSING = _Missing()


# Values looked up by name: lists, in which some may be missing, become checked columns.


def _each_node(nodes: Sequence[Any]) -> Carriers:
    return Carriers("node", len(nodes), lambda at: f"node {nodes[at]!r}")


def _each_edge(edges: Sequence[tuple[Any, Any]]) -> Carriers:
    return Carriers("edge", len(edges), lambda at: f"edge {tuple(edges[at])!r}")


def _labels(values: list[Any] | None, carriers: Carriers) -> list[Any] | None:
    return None if values is None or not _on_all(values, carriers, "label") else values


def _attributes(values: list[Any] | None, carriers: Carriers) -> Array | None:
    if values is None or not _on_all(values, carriers, "attributes"):
        return None
    try:
        rows = np.array(values)
    except ValueError:  # unequal lengths
        rows = np.empty((0, 0, 0))
    if rows.ndim <= 2 and rows.dtype.kind in _REAL_KINDS:
        return rows.reshape(len(values), -1)
    checked = [_attribute_row(value, carriers, at) for at, value in enumerate(values)]
    for at, row in enumerate(checked):
        if len(row) != len(checked[0]):
            raise ValueError(
                f"{carriers.name(at)} has {len(row)} attributes, expected {len(checked[0])} as "
                f"the first {carriers.kind} has"
            )
    return np.array(checked)


def _attribute_row(value: Any, carriers: Carriers, at: int) -> Array:
    try:
        row = np.atleast_1d(np.array(value))
    except ValueError:
        row = np.empty((0, 0))
    if row.ndim != 1 or row.dtype.kind not in _REAL_KINDS:
        raise TypeError(
            f"{carriers.name(at)} has the attributes {value!r}, expected a number or a sequence "
            f"of numbers"
        )
    return row


def _on_all(values: list[Any], carriers: Carriers, what: str) -> bool:
    """Return whether all nodes or edges have a value; reject a mixture."""
    kinds = set(map(type, values))
    if _Missing in kinds and len(kinds) > 1:
        at = next(at for at, value in enumerate(values) if value is _MISSING)
        raise ValueError(
            f"{carriers.name(at)} has no {what} while other {carriers.kind}s of the graph have, "
            f"expected it on all {carriers.kind}s or on none"
        )
    return bool(kinds) and _Missing not in kinds


def _weights(values: list[Any] | None) -> list[float] | None:
    """Fill in weight 1 for edges without one, unless no edge has a weight."""
    if values is None or set(map(type, values)) <= {_Missing}:
        return None
    return as_floats([1.0 if value is _MISSING else value for value in values])


def as_floats(weights: list[Any]) -> list[float]:
    """Return weights as floats; reject whatever is not a number, strings of digits included."""
    if set(map(type, weights)) == {float}:
        return weights
    for weight in weights:
        if not isinstance(weight, Real | np.bool_):
            raise TypeError(f"an edge has the weight {weight!r}, expected a number")
    try:
        return list(map(float, weights))
    except OverflowError:
        raise ValueError(f"the weight {max(weights)!r} is too large for a float") from None


class _Records:
    """What nodes or edges carry: a mapping for each."""

    __slots__ = ("_carriers", "_names", "_rows")

    def __init__(self, rows: Sequence[Mapping[Any, Any]], carriers: Callable[[], Carriers]) -> None:
        self._rows, self._carriers = rows, carriers
        self._names = set().union(*rows)  # most names that are asked for are in no row

    def values(self, name: str | None) -> list[Any] | None:
        """Return the values under a name, or None if no row has it."""
        if name is None or name not in self._names:
            return None
        return [row.get(name, _MISSING) for row in self._rows]

    def labels(self, name: str | None) -> list[Any] | None:
        values = self.values(name)
        return None if values is None else _labels(values, self._carriers())

    def attributes(self, name: str | None) -> Array | None:
        values = self.values(name)
        return None if values is None else _attributes(values, self._carriers())

    def flat_labels(self, name: str | None, column: list[Any]) -> range | None:
        """Append the labels to a flat column; return their range in it."""
        return self._flat(name, column) or _appended(self.labels(name), column)

    def flat_weights(self, name: str | None, column: list[Any]) -> range | None:
        """Append the weights to a flat column; return their range in it."""
        return self._flat(name, column) or _appended(_weights(self.values(name)), column)

    def _flat(self, name: str | None, column: list[Any]) -> range | None:
        """Append values to a flat column, unless some rows have none."""
        if name is None or name not in self._names:
            return None
        start = len(column)
        try:
            column.extend(map(itemgetter(name), self._rows))
        except KeyError:
            del column[start:]
            return None
        return range(start, len(column))


def _id(name: str | None, value: Any) -> str | int | None:
    """Return the id that a graph carries; what cannot be one is none, unless it was asked for."""
    if value is None or name is None:
        return None
    if hasattr(value, "item") and tuple(value.shape) in ((), (1,)):
        value = value.item()  # a tensor
    if is_id(value):
        return value  # type: ignore[no-any-return]
    if name != GRAPH_ID:
        raise TypeError(f"{name} is {value!r:.80}, expected a string or an integer as id")
    return None


# One converter per library.

_VALUES = methodcaller("values")
_SECOND = itemgetter(1)


def _from_graphmover(graph: Graph, names: Names, _: Flat) -> Part:
    return Part(
        graph.n_nodes,
        graph.edges[:, 0],
        graph.edges[:, 1],
        None if names.edge_weight is None else graph.edge_weights,
        None if names.node_label is None else graph.node_labels,
        None if names.node_attributes is None else graph.node_attributes,
        None if names.edge_label is None else graph.edge_labels,
        None if names.edge_attributes is None else graph.edge_attributes,
        id=None if names.graph_id is None else graph.id,
    )


def _from_networkx(graph: Any, names: Names, flat: Flat) -> Part:
    nodes = list(graph)
    rows = list(map(dict(graph.adjacency()).__getitem__, nodes))
    degrees = list(map(len, rows))
    neighbours: Iterable[Any] = chain.from_iterable(rows)
    edge_rows = rows
    if graph.is_multigraph():
        edge_rows = list(chain.from_iterable(map(_VALUES, rows)))
        degrees = [sum(map(len, row.values())) for row in rows]
        neighbours = chain.from_iterable(map(repeat, neighbours, map(len, edge_rows)))
    numbers = range(len(nodes))
    if nodes != list(numbers):
        neighbours = map(dict(zip(nodes, numbers, strict=True)).__getitem__, neighbours)
    targets = _appended(neighbours, flat.targets) or range(0)

    def edge_name(at: int) -> str:
        source = int(np.searchsorted(np.cumsum(degrees), at, side="right"))
        return f"edge {(nodes[source], nodes[flat.targets[targets[at]]])!r}"

    of_nodes = _Records(list(map(_SECOND, graph.nodes(data=True))), lambda: _each_node(nodes))
    of_edges = _Records(
        list(chain.from_iterable(map(_VALUES, edge_rows))),
        lambda: Carriers("edge", len(targets), edge_name),
    )
    return Part(
        len(nodes),
        None,
        targets,
        of_edges.flat_weights(names.edge_weight, flat.edge_weights),
        of_nodes.flat_labels(names.node_label, flat.node_labels),
        of_nodes.attributes(names.node_attributes),
        of_edges.flat_labels(names.edge_label, flat.edge_labels),
        of_edges.attributes(names.edge_attributes),
        graph.is_directed(),
        _appended(degrees, flat.degrees),
        _id(names.graph_id, graph.graph.get(names.graph_id)),
    )


def _from_igraph(graph: Any, names: Names, _: Flat) -> Part:
    def looked_up(sequence: Any, name: str | None) -> list[Any] | None:
        if name is None or name not in sequence.attributes():
            return None
        return [_MISSING if value is None else value for value in sequence[name]]

    nodes, edges = range(graph.vcount()), graph.get_edgelist()
    name = names.graph_id
    each_node, each_edge = _each_node(nodes), _each_edge(edges)
    sources, targets = edge_array(edges).T
    return Part(
        len(nodes),
        sources,
        targets,
        _weights(looked_up(graph.es, names.edge_weight)),
        _labels(looked_up(graph.vs, names.node_label), each_node),
        _attributes(looked_up(graph.vs, names.node_attributes), each_node),
        _labels(looked_up(graph.es, names.edge_label), each_edge),
        _attributes(looked_up(graph.es, names.edge_attributes), each_edge),
        graph.is_directed(),
        id=_id(name, graph[name] if name in graph.attributes() else None),
    )


def _from_rustworkx(graph: Any, names: Names, _: Flat) -> Part:
    def weight(payload: Any) -> Any:
        if isinstance(payload, Mapping):
            return payload.get(names.edge_weight, _MISSING)
        return _MISSING if payload is None else payload

    def records(payloads: Iterable[Any], carriers: Carriers) -> _Records:
        rows = [x if isinstance(x, Mapping) else {} for x in payloads]
        return _Records(rows, lambda: carriers)

    nodes = list(graph.node_indices())  # with holes where nodes were removed
    edges = list(graph.weighted_edge_list())
    pairs, payloads = [edge[:2] for edge in edges], [edge[2] for edge in edges]
    of_nodes = records(graph.nodes(), _each_node(nodes))
    of_edges = records(payloads, _each_edge(pairs))
    directed = hasattr(graph, "successors")
    ends = np.searchsorted(nodes, edge_array(pairs))
    # Parallel edges of an undirected graph come as they were added, from either end.
    sources, targets = (ends if directed else np.sort(ends, axis=1)).T
    weights = None if names.edge_weight is None else list(map(weight, payloads))
    attrs = graph.attrs if isinstance(graph.attrs, Mapping) else {}
    return Part(
        len(nodes),
        sources,
        targets,
        _weights(weights),
        of_nodes.labels(names.node_label),
        of_nodes.attributes(names.node_attributes),
        of_edges.labels(names.edge_label),
        of_edges.attributes(names.edge_attributes),
        directed,
        id=_id(names.graph_id, attrs.get(names.graph_id)),
    )


def _from_scipy(matrix: Any, names: Names, _: Flat) -> Part:
    _require_adjacency(matrix)
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()  # the caller's matrix stays as it is
        rows.sum_duplicates()
    sources = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    return _matrix_part(rows.shape[0], sources, rows.indices, rows.data, names)


def _from_numpy(matrix: Array, names: Names, _: Flat) -> Part:
    _require_adjacency(matrix)
    if isinstance(matrix, np.ma.MaskedArray):
        raise TypeError("got a masked array, expected none: fill it, as with matrix.filled(0)")
    matrix = np.asarray(matrix)  # from np.matrix
    sources, targets = matrix.nonzero()
    return _matrix_part(len(matrix), sources, targets, matrix[sources, targets], names)


def _require_adjacency(matrix: Any) -> None:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"got a matrix of the shape {matrix.shape}, expected a square one")
    if matrix.dtype.kind not in _REAL_KINDS:
        raise TypeError(f"got a matrix of {matrix.dtype}, expected real numbers")


def _matrix_part(
    n_nodes: int, sources: Array, targets: Array, weights: Array, names: Names
) -> Part:
    if names.edge_weight is None or weights.dtype.kind == "b":
        stored = weights != 0
        return Part(n_nodes, sources[stored], targets[stored], directed=True)
    return Part(n_nodes, sources, targets, weights, directed=True)


#: What PyTorch Geometric calls the things that have other names by default here.
_PYG_NAMES = {NODE_ATTRIBUTES: "x", EDGE_WEIGHT: "edge_weight"}
_PYG_EDGE_ATTRIBUTES = "edge_attr"


def _from_pyg(data: Any, names: Names, _: Flat) -> Part:
    if hasattr(data, "to_data_list"):
        raise TypeError("got a PyTorch Geometric Batch, expected Data: pass batch.to_data_list()")
    if data.edge_index is None and "adj_t" in data:
        raise TypeError("got a Data with adj_t alone, expected edge_index")

    def column(name: str | None, kinds: str, length: int, max_ndim: int) -> Array | None:
        if name is None or name not in data or data[name] is None:
            return None
        values = _array(data[name])
        if values.dtype.kind not in kinds:
            wanted = "real numbers" if "f" in kinds else "integers"
            raise TypeError(f"{name} is a tensor of {values.dtype}, expected {wanted}")
        if not 1 <= values.ndim <= max_ndim or len(values) != length:
            raise ValueError(
                f"{name} has the shape {values.shape}, expected {length} rows"
                + (", one-dimensional" if max_ndim == 1 else "")
            )
        return values

    def table(name: str | None, length: int) -> Array | None:
        values = column(name, _REAL_KINDS, length, 2)
        return values if values is None or values.ndim == 2 else values[:, np.newaxis]

    edges = np.empty((2, 0), np.int64) if data.edge_index is None else _array(data.edge_index)
    if edges.ndim != 2 or len(edges) != 2:
        raise ValueError(f"edge_index has the shape {edges.shape}, expected (2, number of edges)")
    if edges.dtype.kind not in "iu":
        raise TypeError(f"edge_index is a tensor of {edges.dtype}, expected integers")
    n_nodes, n_edges = int(data.num_nodes or 0), edges.shape[1]
    node_attributes, edge_weight = (
        None if name is None else _PYG_NAMES.get(name, name)
        for name in (names.node_attributes, names.edge_weight)
    )
    # A Data has one namespace: under the default name it has labels of nodes.
    edge_label = None if names.edge_label == EDGE_LABEL else names.edge_label
    edge_attributes = names.edge_attributes
    if edge_attributes == EDGE_ATTRIBUTES:
        taken = _PYG_EDGE_ATTRIBUTES in (edge_weight, edge_label)
        edge_attributes = None if taken else _PYG_EDGE_ATTRIBUTES
    weights = column(edge_weight, _REAL_KINDS, n_edges, 2)
    if weights is not None and weights.size != len(weights):
        raise ValueError(f"edge weights have the shape {weights.shape}, expected one per edge")
    return Part(
        n_nodes,
        edges[0].astype(np.int64),
        edges[1].astype(np.int64),
        None if weights is None else weights.ravel(),
        column(names.node_label, "biu", n_nodes, 1),
        table(node_attributes, n_nodes),
        column(edge_label, "biu", n_edges, 1),
        table(edge_attributes, n_edges),
        directed=True,
        id=_id(names.graph_id, data.get(names.graph_id, None)),
    )


def _array(tensor: Any) -> Array:
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


_CONVERTERS: dict[tuple[str, str], Callable[[Any, Names, Flat], Part]] = {
    ("graphmover", "Graph"): _from_graphmover,
    ("igraph", "Graph"): _from_igraph,
    ("networkx", "Graph"): _from_networkx,
    ("numpy", "ndarray"): _from_numpy,
    ("rustworkx", "PyDiGraph"): _from_rustworkx,
    ("rustworkx", "PyGraph"): _from_rustworkx,
    ("scipy", "sparray"): _from_scipy,
    ("scipy", "spmatrix"): _from_scipy,
    ("torch_geometric", "Data"): _from_pyg,
}


def converter_of(kind: type) -> Callable[[Any, Names, Flat], Part] | None:
    """Find the converter by library and class name, base classes included."""
    for base in kind.__mro__:
        library = str(base.__module__).partition(".")[0]
        if (library, base.__name__) in _CONVERTERS:
            return _CONVERTERS[library, base.__name__]
    return None
