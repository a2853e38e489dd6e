"""Units, parts and the folder, in the calling process."""

import copy
import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from distributed_runs import Watch, digest_of_rows, rows_of

import graphmover as gm
from graphmover._utils.locks import only_writer_of
from graphmover.distributed.driver import run
from graphmover.distributed.engines.serial import Serial
from graphmover.distributed.running import Task
from graphmover.distributed.source import cut_source
from graphmover.distributed.unit import Options
from graphmover.io.model_file import fingerprint

N_UNITS = 60


def transform_to(model, source, folder, **options):
    options = {"engine": "serial", "unit_rows": 4, **options}
    return gm.distributed.transform_to(model, source, folder, **options)


@pytest.fixture(scope="session")
def complete(model, source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("complete") / "z"
    transform_to(model, source, folder)
    return folder


@pytest.fixture
def finished(complete, tmp_path):
    """A copy of the folder of a run that has ended."""
    return Path(shutil.copytree(complete, tmp_path / "z"))


def names(folder):
    return sorted(os.listdir(folder))


def test_rows_are_those_of_one_process_in_the_order_of_the_source(
    model, source, expected, tmp_path
):
    written = transform_to(model, source, tmp_path / "z")
    assert written[:5] == (240, 8, N_UNITS, N_UNITS, 0)
    assert written.peak_bytes > 10**7
    assert pq.read_table(tmp_path / "z").equals(pq.read_table(expected))
    own = ["_SUCCESS", "_manifest.json", "_model.npz"]
    assert names(tmp_path / "z") == own + [f"part-{i:06}.parquet" for i in range(N_UNITS)]
    assert names(tmp_path) == ["z"]


def test_the_folder_is_one_table(model, source, expected, tmp_path, finished):
    table = pd.read_parquet(tmp_path / "z")
    pd.testing.assert_frame_equal(table, pd.read_parquet(expected))
    assert ds.dataset(tmp_path / "z").count_rows() == 240
    assert table["id"].tolist() == list(range(1000, 1240))


def test_polars_opens_the_folder_as_one_table(expected, finished):
    polars = pytest.importorskip("polars")
    table = polars.read_parquet(finished / "*.parquet")
    assert table.equals(polars.read_parquet(expected))
    assert polars.scan_parquet(finished / "*.parquet").select("id").collect().height == 240


def test_duckdb_opens_the_folder_as_one_table(expected, finished):
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.sql(f"select * from '{finished.as_posix()}/*.parquet' order by id")
    assert found.fetchall() == list(zip(*pq.read_table(expected).to_pydict().values(), strict=True))


def test_footers_tell_whose_rows_they_are(model, source, tmp_path, finished):
    footers = []
    for unit in range(N_UNITS):
        metadata = pq.read_metadata(tmp_path / "z" / f"part-{unit:06}.parquet")
        footers.append(json.loads(metadata.metadata[b"graphmover"]))
        assert metadata.num_rows == footers[-1]["rows"]
    assert [footer["unit"] for footer in footers] == list(range(N_UNITS))
    assert {footer["model"] for footer in footers} == {fingerprint(model._fitted_model())}
    assert len({footer["run"] for footer in footers}) == 1
    loaded = gm.RandomGraphEmbedding.load(tmp_path / "z" / "_model.npz")
    assert fingerprint(loaded._fitted_model()) == footers[0]["model"]


def test_graph_vectorizer(data, source, tmp_path):
    vectorizer = gm.GraphVectorizer(16, random_state=0).fit(data.graphs)
    vectorizer.transform_to(source, tmp_path / "one.parquet")
    transform_to(vectorizer, source / "2.parquet", tmp_path / "z", unit_rows=30)
    found = pq.read_table(tmp_path / "z")
    assert found.equals(pq.read_table(tmp_path / "one.parquet").slice(0, 100))


@pytest.mark.parametrize("batch_size", [1, 3, None])
def test_units_and_batches_of_any_size_give_the_same_rows(
    model, source, expected, tmp_path, batch_size
):
    written = transform_to(model, source, tmp_path / "z", unit_rows=31, batch_size=batch_size)
    assert written.n_units == 9  # 28 graphs in each, of 100 and of 140
    assert rows_of(tmp_path / "z") == rows_of(expected)


# Resuming


def test_a_restarted_run_does_what_is_missing_and_nothing_else(
    model, source, expected, tmp_path, finished
):
    folder = finished
    before = {name: (folder / name).stat().st_mtime_ns for name in names(folder)}
    for unit in (3, 17, 59):
        (folder / f"part-{unit:06}.parquet").unlink()
    watch = Watch(tmp_path / "log")
    options = Options()
    written = run(model, source, folder, Serial(), options, unit_rows=4, task_of=watch.task_of)
    assert written.n_computed == 3
    assert [unit for unit, _ in watch.starts()] == [3, 17, 59]
    assert digest_of_rows(folder) == digest_of_rows(expected)
    for name in names(folder):
        if name.startswith("part-") and int(name[5:11]) not in (3, 17, 59):
            assert (folder / name).stat().st_mtime_ns == before[name]
    assert transform_to(model, source, folder).n_computed == 0


def damaged(path, how):
    content = bytearray(path.read_bytes())
    if how == "cut short":
        del content[-100:]
    elif how == "emptied":
        content.clear()
    elif how == "a bit of a vector":
        content[len(content) // 4] ^= 1
    elif how == "a bit of the footer":
        content[content.index(b'"unit"') + 9] ^= 1
    elif how == "text":
        content[:] = b"not Parquet"
    path.write_bytes(content)


@pytest.mark.parametrize(
    "how", ["cut short", "emptied", "a bit of a vector", "a bit of the footer", "text"]
)
def test_a_damaged_part_is_computed_again(model, source, expected, tmp_path, finished, how):
    folder = finished
    damaged(folder / "part-000007.parquet", how)
    assert transform_to(model, source, folder).n_computed == 1
    assert digest_of_rows(folder) == digest_of_rows(expected)


def test_every_bit_of_a_part_counts(model, data, expected, tmp_path):
    """Damage that does not change rows may stay; rows never differ."""
    folder, source = tmp_path / "z", tmp_path / "a.parquet"
    gm.write_graphs(data[:4], source)
    transform_to(model, source, folder)
    part = folder / "part-000000.parquet"
    good = part.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.choice(len(good), 40, replace=False):
        content = bytearray(good)
        content[place] ^= 1 << rng.integers(8)
        part.write_bytes(content)
        transform_to(model, source, folder)
        assert rows_of(folder)[:4] == rows_of(expected)[:4], place


def test_footers_alone_are_looked_at_if_asked(model, source, tmp_path, finished):
    folder = finished
    damaged(folder / "part-000007.parquet", "a bit of a vector")
    assert transform_to(model, source, folder, verify=False).n_computed == 0
    assert transform_to(model, source, folder).n_computed == 1


def test_a_part_of_another_run_is_computed_again(model, data, source, expected, tmp_path, finished):
    other = gm.RandomGraphEmbedding(8, random_state=1).fit(data.graphs)
    transform_to(other, source, tmp_path / "other")
    shutil.copy(tmp_path / "other" / "part-000005.parquet", tmp_path / "z")
    shutil.copy(tmp_path / "z" / "part-000006.parquet", tmp_path / "z" / "part-000008.parquet")
    assert transform_to(model, source, tmp_path / "z").n_computed == 2
    assert digest_of_rows(tmp_path / "z") == digest_of_rows(expected)


def test_an_error_leaves_what_is_done(model, source, expected, tmp_path, monkeypatch):
    real, calls = os.fsync, iter(range(1000))

    def fsync(descriptor):
        if next(calls) == 12:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match=r"No space left on device: '.*part-000010\.parquet'"):
        transform_to(model, source, tmp_path / "z")
    monkeypatch.undo()
    assert "_SUCCESS" not in names(tmp_path / "z")
    assert not [name for name in names(tmp_path / "z") if name.startswith(".")]
    assert transform_to(model, source, tmp_path / "z").n_computed == 50
    assert digest_of_rows(tmp_path / "z") == digest_of_rows(expected)


def test_workers_of_a_run_that_was_started_over_commit_nothing(model, data, source, tmp_path):
    """As a worker of Dask does that is at a unit when the driver gives up."""
    old = []

    def task_of(job):
        old.append(Task(job))
        return old[0]

    units = cut_source(source, Options(), 60)
    run(model, source, tmp_path / "z", Serial(), Options(), unit_rows=60, task_of=task_of)
    other = gm.RandomGraphEmbedding(8, random_state=1).fit(data.graphs)
    transform_to(other, source, tmp_path / "z", unit_rows=60, overwrite=True)
    before = digest_of_rows(tmp_path / "z")
    for unit in units.units:
        with pytest.raises(RuntimeError, match=r"started over .*unit \d is not committed"):
            old[0](unit, units.files[unit.file])
    assert digest_of_rows(tmp_path / "z") == before
    assert not [name for name in names(tmp_path / "z") if name.startswith(".")]
    (tmp_path / "z" / "_manifest.json").unlink()
    with pytest.raises(RuntimeError, match="or removed: unit 0 is not committed"):
        old[0](units.units[0], units.files[0])


def test_workers_that_do_not_see_the_files_say_so(model, source, tmp_path):
    def task_of(job):
        return Task(job._replace(folder="/elsewhere/z"))

    with pytest.raises(
        FileNotFoundError, match=r"_model\.npz.* does .*:\d+ not see it\? Every worker"
    ):
        run(model, source, tmp_path / "z", Serial(), Options(), unit_rows=60, task_of=task_of)


class Elsewhere:
    """An engine whose workers are on other machines."""

    def run(self, task, work):
        yield from ()
        raise InterruptedError(f"{len(work)} units")


def test_the_driver_needs_no_gpu(model, source, tmp_path, monkeypatch):
    monkeypatch.setattr("graphmover.distributed.warming.gpu_available", lambda: False)
    model = copy.copy(model).set_params(device="cuda")
    with pytest.raises(InterruptedError, match="60 units"):
        run(model, source, tmp_path / "z", Elsewhere(), Options(), unit_rows=4)


# Refusals


def test_another_model_is_refused(model, data, source, tmp_path, finished):
    other = gm.RandomGraphEmbedding(8, random_state=1).fit(data.graphs)
    differs = r"another run: the model has random_state=1, it was random_state=0\. Finish it"
    with pytest.raises(ValueError, match=differs):
        transform_to(other, source, tmp_path / "z")
    transform_to(other, source, tmp_path / "z", overwrite=True)
    vectors = np.stack(pd.read_parquet(tmp_path / "z")["vector"])
    assert (vectors == other.transform(data.graphs)).all()


def test_what_differs_between_models_is_said(model, data, source, tmp_path, finished):
    def refused(other, message):
        with pytest.raises(ValueError, match=message):
            transform_to(other, source, tmp_path / "z")

    changed = gm.RandomGraphEmbedding(16, gamma=0.5, random_state=0).fit(data.graphs)
    refused(
        changed,
        "run: the model has gamma=0.5, it was gamma=.scale.; "
        r"the model has n_components=16, it was n_components=8\. Finish",
    )
    fewer = gm.RandomGraphEmbedding(8, random_state=0).fit(data.graphs[:100])
    refused(fewer, "run: the model is a different one with the same parameters, fitted to other gr")
    vectorizer = gm.GraphVectorizer(8, random_state=0).fit(data.graphs)
    refused(vectorizer, "the model is a GraphVectorizer, it was a RandomGraphEmbedding")
    (finished / "_model.npz").write_bytes(b"damaged")
    refused(changed, r"run: the model is a different one\. Finish")
    assert transform_to(model, source, finished).n_computed == 0


def test_another_version_of_graphmover_is_refused(model, data, source, tmp_path, finished):
    manifest = json.loads((finished / "_manifest.json").read_text())
    older = manifest | {"graphmover": "0.0.9", "model": "0" * 32}  # fingerprints depend on it
    (finished / "_manifest.json").write_text(json.dumps(older))
    said = r"graphmover 0\.0\.9 wrote it, this is graphmover .* \(install the other version to "
    with pytest.raises(ValueError, match=said + r"finish it\)\. Finish it as .*overwrite=True"):
        transform_to(model, source, finished)
    other = gm.RandomGraphEmbedding(8, random_state=1).fit(data.graphs)
    with pytest.raises(ValueError, match=said + r"finish it\); the model has random_state=1"):
        transform_to(other, source, finished)
    (finished / "_manifest.json").write_text(json.dumps(manifest | {"graphmover": "0.0.9"}))
    with pytest.raises(ValueError, match=said):  # whatever else is equal
        transform_to(model, source, finished)
    assert transform_to(model, source, finished, overwrite=True).n_computed == N_UNITS


def test_what_does_not_matter_for_the_rows_may_change(model, source, tmp_path, finished):
    options = {"batch_size": 2, "max_bytes": 10**10, "n_jobs": 2}
    assert transform_to(model, source, tmp_path / "z", **options).n_computed == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"errors": "skip"}, "errors='skip', it was errors='raise'"),
        ({"id_column": "id"}, "id_column='id', it was id_column=None"),
        ({"unit_rows": 8}, "unit_rows=8, it was unit_rows=4"),
    ],
)
def test_other_options_are_refused(model, source, tmp_path, finished, options, message):
    with pytest.raises(ValueError, match=message):
        transform_to(model, source, tmp_path / "z", **options)


def test_another_source_is_refused(model, data, tmp_path):
    graphs = tmp_path / "graphs"
    graphs.mkdir()
    gm.write_graphs(data[:8], graphs / "a.parquet", batch_size=4)
    transform_to(model, graphs, tmp_path / "z")
    with pytest.raises(ValueError, match=r"the source is .*a\.parquet, it was .*graphs"):
        transform_to(model, graphs / "a.parquet", tmp_path / "z")
    gm.write_graphs(data[8:12], graphs / "b.parquet")
    with pytest.raises(ValueError, match="there are 2 files, there were 1"):
        transform_to(model, graphs, tmp_path / "z")
    (graphs / "b.parquet").unlink()
    gm.write_graphs(data[8:12], graphs / "a.parquet", overwrite=True)
    with pytest.raises(ValueError, match=r"a\.parquet has \d+ bytes, it had \d+"):
        transform_to(model, graphs, tmp_path / "z")


def test_other_content_of_the_same_size_is_refused(model, tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "a.smi").write_text("CCO a\nCCN b\n")
    with pytest.warns(UserWarning, match="no node label in common"):
        transform_to(model_of_molecules(), tmp_path / "a.smi", tmp_path / "z")
    (tmp_path / "a.smi").write_text("CCO a\nCCC b\n")
    with pytest.raises(ValueError, match=r"the content of .*a\.smi has changed"):
        transform_to(model_of_molecules(), tmp_path / "a.smi", tmp_path / "z")


def model_of_molecules():
    graphs = gm.as_graph_batch([gm.Graph(2, [(0, 1)], node_labels=["X", "Y"])] * 4)
    return gm.RandomGraphEmbedding(4, gamma=1.0, random_state=0).fit(graphs)


def test_a_second_driver_is_refused(model, source, tmp_path):
    with (
        only_writer_of(tmp_path / "z"),
        pytest.raises(ValueError, match=r"another process is writing .*z: wait for it to end"),
    ):
        transform_to(model, source, tmp_path / "z")
    assert transform_to(model, source, tmp_path / "z").n_computed == N_UNITS


def test_a_folder_with_other_files_is_refused_and_left_alone(model, source, tmp_path):
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "thesis.tex").write_text("precious")
    for overwrite in (False, True):
        with pytest.raises(ValueError, match=r"files that are not graphmover's: 'thesis\.tex'"):
            transform_to(model, source, tmp_path / "z", overwrite=overwrite)
    assert names(tmp_path / "z") == ["thesis.tex"]
    (tmp_path / "z" / "thesis.tex").rename(tmp_path / "z" / "part-000000.parquet")
    with pytest.raises(ValueError, match=r"holds parts, but no _manifest\.json"):
        transform_to(model, source, tmp_path / "z")


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_source_in_the_output_folder_is_refused_and_left_alone(model, data, tmp_path, overwrite):
    folder, link = tmp_path / "graphs", tmp_path / "link"
    folder.mkdir()
    source = folder / "part-000000.parquet"
    gm.write_graphs(data[:4], source)
    content = source.read_bytes()
    outputs = [folder, f"file://{folder.as_posix()}"]
    if os.name == "posix":
        link.symlink_to(folder)
        outputs.append(link)
    for output in outputs:
        for name in (folder, source, f"file://{folder.as_posix()}/*.parquet"):
            with pytest.raises(ValueError, match=r"it holds the source .*part-000000\.parquet"):
                transform_to(model, name, output, overwrite=overwrite)
    assert names(folder) == ["part-000000.parquet"]
    assert source.read_bytes() == content
    assert transform_to(model, folder, folder / "z").n_computed == 1  # below it is well


def test_a_damaged_manifest_is_named(model, source, tmp_path, finished):
    for content in (b"", b"{}", b"[1]", b'{"format": 2, "graphmover": "9"}'):
        (tmp_path / "z" / "_manifest.json").write_bytes(content)
        with pytest.raises(ValueError, match=r"_manifest\.json cannot .*overwrite=True") as refusal:
            transform_to(model, source, tmp_path / "z")
    assert "graphmover 9 wrote it in the format 2, expected 1" in str(refusal.value)
    assert transform_to(model, source, tmp_path / "z", overwrite=True).n_computed == N_UNITS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "spark"}, r"engine must be one of 'processes', .*got 'spark'"),
        ({"workers": 2}, "leave out workers: it has no effect with engine='serial'"),
        ({"num_gpus": -1}, "num_gpus must be a number, at least 0, got -1"),
        ({"num_gpus": float("nan")}, "num_gpus must be a number, at least 0, got nan"),
        ({"resources": "GPU"}, "resources must be a dict of numbers, .* got 'GPU'"),
        ({"resources": {"GPU": "1"}}, "resources must be a dict of numbers, .* got {'GPU': '1'}"),
        ({"unit_rows": 0}, "unit_rows"),
        ({"batch_size": 0}, "batch_size"),
        ({"errors": "ignore"}, "errors must be one of"),
        ({"max_bytes": -1}, "max_bytes"),
    ],
)
def test_bad_arguments(model, source, tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        transform_to(model, source, tmp_path / "z", **options)
    assert names(tmp_path) == []


def test_bad_sources_and_folders(model, data, source, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nothing"):
        transform_to(model, tmp_path / "nothing", tmp_path / "z")
    with pytest.raises(FileNotFoundError, match="no file that matches"):
        transform_to(model, tmp_path / "*.parquet", tmp_path / "z")
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*above"):
        transform_to(model, source, tmp_path / "above" / "z")
    (tmp_path / "a.gml").write_text("")
    with pytest.raises(ValueError, match=r"a\.gml cannot be cut into units.*graphmover convert"):
        transform_to(model, tmp_path / "a.gml", tmp_path / "z")
    (tmp_path / "a.parquet").write_text("no Parquet")
    with pytest.raises(ValueError, match=r"a\.parquet cannot be read as Parquet"):
        transform_to(model, tmp_path / "a.parquet", tmp_path / "z")
    with pytest.raises(ValueError, match="files of several formats"):
        transform_to(model, tmp_path / "a.*", tmp_path / "z")
    (tmp_path / "z").write_text("")
    with pytest.raises(NotADirectoryError, match="it is not a folder"):
        transform_to(model, source, tmp_path / "z")
    gm.write_graphs(data[:0], tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="holds no graphs"):
        transform_to(model, tmp_path / "none.parquet", tmp_path / "y")


def test_a_model_that_cannot_be_sent_is_refused(data, source, tmp_path):
    def ones(batch):
        return [np.ones((graph.n_nodes, 2)) for graph in batch]

    model = gm.RandomGraphEmbedding(4, node_embedding=ones, random_state=0).fit(data.graphs)
    with pytest.raises(ValueError, match="callable cannot be saved"):
        transform_to(model, source, tmp_path / "z")


def test_a_source_that_changes_during_the_run_is_an_error(model, data, tmp_path):
    graphs = tmp_path / "a.parquet"
    gm.write_graphs(data[:8], graphs, batch_size=4)

    def task_of(job):
        gm.write_graphs(data[8:16], graphs, batch_size=4, overwrite=True)
        return Watch(tmp_path / "log").task_of(job)

    with pytest.raises(ValueError, match=r"a\.parquet has changed since the run was started"):
        run(model, graphs, tmp_path / "z", Serial(), Options(), unit_rows=4, task_of=task_of)


# Ids and targets


def test_targets_of_several_files_have_one_type(model, data, tmp_path):
    graphs = tmp_path / "graphs"
    graphs.mkdir()

    def write(name, target):
        path = graphs / f"{name}.parquet"
        part = gm.Dataset("", data.graphs[:3], np.asarray(target))
        gm.write_graphs(part, path, overwrite=True)

    write(1, [1, 2, 3])
    write(2, [0.5, np.nan, 2.0])
    transform_to(model, graphs, tmp_path / "z")
    found = pq.read_table(tmp_path / "z")
    assert found.schema.field("target").type == pa.float64()
    assert repr(found["target"].to_pylist()) == "[1.0, 2.0, 3.0, 0.5, nan, 2.0]"
    write(2, ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"target of .*2\.parquet holds string, expected int64"):
        transform_to(model, graphs, tmp_path / "y")
    write(2, [[1, 2]] * 3)
    with pytest.raises(ValueError, match=r"2\.parquet has 2 targets per graph, expected 1"):
        transform_to(model, graphs, tmp_path / "y")
    gm.write_graphs(data.graphs[:3], graphs / "2.parquet", overwrite=True)
    with pytest.raises(ValueError, match=r"2\.parquet has no target, but .*1\.parquet has one"):
        transform_to(model, graphs, tmp_path / "y")
    transform_to(model, graphs, tmp_path / "y", errors="skip")
    assert pq.read_table(tmp_path / "y")["target"].to_pylist() == [1, 2, 3, None, None, None]


@pytest.mark.parametrize(
    "target",
    [
        [True, False, True],
        ["a", "ä", ""],
        [[1.5, 2.5], [3.5, 4.5], [0.0, np.nan]],
        [[1], [2], [3]],
        np.array([1, 2, 3], np.uint8),
        np.array([1, 2, 3], np.float32),
    ],
)
def test_targets_of_all_kinds_are_those_of_one_process(model, data, tmp_path, target):
    part = gm.Dataset("", data.graphs[:3].with_ids(["x", "y", "z"]), np.asarray(target))
    gm.write_graphs(part, tmp_path / "a.parquet")
    model.transform_to(tmp_path / "a.parquet", tmp_path / "one.parquet")
    transform_to(model, tmp_path / "a.parquet", tmp_path / "z")
    assert rows_of(tmp_path / "z") == rows_of(tmp_path / "one.parquet")
