import os
import re
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphmover as gm
from graphmover.datasets import load_dataset
from graphmover.datasets.tu_files import PARTS

# Many traps: node 3 belongs to graph 1 though it comes after graph 2's
# first node, edges come twice and as a loop, graphs 3 and 5 have no nodes.
TINY = {
    "A": "1, 3\n3, 1\n1, 3\n2,4\n4,2\n1,1\n5, 5\n",
    "graph_indicator": "1\n2\n1\n2\n4\n",
    "node_labels": "10\n20\n11\n21\n40\n",
    "node_attributes": "1.0, -1\n2e0, -2\n1.5, 0\n2.5, 0\n4, 4\n",
    "graph_labels": "-1\n1\n-1\n1\n1\n",
    "edge_labels": "1\n2\n3\n4\n5\n6\n7\n",
}

REAL = {  # graphs, average nodes and edges, node labels, classes, node attributes, edge labels and
    # attributes; averages and numbers of labels as the collection's users know them
    "AIDS": (2000, 15.69, 16.20, 38, 2, 4, 3, 0),
    "BZR": (405, 35.75, 38.36, 10, 2, 3, 0, 0),
    "COLLAB": (5000, 74.49, 2457.22, 0, 3, 0, 0, 0),
    "Cuneiform": (267, 21.27, 44.80, 12, 30, 3, 2, 2),
    "DD": (1178, 284.32, 715.66, 82, 2, 0, 0, 0),
    "ENZYMES": (600, 32.63, 62.14, 3, 6, 18, 0, 0),
    "Fingerprint": (2800, 5.42, 4.42, 0, 15, 2, 0, 2),
    "IMDB-BINARY": (1000, 19.77, 96.53, 0, 2, 0, 0, 0),
    "IMDB-MULTI": (1500, 13.00, 65.94, 0, 3, 0, 0, 0),
    "Letter-high": (2250, 4.67, 4.50, 0, 15, 2, 0, 0),
    "MUTAG": (188, 17.93, 19.79, 7, 2, 0, 4, 0),
    "NCI1": (4110, 29.87, 32.30, 37, 2, 0, 0, 0),
    "NCI109": (4127, 29.68, 32.13, 38, 2, 0, 0, 0),
    "PROTEINS": (1113, 39.06, 72.82, 3, 2, 1, 0, 0),
    "PROTEINS_full": (1113, 39.06, 72.82, 3, 2, 29, 0, 0),
    "PTC": (344, 25.56, 25.96, 19, 2, 0, 0, 0),
    "PTC_MR": (344, 14.29, 14.69, 18, 2, 0, 4, 0),
    "REDDIT-BINARY": (2000, 429.63, 497.75, 0, 2, 0, 0, 0),
}

ISOLATED = {"AIDS": 210, "ENZYMES": 106, "Letter-high": 25, "NCI1": 428, "NCI109": 474}
ISOLATED |= {"PROTEINS": 5, "PROTEINS_full": 5, "REDDIT-BINARY": 21}


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def write_folder(folder, files=TINY, name="TINY"):
    folder.mkdir(exist_ok=True)
    for part, text in files.items():
        (folder / f"{name}_{part}.txt").write_bytes(as_bytes(text))
    return folder


def write_zip(path, files=TINY, name="TINY", inside="TINY/", compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for part, text in files.items():
            archive.writestr(f"{inside}{name}_{part}.txt", as_bytes(text))
    return path


def changed(**parts):
    return {part: text for part, text in {**TINY, **parts}.items() if text is not None}


def check_tiny(data):
    assert data.name == "TINY"
    assert data.graphs.node_counts.tolist() == [2, 2, 0, 1, 0]
    assert data.graphs.edge_counts.tolist() == [1, 1, 0, 0, 0]
    assert data.graphs.node_labels.tolist() == [10, 11, 20, 21, 40]
    assert data.graphs.node_attributes.tolist() == [[1, -1], [1.5, 0], [2, -2], [2.5, 0], [4, 4]]
    assert data.edge_labels.tolist() == [1, 2, 4, 5]  # u -> v and v -> u of two edges
    assert data.edge_attributes is None
    assert data.target.dtype == np.int64
    assert data.target.tolist() == [-1, 1, -1, 1, 1]
    assert data.graphs[0].edges.tolist() == data.graphs[1].edges.tolist() == [[0, 1]]


def test_folder(tmp_path):
    data = load_dataset(write_folder(tmp_path / "TINY"))
    check_tiny(data)
    assert repr(data) == "Dataset('TINY', 5 graphs, 2 classes)"


@pytest.mark.parametrize(
    "compression",
    [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA],
)
@pytest.mark.parametrize("inside", ["TINY/", "", "deep/er/"])
def test_zip(tmp_path, compression, inside):
    path = write_zip(tmp_path / "renamed.zip", inside=inside, compression=compression)
    check_tiny(load_dataset(path))
    check_tiny(load_dataset(str(path)))
    assert list(tmp_path.iterdir()) == [path]


def test_graphs_and_target_as_a_pair(tmp_path):
    graphs, target = load_dataset(write_folder(tmp_path), return_X_y=True)
    assert len(graphs) == len(target) == 5


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("ending", ["", "\n", "\n\n\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_newlines_blank_ends_and_byte_order_marks(tmp_path, newline, ending, mark):
    files = {
        part: (mark + text.rstrip("\n") + ending).replace("\n", newline)
        for part, text in TINY.items()
    }
    check_tiny(load_dataset(write_folder(tmp_path, files)))
    check_tiny(load_dataset(write_zip(tmp_path / "TINY.zip", files)))


def test_several_label_columns_are_tuples(tmp_path):
    files = changed(node_labels="0, 1\n0, 2\n0, 3\n0, 4\n1, 5\n")
    graphs = load_dataset(write_folder(tmp_path, files)).graphs
    assert graphs.node_labels.tolist() == [(0, 1), (0, 3), (0, 2), (0, 4), (1, 5)]


def test_graph_attributes_are_the_target_without_graph_labels(tmp_path):
    values = "0.5\n1\n-2e1\n3\n4\n"
    one = load_dataset(
        write_folder(tmp_path / "one", changed(graph_labels=None, graph_attributes=values))
    )
    assert one.target.tolist() == [0.5, 1, -20, 3, 4]
    assert repr(one) == "Dataset('TINY', 5 graphs, 1 real target)"
    two = load_dataset(
        write_folder(tmp_path / "two", changed(graph_labels=None, graph_attributes="1, 2\n" * 5))
    )
    assert two.target.shape == (5, 2)
    assert repr(two) == "Dataset('TINY', 5 graphs, 2 real targets)"
    both = load_dataset(write_folder(tmp_path / "both", changed(graph_attributes=values)))
    assert both.target.tolist() == [-1, 1, -1, 1, 1]


def test_only_edges_and_graphs(tmp_path):
    files = {"A": "1, 2\n", "graph_indicator": "1\n1\n3\n"}
    data = load_dataset(write_folder(tmp_path, files))
    assert data.graphs.node_counts.tolist() == [2, 0, 1]
    assert data.graphs.node_labels is data.graphs.node_attributes is data.target is None
    assert repr(data) == "Dataset('TINY', 3 graphs, no target)"


@pytest.mark.parametrize("blank", ["", "\n\n"])
def test_sets_without_edges_or_nodes(tmp_path, blank):
    edgeless = changed(A=blank, edge_labels=blank)
    data = load_dataset(write_folder(tmp_path / "edgeless", edgeless))
    assert data.graphs.n_edges == len(data.edge_labels) == 0
    empty = {part: blank for part in TINY} | {"graph_labels": TINY["graph_labels"]}
    data = load_dataset(write_folder(tmp_path / "empty", empty))
    assert data.graphs.node_counts.tolist() == [0] * 5


def test_edges_in_any_order_and_one_direction(tmp_path):
    data = load_dataset(write_folder(tmp_path, changed(A="4, 2\n3, 1\n", edge_labels="1\n2\n")))
    assert data.graphs.edge_counts.tolist() == [1, 1, 0, 0, 0]
    assert data.edge_labels.tolist() == [2, 2, 1, 1]


def test_other_members_of_a_zip_are_left_alone(tmp_path):
    path = write_zip(tmp_path / "TINY.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/TINY/._TINY_A.txt", b"\x00\x05")
        archive.writestr("TINY/README.txt", "text")
    check_tiny(load_dataset(path))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("layout", ["zip", "folder", "zip in folder"])
def test_names_are_found_in_data_home(tmp_path, monkeypatch, layout):
    if layout == "zip":
        write_zip(tmp_path / "TINY.zip")
    else:
        (tmp_path / "TINY").mkdir()
        if layout == "folder":
            write_folder(tmp_path / "TINY")
        else:
            write_zip(tmp_path / "TINY" / "TINY.zip")
    check_tiny(load_dataset("TINY", data_home=tmp_path))
    check_tiny(load_dataset("TINY", data_home=str(tmp_path)))
    monkeypatch.setenv("GRAPHMOVER_DATA", str(tmp_path))
    check_tiny(load_dataset("TINY"))
    monkeypatch.delenv("GRAPHMOVER_DATA")
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path)
    check_tiny(load_dataset("TINY"))


def test_data_home_comes_before_the_environment(tmp_path, monkeypatch):
    write_zip(tmp_path / "TINY.zip")
    monkeypatch.setenv("GRAPHMOVER_DATA", str(tmp_path / "elsewhere"))
    check_tiny(load_dataset("TINY", data_home=tmp_path))


def test_missing_sets_say_where_to_put_them(tmp_path, monkeypatch):
    monkeypatch.chdir(write_folder(tmp_path / "TINY").parent)
    with pytest.raises(
        FileNotFoundError,
        match=r"^there is no file or folder 'NOPE', and .*NOPE\.zip.*put it there",
    ):
        load_dataset("NOPE", data_home=tmp_path / "elsewhere")
    with pytest.raises(FileNotFoundError, match=r"^no data set 'TINY'"):
        load_dataset("TINY", data_home=tmp_path / "elsewhere")  # never the working directory
    check_tiny(load_dataset("./TINY"))
    with pytest.raises(FileNotFoundError, match=r"no folder or zip .*NOPE\.zip"):
        load_dataset("NOPE.zip")


MALFORMED = [
    ({"A": None}, "TINY_A.txt"),
    ({"graph_indicator": None}, "TINY_graph_indicator.txt is missing"),
    ({"A": "1, 3\n\n2, x\n"}, "TINY_A.txt, line 3: 'x' is not an integer"),
    ({"A": "1, 3\n2, 4, 5\n"}, "TINY_A.txt, line 2: 3 numbers, expected 2"),
    ({"A": "1, 3, 1\n"}, "TINY_A.txt, line 1: 3 numbers, expected 2"),
    ({"A": "1, 3.5\n"}, "TINY_A.txt, line 1: '3.5' is not an integer"),
    ({"A": "1 3\n"}, "TINY_A.txt, line 1: '1 3' is not an integer"),
    ({"A": "1, \n"}, "TINY_A.txt, line 1: '' is not an integer"),
    ({"A": "1, 3\n\n0, 1\n"}, "TINY_A.txt, line 3: edge 0, 1, but nodes are 1 to 5"),
    ({"A": "1, 3\n1, 6\n"}, "TINY_A.txt, line 2: edge 1, 6, but nodes are 1 to 5"),
    ({"A": "1, -2147483648\n"}, "TINY_A.txt, line 1"),
    ({"A": "1, 99999999999999999999\n"}, "TINY_A.txt, line 1"),
    ({"A": "1_0, 1\n"}, "TINY_A.txt"),
    ({"A": b"\xff\xfe1,\x002"}, "TINY_A.txt, line 1"),
    ({"A": "1, 3\n1, 2\n"}, "TINY_A.txt, line 2: edge 1, 2 joins two graphs"),
    ({"graph_indicator": "1\n2\n1\n0\n4\n"}, "graph_indicator.txt, line 4: graph 0, expected 1 to"),
    ({"graph_indicator": "1\n2\n1\n2\n6\n"}, "graph_indicator.txt, line 5: graph 6, expected 1 to"),
    ({"graph_indicator": "1\n2\n1\n2\n"}, "TINY_A.txt, line 7: edge 5, 5, but nodes are 1 to 4"),
    ({"graph_indicator": "1, 1\n"}, "graph_indicator.txt, line 1: 2 numbers, expected 1"),
    ({"graph_labels": "-1\n1\n"}, "graph_indicator.txt, line 5: graph 4, expected 1 to 2"),
    ({"graph_labels": None, "graph_indicator": "1\n2\n1\n2\n2147483647\n"}, "line 5: graph 2147"),
    ({"graph_indicator": "1\n2\n1\n2\n2147483648\n"}, "line 5: '2147483648' does not fit 32 bits"),
    ({"edge_labels": "1\n2\n"}, "edge_labels.txt has 2 lines for 7 edges: edge 3 has none"),
    ({"edge_labels": "1\n" * 6 + "-\n"}, "TINY_edge_labels.txt, line 7: '-' is not an integer"),
    ({"edge_attributes": "1\n" * 8}, "edge_attributes.txt, line 8: there are 8 lines for 7 edges"),
    ({"edge_attributes": "1, 1\n1\n"}, "edge_attributes.txt, line 2: 1 numbers, expected 2 as in"),
    ({"graph_labels": "a\n" * 5}, "graph_labels.txt, line 1: 'a' is not an integer"),
    ({"graph_labels": None, "graph_attributes": "inf\n" * 5}, "graph_attributes.txt, line 1"),
    ({"node_labels": "1\n2\n"}, "node_labels.txt has 2 lines for 5 nodes: node 3 has none"),
    ({"node_labels": "1\n2\n3\n4\nC\n"}, "TINY_node_labels.txt, line 5: 'C' is not an int"),
    (
        {"node_attributes": "\n" + "1\n" * 6},
        "attributes.txt, line 7: there are 6 lines for 5 nodes",
    ),
    (
        {"node_attributes": "1\n1\nnan\n1\n1\n"},
        "node_attributes.txt, line 3: 'nan' is not a fin",
    ),
    (
        {"node_attributes": "1\n1\none\n1\n1\n"},
        "node_attributes.txt, line 3: 'one' is not a fin",
    ),
]


@pytest.mark.parametrize(("parts", "message"), MALFORMED)
def test_malformed_files_are_named(tmp_path, parts, message):
    with pytest.raises(ValueError, match=message):
        load_dataset(write_folder(tmp_path / "TINY", changed(**parts)))
    with pytest.raises(ValueError, match=message):
        load_dataset(write_zip(tmp_path / "TINY.zip", changed(**parts)))


def test_not_a_zip(tmp_path):
    path = tmp_path / "TINY.zip"
    path.write_bytes(b"<html>404</html>")
    with pytest.raises(ValueError, match=r"TINY\.zip cannot be read: File is not a zip file"):
        load_dataset(path)


def test_a_zip_of_something_else(tmp_path):
    with pytest.raises(ValueError, match=r"other\.zip holds no file other_A\.txt"):
        load_dataset(write_zip(tmp_path / "other.zip", {}))


def test_a_folder_of_data_sets_is_told_from_one(tmp_path):
    write_zip(tmp_path / "TINY.zip")
    with pytest.raises(ValueError, match=r"_A\.txt: name one of .* in it, such as .*TINY\.zip$"):
        load_dataset(tmp_path)


def test_a_folder_here_comes_before_a_data_set_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMOVER_DATA", str(tmp_path / "none"))
    write_folder(tmp_path / "MUTAG", name="MUTAG")
    assert len(gm.read_graphs("MUTAG")) == 5  # not the 188 graphs of the TU collection


def test_several_sets_in_one_place(tmp_path):
    write_folder(tmp_path, name="ONE")
    write_folder(tmp_path, name="TWO")
    with pytest.raises(ValueError, match="holds several data sets: ONE, TWO"):
        load_dataset(tmp_path)


def test_truncated_zips(tmp_path):
    path = write_zip(tmp_path / "TINY.zip", compression=zipfile.ZIP_LZMA)
    whole = path.read_bytes()
    for length in range(0, len(whole), 40):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"TINY\.zip cannot be read"):
            load_dataset(path)


def test_what_is_said_of_an_edge_may_depend_on_its_direction(tmp_path):
    files = {
        "A": "3, 2\n2, 3\n2, 1\n2, 1\n1, 1\n3, 4\n4, 3\n5, 4\n",
        "graph_indicator": "2\n" * 5,
        "edge_attributes": "-1\n1\n21\n99\n0\n34\n-34\n54\n",
        "edge_labels": "1, 0\n2, 0\n3, 0\n4, 0\n5, 0\n6, 0\n7, 0\n8, 0\n",
    }
    data = load_dataset(write_folder(tmp_path, files))
    (graph,) = (g for g in data.graphs if g.n_nodes)
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    # Row by row: 0 -> 1 (given by "2, 1" only), 1 -> 0, 1 -> 2, 2 -> 1, 2 -> 3, 3 -> 2, 3 -> 4, ...
    assert data.graphs.indices.tolist() == [1, 0, 2, 1, 3, 2, 4, 3]
    assert data.edge_attributes.ravel().tolist() == [21, 21, 1, -1, 34, -34, 54, 54]
    assert data.edge_labels.tolist() == [(n, 0) for n in [3, 3, 2, 1, 6, 7, 8, 8]]
    assert graph.edge_labels.tolist() == [(3, 0), (2, 0), (6, 0), (8, 0)]
    assert data.graphs[1:].edge_attributes.tolist() == data.edge_attributes.tolist()
    assert len(data.graphs[:1].edge_labels) == 0


@pytest.mark.parametrize("member", ["../escaped_A.csv", "/etc/x", "a/../../x", "C:\\x", "..\\x"])
def test_members_that_point_outside_of_a_zip(tmp_path, member):
    path = write_zip(tmp_path / "TINY.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(zipfile.ZipInfo(member), "1")
    with pytest.raises(ValueError, match=r"TINY\.zip: the member .* points outside the zip"):
        load_dataset(path)


def peak_memory(function, *arguments):
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def rejected(path, message):
    with pytest.raises(ValueError, match=message):
        load_dataset(path)


def test_zip_bombs(tmp_path):
    path = write_zip(tmp_path / "TINY.zip", changed(A="1,1\n" * (1 << 25)))
    assert path.stat().st_size < 2e5
    message = r"TINY\.zip: 1342178\d\d bytes of text would take .* \d+ bytes are stored"
    assert peak_memory(rejected, path, message) < 1e7


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_zip_bombs_that_lie_about_their_size(tmp_path, compression):
    whole = 1 << 27
    path = tmp_path / "TINY.zip"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for part, text in TINY.items():
            with archive.open(f"TINY/TINY_{part}.txt", "w") as member:
                member.write(as_bytes(text))
                if part == "A":
                    for _ in range(whole >> 22):
                        member.write(b"1,1\n" * (1 << 20))
    size = (whole + len(TINY["A"])).to_bytes(4, "little")
    assert size in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(size, (1000).to_bytes(4, "little")))
    assert peak_memory(rejected, path, r"TINY_A\.txt cannot be read: Bad CRC-32") < 1e8


def test_stray_ids_make_no_room_for_all_they_could_be(tmp_path):
    stray = changed(graph_labels=None, graph_indicator="1\n2\n1\n2\n2147483647\n")
    path = write_folder(tmp_path / "TINY", stray)
    assert peak_memory(rejected, path, "graph 2147483647, expected 1 to 5000") < 1e7


def load_or_value_error(path):
    try:
        load_dataset(path)
    except ValueError as error:
        assert path.name in str(error)


flips = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1)
fuzzing = settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def flipped(data, changes):
    data = bytearray(data)
    for where, value in changes:
        data[int(where * len(data))] = value
    return bytes(data)


@fuzzing
@given(part=st.sampled_from(list(TINY)), changes=flips)
def test_flipped_bytes_in_a_text_give_value_errors(tmp_path, part, changes):
    files = changed(**{part: flipped(as_bytes(TINY[part]), changes)})
    assert peak_memory(load_or_value_error, write_folder(tmp_path / "TINY", files)) < 1e7


lines = st.lists(
    st.lists(st.one_of(st.integers(-3, 9), st.integers(), st.floats()), max_size=3).map(
        lambda row: ", ".join(map(str, row))
    ),
    max_size=8,
)


@fuzzing
@given(files=st.dictionaries(st.sampled_from(PARTS), lines.map("\n".join)))
def test_made_up_files_give_value_errors(tmp_path, files):
    folder = tmp_path / "TINY"
    write_folder(folder, dict.fromkeys(PARTS, ""))
    for part in PARTS:
        (folder / f"TINY_{part}.txt").unlink()
    assert peak_memory(load_or_value_error, write_folder(folder, files)) < 1e7


@settings(parent=fuzzing, max_examples=50)
@given(data=st.data(), changes=flips)
def test_flipped_bytes_in_a_real_set_give_value_errors(tmp_path, data, changes):
    with zipfile.ZipFile(real_zip("MUTAG")) as archive:
        member = data.draw(st.sampled_from([m for m in archive.namelist() if "README" not in m]))
        for name in archive.namelist():
            content = archive.read(name)
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(flipped(content, changes) if name == member else content)
    assert peak_memory(load_or_value_error, tmp_path / "MUTAG") < 1e8


@settings(parent=fuzzing, max_examples=50)
@given(changes=flips)
def test_flipped_bytes_in_a_real_zip_give_value_errors(tmp_path, changes):
    path = tmp_path / "MUTAG.zip"
    path.write_bytes(flipped(real_zip("MUTAG").read_bytes(), changes))
    assert peak_memory(load_or_value_error, path) < 1e8


@fuzzing
@given(
    compression=st.sampled_from(
        [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    ),
    changes=flips,
)
def test_flipped_bytes_in_a_zip_give_value_errors(tmp_path, compression, changes):
    path = write_zip(tmp_path / "TINY.zip", compression=compression)
    path.write_bytes(flipped(path.read_bytes(), changes))
    load_or_value_error(path)


def test_the_examples_of_the_page_run(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text()
    _, *blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)  # the first needs files
    monkeypatch.chdir(tmp_path)
    names = {"gm": gm}
    for block in blocks:
        exec(block, names)
    said = [words for line in "".join(blocks).splitlines() for words in line.split("  # ")[1:]]
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == said[:2]
    assert printed[2:6] == said[2].split(", ")
    assert printed[6].startswith("ENZYMES 600 6 32.63")


def real_zip(name):
    path = Path(os.environ.get("GRAPHMOVER_DATA", "."), f"{name}.zip")
    if not path.is_file():
        pytest.skip(f"needs {name}.zip in the folder named by GRAPHMOVER_DATA")
    return path


def sizes(data):
    graphs, labels = data.graphs, data.graphs.node_labels
    return (
        len(graphs),
        # The collection's averages for Fingerprint are over all ids, with and without nodes.
        round(graphs.n_nodes / len(graphs), 2),
        round(graphs.n_edges / len(graphs), 2),
        0 if labels is None else len(set(labels.tolist())),
        len(np.unique(data.target)),
        0 if graphs.node_attributes is None else graphs.node_attributes.shape[1],
        0 if data.edge_labels is None else len(np.unique(data.edge_labels)),
        0 if data.edge_attributes is None else data.edge_attributes.shape[1],
    )


@pytest.mark.parametrize("name", [name for name in REAL if name != "COLLAB"])
def test_real_sets(name):
    data = load_dataset(real_zip(name))
    assert sizes(data) == REAL[name]
    degrees = np.diff(data.graphs.indptr)
    assert len(data.target) == len(data.graphs)
    assert (degrees == 0).sum() == ISOLATED.get(name, (degrees == 0).sum())
    assert (data.graphs.node_counts == 0).sum() == (651 if name == "Fingerprint" else 0)
    for values in (data.edge_labels, data.edge_attributes):
        assert values is None or len(values) == len(data.graphs.indices)


@pytest.mark.slow
def test_collab_in_bounded_memory(tmp_path):
    code = """
import resource, sys
sys.path[:0] = [sys.argv[2], sys.argv[2] + '/..']
from test_tu import load_dataset, sizes
data = load_dataset(sys.argv[1])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(sizes(data), peak if sys.platform == "darwin" else 1024 * peak, sep=";")
"""
    arguments = [
        sys.executable,
        "-c",
        code,
        str(real_zip("COLLAB")),
        str(Path(__file__).parent),
    ]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    found, peak = subprocess.check_output(arguments, env=environment, text=True).split(";")
    assert found == str(REAL["COLLAB"])
    assert int(peak) < 3e9


#: Sets that PyTorch Geometric takes long to read; others have all that these have.
LARGE = {"COLLAB", "DD", "REDDIT-BINARY"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in REAL if name not in LARGE])
def test_pytorch_geometric_reads_the_same_graphs(tmp_path, name):
    pytest.importorskip("torch_geometric")
    from torch_geometric.io import read_tu_data

    with zipfile.ZipFile(real_zip(name)) as archive:
        archive.extractall(tmp_path)
    theirs, slices, widths = read_tu_data(str(tmp_path / name), name)
    ours = load_dataset(tmp_path / name)
    graphs = ours.graphs
    assert theirs.y.tolist() == np.unique(ours.target, return_inverse=True)[1].tolist()
    assert np.diff(slices["y"]).tolist() == [1] * len(graphs)

    # They skip ids without nodes at the end; the nodes of all others come in the same order.
    n_slices = len(slices["edge_index"]) - 1
    assert graphs.node_counts[n_slices:].sum() == 0
    counts = np.diff(slices["x"]) if "x" in slices else np.asarray(theirs._num_nodes)
    assert counts.tolist() == graphs.node_counts[: len(counts)].tolist()

    # Edges in both directions, each once, as we keep them.
    first_node = np.repeat(graphs.offsets[:-1], 2 * graphs.edge_counts)
    rows = np.repeat(np.arange(graphs.n_nodes), np.diff(graphs.indptr))
    local = np.column_stack([rows - first_node, graphs.indices])
    per_graph = np.diff(slices["edge_index"])
    assert per_graph.tolist() == (2 * graphs.edge_counts[:n_slices]).tolist()
    assert theirs.edge_index.T.tolist() == local.tolist()

    n_attributes = widths["num_node_attributes"]
    check_features(theirs.x, n_attributes, graphs.node_attributes, graphs.node_labels)
    n_attributes = widths["num_edge_attributes"]
    check_features(theirs.edge_attr, n_attributes, ours.edge_attributes, ours.edge_labels)


def check_features(table, n_attributes, attributes, labels):
    """Compare attributes and one-hot labels of PyTorch Geometric with ours."""
    if attributes is not None:
        assert attributes.shape[1] == n_attributes
        np.testing.assert_allclose(table[:, :n_attributes].numpy(), attributes, rtol=1e-6)
    if labels is not None:
        one_hot = table[:, n_attributes:].numpy().astype(int)
        pairs = set(zip(map(tuple, one_hot.tolist()), labels.tolist(), strict=True))
        assert len(pairs) == len({code for code, _ in pairs}) == len({label for _, label in pairs})
