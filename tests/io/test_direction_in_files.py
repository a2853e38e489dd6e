"""Directions of edges in files."""

import json

import networkx as nx
import pytest

import graphmover as gm
from graphmover.datasets.summary import summarise

ARROWS = [[0, 1], [0, 2], [2, 0]]  # one of them goes both ways
LABELS = [1, 3, 2, 3]


def json_lines(folder):
    path = folder / "arrows.jsonl"
    edges = [{"source": u, "target": v} for u, v in ARROWS]
    nodes = [{"id": node} for node in range(3)]
    path.write_text(json.dumps({"directed": True, "nodes": nodes, "edges": edges}) + "\n")
    return path


def graphml(folder):
    path = folder / "arrows.graphml"
    nx.write_graphml(nx.DiGraph(ARROWS), path)
    return path


def edge_table(folder):
    path = folder / "arrows.csv"
    lines = [f"g,{u},{v}" for u, v in ARROWS]
    path.write_text("\n".join(["graph,source,target", *lines]) + "\n")
    return path


def edge_list(folder):
    path = folder / "arrows.edgelist"
    path.write_text("".join(f"{u} {v}\n" for u, v in ARROWS))
    return path


def csv_folder(folder):
    path = folder / "tables"
    path.mkdir()
    (path / "nodes.csv").write_text("node,graph\n0,g\n1,g\n2,g\n")
    lines = [f"{u},{v}" for u, v in ARROWS]
    (path / "edges.csv").write_text("\n".join(["source,target", *lines]) + "\n")
    return path


def parquet(folder):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = folder / "arrows.parquet"
    pq.write_table(pa.table({"neighbours": [[[1, 2], [], [0]]]}), path)
    return path


SOURCES = [json_lines, graphml, edge_table, edge_list, csv_folder, parquet]


@pytest.mark.parametrize("make", SOURCES)
def test_files_keep_directions(make, tmp_path):
    path = make(tmp_path)
    data = gm.read_graphs(path, keep_direction=True)
    assert data.graphs.edge_labels.tolist() == LABELS
    (batch,) = gm.iter_batches(path, keep_direction=True)
    assert batch.graphs == data.graphs
    summary = summarise(path, keep_direction=True)
    assert summary.directed and summary.keeps_direction


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_directions_that_a_file_has_as_labels_are_not_kept_twice(ending, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"kept.{ending}"
    gm.write_graphs(json_lines(tmp_path), path, keep_direction=True)
    assert gm.read_graphs(path).graphs.edge_labels.tolist() == LABELS
    assert gm.read_graphs(path, keep_direction=True).graphs.edge_labels.tolist() == LABELS


def test_bad_graphs_do_not_cost_the_others_their_directions(tmp_path):
    path = json_lines(tmp_path)
    bad = {"nodes": [{"id": 0, "attributes": "x"}], "edges": []}
    path.write_text(path.read_text() + json.dumps(bad) + "\n")
    with pytest.warns(UserWarning, match="1 graph could not be read"):
        data = gm.read_graphs(path, keep_direction=True, errors="skip")
    assert data.graphs.edge_labels.tolist() == LABELS


def test_vectors_of_a_file_by_a_model_with_directions(tmp_path):
    pytest.importorskip("pyarrow")
    path = json_lines(tmp_path)
    arrows = path.read_text()
    turned = arrows.replace('"source"', '"end"').replace('"target"', '"source"')
    path.write_text(2 * arrows + 2 * turned.replace('"end"', '"target"'))
    graphs = gm.read_graphs(path, keep_direction=True).graphs
    model = gm.GraphVectorizer(4, random_state=0).fit(graphs)
    assert model.transform_to(path, tmp_path / "z.npy", keep_direction=True)[0] == 4
    written = gm.distributed.transform_to(
        model, path, tmp_path / "parts", engine="serial", keep_direction=True
    )
    assert written.n_rows == 4


def test_formats_without_directions_say_so(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "x.smi").write_text("CCO\n")
    (tmp_path / "x.g6").write_text("A_\n")
    for name, what in (("x.smi", "molecules"), ("x.g6", "graphs in graph6")):
        message = f"{what} have no directions of edges: leave out keep_direction=True"
        with pytest.raises(ValueError, match=message):
            gm.read_graphs(tmp_path / name, keep_direction=True)
