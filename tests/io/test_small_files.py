"""Small files that declare a lot: none takes more than a gigabyte."""

import json
import sys
import zipfile

import numpy as np
import pytest
from memory import memory_of_reading

import graphmover as gm
from graphmover.io.limits import LEAST_LIMIT

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("networkx")

linux = pytest.mark.skipif(sys.platform != "linux", reason="measures memory in forks")


def tu_zip(path, **files):
    parts = {"A": "1,2\n2,1\n", "graph_indicator": "1\n1\n"} | files
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in parts.items():
            archive.writestr(f"X/X_{part}.txt", text)
    return path


def lists(offsets, values):
    return pa.ListArray.from_arrays(pa.array(np.asarray(offsets, np.int32)), values)


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path, compression="zstd", row_group_size=2**30)
    return path


def repeated_neighbour(path, n=40_000_000):
    rows = lists([0, n, n], pa.array(np.ones(n, np.int32)))
    return parquet(path, neighbours=lists([0, 2], rows))


def empty_lists(path, n=40_000_000):
    rows = lists(np.zeros(n + 1), pa.array([], pa.int32()))
    return parquet(path, neighbours=lists([0, n], rows))


def empty_graphs(n):
    return lists(np.zeros(n + 1), lists([0], pa.array([], pa.int32())))


def long_targets(path, n=1_000_000):
    texts = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), ["x" * 2000])
    return parquet(path, neighbours=empty_graphs(n), target=texts)


def one_long_target(path, n=9_300):
    texts = pa.array(["x" * 1_000_000] + ["y"] * (n - 1))
    return parquet(path, neighbours=empty_graphs(n), target=texts)


def long_ids(path, n=1_000_000, name="id"):
    texts = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), ["x" * 2000])
    return parquet(path, neighbours=empty_graphs(n), **{name: texts})


def one_long_id(path, n=9_300):
    texts = pa.array(["x" * 1_000_000] + ["y"] * (n - 1))
    return parquet(path, neighbours=empty_graphs(n), id=texts)


def long_labels(path, n=5_000):
    labels = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), ["x" * 1_000_000])
    nodes = lists(np.zeros(n + 1), pa.array([], pa.int32()))
    return parquet(path, neighbours=lists([0, n], nodes), node_labels=lists([0, n], labels))


def prefixes(path, n=1_200):
    table = pa.table({"neighbours": empty_graphs(n), "target": ["x" * 1_000_000] * n})
    encoding = {"target": "DELTA_BYTE_ARRAY"}
    pq.write_table(table, path, use_dictionary=False, column_encoding=encoding, compression="zstd")
    return path


def null_vectors(path, n=30_000):
    vectors = pa.array([[0.0] * 5_000] + [None] * (n - 1), pa.list_(pa.float64(), 5_000))
    return parquet(path, neighbours=empty_graphs(n), target=vectors)


def long_json_target(path):
    texts = ["x" * 400_000] + ["y"] * 9_999
    line = {"nodes": [], "edges": []}
    path.write_text("".join(json.dumps(line | {"graph": {"target": t}}) + "\n" for t in texts))
    return path


def many_columns(path):
    path.mkdir()
    names = ",".join(f"a{i}" for i in range(90_000))
    (path / "nodes.csv").write_text(f"node,graph,{names}\n")
    (path / "edges.csv").write_text("source,target\n")
    return path


@pytest.mark.slow
@linux
def test_small_files_take_less_than_a_gigabyte(tmp_path):
    files = {
        "graphs.zip": lambda path: tu_zip(path, graph_indicator="1\n" * 299_999 + "300000000\n"),
        "edges.zip": lambda path: tu_zip(path, A="1,1\n" * (1 << 24)),
        "labels.zip": lambda path: tu_zip(path, node_labels=("1," * 2**23 + "1\n") * 2),
        "neighbours.parquet": repeated_neighbour,
        "nodes.parquet": empty_lists,
        "targets.parquet": long_targets,
        "target.parquet": one_long_target,
        "ids.parquet": long_ids,
        "names.parquet": lambda path: long_ids(path, name="name"),
        "id.parquet": one_long_id,
        "labels.parquet": long_labels,
        "prefixes.parquet": prefixes,
        "nulls.parquet": null_vectors,
        "target.jsonl": long_json_target,
        "columns": many_columns,
    }
    paths = [make(tmp_path / name) for name, make in files.items()]
    assert all(path.stat().st_size < 1e6 for path in paths)
    for path, (grown, said) in zip(paths, memory_of_reading(*paths), strict=True):
        assert said == "read" or (said.startswith("ValueError") and path.name in said), said
        assert grown < 1e9, (path.name, grown, said)


@pytest.mark.slow
def test_the_error_says_what_is_declared_and_stored_and_the_limit_can_be_raised(tmp_path):
    path = tu_zip(tmp_path / "X.zip", graph_indicator="1\n" * 299_999 + "30000000\n")
    size = path.stat().st_size
    message = (
        rf"X.zip: 30000000 graphs of 300000 nodes would take .* {size} bytes are stored .* max_b"
    )
    for read in (gm.load_dataset, gm.read_graphs, lambda x: list(gm.iter_batches(x))):
        with pytest.raises(ValueError, match=message):
            read(path)
    with pytest.raises(ValueError, match=r"repeated\.parquet: row group 0, which declares \d+ val"):
        gm.read_graphs(null_vectors(tmp_path / "repeated.parquet"))
    few = tu_zip(tmp_path / "Y.zip", graph_indicator="1\n" * 299 + "30000\n")
    assert len(gm.load_dataset(few).graphs) == 30_000
    for read in (gm.load_dataset, gm.read_graphs):
        with pytest.raises(ValueError, match=r"pass max_bytes=\d+ or more"):
            read(few, max_bytes=10_000)
        assert read(few, max_bytes=10**8)
    with pytest.raises(ValueError, match="max_bytes must be at least 1"):
        gm.read_graphs(few, max_bytes=0)


def test_large_files_may_take_more(tmp_path):
    from graphmover.io.limits import Limit

    (tmp_path / "x").write_bytes(b"x" * 3_000_000)
    assert Limit(tmp_path / "x").most == 3 * 10**9
    assert Limit(tmp_path).most == 3 * 10**9
    assert Limit(tmp_path / "none").most == LEAST_LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.jsonl", "x.parquet", "x.smi"])
def test_what_was_read_counts(tmp_path, name):
    if name == "x.smi":
        pytest.importorskip("rdkit")
        (tmp_path / name).write_text("CCO\n" * 20_001)
    else:
        gm.write_graphs(iter([gm.Graph(2, [(0, 1)])] * 20_001), tmp_path / name)
    assert len(gm.read_graphs(tmp_path / name).graphs) == 20_001
    with pytest.raises(ValueError, match=f"{name}: .* would take about"):
        gm.read_graphs(tmp_path / name, max_bytes=1_000_000)
