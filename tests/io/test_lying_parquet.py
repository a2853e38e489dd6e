"""Parquet files whose footer, page headers or pages declare less than Arrow would decode."""

import re
import sys

import numpy as np
import pytest
from memory import memory_of_reading
from thrift_trees import (
    BINARY,
    I32,
    I64,
    LIST,
    Tree,
    varint,
    with_footer,
    with_page,
    written,
    zigzag,
)

import graphmover as gm
from graphmover.io.limits import Limit
from graphmover.io.parquet_footer import row_groups
from graphmover.io.parquet_sizes import leaves_of, row_group_bytes

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

MB = 1_000_000
NODE_LABELS = "node_labels"


def lists(offsets, values):
    return pa.ListArray.from_arrays(pa.array(np.asarray(offsets, np.int32)), values)


def empty_nodes(n):
    """Return one graph of n isolated nodes."""
    return lists([0, n], lists(np.zeros(n + 1), pa.array([], pa.int32())))


def empty_graphs(n):
    return lists(np.zeros(n + 1), lists([0], pa.array([], pa.int32())))


def parquet(path, columns, **options):
    options = {"compression": "zstd", "row_group_size": 2**30, "write_statistics": False} | options
    pq.write_table(pa.table(columns), path, **options)
    return path


def understated(path):
    """Let the footer declare two values of each column, in a hundred bytes."""

    def change(footer, columns):
        for column in columns:
            column[5], column[6] = (I64, min(2, column[5][1])), (I64, 100)

    return with_footer(path, change)


def few_values(path, n=100 * MB):
    rows = lists([0, n], pa.array(np.zeros(n, np.int32)))
    return understated(parquet(path, {"neighbours": lists([0, 1], rows)}))


def few_bytes(path, n=100 * MB):
    rows = lists([0, n], pa.array(np.zeros(n, np.int32)))
    options = {"use_dictionary": False, "data_page_size": 2**30}
    return understated(parquet(path, {"neighbours": lists([0, 1], rows)}, **options))


def null_vectors(path, n=MB, width=200):
    vectors = pa.nulls(n, pa.list_(pa.float64(), width))
    return parquet(path, {"neighbours": empty_nodes(1), "node_attributes": lists([0, n], vectors)})


def null_tensors(path, n=MB, shape=(10, 20)):
    vectors = pa.nulls(n, pa.list_(pa.float64(), int(np.prod(shape))))
    kind = pa.fixed_shape_tensor(pa.float64(), shape)
    tensors = pa.ExtensionArray.from_storage(kind, vectors)
    return parquet(path, {"neighbours": empty_graphs(n), "target": tensors})


def two_encodings(path, n=2_000):
    """Texts of a dictionary in one row group, and as the footer says of others in the next."""
    texts = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), ["x" * 900_000])
    columns = {"neighbours": empty_nodes(n), NODE_LABELS: lists([0, n], texts)}

    def change(footer, columns):
        again = Tree(written(footer[4][1][1][0])).read()
        again[1][1][1][1][3][1][2] = LIST, (I32, [6, 3])
        footer[4][1][1].append(again)
        footer[3] = I64, 2

    return with_footer(parquet(path, columns, store_schema=False), change)


def dictionary_in_part(path, n=4_000, length=700_000, n_others=2_000):
    """Texts in a dictionary until it is full, and then as they are."""
    repeated = pa.array(["x" * length], pa.large_string()).take(pa.array(np.zeros(n, int)))
    others = pa.array([f"{i:05}" + "y" * 40 for i in range(n_others)], pa.large_string())
    texts = pa.concat_arrays([repeated, others])
    columns = {"neighbours": empty_nodes(len(texts)), NODE_LABELS: lists([0, len(texts)], texts)}
    full = {"dictionary_pagesize_limit": length + 500, "write_batch_size": 100}
    path = parquet(path, columns, store_schema=False, **full)
    encodings = pq.read_metadata(path).row_group(0).column(1).encodings
    assert {"PLAIN", "RLE_DICTIONARY"} <= set(encodings)
    return path


def hidden_prefixes(path, n=1_200):
    """Texts that repeat the one before, of which the footer says nothing."""
    encodings = {"target": "DELTA_BYTE_ARRAY", "neighbours": "PLAIN"}
    columns = {"neighbours": empty_graphs(n), "target": ["x" * MB] * n}
    parquet(path, columns, use_dictionary=False, column_encoding=encodings)

    def change(footer, columns):
        columns[1][2] = LIST, (I32, [0, 3])

    return with_footer(path, change)


def differences(n, first=0):
    """Return n equal integers, as one block of differences of no bits."""
    block = zigzag(0) + b"\0" if n > 1 else b""
    return varint(2**30) + varint(1) + varint(n) + zigzag(first) + block


def lengths(path, encoding, values):
    columns = {"neighbours": empty_graphs(1), "target": ["x"]}
    encodings = {"target": encoding, "neighbours": "PLAIN"}
    options = {"compression": "none", "use_dictionary": False, "column_encoding": encodings}

    def change(header, page):
        levels = page[: 4 + int.from_bytes(page[:4], "little")]
        header[2] = I32, len(levels + values)
        return levels + values

    return with_page(parquet(path, columns, **options), 1, change)


def many_lengths(path, n=2**29):
    return lengths(path, "DELTA_LENGTH_BYTE_ARRAY", differences(n))


def many_prefixes(path, n=2**29):
    return lengths(path, "DELTA_BYTE_ARRAY", differences(n) + differences(1, 1) + b"x")


def many_suffixes(path, n=2**29):
    return lengths(path, "DELTA_BYTE_ARRAY", differences(1) + differences(n) + b"x")


def empty_entries(path, n=100 * MB):
    """A dictionary of n empty texts, of which one is used."""

    def change(header, page):
        header[2] = I32, 4 * n
        header[7][1][1] = I32, n
        return pa.compress(bytes(4 * n), "zstd", asbytes=True)

    columns = {"neighbours": empty_graphs(1), "target": ["x"]}
    return with_page(parquet(path, columns), 1, change)


def long_text(path, n=900 * MB):
    columns = {"neighbours": empty_graphs(1), "target": ["x" * n]}
    return parquet(path, columns, use_dictionary=False)


def wide_characters(path, n=300 * MB):
    columns = {"neighbours": empty_graphs(1), "target": ["x" * n + "\N{GRINNING FACE}"]}
    return parquet(path, columns, use_dictionary=False)


def wide_characters_in_views(path, n=300 * MB):
    label = pa.array(["x" * n + "\N{GRINNING FACE}"], pa.string_view())
    columns = {"neighbours": empty_nodes(1), NODE_LABELS: lists([0, 1], label)}
    return parquet(path, columns, use_dictionary=False)


def lists_in_json(path, n=15 * MB):
    labels = lists([0, 1], pa.array(["[" + "[]," * n + "[]]"]))
    table = pa.table({"neighbours": empty_nodes(1), NODE_LABELS: labels})
    mark = table.schema.field(1).with_metadata({"graphmover": "json"})
    pq.write_table(table.set_column(1, mark, labels), path, compression="zstd")
    return path


LIES = {
    few_values: "its pages hold 100000000 values, but 2 are declared",
    few_bytes: "its pages hold 100000000 values, but 2 are declared",
    null_vectors: "row group 0, which declares 1000000 values of node_attributes",
    null_tensors: "row group 0, which declares 1000000 values of target",
    two_encodings: "row group 0, which declares 2000 values of node_labels",
    dictionary_in_part: "row group 0, which declares 6000 values of node_labels",
    hidden_prefixes: "row group 0, which declares 1200 values of target",
    many_lengths: "target: it holds 536870912 lengths for 1 values",
    many_prefixes: "target: it holds 536870912 lengths for 1 values",
    many_suffixes: "target: it holds 536870912 lengths for 1 values",
    empty_entries: "row group 0, which declares 1 values of target",
    long_text: "row group 0, which declares 1 values of target",
    wide_characters: "a batch of 1 graphs",
    wide_characters_in_views: "a batch of 1 graphs, 1 nodes",
    lists_in_json: "a batch of 1 graphs, 1 nodes",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures memory in forks")
def test_lies_take_less_than_a_gigabyte(tmp_path):
    paths = [make(tmp_path / f"{make.__name__}.parquet") for make in LIES]
    for path, (grown, said) in zip(paths, memory_of_reading(*paths), strict=True):
        assert path.stat().st_size < MB
        assert said.startswith("ValueError") and path.name in said, (path.name, said)
        assert LIES[globals()[path.stem]] in said
        assert grown < 1e9, (path.name, grown, said)


@pytest.mark.parametrize("make", LIES, ids=lambda make: make.__name__)
def test_small_lies_are_named(tmp_path, make):
    """The same with less in it, and a lower limit."""
    n = {null_vectors: 2_000, null_tensors: 2_000, dictionary_in_part: 400}.get(make, 200_000)
    n = {two_encodings: 2, hidden_prefixes: 2, lists_in_json: 10_000, long_text: MB}.get(make, n)
    path = make(tmp_path / "x.parquet", n)
    words = re.sub(r"\d+", r"\\d+", LIES[make])
    with pytest.raises(ValueError, match=rf"x\.parquet.*{words}"):
        gm.read_graphs(path, max_bytes=MB)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (null_vectors, {"n": 10, "width": 3}),
        (two_encodings, {"n": 3}),
        (dictionary_in_part, {"n": 20, "length": 1000}),
        (hidden_prefixes, {"n": 3}),
        (many_lengths, {"n": 1}),
        (many_prefixes, {"n": 1}),
        (many_suffixes, {"n": 1}),
        (empty_entries, {"n": 5}),
        (long_text, {"n": 1000}),
        (wide_characters, {"n": 1000}),
        (lists_in_json, {"n": 100}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_same_in_small_is_read(tmp_path, make, options):
    """Or rejected for what it holds, not for its size."""
    try:
        gm.read_graphs(make(tmp_path / "x.parquet", **options))
    except (TypeError, ValueError) as error:
        assert "null" in str(error) or "expected" in str(error)
        assert "max_bytes" not in str(error)


def test_the_limit_can_be_raised(tmp_path):
    path = dictionary_in_part(tmp_path / "x.parquet", n=400, length=3_000)
    with pytest.raises(ValueError, match=r"pass max_bytes=\d+ or more"):
        gm.read_graphs(path, max_bytes=2 * MB)
    labels = gm.read_graphs(path, max_bytes=200 * MB).graphs.node_labels
    assert labels[0] == labels[399] == "x" * 3_000 and labels[400].startswith("00000y")


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "brotli", "lz4"])
def test_pages_are_measured_exactly(tmp_path, version, compression):
    """Where the bound is too much: texts by their indices, vectors by their nulls."""
    rng = np.random.default_rng(0)
    path = tmp_path / "x.parquet"
    words = ["", "a", "b" * 17, "c" * 5_000, *(f"word {i}" for i in range(300))]
    texts = [words[i] for i in rng.integers(len(words), size=3_000)] + ["d"] * 2_000
    rows = [[0.5] * 40 if rng.random() < 0.9 else None for _ in texts]
    n_long = sum(map(len, texts))
    table = {
        "neighbours": empty_nodes(5_000),
        NODE_LABELS: lists([0, 5_000], pa.array(texts)),
        "node_attributes": lists([0, 5_000], pa.array(rows, pa.list_(pa.float64(), 40))),
    }
    parquet(path, table, compression=compression, data_page_version=version, data_page_size=500)
    metadata = pq.read_metadata(path)
    leaves = leaves_of(metadata, list(table))
    with path.open("rb") as file:
        sizes = [
            row_group_bytes(file, row_groups(path)[0], 0, [leaf], Limit(path, 10 * MB))
            for leaf in leaves
        ]
    assert n_long < sizes[1] < 3 * n_long + 30 * 5_000
    n_slots = 40 * 5_000
    assert 20 * n_slots < sizes[2] < 20.5 * n_slots + 8 * n_slots


def test_real_files_are_read_as_before(tmp_path):
    """Many pages, row groups, encodings and null lists."""
    graphs = gm.make_graph_families(200, random_state=0).graphs
    labels = np.array([f"label {i % 700}" for i in range(graphs.n_nodes)], object)
    graphs = gm.GraphBatch.from_edges(
        graphs.node_counts,
        graphs.edge_counts,
        np.concatenate([graph.edges for graph in graphs]),
        node_labels=labels,
    )
    table = graphs.to_arrow()
    for number, encoding in enumerate(
        ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", None]
    ):
        path = tmp_path / f"{number}.parquet"
        paths = {"node_labels.list.element": encoding} if encoding else None
        pq.write_table(
            table,
            path,
            row_group_size=33,
            data_page_size=2_000,
            use_dictionary=encoding is None,
            column_encoding=paths,
            dictionary_pagesize_limit=1_000,
        )
        assert gm.read_graphs(path).graphs.node_labels.tolist() == labels.tolist()


@pytest.mark.parametrize(
    "change",
    [
        lambda column: column.update({3: (LIST, (I32, [0, 0]))}),  # Arrow would read texts
        lambda column: column.update({5: (I32, 1)}),
        lambda column: column.update({9: (I64, -5)}),
        lambda column: column.update({9: (I64, 2**63 - 1), 11: (I64, 2**63 - 1)}),
        lambda column: column.update({17: (12, {2: (LIST, (BINARY, [b"x"]))})}),
    ],
)
def test_ambiguous_footers_are_rejected(tmp_path, change):
    path = parquet(tmp_path / "x.parquet", {"neighbours": empty_graphs(2), "target": ["a", "b"]})
    with_footer(path, lambda footer, columns: change(columns[1]))
    with pytest.raises(ValueError, match=r"x\.parquet cannot be read as Parquet"):
        gm.read_graphs(path)
