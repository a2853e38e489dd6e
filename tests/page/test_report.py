"""The page as a file: what is in it, and what cannot get out of it."""

import base64
import gzip
import hashlib
import json
import re
from contextlib import nullcontext

import numpy as np
import pytest
from commands import run
from pages import HOSTILE, Elements, hostile_graphs
from real_data import real_dataset

import graphmover as gm
from graphmover.explanations.costs import KINDS
from graphmover.page.packed import json_in_html, packed_arrays

pytest.importorskip("bokeh")
pytest.importorskip("igraph")

TYPES = {"Uint8Array": "u1", "Uint16Array": "<u2", "Uint32Array": "<u4"}
TYPES |= {"Int32Array": "<i4", "Float32Array": "<f4"}


def page_of(data, folder, **options):
    options = {"n_components": 8, "n_folds": 2, "map": "pca"} | options
    made = gm.report(data, folder / "report.html", **options)
    return made, Elements(made.path.read_text())


def arrays_in(page):
    directory = page.json("meta")["arrays"]
    (packed,) = [text for attributes, text in page.scripts if attributes.get("id") == "arrays"]
    content = gzip.decompress(base64.b64decode(packed))
    return {
        name: np.frombuffer(content, TYPES[kind], length, first)
        for name, (kind, first, length) in directory.items()
    }


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    data = gm.make_graph_families(40, random_state=0)
    made, page = page_of(data, tmp_path_factory.mktemp("page"), n_neighbors=3)
    return data, made, page


def test_the_page_holds_the_drawings(families):
    data, made, page = families
    arrays, graphs = arrays_in(page), data.graphs
    assert made.n_graphs == 40 and made.n_bytes == made.path.stat().st_size
    assert (np.diff(arrays["node_offsets"]) == graphs.node_counts).all()
    assert (np.diff(arrays["edge_offsets"]) == graphs.edge_counts).all()
    assert (arrays["sizes"].reshape(-1, 2)[:, 0] == graphs.node_counts).all()
    first = slice(*(2 * arrays["edge_offsets"][5:7]).tolist())
    assert (arrays["edges"][first].reshape(-1, 2) == graphs[5].edges).all()
    assert arrays["positions"].min() == 0 and arrays["positions"].max() == 255


def test_the_page_holds_exact_neighbours_and_their_alignments(families):
    data, _, page = families
    arrays, meta = arrays_in(page), page.json("meta")
    near = gm.NearestGraphs(3, random_state=0).fit(data.graphs)
    distances, indices = near.kneighbors()
    assert (arrays["neighbours"].reshape(-1, 3) == indices).all()
    assert arrays["distances"].reshape(-1, 3) == pytest.approx(distances, rel=1e-6)
    parts = arrays["parts"].reshape(40, 3, len(meta["kinds"]))
    assert set(meta["kinds"]) <= set(KINDS)
    assert parts.sum(axis=2) == pytest.approx(distances, rel=1e-5, abs=1e-7)
    alignment = gm.explain(data.graphs[4], data.graphs[int(indices[4, 1])], near)
    place = slice(*arrays["match_offsets"][13:15].tolist())
    plan = np.zeros((alignment.a.n_nodes, alignment.b.n_nodes))
    plan[alignment.nodes_a, alignment.nodes_b] = alignment.flow
    assert (arrays["matches"][place] == plan.argmax(axis=0)).all()


def test_the_page_tells_how_it_was_made(families):
    data, _, page = families
    text = "".join(page.text)
    for words in (gm.__version__, "n_components=8", "random_state=0", "Seconds", "40 graphs"):
        assert words in text
    meta = page.json("meta")
    names = data.target_names or sorted(set(data.target.tolist()))
    assert sorted(meta["target"]["classes"]) == sorted(map(str, names))
    assert "Accuracy" in text and len(meta["anchors"]) == len(meta["target"]["classes"])
    for group in meta["anchors"]:
        for anchor in group["anchors"]:
            assert max(anchor["nodes"]) < data.graphs.node_counts[anchor["graph"]]


def test_predictions_come_from_other_folds(families):
    page = families[2]
    arrays = arrays_in(page)
    accuracy = (arrays["predicted"] == arrays["target"]).mean()
    assert f"{accuracy:.1%}" in "".join(page.text)
    assert accuracy > 0.4  # of six families


def test_the_same_seed_makes_the_same_page(families, tmp_path):
    data, _, page = families
    _, again = page_of(data, tmp_path, n_neighbors=3)
    arrays = arrays_in(page)
    for name, values in arrays_in(again).items():
        assert (values == arrays[name]).all(), name


def test_nothing_is_loaded_from_elsewhere(families):
    page = families[2]
    for tag, attributes in page.tags:
        assert tag not in ("img", "iframe", "object", "embed", "base", "link")
        assert not {"src", "onclick", "onload", "onerror", "style"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")


def test_only_scripts_of_the_page_may_run(families):
    _, _, page = families
    (policy,) = [a["content"] for tag, a in page.tags if "http-equiv" in a]
    allowed = re.findall(r"'sha256-([^']+)'", policy)
    own = [text for attributes, text in page.scripts if "type" not in attributes]
    found = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in own]
    assert found == allowed and len(found) == 2
    assert "default-src 'none'" in policy and "unsafe-eval" not in policy
    (scripts,) = re.findall(r"script-src ([^;]*);", policy)
    assert "unsafe-inline" not in scripts


def test_hostile_text_stays_text(tmp_path):
    data = hostile_graphs()
    _, page = page_of(data, tmp_path, title=None)
    clean = gm.Dataset("x", data.graphs, np.arange(24) % 3)
    _, other = page_of(clean, tmp_path, overwrite=True)
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in other.tags]
    assert page.json("meta")["ids"] == data.graphs.ids.tolist()
    assert HOSTILE[1] in "".join(page.text)  # the name of the data set is the heading
    source = (tmp_path / "report.html").read_text()
    assert "pwned=1<" not in source


def test_json_in_html_is_json():
    value = {"a": [*HOSTILE, "\u2028", "é", None, 1.5]}
    text = json_in_html(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028") & set(text)
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_in_html(float("nan"))


def test_packed_arrays_are_aligned():
    arrays = {"a": np.arange(3, dtype=np.uint8), "b": np.arange(5, dtype=np.float32)}
    directory, text = packed_arrays(arrays)
    assert directory == {"a": ["Uint8Array", 0, 3], "b": ["Float32Array", 8, 5]}
    assert len(gzip.decompress(base64.b64decode(text))) == 28


def test_regression(tmp_path):
    data = gm.make_graph_families(30, random_state=0)
    y = data.graphs.node_counts + 0.5
    _, page = page_of(data.graphs, tmp_path, y=y)
    text, meta = "".join(page.text), page.json("meta")
    assert "Mean absolute error" in text and "R squared" in text
    assert meta["target"]["least"] == y.min() and len(meta["anchors"]) == 2
    values = [[one["importance"] for one in group["anchors"]] for group in meta["anchors"]]
    assert min(values[0]) > max(values[1])
    assert arrays_in(page)["target"] == pytest.approx(y)
    charts = [a["data-chart"] for a, _ in page.scripts if "data-chart" in a]
    assert charts == ["chart-map", "chart-nodes", "chart-scores", "chart-residuals"]


def test_whole_numbers_are_classes_or_values_as_the_task_says(tmp_path):
    graphs = gm.make_graph_families(40, random_state=0).graphs
    y = 10.0 * np.arange(40)
    words = 'class, 0.0, has 1 graph, expected 2 or more: use more graphs, or task="regression" if'
    with pytest.warns(UserWarning, match=words):
        _, page = page_of(graphs, tmp_path, y=y)
    assert words in "".join(page.text)
    _, page = page_of(graphs, tmp_path, y=y, task="regression", overwrite=True)
    text = "".join(page.text)
    assert "R squared" in text and "task='regression'" in text and "numbers from 0 to 390" in text
    _, page = page_of(graphs, tmp_path, y=np.arange(80)[::2] // 2 % 35, overwrite=True)
    text = "".join(page.text)
    assert "35 classes are too many" in text and 'are values, pass task="regression"' in text
    assert "Target" in text and "numbers from" not in text


def test_large_values_are_written_without_exponents(tmp_path):
    data = gm.make_graph_families(30, random_state=0)
    _, page = page_of(data.graphs, tmp_path, y=1e5 + 1e4 * data.graphs.node_counts)
    assert not re.search(r"\de\+\d", "".join(page.text))


def test_long_names_keep_their_ends():
    from graphmover.page.charts import _distinct

    names = [f"a class with a name that is long {i}" for i in range(3)] + ["", "short"]
    short = _distinct(names)
    assert short[:3] == [f"a class with a nam…ong {i}" for i in range(3)]
    assert short[3:] == ["(empty)", "short"]
    assert _distinct(["x" * 40] * 2) == ["x" * 18 + "…xxxxx", "x" * 18 + "…xxxxx (2)"]


def test_what_is_missing_is_said(tmp_path):
    graphs = gm.make_graph_families(12, random_state=0).graphs
    for y, words in (
        (None, "have no target, so nothing is predicted"),
        (["x"] * 12, "Nothing is predicted: "),
        (np.zeros((12, 2)), "one column at a time"),
        ([1.5] * 11 + [np.nan], r"Nothing is predicted: y\[11\] is nan"),
    ):
        with nullcontext() if y is None else pytest.warns(UserWarning, match=words) as warned:
            made, page = page_of(graphs, tmp_path, y=y, overwrite=True)
        assert y is None or len(warned) == 1
        (note,) = made.notes
        assert re.search(words, note) and note in "".join(page.text)
        assert page.json("meta")["target"] is None and page.json("meta")["anchors"] == []
    _, page = page_of(graphs, tmp_path, y=[0, 1] * 6, n_folds=0, overwrite=True)
    assert "No predictions were asked for" in "".join(page.text)


@pytest.mark.filterwarnings("ignore:all training graphs look the same")
def test_odd_collections(tmp_path):
    lonely, empty = gm.Graph(1, []), gm.Graph(0, [])
    large = gm.Graph(300, [(i, i + 1) for i in range(299)])
    edge = gm.Graph(2, [(0, 1)])
    for graphs in ([lonely], [edge, edge], [edge, empty, large, lonely]):
        _, page = page_of(graphs, tmp_path, overwrite=True)
        assert ("1 graph" if len(graphs) == 1 else f"{len(graphs)} graphs") in page.text
        arrays, meta = arrays_in(page), page.json("meta")
        assert meta["n_graphs"] == len(graphs)
        sizes = [graph.n_nodes for graph in graphs]
        drawn = [size if size <= 200 else 0 for size in sizes]
        assert np.diff(arrays["node_offsets"]).tolist() == drawn
        neighbours = arrays["neighbours"].reshape(len(graphs), -1)
        assert ((neighbours >= 0).sum(axis=1) <= len(graphs) - 1).all()


@pytest.mark.filterwarnings("error:The number of unique classes")
def test_names_of_classes_fit_below_a_confusion_matrix(tmp_path):
    graphs = gm.make_graph_families(24, random_state=0).graphs
    for names, slanted in (
        ([1, 2, 3, 4, 5, 6], False),
        (["inactive", "active"], False),
        (["carcinogenic", "not carcinogenic", "not known"], True),
        (list(range(12)), True),
    ):
        y = (names * 12)[:24]
        _, page = page_of(graphs, tmp_path, y=y, overwrite=True)
        (chart,) = [text for a, text in page.scripts if a.get("data-chart") == "chart-scores"]
        assert ('"major_label_orientation": 0.8' in chart) == slanted, names


def test_molecules_are_all_drawn_alike(tmp_path):
    pytest.importorskip("rdkit")
    _, page = page_of(["CCO", "O", "c1ccccc1", "CC"], tmp_path, n_folds=0)
    assert page.json("meta")["label_names"] == ["", "C", "O"]  # no atomic numbers


def test_rare_classes(tmp_path):
    graphs = gm.make_graph_families(8, random_state=0).graphs
    for y in ([0, 1], [0] * 7 + [1]):
        with pytest.warns(UserWarning, match="Nothing is predicted: "):
            page_of(graphs[: len(y)], tmp_path, y=y, overwrite=True)
    _, page = page_of(graphs, tmp_path, y=[0] * 6 + [1] * 2, n_folds=5, overwrite=True)
    assert len(arrays_in(page)["predicted"]) == 8  # a graph of each class is in every training set


def test_graphs_that_are_too_large_to_draw_have_no_anchors_to_show(tmp_path):
    graphs = [gm.Graph(n, [(i, i + 1) for i in range(n - 1)]) for n in range(201, 213)]
    _, page = page_of(graphs, tmp_path, y=[0, 1] * 6, n_components=4)
    assert page.json("meta")["anchors"] == []
    assert "No random graph that matters comes from a graph that is drawn" in "".join(page.text)


def test_more_graphs_than_a_page_holds_are_sampled(tmp_path):
    data = gm.make_graph_families(30, random_state=0)
    made, page = page_of(data, tmp_path, max_graphs=20)
    assert made.n_graphs == 20 and "20 graphs, a random sample of 30" in "".join(page.text)


def test_wrong_use_is_named(tmp_path):
    graphs = gm.make_graph_families(10, random_state=0).graphs
    path = tmp_path / "report.html"
    for options, message in (
        ({"n_folds": 1}, "n_folds must be 0 or at least 2"),
        ({"n_neighbors": -1}, "n_neighbors must be"),
        ({"task": "ranking"}, "task must be one of auto, classification, regression"),
        ({"map": "umap"}, 'map must be "auto", "tsne" or "pca"'),
        ({"n_components": 0}, "n_components must be"),
        ({"max_graphs": 0}, "max_graphs must be"),
        ({"random_state": -1}, "random_state must be"),
    ):
        with pytest.raises(ValueError, match=message):
            gm.report(graphs, path, **options)
    with pytest.raises(ValueError, match=r"expected a name that ends in \.html"):
        gm.report(graphs, tmp_path / "report.pdf")
    with pytest.raises(ValueError, match="no graph has any nodes"):
        gm.report([gm.Graph(0, [])], path)
    assert not list(tmp_path.iterdir())
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="exists"):
        gm.report(graphs, path)
    assert path.read_text() == "mine"


@pytest.mark.slow
def test_the_command_says_why_nothing_is_predicted(tmp_path):
    source, output = tmp_path / "x.parquet", tmp_path / "x.html"
    graphs = gm.make_graph_families(12, random_state=0).graphs
    gm.write_graphs(graphs, source, target=[1.5] * 11 + [np.nan])
    command = ("report", source, "-o", output, "--components", "4", "--map", "pca")
    done = run(*command)
    assert done.returncode == 0
    assert done.stderr.count("warning: Nothing is predicted: y[11] is nan") == 1
    told = json.loads(run(*command, "--force", "--json").stdout)
    assert len(told["notes"]) == 1 and "y[11] is nan" in told["notes"][0]


@pytest.mark.slow
def test_the_command(tmp_path):
    real_dataset("MUTAG")
    output = tmp_path / "report.html"
    command = ["report", "MUTAG", "-o", str(output), "--components", "16", "--folds", "2"]
    done = run(*command, "--map", "pca", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["graphs"] == 188 and told["bytes"] == output.stat().st_size
    assert told["seed"] == 0
    again = run(*command)
    assert again.returncode == 1 and "--force" in again.stderr
    for wrong in (
        *(["--folds", "1"], ["--map", "umap"], ["-o", "x.pdf"], ["--neighbors", "-1"]),
        ["--task", "ranking"],
    ):
        done = run(*command, *wrong)
        assert done.returncode == 2, done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    done = run("report", str(tmp_path / "nothing.smi"), "-o", str(tmp_path / "new.html"))
    assert done.returncode == 1 and "nothing.smi" in done.stderr
    assert not (tmp_path / "new.html").exists()


@pytest.mark.slow
def test_the_largest_page_is_below_thirty_megabytes():
    """As many graphs, nodes and edges as there may be, in arrays that do not compress."""
    from graphmover.page import charts, drawings, report, sections

    rng = np.random.default_rng(0)
    n_graphs, n_parts = report.MOST_GRAPHS, drawings._MOST_PARTS
    n_nodes = n_edges = n_parts // 2
    arrays = {
        "positions": rng.integers(0, 256, 2 * n_nodes).astype(np.uint8),
        "labels": rng.integers(0, drawings._MOST_LABELS, n_nodes).astype(np.uint16),
        "edges": rng.integers(0, drawings.MOST_NODES, 2 * n_edges).astype(np.uint8),
        "orders": rng.integers(1, 5, n_edges).astype(np.uint8),
        "offsets": np.sort(rng.integers(0, n_nodes, 2 * n_graphs)).astype(np.uint32),
        "matches": rng.integers(0, drawings.MOST_NODES, 5 * n_nodes).astype(np.uint8),
        "match_offsets": np.sort(rng.integers(0, 5 * n_nodes, 5 * n_graphs)).astype(np.uint32),
        "neighbours": rng.integers(0, n_graphs, 5 * n_graphs).astype(np.int32),
        "distances and parts": rng.random((3 * 5 + 5 + 4) * n_graphs).astype(np.float32),
    }
    _, text = packed_arrays(arrays)
    library = sum(map(len, charts.bokeh_library()))
    ids = n_graphs * (sections.ID_CHARACTERS + 4)
    places = 3 * 4 * n_graphs * 4 / 3
    assert len(text) + library + ids + places < 30e6


def test_an_unknown_argument_is_named(tmp_path):
    for wrong, meant in (("components", "n_components"), ("targets_column", "target_column")):
        message = rf"report\(\) got an unexpected argument '{wrong}': did you mean {meant}\?"
        with pytest.raises(TypeError, match=message):
            gm.report([gm.Graph(2, [(0, 1)])], tmp_path / "x.html", **{wrong: 8})
    with pytest.raises(TypeError, match=r"report\(\) got an unexpected argument 'xyz'$"):
        gm.report([gm.Graph(2, [(0, 1)])], tmp_path / "x.html", xyz=8)
