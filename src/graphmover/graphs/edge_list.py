"""Graphs from a table of edges, and a table of nodes beside it.

Columns are taken by name, which data frames of pandas and Polars, Arrow tables and dicts of
arrays all allow. None of these libraries is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.messages import warn
from graphmover._utils.segments import offsets_from_counts
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.columns import NEGATIVE_WEIGHTS, as_id, is_id
from graphmover.graphs.graph import EDGE_LABEL, EDGE_WEIGHT, NODE_LABEL
from graphmover.graphs.parts import ARGUMENTS, listed_as_tuple, require_names, unread

Array = NDArray[Any]
Ints = NDArray[np.int64]

#: Columns that tell which edge or node a row is, by the arguments that name others.
_ENDS = ("graph", "source", "target", "node")


def from_edge_list(
    edges: Any,
    nodes: Any = None,
    *,
    graph: str = "graph",
    source: str = "source",
    target: str = "target",
    edge_weight: str | None = EDGE_WEIGHT,
    edge_label: str | None = EDGE_LABEL,
    edge_attributes: str | Sequence[str] | None = None,
    node: str = "node",
    node_label: str | None = NODE_LABEL,
    node_attributes: str | Sequence[str] | None = None,
    keep_direction: bool = False,
) -> GraphBatch:
    """Make graphs from a table with a row per edge and a column that names the edge's graph.

    Parameters
    ----------
    edges : data frame, Arrow table or dict of columns
        A row per edge, in any order. An edge may be listed in either direction or in both.
    nodes : data frame, Arrow table or dict of columns, optional
        A row per node, with the columns ``graph`` and ``node``. With it, all nodes must be
        listed, and those without edges are kept.
    graph : str
        The column with the graph of an edge, and of a node: strings, integers, or dates, which
        become text.
    source, target : str
        The columns with the ends of an edge. Names of nodes are any hashable values; nodes of
        different graphs may have the same name.
    edge_weight, edge_label : str or None
        The columns with the weights and labels of edges; columns with the default names are used if
        they exist. None ignores them.
    edge_attributes : str or sequence of str, optional
        The columns with numeric attributes of edges.
    node : str
        The column of ``nodes`` with the names of nodes.
    node_label : str or None
        The column of ``nodes`` with the labels of nodes; a column with the default name is used if
        it exists. None ignores it.
    node_attributes : str or sequence of str, optional
        The columns of ``nodes`` with numeric attributes of nodes.
    keep_direction : bool
        Edges lead from ``source`` to ``target``: keep this direction as edge labels, by the rules
        of `GraphBatch.from_edges`.

    Returns
    -------
    GraphBatch
        Its ids are the values of the column ``graph``, in the order in which they first appear
        among edges, then those among nodes alone. Nodes are in the order of ``nodes``, or else
        of their first appearance. Graphs are made simple and undirected, by the rules of
        `GraphBatch.from_edges`.

    Raises
    ------
    TypeError, ValueError
        The message names the row, counted from 0, the value, and what was expected.

    Examples
    --------
    >>> import graphmover as gm
    >>> edges = {"graph": ["a", "a", "b"], "source": [0, 1, 0], "target": [1, 2, 1]}
    >>> batch = gm.from_edge_list(edges)
    >>> batch
    GraphBatch(3 edges over 5 nodes in 2 graphs, ids)
    >>> batch.ids.tolist()
    ['a', 'b']
    """
    chosen: dict[str, Any] = {
        "edge_weight": edge_weight,
        "edge_label": edge_label,
        "edge_attributes": listed_as_tuple(edge_attributes),
        "node_label": node_label,
        "node_attributes": listed_as_tuple(node_attributes),
    }
    require_names(chosen)
    of_edges = _Table("edges", edges)
    of_nodes = None if nodes is None else _Table("nodes", nodes)
    edge_weight = of_edges.existing(edge_weight, EDGE_WEIGHT)
    edge_label = of_edges.existing(edge_label, EDGE_LABEL)
    if of_nodes is not None:
        node_label = of_nodes.existing(node_label, NODE_LABEL)
    elif node_label not in (None, NODE_LABEL) or node_attributes is not None:
        raise ValueError("node_label and node_attributes are columns of nodes: pass nodes, too")
    graphs = [table.column(graph) for table in (of_edges, of_nodes) if table is not None]
    ends = [of_edges.column(source), of_edges.column(target)]
    names = ends if of_nodes is None else [*ends, of_nodes.column(node)]
    graph_codes, ids = _numbered(graphs)
    _require_ids(graphs, ids)
    name_codes, all_names = _numbered(names)
    n_names = max(len(all_names), 1)
    graph_of_edge = graph_codes[0]
    # Ends row by row: without a table of nodes, the first to appear is the first node.
    keys = np.column_stack(name_codes[:2]) + n_names * graph_of_edge[:, np.newaxis]
    if of_nodes is None:
        (in_row_order,), node_keys = _numbered_integers([keys.ravel()])
        found = in_row_order.reshape(-1, 2)
    else:
        node_keys = name_codes[2] + n_names * graph_codes[1]
        found = _found(keys, node_keys, names)
    _warn_of_unread(of_edges, "edge", chosen, (graph, source, target))
    if of_nodes is not None:
        _warn_of_unread(of_nodes, "node", chosen, (graph, node))
    graph_of_node = node_keys // n_names
    by_graph, counts, number = _in_graphs(graph_of_node, len(ids))
    by_edge = np.argsort(graph_of_edge, kind="stable")
    return GraphBatch.from_edges(
        counts,
        np.bincount(graph_of_edge, minlength=len(ids)),
        number[found][by_edge],
        edge_weights=None if edge_weight is None else of_edges.weights(edge_weight)[by_edge],
        edge_labels=None if edge_label is None else of_edges.labels(edge_label)[by_edge],
        edge_attributes=of_edges.attributes(edge_attributes, by_edge),
        node_labels=None
        if of_nodes is None or node_label is None
        else of_nodes.labels(node_label)[by_graph],
        node_attributes=None
        if of_nodes is None
        else of_nodes.attributes(node_attributes, by_graph),
        ids=ids,
        directed=np.ones(len(ids), bool) if keep_direction else None,
        keep_direction=keep_direction,
    )


def _require_ids(columns: Sequence[_Column], ids: Sequence[Any]) -> None:
    """Name the row of the first value that cannot be the id of a graph."""
    if all(is_id(as_id(value)) for value in ids):
        return
    for column in columns:
        values = column.values.tolist()
        for row, value in enumerate(values):
            if not is_id(as_id(value)):
                are_integers = all(isinstance(one, float) and one.is_integer() for one in values)
                raise TypeError(
                    f"{column.row(row)}, expected a string or an integer of 64 bits: convert the "
                    f"column, in pandas by {column.table}[{column.name!r}]"
                    f".astype({'int' if are_integers else 'str'})"
                )


def _warn_of_unread(
    table: _Table, kind: str, chosen: Mapping[str, Any], ends: Sequence[str]
) -> None:
    """Say what a table has that is not read, unless somebody has chosen columns."""
    defaults = {
        argument: None if "attributes" in argument else name
        for argument, name in ARGUMENTS[kind].items()
    }
    if any(chosen[argument] != default for argument, default in defaults.items()):
        return
    others = set(table.columns) - {*ends, *defaults.values()}
    if others:
        warn(unread(kind, others, "gm.from_edge_list", "drop these columns"))


class _Column(NamedTuple):
    """Values of a column, none of which is missing."""

    table: str
    name: str
    values: Array

    def row(self, at: int) -> str:
        """Say where a value is, and what it is."""
        value = self.values[at : at + 1].tolist()[0]
        return f"{self.table}, row {at}: {self.name} is {value!r:.80}"


class _Table:
    """A data frame, an Arrow table or a dict of columns; ``name`` is what messages call it."""

    def __init__(self, name: str, table: Any) -> None:
        columns = list(table) if isinstance(table, Mapping) else getattr(table, "columns", None)
        if isinstance(getattr(table, "column_names", None), list):
            columns = table.column_names  # Arrow, whose columns are the values
        if columns is None or not hasattr(table, "__getitem__"):
            raise TypeError(
                f"{name} must be a data frame, an Arrow table or a dict of columns, got an object "
                f"of type {type(table).__name__}"
            )
        self._name, self._table, self.columns = name, table, list(columns)
        self._n_rows: int | None = None

    def column(self, name: str) -> _Column:
        """Return a column; reject missing values."""
        if name not in self.columns:
            remedy = f": name another by {name}=" if name in _ENDS else ""
            raise ValueError(
                f"{self._name} has no column {name!r}; its columns are {self.columns[:20]}{remedy}"
            )
        column = self._table[name]
        values = _array(column)
        if values.ndim != 1:
            raise ValueError(f"{self._name} has several columns {name!r}, expected one")
        if self._n_rows not in (None, len(values)):
            raise ValueError(
                f"{self._name}: {name} has {len(values)} rows, expected {self._n_rows} as the "
                f"columns before it"
            )
        self._n_rows = len(values)
        missing = _are_missing(column, values)
        if missing.any():
            raise ValueError(f"{self._name}, row {int(np.argmax(missing))}: {name} is missing")
        return _Column(self._name, name, values)

    def existing(self, name: str | None, default: str) -> str | None:
        """Return the name of a column, or None if it is the default and there is no such column."""
        return None if name == default and name not in self.columns else name

    def labels(self, name: str) -> Array:
        """Return a column of labels."""
        return self.column(name).values

    def weights(self, name: str) -> Array:
        """Return a column of non-negative numbers."""
        column = self._numbers(name)
        if (column.values < 0).any():
            at = int(np.argmax(column.values < 0))
            raise ValueError(
                f"{column.row(at)}, expected a non-negative number: {NEGATIVE_WEIGHTS}"
            )
        return column.values

    def attributes(self, names: str | Sequence[str] | None, order: Ints) -> Array | None:
        """Return columns of numbers side by side, or None if none are wanted."""
        if names is None:
            return None
        listed = [names] if isinstance(names, str) else list(names)
        return np.column_stack([self._numbers(name).values for name in listed])[order]

    def _numbers(self, name: str) -> _Column:
        column = self.column(name)
        if column.values.dtype.kind not in "biuf":
            for at, value in enumerate(column.values.tolist()):
                if not isinstance(value, Real):
                    raise TypeError(f"{column.row(at)}, expected a number")
                try:
                    float(value)
                except OverflowError:
                    raise ValueError(
                        f"{self._name}, row {at}: {name} is an integer that no float can hold"
                    ) from None
        numbers = column.values.astype(np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError(
                f"{column.row(int(np.argmin(np.isfinite(numbers))))}, expected a finite number"
            )
        return column._replace(values=numbers)


def _array(column: Any) -> Array:
    if isinstance(column, list | tuple):
        array = np.array(column) if set(map(type, column)) in ({int}, {float}) else None
        if array is not None and array.dtype.kind in "if":
            return array
        return np.fromiter(column, object, len(column))  # tuples in it are names
    array = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if array.dtype.kind != "M":
        return array
    seconds = array.astype("datetime64[s]")
    are_whole = bool(((array == seconds) | np.isnat(array)).all())
    return np.datetime_as_string(seconds if are_whole else array).astype(object)


def _are_missing(column: Any, values: Array) -> NDArray[np.bool_]:
    """Mark nulls, by the data frame's own account if it has one, and NaN."""
    is_null = getattr(column, "isna", getattr(column, "is_null", None))  # pandas; Polars, Arrow
    missing = np.zeros(len(values), bool)
    if is_null is not None:
        missing |= np.asarray(is_null().to_numpy(), bool)
    elif values.dtype == object:
        missing |= np.fromiter((value is None for value in values), bool, len(values))
    if values.dtype == object:
        kinds = np.fromiter((isinstance(value, float) for value in values), bool, len(values))
        missing[kinds] |= np.isnan(values[kinds].astype(np.float64))
    return missing | np.isnan(values) if values.dtype.kind == "f" else missing


def _numbered(columns: Sequence[_Column]) -> tuple[list[Ints], list[Any]]:
    """Return the numbers of values by first appearance in any column, and distinct values."""
    if all(column.values.dtype.kind == "i" for column in columns):
        codes, values = _numbered_integers([column.values for column in columns])
        return codes, values.tolist()
    listed = [column.values.tolist() for column in columns]
    number: dict[Any, int] = {}
    for column, values in zip(columns, listed, strict=True):
        try:
            number |= dict.fromkeys(values, 0)
        except TypeError:
            at = next(at for at, value in enumerate(values) if not _is_hashable(value))
            raise TypeError(f"{column.row(at)}, expected a hashable value") from None
    number = dict(zip(number, range(len(number)), strict=True))
    codes = [np.fromiter(map(number.__getitem__, v), np.int64, len(v)) for v in listed]
    return codes, list(number)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _numbered_integers(columns: Sequence[Ints]) -> tuple[list[Ints], Ints]:
    """Do what `_numbered` does, without a Python object per value."""
    values, first, inverse = np.unique(
        np.concatenate(columns).astype(np.int64), return_index=True, return_inverse=True
    )
    by_appearance = np.argsort(first)
    rank = np.empty_like(by_appearance)
    rank[by_appearance] = np.arange(len(values))
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return np.split(rank[inverse], ends), values[by_appearance]


def _found(keys: Ints, node_keys: Ints, names: Sequence[_Column]) -> Ints:
    """Return the rows of nodes that are the ends of edges; reject repeated and missing nodes."""
    (listed, wanted), _ = _numbered_integers([node_keys, keys.ravel()])
    is_repeated = listed != np.arange(len(listed))
    if is_repeated.any():
        at = int(np.argmax(is_repeated))
        earlier = int(np.flatnonzero(node_keys == node_keys[at])[0])
        raise ValueError(f"{names[2].row(at)}, which row {earlier} already lists for that graph")
    found = wanted.reshape(-1, 2)
    unknown = found >= len(listed)
    if unknown.any():
        at, end = np.argwhere(unknown)[0].tolist()
        values = names[end].values
        others = set(map(type, names[2].values.tolist()))
        mixed = type(values.tolist()[at]) not in others and {int, str} >= others
        hint = ": names are integers in one table and text in the other" if mixed else ""
        raise ValueError(f"{names[end].row(at)}, which nodes does not list for that graph{hint}")
    return found


def _in_graphs(graph_of_node: Ints, n_graphs: int) -> tuple[Ints, Ints, Ints]:
    """Return nodes sorted by graph, how many a graph has, and each node's number in its graph."""
    by_graph = np.argsort(graph_of_node, kind="stable")
    counts = np.bincount(graph_of_node, minlength=n_graphs)
    number = np.empty(len(by_graph), np.int64)
    number[by_graph] = np.arange(len(by_graph))
    return by_graph, counts, number - offsets_from_counts(counts)[graph_of_node]
