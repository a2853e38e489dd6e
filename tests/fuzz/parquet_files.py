"""Mutated Parquet files and Arrow tables: other columns, types, encodings, numbers, or bytes."""

import io
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fuzz.mutations import finding, mutated_bytes, one_of
from thrift_trees import I32, I64, LIST, STRUCT, with_footer, with_page

import graphmover as gm

N = 6


@cache
def columns():
    """Return the columns of a valid file."""
    graphs = gm.make_graph_families(N, random_state=0, min_nodes=10, max_nodes=12).graphs
    graphs = gm.GraphBatch.from_edges(
        graphs.node_counts,
        graphs.edge_counts,
        np.concatenate([graph.edges for graph in graphs]),
        edge_weights=np.arange(1, graphs.n_edges + 1) / 4,
        node_labels=[("C", n % 3) for n in range(graphs.n_nodes)],
        node_attributes=np.arange(2 * graphs.n_nodes).reshape(-1, 2),
        edge_labels=[str(k % 3) for k in range(graphs.n_edges)],
        edge_attributes=np.arange(graphs.n_edges),
    )
    table = graphs.to_arrow()
    table = table.append_column("target", pa.array([f"class {i % 2}" for i in range(N)]))
    return [(table.schema.field(i), table.column(i)) for i in range(table.num_columns)]


def strange_column(rng, length=N):
    """Return a column of any type."""
    kind = rng.integers(9)
    if kind == 0:
        return pa.nulls(
            length, one_of(rng, [pa.null(), pa.int64(), pa.list_(pa.list_(pa.int32()))])
        )
    if kind == 1:
        return pa.array(
            [[[int(one_of(rng, [0, 1, -1, 2**31 - 1]))]]] * length, pa.list_(pa.list_(pa.int64()))
        )
    if kind == 2:
        values = [[None], [[]], [[None]], None, [[0, None]], []]
        return pa.array(
            [one_of(rng, values) for _ in range(length)], pa.list_(pa.list_(pa.int32()))
        )
    if kind == 3:
        size = int(one_of(rng, [0, 1, 3, 100_000]))
        return pa.array(
            [one_of(rng, [None, [0.5] * size]) for _ in range(length)], pa.list_(pa.float64(), size)
        )
    if kind == 4:
        return pa.array(["x" * int(one_of(rng, [0, 1, 100_000]))] * length).dictionary_encode()
    if kind == 5:
        return pa.array([{"a": [1], "b": "x"}] * length)
    if kind == 6:
        n = int(one_of(rng, [0, 5, 1_000_000]))
        rows = pa.ListArray.from_arrays(
            pa.array(np.array([0, n], np.int32)), pa.array(np.ones(n, np.int32))
        )
        return pa.ListArray.from_arrays(pa.array(np.array([0, *[1] * length], np.int32)), rows)
    if kind == 7:
        values = [[b"x"], ["a"], [1.5], [True], [float("nan")], [[1]], [["a", 1]][:0]]
        return pa.array([one_of(rng, values)] * length)
    values = [pa.array(np.full(length, np.nan)), pa.array([2**63 + 1] * length, pa.uint64())]
    values += [
        pa.array([True] * length),
        pa.array([None] + [1] * (length - 1)),
        pa.array([b"\xff"] * length),
    ]
    return one_of(rng, values)


def mutated_table(rng):
    chosen = list(columns())
    for _ in range(int(rng.integers(3))):
        at = int(rng.integers(len(chosen)))
        kind = rng.integers(4)
        if kind == 0:
            chosen.append(chosen[at])
        elif kind == 1 and len(chosen) > 1:
            del chosen[at]
        elif kind == 2:
            column = strange_column(rng)
            mark = chosen[at][0].metadata if rng.integers(2) else None
            chosen[at] = (
                pa.field(chosen[at][0].name, column.type, metadata=mark),
                pa.chunked_array([column]),
            )
        else:
            other = int(rng.integers(len(chosen)))
            field, column = chosen[at]
            chosen[at] = (
                pa.field(chosen[other][0].name, field.type, metadata=field.metadata),
                column,
            )
    schema = pa.schema([field for field, _ in chosen])
    return pa.Table.from_arrays([column for _, column in chosen], schema=schema)


def written(rng, table):
    file = io.BytesIO()
    pq.write_table(
        table,
        file,
        compression=one_of(rng, ["none", "zstd", "snappy", "gzip"]),
        use_dictionary=bool(rng.integers(2)),
        row_group_size=int(one_of(rng, [1, 2, 100])),
        data_page_version=one_of(rng, ["1.0", "2.0"]),
        write_page_checksum=bool(rng.integers(4)),
        store_schema=bool(rng.integers(4)),
        dictionary_pagesize_limit=int(one_of(rng, [10, 2**20])),
    )
    return file.getvalue()


def numbers(fields, found):
    """List all structures with the fields of theirs that are numbers."""
    for number, (kind, value) in fields.items():
        if kind in (I32, I64):
            found.append((fields, number))
        elif kind == STRUCT:
            numbers(value, found)
        elif kind == LIST and value[0] == STRUCT:
            for item in value[1]:
                numbers(item, found)
    return found


def with_other_numbers(rng, source):
    """Let the footer, or the header of a page, declare something else."""

    def change(fields, rest):
        for _ in range(int(one_of(rng, [1, 1, 2]))):
            structure, number = one_of(rng, numbers(fields, []))
            kind, value = structure[number]
            values = [0, 1, -1, 2, value + 1, value - 1, 10 * value, 10**6, 2**31 - 1, -(2**31)]
            if kind == I64:
                values += [10**12, 2**63 - 1]
            structure[number] = kind, int(np.clip(one_of(rng, values), -(2**31), 2**63 - 1))
        return rest if isinstance(rest, bytes) else None

    if rng.integers(2):
        with_footer(source, change)
    else:
        with_page(source, int(rng.integers(3)), change)


def attack(rng, folder):
    """Read one mutated file; return what went wrong, or None."""
    source = folder / "x.parquet"
    try:
        content = written(rng, mutated_table(rng))
    except (pa.ArrowException, OSError):  # Parquet cannot hold the table
        content = written(rng, pa.Table.from_arrays([columns()[0][1]], names=["neighbours"]))
    kind = rng.integers(4)
    source.write_bytes(mutated_bytes(rng, content) if kind < 2 else content)
    if kind == 3:
        with_other_numbers(rng, source)
    return finding(source)
