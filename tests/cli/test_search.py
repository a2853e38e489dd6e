"""``graphmover index`` and ``graphmover search`` as a user runs them."""

import json
import re
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from commands import COMMAND, run

import graphmover as gm
from graphmover.cli import main

pytestmark = pytest.mark.slow

SMILES = ["CCO", "c1ccccc1", "CC(=O)O", "CCN", "CCCO", "CCCCO", "c1ccccc1O", "CC", "CCC", "CO"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Molecules with names, and their index."""
    pytest.importorskip("rdkit")
    folder = tmp_path_factory.mktemp("library")
    lines = [f"{smiles} m{i}\n" for i, smiles in enumerate(SMILES)]
    (folder / "library.smi").write_text("".join(lines))
    (folder / "queries.smi").write_text("".join(lines[:3]) + "no-molecule broken\n" + lines[4])
    answer = run("index", "library.smi", "-o", "library.index", "--json", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert (found["graphs"], found["fitted_to"], found["seed"]) == (10, 10, 0)
    return folder


def expected(folder, k):
    near = gm.NearestGraphs(k, random_state=0).fit(gm.read_graphs(folder / "library.smi"))
    queries = gm.read_graphs(folder / "library.smi").graphs[[0, 1, 2, 4]]
    return queries.ids, *near.kneighbors(queries)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_search_writes_what_the_library_finds(folder, tmp_path, ending):
    pd = pytest.importorskip("pandas")
    output = tmp_path / f"hits.{ending}"
    command = ["search", "library.index", "queries.smi", "-k", "3", "--errors", "skip"]
    answer = run(*command, "-o", str(output), cwd=folder)
    assert answer.returncode == 0, answer.stderr
    assert re.search(
        r"4 queries x 3 neighbours -> .*; distances computed for [\d.]+ % of pairs", answer.stderr
    )
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}
    hits = pd.read_json(output, lines=True) if ending == "jsonl" else read[ending](output)
    ids, distances, indices = expected(folder, 3)
    assert hits["query"].tolist() == np.repeat(range(4), 3).tolist()
    assert hits["query_id"].tolist() == np.repeat(ids, 3).tolist()
    assert hits["rank"].tolist() == [1, 2, 3] * 4
    assert hits["neighbour"].tolist() == indices.ravel().tolist()
    assert hits["neighbour_id"].tolist() == [f"m{i}" for i in indices.ravel()]
    np.testing.assert_allclose(hits["distance"], distances.ravel(), rtol=1e-14)
    assert "broken" in output.with_name(f"{output.name}.skipped.csv").read_text()


def test_the_help_tells_the_batch_size_of_each_command():
    for command, size in (("index", "10000"), ("search", "1000")):
        text = " ".join(run(command, "--help").stdout.replace("│", " ").split())
        option = text.partition("--batch-size")[2].partition("--restart")[0]
        assert re.search(rf"[Dd]efault: {size}\b", option), option


def test_standard_input_to_standard_output(folder):
    command = ["search", "library.index", "-", "--format", "smi", "-k", "1", "-q", "-o", "-"]
    answer = run(*command, cwd=folder, given=b"CCO first\nCC second\n")
    assert answer.stderr == ""
    header, *lines = answer.stdout.splitlines()
    assert header == "query,query_id,rank,neighbour,neighbour_id,distance"
    assert lines == ["0,first,1,0,m0,0.0", "1,second,1,7,m7,0.0"]


def test_a_sample_is_fitted_and_all_graphs_are_indexed(folder, tmp_path):
    index = str(tmp_path / "part.index")
    options = ["--fit-graphs", "4", "--batch-size", "3", "--dimensions", "2"]
    answer = run("index", "library.smi", "-o", index, *options, cwd=folder)
    assert answer.returncode == 0, answer.stderr
    assert "fitted to 4 of 10 graphs" in answer.stderr
    near = gm.NearestGraphs.load(index)
    assert near.ids_.tolist() == [f"m{i}" for i in range(10)]
    assert near.embedding_.node_embedding == "laplacian" and near.embedding_.n_dimensions == 2
    assert near.kneighbors(gm.read_graphs(folder / "library.smi"))[1][:, 0].tolist() == [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "command", "message"),
    [
        (2, "search library.index queries.smi -k 11 -o x.csv", "library.index holds 10 graphs"),
        (2, "search library.index queries.smi -o x.xls", "must end in .parquet, .csv"),
        (1, "search library.smi queries.smi -o x.csv", "library.smi is not an index of graphs"),
        (1, "search none.index queries.smi -o x.csv", "there is no file none.index"),
        (2, "search library.index queries.smi -o library.smi", "must end in"),
        (1, "index library.smi -o library.index", "exists: pass --force"),
        (1, "index library.smi -o library.smi --force", "it is the source"),
        (1, "index none.smi -o x.index", "none.smi"),
        (2, "index library.smi -o x.index --components 5", "leave out --components"),
        (2, "index library.smi -o x.index --partial", "--partial"),
        (1, "embed library.smi -m library.index -o x.csv", "search it with `graphmover search`"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(folder, monkeypatch, caplog, code, command, message):
    before = sorted(path.name for path in folder.iterdir())
    monkeypatch.chdir(folder)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main changes it
    monkeypatch.setattr(sys, "argv", ["graphmover", *command.split()])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == code
    assert message in caplog.messages[-1] and len(caplog.messages) == 1
    assert sorted(path.name for path in folder.iterdir()) == before


def test_unknown_labels_are_counted_over_all_batches(tmp_path):
    for name, labels in (("strings", ["a", "b", "a"]), ("numbers", [0, 1, 0])):
        graphs = [gm.Graph(3, [(0, 1), (1, 2)][:n], node_labels=labels) for n in (1, 2) * 3]
        gm.write_graphs(graphs, tmp_path / f"{name}.jsonl")
    run("index", "strings.jsonl", "-o", "x.index", cwd=tmp_path)
    command = ["search", "x.index", "numbers.jsonl", "-k", "2", "--batch-size", "2"]
    answer = run(*command, "-o", "hits.csv", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr.count("no node label in common") == 1
    assert "6 of 6 graphs have no node label in common with the graphs" in answer.stderr


def test_a_killed_search_goes_on(tmp_path):
    graphs = gm.make_graph_families(160, random_state=0, min_nodes=10, max_nodes=14)
    gm.write_graphs(graphs, tmp_path / "x.jsonl")
    assert (
        run("index", "x.jsonl", "-o", "x.index", "--dimensions", "4", cwd=tmp_path).returncode == 0
    )
    command = ["search", "x.index", "x.jsonl", "-k", "5", "--batch-size", "2", "-q", "-o"]
    process = subprocess.Popen([*COMMAND, *command, "hits.csv"], cwd=tmp_path)
    progress = tmp_path / "hits.csv.part" / "journal.json"
    while not progress.exists():
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.002)
    process.kill()
    process.wait()
    assert not (tmp_path / "hits.csv").exists()
    assert (
        "another model"
        in run(*("search", "x.index", "x.jsonl", "-k", "3", "-o", "hits.csv"), cwd=tmp_path).stderr
    )
    for output in ("hits.csv", "whole.csv"):
        answer = run(*command, output, cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "hits.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not progress.parent.exists()


def test_a_killed_index_goes_on(tmp_path):
    graphs = gm.make_graph_families(200, random_state=0)
    gm.write_graphs(graphs, tmp_path / "x.jsonl")
    options = ["--fit-graphs", "50", "--batch-size", "2", "--dimensions", "4", "-o"]
    command = ["index", "x.jsonl", *options]
    process = subprocess.Popen([*COMMAND, *command, "x.index"], cwd=tmp_path)
    while not (tmp_path / "x.index.part" / "000001.index").exists():
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.002)
    process.kill()
    process.wait()
    assert not (tmp_path / "x.index").exists()
    answer = run("index", "x.jsonl", *options[:-2], "5", "-o", "x.index", cwd=tmp_path)
    assert answer.returncode == 1 and "other graphs, options or batches" in answer.stderr
    for output, message in (("x.index", "batches from an earlier"), ("whole.index", "200 graphs")):
        answer = run(*command, output, cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
        assert message in answer.stderr
    assert (tmp_path / "x.index").read_bytes() == (tmp_path / "whole.index").read_bytes()
    assert not list(tmp_path.glob("*.part"))
