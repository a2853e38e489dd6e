"""Damaged files raise a ValueError that names the file, and the line or column."""

import json
import warnings
import zipfile

import numpy as np
import pytest
from test_small_files import lists, tu_zip

import graphmover as gm

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
nx = pytest.importorskip("networkx")


def rejected(path, message, **options):
    with pytest.raises(ValueError, match=message):
        gm.read_graphs(path, **options)


@pytest.mark.parametrize("name", ["neighbours", "target", "node_labels", "edge_weights"])
def test_repeated_columns_of_parquet(tmp_path, name):
    columns = {
        "neighbours": [[[1], [0]]],
        "edge_weights": [[[1.0], [1.0]]],
        "node_labels": [["a", "b"]],
        "target": [1],
    }
    arrays = [pa.array(values) for values in columns.values()]
    table = pa.Table.from_arrays([*arrays, pa.array(columns[name])], names=[*columns, name])
    pq.write_table(table, tmp_path / "x.parquet")
    rejected(tmp_path / "x.parquet", f"x.parquet: there are several columns {name!r} among")
    if name != "target":
        with pytest.raises(ValueError, match=f"there are several columns {name!r} among"):
            gm.GraphBatch.from_arrow(table)


@pytest.mark.parametrize("table", ["nodes", "edges", "graphs"])
@pytest.mark.parametrize("name", ["label", "x", "", "weight", "target", "graph"])
def test_repeated_columns_of_tables(tmp_path, table, name):
    texts = {
        "nodes": "node,graph,label\na,g,C\n",
        "edges": "source,target,weight\na,a,1\n",
        "graphs": "graph,target\ng,1\n",
    }
    header, row, _ = texts[table].split("\n")
    texts[table] = f"{header},{name},{name}\n{row},1,1\n"
    for file, text in texts.items():
        (tmp_path / f"{file}.csv").write_text(text)
    rejected(tmp_path, f"{table}.csv: there are several columns {name!r} among")


def test_repeated_columns_of_smiles(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / "x.csv"
    path.write_text("smiles,target,target\nC,1,2\n")
    rejected(path, "x.csv: there are several columns 'target' among")
    path.write_text("smiles,y,smiles\nC,1,C\n")
    rejected(path, "x.csv: there are several columns 'smiles' among")
    path.write_text("smiles,y,y\nC,1,C\n")
    rejected(path, "x.csv: there are several columns 'y' among", target_column="y")
    path.write_text(f"smiles\n{'C' * 60_000}\n")
    rejected(path, "x.csv, line 2: a SMILES of 60000 characters, expected 50000 or fewer")


@pytest.mark.parametrize("name", ["x.smi", "x.csv"])
def test_the_longest_smiles_can_be_chosen(tmp_path, name):
    pytest.importorskip("rdkit")
    path = tmp_path / name
    path.write_text(("" if name == "x.smi" else "smiles\n") + "CCO\n" + "C" * 300 + "\n")
    rejected(path, rf"{name}, line \d: a SMILES of 300 .* pass max_smiles=300:", max_smiles=299)
    for most in (300, None):
        assert gm.read_graphs(path, max_smiles=most).graphs.n_nodes == 303
        assert len(list(gm.iter_batches(path, 1, max_smiles=most))) == 2
    model = gm.RandomGraphEmbedding(1, random_state=0).fit([gm.Graph(2, [(0, 1)])])
    for write in (gm.write_graphs, model.transform_to):
        output = tmp_path / ("y.jsonl" if write is gm.write_graphs else "z.npy")
        with pytest.raises(ValueError, match="pass max_smiles=300"):
            write(path, output, max_smiles=200)
        write(path, output, max_smiles=300)
    rejected(path, "max_smiles must be at least 1", max_smiles=0)


def test_a_csv_field_longer_than_python_reads(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "x.csv").write_text(f"smiles\n{'C' * 140_000}\n")
    message = r"x.csv, line 2: field larger .*; a \.smi file may"
    rejected(tmp_path / "x.csv", message, max_smiles=10**6)


@pytest.mark.parametrize("depth", [25, 450, 5_000, 100_000])
def test_deep_labels(tmp_path, depth):
    label = "[" * depth + "]" * depth
    line = '{"nodes": [{"id": 0, "label": %s}], "edges": []}'
    (tmp_path / "x.jsonl").write_text(line % label)
    rejected(tmp_path / "x.jsonl", "x.jsonl, line 1: ")
    (tmp_path / "x.jsonl").write_text(line % 1 + "\n" + label)
    rejected(tmp_path / "x.jsonl", "x.jsonl, line 2: ")
    labels = gm.as_graph_batch(gm.Graph(1, [], node_labels=[("a", 1)])).to_arrow()
    table = labels.set_column(1, labels.schema.field(1), pa.array([[label]], labels.schema[1].type))
    pq.write_table(table, tmp_path / "x.parquet")
    rejected(tmp_path / "x.parquet", "x.parquet: node_labels holds .*, expected JSON")


@pytest.mark.parametrize("cut", [0, 3, 4, 12, 200, -1, -4, -8, -9, -100])
def test_truncated_parquet(tmp_path, cut):
    path = tmp_path / "x.parquet"
    gm.write_graphs(gm.make_graph_families(20, random_state=0), path)
    path.write_bytes(path.read_bytes()[:cut])
    rejected(path, r"x\.parquet cannot be read as Parquet")


def test_lists_beyond_their_values(tmp_path):
    inner = pa.ListArray.from_buffers(
        pa.list_(pa.int32()),
        2,
        [None, pa.py_buffer(np.array([0, 10**6, 2], np.int32))],
        children=[pa.array([1, 0], pa.int32())],
    )
    with pytest.raises(ValueError, match="the column 'neighbours' is damaged"):
        gm.GraphBatch.from_arrow(pa.table({"neighbours": lists([0, 2], inner)}))


@pytest.mark.parametrize(
    "target, message",
    [
        (pa.array([[1, None]], pa.list_(pa.int64(), 2)), "graph 0: a target is null"),
        (pa.array([[1, None]]), "graph 0: a target is null"),
        (pa.array([{"a": 1}]), "the target holds struct"),
        (pa.array([b"x"]), "the target holds binary"),
    ],
)
def test_targets_of_parquet(tmp_path, target, message):
    pq.write_table(pa.table({"neighbours": [[[]]], "target": target}), tmp_path / "x.parquet")
    with pytest.raises((TypeError, ValueError), match=f"x.parquet: {message}"):
        gm.read_graphs(tmp_path / "x.parquet")


def test_zips_with_repeated_or_ambiguous_members(tmp_path):
    path = tu_zip(tmp_path / "X.zip")
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("X/X_A.txt", "1,1\n")
    rejected(path, r"X.zip holds the member 'X/X_A.txt' twice")
    path = tu_zip(tmp_path / "Y.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("deep/er/X_A.txt", "1,1\n")
    rejected(path, r"Y.zip holds X_A.txt in several folders")


def test_encrypted_zips(tmp_path):
    path = tu_zip(tmp_path / "X.zip")
    content = bytearray(path.read_bytes())
    for signature, field in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        at = content.find(signature)
        while at >= 0:
            content[at + field] |= 1
            at = content.find(signature, at + 1)
    path.write_bytes(content)
    rejected(path, r"X_\w+.txt cannot be read: .*encrypted")


GARBAGE = ["", "\0", "{}", "<graphml", "graph [", "[" * 50_000, "\xff\xfe", "graph [ node [ id 1 ]"]
GARBAGE += ["<graphml><graph/></graphml>", "graph [ node [ id 1 ] node [ id 1 ] ]", "graph 3"]
GARBAGE += ["<graphml>" * 20_000, "graph [ edge [ source 1 target 2 ] ]", "graph [" * 20_000]


@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
@pytest.mark.parametrize("ending", ["graphml", "gml", "jsonl"])
def test_garbage(tmp_path, text, ending):
    path = tmp_path / f"x.{ending}"
    path.write_text(text, encoding="latin-1")
    try:
        gm.read_graphs(path)
    except ValueError as error:
        assert f"x.{ending}" in str(error) and len(str(error)) < 1000
    else:
        assert ending == "graphml" and text == "<graphml><graph/></graphml>"


def test_edges_of_graphml_to_unlisted_nodes(tmp_path):
    edge = '<edge source="a" target="b"/>'
    text = f'<graphml><graph edgedefault="undirected"><node id="a"/>{edge}</graph></graphml>'
    (tmp_path / "x.graphml").write_text(text)
    rejected(tmp_path / "x.graphml", "x.graphml cannot be read as graphml: .*'b'")


def test_messages_show_a_part_of_long_values(tmp_path):
    line = {"nodes": [{"id": 0}], "edges": [{"source": 0, "target": "x" * 10**6}]}
    (tmp_path / "x.jsonl").write_text(json.dumps(line))
    with pytest.raises(ValueError, match=r"x.jsonl, line 1") as caught:
        gm.read_graphs(tmp_path / "x.jsonl")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("n_groups", [1, 3, 40])
def test_footers_are_read_as_pyarrow_reads_them(tmp_path, n_groups):
    from graphmover.io.parquet_footer import row_groups

    path = tmp_path / "x.parquet"
    gm.write_graphs(gm.make_graph_families(40, random_state=0), path, batch_size=-(-40 // n_groups))
    metadata = pq.read_metadata(path)
    groups = row_groups(path)
    assert len(groups) == metadata.num_row_groups
    for number, group in enumerate(groups):
        theirs = metadata.row_group(number)
        assert group.n_rows == theirs.num_rows
        for index, chunk in enumerate(group.chunks):
            column = theirs.column(index)
            start = column.dictionary_page_offset or column.data_page_offset
            assert (chunk.n_values, chunk.start) == (column.num_values, start)


def test_damaged_statistics_do_not_abort(tmp_path):
    """pyarrow ends the process when it is asked for the metadata of such a column."""
    path = tmp_path / "x.parquet"
    table = gm.make_graph_families(6, random_state=0).graphs.to_arrow()
    pq.write_table(table, path)
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    start = len(content) - 8 - length
    n_rejected = 0
    for at in range(start, len(content) - 8):  # every byte of the footer
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                gm.read_graphs(path)
        except (TypeError, ValueError) as error:
            assert "x.parquet" in str(error)
            n_rejected += 1
    assert n_rejected > 20
