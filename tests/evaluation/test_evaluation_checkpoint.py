import json
import multiprocessing
import os
import re
import shutil
import time
from pathlib import Path

import pytest
from evaluation_cases import methods
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

import graphmover as gm
from graphmover.evaluation import EMDKernel, Method, evaluate, paper_methods
from graphmover.evaluation.checkpoint import Checkpoint

pytestmark = pytest.mark.slow

RESULTS = Path(__file__).parents[2] / "experiments" / "results"


def _evaluate_slowly(graphs, target, path):
    evaluate(graphs, target, methods(), n_components=32, n_folds=3, n_repeats=3, checkpoint=path)


@pytest.mark.parametrize("seen", [' finalist"', " finalist 1", "RF .*inner_accuracy"])
def test_a_killed_evaluation_resumes(labelled, data, tmp_path, seen):
    """Whether it was killed in successive halving, comparing finalists or scoring the best."""
    path = tmp_path / "folds.jsonl"
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_evaluate_slowly, args=(labelled, data.target, path))
    process.start()
    while not path.exists() or len(re.findall(seen, path.read_text())) < 2:
        assert process.is_alive(), "it ended before it was killed"
        time.sleep(0.002)
    process.kill()
    process.join()
    kept = path.read_text().splitlines(keepends=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"key": "RF')  # what a kill may leave of a line
    _evaluate_slowly(labelled, data.target, path)
    finished = path.read_text().splitlines(keepends=True)
    folds = [line for line in kept if line.endswith("\n") and " finalist" not in line]
    assert 3 < len(folds) < len(finished) == 1 + 5 * 9  # finalists are dropped
    assert finished[: len(folds)] == folds
    options = {"n_components": 32, "n_folds": 3}
    resumed = evaluate(labelled, data.target, methods(), n_repeats=3, checkpoint=path, **options)
    assert path.read_text() == "".join(finished)  # nothing was left to do
    fresh = evaluate(labelled, data.target, methods(), n_repeats=1, **options)
    for row in fresh.folds:
        [same] = [
            other
            for other in resumed.folds
            if all(row[name] == other[name] for name in ("method", "repeat", "fold"))
        ]
        assert {**same, "seconds": 0} == {**row, "seconds": 0}
    with pytest.raises(ValueError, match=r"folds\.jsonl .*, other graphs or classes: name"):
        evaluate(labelled[::-1], data.target, methods(), checkpoint=path, **options)
    options = {"n_components": 32, "n_folds": 4, "random_state": 1}
    with pytest.raises(
        ValueError, match=r"n_folds=3 not n_folds=4 and random_state=0 not random_state=1: name"
    ):
        evaluate(labelled, data.target, methods(), checkpoint=path, **options)


def test_another_grid_of_c_recomputes_its_own_method_only(data, tmp_path, monkeypatch):
    path = tmp_path / "folds.jsonl"
    options = {"n_components": 8, "n_folds": 3, "checkpoint": path}
    chosen = [
        "majority class",
        "bag of nodes",
        Method("mine", gm.RandomGraphEmbedding()),
        EMDKernel("EMD"),
    ]
    evaluate(data.graphs, data.target, chosen, **options)
    before = path.read_text()
    monkeypatch.setattr(EMDKernel, "c_grid", (2.0,))
    found = evaluate(data.graphs, data.target, chosen, **options)
    added = path.read_text().removeprefix(before).splitlines()
    assert len(added) == 3
    assert all('"EMD ' in line for line in added)
    assert {row["C"] for row in found.folds if row["method"] == "EMD"} == {2.0}


def test_a_damaged_line_of_a_checkpoint_is_named(data, tmp_path):
    path = tmp_path / "j.jsonl"
    evaluate(data.graphs, data.target, ["majority class"], n_folds=3, checkpoint=path)
    lines = path.read_text().splitlines()
    for damaged in ("", "\0\0", '{"key": "a"}', "7"):
        path.write_text("\n".join([*lines[:2], damaged, *lines[3:]]) + "\n")
        with pytest.raises(ValueError, match=r"j\.jsonl, line 3, is damaged: delete the line"):
            evaluate(data.graphs, data.target, ["majority class"], n_folds=3, checkpoint=path)
    path.write_text("\n".join([lines[0][:-5], *lines[1:]]) + "\n")
    with pytest.raises(ValueError, match="another evaluation, in another format"):
        evaluate(data.graphs, data.target, ["majority class"], n_folds=3, checkpoint=path)


def test_two_evaluations_share_a_checkpoint(tmp_path):
    """What another process has added is kept when finalists are dropped."""
    one, other = (Checkpoint(tmp_path / "j.jsonl", {"n_folds": 3}) for _ in range(2))
    one.add("a", 1)
    one.add("a finalist", 0)
    other.add("b", 2)
    one.drop(lambda key: key.endswith("finalist"))
    again = Checkpoint(tmp_path / "j.jsonl", {"n_folds": 3})
    assert (again["a"], again["b"], "a finalist" in again) == (1, 2, False)


@pytest.mark.skipif("GRAPHMOVER_DATA" not in os.environ, reason="GRAPHMOVER_DATA is not set")
def test_published_folds_are_found(tmp_path):
    """With the committed checkpoint of MUTAG nothing is computed again."""
    data = gm.load_dataset("MUTAG")
    path = shutil.copy(RESULTS / "MUTAG.checkpoint", tmp_path)
    before = Path(path).read_bytes()
    chosen = ["majority class", "bag of nodes", *paper_methods()]
    result = evaluate(
        data.graphs, data.target, chosen, n_components=256, n_repeats=10, checkpoint=path
    )
    assert Path(path).read_bytes() == before
    assert len(result.folds) == 8 * 100
    lines = map(json.loads, before.splitlines()[1:])
    rows = [row for line in lines for row in line["result"] if "[1024]" not in line["key"]]
    assert sorted(row["accuracy"] for row in rows) == sorted(r["accuracy"] for r in result.folds)


def test_keys_do_not_change():
    """Those of the published results, which would be computed again otherwise."""
    known = {
        "RGE(RF)": "6a57bbe4081f3322",
        "RGE(ASG)": "00eec90debf2d278",
        "RGE(ASG)+labels": "389f9f182b71fb0b",
        "WL-RGE(ASG)": "712dd56f2eb2afd8",
        "EMD": "False (4, 6, 8)",
        "EMD+labels": "True (4, 6, 8)",
    }
    assert {name: method.fingerprint for name, method in paper_methods().items()} == known


def test_parameters_that_an_embedding_gains_count_where_they_are_not_the_default(monkeypatch):
    before = paper_methods()["RGE(ASG)"]
    fingerprint = before.fingerprint
    own = gm.RandomGraphEmbedding.get_params

    def with_another(embedding, deep=True):
        return {**own(embedding, deep), "edge_mass": getattr(embedding, "edge_mass", "none")}

    monkeypatch.setattr(gm.RandomGraphEmbedding, "get_params", with_another)
    assert before.fingerprint == fingerprint
    before.embedding.edge_mass = "equal"
    assert before.fingerprint != fingerprint


def test_other_edge_labels_are_other_graphs_to_methods_that_see_them(tmp_path):
    first, second = (
        gm.as_graph_batch(
            [gm.Graph(3, [(0, 1), (1, 2)], edge_labels=[1, label]) for label in labels]
        )
        for labels in ([1] * 6 + [2] * 6, [1, 2] * 6)
    )
    y = [0] * 6 + [1] * 6
    embedding = gm.RandomGraphEmbedding(
        4, node_embedding=None, wl_iterations=1, wl_depths="all", use_edge_labels=True
    )
    pipeline = make_pipeline(embedding, RidgeClassifier())
    several = ["majority class", embedding, ("pipeline", pipeline)]
    for graphs in (first, second):
        fresh = evaluate(graphs, y, several, n_folds=3).summary()
        resumed = evaluate(graphs, y, several, n_folds=3, checkpoint=tmp_path / "c").summary()
        assert [row["mean"] for row in resumed] == [row["mean"] for row in fresh]
    n_rows = {name: 0 for name in ("majority", "RGE", "pipeline")}
    for line in (tmp_path / "c").read_text().splitlines()[1:]:
        n_rows[next(name for name in n_rows if f'"key": "{name}' in line)] += 1
    assert n_rows == {"majority": 3, "RGE": 6, "pipeline": 6}
