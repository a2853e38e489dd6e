"""`graphmover info` names columns that nothing reads."""

import json

import pytest

import graphmover as gm
from graphmover.io.other_columns import other_columns


def test_columns_of_a_table_of_smiles(tmp_path):
    path = tmp_path / "drugs.csv"
    path.write_text("Name,SMILES,logP,active,target\na,CCO,0.1,yes,1\n")
    assert other_columns(path) == ["logP", "active"]
    assert other_columns(str(path), target_column="logP") == ["active", "target"]
    assert other_columns(path, id_column="active") == ["Name", "logP"]


def test_a_table_of_edges_has_columns_of_its_own(tmp_path):
    (tmp_path / "edges.csv").write_text("graph,source,target,colour\n1,0,1,red\n")
    assert other_columns(tmp_path / "edges.csv") == []


def test_attributes_of_graphs_in_json_lines(tmp_path):
    line = {"graph": {"id": 1, "year": 2019}, "nodes": [{"id": 0}], "edges": []}
    (tmp_path / "a.jsonl").write_text("\n" + json.dumps(line) + "\n")
    assert other_columns(tmp_path / "a.jsonl") == ["year"]


def test_columns_of_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = gm.as_graph_batch([gm.Graph(2, [(0, 1)])], ids=["x"]).to_arrow()
    table = table.append_column("price", [[2.5]])
    parquet.write_table(table, tmp_path / "a.parquet")
    assert other_columns(tmp_path / "a.parquet") == ["price"]


def test_what_cannot_be_read_has_none(tmp_path):
    (tmp_path / "a.jsonl").write_text("not JSON")
    for source in (tmp_path / "a.jsonl", tmp_path / "none.csv", tmp_path, [gm.Graph(1, [])]):
        assert other_columns(source) == []


def test_info_says_how_to_use_them(tmp_path, capsys):
    pytest.importorskip("rdkit")
    from graphmover.cli.info import _print
    from graphmover.datasets.summary import summarise

    (tmp_path / "drugs.csv").write_text("name,smiles,logP\na,CCO,0.1\n")
    summary = summarise(tmp_path / "drugs.csv")
    assert summary.as_dict()["other_columns"] == ["logP"]
    _print(summary)
    assert "logP; not read: choose with --target-column and --id-column" in capsys.readouterr().out
    assert summarise(tmp_path / "drugs.csv", target_column="logP").other_columns == []
