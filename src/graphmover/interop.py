"""Other libraries' graphs become a `GraphBatch`.

A converter reads one graph into a `_Part`, and nothing else: what all graphs are checked
for is checked once, over all of them, in `GraphBatch.from_edges`. No library is imported
here: a graph is known by the name of its class.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, compress, repeat
from numbers import Real
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover import _graph_arrays as arrays
from graphmover.graphs import EDGE_WEIGHT, NODE_ATTRIBUTES, NODE_LABEL, Graph, GraphBatch

Array = NDArray[Any]

_ACCEPTED = (
    "a networkx, igraph or rustworkx graph, a PyTorch Geometric Data, an adjacency matrix "
    "(scipy.sparse or two-dimensional NumPy), or a graphmover.Graph"
)
_REAL_KINDS = "biuf"


class _Names(NamedTuple):
    """Under which names a graph carries its data; None: not wanted."""

    node_label: str | None
    node_attributes: str | None
    edge_weight: str | None


class _Part(NamedTuple):
    """One graph as its converter read it. Edges may repeat and be loops, in any order."""

    n_nodes: int
    sources: Array
    targets: Array
    weights: Array | None = None
    labels: Array | None = None
    attributes: Array | None = None
    directed: bool = False


class _Missing:
    """Stands where a node or an edge has no value of the wanted name."""


_MISSING = _Missing()


def as_graph_batch(
    graphs: Any,
    *,
    node_label: str | None = NODE_LABEL,
    node_attributes: str | None = NODE_ATTRIBUTES,
    edge_weight: str | None = EDGE_WEIGHT,
) -> GraphBatch:
    """Turn graphs of any supported library into one `GraphBatch`.

    Parameters
    ----------
    graphs : one graph, an iterable of graphs, or a GraphBatch
        networkx, igraph and rustworkx graphs, PyTorch Geometric ``Data``, square
        ``scipy.sparse`` or NumPy matrices (a three-dimensional array is a stack of them),
        and `Graph`, also mixed. Node order is the graph's own. A `GraphBatch` is returned
        as it is.
    node_label, node_attributes, edge_weight : str or None
        Names under which nodes and edges carry labels, attributes (a number or a sequence
        of numbers) and weights; None ignores them. An edge without a weight has weight 1.
        In PyTorch Geometric the default names of attributes and weights stand for ``x``
        and ``edge_weight``.

    Returns
    -------
    GraphBatch
        All graphs made simple and undirected. Labels or attributes that only some graphs
        have are left out of the whole batch, with a warning.

    Raises
    ------
    TypeError, ValueError
        The message names the graph's index, the value, and what was expected.

    Examples
    --------
    >>> import numpy as np
    >>> import graphmover as gm
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> gm.as_graph_batch([path, gm.Graph(2, [(0, 1)])])
    GraphBatch(3 edges over 5 nodes in 2 graphs)
    """
    if isinstance(graphs, GraphBatch):
        return graphs
    names = _Names(node_label, node_attributes, edge_weight)
    for argument, name in names._asdict().items():
        if not isinstance(name, str | None):
            raise TypeError(f"{argument} must be a string or None, got {name!r}")
    parts = [_read(graph, index, names) for index, graph in enumerate(_each(graphs))]
    if not parts:
        raise ValueError("got no graphs, expected at least one")
    _require_found(parts, names)
    # Called from here, and not from a helper, so that warnings point to our caller's line.
    return GraphBatch.from_edges(**_joined(parts))


def _each(graphs: Any) -> Iterable[Any]:
    """Tell one graph from many."""
    if isinstance(graphs, np.ndarray) and graphs.ndim != 2:
        if graphs.ndim == 3 or (graphs.ndim == 1 and graphs.dtype == object):
            return graphs
        raise TypeError(
            f"got an array of {graphs.dtype} of the shape {graphs.shape}, expected a square "
            f"matrix, a stack of them, or a one-dimensional array of graphs"
        )
    if _converter_of(type(graphs)) is not None:
        return [graphs]
    if isinstance(graphs, Iterable) and not isinstance(graphs, str | bytes | bytearray | Mapping):
        return graphs
    raise TypeError(
        f"got an object of type {type(graphs).__name__}, expected graphs: {_ACCEPTED}, or an "
        f"iterable of these"
    )


def _read(graph: Any, index: int, names: _Names) -> _Part:
    convert = _converter_of(type(graph))
    if convert is None:
        raise TypeError(
            f"graph {index}: got an object of type {type(graph).__name__}, expected {_ACCEPTED}"
            + _hint(graph)
        )
    try:
        return convert(graph, names)
    except TypeError as error:
        raise TypeError(f"graph {index}: {error}") from error
    except ValueError as error:
        raise ValueError(f"graph {index}: {error}") from error


def _hint(graph: Any) -> str:
    if isinstance(graph, GraphBatch):
        return ". Join batches with GraphBatch.concatenate"
    if isinstance(graph, list | tuple):
        return ". Wrap a matrix with numpy.array"
    return ""


def _require_found(parts: Sequence[_Part], names: _Names) -> None:
    """Refuse a name that the caller chose and that no graph knows: a misspelling."""
    n_nodes = sum(part.n_nodes for part in parts)
    n_edges = sum(len(part.sources) for part in parts)
    for argument, default, column, carriers, carrier in (
        ("node_label", NODE_LABEL, "labels", n_nodes, "node"),
        ("node_attributes", NODE_ATTRIBUTES, "attributes", n_nodes, "node"),
        ("edge_weight", EDGE_WEIGHT, "weights", n_edges, "edge"),
    ):
        name = getattr(names, argument)
        chosen = name is not None and name != default
        if chosen and carriers and all(getattr(part, column) is None for part in parts):
            raise ValueError(
                f"{argument}={name!r} is found in no graph, expected the name of a {carrier} "
                f"attribute of at least one, or None to ignore {column}"
            )


def _joined(parts: Sequence[_Part]) -> dict[str, Any]:
    """Lay all graphs one after another: the arguments of `GraphBatch.from_edges`."""
    edges = [np.concatenate(ends) for ends in zip(*(part[1:3] for part in parts), strict=True)]
    # A graph without nodes has no labels to lack.
    full = [index for index, part in enumerate(parts) if part.n_nodes]
    labels = [parts[index].labels for index in full]
    attributes = [parts[index].attributes for index in full]
    weighted = any(part.weights is not None for part in parts)
    return {
        "node_counts": [part.n_nodes for part in parts],
        "edge_counts": [len(part.sources) for part in parts],
        "edges": np.column_stack(edges),
        "edge_weights": np.concatenate(list(map(_weights_or_ones, parts))) if weighted else None,
        "node_labels": arrays.joined_or_none(labels, "node labels", full),
        "node_attributes": arrays.joined_or_none(attributes, "node attributes", full),
        "directed": [part.directed for part in parts],
    }


def _weights_or_ones(part: _Part) -> Array:
    return np.ones(len(part.sources)) if part.weights is None else part.weights


# Values looked up by name: lists, in which some may be missing, become checked arrays.


def _looked_up(records: Collection[Any], *names: str | None) -> list[list[Any] | None]:
    """Return the records' values for each name, None for a name that none of them knows."""
    known = set().union(*records)
    return [
        [record.get(name, _MISSING) for record in records]
        if name is not None and name in known
        else None
        for name in names
    ]


def _labels(values: list[Any] | None, nodes: Sequence[Any]) -> Array | None:
    if values is None or not _on_all_nodes(values, nodes, "label"):
        return None
    return np.fromiter(values, dtype=object, count=len(values))


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


def _weights(values: list[Any] | None, sources: Array, targets: Array) -> Array | None:
    if values is None:
        return None
    kinds = set(map(type, values))
    if kinds <= {_Missing}:
        return None
    if kinds == {float}:
        return np.fromiter(values, np.float64, len(values))
    values = [1.0 if value is _MISSING else value for value in values]
    for at, value in enumerate(values):
        if not isinstance(value, Real | np.bool_):
            edge = (int(sources[at]), int(targets[at]))
            raise TypeError(f"edge {edge} has the weight {value!r}, expected a number")
    try:
        return np.fromiter(map(float, values), np.float64, len(values))
    except OverflowError:
        raise ValueError(f"the weight {max(values)!r} is too large for a float") from None


# One converter per library.

_NO_EDGES = np.empty(0, np.int64)
_VALUES = methodcaller("values")


def _from_graphmover(graph: Graph, names: _Names) -> _Part:
    return _Part(
        graph.n_nodes,
        graph.edges[:, 0],
        graph.edges[:, 1],
        None if names.edge_weight is None else graph.edge_weights,
        None if names.node_label is None else graph.node_labels,
        None if names.node_attributes is None else graph.node_attributes,
    )


def _from_networkx(graph: Any, names: _Names) -> _Part:
    if not len(graph):
        return _Part(0, _NO_EDGES, _NO_EDGES)
    nodes, records = zip(*graph.nodes(data=True), strict=True)
    order, rows = zip(*graph.adjacency(), strict=True)
    if order != nodes:
        rows = tuple(map(dict(graph.adjacency()).__getitem__, nodes))
    neighbours: Iterable[Any] = chain.from_iterable(rows)
    degrees = list(map(len, rows))
    data: Iterable[Any] = chain.from_iterable(map(_VALUES, rows))
    if graph.is_multigraph():
        keyed = list(data)
        neighbours = chain.from_iterable(map(repeat, neighbours, map(len, keyed)))
        degrees = [sum(map(len, row.values())) for row in rows]
        data = chain.from_iterable(map(_VALUES, keyed))
    numbers = range(len(nodes))
    if nodes != tuple(numbers):
        neighbours = map(dict(zip(nodes, numbers, strict=True)).__getitem__, neighbours)
    sources = np.arange(len(nodes)).repeat(degrees)
    targets = np.fromiter(neighbours, np.int64, len(sources))
    weights = None
    if any(map(any, map(_VALUES, rows))):
        if not graph.is_directed():  # each edge stands in two rows: look it up once
            once = sources <= targets
            sources, targets, data = sources[once], targets[once], compress(data, once.tolist())
        (weights,) = _looked_up(list(data), names.edge_weight)
    labels, attributes = _looked_up(records, names.node_label, names.node_attributes)
    return _Part(
        len(nodes),
        sources,
        targets,
        _weights(weights, sources, targets),
        _labels(labels, nodes),
        _attributes(attributes, nodes),
        graph.is_directed(),
    )


def _from_igraph(graph: Any, names: _Names) -> _Part:
    def looked_up(sequence: Any, name: str | None) -> list[Any] | None:
        if name is None or name not in sequence.attributes():
            return None
        return [_MISSING if value is None else value for value in sequence[name]]

    nodes = range(graph.vcount())
    sources, targets = arrays.edge_array(graph.get_edgelist()).T
    return _Part(
        len(nodes),
        sources,
        targets,
        _weights(looked_up(graph.es, names.edge_weight), sources, targets),
        _labels(looked_up(graph.vs, names.node_label), nodes),
        _attributes(looked_up(graph.vs, names.node_attributes), nodes),
        graph.is_directed(),
    )


def _from_rustworkx(graph: Any, names: _Names) -> _Part:
    def weight(payload: Any) -> Any:
        if isinstance(payload, Mapping):
            return payload.get(names.edge_weight, _MISSING)
        return _MISSING if payload is None else payload

    nodes = list(graph.node_indices())  # with holes where nodes were removed
    records = [payload if isinstance(payload, Mapping) else {} for payload in graph.nodes()]
    edges = list(graph.weighted_edge_list())
    sources, targets = np.searchsorted(nodes, arrays.edge_array([edge[:2] for edge in edges])).T
    weights = None if names.edge_weight is None else [weight(edge[2]) for edge in edges]
    labels, attributes = _looked_up(records, names.node_label, names.node_attributes)
    return _Part(
        len(nodes),
        sources,
        targets,
        _weights(weights, sources, targets),
        _labels(labels, nodes),
        _attributes(attributes, nodes),
        hasattr(graph, "successors"),
    )


def _from_scipy(matrix: Any, names: _Names) -> _Part:
    _require_adjacency(matrix)
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()  # the caller's matrix stays as it is
        rows.sum_duplicates()
    sources = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    return _matrix_part(rows.shape[0], sources, rows.indices, rows.data, names)


def _from_numpy(matrix: Array, names: _Names) -> _Part:
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
    n_nodes: int, sources: Array, targets: Array, weights: Array, names: _Names
) -> _Part:
    if names.edge_weight is None or weights.dtype.kind == "b":
        stored = weights != 0
        return _Part(n_nodes, sources[stored], targets[stored], directed=True)
    return _Part(n_nodes, sources, targets, weights, directed=True)


#: What PyTorch Geometric calls the things that have other names by default here.
_PYG_NAMES = {NODE_ATTRIBUTES: "x", EDGE_WEIGHT: "edge_weight"}


def _from_pyg(data: Any, names: _Names) -> _Part:
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
    return _Part(
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


_CONVERTERS: dict[tuple[str, str], Callable[[Any, _Names], _Part]] = {
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


def _converter_of(kind: type) -> Callable[[Any, _Names], _Part] | None:
    """Find the converter by library and class name, base classes included."""
    for base in kind.__mro__:
        library = str(base.__module__).partition(".")[0]
        if (library, base.__name__) in _CONVERTERS:
            return _CONVERTERS[library, base.__name__]
    return None
