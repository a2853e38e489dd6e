"""Data sets: checked, sliced, taken apart, and passed where graphs are expected."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

import graphmover as gm


@pytest.fixture
def data():
    graphs = gm.GraphBatch.from_edges(
        [2, 3, 0, 2],
        [1, 2, 0, 1],
        [(0, 1), (0, 1), (1, 2), (1, 0)],
        edge_labels=list("abcd"),
        edge_attributes=[[1.0], [2.0], [3.0], [4.0]],
        ids=["w", "x", "y", "z"],
    )
    return gm.Dataset("four", graphs, np.array([1, 0, 1, 0]), ("no", "yes"))


@pytest.mark.parametrize(
    "key",
    [slice(1, 3), slice(None, None, -2), [3, 0], [], np.array([True, False, False, True])]
    + [(np.array([1, 1]), Ellipsis), slice(10, 20)],
)
def test_slices_keep_all_that_belongs_to_their_graphs(data, key):
    part = data[key]
    places = np.arange(4)[key[0] if isinstance(key, tuple) else key]
    assert isinstance(part, gm.Dataset) and len(part) == len(places) == part.shape[0]
    assert part.target.tolist() == data.target[places].tolist()
    assert part.ids.tolist() == [data.graphs[int(i)].id for i in places]
    assert part.graphs == data.graphs[places]
    assert (part.name, part.target_names) == (data.name, data.target_names)
    assert len(part.edge_labels) == len(part.edge_attributes) == len(part.graphs.indices)


def test_one_graph_and_unpacking(data):
    graph, target = data[-1]
    assert (graph.id, graph.n_nodes, target) == ("z", 2, 0)
    graphs, y = data
    assert graphs is data.graphs and y is data.target
    graphs, y = gm.Dataset("x", data.graphs)[:2]
    assert len(graphs) == 2 and y is None
    assert gm.Dataset("x", data.graphs)[0][1] is None
    with pytest.raises(IndexError):
        data[4]
    with pytest.raises(TypeError):
        data["w"]


def test_repr(data):
    assert repr(data) == "Dataset('four', 4 graphs, 2 classes, ids)"
    plain = gm.Dataset("x", data.graphs.with_ids(None))
    assert repr(plain) == "Dataset('x', 4 graphs, no target)"


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"name": None}, TypeError, "name must be a string, got None"),
        ({"graphs": [gm.Graph(1, [])]}, TypeError, r"type list: make one by gm.as_graph_batch"),
        ({"graphs": None}, TypeError, "graphs must be a GraphBatch, got an object of type NoneTy"),
        ({"target": [1, 2, 3]}, ValueError, r"target has the shape \(3,\), .* each of 4 graphs"),
        ({"target": 5}, ValueError, r"target has the shape \(\), expected a row for each of 4"),
        ({"target": np.zeros((4, 1, 1))}, ValueError, r"target has the shape \(4, 1, 1\)"),
        ({"target": [[1], [1, 2], [1], [1]]}, ValueError, "target has rows of different lengths"),
        ({"target": [1j] * 4}, TypeError, "target is an array of complex128, expected numbers"),
        (
            {"target": [1, 2, 3, date(2020, 1, 1)]},
            TypeError,
            r"graph 3: the target is .*date\(2020",
        ),
        (
            {"target": [Decimal("1.5")] * 4},
            TypeError,
            r"graph 0: the target is Decimal\('1.5'\), e",
        ),
        (
            {"target": [[1, 2]] * 3 + [[3, date(2020, 1, 1)]]},
            TypeError,
            "graph 3: the target is da",
        ),
        ({"target": [1, None, "a", None]}, TypeError, "graph 2: .* 'a', expected a number in all "),
        (
            {"target": ["a", None, 1.5, None]},
            TypeError,
            "graph 2: the target is 1.5, expected a nu",
        ),
        ({"target": [1, "a", 2, 3]}, TypeError, "graph 1: the target is 'a', expected a number in"),
        ({"target": ("a", "b", 1.5, True)}, TypeError, "graph 2: the target is 1.5, expected a nu"),
        ({"target": [["a", 1]] * 4}, TypeError, "graph 0: the target is 1, expected a number in"),
        ({"target": ["a", b"b", "c", "d"]}, TypeError, "graph 1: the target is b'b', expected a n"),
        ({"target": [1, 2, 3, 10**400]}, ValueError, "graph 3: .* 10*, expected .* fits 64 bits"),
        ({"target_names": "ab"}, TypeError, "target_names must be a tuple of strings, got 'ab'"),
        ({"target_names": ["a", 1]}, TypeError, "target_names has 1, expected strings"),
    ],
)
def test_bad_fields(data, fields, error, message):
    given = {"name": "x", "graphs": data.graphs, "target": data.target} | fields
    with pytest.raises(error, match=message):
        gm.Dataset(**given)


def test_lists_become_arrays(data):
    pd = pytest.importorskip("pandas")
    for target in (["a", "b", "a", "c"], pd.Series(["a", "b", "a", "c"])):
        made = gm.Dataset("x", data.graphs, target, ["n", "y"])
        assert made.target.dtype == object and made.target.tolist() == ["a", "b", "a", "c"]
        assert made.target_names == ("n", "y")
    assert gm.Dataset("x", data.graphs, [1.0, 2, 3, 4]).target.dtype == np.float64
    rows = np.empty(4, object)
    rows[:] = [["a", np.nan], ["b", "c"]] * 2
    for target, expected in (
        (["a", float("nan"), np.str_("b"), "c"], ["a", None, "b", "c"]),
        ((np.nan, "a", "b\0", "c"), [None, "a", "b\0", "c"]),
        ([["a", np.nan], ["b", "c"]] * 2, [["a", None], ["b", "c"]] * 2),
        (rows, [["a", None], ["b", "c"]] * 2),
        ([np.array(["a", "b"])] * 4, [["a", "b"]] * 4),
    ):
        made = gm.Dataset("x", data.graphs, target)
        assert made.target.dtype == object and made.target.tolist() == expected


def test_objects_become_numbers_if_they_are(data):
    pd = pytest.importorskip("pandas")

    def made(values):
        objects = np.empty(4, object)
        objects[:] = values
        target = gm.Dataset("x", data.graphs, objects).target
        return target.dtype, target.tolist()

    assert made(list(np.arange(4))) == (np.int64, [0, 1, 2, 3])
    assert made([True, np.False_, True, True]) == (bool, [True, False, True, True])
    assert made([1, 2.5, Fraction(1, 2), np.float32(1)]) == (np.float64, [1, 2.5, 0.5, 1])
    assert made([np.str_("a"), None, float("nan"), pd.NA]) == (object, ["a", None, None, None])
    assert str(made([1, None, float("nan"), pd.NA])) == str((np.dtype(float), [1.0] + [np.nan] * 3))
    assert made([[1, 2], (3, 4), np.array([5, 6]), [7, 8]])[1] == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert made([None] * 4) == (object, [None] * 4)


ESTIMATORS = [
    gm.RandomGraphEmbedding(4, random_state=0),
    gm.RandomGraphDistances(4, random_state=0),
    gm.GraphVectorizer(4, random_state=0),
    gm.GraphSizes(),
]
NAMES = [type(estimator).__name__ for estimator in ESTIMATORS]


@pytest.fixture(scope="module")
def families():
    return gm.make_graph_families(30, random_state=0, min_nodes=10, max_nodes=12)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=NAMES)
def test_a_data_set_stands_for_its_graphs(families, estimator):
    expected = clone(estimator).fit_transform(families.graphs)
    other = gm.Dataset("x", families.graphs, families.target[::-1])
    for data in (families, other):  # whatever the target
        assert (clone(estimator).fit_transform(data) == expected).all()
        assert (clone(estimator).fit(data).transform(data) == expected).all()
    assert gm.as_graph_batch(families) is families.graphs


def test_scikit_learn_takes_data_sets(families):
    train, test = train_test_split(families, test_size=10, random_state=0)
    assert isinstance(train, gm.Dataset) and (len(train), len(test)) == (20, 10)
    model = make_pipeline(gm.RandomGraphEmbedding(8, random_state=0), LogisticRegression())
    scores = cross_val_score(model, families, families.target, cv=2)
    assert (scores == cross_val_score(model, families.graphs, families.target, cv=2)).all()
    grid = {"randomgraphembedding__n_components": [2, 4]}
    assert GridSearchCV(model, grid, cv=2).fit(families, families.target).score(*families) > 0


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=NAMES)
def test_no_graphs_are_no_rows(families, estimator):
    labelled = [gm.Graph(n, [(0, 1)], node_labels=list("abcde")[:n]) for n in (2, 3, 4, 5)]
    for graphs in (families.graphs, gm.as_graph_batch(labelled)):
        fitted = clone(estimator).fit(graphs)
        n_columns = fitted.transform(graphs).shape[1]
        for none in ([], (), iter([]), graphs[:0], gm.Dataset("x", graphs)[:0]):
            assert fitted.transform(none).shape == (0, n_columns)
    pd = pytest.importorskip("pandas")
    table = fitted.set_output(transform="pandas").transform([])
    assert isinstance(table, pd.DataFrame) and table.shape == (0, n_columns)
    with pytest.raises(ValueError, match="no graphs"):
        clone(estimator).fit([])


def test_no_graphs_through_a_pipeline(families):
    halves = make_pipeline(gm.RandomGraphDistances(4, random_state=0), gm.DistanceFeatures())
    assert halves.fit(families).transform([]).shape == (0, 4)
    embedding = gm.RandomGraphEmbedding(4, random_state=0).fit(families)
    assert embedding.distances([]).shape == embedding.transform([]).shape == (0, 4)
    assert embedding.kernel([], families).shape == (0, 30)
    with pytest.raises(ValueError, match="minimum of 1"):
        gm.DistanceFeatures().fit(np.empty((0, 4)))


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_graphs_are_written_with_a_target(tmp_path, families, ending):
    pytest.importorskip("pyarrow")
    pytest.importorskip("networkx")
    names = ["a", "b"] * 15
    sources = [families, families.graphs, list(families.graphs), iter(families.graphs)]
    for number, source in enumerate(sources):
        path = tmp_path / f"{number}.{ending}"
        assert gm.write_graphs(source, path, target=names, batch_size=7) == 30
        back = gm.read_graphs(path)
        assert back.target.tolist() == names and back.graphs == families.graphs
    path = tmp_path / f"x.{ending}"
    for target, message in (
        (names[:-1], "target has 29 rows for 30 graphs or more"),
        (names + names[:1], "target has 31 rows for 30 graphs"),
        (5, r"target has the shape \(\), expected a row for each of the graphs"),
    ):
        with pytest.raises(ValueError, match=message):
            gm.write_graphs(iter(families.graphs), path, target=target, batch_size=7)
    with pytest.raises(ValueError, match=r"target is for graphs in memory: .* by target_column"):
        gm.write_graphs(tmp_path / f"0.{ending}", path, target=names)
    with pytest.raises(ValueError, match="errors='skip': use errors='empty'"):
        gm.write_graphs(families, path, target=names, errors="skip")
    assert not path.exists()


def test_existing_outputs_are_kept(tmp_path, families):
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    gm.write_graphs(families, path)
    before = path.read_bytes()
    message = r"x\.parquet exists: pass overwrite=True to replace it, or name another file"
    with pytest.raises(FileExistsError, match=message):
        gm.write_graphs(families[:3], path)
    embedding = gm.RandomGraphEmbedding(4, random_state=0).fit(families)
    with pytest.raises(FileExistsError, match=message):
        embedding.transform_to(families[:3], path)
    assert path.read_bytes() == before
    assert gm.write_graphs(families[:3], path, overwrite=True) == 3
    assert len(gm.read_graphs(path)) == 3
    assert embedding.transform_to(families, path, overwrite=True) == (30, 4)
