"""What is wrong with a file is said with the line, the field and a remedy."""

import re

import pytest

import graphmover as gm


def message_of(path, text=None, **options):
    """Return what reading a file of this text complains about."""
    if text is not None:
        path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(path.name)) as caught:
        gm.read_graphs(path, **options)
    return str(caught.value)


def test_text_in_a_column_of_edges_could_be_labels(tmp_path):
    pytest.importorskip("pyarrow")
    message = message_of(tmp_path / "e.csv", "graph,source,target,kind\n0,1,2,x\n")
    assert "line 2: kind is 'x', expected a number: columns other than source" in message
    assert "edge attributes. Rename kind to label if it holds labels of edges, move" in message
    assert message.endswith(
        "to graphs.csv in a folder of tables if it is about whole graphs, such "
        "as a target, or else drop it"
    )
    message = message_of(tmp_path / "w.csv", "graph,source,target,weight\n0,1,2,x\n")
    assert message.endswith("line 2: weight is 'x', expected a number")


def test_text_in_a_column_of_nodes_could_be_labels(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "edges.csv").write_text("source,target\n1,2\n")
    (tmp_path / "nodes.csv").write_text("node,graph,kind\n1,a,x\n2,a,y\n")
    assert "are node attributes. Rename kind to label" in message_of(tmp_path)


def test_a_csv_file_of_neither_molecules_nor_edges(tmp_path):
    message = message_of(tmp_path / "x.csv", "graph,src,dst\n0,1,2\n")
    assert (
        "no column 'smiles' among ['graph', 'src', 'dst'], and no 'graph', 'source' and" in message
    )
    message = message_of(tmp_path / "y.csv", "smiles;id\nCCO;1\n")
    assert message.endswith("the header is ['smiles;id'], which ';' separates, expected commas")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"nodes":[0,1],"edges":[]}', 'nodes[0] is 0, expected an object such as {"id": 0}'),
        (
            '{"nodes":[{"id":0},{"id":1}],"edges":[[0,1]]}',
            'edges[0] is [0, 1], expected an object such as {"source": 0, "target": 1}',
        ),
        ('{"nodes":{},"edges":[]}', "nodes is {}, expected a list of objects such as"),
        ('{"nodes":[],"links":3}', "links is 3, expected a list of objects such as"),
        ('{"edges":[]}', "there is no field nodes, expected a list"),
        ('{"nodes":[]}', "there is no field edges, expected a list"),
        (
            '{"nodes":[{"id":0}],"edges":[{"source":0}]}',
            'edges[0] has no target: it is {"source": 0}, expected an object such as',
        ),
        ('{"nodes":[{"id":{}}],"edges":[]}', "nodes[0] has the node {}, expected a string or"),
        ('{"nodes":[{"id":null}],"edges":[]}', "nodes[0] has the node null, expected"),
        (
            '{"nodes":[{"id":0}],"edges":[{"source":0,"target":[{}]}]}',
            "edges[0] has the node [{}], expected a string or a number",
        ),
        ("[1, 2]", "the line is [1, 2], expected an object with nodes and edges"),
        ('{"graph":1,"nodes":[],"edges":[]}', "graph is 1, expected an object"),
        ("{nodes", "not JSON (Expecting property name"),
    ],
)
def test_json_that_is_no_graph(tmp_path, line, expected):
    pytest.importorskip("networkx")
    good = '{"nodes":[{"id":0}],"edges":[]}\n'
    message = message_of(tmp_path / "x.jsonl", good + line + "\n")
    assert f"x.jsonl, line 2: {expected}" in message
    assert "Error" not in message


def test_a_file_of_vectors_is_not_taken_for_graphs(tmp_path):
    pytest.importorskip("pyarrow")
    data = gm.make_graph_families(60, random_state=0)
    path = tmp_path / "vectors.parquet"
    gm.RandomGraphEmbedding(4, random_state=0).fit(data.graphs).transform_to(data, path)
    message = message_of(path)
    assert "no column 'neighbours' among ['vector', 'target']: it looks like vectors" in message


def test_other_tables_in_parquet_have_a_remedy_that_works(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("rdkit")
    path = tmp_path / "table.parquet"
    pd.DataFrame({"graph": ["a"], "source": [0], "target": [1]}).to_parquet(path)
    message = "so load it with table = pandas.read_parquet(path), and pass the table"
    assert message_of(path).endswith(message)
    assert len(gm.as_graph_batch(pd.read_parquet(path))) == 1
    pd.DataFrame({"Smiles": ["CCO", "CC"], "logP": [0.1, 0.2]}).to_parquet(path)
    assert message_of(path).endswith(
        "it holds SMILES, so load it with table = "
        "pandas.read_parquet(path), and pass table['Smiles']"
    )
    assert len(gm.as_graph_batch(pd.read_parquet(path)["Smiles"])) == 2


def test_an_empty_folder_lists_each_format_once(tmp_path):
    message = message_of(tmp_path)
    assert message.count("*.graphml,") == message.count("*.edges,") == 1


def test_a_file_that_must_not_be_read(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    gm.write_graphs([gm.Graph(2, [(0, 1)])], path)

    def refused(path, *_, **__):
        raise PermissionError(13, f"Failed to open local file '{path}'. Detail: [errno 13]")

    monkeypatch.setattr(parquet, "read_metadata", refused)  # root may read everything
    with pytest.raises(PermissionError, match=rf"^cannot read {path}: permission denied$"):
        gm.read_graphs(path)
