"""One converter per library: one graph into a `Part`, and nothing else.

Checks that all graphs need are made once, over all of them, in `arrays_from_edges`. No library
is imported here: a graph is recognised by the name of its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, repeat
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np

from graphmover.graphs.arrays import edge_array
from graphmover.graphs.columns import Carriers
from graphmover.graphs.graph import (
    EDGE_ATTRIBUTES,
    EDGE_LABEL,
    EDGE_WEIGHT,
    NODE_ATTRIBUTES,
    Graph,
)
from graphmover.graphs.matrices import array_of, from_numpy, from_scipy, from_torch
from graphmover.graphs.molecules import from_rdkit
from graphmover.graphs.parts import (
    MISSING,
    REAL_KINDS,
    Array,
    Attributes,
    Flat,
    Names,
    Part,
    Records,
    appended,
    attributes_of,
    each_edge,
    each_node,
    finite_table,
    labels_of,
    own_id,
    side_by_side,
    weights_of,
)

_VALUES = methodcaller("values")
_SECOND = itemgetter(1)


def _from_graphmover(graph: Graph, names: Names, _: Flat) -> Part:
    arcs, (weights, labels, attributes) = graph._arcs()
    return Part(
        graph.n_nodes,
        arcs[:, 0],
        arcs[:, 1],
        None if names.edge_weight is None else weights,
        None if names.node_label is None else graph.node_labels,
        None if names.node_attributes is None else graph.node_attributes,
        None if names.edge_label is None else labels,
        None if names.edge_attributes is None else attributes,
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
    targets = appended(neighbours, flat.targets) or range(0)

    def edge_name(at: int) -> str:
        source = int(np.searchsorted(np.cumsum(degrees), at, side="right"))
        return f"edge {(nodes[source], nodes[flat.targets[targets[at]]])!r}"

    of_nodes = Records(list(map(_SECOND, graph.nodes(data=True))), lambda: each_node(nodes))
    of_edges = Records(
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
        appended(degrees, flat.degrees),
        own_id(names.graph_id, graph.graph.get(names.graph_id)),
        of_nodes.names,
        of_edges.names,
    )


def _from_igraph(graph: Any, names: Names, _: Flat) -> Part:
    def looked_up(sequence: Any, name: str | None) -> list[Any] | None:
        if name is None or name not in sequence.attributes():
            return None
        return [MISSING if value is None else value for value in sequence[name]]

    def table(sequence: Any, names: Attributes, carriers: Carriers) -> Array | None:
        return side_by_side(
            lambda name: attributes_of(looked_up(sequence, name), carriers, name), names
        )

    nodes, edges = range(graph.vcount()), graph.get_edgelist()
    id = graph[names.graph_id] if names.graph_id in graph.attributes() else None
    all_nodes, all_edges = each_node(nodes), each_edge(edges)
    sources, targets = edge_array(edges).T
    return Part(
        len(nodes),
        sources,
        targets,
        weights_of(looked_up(graph.es, names.edge_weight)),
        labels_of(looked_up(graph.vs, names.node_label), all_nodes),
        table(graph.vs, names.node_attributes, all_nodes),
        labels_of(looked_up(graph.es, names.edge_label), all_edges),
        table(graph.es, names.edge_attributes, all_edges),
        graph.is_directed(),
        id=own_id(names.graph_id, id),
        on_nodes=set(graph.vs.attributes()),
        on_edges=set(graph.es.attributes()),
    )


def _from_rustworkx(graph: Any, names: Names, _: Flat) -> Part:
    def weight(payload: Any) -> Any:
        if isinstance(payload, Mapping):
            return payload.get(names.edge_weight, MISSING)
        return MISSING if payload is None else payload

    def records(payloads: Iterable[Any], carriers: Carriers) -> Records:
        rows = [x if isinstance(x, Mapping) else {} for x in payloads]
        return Records(rows, lambda: carriers)

    nodes = list(graph.node_indices())  # with holes where nodes were removed
    edges = list(graph.weighted_edge_list())
    pairs, payloads = [edge[:2] for edge in edges], [edge[2] for edge in edges]
    of_nodes = records(graph.nodes(), each_node(nodes))
    of_edges = records(payloads, each_edge(pairs))
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
        weights_of(weights),
        of_nodes.labels(names.node_label),
        of_nodes.attributes(names.node_attributes),
        of_edges.labels(names.edge_label),
        of_edges.attributes(names.edge_attributes),
        directed,
        id=own_id(names.graph_id, attrs.get(names.graph_id)),
        on_nodes=of_nodes.names,
        on_edges=of_edges.names,
    )


#: What PyTorch Geometric calls the things that have other names by default here.
_PYG_NODE_ATTRIBUTES = "x"
_PYG_EDGE_WEIGHT = "edge_weight"
_PYG_EDGE_ATTRIBUTES = "edge_attr"


def _from_pyg(data: Any, names: Names, _: Flat) -> Part:
    if data.edge_index is None and "adj_t" in data:
        raise TypeError("got a Data with adj_t alone, expected edge_index")

    def column(name: str | None, kinds: str, length: int, max_ndim: int) -> Array | None:
        if name is None or name not in data or data[name] is None:
            return None
        values = array_of(data[name])
        if values.dtype.kind not in kinds:
            wanted = "real numbers" if "f" in kinds else "integers"
            raise TypeError(f"{name} is a tensor of {values.dtype}, expected {wanted}")
        if not 1 <= values.ndim <= max_ndim or len(values) != length:
            raise ValueError(
                f"{name} has the shape {values.shape}, expected {length} rows"
                + (", one-dimensional" if max_ndim == 1 else "")
            )
        return values

    def table(names: Attributes, length: int, carriers: Carriers) -> Array | None:
        def as_table(name: str) -> Array | None:
            values = column(name, REAL_KINDS, length, 2)
            if values is None:
                return None
            rows = values if values.ndim == 2 else values[:, np.newaxis]
            return finite_table(rows, carriers, name)

        return side_by_side(as_table, names)

    edges = np.empty((2, 0), np.int64) if data.edge_index is None else array_of(data.edge_index)
    if edges.ndim != 2 or len(edges) != 2:
        raise ValueError(f"edge_index has the shape {edges.shape}, expected (2, number of edges)")
    if edges.dtype.kind not in "iu":
        raise TypeError(f"edge_index is a tensor of {edges.dtype}, expected integers")
    n_nodes, n_edges = int(data.num_nodes or 0), edges.shape[1]
    node_attributes = names.node_attributes
    if node_attributes == NODE_ATTRIBUTES:
        node_attributes = _PYG_NODE_ATTRIBUTES
    edge_weight = _PYG_EDGE_WEIGHT if names.edge_weight == EDGE_WEIGHT else names.edge_weight
    # A Data has one namespace: under the default name it has labels of nodes.
    edge_label = None if names.edge_label == EDGE_LABEL else names.edge_label
    edge_attributes = names.edge_attributes
    if edge_attributes == EDGE_ATTRIBUTES:
        taken = _PYG_EDGE_ATTRIBUTES in (edge_weight, edge_label)
        edge_attributes = None if taken else _PYG_EDGE_ATTRIBUTES
    weights = column(edge_weight, REAL_KINDS, n_edges, 2)
    if weights is not None and weights.size != len(weights):
        raise ValueError(f"edge weights have the shape {weights.shape}, expected one per edge")
    all_edges = Carriers("edge", n_edges, lambda at: f"edge {tuple(edges[:, at].tolist())}")
    return Part(
        n_nodes,
        edges[0].astype(np.int64),
        edges[1].astype(np.int64),
        None if weights is None else weights.ravel(),
        column(names.node_label, "biu", n_nodes, 1),
        table(node_attributes, n_nodes, each_node(range(n_nodes))),
        column(edge_label, "biu", n_edges, 1),
        table(edge_attributes, n_edges, all_edges),
        directed=True,
        id=own_id(names.graph_id, data.get(names.graph_id, None)),
    )


_CONVERTERS: dict[tuple[str, str], Callable[[Any, Names, Flat], Part]] = {
    ("graphmover", "Graph"): _from_graphmover,
    ("igraph", "Graph"): _from_igraph,
    ("networkx", "Graph"): _from_networkx,
    ("numpy", "ndarray"): from_numpy,
    ("rdkit", "Mol"): from_rdkit,
    ("rustworkx", "PyDiGraph"): _from_rustworkx,
    ("rustworkx", "PyGraph"): _from_rustworkx,
    ("scipy", "sparray"): from_scipy,
    ("scipy", "spmatrix"): from_scipy,
    ("torch", "Tensor"): from_torch,
    ("torch_geometric", "Data"): _from_pyg,
}


def converter_of(kind: type) -> Callable[[Any, Names, Flat], Part] | None:
    """Find the converter by library and class name, base classes included."""
    for base in kind.__mro__:
        library = str(base.__module__).partition(".")[0]
        if (library, base.__name__) in _CONVERTERS:
            return _CONVERTERS[library, base.__name__]
    return None


def graphs_in(graph: Any) -> list[Any]:
    """Return the graphs in a PyTorch Geometric Batch; any other graph is the only one."""
    if not hasattr(type(graph), "to_data_list"):
        return [graph]
    try:
        return list(graph.to_data_list())
    except (AttributeError, RuntimeError) as error:
        raise ValueError(
            "got a PyTorch Geometric Batch that cannot be taken apart, expected one made by "
            "Batch.from_data_list or by a DataLoader"
        ) from error
