import pandas as pd
import pytest

import graphmover as gm

pytest.importorskip("pyarrow")

NODES = "node,graph,charge\na,g1,1\nb,g1,2\na,g2,3\nc,g2,4\n"
EDGES = "graph,source,target,length\ng2,a,c,0.5\ng1,b,a,1.5\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "edges.csv").write_text(EDGES)
    return tmp_path


def test_names_differ_within_a_graph_where_edges_have_one(folder):
    graphs = gm.read_graphs(folder).graphs
    assert graphs.ids.tolist() == ["g1", "g2"]
    assert [graph.edges.tolist() for graph in graphs] == [[[0, 1]], [[0, 1]]]
    assert graphs.node_attributes.tolist() == [[1], [2], [3], [4]]
    assert graphs.edge_attributes.tolist() == [[1.5], [1.5], [0.5], [0.5]]


def test_errors_name_node_and_graph(folder):
    (folder / "edges.csv").write_text(EDGES + "g1,a,c,1\n")
    with pytest.raises(ValueError, match=r"edges\.csv, line 4: 'c' of the graph 'g1' is not in"):
        gm.read_graphs(folder)
    (folder / "edges.csv").write_text(EDGES + ",a,b,1\n")
    with pytest.raises(ValueError, match=r"edges\.csv, line 4: 'a' of the graph '' is not in"):
        gm.read_graphs(folder)
    (folder / "nodes.csv").write_text(NODES + "a,g1,5\n")
    with pytest.raises(ValueError, match=r"line 6: 'a' of the graph 'g1' is in an earlier line al"):
        gm.read_graphs(folder)
    (folder / "edges.csv").write_text("source,target\na,c\n")
    with pytest.raises(ValueError, match=r"line 4: 'a' is in .*over all graphs, unless edges\.csv"):
        gm.read_graphs(folder)


@pytest.mark.parametrize("again", [False, True])
def test_the_index_of_a_pandas_table_is_no_attribute(folder, again):
    """Row numbers of graphs listed class by class would tell the classes."""
    expected = gm.read_graphs(folder).graphs
    for name in ("nodes.csv", "edges.csv"):
        table = pd.read_csv(folder / name)
        table.to_csv(folder / name)
        if again:
            pd.read_csv(folder / name).to_csv(folder / name, index=False)
    with pytest.warns(UserWarning, match="looks like the index of a pandas table") as said:
        assert gm.read_graphs(folder).graphs == expected
    assert len(said) == 2
    (folder / "edges.csv").rename(folder / "one.csv")
    with pytest.warns(UserWarning, match=r"one\.csv: the column .*index=False"):
        assert gm.read_graphs(folder / "one.csv").graphs.edge_attributes.shape[1] == 1


def test_one_file_may_be_called_edges(tmp_path):
    file = tmp_path / "edges.csv"
    file.write_text(EDGES)
    assert gm.read_graphs(file).graphs.ids.tolist() == ["g2", "g1"]
    (tmp_path / "nodes.csv").write_text(NODES)
    with pytest.raises(ValueError, match=r"edges\.csv is one of several tables: pass their folder"):
        gm.read_graphs(file)


def test_text_about_whole_graphs_is_sent_to_their_table(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("graph,source,target,cls\n1,a,b,good\n")
    with pytest.raises(ValueError, match=r"cls is 'good'.*graphs\.csv in a folder.*as a target"):
        gm.read_graphs(file)
