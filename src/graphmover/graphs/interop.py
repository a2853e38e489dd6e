"""Other libraries' graphs become a `GraphBatch`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from graphmover._utils.segments import offsets_from_counts, ranges
from graphmover.graphs import arrays
from graphmover.graphs.batch import EDGE_WEIGHT, NODE_ATTRIBUTES, NODE_LABEL, GraphBatch
from graphmover.graphs.converters import Array, Column, Flat, Names, Part, as_floats, converter_of

_T = TypeVar("_T")

_ACCEPTED = (
    "a networkx, igraph or rustworkx graph, a PyTorch Geometric Data, an adjacency matrix "
    "(scipy.sparse or two-dimensional NumPy), or a graphmover.Graph"
)


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
    names = Names(node_label, node_attributes, edge_weight)
    for argument, name in names._asdict().items():
        if not isinstance(name, str | None):
            raise TypeError(f"{argument} must be a string or None, got {name!r}")
    flat = Flat([], [], [], [])
    parts = [_read(graph, index, names, flat) for index, graph in enumerate(_each(graphs))]
    if not parts:
        raise ValueError("got no graphs, expected at least one")
    _require_found(parts, names)
    _check_flat_weights(parts, flat)
    # Called from here, and not from a helper, so that warnings point to our caller's line.
    return GraphBatch.from_edges(**_joined(parts, flat))


def _each(graphs: Any) -> Iterable[Any]:
    """Tell one graph from many."""
    if isinstance(graphs, np.ndarray) and graphs.ndim != 2:
        if graphs.ndim == 3 or (graphs.ndim == 1 and graphs.dtype == object):
            return graphs
        raise TypeError(
            f"got an array of {graphs.dtype} of the shape {graphs.shape}, expected a square "
            f"matrix, a stack of them, or a one-dimensional array of graphs"
        )
    if converter_of(type(graphs)) is not None:
        return [graphs]
    is_table = hasattr(graphs, "columns") and hasattr(graphs, "to_numpy")
    if (
        isinstance(graphs, Iterable)
        and not is_table
        and not isinstance(graphs, str | bytes | bytearray | Mapping)
    ):
        return graphs
    raise TypeError(
        f"got an object of type {type(graphs).__name__}, expected graphs: {_ACCEPTED}, or an "
        f"iterable of these" + _hint(graphs)
    )


def _read(graph: Any, index: int, names: Names, flat: Flat) -> Part:
    convert = converter_of(type(graph))
    if convert is None:
        raise TypeError(
            f"graph {index}: got an object of type {type(graph).__name__}, expected {_ACCEPTED}"
            + _hint(graph)
        )
    return _naming(index, convert, graph, names, flat)


def _naming(index: int, function: Callable[..., _T], *arguments: Any) -> _T:
    """Call, with the graph's index in front of what the function complains about."""
    try:
        return function(*arguments)
    except TypeError as error:
        raise TypeError(f"graph {index}: {error}") from error
    except ValueError as error:
        raise ValueError(f"graph {index}: {error}") from error


def _hint(graph: Any) -> str:
    if isinstance(graph, str | os.PathLike):
        return ". A file goes in by gm.read_graphs(path).graphs, or through transform_to"
    if isinstance(getattr(graph, "graphs", None), GraphBatch):
        return ". Pass the graphs of a Dataset: data.graphs"
    if isinstance(graph, GraphBatch):
        return ". Join batches with GraphBatch.concatenate"
    if isinstance(graph, list | tuple):
        return ". Wrap a matrix with numpy.array"
    if hasattr(graph, "to_numpy"):
        return ". A data frame that holds a matrix goes in by its to_numpy()"
    return ""


def _require_found(parts: Sequence[Part], names: Names) -> None:
    """Refuse a name that the caller chose and that no graph knows: a misspelling."""
    n_nodes = sum(part.n_nodes for part in parts)
    n_edges = sum(len(part.targets) for part in parts)
    for argument, default, column, carriers, carrier in (
        ("node_label", NODE_LABEL, "labels", n_nodes, "a node"),
        ("node_attributes", NODE_ATTRIBUTES, "attributes", n_nodes, "a node"),
        ("edge_weight", EDGE_WEIGHT, "weights", n_edges, "an edge"),
    ):
        name = getattr(names, argument)
        chosen = name is not None and name != default
        if chosen and carriers and all(getattr(part, column) is None for part in parts):
            raise ValueError(
                f"{argument}={name!r} is found in no graph, expected the name of {carrier} "
                f"attribute of at least one, or None to ignore {column}"
            )


def _check_flat_weights(parts: Sequence[Part], flat: Flat) -> None:
    """Look at the kinds of all weights at once; at single graphs only to name the culprit."""
    if set(map(type, flat.weights)) <= {float}:
        return
    for index, part in enumerate(parts):
        if isinstance(part.weights, range):
            rows = slice(part.weights.start, part.weights.stop)
            flat.weights[rows] = _naming(index, as_floats, flat.weights[rows])


def _joined(parts: Sequence[Part], flat: Flat) -> dict[str, Any]:
    """Lay all graphs one after another: the arguments of `GraphBatch.from_edges`."""
    full = [index for index, part in enumerate(parts) if part.n_nodes]  # the rest lack nothing
    labels = [parts[index].labels for index in full]
    attributes = [parts[index].attributes for index in full]
    weighted = any(part.weights is not None for part in parts)
    sources = _sources(parts, flat)
    targets = _end_to_end([part.targets for part in parts], flat.targets, np.int64)
    weights = None
    if weighted:
        weights = _end_to_end(list(map(_weights_or_ones, parts)), flat.weights, np.float64)
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
        "node_labels": _all_labels(labels, flat.labels)
        if arrays.on_all_graphs(labels, "node labels", full)
        else None,
        "node_attributes": arrays.stacked(attributes, "node attributes", full)
        if arrays.on_all_graphs(attributes, "node attributes", full)
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


def _end_to_end(columns: Sequence[Column], flat: list[Any], dtype: type) -> Array:
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
    return [1.0] * len(part.targets) if part.weights is None else part.weights
