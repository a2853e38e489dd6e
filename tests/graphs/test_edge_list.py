"""Tables of edges and nodes against graphs that a simple loop makes of them."""

import time

import numpy as np
import pytest

import graphmover as gm

pd = pytest.importorskip("pandas")

EDGES = {
    "graph": ["b", "a", "b", "a"],
    "source": ["x", 1, "y", 1],
    "target": ["y", "x", "z", (2, 3)],
    "strength": [1.0, 2.0, 3.0, 4.0],
    "bond": ["s", "d", "s", "s"],
    "length": [0.5, 1.5, 2.5, 3.5],
    "angle": [1, 2, 3, 4],
}
NODES = {
    "graph": ["b", "a", "c", "a", "b", "a", "b"],
    "node": ["z", "x", "x", 1, "x", (2, 3), "y"],
    "atom": ["C", "N", "O", "C", "C", "O", "N"],
    "size": [1, 2, 3, 4, 5, 6, 7],
}
CARRIED = {
    "edge_weight": "strength",
    "edge_label": "bond",
    "edge_attributes": ["length", "angle"],
    "node_label": "atom",
    "node_attributes": "size",
}


def polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def frame(columns):
    return pd.DataFrame({name: pd.Series(list(column)) for name, column in columns.items()})


def plain_names(columns):
    """Tables of typed columns have names of one kind."""
    return {
        name: list(map(str, values)) if name in ("source", "target", "node") else values
        for name, values in columns.items()
    }


def by_a_loop(edges, nodes=None):
    """Return graphs with all that the tables carry, made a row at a time."""
    ids = list(dict.fromkeys([*edges["graph"], *(nodes["graph"] if nodes else [])]))
    graphs = []
    for id in ids:
        rows = [k for k, name in enumerate(edges["graph"]) if name == id]
        listed = [k for k, name in enumerate(nodes["graph"]) if name == id] if nodes else []
        names = [nodes["node"][k] for k in listed] if nodes else []
        if not nodes:
            ends = [edges[end][k] for k in rows for end in ("source", "target")]
            names = list(dict.fromkeys(ends))
        pairs = [[names.index(edges[end][k]) for end in ("source", "target")] for k in rows]
        carried = {}
        if nodes:
            carried = {
                "edge_weights": [edges["strength"][k] for k in rows],
                "edge_labels": [edges["bond"][k] for k in rows],
                "edge_attributes": [[edges["length"][k], edges["angle"][k]] for k in rows]
                or np.empty((0, 2)),
                "node_labels": [nodes["atom"][k] for k in listed],
                "node_attributes": [[nodes["size"][k]] for k in listed],
            }
        graphs.append(gm.Graph(len(names), pairs, id=id, **carried))
    return gm.GraphBatch.concatenate([gm.as_graph_batch(graph) for graph in graphs])


def test_edges_alone():
    batch = gm.from_edge_list(EDGES)
    assert batch.ids.tolist() == ["b", "a"]
    assert batch == by_a_loop(EDGES)
    assert gm.from_edge_list(frame(EDGES)) == batch


@pytest.mark.parametrize("kind", [dict, frame, arrow, polars])
def test_edges_and_nodes_in_any_kind_of_table(kind):
    edges, nodes = plain_names(EDGES), plain_names(NODES)
    batch = gm.from_edge_list(kind(edges), kind(nodes), **CARRIED)
    assert batch == by_a_loop(edges, nodes)
    assert batch.ids.tolist() == ["b", "a", "c"]
    assert batch.node_counts.tolist() == [3, 3, 1]


def test_names_of_nodes_of_any_hashable_kind():
    assert gm.from_edge_list(EDGES, frame(NODES), **CARRIED) == by_a_loop(EDGES, NODES)


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint64", "Int64", "int64[pyarrow]"])
def test_integers(dtype):
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    tops = {"graph": 9, "source": 7, "target": 7}
    table = {name: rng.integers(0, top, 200).tolist() for name, top in tops.items()}
    batch = gm.from_edge_list(pd.DataFrame(table).astype(dtype))
    assert batch == by_a_loop(table)
    assert batch.ids.dtype == np.int64


def test_columns_of_other_names():
    renamed = pd.DataFrame({"molecule": EDGES["graph"], "u": EDGES["source"], "v": EDGES["target"]})
    names = {"graph": "molecule", "source": "u", "target": "v"}
    assert gm.from_edge_list(renamed, **names) == gm.from_edge_list(EDGES)
    nodes = {"molecule": NODES["graph"], "name": NODES["node"]}
    expected = gm.from_edge_list(EDGES, NODES)
    assert gm.from_edge_list(renamed, nodes, node="name", **names) == expected


def test_categories_and_no_rows():
    table = pd.DataFrame(plain_names(EDGES))
    assert gm.from_edge_list(table.astype({"graph": "category"})) == gm.from_edge_list(table)
    assert len(gm.from_edge_list(table.iloc[:0])) == 0
    only_nodes = gm.from_edge_list(table.iloc[:0], {"graph": [7, 7], "node": [1, 2]})
    assert only_nodes.node_counts.tolist() == [2]


def edges_with(name, values):
    return {**EDGES, name: values}


def nodes_with(name, values):
    return {**NODES, name: values}


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        (edges_with("source", ["x", None, "y", 1]), None, "edges, row 1: source is missing"),
        (edges_with("graph", [1, 1, float("nan"), 1]), None, "edges, row 2: graph is missing"),
        (edges_with("target", ["y", "x", [1], 2]), None, r"edges, row 2: target is \[1\], .*hash"),
        (edges_with("target", ["y", "x", (1, []), 2]), None, "edges, row 2: target is .*hashable"),
        (edges_with("strength", [1, 2, -3, 4]), NODES, "edges, row 2: strength is -3.*negative"),
        (edges_with("strength", [1, 2, "3", 4]), NODES, "edges, row 2: strength is '3', .*number"),
        (edges_with("length", [1, np.inf, 1, 1]), NODES, "edges, row 1: length is inf, .*finite"),
        (edges_with("bond", ["s", None, "s", "s"]), NODES, "edges, row 1: bond is missing"),
        (edges_with("target", ["y", "x", "q", 1]), NODES, "edges, row 2: target is 'q', .*nodes"),
        (
            edges_with("graph", ["a", (1,), 1, 1]),
            None,
            r"edges, row 1: graph is \(1,\), expected a ",
        ),
        (
            edges_with("graph", [1.0, 1, 2, 2]),
            None,
            r"edges, row 0: graph is 1.0, .*string or an in",
        ),
        (
            edges_with("graph", np.array([True, False] * 2)),
            None,
            "row 0: graph is True.*astype.str",
        ),
        (edges_with("length", [1.0]), NODES, "edges: length has 1 rows, expected 4"),
        (
            EDGES,
            nodes_with("node", ["z", "x", "x", "x", "x", 1, "y"]),
            "row 3: node is 'x', .*row 1",
        ),
        (EDGES, nodes_with("atom", ["C", "N", None, "C", "C", "O", "N"]), "nodes, row 2: atom"),
        (EDGES, nodes_with("size", [1, 2, "a", 4, 5, 6, 7]), "nodes, row 2: size is 'a', expected"),
        ({"graph": [1]}, None, r"no column 'source'; its columns are \['graph'\]: name"),
        (EDGES, {"node": [1]}, "nodes has no column 'graph'"),
        ([(0, 1)], None, "edges must be a data frame, .* got an object of type list"),
    ],
)
def test_errors_name_the_row(edges, nodes, message):
    with pytest.raises((TypeError, ValueError), match=message):
        gm.from_edge_list(edges, nodes, **(CARRIED if nodes else {}))


def test_numbers_of_graphs_that_pandas_made_floats():
    table = pd.DataFrame(plain_names(EDGES) | {"graph": [1.0, None, 2, 1]}).dropna()
    message = (
        r"edges, row 0: graph is 1\.0, expected .*in pandas by edges\['graph'\]\.astype\(int\)"
    )
    with pytest.raises(TypeError, match=message):
        gm.from_edge_list(table)
    with pytest.raises(TypeError, match=r"row 0: graph is 1\.5, .*\.astype\(str\)"):
        gm.from_edge_list(table.assign(graph=table["graph"] + 0.5))  # int would merge some
    table["graph"] = table["graph"].astype(int)
    assert gm.from_edge_list(table).ids.tolist() == [1, 2]


def test_missing_values_of_nullable_columns_are_named():
    table = pd.DataFrame({"graph": [1, 1], "source": [0, 1], "target": [1, None]})
    with pytest.raises(ValueError, match="edges, row 1: target is missing"):
        gm.from_edge_list(table.astype("Int64"))
    with pytest.raises(ValueError, match="edges, row 1: target is missing"):
        gm.from_edge_list(table)
    with pytest.raises(ValueError, match="edges, row 1: target is missing"):
        gm.from_edge_list(arrow({"graph": [1, 1], "source": [0, 1], "target": [1, None]}))


def test_columns_of_nodes_need_nodes():
    with pytest.raises(ValueError, match="node_label and node_attributes are columns of nodes"):
        gm.from_edge_list(EDGES, node_label="atom")


def test_several_columns_of_one_name():
    table = pd.DataFrame([[0, 1, 2, 3]], columns=["graph", "source", "target", "target"])
    with pytest.raises(ValueError, match="edges has several columns 'target'"):
        gm.from_edge_list(table)


def test_a_table_in_place_of_graphs_gets_a_hint():
    others = {f"my {name}": column for name, column in plain_names(EDGES).items()}
    for table in (frame(others), arrow(others)):
        with pytest.raises(TypeError, match=r"gm\.from_edge_list"):
            gm.as_graph_batch(table)


@pytest.mark.slow
def test_a_million_edges_take_seconds():
    rng = np.random.default_rng(0)
    n = 10**6
    table = {"graph": rng.integers(0, 20_000, n)}
    table |= {end: rng.integers(0, 50, n) for end in ("source", "target")}
    start = time.process_time()
    assert len(gm.from_edge_list(pd.DataFrame(table))) == 20_000
    assert time.process_time() - start < 5  # it is half a second: a loop takes longer


def test_names_of_nodes_as_text_and_as_integers_are_told():
    edges = {"graph": [0], "source": [1], "target": [2]}
    nodes = {"graph": [0, 0], "node": ["1", "2"]}
    message = r"source is 1, which nodes does not list for that graph: names are integers in one t"
    with pytest.raises(ValueError, match=message):
        gm.from_edge_list(edges, nodes)
