"""What all commands have in common: messages, progress, JSON, exit codes."""

import json
import logging
import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

import graphmover as gm
from graphmover import cli
from graphmover.cli.command import Result, with_common_options

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Graphs of two sizes, in JSON lines."""
    monkeypatch.chdir(tmp_path)
    data = gm.make_graph_families(24, random_state=0)
    gm.write_graphs(data, "x.jsonl")
    return tmp_path


@pytest.fixture
def run(monkeypatch, capsys):
    def called(*arguments):
        monkeypatch.setattr("warnings.showwarning", None)  # `main` sets its own
        monkeypatch.setattr(sys, "argv", ["graphmover", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code or 0, capsys.readouterr()

    return called


#: Every command, with arguments that make it quick, and whether it draws at random.
SMALL = {
    "demo": (["--graphs", "60", "-r", "4", "--picture", "p.png"], True),
    "embed": (["x.jsonl", "-o", "z.npy", "-r", "4"], True),
    "fit": (["x.jsonl", "-m", "m.npz", "-r", "4"], True),
    "evaluate": (["x.jsonl", "-r", "4", "--folds", "2", "--sampling", "anchor"], True),
    "convert": (["x.jsonl", "y.jsonl"], False),
    "info": (["x.jsonl"], False),
    "datasets": (["MUTAG"], False),
    "compile": ([], False),
}


def registered():
    return {command.name or command.callback.__name__ for command in cli.app.registered_commands}


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(SMALL))
def test_every_command_prints_json_with_version_and_seed(folder, run, monkeypatch, command):
    if command == "compile":
        monkeypatch.setattr("graphmover.compilation.compile_all", lambda: Path("somewhere"))
    arguments, is_random = SMALL[command]
    seed = ["--seed", "3"] if is_random else []
    code, shown = run(command, *arguments, *seed, "--json", "-q")
    assert code == 0, shown.err
    values = json.loads(shown.out)
    first = {"command": command, "version": gm.__version__, "seed": 3 if is_random else None}
    assert list(values.items())[:3] == list(first.items())
    assert len(values) > 3
    assert shown.err == ""


def test_all_commands_have_the_common_options():
    assert set(SMALL) <= registered()
    for command in cli.app.registered_commands:
        names = [*command.callback.__signature__.parameters]
        assert {"quiet", "verbose", "as_json"} <= set(names), names


def test_levels_of_messages(folder, run, caplog):
    caplog.set_level(logging.DEBUG)  # all that reaches the logger's own level
    shown = {}
    for option in ("-q", None, "-v"):
        caplog.clear()
        arguments = ["convert", "x.jsonl", "y.jsonl", "--force", *filter(None, [option])]
        assert run(*arguments)[0] == 0
        shown[option] = [(one.levelname, one.getMessage()) for one in caplog.records]
    assert shown["-q"] == []
    assert shown[None] == [("INFO", "24 graphs -> y.jsonl")]
    assert ("DEBUG", "reading x.jsonl (a node-link object per line)") in shown["-v"]
    assert logging.getLogger("graphmover").level == logging.INFO  # as before


def test_one_graph_is_not_graphs(folder, run, caplog):
    gm.write_graphs([gm.Graph(2, [(0, 1)])], "one.jsonl")
    run("convert", "one.jsonl", "same.jsonl")
    assert caplog.messages == ["1 graph -> same.jsonl"]


def test_fit_shows_what_was_fitted(folder, run):
    code, shown = run("fit", "x.jsonl", "-m", "m.npz", "-r", "4")
    assert code == 0
    assert shown.out.startswith("GraphVectorizer: ")
    assert re.search(r"\n  shape .*eigenvectors of the normalised Laplacian\n", shown.out)
    assert re.search(r"\n +4 random graphs of \d+ to \d+ nodes, gamma = \d", shown.out)
    values = json.loads(run("fit", "x.jsonl", "-m", "n.npz", "-r", "4", "--json")[1].out)
    model = gm.GraphVectorizer.load("n.npz")
    assert [view["name"] for view in values["views"]] == [name for name, _ in model.views_]
    gammas = {view["name"]: view["gamma"] for view in values["views"] if "gamma" in view}
    assert gammas == {n: view.gamma_ for n, view in model.views_ if hasattr(view, "gamma_")}
    assert (values["fitted_to"], values["graphs"]) == (24, 24)
    labelled = ["--wl-iterations", "2", "--max-random-nodes", "1"]
    code, shown = run("fit", "x.jsonl", "-m", "p.npz", "-r", "1", *labelled)
    assert shown.out.splitlines()[0] == "RandomGraphEmbedding: 1 feature"
    assert "1 random graph of 1 node, gamma" in shown.out
    assert run("fit", "x.jsonl", "-m", "q.npz", "-r", "4", "-q") == (0, ("", ""))


@pytest.mark.slow
def test_several_numbers_of_random_graphs_and_grids(folder, run):
    base = ["evaluate", "x.jsonl", "--folds", "2", "--json", "-r", "8", "-r", "4"]
    rows = json.loads(run(*base)[1].out)["summary"]
    name = "GraphVectorizer + LogisticRegression, R = "
    assert [row["method"] for row in rows[2:]] == [f"{name}4", f"{name}8"]
    grid = ["--grid", "gamma=0.3,1", "--grid", "max_random_nodes=3,whole"]
    found = json.loads(run(*base, *grid)[1].out)
    assert [row["n_components"] for row in found["summary"][2:]] == [4, 8]
    [name] = {row["method"] for row in found["summary"][2:]}
    assert name == "RGE(ASG), D_max = 3/None, d = 4, gamma = 0.3/1.0"
    chosen = {row["max_random_nodes"] for row in found["folds"] if row["method"] == name}
    assert chosen <= {3, None}
    assert run(*base, "--grid", "gamma=1", "--grid", "gamma=2")[0] == 2


def test_exit_codes_are_those_of_the_page():
    page = (DOCS / "command-line.md").read_text()
    documented = dict(re.findall(r"^\| (\d+) \| ([a-z ]+)", page, re.MULTILINE))
    assert list(documented) == ["0", "1", "2", "130"]
    assert (cli._FAILED, cli._WRONG_USE, cli._INTERRUPTED) == (1, 2, 130)


@pytest.mark.parametrize(
    ("code", "error"), [(1, ValueError("x")), (1, MemoryError()), (130, KeyboardInterrupt())]
)
def test_exit_codes(monkeypatch, run, caplog, code, error):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(cli, "app", fail)
    ended = []
    monkeypatch.setattr(os, "_exit", lambda code: ended.append(code) or sys.exit(code))
    assert run("info", "x")[0] == code
    assert ended == ([130] if code == 130 else [])
    assert caplog.messages == [{1: str(error) or "out of memory", 130: "interrupted"}[code]]


def test_a_command_returns_a_result():
    def mine(context, name: str, times: int = 1) -> Result:
        return Result({"name": name * times}, lambda: print(name))

    parameters = with_common_options(mine).__signature__.parameters
    assert [*parameters] == ["context", "name", "times", "quiet", "verbose", "as_json"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_bars_move_on_a_terminal_and_only_there(folder):
    """A real terminal, in a process of its own."""
    import pty
    import termios

    command = [sys.executable, "-c", SLOW, "convert", "x.jsonl", "y.jsonl", "--force"]
    quiet = subprocess.run(command, capture_output=True, text=True, check=True)
    assert quiet.stderr.splitlines() == ["graphmover: 24 graphs -> y.jsonl"]
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = subprocess.Popen(command, stderr=theirs)
    os.close(theirs)
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 1)[0]:
            try:
                read = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            shown += read
    os.close(ours)
    assert process.wait() == 0
    clock = set(re.findall(r"\[00:(\d\d)<?", shown.decode()))
    assert {"01", "02"} <= clock, shown
    assert b"writing graphs" in shown


#: A writer that takes two and a half seconds.
SLOW = """
import time
from graphmover.cli import main
from graphmover.io import formats


def waiting(batches, source, title):
    with formats.progress_bar(title, 24):
        time.sleep(2.5)
    return batches

formats.with_progress = waiting
main()
"""


def test_help_in_plain_words(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    for arguments in ([], ["embed"]):
        code, shown = run(*arguments, "-h")
        assert code == 0 and shown.out.lstrip().startswith("Usage: graphmover")
        assert "<bool>" not in shown.out and "default: (" not in shown.out
    assert "Graphs in memory at a time. Default: 10000." in shown.out
