"""Graphs that cannot be read: raised, skipped, or emptied, in every format."""

import csv
import itertools
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmover as gm
from graphmover.io.reading import Skipped

nx = pytest.importorskip("networkx")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def model():
    data = gm.make_graph_families(20, random_state=0, min_nodes=10, max_nodes=12)
    return gm.RandomGraphEmbedding(3, random_state=0).fit(data.graphs)


def json_line(n_nodes, **more):
    graph = nx.path_graph(n_nodes)
    graph.graph.update(more)
    return json.dumps(nx.node_link_data(graph, edges="edges"))


def smiles_file(folder):
    pytest.importorskip("rdkit")
    path = folder / "x.smi"
    path.write_text("CCO a\n\nC1CC b\nC\nnonsense\nCC c\n")
    return path, [3, 1, 2], [("b", 3), (None, 5)], [1, 3]


def smiles_table(folder):
    pytest.importorskip("rdkit")
    path = folder / "x.csv"
    path.write_text("id,smiles,target\n1,CCO,0\n2,C1CC,1\n3,C,0\n4,?,1\n5,CC,1\n")
    return path, [3, 1, 2], [(2, 3), (4, 5)], [1, 3]


def json_lines(folder):
    path = folder / "x.jsonl"
    weight = json.loads(json_line(2, id="b"))
    weight["edges"][0]["weight"] = "heavy"
    lines = [json_line(3, id="a"), json.dumps(weight), json_line(1), "{", json_line(2, id="c")]
    path.write_text("\n".join(lines))
    return path, [3, 1, 2], [("b", 2), (None, 4)], [1, 3]


def attributes_of_two_widths(folder):
    path = folder / "y.jsonl"
    lines = []
    for n, width in [(3, 2), (2, 3), (1, 2), (2, 1), (2, 2)]:
        graph = nx.path_graph(n)
        nx.set_node_attributes(graph, [0.5] * width, "attributes")
        lines.append(json.dumps(nx.node_link_data(graph, edges="edges")))
    path.write_text("\n".join(lines))
    return path, [3, 1, 2], [(None, 2), (None, 4)], [1, 3]


def parquet(folder):
    rows = [[[1], [0, 2], [1]], [[7], [0]], [[]], [None, [0]], [[1], [0]]]
    ids = ["a", "b", None, "d", "e"]
    pq.write_table(pa.table({"neighbours": rows, "id": ids}), folder / "x.parquet")
    return folder / "x.parquet", [3, 1, 2], [("b", 1), ("d", 3)], [1, 3]


def graphml(folder):
    folder = folder / "many"
    folder.mkdir()
    for name, n in [("a", 3), ("c", 1), ("e", 2)]:
        nx.write_graphml(nx.path_graph(n), folder / f"{name}.graphml")
    (folder / "b.graphml").write_text("<graphml")
    (folder / "d.graphml").write_text("")
    return folder, [3, 1, 2], [("b", "b.graphml"), ("d", "d.graphml")], [1, 3]


def objects(_):
    bad = nx.Graph([(0, 1, {"weight": -1.0})])
    graphs = [nx.path_graph(3), bad, gm.Graph(1, []), None, nx.path_graph(2)]
    return graphs, [3, 1, 2], [(None, 1), (None, 3)], [1, 3]


def mapping(_):
    graphs, *_ = objects(_)
    return dict(zip("abcde", graphs, strict=True)), [3, 1, 2], [("b", 1), ("d", 3)], [1, 3]


SOURCES = [smiles_file, smiles_table, json_lines, attributes_of_two_widths, parquet, graphml]
SOURCES += [objects, mapping]


@pytest.mark.parametrize("make", SOURCES)
@pytest.mark.parametrize("batch_size", [1, 2, 3, 100])
def test_bad_graphs_are_skipped_or_emptied(tmp_path, make, batch_size):
    source, sizes, bad, places = make(tmp_path)
    if make is attributes_of_two_widths and batch_size < 5:
        pytest.skip("widths are those of a batch")
    with pytest.raises((TypeError, ValueError)):
        list(gm.iter_batches(source, batch_size))
    skipped = []
    parts = list(gm.iter_batches(source, batch_size, errors="skip", skipped=skipped))
    assert [n for part in parts for n in part.graphs.node_counts.tolist()] == sizes
    assert all(len(part.graphs) for part in parts)
    assert [(one.id, one.position) for one in skipped] == bad
    assert all(isinstance(one, Skipped) and one.reason for one in skipped)
    emptied = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parts = list(gm.iter_batches(source, batch_size, errors="empty", skipped=emptied))
    expected = list(sizes)
    for place in places:
        expected.insert(place, 0)
    assert [n for part in parts for n in part.graphs.node_counts.tolist()] == expected
    assert emptied == skipped
    assert max(len(part.graphs) for part in parts) <= batch_size
    ids = [[None] * len(part.graphs) if part.ids is None else part.ids.tolist() for part in parts]
    named = list(itertools.chain.from_iterable(ids))
    assert [named[place] for place in places] == [one.id for one in skipped]


@pytest.mark.parametrize("make", SOURCES)
def test_without_a_list_there_is_one_warning(tmp_path, make):
    source, *_, bad, _ = make(tmp_path)
    message = f"2 graphs could not be read and have been left out .the first: .*{bad[0][1]}, "
    with pytest.warns(UserWarning, match=message) as caught:
        data = gm.read_graphs(source, errors="skip")
    assert len(caught) == 1 and len(data.graphs) == 3
    with pytest.warns(UserWarning, match="replaced by a graph without nodes"):
        assert len(gm.read_graphs(source, errors="empty").graphs) == 5


@pytest.mark.parametrize("make", SOURCES)
def test_a_table_beside_the_output_lists_them(tmp_path, model, make):
    source, *_, bad, _ = make(tmp_path)
    output, table = tmp_path / "z.csv", tmp_path / "z.csv.skipped.csv"
    match = r"2 graphs could not be read and have been left out: see .*z\.csv\.skipped\.csv"
    with pytest.warns(UserWarning, match=match), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="rows without ids no longer line up")
        assert model.transform_to(source, output, errors="skip") == (3, 3)
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["id"], row["position"]) for row in rows] == [
        ("" if id is None else str(id), str(position)) for id, position in bad
    ]
    assert all(row["reason"] and str(tmp_path) not in row["reason"][:20] for row in rows)
    # With the output that is overwritten goes the table of what it lacked.
    model.transform_to([gm.Graph(1, [])], output, overwrite=True)
    assert output.exists() and not table.exists()


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_converting(tmp_path, ending):
    source, sizes, *_ = json_lines(tmp_path)
    for errors, expected in (("skip", sizes), ("empty", [3, 0, 1, 0, 2])):
        output = tmp_path / f"{errors}.{ending}"
        with pytest.warns(UserWarning, match="2 graphs could not be read"):
            assert gm.write_graphs(source, output, errors=errors) == len(expected)
        assert gm.read_graphs(output).graphs.node_counts.tolist() == expected
        assert (tmp_path / f"{errors}.{ending}.skipped.csv").read_text().count("\n") == 3
    with pytest.raises(ValueError, match="line 4: "):
        gm.write_graphs(source, tmp_path / f"z.{ending}")
    assert not list(tmp_path.glob("z*"))


def test_nothing_bad_gives_a_table_without_lines(tmp_path, model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform_to([gm.Graph(1, [])], tmp_path / "z.npy", errors="skip")
    assert (tmp_path / "z.npy.skipped.csv").read_text() == '"position","id","reason"\n'


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.sampled_from(["C", "CCO", "C1CC", "[", "", "N#N"]), max_size=12),
    st.integers(1, 5),
    st.sampled_from(["skip", "empty"]),
)
def test_any_mixture_of_lines(tmp_path_factory, model, lines, batch_size, errors):
    pytest.importorskip("rdkit")
    sizes = {"C": 1, "CCO": 3, "N#N": 2}
    kept = [line for line in lines if line in sizes or (line and errors == "empty")]
    path = tmp_path_factory.mktemp("mixture") / "x.smi"
    path.write_text("\n".join(f"{line} t{i}" if line else "" for i, line in enumerate(lines)))
    skipped = []
    parts = list(gm.iter_batches(path, batch_size, errors=errors, skipped=skipped))
    found = [n for part in parts for n in part.graphs.node_counts.tolist()]
    assert found == [sizes.get(line, 0) for line in kept]
    bad = [(i + 1, f"t{i}") for i, line in enumerate(lines) if line and line not in sizes]
    assert [(one.position, one.id) for one in skipped] == bad
    if kept and errors == "skip":
        output = path.with_suffix(".csv")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.transform_to(path, output, errors=errors, batch_size=batch_size)
        named = [row.split(",")[0] for row in output.read_text().splitlines()[1:]]
        assert named == [f"t{i}" for i, line in enumerate(lines) if line in sizes]


def failing_after(model, n_calls):
    compute, calls = model._features_of_batch, itertools.count()

    def failing(*batch):
        if next(calls) == n_calls:
            raise OSError("the disk is gone")
        return compute(*batch)

    return failing


@pytest.mark.parametrize("errors", ["skip", "empty"])
@pytest.mark.parametrize("make", [json_lines, parquet, graphml, objects])
@pytest.mark.filterwarnings("ignore")
def test_a_resumed_run_has_the_same_rows_and_table(tmp_path, model, make, errors):
    source, *_ = make(tmp_path)
    model.transform_to(source, tmp_path / "whole.csv", errors=errors, batch_size=5)
    output = tmp_path / "z.csv"
    for n_calls in (1, 1, 0):
        model._features_of_batch = failing_after(model, n_calls)
        try:
            with pytest.raises(OSError, match="disk"):
                model.transform_to(source, output, errors=errors, batch_size=1)
        finally:
            del model._features_of_batch
        assert not output.exists() and not (tmp_path / "z.csv.skipped.csv").exists()
        assert (tmp_path / "z.csv.part").is_dir()
    model.transform_to(source, output, errors=errors, batch_size=2)
    for ending in ("", ".skipped.csv"):
        written, expected = (tmp_path / f"{name}.csv{ending}" for name in ("z", "whole"))
        assert written.read_bytes() == expected.read_bytes()
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("batch_size", [1, 2, 9])
def test_targets_of_emptied_graphs_are_missing(tmp_path, model, batch_size):
    path = tmp_path / "x.jsonl"
    lines = ["{", json_line(2, target=1), "{", json_line(3, target=2), json_line(4)]
    path.write_text("\n".join(lines))
    with pytest.warns(UserWarning, match="2 graphs"):
        data = gm.read_graphs(path, errors="empty")
    np.testing.assert_array_equal(data.target, [np.nan, 1, np.nan, 2, np.nan])
    with pytest.warns(UserWarning):
        model.transform_to(path, tmp_path / "z.parquet", errors="empty", batch_size=batch_size)
        model.transform_to(path, tmp_path / "z.jsonl", errors="empty", batch_size=batch_size)
    target = pq.read_table(tmp_path / "z.parquet")["target"].to_numpy()
    np.testing.assert_array_equal(target, [np.nan, 1, np.nan, 2, np.nan])
    written = [json.loads(line) for line in (tmp_path / "z.jsonl").read_text().splitlines()]
    assert [line["target"] for line in written] == [None, 1, None, 2, None]
    path.write_text("\n".join(["{", json_line(2, target="a"), json_line(4)]))
    with pytest.warns(UserWarning, match="1 graph could"):
        assert gm.read_graphs(path, errors="empty").target.tolist() == [None, "a", None]
    with pytest.raises(ValueError, match=r"line 1: not JSON"):
        gm.read_graphs(path)


def test_targets_that_cannot_be_used_are_bad_graphs(tmp_path):
    path = tmp_path / "x.jsonl"
    targets = [1, "text", 2.5, [1, 2], 10**30]
    path.write_text("\n".join(json_line(n, target=t) for n, t in enumerate(targets, 1)))
    skipped = []
    data = gm.read_graphs(path, errors="skip", skipped=skipped)
    assert data.target.tolist() == [1, 2.5] and data.graphs.node_counts.tolist() == [1, 3]
    assert [one.position for one in skipped] == [2, 4, 5]
    assert "has the target 'text', but graph 0 has 1" in skipped[0].reason
    data = gm.read_graphs(path, errors="empty", skipped=[])
    assert data.graphs.node_counts.tolist() == [1, 0, 3, 0, 0]
    path.write_text("\n".join(json_line(n, target=t) for n, t in enumerate([{}, "a", "b"], 1)))
    data = gm.read_graphs(path, errors="empty", skipped=[])
    assert data.target.tolist() == [None, "a", "b"] and data.graphs.node_counts[1] == 2
    table = {"neighbours": [[[]], [[]]], "target": [1, None]}
    pq.write_table(pa.table(table), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="graph 1: the target is null"):
        gm.read_graphs(tmp_path / "x.parquet")
    data = gm.read_graphs(tmp_path / "x.parquet", errors="skip")
    np.testing.assert_array_equal(data.target, [1, np.nan])


def test_bad_arguments(tmp_path, model):
    with pytest.raises(ValueError, match="errors must be one of 'raise', 'skip', 'empty', got 'x'"):
        gm.read_graphs([gm.Graph(1, [])], errors="x")
    with pytest.raises(TypeError, match="skipped must be a list or have append, got 3"):
        gm.iter_batches([gm.Graph(1, [])], errors="skip", skipped=3)
    with pytest.raises(ValueError, match="errors must be one of"):
        model.transform_to([gm.Graph(1, [])], tmp_path / "z.npy", errors="coerce")
    with pytest.raises(ValueError, match=r"x.smi holds no graphs"):
        pytest.importorskip("rdkit")
        (tmp_path / "x.smi").write_text("?\n")
        gm.read_graphs(tmp_path / "x.smi", errors="skip", skipped=[])
    # What is no error about one graph is raised in any case.
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        gm.read_graphs(tmp_path / "x.parquet", errors="skip")


def test_what_is_too_long_is_skipped(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "x.smi").write_text("C\n" + "C" * 100 + "\nCC\n")
    skipped = []
    data = gm.read_graphs(tmp_path / "x.smi", errors="skip", skipped=skipped, max_smiles=50)
    assert data.graphs.node_counts.tolist() == [1, 2]
    assert "a SMILES of 100 characters" in skipped[0].reason


@pytest.mark.slow
def test_molecules_of_the_nci(tmp_path):
    """5,000 lines of RDKit's own, some of which it cannot read."""
    rdkit = pytest.importorskip("rdkit")
    path = Path(rdkit.__file__).parent / "Data" / "NCI" / "first_5K.smi"
    if not path.exists():
        pytest.skip("this RDKit comes without data")
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        lines = [line.split() for line in path.read_text().splitlines()]
        good = [int(title) for smiles, title in lines if Chem.MolFromSmiles(smiles) is not None]
    assert 0 < len(lines) - len(good) < 100
    with pytest.raises(ValueError, match=r"first_5K\.smi, line \d+: RDKit cannot read"):
        gm.read_graphs(path)
    skipped = []
    data = gm.read_graphs(path, errors="skip", skipped=skipped)
    assert data.ids.tolist() == good
    assert {one.id for one in skipped} == {int(title) for _, title in lines} - set(good)


def test_a_row_without_a_smiles_is_bad(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "x.csv").write_text("smiles,id\nCCO,a\n,b\nCCN,c\n")
    with pytest.raises(ValueError, match=r"x.csv, line 3: there is no SMILES"):
        gm.read_graphs(tmp_path / "x.csv")
    with pytest.warns(UserWarning, match="there is no SMILES"):
        graphs = gm.read_graphs(tmp_path / "x.csv", errors="skip").graphs
    assert graphs.ids.tolist() == ["a", "c"]


@pytest.mark.slow
def test_a_file_that_comes_with_rdkit_is_read_but_for_what_rdkit_rejects(tmp_path):
    configuration = pytest.importorskip("rdkit.RDConfig")
    file = Path(configuration.RDDataDir, "NCI", "first_5K.smi")
    if not file.is_file():
        pytest.skip("this build of RDKit comes without its data")
    with pytest.raises(ValueError, match=r'line \d+: RDKit cannot .* pass errors="skip"'):
        gm.read_graphs(file)
    skipped = []
    data = gm.read_graphs(file, errors="skip", skipped=skipped)
    n_lines = sum(bool(line.strip()) for line in file.read_text(encoding="utf-8").splitlines())
    assert 0 < len(skipped) < 50 and len(data) + len(skipped) == n_lines
    assert len(data.ids) == len(data)


@pytest.mark.parametrize(
    ("make", "first"),
    [
        (smiles_file, "the first: line 3, RDKit cannot read"),
        (json_lines, "the first: line 2, "),
        (parquet, "the first: graph 1, "),
        (graphml, r"the first: b\.graphml, "),
        (objects, "the first: graph 1, edge"),
    ],
)
def test_the_first_bad_graph_is_found_by_its_place(tmp_path, make, first):
    source, *_ = make(tmp_path)
    with pytest.warns(UserWarning, match=first):
        gm.read_graphs(source, errors="skip")


def test_the_first_bad_graph_of_several_files(tmp_path):
    pytest.importorskip("rdkit")
    for name, line in (("a", "CC"), ("b", "C1CC")):
        (tmp_path / f"{name}.smi").write_text(f"CCO\n{line}\n")
    with pytest.warns(UserWarning, match=r"the first: b\.smi, line 2, RDKit cannot read"):
        gm.read_graphs(tmp_path / "*.smi", errors="skip")


def test_rows_without_ids_do_not_line_up_with_the_source(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / "mols.csv"
    path.write_text("smiles,compound,price\nCCO,a,1\nC1CC,b,2\nCC,c,3\n")
    model = gm.RandomGraphEmbedding(4, random_state=0).fit(gm.as_graph_batch(["CCO", "CC"]))
    with pytest.warns(UserWarning, match=r"no longer line up|left out: see") as caught:
        model.transform_to(path, tmp_path / "z.npy", errors="skip")
    (message,) = {str(one.message) for one in caught if "line up" in str(one.message)}
    assert 'pass errors="empty"' in message
    assert message.endswith("as in id_column='compound' (there are 'compound', 'price')")
    options = {"overwrite": True, "errors": "skip"}
    with pytest.warns(UserWarning, match=r": see .*skipped\.csv") as caught:
        model.transform_to(path, tmp_path / "z.npy", id_column="compound", **options)
        gm.write_graphs(path, tmp_path / "x.jsonl", errors="empty")
    assert not any("line up" in str(one.message) for one in caught)
