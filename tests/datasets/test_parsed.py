import numpy as np
import pytest
from batches import assert_same as assert_same_graphs
from fuzz import parsed_cache
from hypothesis import HealthCheck, given, settings
from test_tu import (
    TINY,
    changed,
    check_tiny,
    flipped,
    flips,
    write_folder,
    write_zip,
)

from graphmover.datasets import load_dataset, tu
from graphmover.datasets import parsed as _parsed


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache that keeps small sets too."""
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "cache" / project)
    monkeypatch.setattr(tu, "LEAST_BYTES", 0)
    return tmp_path / "cache" / "graphmover" / "parsed"


@pytest.fixture
def parsings(monkeypatch):
    """One entry for each time a set is parsed."""
    calls = []
    read_set = tu._read_set
    monkeypatch.setattr(tu, "_read_set", lambda files: calls.append(files.name) or read_set(files))
    return calls


def assert_same(a, b):
    assert repr(a) == repr(b) and repr(a.graphs) == repr(b.graphs)
    assert_same_graphs(a.graphs, b.graphs)
    assert a.target is b.target is None or a.target.tolist() == b.target.tolist()


FORMS = [
    TINY,
    changed(node_labels="0, 1\n" * 5, edge_labels="1, 2\n" * 7, edge_attributes="1.5\n" * 7),
    changed(graph_labels=None, graph_attributes="1, 2\n" * 5, node_attributes=None),
    {"A": "1, 2\n", "graph_indicator": "1\n1\n"},
    {"A": "", "graph_indicator": "", "node_labels": "", "edge_labels": "", "graph_labels": "1\n"},
]


@pytest.mark.parametrize("files", FORMS)
@pytest.mark.parametrize("write", [write_folder, write_zip])
def test_what_comes_back_is_what_was_parsed(tmp_path, cache, parsings, files, write):
    path = write(tmp_path / "TINY.zip", files)
    first, second = load_dataset(path), load_dataset(path)
    assert parsings == ["TINY"] and len(list(cache.iterdir())) == 1
    assert_same(first, second)
    assert not second.graphs.indices.flags.writeable


@pytest.mark.parametrize("write", [write_folder, write_zip])
def test_other_content_is_parsed_again(tmp_path, cache, parsings, write):
    path = write(tmp_path / "TINY.zip")
    check_tiny(load_dataset(path))
    write(path, changed(graph_labels="7\n8\n7\n8\n8\n"))
    assert load_dataset(path).target.tolist() == [7, 8, 7, 8, 8]
    assert len(parsings) == 2
    assert len(list(cache.iterdir())) == 1  # the entry before is gone


def test_numbers_that_move_from_file_to_file_are_other_content(tmp_path, cache):
    folder = write_folder(tmp_path / "TINY", changed(node_labels="1\n2\n3\n4\n5\n1\n"))
    with pytest.raises(ValueError, match="6 lines for 5 nodes"):
        load_dataset(folder)
    write_folder(folder, changed(node_labels="1\n2\n3\n4\n5\n", node_attributes="1\n" * 5))
    assert load_dataset(folder).graphs.node_attributes.shape == (5, 1)


@pytest.mark.parametrize("damage", ["cut", "flipped", "robbed", "emptied", "text"])
def test_a_damaged_entry_is_written_again(tmp_path, cache, parsings, damage):
    path = write_zip(tmp_path / "TINY.zip")
    check_tiny(load_dataset(path))
    (entry,) = cache.iterdir()
    whole = entry.read_bytes()
    middle = len(whole) // 2
    entry.write_bytes(
        {
            "cut": whole[:middle],
            "flipped": whole.replace(b"\x28\0\0\0\0\0\0\0", b"\x29\0\0\0\0\0\0\0"),  # label 40
            "robbed": whole.replace(b"node_labels.npy", b"node_labelz.npy"),
            "emptied": b"",
            "text": b"not an archive",
        }[damage]
    )
    assert entry.read_bytes() != whole
    check_tiny(load_dataset(path))
    check_tiny(load_dataset(path))
    assert len(parsings) == 2
    assert entry.read_bytes() == whole


@pytest.mark.slow
@settings(
    deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(changes=flips)
def test_flipped_bytes_in_an_entry_never_matter(tmp_path, cache, changes):
    path = write_zip(tmp_path / "TINY.zip")
    check_tiny(load_dataset(path))
    (entry,) = cache.iterdir()
    entry.write_bytes(flipped(entry.read_bytes(), changes))
    check_tiny(load_dataset(path))
    entry.unlink()


def test_a_plain_array_is_no_entry(tmp_path, cache):
    path = write_zip(tmp_path / "TINY.zip")
    load_dataset(path)
    (entry,) = cache.iterdir()
    with entry.open("wb") as file:
        np.save(file, np.zeros(3))
    check_tiny(load_dataset(path))


def test_no_pickles(tmp_path, cache, parsings):
    path = write_zip(tmp_path / "TINY.zip")
    check_tiny(load_dataset(path))
    (entry,) = cache.iterdir()
    np.savez(entry, offsets=np.array([{}], dtype=object))
    check_tiny(load_dataset(path))
    assert len(parsings) == 2


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, cache, parsings):
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    path = write_zip(tmp_path / "TINY.zip")
    check_tiny(load_dataset(path))
    check_tiny(load_dataset(path))
    assert len(parsings) == 2


@pytest.mark.parametrize("seed", range(10))
def test_changed_entries(tmp_path, seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        parsed_cache.attack(rng, tmp_path)


def rewrite(entry, **changes):
    with np.load(entry) as archive:
        arrays = dict(archive) | changes
    with entry.open("wb") as file:
        np.savez(file, **arrays)


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": [10**9, 0, 1, 0]},
        {"indices": [-1, 0, 1, 0]},
        {"indices": [0, 1, 1, 0]},  # a loop
        {"indptr": [0, 1, 2, 3, 10**12, 4]},
        {"indptr": [0, 1, 2, 3, 4]},
        {"offsets": [0, 2, 4, 4, 10**9, 5]},
        {"offsets": [0, 4, 2, 4, 5, 5]},
        {"offsets": [[0, 2, 4, 4, 5, 5]]},
        {"node_labels": [[1]] * 4},
        {"node_labels": [1] * 5},
        {"node_attributes": np.zeros((4, 2))},
        {"node_attributes": np.zeros((5, 0))},
        {"edge_labels": [[1]] * 5},
        {"target": [1] * 4},
        {"target": np.array(["a"] * 5)},
        {"contents": np.zeros((2, 2))},
        {"surprise": [1]},
    ],
    ids=str,
)
def test_an_entry_that_no_parser_writes_is_replaced(tmp_path, cache, parsings, changes):
    path = write_zip(tmp_path / "TINY.zip")
    check_tiny(load_dataset(path))
    (entry,) = cache.iterdir()
    whole = entry.read_bytes()
    with np.load(entry) as archive:
        types = {key: array.dtype for key, array in archive.items()}
    rewrite(
        entry,
        **{
            key: value if isinstance(value, np.ndarray) else np.array(value, types.get(key))
            for key, value in changes.items()
        },
    )
    check_tiny(load_dataset(path))
    assert len(parsings) == 2
    assert entry.read_bytes() == whole


def test_names_that_look_alike_have_entries_of_their_own(tmp_path, cache, parsings):
    names = ["s.1", "s_1", "s 1", "s-1"]
    for name in names * 2:
        folder = write_folder(tmp_path / name, name=name)
        assert load_dataset(folder).name == name
    assert parsings == names
    assert len(list(cache.iterdir())) == len(names)
    for name in names:  # the same bytes under several names
        path = write_zip(tmp_path / f"{name}.zip", name="s", inside="")
        assert load_dataset(path).name == "s"


def test_entries_of_an_earlier_format_are_not_read(tmp_path, cache, parsings):
    path = write_zip(tmp_path / "TINY.zip")
    load_dataset(path)
    (entry,) = cache.iterdir()
    digest = entry.name.split(".")[1]
    earlier = cache / f"TINY.{digest}.v1.npz"
    entry.rename(earlier)
    rewrite(earlier, target=np.arange(5))
    check_tiny(load_dataset(path))
    assert len(parsings) == 2


def test_small_sets_and_broken_ones_are_not_kept(tmp_path, cache, monkeypatch):
    with pytest.raises(ValueError, match="is missing"):
        load_dataset(write_zip(tmp_path / "broken.zip", changed(graph_indicator=None)))
    monkeypatch.setattr(tu, "LEAST_BYTES", _parsed.LEAST_BYTES)
    check_tiny(load_dataset(write_zip(tmp_path / "TINY.zip")))
    assert not cache.exists()


def test_names_are_no_paths(tmp_path, cache):
    name = "..\\x:y*" + "n" * 150
    path = write_zip(tmp_path / "odd.zip", name="a b.." + "n" * 150, inside="")
    assert load_dataset(path).name == "a b.." + "n" * 150
    (entry,) = cache.iterdir()
    assert set(entry.stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.-")
    assert _parsed._entry(name, "0" * 64).parent == cache
