"""Tables of edges wherever graphs are expected, and ids of all kinds."""

import datetime
import decimal

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer

import graphmover as gm

pd = pytest.importorskip("pandas")

EDGES = {"graph": ["a", "a", "b"], "source": [1, 2, 1], "target": [2, 3, 2]}
MORE = {"weight": [1.0, 2.0, 3.0], "label": ["x", "y", "x"]}
NODES = {"graph": ["a", "a", "a", "b", "b"], "node": [1, 2, 3, 1, 2], "label": list("CNCOO")}


def tables(columns):
    yield pd.DataFrame(columns)
    pa = pytest.importorskip("pyarrow")
    yield pa.table(columns)


def polars_tables(columns):
    yield pytest.importorskip("polars").DataFrame(columns)


@pytest.mark.parametrize("kind", [tables, polars_tables])
def test_columns_of_the_usual_names_are_used(kind):
    for edges, nodes in zip(kind(EDGES | MORE), kind(NODES), strict=True):
        batch = gm.as_graph_batch((edges, nodes))
        assert batch == gm.from_edge_list(edges, nodes)
        assert batch.ids.tolist() == ["a", "b"]
        assert batch.edge_weights.tolist() == [1, 1, 2, 2, 3, 3]
        assert batch.edge_labels.tolist() == list("xxyyxx")
        assert batch.node_labels.tolist() == list("CNCOO")
        bare = gm.from_edge_list(edges, nodes, edge_weight=None, edge_label=None, node_label=None)
        assert bare == gm.from_edge_list(EDGES, {k: NODES[k] for k in ("graph", "node")})
        alone = gm.as_graph_batch(edges)
        assert alone.node_labels is None and alone.edge_weights is not None


def test_estimators_and_files_take_tables(tmp_path):
    edges, nodes = pd.DataFrame(EDGES | MORE), pd.DataFrame(NODES)
    model = gm.GraphVectorizer(4, random_state=0).fit((edges, nodes))
    assert model.transform((edges, nodes)).shape[0] == 2
    assert gm.write_graphs((edges, nodes), tmp_path / "x.jsonl") == 2
    assert gm.read_graphs(tmp_path / "x.jsonl").ids.tolist() == ["a", "b"]
    assert model.transform_to((edges, nodes), tmp_path / "z.csv")[0] == 2
    assert pd.read_csv(tmp_path / "z.csv")["id"].tolist() == ["a", "b"]


def test_other_tables_are_an_error_that_says_what_is_missing():
    with pytest.raises(TypeError, match="has the columns graph, source and target, or names"):
        gm.as_graph_batch(pd.DataFrame({"from": [1], "to": [2]}))
    with pytest.raises(ValueError, match="edges has no column 'weigth'"):
        gm.from_edge_list(pd.DataFrame(EDGES | MORE), edge_weight="weigth")


def test_a_weight_that_no_float_can_hold():
    with pytest.raises(ValueError, match="edges, row 1: weight is an integer that no float can"):
        gm.from_edge_list(EDGES | {"weight": [1, 10**400, 2]})


def test_dates_are_ids_as_text():
    days = pd.to_datetime(["2020-01-01", "2020-01-01", "2020-01-02"])
    batch = gm.from_edge_list(pd.DataFrame(EDGES).assign(graph=days))
    assert batch.ids.tolist() == ["2020-01-01T00:00:00", "2020-01-02T00:00:00"]
    exact = days + pd.to_timedelta([1, 1, 2], unit="us")
    assert gm.from_edge_list(pd.DataFrame(EDGES).assign(graph=exact)).ids[1].endswith("00.000002")
    moments = [datetime.datetime(2020, 1, 1), datetime.date(2020, 1, 1), np.datetime64("2020-01")]
    batch = gm.as_graph_batch([gm.Graph(1, [])] * 3, ids=moments)
    assert batch.ids.tolist() == ["2020-01-01T00:00:00", "2020-01-01", "2020-01"]


def test_the_index_of_a_series_is_the_ids():
    graphs = [gm.Graph(2, [(0, 1)]), gm.Graph(1, [])]
    assert gm.as_graph_batch(pd.Series(graphs, index=["b", "a"])).ids.tolist() == ["b", "a"]
    assert gm.as_graph_batch(pd.Series(graphs, index=[7, 3])).ids.tolist() == [7, 3]
    assert gm.as_graph_batch(pd.Series(graphs)).ids is None
    assert gm.as_graph_batch(pd.Series(graphs, index=[7, 3]), ids=[1, 2]).ids.tolist() == [1, 2]


def test_an_index_is_as_ids_are(tmp_path):
    graphs = [gm.Graph(2, [(0, 1)]), gm.Graph(1, [])]
    days = pd.to_datetime(["2020-01-01", None])
    for index, ids in (
        (days, ["2020-01-01T00:00:00", None]),
        (["a", None], ["a", None]),
        (pd.Index(["a", pd.NA], dtype="string"), ["a", None]),
        (pd.Index([7, pd.NA], dtype="Int64"), [7, None]),
    ):
        series = pd.Series(graphs, index=index)
        assert gm.as_graph_batch(series).ids.tolist() == ids
        assert gm.as_graph_batch(graphs, ids=list(index)).ids.tolist() == ids
        assert gm.read_graphs(series).ids.tolist() == ids
    for index in ([0.0, 1.0], pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]), [True, False]):
        message = (
            r"graph 0: the id is .*, expected a string or .*index of the Series; .*reset_index"
        )
        for read in (gm.as_graph_batch, gm.read_graphs):
            with pytest.raises(TypeError, match=message):
                read(pd.Series(graphs, index=index))
            assert read(pd.Series(graphs, index=index).reset_index(drop=True)).ids is None


def test_one_is_not_several():
    graph = gm.Graph(2, [(0, 1)])
    assert repr(gm.as_graph_batch([graph])) == "GraphBatch(1 edge over 2 nodes in 1 graph)"
    assert (
        repr(gm.Dataset("x", gm.as_graph_batch([graph]), [1])) == "Dataset('x', 1 graph, 1 class)"
    )


def test_targets_that_are_missing(tmp_path):
    graphs = gm.as_graph_batch([gm.Graph(2, [(0, 1)]), gm.Graph(1, [])])
    for ending in ("jsonl", "parquet"):
        pytest.importorskip("networkx" if ending == "jsonl" else "pyarrow")
        numbers, texts = tmp_path / f"numbers.{ending}", tmp_path / f"texts.{ending}"
        gm.write_graphs(graphs, numbers, target=[1.5, None])
        if ending == "parquet":  # JSON has no NaN
            assert np.isnan(gm.read_graphs(numbers).target[1])
        gm.write_graphs(graphs, texts, target=["a", None])
        with pytest.raises(ValueError, match=r'graph 1.*errors="skip".* is NaN, or None among'):
            gm.read_graphs(texts)
        assert gm.read_graphs(texts, errors="skip").target.tolist() == ["a", None]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_targets_return_from_files_as_they_were(tmp_path, ending):
    pytest.importorskip("networkx" if ending == "jsonl" else "pyarrow")
    graphs = gm.as_graph_batch([gm.Graph(2, [(0, 1)]), gm.Graph(1, [])])
    file = tmp_path / f"graphs.{ending}"
    booleans, integers = np.array([True, False]), np.array([np.int64(3), np.int64(4)], object)
    for target in (booleans, integers, np.column_stack([booleans, booleans]), [1.5, 2]):
        gm.write_graphs(graphs, file, target=target, overwrite=True)
        found = gm.read_graphs(file).target
        assert found.tolist() == np.asarray(target).tolist()
        assert found.dtype == np.array(np.asarray(target).tolist()).dtype
    for target in ([datetime.date(2020, 1, 1)] * 2, [decimal.Decimal(1)] * 2):
        with pytest.raises(TypeError, match=r"graph 0: the target is .*, expected a number in all"):
            gm.write_graphs(graphs, file, target=target, overwrite=True)


def test_one_csv_file_of_edges(tmp_path):
    pytest.importorskip("pyarrow")
    file = tmp_path / "edges-of-all.csv"
    file.write_text(
        "graph,source,target,weight,label,length\n7,a,b,1,x,2\n7,b,c,2,y,3\n8,a,b,1,x,1\n"
    )
    data = gm.read_graphs(file)
    assert data.ids.tolist() == [7, 8]
    assert data.graphs.node_counts.tolist() == [3, 2]
    assert data.graphs.edge_labels.tolist() == list("xxyyxx")
    assert data.graphs.edge_attributes[:, 0].tolist() == [2, 2, 3, 3, 1, 1]
    assert [len(batch) for batch in gm.iter_batches(file, 1)] == [1, 1]
    with pytest.raises(ValueError, match=r"put it into a folder as edges\.csv, with nodes"):
        gm.read_graphs(file, target_column="length")
    file.write_text("graph,source,target,weight\n7,a,b,heavy\n")
    with pytest.raises(ValueError, match=r"line 2: weight is 'heavy', expected a number"):
        gm.read_graphs(file)
    for name, value, expected in (
        ("weight", "-2", r"line 3: weight is '-2', expected .* not negative: take absolute values"),
        ("weight", "inf", "line 3: weight is 'inf', expected a finite number"),
        ("length", "1e999", "line 3: length is '1e999', expected a finite number$"),
    ):
        file.write_text(f"graph,source,target,{name}\n7,a,b,1\n7,b,c,{value}\n")
        with pytest.raises(ValueError, match=expected):
            gm.read_graphs(file)
        folder = tmp_path / f"{name}{value}"
        folder.mkdir()
        (folder / "nodes.csv").write_text("node,graph\na,7\nb,7\nc,7\n")
        (folder / "edges.csv").write_text(f"source,target,{name}\na,b,1\nb,c,{value}\n")
        with pytest.raises(ValueError, match=expected):
            gm.read_graphs(folder)
    file.write_text("graph,source,target,length\n7,a,b,-1\n")
    assert gm.read_graphs(file).graphs.edge_attributes.tolist() == [[-1], [-1]]


@pytest.mark.parametrize("column", ["graph", ["graph"]])
def test_a_column_of_a_data_frame_keeps_its_index(column):
    """As scikit-learn's column transformers pass it: rows of all parts belong together."""
    pd = pytest.importorskip("pandas")
    graphs = gm.make_graph_families(12, random_state=0).graphs
    named = graphs.with_ids([f"m{k}" for k in range(12)])
    table = pd.DataFrame({"graph": list(named), "dose": np.arange(12.0)})
    vectors = gm.GraphVectorizer(4, random_state=0)
    parts = [("graphs", vectors, column), ("dose", "passthrough", ["dose"])]
    together = ColumnTransformer(parts).set_output(transform="pandas").fit_transform(table)
    assert together.index.tolist() == list(range(12))
    assert together["dose__dose"].tolist() == list(range(12))
    alone = gm.GraphVectorizer(4, random_state=0).set_output(transform="pandas")
    assert alone.fit_transform(named).index.tolist() == named.ids.tolist()


def test_a_lazy_frame_is_to_be_collected():
    lazy = pytest.importorskip("polars").LazyFrame({"graph": [0], "source": [0], "target": [1]})
    with pytest.raises(TypeError, match=r"LazyFrame\. Call its method collect\(\) first"):
        gm.as_graph_batch(lazy)
