"""Vectors written batch by batch, and interrupted runs that are resumed."""

import copy
import itertools
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import graphmover as gm
from graphmover.io.streaming import Content, sample_graphs

EXTENSIONS = ["npy", "npz", "parquet", "csv"]


@pytest.fixture(scope="module")
def data():
    families = gm.make_graph_families(120, random_state=0, min_nodes=10, max_nodes=14)
    graphs = list(families.graphs)
    graphs[50] = gm.Graph(0, [])
    return gm.Dataset("families", gm.as_graph_batch(graphs), families.target)


@pytest.fixture(scope="module")
def model(data):
    return gm.RandomGraphEmbedding(6, random_state=0).fit(data.graphs[:40])


@pytest.fixture(scope="module")
def expected(model, data):
    with pytest.warns(UserWarning, match="no nodes"):
        return model.transform(data.graphs)


def written(path):
    """Vectors and target, as other programs read them."""
    extension = path.suffix
    if extension == ".npy":
        return np.load(path, mmap_mode="r"), None
    if extension == ".npz":
        with np.load(path) as file:
            return file["vectors"], file.get("target")
    if extension == ".parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(path)
        return np.array(table["vector"].to_pylist()), table["target"].to_numpy()
    rows = [line.split(",") for line in path.read_text().splitlines()]
    assert rows[0][0] == "randomgraphembedding0" and rows[0][-1] == "target"
    values = np.array(rows[1:], dtype=np.float64)
    return values[:, :-1], values[:, -1]


def interrupted(data, after):
    """Yield some graphs, then fail as a broken source does."""
    yield from itertools.islice(data.graphs, after)
    raise OSError("the disk is gone")


@pytest.mark.filterwarnings("ignore:1 graph has no nodes")
@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("batch_size", [None, 7])
def test_every_format_holds_the_same_numbers(
    data, model, expected, tmp_path, extension, batch_size
):
    output = tmp_path / f"z.{extension}"
    assert model.transform_to(data, output, batch_size=batch_size) == expected.shape
    vectors, target = written(output)
    assert (vectors == expected).all()
    assert target is None if extension == "npy" else (target == data.target).all()
    assert [file.name for file in tmp_path.iterdir()] == [output.name]


def test_graphs_without_nodes_give_one_warning(data, model, tmp_path):
    with pytest.warns(UserWarning, match="1 graph has no nodes") as caught:
        model.transform_to(data, tmp_path / "z.npy", batch_size=10)
    assert len(caught) == 1


@pytest.mark.filterwarnings("ignore:1 graph has no nodes")
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_an_interrupted_run_is_resumed(data, model, tmp_path, extension):
    graphs = data.graphs
    model.transform_to(graphs, tmp_path / f"whole.{extension}", batch_size=50)
    output = tmp_path / f"z.{extension}"
    for after in (25, 61, 62, 115):
        with pytest.raises(OSError, match="the disk is gone"):
            model.transform_to(interrupted(data, after), output, batch_size=after % 7 + 3)
        assert not output.exists()
    done = json.loads((tmp_path / f"z.{extension}.part" / "journal.json").read_text())["rows"]
    assert 100 < done <= 115
    embedded = []
    compute = model._features_of_batch
    model._features_of_batch = lambda batch, *rest: (
        embedded.append(len(batch)) or compute(batch, *rest)
    )
    try:
        assert model.transform_to(graphs, output, batch_size=13) == (120, 6)
    finally:
        del model._features_of_batch
    assert sum(embedded) == 120 - done
    assert output.read_bytes() == (tmp_path / f"whole.{extension}").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"whole.{extension}", output.name]


def test_a_resumed_run_says_so_if_progress_is_shown(
    data, model, tmp_path, capsys, caplog, terminal
):
    for verbose in (True, False):
        output = tmp_path / f"{verbose}.npy"
        with pytest.raises(OSError, match="disk"):
            model.transform_to(interrupted(data, 40), output, batch_size=20)
        capsys.readouterr()
        caplog.clear()
        resumed = copy.deepcopy(model).set_params(verbose=verbose)
        resumed.transform_to(data.graphs[:50], output, batch_size=20)
        shown = capsys.readouterr().err
        assert ("resuming after 40 rows" in caplog.messages) == verbose
        assert ("checking graphs that have rows: 100%" in shown) == verbose
        assert ("40/50 " in shown) == verbose
        assert "20/50 " not in shown


def test_another_model_other_graphs_and_fewer_graphs_raise(data, model, tmp_path):
    output = tmp_path / "z.npy"
    with pytest.raises(OSError, match="disk"):
        model.transform_to(interrupted(data, 40), output, batch_size=20)
    other = gm.RandomGraphEmbedding(6, random_state=1).fit(data.graphs[:40])
    with pytest.raises(ValueError, match=r"z.npy.part holds 40 rows of another model"):
        other.transform_to(data.graphs, output)
    with pytest.raises(ValueError, match=r"z.npy.part was started with other graphs"):
        model.transform_to(data.graphs[1:], output)
    with pytest.raises(ValueError, match=r"z.npy.part was started with other graphs"):
        model.transform_to(data, output)  # these have targets
    with pytest.raises(ValueError, match=r"holds 40 rows, but the source has only 30 graphs"):
        model.transform_to(data.graphs[:30], output)
    # Parameters that do not affect the vectors do not make another model.
    model.set_params(n_jobs=2, verbose=False)
    assert model.transform_to(data.graphs[:45], output) == (45, 6)
    assert other.transform_to(data.graphs[:45], output, overwrite=True) == (45, 6)


def test_resume_false_starts_over(data, model, tmp_path):
    output = tmp_path / "z.npy"
    with pytest.raises(OSError, match="disk"):
        model.transform_to(interrupted(data, 40), output, batch_size=20)
    other = gm.RandomGraphEmbedding(6, random_state=1).fit(data.graphs[:40])
    other.transform_to(data.graphs[:45], output, resume=False)
    assert (np.load(output) == other.transform(data.graphs[:45])).all()


def test_an_error_before_the_first_row_leaves_nothing(data, model, tmp_path):
    with pytest.raises(OSError, match="disk"):
        model.transform_to(interrupted(data, 5), tmp_path / "z.npy", batch_size=20)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"it must end in .npy, .npz, .csv, .parquet"):
        model.transform_to(data, tmp_path / "z.txt")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        model.transform_to(data, tmp_path / "no" / "z.npy")


def test_a_damaged_checkpoint_raises(data, model, tmp_path):
    output = tmp_path / "z.npy"
    with pytest.raises(OSError, match="disk"):
        model.transform_to(interrupted(data, 40), output, batch_size=20)
    os.truncate(tmp_path / "z.npy.part" / "vectors.npy", 200)
    with pytest.raises(ValueError, match=r"z.npy.part is damaged"):
        model.transform_to(data.graphs, output)


def test_two_writers_of_one_file_raise(data, model, tmp_path):
    pytest.importorskip("fcntl")
    output = tmp_path / "z.npy"

    def graphs():
        yield from data.graphs[:20]
        with pytest.raises(ValueError, match=r"another process is writing .*z.npy"):
            model.transform_to(data.graphs, output)
        yield from data.graphs[20:30]

    assert model.transform_to(graphs(), output, batch_size=10) == (30, 6)


PROGRAM = """
import sys, time
import graphmover as gm
model = gm.RandomGraphEmbedding.load(sys.argv[1])
compute = model._features_of_batch
def slow(*batch):
    time.sleep(0.02)  # so that there is time to be killed
    return compute(*batch)
model._features_of_batch = slow
model.transform_to(sys.argv[2], sys.argv[3], batch_size=20)
"""


@pytest.mark.slow
@pytest.mark.parametrize("extension", ["npy", "parquet"])
def test_a_killed_process_resumes_to_the_same_bytes(tmp_path, extension):
    """SIGKILL at arbitrary moments, twice."""
    pytest.importorskip("pyarrow")
    data = gm.make_graph_families(1_000, random_state=0, min_nodes=10, max_nodes=14)
    gm.write_graphs(data, tmp_path / "graphs.parquet", batch_size=300)
    model = gm.RandomGraphEmbedding(6, random_state=0).fit(data.graphs[:100])
    model.save(tmp_path / "model.npz")
    model.transform_to(data, tmp_path / f"whole.{extension}")
    output = tmp_path / f"z.{extension}"
    files = [tmp_path / "model.npz", tmp_path / "graphs.parquet", output]
    checkpoint = tmp_path / f"z.{extension}.part" / "journal.json"
    rng = np.random.default_rng(len(extension))
    command = [sys.executable, "-c", PROGRAM, *map(str, files)]
    done = 0
    for _ in range(2):
        process = subprocess.Popen(command)
        goal = done + int(rng.integers(200, 350))
        while not checkpoint.exists() or json.loads(checkpoint.read_text())["rows"] < goal:
            assert process.poll() is None, "the process ended before the kill"
            time.sleep(0.002)
        time.sleep(float(rng.random()) * 0.03)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert not output.exists()
        done = json.loads(checkpoint.read_text())["rows"]
    subprocess.run(command, check=True)
    assert output.read_bytes() == (tmp_path / f"whole.{extension}").read_bytes()
    assert not checkpoint.parent.exists()


def test_samples_are_uniform_ordered_and_independent_of_batches(data):
    one, n_seen = sample_graphs(data, 30, random_state=3, batch_size=7)
    other, _ = sample_graphs(data, 30, random_state=3, batch_size=1000)
    assert n_seen == 120
    assert len(one.graphs) == len(one.target) == 30
    for name in ("indices", "offsets"):
        assert (getattr(one.graphs, name) == getattr(other.graphs, name)).all()
    assert (one.target == other.target).all()
    every, _ = sample_graphs(data, 120, random_state=3, batch_size=50)
    assert (every.graphs.indices == data.graphs.indices).all()
    assert (every.target == data.target).all()
    sizes = gm.as_graph_batch([gm.Graph(n, []) for n in range(1, 21)])
    counts = np.zeros(21)
    for seed in range(400):
        chosen = sample_graphs(sizes, 5, random_state=seed, batch_size=6)[0].graphs.node_counts
        assert (np.diff(chosen) > 0).all()
        counts[chosen] += 1
    assert counts[1:].min() > 60 and counts[1:].max() < 145  # 100 expected; 5 standard deviations


def test_a_sample_of_all_graphs_has_the_fingerprint_of_its_source(data, tmp_path):
    """So a run started from the sample can be resumed from the source."""
    pytest.importorskip("pyarrow")
    gm.write_graphs(data, tmp_path / "x.parquet")
    sample, _ = sample_graphs(tmp_path / "x.parquet", 500, random_state=0, batch_size=7)
    of_sample, of_source = Content(), Content()
    of_sample.add(sample)
    for batch in gm.iter_batches(tmp_path / "x.parquet", 50):
        of_source.add(batch)
    assert of_sample.digest() == of_source.digest()


def test_a_source_with_some_targets_missing_is_named(tmp_path):
    pytest.importorskip("networkx")
    line = '{"graph": %s, "nodes": [{"id": 0}], "edges": []}\n'
    (tmp_path / "x.jsonl").write_text(line % '{"target": 1}' + line % "{}")
    with pytest.raises(
        ValueError, match=r"x\.jsonl: some graphs have a target and others have none"
    ):
        sample_graphs(tmp_path / "x.jsonl", 5, batch_size=1)


@pytest.mark.slow
def test_memory_is_bounded(tmp_path):
    """Four times the graphs take no more memory."""
    pytest.importorskip("pyarrow")
    families = gm.make_graph_families(1_000, random_state=0, min_nodes=10, max_nodes=14)
    model = gm.RandomGraphEmbedding(1024, gamma=1.0, random_state=0, max_random_nodes=1)
    model.fit(families.graphs[:50]).save(tmp_path / "model.npz")
    program = """
import resource, sys
import graphmover as gm
model = gm.RandomGraphEmbedding.load(sys.argv[1])
model.transform_to(sys.argv[2], sys.argv[3], batch_size=250)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    peaks = []
    for times in (1, 4):
        source = tmp_path / f"{times}.parquet"
        gm.write_graphs(itertools.chain(*[families.graphs] * times), source, batch_size=250)
        arguments = [str(tmp_path / "model.npz"), str(source), str(tmp_path / f"{times}.npy")]
        answer = subprocess.check_output([sys.executable, "-c", program, *arguments])
        peaks.append(int(answer))
    vectors = 3 * 1_000 * 1024 * 8 / 1024
    assert peaks[1] - peaks[0] < vectors / 3
