"""The arrays of a `GraphBatch` as Arrow columns, one row per graph, and back.

====================  =====================================================================
``neighbours``        list of lists of int32: of each node, numbered within its graph
``edge_weights``      list of lists of float64, beside ``neighbours``; absent: all are 1
``node_labels``       list of int64, string, binary, float64; of others as JSON, so marked
``node_attributes``   list of fixed-size lists of float64
``edge_labels``       list of lists of labels, beside ``neighbours``
``edge_attributes``   list of lists of fixed-size lists of float64, beside ``neighbours``
====================  =====================================================================

The last two belong to a `Dataset`. The flat arrays and offsets of a batch are what Arrow makes
lists of: no number is copied.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.graphs.arrays import label_array

NEIGHBOURS = "neighbours"
EDGE_WEIGHTS = "edge_weights"
NODE_LABELS = "node_labels"
NODE_ATTRIBUTES = "node_attributes"
EDGE_LABELS = "edge_labels"
EDGE_ATTRIBUTES = "edge_attributes"

#: Stands in the metadata of a column of labels that are written as JSON.
_JSON_MARK = {b"graphmover": b"json"}
_NATIVE_LABELS: dict[type, str] = {str: "large_string", bytes: "large_binary", float: "float64"}


class Arrays(NamedTuple):
    """The arrays of a batch; as read, nothing is known of them but their lengths."""

    offsets: NDArray[np.int64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    edge_weights: NDArray[np.float64] | None
    node_labels: NDArray[Any] | None
    node_attributes: NDArray[np.float64] | None


def pyarrow() -> Any:
    """Import pyarrow, or tell how to get it."""
    try:
        import pyarrow as pa
    except ImportError:
        raise ImportError(
            "Arrow and Parquet need pyarrow: pip install 'graphmover[parquet]'"
        ) from None
    return pa


def table_of(
    arrays: Arrays,
    edge_labels: NDArray[Any] | None = None,
    edge_attributes: NDArray[np.float64] | None = None,
) -> Any:
    """Return a ``pyarrow.Table`` over the very memory of these arrays."""
    pa = pyarrow()
    columns: dict[str, Any] = {}
    marks: dict[str, Any] = {}

    def add(name: str, values: Any, *, per_edge: bool) -> None:
        if per_edge:
            values = pa.LargeListArray.from_arrays(pa.array(arrays.indptr), values)
        columns[name] = pa.LargeListArray.from_arrays(pa.array(arrays.offsets), values)

    def add_labels(name: str, labels: NDArray[Any], *, per_edge: bool) -> None:
        values, marks[name] = _label_values(labels, name)
        add(name, values, per_edge=per_edge)

    def add_rows(name: str, rows: NDArray[np.float64], *, per_edge: bool) -> None:
        if rows.shape[1]:
            flat = pa.array(np.ascontiguousarray(rows).reshape(-1))
            add(name, pa.FixedSizeListArray.from_arrays(flat, rows.shape[1]), per_edge=per_edge)

    add(NEIGHBOURS, pa.array(arrays.indices), per_edge=True)
    if arrays.edge_weights is not None:
        add(EDGE_WEIGHTS, pa.array(arrays.edge_weights), per_edge=True)
    if arrays.node_labels is not None:
        add_labels(NODE_LABELS, arrays.node_labels, per_edge=False)
    if arrays.node_attributes is not None:
        add_rows(NODE_ATTRIBUTES, arrays.node_attributes, per_edge=False)
    if edge_labels is not None:
        add_labels(EDGE_LABELS, edge_labels, per_edge=True)
    if edge_attributes is not None:
        add_rows(EDGE_ATTRIBUTES, edge_attributes, per_edge=True)
    fields = [pa.field(name, c.type, metadata=marks.get(name)) for name, c in columns.items()]
    return pa.Table.from_arrays(list(columns.values()), schema=pa.schema(fields))


def arrays_of(table: Any) -> Arrays:
    """Take the columns of a batch apart; others are not looked at."""
    pa = pyarrow()
    if NEIGHBOURS not in table.column_names:
        raise ValueError(
            f"there is no column {NEIGHBOURS!r} among {table.column_names}, expected a list per "
            f"graph of lists per node"
        )
    lists = pa.large_list(pa.large_list(pa.int32()))
    offsets, rows = _unnested(table, NEIGHBOURS, lists)
    indptr, indices = _parts(rows, NEIGHBOURS)
    weights = labels = attributes = None
    if EDGE_WEIGHTS in table.column_names:
        values = _per_edge(table, EDGE_WEIGHTS, offsets, indptr)
        weights = _numbers(values, EDGE_WEIGHTS)
    if NODE_LABELS in table.column_names:
        labels = _labels(_per_node(table, NODE_LABELS, offsets), table, NODE_LABELS)
    if NODE_ATTRIBUTES in table.column_names:
        attributes = _rows(_per_node(table, NODE_ATTRIBUTES, offsets), NODE_ATTRIBUTES)
    return Arrays(
        offsets, indptr, indices.to_numpy(zero_copy_only=False), weights, labels, attributes
    )


def edge_data_of(
    table: Any, offsets: NDArray[np.int64], indptr: NDArray[np.int64]
) -> tuple[NDArray[Any] | None, NDArray[np.float64] | None]:
    """Return what a table says of labels and attributes of edges."""
    labels = attributes = None
    if EDGE_LABELS in table.column_names:
        labels = _labels(_per_edge(table, EDGE_LABELS, offsets, indptr), table, EDGE_LABELS)
    if EDGE_ATTRIBUTES in table.column_names:
        attributes = _rows(_per_edge(table, EDGE_ATTRIBUTES, offsets, indptr), EDGE_ATTRIBUTES)
    return labels, attributes


def _per_node(table: Any, name: str, offsets: NDArray[np.int64]) -> Any:
    other, values = _unnested(table, name)
    if not np.array_equal(offsets, other):
        graph = int(np.argmax(offsets[1:] != other[1:]))
        raise ValueError(
            f"graph {graph}: {other[graph + 1] - other[graph]} {name.replace('_', ' ')}, expected "
            f"one for each of {offsets[graph + 1] - offsets[graph]} nodes"
        )
    return values


def _per_edge(table: Any, name: str, offsets: NDArray[np.int64], indptr: NDArray[np.int64]) -> Any:
    pa = pyarrow()
    rows = _per_node(table, name, offsets)
    if not (pa.types.is_list(rows.type) or pa.types.is_large_list(rows.type)):
        raise TypeError(f"the column {name!r} holds {rows.type} per node, expected lists")
    other, values = _parts(rows.cast(pa.large_list(rows.type.value_type)), name)
    if not np.array_equal(indptr, other):
        node = int(np.argmax(indptr[1:] != other[1:]))
        graph = int(np.searchsorted(offsets, node, side="right")) - 1
        raise ValueError(
            f"graph {graph}: node {node - offsets[graph]} has another number of {name} than of "
            f"{NEIGHBOURS}"
        )
    return values


def _unnested(table: Any, name: str, kind: Any = None) -> tuple[NDArray[np.int64], Any]:
    """Return the offsets and the values of a column of lists."""
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
        return _parts(column.chunk(0), name, "graph")
    chunk = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], kind)
    return _parts(chunk, name, "graph")


def _parts(lists: Any, name: str, what: str = "node") -> tuple[NDArray[np.int64], Any]:
    if lists.null_count:
        at = int(np.argmax(lists.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(
            f"{what} {at}: {name} is null, expected a list"
            if what == "graph"
            else f"{name} holds null for node {at} of all, expected a list"
        )
    values = lists.flatten()
    if values.null_count:
        raise ValueError(f"{name} holds {values.null_count} nulls inside lists, expected none")
    offsets = lists.offsets.to_numpy()
    return (offsets - offsets[0] if offsets[0] else offsets), values


def _label_values(labels: NDArray[Any], name: str) -> tuple[Any, Any]:
    """Return an Arrow array of labels, and the mark of how they are written."""
    pa = pyarrow()
    if labels.dtype.kind == "i":
        return pa.array(labels), None
    kinds = set(map(type, labels))
    if len(kinds) == 1 and (native := _NATIVE_LABELS.get(kinds.pop())):
        try:
            return pa.array(labels, getattr(pa, native)()), None
        except UnicodeEncodeError:
            pass  # a lone surrogate is no UTF-8, but JSON can escape it
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


def _labels(values: Any, table: Any, name: str) -> NDArray[Any]:
    pa = pyarrow()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_signed_integer(values.type):
        return np.asarray(values.cast(pa.int64()).to_numpy(zero_copy_only=False))
    objects = values.to_pylist()
    mark = table.schema.field(name).metadata or {}
    if all(mark.get(key) == value for key, value in _JSON_MARK.items()):
        distinct = {text: _hashable(json.loads(text)) for text in set(objects)}
        objects = [distinct[text] for text in objects]
    else:
        objects = list(map(_hashable, objects))
    return label_array(objects, np.array([0, len(objects)]))


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _rows(rows: Any, name: str) -> NDArray[np.float64]:
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
            raise ValueError(
                f"{name} holds lists of {width} and of {widths[widths != width][0]} numbers, "
                f"expected equally many for all"
            )
    values = rows.flatten()
    if values.null_count:
        raise ValueError(f"{name} holds {values.null_count} nulls, expected none")
    return _numbers(values, name).reshape(len(rows), width)


def _numbers(values: Any, name: str) -> NDArray[np.float64]:
    pa = pyarrow()
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise TypeError(f"{name} holds {values.type}, expected numbers")
    numbers: NDArray[np.float64] = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers
