"""Ids, bad graphs and existing outputs on the command line, as a user meets them."""

import csv
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from commands import COMMAND, run

import graphmover as gm

pytestmark = pytest.mark.slow
pytest.importorskip("rdkit")
pytest.importorskip("pyarrow")

SMALL = ["--sampling", "anchor", "-r", "4", "-q"]


@pytest.fixture
def molecules(tmp_path):
    path = tmp_path / "x.smi"
    path.write_text("CCO ethanol\nC1CC broken\nCC ethane\n\nc1ccccc1 benzene\n[ open\nCN\n")
    return path


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_one_bad_molecule_does_not_lose_the_run(molecules, tmp_path):
    answer = run("embed", "x.smi", "-o", "z.csv", *SMALL, cwd=tmp_path)
    assert answer.returncode == 1 and "x.smi, line 2: RDKit cannot read" in answer.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["x.smi"]
    answer = run("embed", "x.smi", "-o", "z.csv", "--errors", "skip", *SMALL, cwd=tmp_path)
    assert answer.returncode == 0
    assert answer.stderr.count("2 graphs could not be read and have been left out") == 1
    assert "see z.csv.skipped.csv" in answer.stderr
    assert [row["id"] for row in table(tmp_path / "z.csv")] == ["ethanol", "ethane", "benzene", ""]
    skipped = table(tmp_path / "z.csv.skipped.csv")
    assert [(row["position"], row["id"]) for row in skipped] == [("2", "broken"), ("6", "open")]
    assert skipped[0]["reason"] == "RDKit cannot read the SMILES 'C1CC'"
    answer = run("embed", "x.smi", "-o", "e.csv", "--errors", "empty", *SMALL, cwd=tmp_path)
    assert answer.returncode == 0
    assert answer.stderr.count("no nodes") == 1
    rows = table(tmp_path / "e.csv")
    assert [row["id"] for row in rows][1:4] == ["broken", "ethane", "benzene"] and len(rows) == 6
    assert {float(value) for key, value in rows[1].items() if key != "id"} == {0.0}
    answer = run("embed", "x.smi", "-o", "e.npy", "--errors", "drop", cwd=tmp_path)
    assert answer.returncode == 2 and "--errors" in answer.stderr


def test_a_fitted_model_reads_by_the_same_rules(molecules, tmp_path):
    answer = run("fit", "x.smi", "-m", "m.npz", "--errors", "skip", *SMALL, cwd=tmp_path)
    assert answer.returncode == 0 and "2 graphs could not be read" in answer.stderr
    options = ["-m", "m.npz", "--errors", "skip", "-q"]
    answer = run("embed", "x.smi", "-o", "z.parquet", *options, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    import pyarrow.parquet as pq

    assert pq.read_table(tmp_path / "z.parquet")["id"].to_pylist()[:2] == ["ethanol", "ethane"]
    answer = run("embed", "x.smi", "-o", "-", *options, cwd=tmp_path)
    assert answer.stdout.splitlines()[1].startswith("ethanol,")
    assert "2 graphs could not be read and have been left out (the first" in answer.stderr
    answer = run("embed", "x.smi", "-o", "z.jsonl", *options, "--json", cwd=tmp_path)
    assert json.loads(answer.stdout)["graphs"] == 4
    first = json.loads((tmp_path / "z.jsonl").read_text().splitlines()[0])
    assert list(first) == ["id", "vector"] and first["id"] == "ethanol"


def test_targets_and_ids_by_name(tmp_path):
    (tmp_path / "x.csv").write_text("key,smiles,active\n7,CCO,yes\n8,CC,no\n9,CN,yes\n")
    named = ["--id-column", "key", "--target-column", "active"]
    answer = run("embed", "x.csv", "-o", "z.csv", *named, *SMALL, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    rows = table(tmp_path / "z.csv")
    assert next(iter(rows[0])) == "id" and list(rows[0])[-1] == "target"
    assert [(row["id"], row["target"]) for row in rows] == [("7", "yes"), ("8", "no"), ("9", "yes")]
    assert run("convert", "x.csv", "x.parquet", *named, cwd=tmp_path).returncode == 0
    back = gm.read_graphs(tmp_path / "x.parquet")
    assert back.ids.tolist() == [7, 8, 9] and back.target.tolist() == ["yes", "no", "yes"]
    answer = run("embed", "x.csv", "-o", "y.csv", "--id-column", "nokey", *SMALL, cwd=tmp_path)
    assert answer.returncode == 1 and "there is no column 'nokey'" in answer.stderr


def test_existing_files_are_replaced_only_by_force(molecules, tmp_path):
    commands = [
        ["embed", "x.smi", "-o", "z.npy", "--errors", "skip", *SMALL],
        ["convert", "x.smi", "x.jsonl", "--errors", "skip", "-q"],
        ["fit", "x.smi", "-m", "m.npz", "--errors", "skip", *SMALL],
    ]
    for command, output in zip(commands, ("z.npy", "x.jsonl", "m.npz"), strict=True):
        (tmp_path / output).write_text("precious")
        answer = run(*command, cwd=tmp_path)
        assert answer.returncode == 1
        assert f"{output} exists: pass --force to replace it, or name another" in answer.stderr
        assert (tmp_path / output).read_text() == "precious"
        answer = run(*command, "--force", cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
        assert (tmp_path / output).read_bytes() != b"precious"


def test_converting_lists_bad_graphs_too(molecules, tmp_path):
    answer = run("convert", "x.smi", "x.parquet", "--errors", "skip", cwd=tmp_path)
    assert answer.returncode == 0 and "4 graphs -> x.parquet" in answer.stderr
    assert [row["id"] for row in table(tmp_path / "x.parquet.skipped.csv")] == ["broken", "open"]
    assert gm.read_graphs(tmp_path / "x.parquet").ids.tolist()[:2] == ["ethanol", "ethane"]


def test_control_characters_of_the_data_do_not_reach_the_terminal(tmp_path):
    ids = ["a\nb", "\x1b]0;title\x07", "é", "d", "e", "f"]
    graphs = gm.as_graph_batch([gm.Graph(2 + i, [(0, 1)]) for i in range(6)], ids=ids)
    target = np.array(["x\u202ey", "z"] * 2 + ["x\u202ey", "\x1b[2J"], dtype=object)
    gm.write_graphs(gm.Dataset("x", graphs, target), tmp_path / "x.jsonl")
    answer = run("info", "x.jsonl", cwd=tmp_path)
    assert r"ids               6 (a\nb, \x1b]0;title\x07, é, " in answer.stdout
    assert r"3 classes (x\u202ey: 3, z: 2, \x1b[2J: 1)" in answer.stdout
    told = json.loads(run("info", "x.jsonl", "--json", cwd=tmp_path).stdout)
    assert list(told["target"]["classes"]) == ["x\u202ey", "z", "\x1b[2J"]
    os.rename(tmp_path / "x.jsonl", tmp_path / "\x1bc.jsonl")
    answer = run("evaluate", "\x1bc.jsonl", "--folds", "3", *SMALL, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert r"\x1bc: 6 graphs, 3 classes" in answer.stdout
    for shown in (answer.stdout, answer.stderr):  # the note on rare classes is a warning, too
        assert r"(\x1b[2J: 1, z: 2)" in shown and "\x1b" not in shown


def test_info_lists_what_a_source_carries(molecules, tmp_path):
    answer = run("info", "x.smi", "--errors", "skip", cwd=tmp_path)
    assert "\nids               3 (ethanol, ethane, benzene)\n" in answer.stdout
    assert "\nnode labels       3; used by labels, counts, structure\n" in answer.stdout
    assert "\nedge labels       2; used by labels, counts\n" in answer.stdout
    assert "\ndirection         none\n" in answer.stdout
    assert "RandomGraphEmbedding does not use edge labels by default; --node" in answer.stdout
    summary = json.loads(run("info", "x.smi", "--json", "--errors", "skip", cwd=tmp_path).stdout)
    assert (summary["graphs"], summary["ids"], summary["directed"]) == (4, 3, False)
    assert summary["used"]["edge labels"] == ["labels", "counts"]
    line = (
        '{"directed": true, "nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1}]}'
    )
    (tmp_path / "x.jsonl").write_text(line)
    answer = run("info", "x.jsonl", cwd=tmp_path)
    ignored = "\ndirection         some edges are directed; direction is ignored: --keep-direction"
    assert ignored in answer.stdout
    assert "\ncomponents        1 in all; 1 per graph\n" in answer.stdout
    assert "warning" not in answer.stderr
    answer = run("info", "x.jsonl", "--keep-direction", cwd=tmp_path)
    kept = "\ndirection         some edges are directed; direction is kept as edge labels\n"
    assert kept in answer.stdout


def test_directions_are_kept_on_request(tmp_path):
    nodes = '"nodes": [{"id": 0}, {"id": 1}, {"id": 2}]'
    ends = [[(0, 1), (0, 2)], [(1, 0), (2, 0)]] * 3
    for name, kept in (("x.jsonl", ends), ("y.jsonl", ends[:1] * 6)):
        edges = [[{"source": u, "target": v} for u, v in one] for one in kept]
        lines = [f'{{"directed": true, {nodes}, "edges": {json.dumps(one)}}}' for one in edges]
        (tmp_path / name).write_text("\n".join(lines))
    answer = run("embed", "x.jsonl", "-o", "z.npy", "-r", "4", "-q", cwd=tmp_path)
    assert "to keep directions as edge labels, read them with --keep-direction" in answer.stderr
    assert "gm." not in answer.stderr
    Z = np.load(tmp_path / "z.npy")
    assert (Z[0] == Z[1]).all()
    options = ["--keep-direction", "-m", "m.npz", "-r", "4", "-q"]
    answer = run("embed", "x.jsonl", "-o", "k.npy", *options, cwd=tmp_path)
    assert answer.returncode == 0 and not answer.stderr
    Z = np.load(tmp_path / "k.npy")
    assert (Z[0] == Z[2]).all() and (Z[0] != Z[1]).any()
    answer = run("embed", "y.jsonl", "-o", "y.npy", "-m", "m.npz", "-q", cwd=tmp_path)
    assert answer.returncode == 1
    assert "or with --keep-direction if they are directions" in answer.stderr


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_killed_run_has_the_same_rows_and_list(tmp_path):
    lines = [f"{'C' * (1 + i % 30)}{'(' if i % 7 == 3 else 'O'} m{i}" for i in range(3000)]
    (tmp_path / "x.smi").write_text("\n".join(lines))
    fitted = ["fit", "x.smi", "-m", "m.npz", "--errors", "skip", "--fit-graphs", "50", *SMALL]
    assert run(*fitted, cwd=tmp_path).returncode == 0
    command = ["embed", "x.smi", "-m", "m.npz", "--errors", "skip", "-q", "--batch-size", "40"]
    assert run(*command, "-o", "whole.csv", cwd=tmp_path).returncode == 0
    process = subprocess.Popen(
        [*COMMAND, *command, "-o", "z.csv"], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    progress = tmp_path / "z.csv.part" / "journal.json"
    for _ in range(3000):
        if progress.exists() or process.poll() is not None:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert progress.exists() and not (tmp_path / "z.csv").exists()
    assert run(*command, "-o", "z.csv", cwd=tmp_path).returncode == 0
    for ending in ("", ".skipped.csv"):
        written, expected = (tmp_path / f"{name}.csv{ending}" for name in ("z", "whole"))
        assert written.read_bytes() == expected.read_bytes()
    assert len(table(tmp_path / "z.csv.skipped.csv")) == len(range(3, 3000, 7))
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "m.npz",
        "whole.csv",
        "whole.csv.skipped.csv",
        "x.smi",
        "z.csv",
        "z.csv.skipped.csv",
    ]


def test_molecules_of_the_nci(tmp_path):
    import rdkit

    path = Path(rdkit.__file__).parent / "Data" / "NCI" / "first_5K.smi"
    if not path.exists():
        pytest.skip("this RDKit comes without data")
    answer = run("embed", path, "-o", "z.npz", "--errors", "skip", *SMALL, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    with np.load(tmp_path / "z.npz") as arrays:
        vectors, ids = arrays["vectors"], arrays["id"]
    skipped = table(tmp_path / "z.npz.skipped.csv")
    titles = [int(line.split()[1]) for line in path.read_text().splitlines()]
    bad = {int(row["id"]) for row in skipped}
    assert 0 < len(bad) < 100 and len(vectors) == len(titles) - len(bad)
    assert ids.tolist() == [title for title in titles if title not in bad]
    assert [titles[int(row["position"]) - 1] for row in skipped] == [int(r["id"]) for r in skipped]


def test_graphs_without_a_target_can_be_left_out(tmp_path):
    smiles = ["C" * k + ("O" if k % 2 else "N") for k in range(1, 25)]
    rows = [f"{one},{'' if k in (3, 7) else k % 2}" for k, one in enumerate(smiles)]
    (tmp_path / "x.csv").write_text("smiles,class\n" + "\n".join(rows) + "\n")
    command = ["x.csv", "--target-column", "class", "--folds", "2", "-q"]
    for name, more in (("evaluate", SMALL), ("compare", ["--methods", "WL-ST"])):
        answer = run(name, *command, *more, cwd=tmp_path)
        assert answer.returncode == 1 and "pass --errors skip" in answer.stderr
        answer = run(name, *command, *more, "--errors", "skip", cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
        assert "2 graphs have no target, of 24: left out" in answer.stderr
