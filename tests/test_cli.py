"""The command line as a user runs it: in a process of its own."""

import os
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
from conftest import real_dataset

import graphmover as gm

COMMAND = [sys.executable, "-c", "from graphmover.cli import main; main()"]


def run(*arguments, **options):
    return subprocess.run(
        [*COMMAND, *arguments], check=False, capture_output=True, text=True, **options
    )


@pytest.fixture(scope="module")
def tu_folder(tmp_path_factory):
    """Thirty cycles and paths, labelled, in TU format."""
    folder = tmp_path_factory.mktemp("data") / "TOY"
    folder.mkdir()
    edges, indicator, first = [], [], 1
    for graph in range(30):
        n = 4 + graph % 5
        pairs = [(first + i, first + i + 1) for i in range(n - 1)]
        pairs += [(first + n - 1, first)] if graph % 2 else []
        edges += [f"{u}, {v}" for u, v in pairs] + [f"{v}, {u}" for u, v in pairs]
        indicator += [str(graph + 1)] * n
        first += n
    (folder / "TOY_A.txt").write_text("\n".join(edges) + "\n")
    (folder / "TOY_graph_indicator.txt").write_text("\n".join(indicator) + "\n")
    (folder / "TOY_node_labels.txt").write_text("\n".join(["1"] * len(indicator)) + "\n")
    (folder / "TOY_graph_labels.txt").write_text("\n".join(str(i % 2) for i in range(30)) + "\n")
    return folder


def test_help_answers_in_under_half_a_second():
    times = []
    for _ in range(5):
        start = time.perf_counter()
        answer = run("--help")
        times.append(time.perf_counter() - start)
        assert answer.returncode == 0
        assert "demo" in answer.stdout
        assert "embed" in answer.stdout
    assert min(times) < 0.5


def test_version():
    assert run("--version").stdout == f"graphmover {gm.__version__}\n"


def test_demo(tmp_path):
    pytest.importorskip("matplotlib")
    answer = run("demo", "--graphs", "120", "-r", "32", "--picture", "p.png", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    rows = [line.split("  ") for line in answer.stdout.splitlines() if "+-" in line]
    table = {row[0]: float(" ".join(row[1:]).split("+-")[0]) for row in rows}
    assert list(table) == [
        "majority class",
        "degree histogram",
        "RGE(RF), R = 32",
        "RGE(ASG), R = 32",
    ]
    assert table["RGE(ASG), R = 32"] > 70
    assert table["degree histogram"] < 40
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert [file.name for file in tmp_path.iterdir()] == ["p.png"]


def test_embed_takes_the_choice_of_points_and_masses(tu_folder, tmp_path):
    choice = ["--node-embedding", "return-probability", "--node-mass", "equal", "-r", "8"]
    answer = run("embed", str(tu_folder), "-o", str(tmp_path / "z.npy"), *choice, "-q")
    assert answer.returncode == 0, answer.stderr
    model = gm.RandomGraphEmbedding(
        8, node_embedding="return-probability", node_mass="equal", random_state=0
    )
    assert (
        np.load(tmp_path / "z.npy") == model.fit_transform(gm.load_dataset(tu_folder).graphs)
    ).all()
    assert run("embed", str(tu_folder), "-o", "-", "--node-mass", "x").returncode == 2


@pytest.mark.parametrize("ending", ["npy", "npz", "csv"])
def test_embed_writes_what_the_library_computes(tu_folder, tmp_path, ending):
    output = tmp_path / f"z.{ending}"
    answer = run("embed", str(tu_folder), "-o", str(output), "-r", "8", "--seed", "1", "-q")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == ""
    assert answer.stderr == "" or answer.stderr.startswith("graphmover: compiling")
    data = gm.load_dataset(tu_folder)
    expected = gm.RandomGraphEmbedding(8, random_state=1).fit_transform(data.graphs)
    if ending == "npy":
        assert (np.load(output) == expected).all()
    elif ending == "npz":
        assert (np.load(output)["vectors"] == expected).all()
        assert (np.load(output)["target"] == data.target).all()
    else:
        table = pytest.importorskip("pandas").read_csv(output)
        assert list(table.columns[[0, -1]]) == ["randomgraphembedding0", "target"]
        assert table.to_numpy()[:, :-1] == pytest.approx(expected, rel=1e-15)
        assert (table["target"] == data.target).all()


def test_embed_can_be_piped_and_reads_a_zip(tu_folder, tmp_path):
    archive = tmp_path / "TOY.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for part in tu_folder.iterdir():
            file.write(part, f"TOY/{part.name}")
    options = ["--sampling", "uniform", "--gamma", "0.5", "--dimensions", "3", "-j", "2"]
    answer = run("embed", str(archive), "-o", "-", "-r", "4", *options)
    assert answer.returncode == 0, answer.stderr
    lines = answer.stdout.splitlines()
    assert len(lines) == 31
    assert lines[0].endswith("randomgraphembedding3,target")
    assert "30 graphs x 4 features" in answer.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["embed", "NOSUCH", "-o", "z.npy"], "graphmover: no set 'NOSUCH' in"),
        (["embed", "./nowhere", "-o", "z.npy"], "graphmover: there is no folder or zip nowhere"),
        (["embed", "TOY", "-o", "z.xls"], "graphmover: cannot tell the format of z.xls"),
        (["embed", "TOY", "-o", "z.npy", "--gamma", "wide"], "--gamma must be a positive number"),
        (["embed", "TOY", "-o", "z.npy", "--gamma", "-1"], "gamma must be a positive number"),
        (["embed", "TOY", "-o", "no/z.npy"], "cannot write no/z.npy: there is no folder no"),
        (["demo", "--picture", "no/p.png"], "cannot write no/p.png: there is no folder no"),
        (["demo", "--picture", "p.xyz"], "p.xyz must end in one of"),
        (["embed", "TOY", "-o", "z.npy", "-r", "0"], "Invalid value for '--components'"),
        (["embed", "TOY"], "Missing option"),
        (["mebed"], "No such command"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(tu_folder, tmp_path, arguments, message):
    environment = {**os.environ, "GRAPHMOVER_DATA": str(tu_folder.parent), "COLUMNS": "200"}
    answer = run(*arguments, cwd=tmp_path, env=environment)
    assert answer.returncode != 0
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not list(tmp_path.iterdir())


def test_a_reader_that_stops_reading_is_no_error(tu_folder):
    command = " ".join([sys.executable, "-c", f"'{COMMAND[-1]}'", "embed", str(tu_folder)])
    answer = subprocess.run(
        f"{command} -q -r 5000 -o - | head -c 10",
        shell=True,
        check=False,
        capture_output=True,
        text=True,
    )
    assert answer.stdout == "randomgrap"
    assert "Error" not in answer.stderr


def test_ctrl_c_leaves_no_partial_file(tmp_path):
    real_dataset("ENZYMES")
    process = subprocess.Popen(
        [*COMMAND, "embed", "ENZYMES", "-o", str(tmp_path / "z.csv"), "-r", "50000"],
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(6)
    assert process.poll() is None, "it ended before it could be interrupted"
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=5)
    assert process.returncode == 130
    assert "Traceback" not in shown
    assert shown.endswith("graphmover: interrupted, nothing was written\n")
    assert not list(tmp_path.iterdir())
