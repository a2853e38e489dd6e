"""The arrays of a `GraphBatch` as Arrow columns, one row per graph, and back.

====================  =====================================================================
``neighbours``        list of lists of int32: those of each node, numbered within its graph
``edge_weights``      list of lists of float64, parallel to ``neighbours``; absent: all are 1
``node_labels``       list of int64, string, binary or float64; others as JSON, so marked
``node_attributes``   list of fixed-size lists of float64
``edge_labels``       list of lists of labels, parallel to ``neighbours``
``edge_attributes``   list of lists of fixed-size lists of float64, parallel to ``neighbours``
``id``                int64 or string, null where a graph has none
====================  =====================================================================

The flat arrays and offsets of a batch are what Arrow makes lists of: no number is copied.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.arrays import Arrays, entry_edges
from graphmover.graphs.columns import (
    Carriers,
    Floats,
    Ints,
    attribute_array,
    edges_of,
    id_array,
    label_array,
    nested_tuple,
    nodes_of,
)

NEIGHBOURS = "neighbours"
EDGE_WEIGHTS = "edge_weights"
NODE_LABELS = "node_labels"
NODE_ATTRIBUTES = "node_attributes"
EDGE_LABELS = "edge_labels"
EDGE_ATTRIBUTES = "edge_attributes"
#: All columns of lists that a batch is read from.
COLUMNS = (NEIGHBOURS, EDGE_WEIGHTS, NODE_LABELS, NODE_ATTRIBUTES, EDGE_LABELS, EDGE_ATTRIBUTES)
ID = "id"
_PER_EDGE = (NEIGHBOURS, EDGE_WEIGHTS, EDGE_LABELS, EDGE_ATTRIBUTES)

#: Marks, in the metadata of a column, labels that are written as JSON.
_JSON_MARK = {b"graphmover": b"json"}
_NATIVE_LABELS: dict[type, str] = {str: "large_string", bytes: "large_binary", float: "float64"}


def pyarrow() -> Any:
    """Import pyarrow, or raise an error that says how to install it."""
    try:
        import pyarrow as pa
    except ImportError:
        raise ImportError(
            "Arrow and Parquet need pyarrow: pip install 'graphmover[parquet]'"
        ) from None
    return pa


def table_of(arrays: Arrays, schema: Any = None) -> Any:
    """Return a ``pyarrow.Table`` over the memory of these arrays; see `GraphBatch.to_arrow`."""
    pa = pyarrow()
    columns: dict[str, Any] = {}
    marks: dict[str, Any] = {}
    known = {} if schema is None else {field.name: field for field in schema}

    def add(name: str, values: Any) -> None:
        if name in _PER_EDGE:
            values = pa.LargeListArray.from_arrays(pa.array(arrays.indptr), values)
        columns[name] = pa.LargeListArray.from_arrays(pa.array(arrays.offsets), values)

    def add_labels(name: str, labels: NDArray[Any] | None) -> None:
        if labels is not None:
            as_json = name in known and is_json(known[name])
            values, marks[name] = _label_values(labels, name, as_json=as_json)
            add(name, values)

    def add_rows(name: str, rows: Floats | None) -> None:
        if rows is not None and rows.shape[1]:
            flat = pa.array(np.ascontiguousarray(rows).reshape(-1))
            add(name, pa.FixedSizeListArray.from_arrays(flat, rows.shape[1]))

    add(NEIGHBOURS, pa.array(arrays.indices))
    if arrays.edge_weights is not None:
        add(EDGE_WEIGHTS, pa.array(arrays.edge_weights))
    elif EDGE_WEIGHTS in known:
        add(EDGE_WEIGHTS, pa.array(np.ones(len(arrays.indices))))
    add_labels(NODE_LABELS, arrays.node_labels)
    add_rows(NODE_ATTRIBUTES, arrays.node_attributes)
    add_labels(EDGE_LABELS, arrays.edge_labels)
    add_rows(EDGE_ATTRIBUTES, arrays.edge_attributes)
    for name, field in known.items():
        per_edge = name in _PER_EDGE
        if name in COLUMNS and not (len(arrays.indices) if per_edge else arrays.offsets[-1]):
            values = field.type.value_type
            add(name, pa.array([], values.value_type if per_edge else values))
            marks[name] = field.metadata
    if arrays.ids is not None or ID in known:
        kind = known[ID].type if ID in known else None
        columns[ID] = _id_values(arrays.ids, len(arrays.offsets) - 1, kind)
    names = [name for name in (*COLUMNS, ID) if name in columns]
    fields = [pa.field(name, columns[name].type, metadata=marks.get(name)) for name in names]
    return pa.Table.from_arrays([columns[name] for name in names], schema=pa.schema(fields))


def is_json(field: Any) -> bool:
    """Return whether a column holds labels as JSON."""
    mark = field.metadata or {}
    return all(mark.get(key) == value for key, value in _JSON_MARK.items())


def no_neighbours(names: Sequence[str]) -> str:
    """Say what is wrong with a table that has these columns, and no neighbours."""
    lacking = f"there is no column {NEIGHBOURS!r} among {list(names[:20])}"
    if "vector" in names:
        return f"{lacking}: it looks like vectors of graphs, not like graphs"
    load = "load it with table = pandas.read_parquet(path)"
    if {"graph", "source", "target"} <= set(names):
        return f"{lacking}: it looks like a table of edges, so {load}, and pass the table"
    smiles = [name for name in names if name.lower() == "smiles"]
    if smiles:
        return f"{lacking}: it holds SMILES, so {load}, and pass table[{smiles[0]!r}]"
    return f"{lacking}, expected a list per graph of lists per node"


def arrays_of(table: Any) -> Arrays:
    """Return the arrays of a table; other columns are ignored.

    Labels and attributes are checked. Neighbours and weights are not: they may be out of range,
    unsorted, repeated or in one direction only.
    """
    pa = pyarrow()
    if NEIGHBOURS not in table.column_names:
        raise ValueError(no_neighbours(table.column_names))
    for name in (*COLUMNS, ID):
        if table.column_names.count(name) > 1:
            raise ValueError(f"there are several columns {name!r} among {table.column_names}")
    _require_sound(table)
    offsets, rows = _per_graph(table, NEIGHBOURS, pa.large_list(pa.large_list(pa.int32())))
    indptr, flat = _per_neighbour(rows, NEIGHBOURS, offsets)
    indices = flat.to_numpy(zero_copy_only=False)

    def edge_name(position: int) -> str:
        return edges_of(*entry_edges(offsets, indptr, indices)).name(position)

    nodes, edges = nodes_of(offsets), Carriers("edge", len(indices), edge_name)

    def values_of(name: str, carriers: Carriers) -> Any:
        if carriers is nodes:
            return _per_node(table, name, offsets)
        return _per_edge(table, name, offsets, indptr)

    def labels(name: str, carriers: Carriers) -> NDArray[Any] | None:
        if name not in table.column_names:
            return None
        return _labels(values_of(name, carriers), table.schema.field(name), carriers)

    def attributes(name: str, carriers: Carriers) -> Floats | None:
        if name not in table.column_names:
            return None
        return attribute_array(_rows(values_of(name, carriers), name, carriers), carriers)

    weights = None
    if EDGE_WEIGHTS in table.column_names:
        weights = _numbers(_per_edge(table, EDGE_WEIGHTS, offsets, indptr), EDGE_WEIGHTS)
    return Arrays(
        offsets,
        indptr,
        indices,
        weights,
        labels(NODE_LABELS, nodes),
        attributes(NODE_ATTRIBUTES, nodes),
        labels(EDGE_LABELS, edges),
        attributes(EDGE_ATTRIBUTES, edges),
        _ids(table.column(ID)) if ID in table.column_names else None,
    )


def _require_sound(table: Any) -> None:
    """Reject columns whose lists reach beyond their values, as in a damaged file of Arrow's."""
    for name in (*COLUMNS, ID):
        if name in table.column_names:
            try:
                table.column(name).validate(full=True)
            except (pyarrow().ArrowException, ValueError) as error:
                raise ValueError(f"the column {name!r} is damaged: {error}") from error


def _per_graph(table: Any, name: str, kind: Any = None) -> tuple[Ints, Any]:
    """Return the offsets and the values of a column with a list per graph."""
    pa = pyarrow()
    column = table.column(name)
    if kind is None:
        if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
            raise TypeError(f"the column {name!r} holds {column.type}, expected a list per graph")
        kind = pa.large_list(column.type.value_type)
    try:
        column = column if column.type == kind else column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TypeError(
            f"the column {name!r} holds {column.type}, expected {kind}: {error}"
        ) from error
    if column.num_chunks == 1:  # combine_chunks would copy it
        lists = column.chunk(0)
    else:
        lists = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], kind)
    if lists.null_count:
        raise ValueError(f"graph {_first_null(lists)}: {name} is null, expected a list")
    offsets, values = _flattened(lists)
    if values.null_count:
        raise ValueError(f"{nodes_of(offsets).name(_first_null(values))} has null in {name}")
    return offsets, values


def _per_node(table: Any, name: str, offsets: Ints) -> Any:
    """Return the values of a column with a list per graph of a value per node."""
    other, values = _per_graph(table, name)
    if not np.array_equal(offsets, other):
        graph = int(np.argmax(offsets[1:] != other[1:]))
        raise ValueError(
            f"graph {graph}: {other[graph + 1] - other[graph]} {name.replace('_', ' ')}, expected "
            f"one for each of {offsets[graph + 1] - offsets[graph]} nodes"
        )
    return values


def _per_edge(table: Any, name: str, offsets: Ints, indptr: Ints) -> Any:
    """Return the values of a column with a list per graph of lists beside the neighbours."""
    pa = pyarrow()
    rows = _per_node(table, name, offsets)
    if not (pa.types.is_list(rows.type) or pa.types.is_large_list(rows.type)):
        raise TypeError(f"the column {name!r} holds {rows.type} per node, expected lists")
    other, values = _per_neighbour(rows.cast(pa.large_list(rows.type.value_type)), name, offsets)
    if not np.array_equal(indptr, other):
        node = int(np.argmax(indptr[1:] != other[1:]))
        raise ValueError(
            f"{nodes_of(offsets).name(node)} has {other[node + 1] - other[node]} {name}, expected "
            f"one for each of its {indptr[node + 1] - indptr[node]} {NEIGHBOURS}"
        )
    return values


def _per_neighbour(rows: Any, name: str, offsets: Ints) -> tuple[Ints, Any]:
    """Return the offsets and the values of lists, one list per node."""
    indptr, values = _flattened(rows)
    if values.null_count:
        node = int(np.searchsorted(indptr, _first_null(values), side="right")) - 1
        raise ValueError(f"{nodes_of(offsets).name(node)} has null in its list of {name}")
    return indptr, values


def _flattened(lists: Any) -> tuple[Ints, Any]:
    offsets = lists.offsets.to_numpy()
    return (offsets - offsets[0] if offsets[0] else offsets), lists.flatten()


def _first_null(values: Any) -> int:
    return int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))


def _id_values(ids: NDArray[Any] | None, n_graphs: int, kind: Any) -> Any:
    """Return ids as Arrow values; ``kind`` is the type of those before them, if there are any."""
    pa = pyarrow()
    if ids is None:
        return pa.nulls(n_graphs, kind)
    values = ids.tolist()
    is_text = any(isinstance(value, str) for value in values)
    if kind is None:
        are_numbers = not is_text and any(value is not None for value in values)
        kind = pa.int64() if are_numbers else pa.string()
    if pa.types.is_integer(kind) and is_text:
        raise ValueError("ids are strings, but those before are integers: expected one of both")
    if not pa.types.is_integer(kind) and not is_text:
        values = [None if value is None else str(value) for value in values]
    return pa.array(values, kind)


def is_id_type(kind: Any) -> bool:
    """Return whether a column of this type holds ids: strings or integers."""
    pa = pyarrow()
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    of_text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(is_kind(kind) for is_kind in (*of_text, pa.types.is_integer))


def _ids(column: Any) -> NDArray[Any] | None:
    """Return the ids of a column; one that holds something else has none."""
    pa = pyarrow()
    if not is_id_type(column.type):
        return None
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    if not pa.types.is_integer(column.type):
        column = column.dictionary_encode()  # an id that occurs many times becomes one object
    if not pa.types.is_dictionary(column.type):
        return id_array(column.to_pylist(), len(column))
    values: list[Any] = []
    for chunk in column.chunks:
        distinct = chunk.dictionary.to_pylist()
        places = chunk.indices.to_pylist()
        values += [None if place is None else distinct[place] for place in places]
    return id_array(values, len(column))


def _label_values(labels: NDArray[Any], name: str, *, as_json: bool) -> tuple[Any, Any]:
    """Return an Arrow array of labels, and the mark of how they are written."""
    pa = pyarrow()
    if labels.dtype.kind == "i":
        if not as_json:
            return pa.array(labels), None
        labels = labels.astype(object)
    kinds = set(map(type, labels))
    if not as_json and len(kinds) == 1 and (native := _NATIVE_LABELS.get(kinds.pop())):
        try:
            return pa.array(labels, getattr(pa, native)()), None
        except UnicodeEncodeError:
            pass  # a lone surrogate is not valid UTF-8, but JSON can escape it
    texts: dict[Any, str] = {}
    for label in set(labels):
        try:
            texts[label] = json.dumps(_jsonable(label))
        except TypeError:
            raise TypeError(
                f"Arrow cannot hold {label!r}, which is among the {name}: expected numbers, "
                f"strings, None, tuples of these, or bytes alone"
            ) from None
    return pa.array([texts[label] for label in labels], pa.large_string()), _JSON_MARK


def _jsonable(label: Any) -> Any:
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):
        return [_jsonable(part) for part in label]
    if label is None or type(label) in (bool, int, float, str):
        return label
    raise TypeError


def _labels(values: Any, field: Any, carriers: Carriers) -> NDArray[Any]:
    pa = pyarrow()
    places = None
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = values.dictionary_encode()
    if pa.types.is_dictionary(values.type):
        # A label that occurs many times becomes one object.
        places, values = values.indices.to_pylist(), values.dictionary
    if pa.types.is_signed_integer(values.type):
        numbers = np.asarray(values.cast(pa.int64()).to_numpy(zero_copy_only=False))
        return numbers if places is None else numbers[places]
    objects = values.to_pylist()
    if is_json(field):
        distinct = {text: _from_json(text, field.name) for text in set(objects)}
        objects = [distinct[text] for text in objects]
    else:
        objects = list(map(nested_tuple, objects))
    return label_array(objects if places is None else [objects[i] for i in places], carriers)


def _from_json(text: Any, name: str) -> Any:
    try:
        return nested_tuple(json.loads(text))
    except (RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{name} holds {text!r:.80}, expected JSON: {error}") from None


def _rows(rows: Any, name: str, carriers: Carriers) -> Floats:
    """Return a table of numbers from lists of equal length, or from single numbers."""
    pa = pyarrow()
    if not pa.types.is_nested(rows.type):
        return _numbers(rows, name)[:, np.newaxis]
    if pa.types.is_fixed_size_list(rows.type):
        width = rows.type.list_size
    else:
        widths = rows.value_lengths().to_numpy(zero_copy_only=False)
        width = int(widths[0]) if len(widths) else 0
        if (widths != width).any():
            at = int(np.argmax(widths != width))
            raise ValueError(
                f"{carriers.name(at)} has {widths[at]} attributes, expected {width} as the first "
                f"{carriers.kind} has"
            )
    values = rows.flatten()
    if values.null_count:
        raise ValueError(f"{carriers.name(_first_null(values) // width)} has null in {name}")
    return _numbers(values, name).reshape(len(rows), width)


def _numbers(values: Any, name: str) -> Floats:
    pa = pyarrow()
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise TypeError(f"{name} holds {values.type}, expected numbers")
    numbers: Floats = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers
