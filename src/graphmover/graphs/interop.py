"""Convert graphs of other libraries to a `GraphBatch`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress
from typing import Any, TypeVar

import numpy as np

from graphmover._utils.checks import is_missing
from graphmover._utils.messages import warn
from graphmover._utils.segments import offsets_from_counts, ranges
from graphmover.graphs.arrays import arrays_from_edges
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.collections import collection_converter
from graphmover.graphs.columns import id_array, on_all_graphs, stacked
from graphmover.graphs.converters import converter_of, graphs_in
from graphmover.graphs.edge_list import from_edge_list
from graphmover.graphs.graph import (
    EDGE_ATTRIBUTES,
    EDGE_LABEL,
    EDGE_WEIGHT,
    GRAPH_ID,
    NODE_ATTRIBUTES,
    NODE_LABEL,
)
from graphmover.graphs.matrices import from_torch
from graphmover.graphs.molecules import from_smiles
from graphmover.graphs.parts import (
    ARGUMENTS,
    USUAL_NAMES,
    Array,
    Column,
    Flat,
    Names,
    Part,
    as_floats,
    listed_as_tuple,
    require_names,
    shown_name,
    unread,
)

_T = TypeVar("_T")

_ACCEPTED = (
    "a networkx, igraph or rustworkx graph, a PyTorch Geometric Data, an adjacency matrix "
    "(scipy.sparse, NumPy or torch), an edge index (integers of shape (2, E)), "
    "a list of edges (tuples), a dict of neighbours, an RDKit molecule, a SMILES, or a "
    "graphmover.Graph"
)

_LEAVING_OUT = '; gm.read_graphs(graphs, errors="skip").graphs leaves out what cannot be read'


def as_graph_batch(
    graphs: Any,
    *,
    node_label: str | None = NODE_LABEL,
    node_attributes: str | Sequence[str] | None = NODE_ATTRIBUTES,
    edge_weight: str | None = EDGE_WEIGHT,
    edge_label: str | None = EDGE_LABEL,
    edge_attributes: str | Sequence[str] | None = EDGE_ATTRIBUTES,
    graph_id: str | None = GRAPH_ID,
    ids: Iterable[Any] | None = None,
    keep_direction: bool = False,
) -> GraphBatch:
    """Turn graphs of any supported library into one `GraphBatch`.

    Parameters
    ----------
    graphs : one graph, an iterable of graphs, a mapping of ids to graphs, GraphBatch or Dataset
        networkx, igraph and rustworkx graphs, PyTorch Geometric ``Data``, ``Batch`` and
        ``DataLoader``, adjacency matrices (``scipy.sparse``, NumPy or torch; a
        three-dimensional array is a stack of them), edge indices (integers of shape (2, E)),
        lists of edges, dicts of neighbours, pairs as in GraKeL, RDKit molecules, SMILES in a list,
        and `Graph`, also mixed. Or a table of edges with the columns ``graph``, ``source`` and
        ``target``, alone or in a pair with a table of nodes, see `from_edge_list`. The index of a
        pandas Series of graphs is their ids, unless it only counts rows. The order of nodes is that
        of the graph. A `GraphBatch` is returned as it is, and so are the graphs of a `Dataset`.
    node_label, node_attributes : str or None
        Names under which nodes carry labels and attributes (a number or a sequence of
        numbers). None ignores them. Attributes may be a list of names, as in
        ``node_attributes=["charge", "mass"]``.
    edge_weight, edge_label, edge_attributes : str or None
        The same for edges. An edge without a weight has weight 1. In rustworkx, an edge's
        payload that is not a mapping is its weight.
    graph_id : str or None
        The name under which graphs carry an id, a string or an integer. In networkx
        ``graph_id="name"`` takes their names.
    ids : sequence of strings or integers, optional
        The ids of the graphs, in place of any that they carry or that a mapping gives them.
    keep_direction : bool
        Keep the direction of edges of directed graphs, and of tables of edges, as their labels,
        by the rules of `GraphBatch.from_edges`. For a `GraphBatch` that was made without it
        this is too late, and there is a warning.

    Returns
    -------
    GraphBatch
        All graphs made simple and undirected, by the rules of `GraphBatch.from_edges`. Labels
        or attributes that only some graphs have are left out of the whole batch, with a
        warning. So is anything that nodes or edges carry under other names only.

    Notes
    -----
    In PyTorch Geometric the default names of node attributes, edge weights and edge attributes
    stand for ``x``, ``edge_weight`` and ``edge_attr``; a tensor named as weight or label of
    edges is not read as their attributes as well. Edge labels are read only under a name other
    than the default, since ``label`` holds the labels of nodes. ``y`` is not read.

    The nodes of an edge index are numbered from 0 to its largest entry. A 2 x 2 array of integers
    could be an adjacency matrix or an edge index, and is an error unless both are one graph.

    A list or set of tuples ``(u, v)`` or ``(u, v, weight)`` is one graph in a list of graphs. A
    dict ``{node: neighbours}`` is one graph, too, alone or in a list; so is a dict of weights,
    ``{(u, v): weight}`` or ``{u: {v: weight}}``. Any other dict is one of ids to graphs. As in
    GraKeL, ``(graph, node_labels)`` and ``(graph, node_labels, edge_labels)`` add dicts of
    labels, or of attributes if all values are lists or arrays, to one of these or to a matrix.

    Atoms are labelled by their atomic numbers, bonds by their orders, as in files of SMILES. The
    title of a molecule is its id.

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
    if isinstance(getattr(graphs, "graphs", None), GraphBatch):
        graphs = graphs.graphs  # a data set
    graphs = _column_of_graphs(graphs)
    if is_edge_list(graphs):
        edges, nodes = graphs if isinstance(graphs, Sequence) else (graphs, None)
        graphs = from_edge_list(
            edges,
            nodes,
            edge_weight=edge_weight,
            edge_label=edge_label,
            edge_attributes=None if edge_attributes == EDGE_ATTRIBUTES else edge_attributes,
            node_label=node_label,
            node_attributes=None if node_attributes == NODE_ATTRIBUTES else node_attributes,
            keep_direction=keep_direction,
        )
    if isinstance(graphs, GraphBatch):
        if keep_direction and graphs.directions is None:
            warn(
                "keep_direction=True is too late: a GraphBatch has no directions of edges unless "
                "it was made with it. Pass it where the graphs are read or converted"
            )
        return graphs if ids is None else graphs.with_ids(ids)
    if ids is None:
        ids = index_of(graphs)
    if isinstance(graphs, Mapping) and not is_one_graph(graphs) and len(graphs):
        graphs, ids = graphs.values(), list(graphs) if ids is None else ids
    if ids is not None:
        graph_id = None
    names = Names(
        node_label,
        listed_as_tuple(node_attributes),
        edge_weight,
        edge_label,
        listed_as_tuple(edge_attributes),
        graph_id,
    )
    require_names(names._asdict())
    return converted(graphs, names, ids, keep_direction=keep_direction)


def converted(
    graphs: Any,
    names: Names = USUAL_NAMES,
    ids: Iterable[Any] | None = None,
    *,
    keep_direction: bool = False,
    by_reader: bool = False,
    in_file: bool = False,
) -> GraphBatch:
    """Convert graphs, one or many, to a batch.

    ``by_reader``: for a function that says itself how to leave out bad graphs. ``in_file``: names
    cannot be chosen.
    """
    flat = Flat([], [], [], [], [])
    remedy = "" if by_reader else _LEAVING_OUT
    parts = [
        _read(graph, index, names, flat, remedy) for index, graph in enumerate(each_graph(graphs))
    ]
    if not parts:
        raise NoGraphsError("got no graphs, expected at least one")
    _require_found(parts, names)
    _check_flat_weights(parts, flat)
    _warn_of_unread(parts, names, None if in_file else "gm.as_graph_batch")
    joined = _joined(parts, flat)
    own_ids = [part.id for part in parts] if any(part.id is not None for part in parts) else None
    joined["ids"] = own_ids if ids is None else ids
    return GraphBatch(*arrays_from_edges(**joined, keep_direction=keep_direction))


def is_edge_list(graphs: Any) -> bool:
    """Tell whether something is a table of edges, or one with a table of nodes beside it."""
    if isinstance(graphs, list | tuple):
        return len(graphs) == 2 and _is_table(graphs[1]) and is_edge_list(graphs[0])
    if not _is_table(graphs):
        return False
    names = getattr(graphs, "column_names", None) or list(graphs.columns)
    return {"graph", "source", "target"} <= set(names)


def _column_of_graphs(graphs: Any) -> Any:
    """Return the only column of a data frame, as scikit-learn's column transformers pass it."""
    if hasattr(graphs, "iloc") and _is_table(graphs) and len(graphs.columns) == 1:
        column = graphs.iloc[:, 0]
        return column if _holds_objects(column.to_numpy()) else graphs
    return graphs


def index_of(graphs: Any) -> list[Any] | None:
    """Return the index of a pandas Series as ids, unless it only counts rows."""
    is_series = hasattr(graphs, "iloc") and not _is_table(graphs)
    if not is_series or type(graphs.index).__name__ == "RangeIndex":
        return None
    values = graphs.index.tolist()
    try:
        ids: list[Any] = id_array(values, len(values)).tolist()
    except TypeError as error:
        raise TypeError(
            f"{error}: ids are the index of the Series; pass others by as_graph_batch(graphs, "
            f"ids=...), or leave it out by graphs.reset_index(drop=True)"
        ) from None
    return ids


class NoGraphsError(ValueError):
    """There is no graph among those given."""


def graphs_to_transform(graphs: Any) -> GraphBatch:
    """Return what `as_graph_batch` returns, or a batch of no graphs for none."""
    try:
        return as_graph_batch(graphs)
    except NoGraphsError:
        return GraphBatch.from_edges([], [], [])


def each_graph(graphs: Any) -> Iterator[Any]:
    """Yield the graphs among one or many, in batches or not."""
    for position, graph in enumerate(_each(graphs)):
        yield from _naming(position, graphs_in, graph)


def _each(graphs: Any) -> Iterable[Any]:
    """Return one graph as a list of it, and many as they are."""
    is_dense = isinstance(graphs, np.ndarray) or converter_of(type(graphs)) is from_torch
    if is_dense and graphs.ndim != 2:
        if graphs.ndim == 3 or (graphs.ndim == 1 and _holds_objects(graphs)):
            return graphs  # type: ignore[no-any-return]
        raise TypeError(
            f"got an array of {graphs.dtype} of the shape {tuple(graphs.shape)}, expected a square "
            f"matrix, a stack of them, or a one-dimensional array of graphs"
        )
    if is_one_graph(graphs):
        return [graphs]
    if (
        isinstance(graphs, Iterable)
        and not _is_table(graphs)
        and not isinstance(graphs, str | bytes | bytearray | Mapping)
    ):
        return graphs
    raise TypeError(_not_accepted(graphs, f"graphs: {_ACCEPTED}, or an iterable of these"))


def _holds_objects(array: Any) -> bool:
    """Return whether an array holds graphs, or texts, which are SMILES."""
    return isinstance(array, np.ndarray) and array.dtype.kind in "OUT"


def _is_table(graphs: Any) -> bool:
    is_lazy = type(graphs).__name__ == "LazyFrame"  # it would look for its columns
    return (
        not is_lazy
        and hasattr(graphs, "columns")
        and (hasattr(graphs, "to_numpy") or hasattr(graphs, "column_names"))
    )


def is_one_graph(graphs: Any) -> bool:
    """Tell one graph from many; of collections, a dict of neighbours or of edges is one."""
    if converter_of(type(graphs)) is not None:
        return True
    is_mapping = isinstance(graphs, Mapping) and len(graphs) > 0
    return is_mapping and collection_converter(graphs) is not None


def _read(graph: Any, index: int, names: Names, flat: Flat, remedy: str) -> Part:
    convert = converter_of(type(graph)) or collection_converter(graph)
    if isinstance(graph, str):
        convert = from_smiles
    if convert is None:
        if graph is None:
            raise TypeError(
                f"graph {index}: got None, expected a graph: RDKit returns None for what it cannot "
                f"read{remedy}"
            )
        if is_missing(graph):
            raise TypeError(f"graph {index}: it is missing ({graph!r}), expected a graph{remedy}")
        raise TypeError(f"graph {index}: {_not_accepted(graph, _ACCEPTED)}")
    try:
        return _naming(index, convert, graph, names, flat)
    except ValueError as error:
        if isinstance(graph, str):
            raise ValueError(f"{error}{remedy}") from error
        raise


def _naming(index: int, function: Callable[..., _T], *arguments: Any) -> _T:
    """Call a function and prefix its errors with the graph's index."""
    try:
        return function(*arguments)
    except TypeError as error:
        raise TypeError(f"graph {index}: {error}") from error
    except ValueError as error:
        raise ValueError(f"graph {index}: {error}") from error


def _not_accepted(graph: Any, accepted: str) -> str:
    """Say what is wrong with an object, what to do about it, and then all that is accepted."""
    hint = _hint(graph)
    got = f"got an object of type {type(graph).__name__}"
    return f"{got}. {hint}. Expected {accepted}" if hint else f"{got}, expected {accepted}"


def _hint(graph: Any) -> str:
    if isinstance(graph, str | os.PathLike):
        return (
            "Read a file with gm.read_graphs(path).graphs, or pass it to transform_to; a SMILES "
            "goes into a list"
        )
    if isinstance(getattr(graph, "graphs", None), GraphBatch):
        return "Pass the graphs of a Dataset: data.graphs"
    if isinstance(graph, GraphBatch):
        return "Join batches with GraphBatch.concatenate"
    if isinstance(graph, list | tuple):
        return (
            "Wrap a matrix with numpy.array; a graph of edges is a list of tuples, such as "
            "[(0, 1)], in a list of graphs, or gm.Graph(n_nodes, edges)"
        )
    if isinstance(graph, dict):
        return "A graph as a dict is {node: [neighbours]}"
    if type(graph).__name__ == "LazyFrame":
        return "Call its method collect() first"
    if _is_table(graph):
        columns = getattr(graph, "column_names", None) or list(graph.columns)
        smiles = [name for name in columns if str(name).lower() == "smiles"]
        if smiles:
            return f"Pass its column of SMILES: table[{smiles[0]!r}]"
        return (
            "A table of edges has the columns graph, source and target, or names them in "
            "gm.from_edge_list; pass a matrix by to_numpy()"
        )
    return ""


#: An error lists at most this many names.
_MOST_NAMES = 10


def _require_found(parts: Sequence[Part], names: Names) -> None:
    """Reject a name that the caller chose and that no graph has: a misspelling."""
    n_nodes = sum(part.n_nodes for part in parts)
    n_edges = sum(len(part.targets) for part in parts)
    for argument, default, column, carriers, carrier in (
        ("node_label", NODE_LABEL, "node_labels", n_nodes, "a node"),
        ("node_attributes", NODE_ATTRIBUTES, "node_attributes", n_nodes, "a node"),
        ("edge_weight", EDGE_WEIGHT, "edge_weights", n_edges, "an edge"),
        ("edge_label", EDGE_LABEL, "edge_labels", n_edges, "an edge"),
        ("edge_attributes", EDGE_ATTRIBUTES, "edge_attributes", n_edges, "an edge"),
        ("graph_id", GRAPH_ID, "id", len(parts), "a graph"),
    ):
        name = getattr(names, argument)
        chosen = name is not None and name != default
        if chosen and carriers and all(getattr(part, column) is None for part in parts):
            kind = carrier.split()[-1]
            there = set().union(*(getattr(part, f"on_{kind}s", ()) for part in parts))
            listed = sorted(map(repr, there))[:_MOST_NAMES]
            found = f" ({kind}s have {', '.join(listed)})" if there else ""
            raise ValueError(
                f"{argument}={shown_name(name)} is found in no graph, expected the name of "
                f"{carrier} attribute of at least one{found}, or None to ignore "
                f"{column.replace('_', ' ')}"
            )


def _warn_of_unread(parts: Sequence[Part], names: Names, function: str | None) -> None:
    """Say what nodes or edges carry that is not read, unless somebody has chosen names."""
    for kind, defaults in ARGUMENTS.items():
        carried = set().union(*(getattr(part, f"on_{kind}s") for part in parts))
        carried -= set(defaults.values())
        is_chosen = any(getattr(names, argument) != name for argument, name in defaults.items())
        if carried and not is_chosen:
            warn(unread(kind, carried, function, f"pass {kind}_attributes=None"))


def _check_flat_weights(parts: Sequence[Part], flat: Flat) -> None:
    """Check the types of all weights at once, and single graphs only to name the culprit."""
    if set(map(type, flat.edge_weights)) <= {float}:
        return
    for index, part in enumerate(parts):
        if isinstance(part.edge_weights, range):
            rows = slice(part.edge_weights.start, part.edge_weights.stop)
            flat.edge_weights[rows] = _naming(index, as_floats, flat.edge_weights[rows])


def _joined(parts: Sequence[Part], flat: Flat) -> dict[str, Any]:
    """Concatenate all graphs: the arguments of `arrays_from_edges`."""
    # A graph without nodes, or without edges, has no values to lack.
    with_nodes = [index for index, part in enumerate(parts) if part.n_nodes]
    with_edges = [index for index, part in enumerate(parts) if len(part.targets)]
    node_labels = [parts[index].node_labels for index in with_nodes]
    node_attributes = [parts[index].node_attributes for index in with_nodes]
    edge_labels = [parts[index].edge_labels for index in with_edges]
    edge_attributes = [parts[index].edge_attributes for index in with_edges]
    weighted = any(part.edge_weights is not None for part in parts)
    sources = _sources(parts, flat)
    targets = _concatenated([part.targets for part in parts], flat.targets, np.int64)
    weights = None
    if weighted:
        weights = _concatenated(list(map(_weights_or_ones, parts)), flat.edge_weights, np.float64)
    directed = np.array([part.directed for part in parts])
    in_rows = np.array([part.degrees is not None for part in parts])
    edge_counts = np.array([len(part.targets) for part in parts])
    # An undirected graph in rows has each edge twice: half of that work is enough.
    once = (sources <= targets) | np.repeat(directed | ~in_rows, edge_counts)
    return {
        "node_counts": [part.n_nodes for part in parts],
        "edge_counts": np.diff(offsets_from_counts(once)[offsets_from_counts(edge_counts)]),
        "edges": np.column_stack([sources[once], targets[once]]),
        "edge_weights": None if weights is None else weights[once],
        "node_labels": _all_labels(node_labels, flat.node_labels)
        if on_all_graphs(node_labels, "node labels", with_nodes)
        else None,
        "node_attributes": stacked(node_attributes, "node attributes", with_nodes)
        if on_all_graphs(node_attributes, "node attributes", with_nodes)
        else None,
        "edge_labels": list(compress(_all_labels(edge_labels, flat.edge_labels), once.tolist()))
        if on_all_graphs(edge_labels, "edge labels", with_edges)
        else None,
        "edge_attributes": stacked(edge_attributes, "edge attributes", with_edges)[once]
        if on_all_graphs(edge_attributes, "edge attributes", with_edges)
        else None,
        "directed": directed,
    }


def _sources(parts: Sequence[Part], flat: Flat) -> Array:
    if all(part.sources is None for part in parts):
        counts = np.array([part.n_nodes for part in parts])
        nodes = ranges(np.zeros_like(counts), counts)
        return np.repeat(nodes, np.array(flat.degrees, np.int64))
    return np.concatenate(
        [
            np.repeat(np.arange(part.n_nodes), _values(part.degrees or range(0), flat.degrees))
            if part.sources is None
            else part.sources
            for part in parts
        ]
    )


def _concatenated(columns: Sequence[Column], flat: list[Any], dtype: type) -> Array:
    if all(isinstance(column, range) for column in columns):
        return np.array(flat, dtype)
    return np.concatenate([np.asarray(_values(column, flat), dtype) for column in columns])


def _values(column: Column, flat: list[Any]) -> Array | list[Any]:
    return flat[column.start : column.stop] if isinstance(column, range) else column


def _all_labels(columns: Sequence[Column | None], flat: list[Any]) -> list[Any]:
    if all(isinstance(column, range) for column in columns):
        return flat
    values = (_values(column, flat) for column in columns if column is not None)
    return list(chain.from_iterable(v.tolist() if isinstance(v, np.ndarray) else v for v in values))


def _weights_or_ones(part: Part) -> Column:
    return [1.0] * len(part.targets) if part.edge_weights is None else part.edge_weights
