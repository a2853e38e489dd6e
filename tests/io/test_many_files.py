"""graph6, GEXF, plain edge lists, and several files as one source."""

import networkx as nx
import numpy as np
import pytest

import graphmover as gm

GRAPHS = [nx.path_graph(4), nx.cycle_graph(5), nx.empty_graph(2), nx.gnp_random_graph(70, 0.3)]
BATCH = gm.as_graph_batch(GRAPHS)


def read(source, **options):
    return gm.read_graphs(source, **options).graphs


def write_lines(path, graphs, write, **options):
    path.write_bytes(b"".join(write(graph, **options) for graph in graphs))


@pytest.mark.parametrize("header", [False, True])
def test_graph6_and_sparse6(tmp_path, header):
    write_lines(tmp_path / "x.g6", GRAPHS, nx.to_graph6_bytes, header=header)
    write_lines(tmp_path / "x.s6", GRAPHS, nx.to_sparse6_bytes, header=header)
    assert read(tmp_path / "x.g6") == BATCH
    assert read(tmp_path / "x.s6") == BATCH
    (tmp_path / "x.s6").rename(tmp_path / "y.g6")
    assert read(tmp_path / "y.g6") == BATCH
    assert [len(part) for part in gm.iter_batches(tmp_path / "x.g6", 3)] == [3, 1]


@pytest.mark.parametrize("line", [b"C", b"C~~~~", b"\xff", b": ", b"1 2"])
def test_bad_graph6_is_named_by_its_line(tmp_path, line):
    path = tmp_path / "x.g6"
    path.write_bytes(b"Bw\n" + line + b"\n")
    with pytest.raises(ValueError, match=r"x\.g6, line 2: .*expected a graph in graph6 or sparse6"):
        read(path)
    skipped = []
    assert len(read(path, errors="skip", skipped=skipped)) == 1
    assert skipped[0].position == 2


def test_a_short_line_cannot_ask_for_gigabytes(tmp_path):
    for name, line in (("x.s6", b":~~?~~~~~"), ("x.g6", b"~~?~~~~~")):
        (tmp_path / name).write_bytes(line)
        with pytest.raises(ValueError, match=r"line 1: a graph of \d+ nodes would take about"):
            read(tmp_path / name)


def test_gexf(tmp_path):
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: "C", 1: "O", 2: "C"}, "node_label")
    nx.set_edge_attributes(graph, 2.5, "weight")
    nx.write_gexf(graph, tmp_path / "x.gexf")
    labels = ["C", "O", "C"]
    expected = gm.Graph(3, [(0, 1), (1, 2)], node_labels=labels, edge_weights=[2.5, 2.5])
    assert read(tmp_path / "x.gexf") == gm.as_graph_batch(expected)
    assert read(tmp_path).ids.tolist() == ["x"]
    text = (tmp_path / "x.gexf").read_text()
    (tmp_path / "x.gexf").write_text(text.replace('target="2"', 'target="9"'))
    with pytest.raises(ValueError, match=r"x\.gexf .*the node '9', which is not listed"):
        read(tmp_path / "x.gexf")


PATH = gm.as_graph_batch(gm.Graph(3, [(0, 1), (1, 2)]))
WEIGHTED = gm.as_graph_batch(gm.Graph(3, [(0, 1), (1, 2)], edge_weights=[0.5, 2]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b\nb c\n", PATH),
        ("# comment\n% 3 3 2\n\na\tb # first\nb,c\nc b", PATH),
        ("0 1 {}\n1 2 {}\n", PATH),
        ("0 1 0.5\n1 2 2\n", WEIGHTED),
        ("0, 1, 0.5\n1, 2, 2\n", WEIGHTED),
        ("0 1 {'weight': 0.5}\n1 2 {'weight': 2}\n", WEIGHTED),
        ("\ufeff0 1 0.5\n1 2 1\n1 2 2", WEIGHTED),
    ],
)
@pytest.mark.parametrize("ending", ["edgelist", "edges"])
def test_edge_lists(tmp_path, text, expected, ending):
    path = tmp_path / f"x.{ending}"
    path.write_text(text)
    assert read(path) == expected
    assert read(tmp_path) == expected.with_ids(["x"])


@pytest.mark.parametrize("text", ["1", "1 2 3 4", "1 2 heavy", "1 2 {", "1 2 [3]", "1 {}"])
def test_bad_edge_lists_are_named_by_file_and_line(tmp_path, text):
    path = tmp_path / "x.edges"
    path.write_text(f"0 1\n{text}\n")
    with pytest.raises(ValueError, match=r"x\.edges cannot be read .*line 2 is '.*two nodes"):
        read(path)
    path.write_text("# nothing\n")
    with pytest.raises(ValueError, match=r"x\.edges cannot be read .*there are no edges"):
        read(path)


def test_patterns_of_files_with_one_graph(tmp_path):
    for n in (10, 2, 1):
        nx.write_edgelist(nx.path_graph(n + 1), tmp_path / f"run{n}.edgelist")
        nx.write_graphml(nx.path_graph(n + 1), tmp_path / f"run{n}.graphml")
    for ending in ("edgelist", "graphml"):
        batch = read(f"{tmp_path}/run*.{ending}")
        assert batch.ids.tolist() == ["run1", "run2", "run10"]
        assert batch.node_counts.tolist() == [2, 3, 11]
    assert read(tmp_path / "run1?.edgelist").ids.tolist() == ["run10"]
    (tmp_path / "run2.edgelist").write_text("x")
    skipped = []
    batch = read(tmp_path / "*.edgelist", errors="skip", skipped=skipped)
    assert batch.ids.tolist() == ["run1", "run10"]
    assert (skipped[0].position, skipped[0].id) == ("run2.edgelist", "run2")


def test_folders_and_patterns_of_files_with_many_graphs(tmp_path):
    data = gm.make_graph_families(60, random_state=0)
    for number, start in ((2, 0), (10, 20), (11, 40)):
        gm.write_graphs(data[start : start + 20], tmp_path / f"part{number}.jsonl")
    for source in (tmp_path, f"{tmp_path}/*.jsonl"):
        again = gm.read_graphs(source)
        assert again.graphs == data.graphs
        np.testing.assert_array_equal(again.target, data.target)
    assert len(read(f"{tmp_path}/part1*.jsonl")) == 40


def test_skipped_graphs_of_several_files_are_told_apart(tmp_path):
    for name in ("a.g6", "b.g6"):
        (tmp_path / name).write_bytes(b"Bw\n1 2\n")
    skipped = []
    assert len(read(tmp_path, errors="skip", skipped=skipped)) == 2
    assert [bad.position for bad in skipped] == ["a.g6:2", "b.g6:2"]


def test_files_of_several_formats_are_no_source(tmp_path):
    (tmp_path / "a.g6").write_bytes(b"Bw\n")
    (tmp_path / "b.smi").write_text("CC\n")
    for source in (tmp_path, tmp_path / "*"):
        with pytest.raises(ValueError, match=r"formats, a\.g6 and b\.smi, .*as in .*\*\.g6"):
            read(source)
    with pytest.raises(FileNotFoundError, match=r"no file that matches .*x"):
        read(tmp_path / "*.x")
    (tmp_path / "c.xyz").write_text("")
    with pytest.raises(ValueError, match=r"\.xyz is not a known extension"):
        read(tmp_path / "*.xyz")
    assert len(read(tmp_path / "*.g6")) == 1


def test_a_name_with_brackets_is_a_name(tmp_path):
    (tmp_path / "a[1].g6").write_bytes(b"Bw\n")
    (tmp_path / "a1.g6").write_bytes(b"C~\n")
    assert read(tmp_path / "a[1].g6").node_counts.tolist() == [3]
