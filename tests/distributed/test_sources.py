"""SMILES and JSON lines by byte ranges, bad rows, and other file systems."""

import csv
import json
import random
import re

import numpy as np
import pyarrow.parquet as pq
import pytest
from distributed_runs import Noted, rows_of

import graphmover as gm
from graphmover.distributed.driver import run
from graphmover.distributed.engines.processes import Processes
from graphmover.distributed.lease import only_driver_of
from graphmover.distributed.source import cut_source
from graphmover.distributed.storage import Place
from graphmover.distributed.unit import Options

pytest.importorskip("rdkit")
fsspec = pytest.importorskip("fsspec")

from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402

MOLECULES = ["CCO", "c1ccccc1", "CC(=O)O", "C#N", "CCCC", "c1ccncc1O", "CCl", "C1CC1", "O=C=O"]


def transform_to(model, source, folder, **options):
    options = {"engine": "serial", "unit_rows": 4, **options}
    return gm.distributed.transform_to(model, source, folder, **options)


@pytest.fixture(scope="module")
def molecules():
    return gm.RandomGraphEmbedding(6, random_state=0).fit(gm.as_graph_batch(MOLECULES))


def compared(model, source, folder, **options):
    """One process and units give the same rows, and list the same graphs as bad."""
    one = folder / "one.parquet"
    model.transform_to(source, one, overwrite=True, **options)
    written = transform_to(model, source, folder / "z", overwrite=True, **options)
    assert rows_of(folder / "z") == rows_of(one)
    if options.get("errors", "raise") != "raise":
        own, listed = folder / "z" / "_skipped.csv", folder / "one.parquet.skipped.csv"
        assert own.read_bytes() == listed.read_bytes()
    return written


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("titles", ["", " {0}", " m-{0}", "\ttitle {0} of many words"])
def test_smiles_by_byte_ranges(molecules, tmp_path, titles, ends):
    rng = random.Random(0)
    lines = [rng.choice(MOLECULES) + titles.format(7 * i) for i in range(30)]
    lines[11:11] = ["", "   "]
    (tmp_path / "a.smi").write_bytes(b"\xef\xbb\xbf" + ends.join(lines).encode())
    written = compared(molecules, tmp_path / "a.smi", tmp_path)
    assert (written.n_rows, written.n_units) == (30, 8)


def test_ids_of_several_files_are_of_one_kind(molecules, tmp_path):
    (tmp_path / "1.smi").write_text("CCO 1\nC#N 2\n")
    (tmp_path / "2.smi").write_text("CCO a\nC#N\n")
    (tmp_path / "10.smi").write_text("CCO\nC#N\n")
    compared(molecules, tmp_path / "*.smi", tmp_path)
    ids = pq.read_table(tmp_path / "z")["id"].to_pylist()
    assert ids == ["1", "2", "a", None, None, None]


@pytest.mark.parametrize("errors", ["skip", "empty"])
@pytest.mark.filterwarnings("ignore:.* could not be read", "ignore:.*no nodes")
def test_bad_molecules_are_listed_with_their_lines(molecules, tmp_path, errors):
    lines = [f"{MOLECULES[i % 9]} m{i}" for i in range(20)]
    for place in (0, 5, 6, 7, 8, 19):
        lines[place] = f"nonsense bad{place}"
    lines[3] = ""
    (tmp_path / "a.smi").write_text("\n".join(lines))
    written = compared(molecules, tmp_path / "a.smi", tmp_path, errors=errors)
    assert written.n_skipped == 6
    with open(tmp_path / "z" / "_skipped.csv", encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    assert [row["position"] for row in listed] == ["1", "6", "7", "8", "9", "20"]
    with pytest.raises(ValueError, match=r"a\.smi, line 1: RDKit cannot read"):
        transform_to(molecules, tmp_path / "a.smi", tmp_path / "y")
    (tmp_path / "b.smi").write_text("CCO\nnonsense\n")
    compared(molecules, tmp_path / "*.smi", tmp_path, errors=errors)


def test_a_unit_without_a_good_row_is_an_empty_part(molecules, tmp_path):
    (tmp_path / "a.smi").write_text("CCO\n" * 4 + "nonsense\n" * 4 + "CCO\n" * 2)
    with pytest.warns(UserWarning) as caught:
        written = transform_to(molecules, tmp_path / "a.smi", tmp_path / "z", errors="skip")
    unread, not_lined_up = (str(warning.message) for warning in caught)
    assert re.match(r"4 graphs could not be read.*see .*z/_skipped\.csv", unread)
    assert "rows without ids no longer line up with the source" in not_lined_up
    assert (written.n_rows, written.n_units, written.n_skipped) == (6, 3, 4)
    with pytest.warns(UserWarning, match=r"4 graphs could not be read|no longer line up"):
        again = transform_to(molecules, tmp_path / "a.smi", tmp_path / "z", errors="skip")
    assert (again.n_rows, again.n_computed, again.n_skipped) == (6, 0, 4)


def test_json_lines_by_byte_ranges(model, data, tmp_path):
    gm.write_graphs(data[:30], tmp_path / "a.jsonl")
    written = compared(model, tmp_path / "a.jsonl", tmp_path)
    assert (written.n_rows, written.n_units) == (30, 8)


@pytest.mark.filterwarnings("ignore:.* could not be read", "ignore:.*no nodes")
def test_bad_json_lines_are_listed(model, data, tmp_path):
    gm.write_graphs(data[:12], tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    lines[5:7] = ["{}", "", "nonsense"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert compared(model, tmp_path / "a.jsonl", tmp_path, errors="skip").n_skipped == 2
    transform_to(model, tmp_path / "a.jsonl", tmp_path / "y", errors="empty")
    found = pq.read_table(tmp_path / "y")
    targets = data.target[:12].tolist()
    targets[5:7] = [None, None]  # integers stay integers, where one process writes NaN
    assert found["target"].to_pylist() == targets
    booleans = [True, False] * 6
    gm.write_graphs(data.graphs[:12], tmp_path / "b.jsonl", target=booleans)
    lines = (tmp_path / "b.jsonl").read_text().splitlines()
    lines[5:7] = ["{}", lines[6].replace('"target": true', '"target": null')]
    (tmp_path / "b.jsonl").write_text("\n".join(lines))
    transform_to(model, tmp_path / "b.jsonl", tmp_path / "x", errors="empty")
    booleans[5:7] = [None, None]
    assert pq.read_table(tmp_path / "x")["target"].to_pylist() == booleans
    assert found["id"].to_pylist() == [*range(1000, 1005), None, None, *range(1007, 1012)]


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_json_files_without_graphs_have_no_say_about_columns(model, data, tmp_path, text):
    folder = tmp_path / "graphs"
    folder.mkdir()
    gm.write_graphs(data[:6], folder / "2.jsonl")
    for name in ("1", "3"):
        (folder / f"{name}.jsonl").write_text(text)
    assert compared(model, folder, tmp_path).n_rows == 6


def test_errors_name_the_line_whatever_the_unit(model, molecules, data, tmp_path):
    gm.write_graphs(data[:12], tmp_path / "a.jsonl")
    graphs = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    graphs[9]["edges"][0]["weight"] = -1.0
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, graphs)))
    with pytest.raises(ValueError, match=r"a\.jsonl, line 10: edge .* has the weight -1\.0"):
        transform_to(model, tmp_path / "a.jsonl", tmp_path / "z")
    del graphs[9]["edges"][0]["weight"], graphs[6]["graph"]["target"]
    (tmp_path / "a.jsonl").write_text("\n\n".join(map(json.dumps, graphs)))
    with pytest.raises(ValueError, match=r"a\.jsonl, line 13 has no target while others have"):
        transform_to(model, tmp_path / "a.jsonl", tmp_path / "z", batch_size=3, overwrite=True)


def test_graphs_that_lack_what_the_model_uses_are_named_with_their_file(molecules, data, tmp_path):
    lacks = "the model was fitted with node labels, but not all of these graphs have them"
    for name, places in (("a.jsonl", "lines 1 to 4"), ("a.parquet", "graphs 0 to 5")):
        gm.write_graphs(data[:6], tmp_path / name)
        with pytest.raises(ValueError, match=f"{name}, {places}: {lacks}"):
            transform_to(molecules, tmp_path / name, tmp_path / "z", overwrite=True)
    nodes = [gm.Graph(2, [(0, 1)], node_attributes=np.ones((2, width))) for width in (3, 3, 2, 2)]
    model = gm.RandomGraphEmbedding(4, gamma=1.0, node_embedding="attributes", random_state=0)
    model.fit(gm.as_graph_batch(nodes[:2]))
    for number in (0, 2):
        gm.write_graphs(
            gm.as_graph_batch(nodes[number : number + 2]), tmp_path / f"{number}.parquet"
        )
    with pytest.raises(ValueError, match=r"2\.parquet: graphs 0 to 1 have 2 columns .* expected 3"):
        transform_to(model, tmp_path / "[02].parquet", tmp_path / "y")


def test_json_ids_that_turn_out_to_be_text_are_an_error(model, data, tmp_path, monkeypatch):
    monkeypatch.setattr("graphmover.distributed.line_units._FIRST", 2)
    gm.write_graphs(data[:6], tmp_path / "a.jsonl")
    text = (tmp_path / "a.jsonl").read_text().replace('"id": 1005', '"id": "five"')
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(ValueError, match=r"an id is of another type .*graphmover convert"):
        transform_to(model, tmp_path / "a.jsonl", tmp_path / "z")


def test_a_cut_is_the_same_every_time_and_covers_every_byte(molecules, tmp_path):
    rng = random.Random(1)
    lines = [rng.choice([*MOLECULES, "", " "]) + rng.choice(["\n", "\r\n"]) for _ in range(500)]
    (tmp_path / "a.smi").write_text("".join(lines), newline="")
    for unit_rows in (1, 7, 100, 1000):
        units = cut_source(tmp_path / "a.smi", Options(), unit_rows).units
        assert units == cut_source(tmp_path / "a.smi", Options(), unit_rows).units
        ends = [0, *(unit.stop for unit in units)]
        assert [unit.start for unit in units] == ends[:-1]
        assert ends[-1] == (tmp_path / "a.smi").stat().st_size
        assert sum(unit.rows for unit in units) == sum(bool(line.strip()) for line in lines)


# Other file systems


@pytest.fixture
def memory(data):
    """Graphs in fsspec's memory, in a folder."""
    system = fsspec.filesystem("memory")
    system.makedirs("/graphs", exist_ok=True)
    yield system
    for name in list(system.store):
        del system.store[name]
    system.pseudo_dirs[:] = [""]


@pytest.mark.parametrize("pattern", ["memory://graphs", "memory://graphs/*.parquet"])
def test_fsspec(model, data, source, expected, memory, pattern, tmp_path):
    for name in ("2.parquet", "10.parquet"):
        memory.pipe(f"/graphs/{name}", (source / name).read_bytes())
    written = transform_to(model, pattern, "memory://vectors")
    assert written.n_rows == 240
    memory.get("/vectors", str(tmp_path / "z"), recursive=True)
    assert rows_of(tmp_path / "z") == rows_of(expected)
    memory.rm("/vectors/part-000003.parquet")
    memory.pipe("/vectors/part-000004.parquet", b"damaged")
    assert transform_to(model, pattern, "memory://vectors").n_computed == 2
    names = {name.rpartition("/")[2] for name in memory.ls("/vectors", detail=False)}
    assert {"_SUCCESS", "_manifest.json", "_model.npz"} < names
    assert all(
        name in ("_SUCCESS", "_manifest.json", "_model.npz") or name[:5] == "part-"
        for name in names
    )


class Remembering(MemoryFileSystem):
    """Looks at a folder once, and then only if told to, as object stores of fsspec do."""

    protocol = "remembering"

    @classmethod
    def _strip_protocol(cls, path):
        return MemoryFileSystem._strip_protocol(path.removeprefix("remembering://"))

    def __init__(self, **options):
        super().__init__(**options)
        self.found = {}

    def find(self, path, **options):
        if path not in self.found:
            self.found[path] = super().find(path, **options)
        return self.found[path]

    def invalidate_cache(self, path=None):
        self.found.clear()


def test_file_systems_that_remember_folders_see_what_others_wrote(memory):
    fsspec.register_implementation("remembering", Remembering, clobber=True)
    for name in ("graphs", "graphs/*.parquet"):
        place = Place(f"remembering://{name}")
        memory.pipe("/graphs/1.parquet", b"")
        assert [path for path, _ in place.files()[0]] == ["/graphs/1.parquet"]
        memory.pipe("/graphs/2.parquet", b"")  # as another process does
        assert len(place.files()[0]) == 2
        memory.rm("/graphs/2.parquet")
    folder = Place("remembering://z")
    memory.pipe("/z/part-000000.parquet", b"")
    assert list(folder.listing()) == ["part-000000.parquet"]
    memory.pipe("/z/part-000001.parquet", b"")
    assert list(folder.listing()) == ["part-000000.parquet", "part-000001.parquet"]


def test_a_source_in_the_output_folder_is_refused(model, source, memory):
    memory.pipe("/graphs/2.parquet", (source / "2.parquet").read_bytes())
    for name in ("graphs", "graphs/*.parquet", "graphs/2.parquet"):
        with pytest.raises(ValueError, match=r"it holds the source memory:///graphs/2\.parquet"):
            transform_to(model, f"memory://{name}", "memory://graphs", overwrite=True)
    assert memory.exists("/graphs/2.parquet")


@pytest.mark.slow
def test_uris_of_local_files_and_memory_does_not_grow_with_units(model, source, expected, tmp_path):
    engine = Noted(Processes(1))
    uri = f"file://{source}/*.parquet"
    written = run(model, uri, f"file://{tmp_path}/z", engine, Options(), unit_rows=4)
    assert written.n_rows == 240
    assert rows_of(tmp_path / "z") == rows_of(expected)
    early, late = engine.peaks[9], engine.peaks[-1]
    assert written.peak_bytes == late > 10**7
    assert late - early < 8 * 2**20  # of fifty units, so a unit leaves less than 168 kB


def test_unknown_file_systems_are_named(model, source, tmp_path):
    with pytest.raises(ValueError, match=r"nonsense://z.*nonsense"):
        transform_to(model, source, "nonsense://z")


def test_a_folder_is_read_flat_and_a_pattern_at_any_depth(memory, tmp_path):
    names = ["1.parquet", "a/2.parquet", "a/b/3.parquet"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
        memory.pipe(f"/graphs/{name}", b"")
    for home in (tmp_path, f"file://{tmp_path.as_posix()}", "memory://graphs"):

        def found(pattern, home=home):
            return [path for path, _ in Place(f"{home}{pattern}").files()[0]]

        assert len(found("")) == len(found("/*.parquet")) == 1
        deep = found("/**/*.parquet")
        assert len(deep) == 3
        assert all(path.endswith(f"/{name}") for path, name in zip(deep, names, strict=True))


@pytest.mark.parametrize("pattern", ["**/*.parquet", "*/*.parquet", "*/part-*0.par*"])
def test_an_output_whose_parts_the_pattern_would_match_is_refused(
    model, data, memory, tmp_path, pattern
):
    (tmp_path / "a").mkdir()
    gm.write_graphs(data[:4], tmp_path / "a" / "part-000000.parquet")
    memory.pipe("/graphs/a/part-000000.parquet", (tmp_path / "a/part-000000.parquet").read_bytes())
    for home in (tmp_path, f"file://{tmp_path.as_posix()}", "memory://graphs"):
        with pytest.raises(ValueError, match=r"cannot write .*z: .* would match its parts"):
            transform_to(model, f"{home}/{pattern}", f"{home}/z")
    assert transform_to(model, tmp_path / pattern, "memory://graphs/z").n_rows == 4
    assert transform_to(model, tmp_path / "a" / "*.parquet", tmp_path / "z").n_rows == 4


def test_smiles_in_memory(molecules, memory, tmp_path):
    memory.pipe("/graphs/a.smi", b"CCO 1\nC#N 2\n" * 5)
    assert transform_to(molecules, "memory://graphs/a.smi", "memory://z").n_rows == 10


def test_a_second_driver_elsewhere_is_refused(model, source, memory, monkeypatch):
    with (
        only_driver_of(Place("memory://vectors")),
        pytest.raises(ValueError, match=r"another process is writing memory://vectors: process"),
    ):
        transform_to(model, source / "2.parquet", "memory://vectors")
    with only_driver_of(Place("memory://vectors")):
        monkeypatch.setattr("graphmover.distributed.lease.GONE", 0.0)
        transform_to(model, source / "2.parquet", "memory://vectors")  # the other counts as gone
