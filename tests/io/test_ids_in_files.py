"""Ids from every format, through the batches, to every output."""

import csv
import json
import sys
import tracemalloc

import numpy as np
import pytest
from batches import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmover as gm
from graphmover.io.streaming import Content

nx = pytest.importorskip("networkx")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
IDS = st.one_of(
    *(st.lists(st.none() | values, min_size=1, max_size=8) for values in (TEXTS, NUMBERS))
).filter(lambda ids: ids != [None] * len(ids))
EXTENSIONS = ["csv", "parquet", "npz", "jsonl"]


@pytest.fixture(scope="module")
def model():
    data = gm.make_graph_families(20, random_state=0, min_nodes=10, max_nodes=12)
    return gm.RandomGraphEmbedding(3, random_state=0).fit(data.graphs)


def paths(ids):
    return gm.as_graph_batch([gm.Graph(2 + i % 3, [(0, 1)]) for i in range(len(ids))], ids=ids)


def listed(data):
    return None if data.ids is None else data.ids.tolist()


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "ndjson"])
@settings(max_examples=25, deadline=None)
@given(IDS, st.integers(1, 9))
def test_what_is_written_is_read(tmp_path_factory, ending, ids, batch_size):
    path = tmp_path_factory.mktemp("ids") / f"x.{ending}"
    batch = paths(ids)
    named = next(i for i, value in enumerate(ids) if value is not None)
    gm.write_graphs(batch, path, batch_size=max(batch_size, named + 1))
    assert_same(batch, gm.read_graphs(path).graphs)
    parts = [part.graphs for part in gm.iter_batches(path, batch_size)]
    assert listed(gm.GraphBatch.concatenate(parts)) == ids


@settings(max_examples=10, deadline=None)
@given(ids=IDS, batch_size=st.integers(1, 9))
def test_every_output_has_them(model, tmp_path_factory, ids, batch_size):
    folder = tmp_path_factory.mktemp("outputs")
    data = gm.Dataset("x", paths(ids), np.arange(len(ids)) % 3)
    for extension in EXTENSIONS:
        model.transform_to(data, folder / f"z.{extension}", batch_size=batch_size)
    expected, vectors = data.target.tolist(), model.transform(data.graphs)
    table = pq.read_table(folder / "z.parquet")
    assert table.column_names == ["id", "vector", "target"]
    assert table["id"].to_pylist() == ids and table["target"].to_pylist() == expected
    lines = [json.loads(line) for line in (folder / "z.jsonl").read_text().splitlines()]
    assert [list(line) for line in lines] == [["id", "vector", "target"]] * len(ids)
    assert [line["id"] for line in lines] == ids
    assert [line["vector"] for line in lines] == vectors.tolist()
    shown = ["" if value is None else str(value) for value in ids]
    with (folder / "z.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][0] == "id" and rows[0][-1] == "target"
    assert [row[0] for row in rows[1:]] == shown
    assert np.array([row[1:-1] for row in rows[1:]], float).tolist() == vectors.tolist()
    with np.load(folder / "z.npz") as arrays:
        stripped = [text.rstrip("\0") for text in shown]  # which NumPy does, too
        assert arrays["id"].astype(str).tolist() == stripped
        assert (arrays["vectors"] == vectors).all()


def test_outputs_without_ids_are_as_before(model, tmp_path):
    data = gm.make_graph_families(10, random_state=0, min_nodes=10, max_nodes=12)
    for extension in EXTENSIONS:
        model.transform_to(data, tmp_path / f"z.{extension}")
    assert pq.read_table(tmp_path / "z.parquet").column_names == ["vector", "target"]
    assert list(np.load(tmp_path / "z.npz")) == ["vectors", "target"]
    assert (tmp_path / "z.csv").read_text().startswith("randomgraphembedding0,")
    assert list(json.loads((tmp_path / "z.jsonl").read_text().splitlines()[0])) == [
        "vector",
        "target",
    ]


def test_pandas_joins_by_id(model, tmp_path):
    pd = pytest.importorskip("pandas")
    graphs = paths(["c", "a", "b"])
    model.transform_to(graphs, tmp_path / "z.csv")
    known = pd.DataFrame({"id": ["a", "b", "c"], "mass": [1.0, 2.0, 3.0]})
    joined = pd.read_csv(tmp_path / "z.csv").merge(known, on="id")
    assert joined["mass"].tolist() == [3.0, 1.0, 2.0]


def test_titles_of_smiles(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / "x.smi"
    path.write_text("CCO ethyl  alcohol \nC\nc1ccccc1\tbenzene\n")
    assert listed(gm.read_graphs(path)) == ["ethyl  alcohol", None, "benzene"]
    path.write_text("CCO\nC\n")
    assert listed(gm.read_graphs(path)) is None
    path.write_text("CCO 1\nC 22\nCC\n")
    assert listed(gm.read_graphs(path)) == [1, 22, None]
    path.write_text("CCO 1\nC 02\n")
    assert listed(gm.read_graphs(path)) == ["1", "02"]
    # Whether titles are there, and are numbers, does not depend on the batch.
    path.write_text("C\nC\nC 1\nC two\n")
    assert [listed(part) for part in gm.iter_batches(path, 2)] == [[None, None], ["1", "two"]]
    gm.write_graphs(path, tmp_path / "x.parquet", batch_size=2)
    assert listed(gm.read_graphs(tmp_path / "x.parquet")) == [None, None, "1", "two"]
    with pytest.raises(ValueError, match=r"has no columns, so no id 'name': use a .csv"):
        gm.read_graphs(path, id_column="name")


@pytest.mark.parametrize(
    ("header", "options", "expected"),
    [
        ("name,smiles,y", {}, ["a, b", None]),
        ("Name,smiles,y", {}, ["a, b", None]),
        ("key,smiles,id", {}, [7, 8]),
        ("name,smiles,ID", {}, [7, 8]),
        ("name,smiles,y", {"id_column": "y"}, [7, 8]),
        ("key,smiles,y", {}, None),
        ("name,smiles,y", {"target_column": "name", "errors": "empty"}, None),
        ("name,smiles,name", {}, None),
    ],
)
def test_columns_of_a_table_with_smiles(tmp_path, header, options, expected):
    pytest.importorskip("rdkit")
    (tmp_path / "x.csv").write_text(f'{header}\n"a, b",CCO,7\n,CC,8\n')
    data = gm.read_graphs(tmp_path / "x.csv", **options)
    assert listed(data) == expected
    with pytest.raises(ValueError, match="no column 'z' among"):
        gm.read_graphs(tmp_path / "x.csv", id_column="z")


def test_names_in_csv_tables(tmp_path):
    (tmp_path / "nodes.csv").write_text("node,graph\na,g2\nb,g1\nc,g2\n")
    (tmp_path / "edges.csv").write_text("source,target\na,c\n")
    assert listed(gm.read_graphs(tmp_path)) == ["g2", "g1"]
    with pytest.raises(ValueError, match=r"holds no graphs.csv, .* the column 'key'"):
        gm.read_graphs(tmp_path, id_column="key")
    (tmp_path / "graphs.csv").write_text("graph,key\ng1,5\ng2,\n")
    assert listed(gm.read_graphs(tmp_path)) == ["g1", "g2"]
    assert listed(gm.read_graphs(tmp_path, id_column="key")) == [5, None]
    assert [listed(part) for part in gm.iter_batches(tmp_path, 1)] == [["g1"], ["g2"]]


def test_attributes_in_json_lines(tmp_path):
    graphs = [nx.path_graph(n) for n in (2, 3, 4, 5)]
    values = [{"id": "a"}, {"name": "b"}, {"id": [1], "name": 3}, {}]
    for graph, more in zip(graphs, values, strict=True):
        graph.graph.update(more)
    lines = [json.dumps(nx.node_link_data(graph, edges="edges")) for graph in graphs]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(lines))
    assert listed(gm.read_graphs(path)) == ["a", "b", "3", None]
    path.write_text(lines[1])
    assert listed(gm.read_graphs(path, id_column="name")) == ["b"]
    assert listed(gm.read_graphs(path, target_column="name")) is None
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"x.jsonl, line 1: the graph has no attribute 'name'"):
        gm.read_graphs(path, id_column="name")
    path.write_text(lines[2])
    with pytest.raises(ValueError, match=r"line 1: id is \[1\], expected a string or an integer"):
        gm.read_graphs(path, id_column="id")
    path.write_text(lines[3].replace('"graph": {}', '"graph": {"id": "\\ud800"}'))
    assert "ud800" in path.read_text() and listed(gm.read_graphs(path)) is None


def test_names_of_files_in_a_folder(tmp_path):
    for name in ("g10", "g2"):
        graph = nx.path_graph(3, create_using=nx.Graph)
        graph.graph["name"] = f"the graph {name}"
        nx.write_graphml(graph, tmp_path / f"{name}.graphml")
    assert listed(gm.read_graphs(tmp_path)) == ["g2", "g10"]
    names = ["the graph g2", "the graph g10"]
    assert listed(gm.read_graphs(tmp_path, id_column="name")) == names
    assert listed(gm.read_graphs(tmp_path / "g2.graphml")) == ["the graph g2"]


def test_columns_of_parquet(tmp_path):
    path = tmp_path / "x.parquet"
    columns = {"neighbours": [[[]], [[]]], "name": ["a", "b"], "id": [0.5, 1.5], "key": [3, None]}
    pq.write_table(pa.table(columns), path)
    assert listed(gm.read_graphs(path)) == ["a", "b"]
    assert listed(gm.read_graphs(path, id_column="key")) == [3, None]
    assert listed(gm.read_graphs(path, target_column="name")) is None
    with pytest.raises(TypeError, match=r"x.parquet: .*'id' holds double, expected strings or int"):
        gm.read_graphs(path, id_column="id")
    with pytest.raises(ValueError, match="no column 'z' among"):
        gm.read_graphs(path, id_column="z")
    with pytest.raises(TypeError, match="id_column must be a string or None, got 3"):
        gm.read_graphs(path, id_column=3)
    with pytest.raises(ValueError, match="id_column='z' is for files, got a list"):
        gm.read_graphs([gm.Graph(1, [])], id_column="z")


def test_ids_must_stay_of_one_kind_while_writing(tmp_path):
    mixed = [gm.Graph(1, [], id=1), gm.Graph(1, [], id="a")]
    with pytest.raises(ValueError, match="ids are strings, but those before are integers"):
        gm.write_graphs(mixed, tmp_path / "x.parquet", batch_size=1)
    with pytest.raises(ValueError, match="from graph 1 on, the columns are"):
        gm.write_graphs([gm.Graph(1, []), mixed[0]], tmp_path / "x.parquet", batch_size=1)
    assert not list(tmp_path.iterdir())
    gm.write_graphs(mixed[::-1], tmp_path / "x.parquet", batch_size=1)
    assert listed(gm.read_graphs(tmp_path / "x.parquet")) == ["a", "1"]
    gm.write_graphs(mixed, tmp_path / "x.jsonl", batch_size=1)
    assert listed(gm.read_graphs(tmp_path / "x.jsonl")) == ["1", "a"]


def test_ids_that_begin_late_reach_the_output(model, tmp_path, capsys):
    graphs = [gm.Graph(2, [(0, 1)], id=id) for id in (None, None, 3, "d", None)]
    for size in (1, 2, 5):
        output = tmp_path / f"{size}.csv"
        model.transform_to(graphs, output, batch_size=size)
        assert [line.split(",")[0] for line in output.read_text().splitlines()] == [
            "id",
            "",
            "",
            "3",
            "d",
            "",
        ]
    with pytest.raises(ValueError, match=r"from graph 2 on there are ids, .* write to a file"):
        model.transform_to(graphs, "-", batch_size=1)
    capsys.readouterr()
    model.transform_to(graphs[2:], "-", batch_size=1)
    shown = [line.split(",")[0] for line in capsys.readouterr().out.splitlines()]
    assert shown == ["id", "3", "d", ""]


def test_a_mapping_is_a_source(model, tmp_path):
    graphs = {f"g{i}": gm.Graph(2, [(0, 1)]) for i in range(5)}
    parts = [listed(part) for part in gm.iter_batches(graphs, 3)]
    assert parts == [["g0", "g1", "g2"], ["g3", "g4"]]
    assert gm.write_graphs(graphs, tmp_path / "x.parquet") == 5
    assert model.transform(graphs).shape == (5, 3)


def test_other_ids_are_other_graphs_when_a_run_is_resumed(model, tmp_path):
    def interrupted():
        yield from graphs[:4]
        raise OSError("the disk is gone")

    graphs = [gm.Graph(2 + i, [(0, 1)], id=f"g{i}") for i in range(6)]
    model.transform_to(graphs, tmp_path / "whole.csv")
    output = tmp_path / "z.csv"
    with pytest.raises(OSError, match="disk"):
        model.transform_to(interrupted(), output, batch_size=2)
    others = [gm.Graph(2 + i, [(0, 1)], id=f"h{i}") for i in range(6)]
    with pytest.raises(ValueError, match=r"z.csv.part was started with other graphs"):
        model.transform_to(others, output)
    model.transform_to(graphs, output, batch_size=3)
    assert output.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["whole.csv", "z.csv"]


def test_damaged_ids_of_an_interrupted_run(model, tmp_path):
    def interrupted():
        yield from [gm.Graph(2, [(0, 1)], id=f"g{i}") for i in range(4)]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk"):
        model.transform_to(interrupted(), tmp_path / "z.csv", batch_size=2)
    file = tmp_path / "z.csv.part" / "id.jsonl"
    content = file.read_bytes()
    for damaged in (content[:-3], content.replace(b"g1", b"h1"), b""):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"z.csv.part is damaged \(id.jsonl: .*resume=False"):
            model.transform_to(interrupted(), tmp_path / "z.csv")


def test_the_fingerprint_without_ids_is_what_it_was():
    graphs = paths([None]).with_ids(None)
    content, named, none = Content(), Content(), Content()
    content.add(gm.Dataset("x", graphs))
    named.add(gm.Dataset("x", graphs.with_ids(["a"])))
    none.add(gm.Dataset("x", graphs.with_ids([None])))
    assert content.digest() == named.digest(ids=False) == none.digest(ids=False)
    assert content.digest() != named.digest() != none.digest()


@pytest.mark.slow
def test_one_long_id_does_not_set_the_size_of_all(model, tmp_path):
    """As fixed-width text, these ids would take 40 GB."""
    n = 10_000
    lines = ["C x"] * (n - 1) + ["C " + "y" * 1_000_000]
    pytest.importorskip("rdkit")
    (tmp_path / "x.smi").write_text("\n".join(lines))
    tracemalloc.start()
    data = gm.read_graphs(tmp_path / "x.smi")
    gm.write_graphs(data, tmp_path / "x.parquet")
    again = gm.read_graphs(tmp_path / "x.parquet")
    for extension in ("csv", "jsonl", "parquet"):
        model.transform_to(data.graphs, tmp_path / f"z.{extension}")
    with pytest.warns(UserWarning, match=r"z.npz: ids are left out, .* of 1000000 characters"):
        model.transform_to(data.graphs, tmp_path / "z.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(data.ids[-1]) == 1_000_000 and listed(data) == listed(again)
    assert list(np.load(tmp_path / "z.npz")) == ["vectors"]
    assert peak < 300e6


@pytest.mark.slow
@pytest.mark.parametrize("extension", ["csv", "parquet", "jsonl"])
def test_ids_of_all_graphs_are_never_in_memory_at_once(tmp_path, extension):
    """Ids of 100 characters take 40 MB for 240,000 graphs more."""
    from graphmover.io.streaming import write_rows

    def batches(n_graphs):
        for start in range(0, n_graphs, 5_000):
            ids = [f"{'x' * 100}{i}" for i in range(start, start + 5_000)]
            yield gm.Dataset("x", graph[np.zeros(5_000, int)].with_ids(ids))

    graph, peaks = gm.GraphBatch.from_edges([1], [0], []), []
    for n_graphs in (60_000, 300_000):
        output = tmp_path / f"{n_graphs}.{extension}"
        tracemalloc.start()
        write_rows(
            batches(n_graphs),
            lambda batch, *_: np.ones((len(batch), 1)),
            output,
            names=np.array(["x"]),
            model="m",
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 10e6


ESTIMATORS = [
    gm.RandomGraphEmbedding(4, random_state=0),
    gm.RandomGraphDistances(4, random_state=0),
    gm.GraphVectorizer(4, random_state=0),
    gm.GraphSizes(),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_pandas_output_has_ids_as_its_index(estimator):
    pd = pytest.importorskip("pandas")
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    graphs = gm.make_graph_families(12, random_state=0, min_nodes=10, max_nodes=12).graphs
    ids = [f"g{i}" for i in range(12)]
    plain = clone(estimator).fit_transform(graphs)
    assert isinstance(plain, np.ndarray)
    estimator = clone(estimator).set_output(transform="pandas")
    for table in (estimator.fit_transform(graphs), estimator.transform(graphs)):
        assert isinstance(table.index, pd.RangeIndex)
    named = graphs.with_ids(ids)
    for table in (estimator.fit_transform(named), estimator.transform(named)):
        assert table.index.tolist() == ids and table.index.name == "id"
        assert table.columns.tolist() == estimator.get_feature_names_out().tolist()
        assert (table.to_numpy() == plain).all()
    scaled = make_pipeline(clone(estimator), StandardScaler()).set_output(transform="pandas")
    assert scaled.fit_transform(named[::-1]).index.tolist() == ids[::-1]
    assert estimator.transform(dict(zip(ids, graphs, strict=True))).index.tolist() == ids
    assert isinstance(
        clone(estimator).set_output(transform="default").fit_transform(named), np.ndarray
    )


def test_pandas_output_names_the_extra_that_it_needs(monkeypatch):
    graphs = gm.as_graph_batch([gm.Graph(2, [(0, 1)])], ids=["a"])
    estimator = gm.GraphSizes().set_output(transform="pandas")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas: pip install 'graphmover\[pandas\]'"):
        estimator.transform(graphs)
