"""Nothing in a file is changed, merged or dropped by how it is read."""

import json

import numpy as np
import pytest

import graphmover as gm
from graphmover.io.text_columns import labels_of, targets_of

pytest.importorskip("networkx")
pytest.importorskip("pyarrow")

MARK = "\ufeff"


def tables(folder, nodes, edges, graphs=None):
    (folder / "nodes.csv").write_text(nodes)
    (folder / "edges.csv").write_text(edges)
    if graphs is not None:
        (folder / "graphs.csv").write_text(graphs)
    return folder


def lines(path, *objects):
    path.write_text("".join(json.dumps(value) + "\n" for value in objects))
    return path


def node_link(nodes, edges, **graph):
    pairs = [{"source": u, "target": v, **more} for u, v, *rest in edges for more in [dict(*rest)]]
    return {"nodes": [{"id": node} for node in nodes], "edges": pairs, "graph": graph}


def test_names_of_csv_tables_are_text(tmp_path):
    nodes = "node,graph\n01,1\n1,01\n1.0,1\n001,01\n"
    data = gm.read_graphs(tables(tmp_path, nodes, "source,target\n01,1.0\n1,001\n"))
    assert data.graphs.node_counts.tolist() == [2, 2]
    assert data.graphs.edge_counts.tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"edges.csv, line 2: '1.00' is not in .*nodes.csv"):
        gm.read_graphs(tables(tmp_path, nodes, "source,target\n1.00,1\n"))
    data = gm.read_graphs(
        tables(tmp_path, nodes, "source,target\n", "graph,target\n1,a\n01,b\n001,c\n")
    )
    assert data.graphs.node_counts.tolist() == [2, 2, 0]


@pytest.mark.parametrize(
    "texts, labels",
    [
        (["1", "-2", "0"], [1, -2, 0]),
        (["1.50", "1.5"], ["1.50", "1.5"]),
        (["01", "1"], ["01", "1"]),
        (["true", "NA"], ["true", "NA"]),
        (["2020-01-01", "3"], ["2020-01-01", "3"]),
        ([str(2**63), "1"], [str(2**63), "1"]),
        (["+1", "1"], ["+1", "1"]),
    ],
)
def test_labels_of_csv_tables(tmp_path, texts, labels):
    nodes = "".join(f"n{i},g,{text}\n" for i, text in enumerate(texts))
    tables(tmp_path, "node,graph,label\n" + nodes, "source,target\n")
    assert gm.read_graphs(tmp_path).graphs.node_labels.tolist() == labels
    assert labels_of(texts) == labels


@pytest.mark.parametrize(
    "texts, targets",
    [
        (["1", "-2"], [1, -2]),
        (["1", "2.50", "1e3"], [1.0, 2.5, 1000.0]),
        (["01", "a"], ["01", "a"]),
        (["01", "1"], ["01", "1"]),
        (["9" * 5000, "1"], ["9" * 5000, "1"]),
        (["1e999", "1"], ["1e999", "1"]),
        ([str(2**53 + 1), "0.5"], [str(2**53 + 1), "0.5"]),
        (["a", "NA"], ["a", "NA"]),
        (["1", ""], [1, None]),
        (["1", "NA"], [1, None]),
        (["nan", "1"], [float("nan"), 1.0]),
        (["1", "2.5", "x"], ["1", "2.5", "x"]),
    ],
)
@pytest.mark.parametrize("form", ["smiles", "tables"])
def test_targets_of_csv_files(tmp_path, texts, targets, form):
    np.testing.assert_equal(targets_of(texts), targets)
    if form == "smiles":
        pytest.importorskip("rdkit")
        source = tmp_path / "x.csv"
        source.write_text("smiles,target\n" + "".join(f"C,{text}\n" for text in texts))
    else:
        rows = "".join(f"{i},{text}\n" for i, text in enumerate(texts))
        source = tables(tmp_path, "node,graph\na,0\n", "source,target\n", "graph,target\n" + rows)
    if None in targets:
        with pytest.raises(ValueError, match="graph 1 has no target while others have"):
            gm.read_graphs(source)
        return
    target = gm.read_graphs(source).target
    np.testing.assert_equal(target.tolist(), targets)
    assert (target.dtype == object) == isinstance(targets[0], str)


def test_the_kind_of_a_target_does_not_depend_on_the_batch(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "x.csv").write_text("smiles,target\nC,1\nC,2\nC,a\n")
    batches = gm.iter_batches(tmp_path / "x.csv", 1)
    assert [batch.target.tolist() for batch in batches] == [["1"], ["2"], ["a"]]
    empty = [node_link([], [], target=1)] * 10_000
    lines(tmp_path / "x.jsonl", *empty, node_link([], [], target="a"))
    with pytest.raises(ValueError, match=r"x.jsonl: graph 10000 has the target 'a', but graph 0"):
        gm.read_graphs(tmp_path / "x.jsonl")


@pytest.mark.parametrize(
    "targets, message",
    [
        ([1, 2**63], r"graph 1 has the target 9223372036854775808, expected a number that fits"),
        ([-(2**63) - 1], r"graph 0 has the target -9223372036854775809, .* fits 64 bits"),
        ([10**400], r"graph 0 has the target an integer of more than 80 digits"),
        ([0.5, 10**400], r"graph 1 has the target an integer of more than 80 digits"),
        ([1, "a"], r"graph 1 has the target 'a', but graph 0 has 1: expected text in all"),
        ([[1, 2], [1]], r"graph 1 has the target \[1\]"),
        ([[1, "a"]], r"graph 0 has the target 'a', but graph 0 has 1"),
        ([[[1]]], r"graph 0 has the target \[\[1\]\]"),
    ],
)
def test_targets_of_json_are_exact_or_rejected(tmp_path, targets, message):
    lines(tmp_path / "x.jsonl", *(node_link([], [], target=target) for target in targets))
    with pytest.raises(ValueError, match=rf"x.jsonl: {message}"):
        gm.read_graphs(tmp_path / "x.jsonl")


def test_the_largest_integers_are_exact(tmp_path):
    values = [2**63 - 1, -(2**63), True]
    lines(tmp_path / "x.jsonl", *(node_link([], [], target=value) for value in values))
    assert gm.read_graphs(tmp_path / "x.jsonl").target.tolist() == values


@pytest.mark.filterwarnings("ignore:directed graphs are made")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("key", [{}, {"key": 0}])
def test_the_largest_weight_of_a_repeated_edge_stays(tmp_path, directed, key):
    edges = [
        (0, 1, {"weight": 5, **key}),
        (1, 0, {"weight": 7, **key}),
        (0, 1, {"weight": 2, **key}),
    ]
    line = node_link([0, 1], edges) | {"directed": directed, "multigraph": bool(key)}
    data = gm.read_graphs(lines(tmp_path / "x.jsonl", line))
    assert data.graphs[0].edge_weights.tolist() == [7]


@pytest.mark.parametrize(
    "line, message",
    [
        (node_link([0], [(0, 3)]), r"the edge \(0, 3\) has the node 3, which is not listed"),
        (node_link([0, "1"], [(0, 1)]), r"the node 1, which is not listed"),
        (node_link([0, 0], []), "the node 0 is repeated"),
        (node_link([0, 1], [(0, 1)]) | {"links": [{"source": 1, "target": 0}]}, "edges and links"),
        ({"nodes": []}, "there is no field edges, expected a list"),
        ({"nodes": {}, "edges": []}, "nodes is {}, expected a list"),
    ],
)
def test_node_link_objects_that_networkx_would_mend(tmp_path, line, message):
    lines(tmp_path / "x.jsonl", node_link([], []), line)
    with pytest.raises(ValueError, match=f"x.jsonl, line 2: .*{message}"):
        gm.read_graphs(tmp_path / "x.jsonl")


def test_an_empty_list_beside_the_edges_drops_none(tmp_path):
    line = node_link([0, 1], [(0, 1)])
    swapped = {"nodes": line["nodes"], "edges": [], "links": line["edges"]}
    lines(tmp_path / "x.jsonl", line | {"links": []}, swapped)
    assert gm.read_graphs(tmp_path / "x.jsonl").graphs.edge_counts.tolist() == [1, 1]


def test_a_byte_order_mark_is_no_part_of_the_content(tmp_path):
    tables(
        tmp_path,
        MARK + "node,graph\na,g\n",
        MARK + "source,target\na,a\n",
        MARK + "graph,target\ng,3\n",
    )
    assert gm.read_graphs(tmp_path).target.tolist() == [3]
    (tmp_path / "x.jsonl").write_text(MARK + json.dumps(node_link([0], [], target=1)) + "\n")
    assert gm.read_graphs(tmp_path / "x.jsonl").target.tolist() == [1]
    pytest.importorskip("rdkit")
    (tmp_path / "x.smi").write_text(MARK + "CCO\n")
    assert gm.read_graphs(tmp_path / "x.smi").graphs.n_nodes == 3
    (tmp_path / "x.csv").write_text(MARK + "smiles,target\nCC,1\n")
    assert gm.read_graphs(tmp_path / "x.csv").graphs.n_nodes == 2


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_text_targets_stay_objects_everywhere(tmp_path, ending):
    data = gm.make_graph_families(30, random_state=0, min_nodes=10, max_nodes=12)
    names = np.array(["one", "two", "three"], object)[np.arange(30) % 3]
    text = gm.Dataset("x", data.graphs, names)
    path = tmp_path / f"x.{ending}"
    for _ in range(2):  # what was read is written again
        gm.write_graphs(text, path, overwrite=True)
        text = gm.read_graphs(path)
        assert text.target.dtype == object and text.target.tolist() == names.tolist()
    model = gm.RandomGraphEmbedding(3, random_state=0).fit(data.graphs)
    for output in ("z.npz", "z.csv", "z.parquet"):
        model.transform_to(path, tmp_path / output)
    assert np.load(tmp_path / "z.npz")["target"].tolist() == names.tolist()
    from graphmover.evaluation import evaluate

    result = evaluate(text.graphs, text.target, ["majority class"], n_folds=2)
    assert len(result.folds) == 2


def test_one_long_target_does_not_set_the_size_of_all(tmp_path):
    """As fixed-width text, these targets would take 160 GB."""
    n = 40_000
    names = np.array(["a", "b"] * (n // 2), object)
    names[0] = "x" * 1_000_000
    graphs = gm.GraphBatch.from_edges([2] * n, [1] * n, [(0, 1)] * n)
    data = gm.Dataset("x", graphs, names)
    model = gm.RandomGraphEmbedding(1, random_state=0).fit(graphs[:10])
    for output in ("z.csv", "z.parquet"):
        model.transform_to(data, tmp_path / output)
    from pyarrow import parquet

    assert parquet.read_table(tmp_path / "z.parquet")["target"].to_pylist() == names.tolist()
    message = r"z\.npz: .* 40000 of 1000000 characters would take 160\.0 GB: write \.csv or"
    with pytest.raises(ValueError, match=message):
        model.transform_to(data, tmp_path / "z.npz")


def test_targets_that_become_text_and_tables_of_text(tmp_path):
    graphs = gm.GraphBatch.from_edges([2] * 4, [1] * 4, [(0, 1)] * 4)
    model = gm.RandomGraphEmbedding(1, random_state=0).fit(graphs)
    table = np.array([["a", "bc"], ["d", ""]] * 2, object)
    for name, target in {"x": table, "y": table[:, 0], "z": np.arange(8).reshape(4, 2)}.items():
        for ending in ("npz", "parquet", "csv"):
            model.transform_to(gm.Dataset("x", graphs, target), tmp_path / f"{name}.{ending}")
        assert np.load(tmp_path / f"{name}.npz")["target"].tolist() == target.tolist()
