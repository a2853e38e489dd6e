"""The command line as a user runs it: in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
from commands import COMMAND, run
from real_data import real_dataset

import graphmover as gm
from graphmover.cli.demo import _WHY
from graphmover.cli.words import OPTION_OF

pytestmark = pytest.mark.slow

COMMANDS = ["demo", "embed", "fit", "evaluate", "convert", "info", "report", "datasets"]


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
    resource = pytest.importorskip("resource")  # not on Windows

    def seconds_of_children():  # of the processor, which may have other things to do
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    times = []
    for _ in range(5):
        start = seconds_of_children()
        answer = subprocess.run([*COMMAND, "--help"], check=True, capture_output=True, text=True)
        times.append(seconds_of_children() - start)
        for command in COMMANDS:
            assert command in answer.stdout
    assert min(times) < 0.5


def test_version():
    assert run("--version").stdout == f"graphmover {gm.__version__}\n"


def test_python_m_is_the_command_and_usage_names_the_source_plainly():
    command = [sys.executable, "-m", "graphmover"]
    shown = subprocess.check_output([*command, "convert", "--help"], text=True)
    assert "Usage: graphmover convert [OPTIONS] SOURCE OUTPUT" in shown
    assert "Usage: graphmover datasets [OPTIONS] [CONTAINS]" in run("datasets", "--help").stdout


def test_every_parameter_of_the_estimator_has_an_option():
    shown = run("embed", "--help", env={**os.environ, "COLUMNS": "200"}).stdout
    for parameter in gm.RandomGraphEmbedding().get_params():
        if parameter != "verbose":  # --quiet
            assert f"{OPTION_OF[parameter]} " in shown


def test_demo(tmp_path):
    pytest.importorskip("matplotlib")
    answer = run("demo", "--graphs", "120", "-r", "32", "--picture", "p.png", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    rows = [line.split("  ") for line in answer.stdout.splitlines() if "+-" in line]
    table = {row[0]: float(" ".join(row[1:]).split("+-")[0]) for row in rows}
    assert list(table) == [
        "GraphVectorizer + LogisticRegression",
        "majority class",
        "bag of nodes",
        "RGE(RF), D_max = 20, d = 4, R = 32",
        "RGE(ASG), D_max = 20, d = 4, R = 32",
    ]
    assert table["RGE(ASG), D_max = 20, d = 4, R = 32"] > 70
    assert table["GraphVectorizer + LogisticRegression"] > 2 * table["bag of nodes"]
    assert table["bag of nodes"] < 40
    first, *_, last = table.values()
    assert (_WHY in answer.stdout) == (last > first)
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert [file.name for file in tmp_path.iterdir()] == ["p.png"]


def test_demo_without_matplotlib(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    options = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": path}}
    small = ["demo", "--graphs", "60", "-r", "8"]
    answer = run(*small, **options)
    assert answer.returncode == 0, answer.stderr
    assert "RGE(ASG), D_max = 20, d = 4, R = 8" in answer.stdout
    assert "Picture" not in answer.stdout
    assert answer.stderr.endswith(
        "graphmover: no picture drawn: figures need matplotlib: pip install 'graphmover[figures]'\n"
    )
    answer = run(*small, "--picture", "p.png", **options)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith("graphmover: figures need matplotlib")


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


def test_what_is_not_used_is_said(tmp_path):
    graphs = [
        gm.Graph(3, [(0, 1), (1, 2)], node_labels=[1, 1, 2], node_attributes=[[k], [2], [3]])
        for k in range(5)
    ]
    gm.write_graphs(gm.Dataset("x", gm.as_graph_batch(graphs)), tmp_path / "x.jsonl")
    embed = ["embed", "x.jsonl", "-r", "4", "-q", "-o"]
    answer = run(*embed, "v.npy", cwd=tmp_path)
    assert answer.returncode == 0 and "carry" not in answer.stderr  # GraphVectorizer uses all
    answer = run(*embed, "z.npy", "--node-labels", "yes", cwd=tmp_path)
    assert answer.returncode == 0 and answer.stderr.endswith(
        "graphmover: warning: the graphs carry node attributes, which --node-embedding laplacian "
        "does not use: --node-embedding attributes,labels,structure does\n"
    )
    answer = run(*embed, "y.npy", "--node-embedding", "attributes", cwd=tmp_path)
    assert (
        "the graphs carry node labels, which --node-embedding attributes does not" in answer.stderr
    )
    assert 'add "labels" to it, or set --node-labels yes or --node-labels no' in answer.stderr
    answer = run(*embed, "w.npy", "--node-embedding", "attributes,labels,structure", cwd=tmp_path)
    assert answer.returncode == 0 and "carry" not in answer.stderr


def test_embed_takes_features_side_by_side(tu_folder, tmp_path):
    choice = ["--node-embedding", "labels:4,structure", "--smoothing", "2", "-r", "8"]
    model = ["--model", str(tmp_path / "model.npz")]
    first = ["embed", str(tu_folder), "-q", "-o"]
    answer = run(*first, str(tmp_path / "z.npy"), *choice, *model)
    assert answer.returncode == 0, answer.stderr
    graphs = gm.load_dataset(tu_folder).graphs
    same = gm.RandomGraphEmbedding(
        8, node_embedding=[("labels", 4), "structure"], smoothing=2, random_state=0
    )
    assert (np.load(tmp_path / "z.npy") == same.fit_transform(graphs)).all()
    answer = run(*first, str(tmp_path / "again.npy"), *model)
    assert answer.returncode == 0, answer.stderr
    assert (np.load(tmp_path / "again.npy") == np.load(tmp_path / "z.npy")).all()
    answer = run(*first, "-", "--node-embedding", "labels:-1")
    assert answer.returncode == 2
    assert "--node-embedding must be one of laplacian, return-probability" in answer.stderr
    answer = run(*first, "-", "--node-embedding", "attributes", "-r", "8")
    assert answer.returncode == 1
    assert "node_embedding has attributes, but not all graphs have" in answer.stderr


@pytest.mark.parametrize("estimator", [gm.GraphVectorizer, gm.RandomGraphEmbedding])
@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "parquet"])
def test_embed_writes_what_the_library_computes(tu_folder, tmp_path, ending, estimator):
    output = tmp_path / f"z.{ending}"
    # The options select RandomGraphEmbedding, whatever their values.
    chosen = ["--sampling", "anchor"] if estimator is gm.RandomGraphEmbedding else []
    options = ["-r", "8", "--seed", "1", "-q", *chosen]
    answer = run("embed", str(tu_folder), "-o", str(output), *options)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == ""
    assert answer.stderr == ""
    data = gm.load_dataset(tu_folder)
    model = estimator(8, random_state=1)
    expected = model.fit_transform(data.graphs)
    if ending == "npy":
        assert (np.load(output) == expected).all()
    elif ending == "npz":
        assert (np.load(output)["vectors"] == expected).all()
        assert (np.load(output)["target"] == data.target).all()
    elif ending == "parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(output)
        assert (np.array(table["vector"].to_pylist()) == expected).all()
        assert (table["target"].to_numpy() == data.target).all()
    else:
        table = pytest.importorskip("pandas").read_csv(output)
        assert list(table.columns) == [*model.get_feature_names_out(), "target"]
        assert table.to_numpy()[:, :-1] == pytest.approx(expected, rel=1e-15, abs=1e-15)
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
    "code, arguments, message",
    [
        (1, ["embed", "NOSUCH", "-o", "z.npy"], "'NOSUCH'"),
        (1, ["embed", "no.parquet", "-o", "z.npy"], "there is no file no.parquet"),
        (
            1,
            ["info", "no.foo"],
            "no file no.foo, and .foo is not a known extension, expected .parquet, .js",
        ),
        (1, ["info", "x/no.foo"], "there is no file x/no.foo, and .foo is not a known extension"),
        (2, ["embed", "TOY", "-o", "z.xls"], "unknown output format of z.xls"),
        (2, ["embed", "TOY", "-o", "z.npy", "--gamma", "-1"], "--gamma must be a positive number"),
        (
            2,
            ["embed", "TOY", "-o", "z.npy", "--sampling", "uniform", "--node-labels", "yes"],
            "--node-labels yes needs --sampling anchor: uniform",
        ),
        (
            2,
            ["fit", "TOY", "-m", "m.npz", "--sampling", "uniform", "--wl-iterations", "2"],
            "--wl-iterations 2 needs --sampling anchor: uniform",
        ),
        (
            2,
            ["embed", "TOY", "-o", "z.npy", "--max-random-nodes", "all"],
            "--max-random-nodes: must be an integer of at least 1 or \"whole\", got 'all'",
        ),
        (
            2,
            ["embed", "TOY", "-o", "z.npy", "--spread-anchors"],
            "--spread-anchors needs --max-random-nodes whole: whole training graphs",
        ),
        (2, ["embed", "TOY", "-o", "z.npy", "-j", "0"], "'-j': must be an integer other than"),
        (2, ["demo", "-j", "0"], "'-j': must be an integer other than 0"),
        (2, ["fit", "TOY", "-m", "m"], "cannot save a model as m: expected a name that ends in .n"),
        (2, ["embed", "TOY", "-o", "z.npy", "-m", "m"], "cannot save a model as m: expected a na"),
        (2, ["embed", "TOY", "-o", "z.npy", "--sampling", "x"], "'--sampling': 'x' is not one of"),
        (1, ["embed", "TOY", "-o", "z.npy", "--target-column", "y"], "TU data set, whose target"),
        (2, ["info", "TOY", "--max-smiles", "0"], "Invalid value for '--max-smiles'"),
        (1, ["embed", "TOY", "-o", "no/z.npy"], "cannot write no/z.npy: there is no folder no"),
        (1, ["fit", "TOY", "-m", "no/m.npz"], "cannot write no/m.npz: there is no folder no"),
        (2, ["demo", "--picture", "p.xyz"], "p.xyz must end in one of"),
        (2, ["convert", "TOY", "x.xls"], "it must end in .parquet, .jsonl"),
        (1, ["evaluate", "TOY", "--folds", "20"], "expected 20 or more with --folds 20"),
        (1, ["datasets", "nothing-like-it"], "no data set of the collection matches"),
        (1, ["datasets", "MUTGA"], "no data set of the collection matches. Did you mean MUTAG"),
        (1, ["convert", "TOY.zip", "x.jsonl"], "or zip TOY.zip. Did you mean the name TOY?"),
        (2, ["embed", "TOY", "-o", "z.npy", "--gamma", "wide"], "--gamma: must be a positive"),
        (
            2,
            ["embed", "TOY", "-o", "z.npy", "-r", "0"],
            "greater than or equal to 1, got '0'",
        ),
        (
            2,
            ["embed", "TOY", "-o", "z.npy", "-r", "x"],
            "to parse string as an integer, got",
        ),
        (2, ["embed", "TOY", "-o", "-", "--json"], "leave out --json: standard output has the"),
        (2, ["info", "TOY", "-q", "-v"], "-q and -v contradict each other"),
        (2, ["evaluate", "TOY", "--grid", "gamma=1,x"], "gamma must be a positive number, got 'x'"),
        (2, ["evaluate", "TOY", "--grid", "gamma=scale"], "positive number, got 'scale'"),
        (2, ["evaluate", "TOY", "--grid", "seed=1"], "with a NAME of max-random-nodes, dimensions"),
        (2, ["evaluate", "TOY", "--grid", "dimensions=0"], "an integer of at least 1, got '0'"),
        (2, ["evaluate", "TOY", "--method", "EMD", "--grid", "gamma=1"], "leave out --grid: --met"),
        (2, ["embed", "TOY"], "Missing option"),
        (2, ["info"], "Missing argument 'SOURCE'"),
        (2, ["mebed"], "No such command"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(tu_folder, tmp_path, code, arguments, message):
    pytest.importorskip("pyarrow")
    environment = {**os.environ, "GRAPHMOVER_DATA": str(tu_folder.parent)}
    answer = run(*arguments, cwd=tmp_path, env=environment)
    assert answer.returncode == code
    assert message in answer.stderr
    lines = [line for line in answer.stderr.splitlines() if "compiling" not in line]
    assert len(lines) == 1
    assert lines[0].startswith("graphmover: ")
    assert answer.stdout == ""
    assert not list(tmp_path.iterdir())


def test_a_gpu_that_is_not_there_is_one_line(tu_folder, tmp_path):
    (tmp_path / "cupy.py").write_text(
        "class CUDARuntimeError(RuntimeError): pass\n"
        "class runtime: pass\n"
        "class cuda: pass\n"
        "def getDeviceCount(): raise CUDARuntimeError('no CUDA-capable device')\n"
        "cuda.runtime, runtime.CUDARuntimeError = runtime, CUDARuntimeError\n"
        "runtime.getDeviceCount = getDeviceCount\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    answer = run(
        *["embed", str(tu_folder), "-o", str(tmp_path / "z.npy"), "--device", "cuda"],
        env={**os.environ, "PYTHONPATH": path},
    )
    assert answer.returncode == 1
    assert answer.stderr == (
        "graphmover: --device cuda, but no GPU can be used (no CUDA-capable device): use "
        "--device cpu, or --device auto to use a GPU if there is one\n"
    )


def test_a_source_is_never_replaced(tu_folder, tmp_path):
    pytest.importorskip("pyarrow")
    source = tmp_path / "x.parquet"
    gm.write_graphs(gm.load_dataset(tu_folder), source)
    outputs = ["x.parquet", "./x.parquet"]
    if os.name == "posix":  # others need a permission for links
        (tmp_path / "link.parquet").symlink_to(source)
        outputs.append("link.parquet")
    before = source.read_bytes()
    for command in (["convert"], ["embed", "-r", "2", "-o"]):
        for output in outputs:
            answer = run(*command[:1], "x.parquet", *command[1:], output, cwd=tmp_path)
            assert answer.returncode == 1
            assert "it is the source" in answer.stderr
            assert len(answer.stderr.splitlines()) == 1
    assert source.read_bytes() == before
    model = gm.RandomGraphEmbedding(2, random_state=0).fit(gm.read_graphs(source).graphs)
    with pytest.raises(ValueError, match="it is the source"):
        model.transform_to(source, source)


def test_info_of_nothing(tmp_path):
    pytest.importorskip("networkx")
    (tmp_path / "empty.jsonl").touch()
    answer = run("info", "empty.jsonl", cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr == "graphmover: empty.jsonl holds no graphs\n"
    (tmp_path / "no-nodes.jsonl").write_text('{"nodes": [], "edges": []}\n')
    answer = run("info", "no-nodes.jsonl", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "degrees\n" in answer.stdout


def test_debug_shows_where_it_happened(tmp_path):
    for arguments in (["--debug", "info", "no.parquet"], ["info", "no.parquet", "--debug"]):
        answer = run(*arguments, cwd=tmp_path)
        assert answer.returncode == 1
        assert "Traceback" in answer.stderr
        assert "FileNotFoundError" in answer.stderr


def test_the_vectorizer_is_the_default(tu_folder, tmp_path):
    graphs = gm.load_dataset(tu_folder).graphs
    fitted = run("fit", str(tu_folder), "-m", "m.npz", "-q", cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    model = gm.GraphVectorizer.load(tmp_path / "m.npz")
    assert (model.n_components, model.random_state) == (1024, 0)
    expected = gm.GraphVectorizer(random_state=0).fit_transform(graphs)
    for options in (["-m", "m.npz"], ["-m", "new.npz"], []):
        answer = run(
            "embed", str(tu_folder), "-q", "-o", "z.npy", "--force", *options, cwd=tmp_path
        )
        assert answer.returncode == 0, answer.stderr
        assert (np.load(tmp_path / "z.npy") == expected).all()
    assert (gm.GraphVectorizer.load(tmp_path / "new.npz").transform(graphs) == expected).all()
    clash = ["embed", str(tu_folder), "-o", "y.npy", "-m", "m.npz", "--gamma", "1"]
    answer = run(*clash, cwd=tmp_path)
    assert answer.returncode == 2
    assert "leave out --gamma: m.npz is fitted already" in answer.stderr
    # An option at its default is given all the same.
    answer = run("fit", str(tu_folder), "-m", "e.npz", "-q", "--gamma", "scale", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert gm.RandomGraphEmbedding.load(tmp_path / "e.npz").n_components == 256


def test_help_says_which_options_select_the_papers_embedding():
    for command in ("embed", "fit"):
        shown = run(command, "--help", env={**os.environ, "COLUMNS": "200"}).stdout
        assert "Uses GraphVectorizer and everything the graphs carry" in shown
        assert "Any option listed under RandomGraphEmbedding switches to that class" in shown
        assert "1024; 256 with RandomGraphEmbedding" in shown
        general, paper = shown.split("RandomGraphEmbedding (any of these selects it)")
        assert "--device " in general and "--seed " in general
        assert "--node-embedding " in paper and "--sampling " in paper


def test_a_model_is_fitted_once_and_used_again(tu_folder, tmp_path):
    options = ["-r", "8", "--seed", "3", "--wl-iterations", "1", "--quiet"]
    assert run("fit", str(tu_folder), "-m", "m.npz", *options, cwd=tmp_path).returncode == 0
    fitted = gm.RandomGraphEmbedding.load(tmp_path / "m.npz")
    assert (fitted.n_components, fitted.random_state, fitted.wl_iterations_) == (8, 3, 1)
    embed = ["embed", str(tu_folder), "-q"]
    first = run(*embed, "-o", "1.npy", "-m", "m.npz", "--json", cwd=tmp_path)
    values = {"output": "1.npy", "graphs": 30, "features": 8}
    version = {"command": "embed", "version": gm.__version__}
    assert json.loads(first.stdout) == {**version, "seed": 3, **values}  # the model's seed
    second = run(*embed, "-o", "2.npy", "--model", "new.npz", *options, cwd=tmp_path)
    assert second.returncode == 0, second.stderr
    for name in ("1.npy", "2.npy"):
        expected = fitted.transform(gm.load_dataset(tu_folder).graphs)
        assert (np.load(tmp_path / name) == expected).all()
    assert (tmp_path / "new.npz").exists()
    clash = run(*embed, "-o", "3.npy", "--model", "m.npz", "-r", "9", cwd=tmp_path)
    assert clash.returncode == 2
    assert "leave out --components: m.npz is fitted already" in clash.stderr


COUNTING = """
from graphmover.backends.threads import engine
from graphmover.cli import main

exact, n_problems = engine.distances, 0

def counting(x, y, out, ground):
    global n_problems
    n_problems += out.size
    exact(x, y, out, ground)

engine.distances = counting
try:
    main()
finally:
    print(n_problems)
"""


@pytest.mark.parametrize(
    "options, n_problems",
    [
        (["--gamma", "scale"], 240),
        (["--gamma", "3*scale"], 240),
        (["--gamma", "1"], 240),
        (["--gamma", "scale", "--fit-graphs", "10"], 80 + 240),
    ],
)
def test_no_distance_is_computed_twice(tu_folder, tmp_path, options, n_problems):
    options = [*options, "-r", "8", "-j", "1", "--batch-size", "7"]
    command = [sys.executable, "-c", COUNTING, "embed", str(tu_folder), *options]
    counted = subprocess.check_output([*command, "-o", "z.npz"], text=True, cwd=tmp_path)
    assert int(counted) == n_problems
    fitted = run("fit", str(tu_folder), *options[:-2], "-m", "m.npz", cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    data = gm.load_dataset(tu_folder)
    expected = gm.RandomGraphEmbedding.load(tmp_path / "m.npz").transform(data.graphs)
    with np.load(tmp_path / "z.npz") as written:
        assert (written["vectors"] == expected).all()
        assert (written["target"] == data.target).all()


def test_a_large_source_is_sampled_for_fitting(tu_folder, tmp_path):
    answer = run("fit", str(tu_folder), "-m", "m.npz", "--fit-graphs", "10", cwd=tmp_path)
    assert "fitted to 10 of 30 graphs -> m.npz" in answer.stderr


def test_convert_and_info(tu_folder, tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("networkx")
    for source, output in ((tu_folder, "x.parquet"), ("x.parquet", "x.jsonl")):
        answer = run("convert", str(source), output, cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
        assert f"30 graphs -> {output}" in answer.stderr
    expected = gm.load_dataset(tu_folder)
    back = gm.read_graphs(tmp_path / "x.jsonl")
    assert (back.graphs.indices == expected.graphs.indices).all()
    assert (back.target == expected.target).all()
    answers = [run("info", str(file), "--json", cwd=tmp_path) for file in (tu_folder, "x.jsonl")]
    summary, other = (json.loads(answer.stdout) for answer in answers)
    assert summary == other
    assert summary["graphs"] == 30
    assert summary["target"] == {"classes": {"0": 15, "1": 15}}
    assert summary["nodes"] == {"total": 180, "least": 4, "most": 8, "mean": 6.0}
    assert summary["edges"]["total"] == 165
    assert summary["degree_histogram"] == {"1": 30, "2-3": 150}
    shown = run("info", "x.parquet", cwd=tmp_path).stdout
    assert "graphs            30\n" in shown
    assert "edge labels       none\nedge attributes   none\n" in shown
    assert "target            2 classes (0: 15, 1: 15)\n" in shown
    assert re.search(r" 2-3  150   83.3 %  #{40}\n", shown)


def test_info_says_what_the_vectorizer_uses(tu_folder, tmp_path):
    shown = run("info", str(tu_folder)).stdout
    assert "views             labels, counts, structure, shape, sizes\n" in shown
    assert re.search(r"\n  labels          node labels refined \d times, in shares\n", shown)
    assert "\n  sizes           numbers of nodes and edges\n" in shown
    graphs = [
        gm.Graph(3, [(0, 1), (1, 2)], node_attributes=[[k], [2], [3]], edge_weights=[1, 2])
        for k in range(5)
    ]
    gm.write_graphs(gm.Dataset("x", gm.as_graph_batch(graphs)), tmp_path / "x.jsonl")
    views = json.loads(run("info", "x.jsonl", "--json", cwd=tmp_path).stdout)["views"]
    fitted = gm.GraphVectorizer().fit(graphs)
    assert list(views) == [name for name, _ in fitted.views_]
    seen = "node attributes (ranks where tails are heavy), degrees; averaged over neighbours by"
    assert views["attributes"].startswith(seen)
    assert views["labels"].startswith("degrees refined ")


def test_evaluate_the_vectorizer(tu_folder, tmp_path):
    command = ["evaluate", str(tu_folder), "--folds", "3", "-r", "8", "-q"]
    answer = run(*command, "--json")
    assert answer.returncode == 0, answer.stderr
    summary = json.loads(answer.stdout)["summary"]
    names = ["majority class", "bag of nodes", "GraphVectorizer + LogisticRegression"]
    assert [row["method"] for row in summary] == names
    assert summary[-1]["mean"] > 0.8  # cycles and paths
    both = ["--method", "vectorizer", "--method", "RGE(RF)", "--json"]
    answer = run(*command, *both)
    assert answer.returncode == 0, answer.stderr
    several = json.loads(answer.stdout)["summary"]
    assert [row["method"] for row in several] == [*names, "RGE(RF)"]
    assert several[2]["mean"] == summary[2]["mean"]
    assert (several[2]["n_components"], several[3]["n_components"]) == (None, 8)
    vain = run(*command, "--method", "vectorizer", "--gamma", "7")
    assert vain.returncode == 2
    data = gm.load_dataset(tu_folder)
    values = data.graphs.node_counts / 7
    gm.write_graphs(gm.Dataset("sizes", data.graphs, values), tmp_path / "sizes.jsonl")
    answer = run("evaluate", "sizes.jsonl", "--folds", "3", "-q", "-r", "8", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert re.search(r"GraphVectorizer \+ Ridge +0\.9", answer.stdout)


def test_evaluate(tu_folder, tmp_path):
    command = ["evaluate", str(tu_folder), "-r", "16", "--folds", "3", "--repeats", "2", "-q"]
    chosen = ["--sampling", "anchor"]
    answer = run(*command, *chosen, "--json", "--checkpoint", "j.jsonl", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    scores = {score["method"]: score["mean"] for score in found["summary"]}
    assert scores["majority class"] == pytest.approx(0.5)
    assert scores["RGE(ASG)+labels, D_max = 20, d = 4"] > 0.8  # cycles and paths
    assert len(found["folds"]) == 3 * 2 * 3
    assert {row["max_random_nodes"] for row in found["folds"]} == {None, 20}
    shown = run(*command, "--method", "EMD", "--checkpoint", "j.jsonl", cwd=tmp_path).stdout
    assert re.search(r"majority class +50\.0 \+- +0\.0 %", shown)
    assert re.search(r"EMD +\d+\.\d \+- ", shown)
    wrong = run(*command, "--method", "GCN")
    assert wrong.returncode == 2
    assert "'GCN' is not one of vectorizer, RGE(RF)" in wrong.stderr
    vain = run(*command, "--method", "EMD", "--gamma", "7")
    assert vain.returncode == 2
    assert "leave out --gamma: --method has its own hyperparameter grid" in vain.stderr
    other = run(*command, *chosen, "--seed", "1", "--checkpoint", "j.jsonl", cwd=tmp_path)
    assert "j.jsonl is the checkpoint of another evaluation, --seed 0 not --seed 1" in other.stderr


def test_evaluate_values(tmp_path):
    data = gm.make_graph_families(30, random_state=0)
    values = data.graphs.node_counts / 7
    gm.write_graphs(gm.Dataset("sizes", data.graphs, values), tmp_path / "sizes.parquet")
    command = ["evaluate", "sizes.parquet", "-r", "8", "--folds", "3", "-q"]
    shown = run(*command, cwd=tmp_path).stdout
    assert "1 x 3-fold cross-validation; ridge regression predicts" in shown
    assert re.search(r"method +R2 +MAE +RMSE +seconds\n", shown)
    assert re.search(r"mean value +-\d.* \+- ", shown)
    answer = run(*command, "--metric", "rmse", "--json", cwd=tmp_path)
    found = json.loads(answer.stdout)
    assert [row["method"] for row in found["summary"]][:2] == ["mean value", "bag of nodes"]
    assert found["summary"][0]["mean"] > 0
    wrong = run(*command, "--metric", "accuracy", cwd=tmp_path)
    assert "--metric must be among r2, mae, rmse for regression, got 'accuracy'" in wrong.stderr
    wrong = run(*command, "--task", "ranking", cwd=tmp_path)
    assert "'--task': 'ranking' is not one of auto, classification, regression" in wrong.stderr
    assert wrong.returncode == 2
    wrong = run(*command, "--metric", "f1", cwd=tmp_path)
    assert "--metric: 'f1' is not one of accuracy, balanced_accuracy, roc_auc, r2," in wrong.stderr
    assert wrong.returncode == 2


def test_evaluate_rare_classes_and_other_metrics(tmp_path):
    data = gm.make_graph_families(30, random_state=0)
    target = np.r_[2, 2, np.arange(28) % 2]
    gm.write_graphs(gm.Dataset("rare", data.graphs, target), tmp_path / "rare.parquet")
    metrics = ["--metric", "balanced_accuracy", "--metric", "roc_auc"]
    answer = run("evaluate", "rare.parquet", "-r", "8", "--folds", "3", *metrics, cwd=tmp_path)
    assert re.search(r"method +balanced accuracy +ROC AUC +seconds\n", answer.stdout)
    note = "1 of 3 classes have fewer graphs than --folds 3 (2: 2): some test folds lack them"
    assert note in answer.stdout
    assert note in answer.stderr


def test_datasets():
    shown = run("datasets", "mutag").stdout
    assert re.search(r"^MUTAG +molecules +188 +2 +17.9 +19.8  node labels, edge l", shown, re.M)
    found = json.loads(run("datasets", "--category", "social", "--json").stdout)["datasets"]
    assert "COLLAB" in [info["name"] for info in found]
    assert {info["category"] for info in found} == {"social"}


def test_shells_complete_commands_and_options():
    def completed(words, place):
        environment = {"_GRAPHMOVER_COMPLETE": "complete_bash"}
        environment |= {"COMP_WORDS": words, "COMP_CWORD": str(place)}
        return run(env=os.environ | environment).stdout.split()

    assert completed("graphmover e", 1) == ["embed", "evaluate"]
    assert "--wl-iterations" in completed("graphmover embed --w", 2)


def test_a_killed_embed_goes_on(tmp_path):
    pytest.importorskip("pyarrow")
    data = gm.make_graph_families(300, random_state=0)
    gm.write_graphs(data, tmp_path / "x.parquet")
    command = ["embed", "x.parquet", "-r", "150", "--gamma", "1", "--batch-size", "5", "-q", "-o"]
    process = subprocess.Popen([*COMMAND, *command, "z.npy"], cwd=tmp_path)
    progress = tmp_path / "z.npy.part" / "journal.json"
    while not progress.exists():
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.002)
    process.kill()
    process.wait()
    assert not (tmp_path / "z.npy").exists()
    other = run(*command, "z.npy", "--seed", "7", cwd=tmp_path)
    assert other.returncode == 1
    assert re.search(
        "z.npy.part holds .* rows of another model: .* pass --restart to", other.stderr
    )
    for output in ("z.npy", "whole.npy"):
        answer = run(*command, output, cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "z.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert not progress.parent.exists()


def test_a_reader_that_stops_reading_is_no_error(tu_folder):
    command = " ".join([sys.executable, "-c", f"'{COMMAND[-1]}'", "embed", str(tu_folder)])
    answer = subprocess.run(
        f"{command} -q -r 5000 --gamma scale -o - | head -c 10",
        shell=True,
        check=False,
        capture_output=True,
        text=True,
    )
    assert answer.stdout == "randomgrap"
    assert "Error" not in answer.stderr


def test_ctrl_c_stops_at_once_and_the_same_command_goes_on(tmp_path):
    real_dataset("ENZYMES")
    command = ["embed", "ENZYMES", "-r", "20000", "--gamma", "1", "--batch-size", "5", "-o"]
    process = subprocess.Popen(
        [*COMMAND, *command, "z.csv"], stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    progress = tmp_path / "z.csv.part" / "journal.json"
    while not progress.exists():
        assert process.poll() is None, "it ended before it could be interrupted"
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=5)
    assert process.returncode == 130
    assert "Traceback" not in shown
    end = "graphmover: run the same command again to resume\ngraphmover: interrupted\n"
    assert shown.endswith(end)
    assert [file.name for file in tmp_path.iterdir()] == ["z.csv.part"]


def test_labels_alone_on_the_command_line(tu_folder, tmp_path):
    environment = {**os.environ, "GRAPHMOVER_DATA": str(tu_folder.parent)}
    options = "--node-embedding none --wl-iterations 2 --wl-depths all --max-random-nodes whole"
    options += " --spread-anchors --partial --edge-labels auto -r 7 -q"
    answer = run("embed", "TOY", "-o", "z.npy", *options.split(), cwd=tmp_path, env=environment)
    assert answer.returncode == 0, answer.stderr
    expected = gm.RandomGraphEmbedding(
        7,
        node_embedding=None,
        wl_iterations=2,
        wl_depths="all",
        max_random_nodes=None,
        spread_anchors=True,
        partial=True,
        use_edge_labels="auto",
        random_state=0,
    ).fit_transform(gm.load_dataset(tu_folder).graphs)
    assert (np.load(tmp_path / "z.npy") == expected).all()
