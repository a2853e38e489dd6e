"""Files of every format, read through the library that people use for them."""

import json
import subprocess
import sys

import numpy as np
import pytest
from batches import LABELS, assert_same, batch_with, two_way_batch
from hypothesis import given, settings
from hypothesis import strategies as st
from real_data import real_dataset

import graphmover as gm
from graphmover.io.formats import FILES, FOLDERS
from graphmover.io.streaming import Content

nx = pytest.importorskip("networkx")
pytest.importorskip("pyarrow")


@pytest.fixture
def families():
    return gm.make_graph_families(60, random_state=0)


def read(path, **options):
    return gm.read_graphs(path, **options)


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "ndjson"])
@pytest.mark.parametrize("batch_size", [7, 1000])
def test_what_is_written_is_read(families, tmp_path, ending, batch_size):
    path = tmp_path / f"f.{ending}"
    assert gm.write_graphs(families, path, batch_size=batch_size) == 60
    back = read(path)
    assert_same(families.graphs, back.graphs)
    assert (families.target == back.target).all()
    assert back.name == "f"
    if ending == "parquet":
        assert back.target_names == families.target_names
    parts = list(gm.iter_batches(path, 25))
    assert max(len(part.graphs) for part in parts) <= 25
    assert_same(families.graphs, gm.GraphBatch.concatenate([part.graphs for part in parts]))


@pytest.mark.parametrize("kind", [k for k in LABELS if k != "bytes"])
@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_labels_attributes_weights_and_empty_graphs_survive(tmp_path, kind, ending):
    if (kind, ending) == ("float", "jsonl"):
        pytest.skip("JSON has no infinity")
    batch = batch_with(LABELS[kind], [[0.1, -2], [1e-300, 3], [4, 5]], [0.25])
    gm.write_graphs(batch, tmp_path / f"x.{ending}")
    assert_same(batch, read(tmp_path / f"x.{ending}").graphs)


@pytest.mark.parametrize("target", [[0.5, 1.5, -2.0], ["a", "ö", ""], [[1.0, 2.0]] * 3, [3, 4, 5]])
@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_targets_survive(tmp_path, target, ending):
    data = gm.Dataset("x", batch_with(), np.array(target))
    gm.write_graphs(data, tmp_path / f"x.{ending}")
    back = read(tmp_path / f"x.{ending}")
    assert back.target.dtype == (object if isinstance(target[0], str) else data.target.dtype)
    assert (back.target == data.target).all()


@pytest.mark.parametrize("name", ["MUTAG", "Letter-high", "Cuneiform", "Fingerprint"])
@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_tu_sets_survive_with_labels_and_attributes_of_edges(tmp_path, name, ending):
    data = real_dataset(name)
    gm.write_graphs(data, tmp_path / f"x.{ending}", batch_size=100)
    back = read(tmp_path / f"x.{ending}")
    assert_same(data.graphs, back.graphs)
    assert (data.target == back.target).all()


@pytest.mark.parametrize("kind", [k for k in LABELS if k != "bytes"])
@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_edge_labels_of_every_kind_survive(tmp_path, kind, ending):
    batch = gm.GraphBatch.from_edges(
        [2, 0, 3], [1, 0, 2], [(0, 1), (0, 1), (1, 2)], edge_labels=LABELS[kind]
    )
    path = tmp_path / f"x.{ending}"
    if (kind, ending) == ("float", "jsonl"):  # JSON has no infinity
        with pytest.raises(ValueError, match="graph 2: a label or the target cannot be written"):
            gm.write_graphs(batch, path)
        return
    gm.write_graphs(batch, path)
    assert_same(batch, read(path).graphs)


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(2, 6), min_size=1, max_size=6))
def test_edge_values_of_both_directions_survive(tmp_path_factory, ending, seed, sizes):
    rng = np.random.default_rng(seed)
    batch = two_way_batch(rng, sizes, labels=("a", "b"))
    path = tmp_path_factory.mktemp("two-way") / f"x.{ending}"
    gm.write_graphs(batch, path)
    if batch.n_edges:
        assert_same(batch, read(path).graphs)
        parts = [data.graphs for data in gm.iter_batches(path, 1) if data.graphs.n_edges]
        assert_same(batch[batch.edge_counts > 0], gm.GraphBatch.concatenate(parts))


def test_json_is_directed_only_where_directions_differ(tmp_path):
    graphs = [
        gm.Graph(2, [(0, 1)], edge_labels=["same"], edge_attributes=[[0.5]]),
        gm.Graph(1, []),
    ]
    same = gm.as_graph_batch(graphs)
    differing = gm.GraphBatch.from_edges(
        [2], [2], [(0, 1), (1, 0)], edge_labels=["up", "down"], edge_attributes=[[1], [-1]]
    )
    path = tmp_path / "x.jsonl"
    gm.write_graphs(gm.GraphBatch.concatenate([same, differing]), path)
    objects = [json.loads(line) for line in path.read_text().splitlines()]
    assert [data["directed"] for data in objects] == [False, False, True]
    assert objects[0]["edges"] == [{"label": "same", "attributes": [0.5], "source": 0, "target": 1}]
    assert [edge["label"] for edge in objects[2]["edges"]] == ["up", "down"]


def test_edge_values_of_another_part_of_a_file_are_left_out_with_a_warning(tmp_path):
    labelled, plain = nx.Graph([(0, 1, {"label": "x"})]), nx.path_graph(2)
    write_jsonl(tmp_path / "x.jsonl", [labelled] * 10_000 + [plain])
    with pytest.warns(UserWarning, match="graph 10000 has no edge labels while others have"):
        assert read(tmp_path / "x.jsonl").graphs.edge_labels is None
    write_jsonl(tmp_path / "y.jsonl", [plain, nx.Graph([(0, 1, {"label": "x"}), (1, 2)])])
    with pytest.raises(ValueError, match=r"y.jsonl: graph 1: edge \(1, 2\) has no label"):
        read(tmp_path / "y.jsonl")


def test_parquet_of_other_programs_with_edge_values(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = {"neighbours": [[[]], [[1], []]], "edge_labels": [[[]], [["x"], []]]}
    pq.write_table(pa.table(table), tmp_path / "x.parquet")
    with pytest.warns(UserWarning, match="made undirected"):
        graphs = read(tmp_path / "x.parquet").graphs
    assert graphs.edge_labels.tolist() == ["x", "x"]
    table["edge_labels"] = [[[]], [["x", "y"], []]]
    pq.write_table(pa.table(table), tmp_path / "x.parquet")
    message = "x.parquet: graph 1: node 0 has 2 edge_labels, expected one for each of its 1"
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "x.parquet")


def test_a_generator_of_graphs_is_written_as_it_comes(tmp_path):
    graphs = (nx.path_graph(n) for n in range(1, 30))
    assert gm.write_graphs(graphs, tmp_path / "x.parquet", batch_size=4) == 29
    assert read(tmp_path / "x.parquet").graphs.node_counts.tolist() == list(range(1, 30))


def test_one_graph_is_a_source(tmp_path):
    assert gm.write_graphs(nx.path_graph(3), tmp_path / "x.parquet") == 1
    assert read(nx.path_graph(3)).graphs.n_edges == 2
    assert len(read(np.ones((4, 2, 2))).graphs) == 4


def test_labels_must_stay_of_one_kind_while_writing(tmp_path):
    graphs = [gm.Graph(1, [], node_labels=[1]), gm.Graph(1, [], node_labels=["a"])]
    with pytest.raises(ValueError, match="from graph 1 on, the columns are"):
        gm.write_graphs(iter(graphs), tmp_path / "x.parquet", batch_size=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "labels",
    [[None, "x", "y"], ["x", None, "y"], [1, None, 2], [("x", 1), None, "y"], ["x", "y", None]],
)
@pytest.mark.parametrize("carrier", ["node", "edge"])
def test_batches_without_nodes_or_edges_lack_no_labels(tmp_path, labels, carrier):
    graphs = []
    for label in labels:
        n_nodes = 0 if carrier == "node" and label is None else 2
        edges = [] if label is None else [(0, 1)]
        values = [label] * (len(edges) if carrier == "edge" else n_nodes)
        columns = {f"{carrier}_labels": values, f"{carrier}_attributes": [[0.5]] * len(values)}
        graphs.append(gm.Graph(n_nodes, edges, edge_weights=[2] * len(edges), **columns))
    batch = gm.as_graph_batch(graphs)
    gm.write_graphs(batch, tmp_path / "x.parquet", batch_size=1)
    assert_same(batch, read(tmp_path / "x.parquet").graphs)
    if labels[0] is not None:
        gm.write_graphs(iter(graphs), tmp_path / "y.parquet", batch_size=1)
        assert_same(batch, read(tmp_path / "y.parquet").graphs)


def test_labels_that_become_mixed_while_writing_are_not_mistaken_for_text(tmp_path):
    batch = gm.as_graph_batch(
        [gm.Graph(1, [], node_labels=["a"]), gm.Graph(2, [], node_labels=["a", None])]
    )
    with pytest.raises(ValueError, match=r"from graph 1 on, .* node_labels: .* as JSON, expected"):
        gm.write_graphs(batch, tmp_path / "x.parquet", batch_size=1)
    gm.write_graphs(batch[::-1], tmp_path / "x.parquet", batch_size=1)
    assert read(tmp_path / "x.parquet").graphs.node_labels.tolist() == ["a", None, "a"]


def test_another_column_can_be_the_target(tmp_path):
    import pyarrow.parquet as pq

    table = batch_with().to_arrow().append_column("y", [[1.5, 2.5, 3.5]])
    pq.write_table(table, tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet").target is None
    assert read(tmp_path / "x.parquet", target_column="y").target.tolist() == [1.5, 2.5, 3.5]
    with pytest.raises(ValueError, match="no column 'z' among"):
        read(tmp_path / "x.parquet", target_column="z")


def test_graphs_are_counted_from_the_beginning_of_the_file(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [[[1], [0]]] * 30 + [[[7], [0]]]
    pq.write_table(pa.table({"neighbours": rows}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"x.parquet: graph 30: edge \(0, 7\) is out of range"):
        list(gm.iter_batches(tmp_path / "x.parquet", 8))


def write_jsonl(path, graphs, edges="edges"):
    lines = [json.dumps(nx.node_link_data(graph, edges=edges)) for graph in graphs]
    path.write_text("\n".join(lines) + "\n\n")


@pytest.mark.parametrize("edges", ["edges", "links"])
def test_json_lines_of_networkx(tmp_path, edges):
    one = nx.Graph([("a", "b"), ("b", "c")], target=1)
    nx.set_node_attributes(one, {"a": "C", "b": "N", "c": "O"}, "label")
    nx.set_edge_attributes(one, 0.5, "weight")
    two = nx.Graph(target=0)
    two.add_node("z", label="C")
    write_jsonl(tmp_path / "x.jsonl", [one, two], edges)
    data = read(tmp_path / "x.jsonl")
    assert data.graphs[0].edges.tolist() == [[0, 1], [1, 2]]
    assert data.graphs.node_labels.tolist() == ["C", "N", "O", "C"]
    assert data.graphs[0].edge_weights.tolist() == [0.5, 0.5]
    assert data.target.tolist() == [1, 0]


@pytest.mark.parametrize(
    "line, message",
    [
        ("{", "x.jsonl, line 2: not JSON"),
        ("[1, 2]", "x.jsonl, line 2: "),
        ('{"nodes": [{}], "edges": [{"source": 1}]}', "x.jsonl, line 2: "),
        ('{"nodes": 3, "edges": []}', "x.jsonl, line 2: "),
        ("[" * 100_000, "x.jsonl, line 2: "),
        ('{"nodes": [{"id": 0}], "edges": [], "graph": {"target": {}}}', "x.jsonl: graph 1"),
    ],
)
def test_bad_json_lines_are_named(tmp_path, line, message):
    (tmp_path / "x.jsonl").write_text('{"nodes": [], "edges": [], "graph": {"target": 1}}\n' + line)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "x.jsonl")


def labelled_cycle(n):
    graph = nx.cycle_graph(n)
    graph.graph["target"] = n % 2
    nx.set_node_attributes(graph, {node: node % 3 for node in graph}, "label")
    nx.set_edge_attributes(graph, 2.0, "weight")
    nx.set_edge_attributes(graph, {edge: f"bond {edge[0]}" for edge in graph.edges}, "label")
    nx.set_edge_attributes(graph, 1.5, "attributes")
    return graph


def test_a_folder_of_graphml(tmp_path):
    for n in (3, 11, 4):
        nx.write_graphml(labelled_cycle(n), tmp_path / f"graph{n}.graphml")
    data = read(tmp_path)
    assert data.graphs.node_counts.tolist() == [3, 4, 11]
    assert data.target.tolist() == [1, 0, 1]
    assert data.graphs[0].node_labels.tolist() == [0, 1, 2]
    assert data.graphs[0].edge_weights.tolist() == [2.0] * 3
    assert data.graphs[0].edge_labels.tolist() == ["bond 0", "bond 0", "bond 1"]
    assert data.graphs[0].edge_attributes.tolist() == [[1.5]] * 3
    assert read(tmp_path / "graph4.graphml").graphs.n_nodes == 4


def test_a_folder_of_gml(tmp_path):
    for n in (3, 4):
        graph = labelled_cycle(n)
        labels = nx.get_node_attributes(graph, "label")
        nx.set_node_attributes(graph, labels, "node_label")
        nx.write_gml(graph, tmp_path / f"{n}.gml")
    data = read(tmp_path)
    assert data.graphs.node_labels.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert data.target.tolist() == [1, 0]
    assert data.graphs[0].edge_labels.tolist() == ["bond 0", "bond 0", "bond 1"]
    assert data.graphs[0].edge_attributes.tolist() == [[1.5]] * 3
    for n in (3, 4):  # the names of nodes are no labels
        nx.write_gml(nx.cycle_graph(n), tmp_path / f"{n}.gml")
    assert read(tmp_path).graphs.node_labels is None


def test_graphml_that_expands_without_end_is_rejected(tmp_path):
    entities = "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(9))
    bomb = f'<!DOCTYPE x [<!ENTITY a0 "ha">{entities}]><graphml>&a9;</graphml>'
    (tmp_path / "x.graphml").write_text(bomb)
    with pytest.raises(ValueError, match=r"x.graphml cannot be read as graphml"):
        read(tmp_path / "x.graphml")


def write_csv(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)


NODES = "node,graph,label,x,y\nb,1,C,1,2\na,2,N,3,4\nc,1,O,5,6\nd,2,C,7,8\n"
EDGES = "source,target,weight\nd,a,2\nb,c,0.5\n"
LABELLED_EDGES = "source,target,weight,label,length\nd,a,2,x,1.5\nb,c,0.5,y,2\n"


def test_a_folder_of_csv(tmp_path):
    write_csv(tmp_path, nodes=NODES, edges=EDGES)
    data = read(tmp_path)
    assert data.graphs.node_counts.tolist() == [2, 2]
    assert data.graphs.node_labels.tolist() == ["C", "O", "N", "C"]
    assert data.graphs.node_attributes.tolist() == [[1, 2], [5, 6], [3, 4], [7, 8]]
    assert [g.edge_weights.tolist() for g in data.graphs] == [[0.5], [2.0]]
    write_csv(tmp_path, graphs="graph,target,year\n2,yes,1999\n3,no,2000\n1,no,2001\n")
    data = read(tmp_path)
    assert data.graphs.node_counts.tolist() == [2, 0, 2]
    assert data.graphs.node_labels.tolist() == ["N", "C", "C", "O"]
    assert data.target.tolist() == ["yes", "no", "no"]
    assert read(tmp_path, target_column="year").target.tolist() == [1999, 2000, 2001]
    assert [len(part.graphs) for part in gm.iter_batches(tmp_path, 2)] == [2, 1]


def test_edges_of_a_csv_have_labels_and_attributes(tmp_path):
    edges = "label,source,length,target,weight,angle\nII,d,1.5,a,2,0\nI,b,2.5,c,0.5,90\n"
    write_csv(tmp_path, nodes=NODES, edges=edges + "III,c,3.5,b,0.25,45\n")
    data = read(tmp_path)
    assert data.graphs.edge_labels.tolist() == ["I", "III", "II", "II"]
    assert data.graphs.edge_attributes.tolist() == [[2.5, 90], [3.5, 45], [1.5, 0], [1.5, 0]]
    assert data.graphs.edge_weights.tolist() == [0.5, 0.5, 2, 2]
    write_csv(tmp_path, edges="source,target,label\nd,a,1\nb,c,2\n")
    labels = read(tmp_path).graphs.edge_labels
    assert labels.dtype == np.int64 and labels.tolist() == [2, 2, 1, 1]
    assert read(tmp_path).graphs.edge_attributes is None
    write_csv(tmp_path, edges="source,target,label,length\n")
    assert read(tmp_path).graphs.edge_attributes.shape == (0, 1)


@pytest.mark.parametrize(
    "files, message",
    [
        (
            {"nodes": NODES, "edges": "source,target,label\nd,a,3\nb,c,1\nb,c,\n"},
            "edges.csv, line 4: the column label is empty",
        ),
        (
            {"nodes": NODES, "edges": "source,target,length\nd,a,1\nb,c,far\n"},
            "edges.csv, line 3: length is 'far', expected a number",
        ),
        (
            {"nodes": NODES, "edges": "source,target,length\nd,a,1\nb,c,inf\n"},
            "edges.csv, line 3: length is 'inf', expected a finite number",
        ),
        (
            {"nodes": NODES.replace("node", "knot"), "edges": EDGES},
            "there is no column 'node' among",
        ),
        (
            {"nodes": NODES.replace("x,y", "node,y"), "edges": EDGES},
            "nodes.csv: there are several columns 'node' among",
        ),
        ({"nodes": NODES, "edges": EDGES + "b,q,1\n"}, "edges.csv, line 4: 'q' is not in"),
        ({"nodes": NODES, "edges": EDGES + "b,a,1\n"}, "edges.csv, line 4: the edge joins two"),
        ({"nodes": NODES, "edges": EDGES + "b,c,x\n"}, "edges.csv, line 4: weight is 'x', expec"),
        ({"nodes": NODES, "edges": EDGES + "b,c,nan\n"}, "line 4: weight is empty or NaN, exp"),
        ({"nodes": NODES, "edges": EDGES + "b,c\n"}, "edges.csv cannot be read as CSV"),
        (
            {"nodes": NODES + "c,2,N,1,1\n", "edges": EDGES},
            "nodes.csv, line 6: 'c' is in an earlier",
        ),
        ({"nodes": NODES + "e,2,N,,1\n", "edges": EDGES}, "nodes.csv, line 6: x is empty or NaN"),
        ({"nodes": NODES, "edges": EDGES, "graphs": "graph\n1\n"}, "line 3: '2' is not in"),
        ({"edges": EDGES}, "holds no file nodes.csv"),
    ],
)
def test_bad_csv_is_named(tmp_path, files, message):
    write_csv(tmp_path, **files)
    with pytest.raises(ValueError, match=message):
        read(tmp_path)


def test_a_table_of_a_folder_is_not_the_folder(tmp_path):
    write_csv(tmp_path, nodes=NODES, edges=EDGES, graphs="graph\n1\n2\n")
    for name in ("nodes.csv", "edges.csv", "graphs.csv"):
        with pytest.raises(ValueError, match=f"{name} is one of several .* folder, {tmp_path}$"):
            read(tmp_path / name)
    with pytest.raises(ValueError, match="no column 'y' among"):
        read(tmp_path, target_column="y")


def test_what_is_there_and_of_no_known_format_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("graphs.json", "x.npz", "noending"):
        (tmp_path / name).write_bytes(b"PK\x03\x04")
        for source in (name, f"./{name}", tmp_path / name):
            with pytest.raises(ValueError, match=f"tell the format of .*{name}: .* expected .parq"):
                read(source)
        (tmp_path / name).unlink()
    for source in ("graphs.json", "./x.npz", tmp_path / "x.npz"):
        with pytest.raises(
            FileNotFoundError, match=r"no file .*, and \.\w+ is not a known extension, exp"
        ):
            read(source)
    (tmp_path / "empty").mkdir()
    for source in ("empty", tmp_path / "empty"):
        with pytest.raises(ValueError, match=r"the folder .*empty holds no edges.csv, \*.graphml"):
            read(source)


def test_a_name_stays_one_beside_a_folder_of_that_name(tmp_path, monkeypatch):
    data = real_dataset("MUTAG")
    (tmp_path / "MUTAG").mkdir()
    monkeypatch.chdir(tmp_path)
    assert len(read("MUTAG").graphs) == len(data.graphs)


def test_smiles(tmp_path):
    Chem = pytest.importorskip("rdkit.Chem")
    (tmp_path / "x.smi").write_text("CCO ethanol\n\nc1ccccc1\tbenzene\n[Na+].[Cl-]\n")
    data = read(tmp_path / "x.smi")
    assert data.graphs.node_counts.tolist() == [3, 6, 2]
    assert data.graphs.edge_counts.tolist() == [2, 6, 0]
    assert data.graphs.node_labels.tolist() == [6, 6, 8, *[6] * 6, 11, 17]
    molecule = Chem.MolFromSmiles("CC(C)Cc1ccc(cc1)C(C)C(=O)O")
    (tmp_path / "y.smi").write_text(Chem.MolToSmiles(molecule))
    graph = read(tmp_path / "y.smi").graphs[0]
    ours = nx.from_scipy_sparse_array(graph.to_scipy())
    theirs = nx.from_numpy_array(Chem.GetAdjacencyMatrix(molecule))
    assert nx.is_isomorphic(ours, theirs)
    (tmp_path / "z.smi").write_text("C\nC1CC\n")
    with pytest.raises(ValueError, match=r"z.smi, line 2: RDKit cannot read the SMILES 'C1CC'"):
        read(tmp_path / "z.smi")


def test_bonds_are_edge_labels(tmp_path):
    pytest.importorskip("rdkit")
    lines = ["CC", "C=C", "C#C", "c1ccccc1", "[W]$[W]", "N->[Fe]", "C", "CC(=O)C#N"]
    (tmp_path / "x.smi").write_text("\n".join(lines))
    graphs = read(tmp_path / "x.smi").graphs
    labels = [sorted({int(label) for label in graph.edge_labels}) for graph in graphs]
    assert labels == [[1], [2], [3], [4], [5], [0], [], [1, 2, 3]]
    assert graphs.edge_labels.dtype == np.int64
    one_by_one = [batch.graphs for batch in gm.iter_batches(tmp_path / "x.smi", 1)]
    assert_same(gm.GraphBatch.concatenate(one_by_one), graphs)
    ketone = graphs[7]
    found = dict(zip(map(tuple, ketone.edges.tolist()), ketone.edge_labels, strict=True))
    assert found == {(0, 1): 1, (1, 2): 2, (1, 3): 1, (3, 4): 3}
    # Without them the content is what it was before bonds had labels, as evaluations compare it.
    data = gm.read_graphs(tmp_path / "x.smi")
    plain = gm.GraphBatch(graphs.offsets, graphs.indptr, graphs.indices, None, graphs.node_labels)
    digests = []
    for batch in (graphs, plain):
        content = Content()
        content.add(gm.Dataset("x", batch, data.target))
        digests.append((content.digest(edge_data=False), content.digest()))
    assert digests[0][0] == digests[1][0]
    assert digests[0][1] != digests[1][1]


def test_a_table_with_smiles(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / "x.csv"
    path.write_text('name,SMILES,solubility\n"a, b",CCO,-0.5\nc,CC,1\n')
    assert read(path).target is None
    assert read(path, target_column="solubility").target.tolist() == [-0.5, 1.0]
    with pytest.raises(ValueError, match="no column 'y' among"):
        read(path, target_column="y")
    path.write_text("smiles,target\nC,1\nC,\n")
    with pytest.raises(ValueError, match=r"x.csv: graph 1 has no target while others have"):
        read(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="no column 'smiles' among"):
        read(path)


@pytest.mark.parametrize("ending", FILES)
def test_a_missing_or_empty_file_is_named(tmp_path, ending):
    with pytest.raises(FileNotFoundError, match=f"no file .*x{ending}"):
        read(tmp_path / f"x{ending}")
    (tmp_path / f"x{ending}").write_bytes(b"")
    with pytest.raises(ValueError, match=f"x{ending}"):
        read(tmp_path / f"x{ending}")


def test_other_sources_and_arguments_are_rejected(tmp_path, families):
    with pytest.raises(ValueError, match=r"it must end in .parquet, .jsonl"):
        gm.write_graphs(families, tmp_path / "x.xls")
    with pytest.raises(TypeError, match="type int, expected a path"):
        list(gm.iter_batches(3))
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        gm.iter_batches(families, 0)
    with pytest.raises(ValueError, match="target_column='y' is for files, got"):
        gm.iter_batches(families, target_column="y")
    with pytest.raises(TypeError, match="graphs: graph 11: got an object of type int"):
        list(gm.iter_batches([gm.Graph(1, [])] * 11 + [3], 10))
    assert FOLDERS  # the visible tables


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
NODE = st.fixed_dictionaries(
    {"id": VALUES}, optional={"label": VALUES, "attributes": VALUES, "weight": VALUES}
)
EDGE = st.fixed_dictionaries(
    {"source": st.integers(0, 3), "target": st.integers(0, 3)},
    optional={"weight": VALUES, "label": VALUES, "attributes": VALUES},
)
NODE_LINK = st.fixed_dictionaries(
    {"nodes": st.lists(NODE, max_size=4) | VALUES, "edges": st.lists(EDGE, max_size=4) | VALUES},
    optional={
        "graph": st.fixed_dictionaries({"target": VALUES}) | VALUES,
        "directed": VALUES,
        "multigraph": VALUES,
    },
)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=150, deadline=None)
@given(st.lists(NODE_LINK | VALUES, max_size=3))
def test_made_up_json_is_read_or_rejected(tmp_path_factory, objects):
    path = tmp_path_factory.mktemp("json") / "x.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in objects))
    try:
        data = read(path)
    except (TypeError, ValueError) as error:
        assert "x.jsonl" in str(error)
    else:
        assert len(data.graphs) == len(objects)


FUZZ = """
import random, resource, sys, time, warnings
from pathlib import Path
import graphmover as gm
resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, 3 * 10**9))
warnings.simplefilter("ignore")
rng = random.Random(0)
for path in map(Path, sys.argv[2:]):
    content = path.read_bytes()
    in_tables = path.parent.name == "tables"
    bent = path if in_tables else path.with_name("bent" + path.suffix)
    source, named = (path.parent, "tables") if in_tables else (bent, "bent")
    for number in range(int(sys.argv[1])):
        data = bytearray(content)
        if number % 4 == 0:
            del data[rng.randrange(len(data)):]
        elif number % 4 == 1:
            at = rng.randrange(len(data))
            data[at:at] = rng.randbytes(rng.randrange(1, 30))
        else:
            for _ in range(rng.choice([1, 1, 2, 5, 20])):
                data[rng.randrange(len(data))] = rng.randrange(256)
        bent.write_bytes(data)
        start = time.perf_counter()
        try:
            gm.read_graphs(source)
        except (TypeError, ValueError) as error:
            assert named in str(error), error
        assert time.perf_counter() - start < 5
    bent.write_bytes(content)
print("survived")
"""


@pytest.mark.slow
def test_bent_files_neither_crash_nor_hang_nor_fill_memory(tmp_path):
    graphs = gm.make_graph_families(20, random_state=0, min_nodes=10, max_nodes=12).graphs
    graphs = gm.GraphBatch.from_edges(
        graphs.node_counts,
        graphs.edge_counts,
        np.concatenate([graph.edges for graph in graphs]),
        node_labels=["C", "N"] * (graphs.n_nodes // 2) + ["O"] * (graphs.n_nodes % 2),
        edge_labels=[str(k % 3) for k in range(graphs.n_edges)],
        edge_attributes=np.arange(graphs.n_edges) / 4,
    )
    data = gm.Dataset("x", graphs, np.arange(20))
    gm.write_graphs(data, tmp_path / "x.parquet")
    gm.write_graphs(data, tmp_path / "x.jsonl")
    one = graphs[0].to_networkx()
    for *_, record in one.edges(data=True):
        record["attributes"] = float(record["attributes"][0])
    nx.write_graphml(one, tmp_path / "x.graphml")
    nx.write_gml(one, tmp_path / "x.gml")
    (tmp_path / "tables").mkdir()
    tables = {"nodes": NODES, "edges": LABELLED_EDGES, "graphs": "graph,target\n1,x\n2,y\n"}
    write_csv(tmp_path / "tables", **tables)
    files = ["x.parquet", "x.jsonl", "x.graphml", "x.gml"]
    files += [f"tables/{name}.csv" for name in ("nodes", "edges", "graphs")]
    try:
        import rdkit  # noqa: F401
    except ImportError:
        pass
    else:
        (tmp_path / "x.smi").write_text("CC(C)Cc1ccc(cc1)C(C)C(=O)O ibuprofen\nCCO\n")
        (tmp_path / "x.csv").write_text("smiles,target\nc1ccccc1,0\nC(=O)O,1\n")
        files += ["x.smi", "x.csv"]
    command = [sys.executable, "-c", FUZZ, "300", *(str(tmp_path / file) for file in files)]
    answer = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert answer.stdout == "survived\n", answer.stderr[-2000:]
