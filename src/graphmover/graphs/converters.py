"""One converter per library: one graph into a `Part`, and nothing else.

What all graphs are checked for is checked once, over all of them, in
`GraphBatch.from_edges`. No library is imported here: a graph is known by the name of its
class. Columns are lists where a library hands out Python objects: laying lists end to end
is cheaper than making an array of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from numbers import Real
from operator import contains, itemgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.arrays import edge_array
from graphmover.graphs.batch import EDGE_WEIGHT, NODE_ATTRIBUTES, Graph

Array = NDArray[Any]

#: A column of one graph: its values, or where they stand in `Flat`, which has one list for all.
Column = Array | list[Any] | range

_REAL_KINDS = "biuf"


class Names(NamedTuple):
    """Under which names a graph carries its data; None: not wanted."""

    node_label: str | None
    node_attributes: str | None
    edge_weight: str | None


class Flat(NamedTuple):
    """Values of many graphs end to end. A list per graph would be too much for 100,000 graphs.

    Weights are checked only when all graphs are read, once over the whole column.
    """

    degrees: list[int]
    targets: list[int]
    weights: list[Any]
    labels: list[Any]


def _appended(values: Iterable[Any] | None, column: list[Any]) -> range | None:
    """Put values at the end of a flat column; return where they stand."""
    if values is None:
        return None
    start = len(column)
    column.extend(values)
    return range(start, len(column))


class Part(NamedTuple):
    """One graph as its converter read it. Edges may repeat and be loops, in any order.

    Either ``sources`` stand beside ``targets``, or ``degrees`` say how many of the targets
    belong to each node, node after node.
    """

    n_nodes: int
    sources: Column | None
    targets: Column
    weights: Column | None = None
    labels: Column | None = None
    attributes: Array | None = None
    directed: bool = False
    degrees: range | None = None


class _Missing:
    """Stands where a node or an edge has no value of the wanted name."""


_MISSING = _Missing()


# Values looked up by name: lists, in which some may be missing, become checked arrays.


def _looked_up(records: Iterable[Any], name: str | None) -> list[Any] | None:
    """Return the records' values for a name, or None where no record knows it."""
    if name is None:
        return None
    records = [*records]
    if not any(records) or not any(map(contains, records, repeat(name))):
        return None
    return [record.get(name, _MISSING) for record in records]


def _appended_of_all(records: Iterable[Any], name: str | None, column: list[Any]) -> range | None:
    """Put the records' values at the end of a column, or nothing where some record has none."""
    if name is None:
        return None
    start = len(column)
    try:
        column.extend(map(itemgetter(name), records))
    except KeyError:
        del column[start:]
    return range(start, len(column)) or None


def _labels(values: list[Any] | None, nodes: Sequence[Any]) -> list[Any] | None:
    return None if values is None or not _on_all_nodes(values, nodes, "label") else values


def _attributes(values: list[Any] | None, nodes: Sequence[Any]) -> Array | None:
    if values is None or not _on_all_nodes(values, nodes, "attributes"):
        return None
    try:
        rows = np.array(values)
    except ValueError:  # unequal lengths
        rows = np.empty((0, 0, 0))
    if rows.ndim <= 2 and rows.dtype.kind in _REAL_KINDS:
        return rows.reshape(len(values), -1)
    checked = [_attribute_row(value, node) for value, node in zip(values, nodes, strict=True)]
    for row, node in zip(checked, nodes, strict=True):
        if len(row) != len(checked[0]):
            raise ValueError(
                f"node {node!r} has {len(row)} attributes, expected {len(checked[0])} as the "
                f"first node has"
            )
    return np.array(checked)


def _attribute_row(value: Any, node: Any) -> Array:
    try:
        row = np.atleast_1d(np.array(value))
    except ValueError:
        row = np.empty((0, 0))
    if row.ndim != 1 or row.dtype.kind not in _REAL_KINDS:
        raise TypeError(
            f"node {node!r} has the attributes {value!r}, expected a number or a sequence of "
            f"numbers"
        )
    return row


def _on_all_nodes(values: list[Any], nodes: Sequence[Any], what: str) -> bool:
    """Tell all from none, and refuse a mixture."""
    kinds = set(map(type, values))
    if _Missing in kinds and len(kinds) > 1:
        node = next(n for n, value in zip(nodes, values, strict=True) if value is _MISSING)
        raise ValueError(
            f"node {node!r} has no {what} while other nodes of the graph have, expected it on "
            f"all nodes or on none"
        )
    return bool(kinds) and _Missing not in kinds


def _weights(values: list[Any] | None) -> list[float] | None:
    """Give edges without a weight 1, unless no edge has one."""
    if values is None or set(map(type, values)) <= {_Missing}:
        return None
    return as_floats([1.0 if value is _MISSING else value for value in values])


def as_floats(weights: list[Any]) -> list[float]:
    """Return weights as floats; what is no number, a string of digits among them, is refused."""
    if set(map(type, weights)) == {float}:
        return weights
    for weight in weights:
        if not isinstance(weight, Real | np.bool_):
            raise TypeError(f"an edge has the weight {weight!r}, expected a number")
    try:
        return list(map(float, weights))
    except OverflowError:
        raise ValueError(f"the weight {max(weights)!r} is too large for a float") from None


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
    )


def _from_networkx(graph: Any, names: Names, flat: Flat) -> Part:
    nodes = list(graph)
    rows = list(map(dict(graph.adjacency()).__getitem__, nodes))
    degrees: Iterable[int] = map(len, rows)
    neighbours: Iterable[Any] = chain.from_iterable(rows)
    edge_rows = rows
    if graph.is_multigraph():
        edge_rows = list(chain.from_iterable(map(_VALUES, rows)))
        degrees = [sum(map(len, row.values())) for row in rows]
        neighbours = chain.from_iterable(map(repeat, neighbours, map(len, edge_rows)))
    numbers = range(len(nodes))
    if nodes != list(numbers):
        neighbours = map(dict(zip(nodes, numbers, strict=True)).__getitem__, neighbours)
    node_records = list(map(_SECOND, graph.nodes(data=True)))
    labels = _appended_of_all(node_records, names.node_label, flat.labels)
    if labels is None:
        values = _labels(_looked_up(node_records, names.node_label), nodes)
        labels = _appended(values, flat.labels)
    edge_records = chain.from_iterable(map(_VALUES, edge_rows))
    weights = _appended_of_all(edge_records, names.edge_weight, flat.weights)
    if weights is None:
        edge_records = chain.from_iterable(map(_VALUES, edge_rows))
        weights = _appended(_weights(_looked_up(edge_records, names.edge_weight)), flat.weights)
    return Part(
        len(nodes),
        None,
        _appended(neighbours, flat.targets) or range(0),
        weights,
        labels,
        _attributes(_looked_up(node_records, names.node_attributes), nodes),
        graph.is_directed(),
        _appended(degrees, flat.degrees),
    )


def _from_igraph(graph: Any, names: Names, _: Flat) -> Part:
    def looked_up(sequence: Any, name: str | None) -> list[Any] | None:
        if name is None or name not in sequence.attributes():
            return None
        return [_MISSING if value is None else value for value in sequence[name]]

    nodes = range(graph.vcount())
    sources, targets = edge_array(graph.get_edgelist()).T
    return Part(
        len(nodes),
        sources,
        targets,
        _weights(looked_up(graph.es, names.edge_weight)),
        _labels(looked_up(graph.vs, names.node_label), nodes),
        _attributes(looked_up(graph.vs, names.node_attributes), nodes),
        graph.is_directed(),
    )


def _from_rustworkx(graph: Any, names: Names, _: Flat) -> Part:
    def weight(payload: Any) -> Any:
        if isinstance(payload, Mapping):
            return payload.get(names.edge_weight, _MISSING)
        return _MISSING if payload is None else payload

    nodes = list(graph.node_indices())  # with holes where nodes were removed
    records = [payload if isinstance(payload, Mapping) else {} for payload in graph.nodes()]
    edges = list(graph.weighted_edge_list())
    sources, targets = np.searchsorted(nodes, edge_array([edge[:2] for edge in edges])).T
    weights = None if names.edge_weight is None else [weight(edge[2]) for edge in edges]
    labels = _looked_up(records, names.node_label)
    attributes = _looked_up(records, names.node_attributes)
    return Part(
        len(nodes),
        sources,
        targets,
        _weights(weights),
        _labels(labels, nodes),
        _attributes(attributes, nodes),
        hasattr(graph, "successors"),
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


def _from_pyg(data: Any, names: Names, _: Flat) -> Part:
    if hasattr(data, "to_data_list"):
        raise TypeError("got a PyTorch Geometric Batch, expected Data: pass batch.to_data_list()")
    if data.edge_index is None and "adj_t" in data:
        raise TypeError("got a Data with adj_t alone, expected edge_index")

    def column(name: str | None, kinds: str, length: int, max_ndim: int) -> Array | None:
        name = None if name is None else _PYG_NAMES.get(name, name)
        if name is None or name not in data or data[name] is None:
            return None
        values = _array(data[name])
        if values.dtype.kind not in kinds:
            wanted = "real" if "f" in kinds else "whole"
            raise TypeError(f"{name} is a tensor of {values.dtype}, expected {wanted} numbers")
        if not 1 <= values.ndim <= max_ndim or len(values) != length:
            raise ValueError(
                f"{name} has the shape {values.shape}, expected {length} rows"
                + (", one-dimensional" if max_ndim == 1 else "")
            )
        return values

    edges = np.empty((2, 0), np.int64) if data.edge_index is None else _array(data.edge_index)
    if edges.ndim != 2 or len(edges) != 2:
        raise ValueError(f"edge_index has the shape {edges.shape}, expected (2, number of edges)")
    if edges.dtype.kind not in "iu":
        raise TypeError(f"edge_index is a tensor of {edges.dtype}, expected whole numbers")
    n_nodes = int(data.num_nodes or 0)
    weights = column(names.edge_weight, _REAL_KINDS, edges.shape[1], 2)
    if weights is not None and weights.size != len(weights):
        raise ValueError(f"edge weights have the shape {weights.shape}, expected one per edge")
    attributes = column(names.node_attributes, _REAL_KINDS, n_nodes, 2)
    return Part(
        n_nodes,
        edges[0].astype(np.int64),
        edges[1].astype(np.int64),
        None if weights is None else weights.ravel(),
        column(names.node_label, "biu", n_nodes, 1),
        attributes if attributes is None or attributes.ndim == 2 else attributes[:, np.newaxis],
        directed=True,
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
