"""``graphmover compare`` as a user runs it."""

import json
import sys
import warnings

import pytest
from commands import run
from real_data import real_dataset

import graphmover as gm
from graphmover.cli import main

pytestmark = pytest.mark.slow


@pytest.fixture
def complaint(monkeypatch, capsys, caplog):
    """Run a command that fails in this process: importing the methods takes longer than they do."""

    def run_here(*arguments):
        monkeypatch.setattr(sys, "argv", ["graphmover", "compare", *arguments])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main sets its own
        with pytest.raises(SystemExit) as end:
            main()
        assert not capsys.readouterr().out
        [error] = [one.getMessage() for one in caplog.records if one.levelname == "ERROR"]
        return end.value.code, error

    return run_here


@pytest.fixture(scope="module")
def mutag():
    real_dataset("MUTAG")
    return "MUTAG"


def test_a_table_a_picture_and_a_verdict_and_again_from_the_checkpoint(mutag, tmp_path):
    figure, checkpoint = tmp_path / "figure.png", tmp_path / "folds.checkpoint"
    arguments = [
        "compare",
        mutag,
        "--folds",
        "3",
        "--figure",
        str(figure),
        "--checkpoint",
        str(checkpoint),
    ]
    arguments += ["--jobs", "1", "--methods", "WL-ST", "--methods", "bag of nodes"]
    arguments += ["--methods", "WWL+attributes"]
    answer = run(*arguments)
    assert answer.returncode == 0, answer.stderr
    assert "1 of 2, WL-ST: measuring one fold, then cross-validating" in answer.stderr
    lines = answer.stdout.splitlines()
    assert lines[4].split()[:2] == ["method", "accuracy"]
    assert any("is best" in line for line in lines)
    assert "Left out: WWL+attributes, which needs node attributes." in lines
    assert figure.read_bytes().startswith(b"\x89PNG")
    again = run(*arguments, "--json")
    assert "measuring" not in again.stderr
    found = json.loads(again.stdout)
    assert found["command"] == "compare"
    assert (found["source"], found["folds"], found["repeats"]) == (arguments[1], 3, 1)
    assert found["left_out"] == {"WWL+attributes": "needs node attributes"}
    best, other = found["methods"]
    assert best["mean"] >= other["mean"] > 0.7
    assert other["behind"] == pytest.approx(best["mean"] - other["mean"], abs=0.01)
    assert best["peak_mb"] > 50


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["MUTAG", "--methods", "WL"], 2, "'WL' is not one of 'GraphVectorizer', "),
        (["MUTAG", "--task", "guess"], 2, "'guess' is not one of auto, classification"),
        (["MUTAG", "--figure", "figure.txt"], 2, "figure.txt does not end in .pdf, .png, .svg"),
        (["MUTAG", "--folds", "1"], 2, "must be greater than or equal to 2"),
        (["nothing.parquet"], 1, "nothing.parquet"),
    ],
)
def test_bad_input_is_one_line(arguments, code, message, complaint):
    found, shown = complaint(*arguments)
    assert found == code
    assert message in shown
    assert len(shown.splitlines()) == 1


def test_a_collection_without_target(tmp_path, complaint):
    file = tmp_path / "graphs.parquet"
    gm.write_graphs(gm.make_graph_families(12, random_state=0).graphs, file)
    code, shown = complaint(str(file))
    assert code == 1
    assert "has no target: name the column that holds a class or value per graph with --" in shown


def test_no_method_left(mutag, complaint):
    code, shown = complaint(mutag, "--methods", "WWL+attributes")
    assert code == 1
    assert "no method is left to compare: WWL+attributes needs node attributes" in shown
