"""Commands read standard input as they read the same content in a file."""

import io
import json
import os

import commands
import pytest

import graphmover as gm
from graphmover.cli import main

pytestmark = pytest.mark.slow


def run(*arguments, **options):
    return commands.run(*arguments, text=False, **options)


@pytest.fixture
def families(tmp_path):
    path = tmp_path / "families.jsonl"
    gm.write_graphs(gm.make_graph_families(60, random_state=0), path)
    return path


def test_json_lines_are_the_default(families, tmp_path):
    answer = run("info", "-", "--json", given=families.read_bytes())
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout) == json.loads(run("info", str(families), "--json").stdout)
    answer = run("convert", "-", "again.jsonl", given=families.read_bytes(), cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "again.jsonl").read_bytes() == families.read_bytes()


def test_workers_do_not_read_it(families, tmp_path):
    for options in (["--workers", "1"], ["--cluster", "tcp://127.0.0.1:1"]):
        answer = run("embed", "-", "-o", str(tmp_path / "z"), *options, given=families.read_bytes())
        assert answer.returncode == 2
        assert b"workers cannot read standard input: name a file" in answer.stderr
        assert os.listdir(tmp_path) == [families.name]


def test_embed_fits_to_and_reads_it(families):
    options = ["-o", "-", "--components", "4", "--quiet"]
    answer = run("embed", "-", *options, given=families.read_bytes())
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == run("embed", str(families), *options).stdout


def test_format_names_another(tmp_path):
    pytest.importorskip("rdkit")
    answer = run("info", "-", "--format", "smi", "--json", given=b"CCO ethanol\nC\n")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["graphs"] == 2
    answer = run("info", "--format", ".g6", "-", "--json", given=b"Bw\nC~\nA_\n")
    assert json.loads(answer.stdout)["graphs"] == 3


def test_nothing_is_left_behind(families, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    assert run("info", "-", given=families.read_bytes(), env=environment).returncode == 0
    assert run("info", "-", given=b"no json", env=environment).returncode == 1
    assert list(scratch.glob("graphmover-*")) == []


def test_bad_use(families):
    answer = run("info", "-", "--format", "xyz")
    assert answer.returncode == 2
    assert b"'xyz' is not one of parquet, jsonl" in answer.stderr
    answer = run("info", str(families), "--format", "jsonl")
    assert answer.returncode == 2
    assert b"leave out --format" in answer.stderr
    answer = run("info", "-", given=b"no json\n")
    assert answer.returncode == 1
    assert b"standard input, line 1" in answer.stderr
    assert b"holds no graphs" in run("info", "-").stderr


@pytest.mark.parametrize(
    ("arguments", "given", "message"),
    [
        ([], "CCO a\n", "standard input, line 1: not JSON"),
        ([], "", "standard input holds no graphs (it was read as .jsonl: --format names another"),
        (["--format", "g6"], "CCO a\n", "standard input, line 1: a character is not one of"),
    ],
)
def test_errors_call_standard_input_by_its_name(arguments, given, message, monkeypatch, caplog):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8"))
    monkeypatch.setattr("sys.argv", ["graphmover", "info", "-", *arguments])
    monkeypatch.setattr("warnings.showwarning", None)
    with pytest.raises(SystemExit):
        main()
    [shown] = caplog.messages
    assert message in shown
    assert "--format names another format" in shown and "/" not in shown
