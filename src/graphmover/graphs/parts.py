"""What a converter makes of one graph, and columns of values looked up by name.

Columns are lists where a library hands out Python objects: concatenating lists is cheaper than
making an array of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from numbers import Real
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.columns import Carriers, as_id, is_id, objects_as_floats
from graphmover.graphs.graph import (
    EDGE_ATTRIBUTES,
    EDGE_LABEL,
    EDGE_WEIGHT,
    GRAPH_ID,
    NODE_ATTRIBUTES,
    NODE_LABEL,
)

Array = NDArray[Any]

#: A column of one graph: its values, or their range in `Flat`, which has one list for all graphs.
Column = Array | list[Any] | range

REAL_KINDS = "biuf"


#: The name of an attribute, or of several that are columns side by side; None: not wanted.
Attributes = str | tuple[str, ...] | None


class Names(NamedTuple):
    """The names under which a graph carries its data; None: not wanted."""

    node_label: str | None
    node_attributes: Attributes
    edge_weight: str | None
    edge_label: str | None
    edge_attributes: Attributes
    graph_id: str | None


#: The names that are looked for unless others are chosen.
USUAL_NAMES = Names(NODE_LABEL, NODE_ATTRIBUTES, EDGE_WEIGHT, EDGE_LABEL, EDGE_ATTRIBUTES, GRAPH_ID)


def listed_as_tuple(names: Any) -> Any:
    """Return a list of names as a tuple, and anything else as it is."""
    return tuple(names) if isinstance(names, list) else names


def require_names(names: Mapping[str, Any]) -> None:
    """Reject arguments that are no names: a string or None, or several strings of attributes."""
    for argument, name in names.items():
        takes_several = "attributes" in argument
        several = takes_several and isinstance(name, tuple) and len(name) > 0
        if not all(isinstance(one, str | None) for one in (name if several else [name])):
            or_list = ", a list of strings" if takes_several else ""
            raise TypeError(f"{argument} must be a string{or_list} or None, got {shown_name(name)}")


def shown_name(name: object) -> str:
    """Return a name, or a list of several, as the caller has written it."""
    return repr(list(name) if isinstance(name, tuple) else name)


#: The arguments that name what nodes and edges carry, and their default names.
ARGUMENTS = {
    "node": {"node_label": NODE_LABEL, "node_attributes": NODE_ATTRIBUTES},
    "edge": {
        "edge_weight": EDGE_WEIGHT,
        "edge_label": EDGE_LABEL,
        "edge_attributes": EDGE_ATTRIBUTES,
    },
}


def unread(kind: str, carried: Iterable[Any], function: str | None, ignoring: str) -> str:
    """Say what nodes or edges carry that is not read, and the remedy.

    ``function`` takes names for it; None: the graphs are in a file. ``ignoring`` says how not to be
    told.
    """
    listed = sorted(map(repr, carried))
    verb, them = ("is", "it") if len(listed) == 1 else ("are", "them")
    shown = _enumerated(listed[:5] + ["others"] * bool(listed[5:]), "and")
    if function is None:
        names = _enumerated([repr(name) for name in ARGUMENTS[kind].values()], "or")
        in_gml = f" (in GML and GEXF 'node_label' for {NODE_LABEL!r})" if kind == "node" else ""
        remedy = f"rename {them} to {names}{in_gml}"
    else:
        arguments = _enumerated([f"{argument}=" for argument in ARGUMENTS[kind]], "or")
        remedy = f"pass {them} as {arguments} to {function}, or {ignoring} to ignore {them}"
    return f"{kind}s carry {shown}, which {verb} not read: {remedy}"


def _enumerated(items: Sequence[str], last: str) -> str:
    return f" {last} ".join(filter(None, [", ".join(items[:-1]), items[-1]]))


class Flat(NamedTuple):
    """Concatenated values of many graphs: a list per graph is too much for 100,000 graphs.

    Weights are checked once over the whole column, after all graphs are read.
    """

    degrees: list[int]
    targets: list[int]
    edge_weights: list[Any]
    node_labels: list[Any]
    edge_labels: list[Any]


def appended(values: Iterable[Any] | None, column: list[Any]) -> range | None:
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
    on_nodes: Set[Any] = frozenset()  # all names under which nodes carry something
    on_edges: Set[Any] = frozenset()


class _Missing:
    """Marks a node or an edge that has no value under the wanted name."""


MISSING = _Missing()


# Values looked up by name: lists, in which some may be missing, become checked columns.


def each_node(nodes: Sequence[Any]) -> Carriers:
    """Return the nodes of one graph, called by their names."""
    return Carriers("node", len(nodes), lambda at: f"node {nodes[at]!r}")


def each_edge(edges: Sequence[tuple[Any, Any]]) -> Carriers:
    """Return the edges of one graph, called by the names of their ends."""
    return Carriers("edge", len(edges), lambda at: f"edge {tuple(edges[at])!r}")


def labels_of(values: list[Any] | None, carriers: Carriers) -> list[Any] | None:
    """Return labels, or None if there are none; reject a mixture."""
    if values is None:
        return None
    remedy = f"label all {carriers.kind}s or none"
    return values if _on_all(values, carriers, "label", remedy) else None


def attributes_of(
    values: list[Any] | None, carriers: Carriers, name: str | None = None
) -> Array | None:
    """Return attributes as a table of finite numbers, or None if there are none.

    A mixture is rejected. ``name`` is that of the attributes, if they have one.
    """
    under = "" if name is None else f" under {name!r}"
    remedy = f"give them to all {carriers.kind}s or to none"
    if values is None or not _on_all(values, carriers, f"attributes{under}", remedy):
        return None
    try:
        rows = np.array(values)
    except ValueError:  # unequal lengths
        rows = np.empty((0, 0, 0))
    if rows.ndim <= 2 and rows.dtype.kind in REAL_KINDS:
        return finite_table(rows.reshape(len(values), -1), carriers, name)
    checked = [_attribute_row(value, carriers, at, under) for at, value in enumerate(values)]
    for at, row in enumerate(checked):
        if len(row) != len(checked[0]):
            raise ValueError(
                f"{carriers.name(at)} has {len(row)} attributes{under}, expected "
                f"{len(checked[0])} as the first {carriers.kind} has"
            )
    return finite_table(np.array(checked), carriers, name)


def finite_table(table: Array, carriers: Carriers, name: str | None) -> Array:
    """Return attributes, or name those that are not finite."""
    if table.dtype.kind == "f" and not np.isfinite(table).all():
        at = int(np.argmin(np.isfinite(table).all(axis=1)))
        under = "" if name is None else f" under {name!r}"
        raise ValueError(
            f"{carriers.name(at)} has the attributes {table[at].tolist()}{under}, expected finite "
            f"numbers"
        )
    return table


def side_by_side(look_up: Callable[[str], Array | None], names: Attributes) -> Array | None:
    """Return the table under a name, or those under several names as one."""
    if names is None or isinstance(names, str):
        return None if names is None else look_up(names)
    tables = {name: look_up(name) for name in names}
    found = [table for table in tables.values() if table is not None]
    if not found:
        return None
    for name, table in tables.items():
        if table is None:
            raise ValueError(f"there is no attribute {name!r}, expected all of {list(names)}")
    return np.hstack(found)


def _attribute_row(value: Any, carriers: Carriers, at: int, under: str) -> Array:
    try:
        row = np.atleast_1d(np.array(value))
    except ValueError:
        row = np.empty((0, 0))
    if row.dtype == object:
        row = objects_as_floats(row, lambda _: carriers.name(at))
    if row.ndim != 1 or row.dtype.kind not in REAL_KINDS:
        raise TypeError(
            f"{carriers.name(at)} has the attributes {value!r}{under}, expected a number or a "
            f"sequence of numbers"
        )
    return row


def _on_all(values: list[Any], carriers: Carriers, what: str, remedy: str) -> bool:
    """Return whether all nodes or edges have a value; reject a mixture."""
    kinds = set(map(type, values))
    if _Missing in kinds and len(kinds) > 1:
        at = next(at for at, value in enumerate(values) if value is MISSING)
        raise ValueError(
            f"{carriers.name(at)} has no {what}, but other {carriers.kind}s of this graph do: "
            f"{remedy}"
        )
    return bool(kinds) and _Missing not in kinds


def weights_of(values: list[Any] | None) -> list[float] | None:
    """Fill in weight 1 for edges without one, unless no edge has a weight."""
    if values is None or set(map(type, values)) <= {_Missing}:
        return None
    return as_floats([1.0 if value is MISSING else value for value in values])


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


class Records:
    """What nodes or edges carry: a mapping for each."""

    __slots__ = ("_carriers", "_rows", "names")

    def __init__(self, rows: Sequence[Mapping[Any, Any]], carriers: Callable[[], Carriers]) -> None:
        self._rows, self._carriers = rows, carriers
        self.names: Set[Any] = set().union(*rows)  # most names that are asked for are in no row

    def values(self, name: str | None) -> list[Any] | None:
        """Return the values under a name, or None if no row has it."""
        if name is None or name not in self.names:
            return None
        return [row.get(name, MISSING) for row in self._rows]

    def labels(self, name: str | None) -> list[Any] | None:
        """Return the labels under a name, or None if there are none."""
        values = self.values(name)
        return None if values is None else labels_of(values, self._carriers())

    def attributes(self, names: Attributes) -> Array | None:
        """Return the table of attributes under a name or several, or None if there are none."""

        def table(name: str) -> Array | None:
            values = self.values(name)
            return None if values is None else attributes_of(values, self._carriers(), name)

        return side_by_side(table, names)

    def flat_labels(self, name: str | None, column: list[Any]) -> range | None:
        """Append the labels to a flat column; return their range in it."""
        return self._flat(name, column) or appended(self.labels(name), column)

    def flat_weights(self, name: str | None, column: list[Any]) -> range | None:
        """Append the weights to a flat column; return their range in it."""
        return self._flat(name, column) or appended(weights_of(self.values(name)), column)

    def _flat(self, name: str | None, column: list[Any]) -> range | None:
        """Append values to a flat column, unless some rows have none."""
        if name is None or name not in self.names:
            return None
        start = len(column)
        try:
            column.extend(map(itemgetter(name), self._rows))
        except KeyError:
            del column[start:]
            return None
        return range(start, len(column))


def own_id(name: str | None, value: Any) -> str | int | None:
    """Return the id that a graph carries.

    Several values under the usual name, such as those of a tensor, are taken for data of its
    nodes. Libraries that read all numbers as floats bring integers as such.
    """
    if value is None or name is None:
        return None
    value = as_id(value)
    is_array = hasattr(value, "item") and hasattr(value, "shape")
    if is_array and tuple(value.shape) in ((), (1,)):
        value = as_id(value.item())
    elif name == GRAPH_ID and (is_array or isinstance(value, list | dict | set)):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or is_id(value):
        return value  # type: ignore[no-any-return]
    remedy = "; as_graph_batch(graphs, graph_id=None) ignores it" if name == GRAPH_ID else ""
    raise TypeError(f"{name} is {value!r:.80}, expected a string or an integer as id{remedy}")
