"""The arrays of a `GraphBatch` as Arrow columns, one row per graph, and back.

====================  =====================================================================
``neighbours``        list of lists of int32: of each node, numbered within its graph
``edge_weights``      list of lists of float64, beside ``neighbours``; absent: all are 1
``node_labels``       list of int64, string, binary, float64; of others as JSON, so marked
``node_attributes``   list of fixed-size lists of float64
====================  =====================================================================

The flat arrays and offsets of a batch are what Arrow makes lists of: no number is copied.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._graph_arrays import label_array

NEIGHBOURS = "neighbours"
EDGE_WEIGHTS = "edge_weights"
NODE_LABELS = "node_labels"
NODE_ATTRIBUTES = "node_attributes"

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


def table_of(arrays: Arrays) -> Any:
    """Return a ``pyarrow.Table`` over the very memory of these arrays."""
    pa = pyarrow()

    def per_graph(values: Any) -> Any:
        return pa.LargeListArray.from_arrays(pa.array(arrays.offsets), values)

    def per_edge(values: NDArray[Any]) -> Any:
        return pa.LargeListArray.from_arrays(pa.array(arrays.indptr), pa.array(values))

    columns = {NEIGHBOURS: per_graph(per_edge(arrays.indices))}
    marks = {}
    if arrays.edge_weights is not None:
        columns[EDGE_WEIGHTS] = per_graph(per_edge(arrays.edge_weights))
    if arrays.node_labels is not None:
        values, marks[NODE_LABELS] = _label_values(arrays.node_labels, arrays.offsets)
        columns[NODE_LABELS] = per_graph(values)
    if arrays.node_attributes is not None and arrays.node_attributes.shape[1]:
        flat = pa.array(np.ascontiguousarray(arrays.node_attributes).reshape(-1))
        width = arrays.node_attributes.shape[1]
        columns[NODE_ATTRIBUTES] = per_graph(pa.FixedSizeListArray.from_arrays(flat, width))
    fields = [pa.field(name, c.type, metadata=marks.get(name)) for name, c in columns.items()]
    return pa.Table.from_arrays(list(columns.values()), schema=pa.schema(fields))


def arrays_of(table: Any) -> Arrays:
    """Take the graph columns of a table apart; other columns are not looked at."""
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
        lists = pa.large_list(pa.large_list(pa.float64()))
        weight_offsets, rows = _unnested(table, EDGE_WEIGHTS, lists)
        weight_indptr, values = _parts(rows, EDGE_WEIGHTS)
        _require_same(EDGE_WEIGHTS, offsets, weight_offsets)
        if not np.array_equal(indptr, weight_indptr):
            node = int(np.argmax(indptr[1:] != weight_indptr[1:]))
            graph = int(np.searchsorted(offsets, node, side="right")) - 1
            raise ValueError(
                f"graph {graph}: node {node - offsets[graph]} has another number of "
                f"{EDGE_WEIGHTS} than of {NEIGHBOURS}"
            )
        weights = values.to_numpy(zero_copy_only=False)
    if NODE_LABELS in table.column_names:
        labels = _labels(table, offsets)
    if NODE_ATTRIBUTES in table.column_names:
        attributes = _attributes(table, offsets)
    return Arrays(
        offsets, indptr, indices.to_numpy(zero_copy_only=False), weights, labels, attributes
    )


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


def _require_same(name: str, offsets: NDArray[np.int64], other: NDArray[np.int64]) -> None:
    if not np.array_equal(offsets, other):
        graph = int(np.argmax(offsets[1:] != other[1:]))
        raise ValueError(
            f"graph {graph}: {other[graph + 1] - other[graph]} {name.replace('_', ' ')}, expected "
            f"one for each of {offsets[graph + 1] - offsets[graph]} nodes"
        )


def _label_values(labels: NDArray[Any], offsets: NDArray[np.int64]) -> tuple[Any, Any]:
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
    for position, label in enumerate(labels):
        if label not in texts:
            try:
                texts[label] = json.dumps(_jsonable(label))
            except TypeError:
                graph = int(np.searchsorted(offsets, position, side="right")) - 1
                raise TypeError(
                    f"graph {graph}: node {position - offsets[graph]} has the label {label!r}, "
                    f"which Arrow cannot hold: expected numbers, strings, None, tuples of these, "
                    f"or bytes alone"
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


def _labels(table: Any, offsets: NDArray[np.int64]) -> NDArray[Any]:
    pa = pyarrow()
    label_offsets, values = _unnested(table, NODE_LABELS)
    _require_same(NODE_LABELS, offsets, label_offsets)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_signed_integer(values.type):
        return np.asarray(values.cast(pa.int64()).to_numpy(zero_copy_only=False))
    objects = values.to_pylist()
    mark = table.schema.field(NODE_LABELS).metadata or {}
    if all(mark.get(key) == value for key, value in _JSON_MARK.items()):
        distinct = {text: _hashable(json.loads(text)) for text in set(objects)}
        objects = [distinct[text] for text in objects]
    else:
        objects = list(map(_hashable, objects))
    return label_array(objects, offsets)


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _attributes(table: Any, offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    pa = pyarrow()
    attribute_offsets, rows = _unnested(table, NODE_ATTRIBUTES)
    _require_same(NODE_ATTRIBUTES, offsets, attribute_offsets)
    if not pa.types.is_nested(rows.type):  # one number per node
        return np.asarray(rows.cast(pa.float64()).to_numpy(zero_copy_only=False))[:, np.newaxis]
    if pa.types.is_fixed_size_list(rows.type):
        width = rows.type.list_size
    else:
        widths = rows.value_lengths().to_numpy(zero_copy_only=False)
        width = int(widths[0]) if len(widths) else 0
        if (widths != width).any():
            node = int(np.argmax(widths != width))
            graph = int(np.searchsorted(offsets, node, side="right")) - 1
            raise ValueError(
                f"graph {graph}: node {node - offsets[graph]} has {widths[node]} attributes, "
                f"expected {width} as the nodes before it"
            )
    values = rows.flatten()
    if values.null_count:
        raise ValueError(f"{NODE_ATTRIBUTES} holds {values.null_count} nulls, expected none")
    numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.asarray(numbers).reshape(-1, width) if width else np.empty((len(rows), 0))
