import json
import multiprocessing
import os
import re
import time

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import Ridge
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.svm import LinearSVC

import graphmover as gm
from graphmover._utils.cuda import gpu_is_there
from graphmover.evaluation import (
    EMDKernel,
    KernelMatrices,
    Method,
    _split,
    bags_of_nodes,
    emd_kernel,
    evaluate,
    negative_part,
    paper_methods,
)
from graphmover.evaluation.arrays import arrays_on
from graphmover.evaluation.columns import Point, RandomColumns
from graphmover.evaluation.folds import Fold, Setting, _best, settings_of
from graphmover.evaluation.journal import Journal
from graphmover.evaluation.methods import _code_of
from graphmover.evaluation.selection import Choice, leave_one_out_ridge
from graphmover.evaluation.svm import SVM_C, LinearSVMs

#: More settings than there are finalists, so that parts of the training part are looked at.
GRID = {"max_random_nodes": [3, 9], "n_dimensions": [4], "gamma": [0.1, 0.3, 1.0, 3.0, 10.0]}


@pytest.fixture(scope="module")
def data():
    return gm.make_graph_families(60, random_state=0)


@pytest.fixture(scope="module")
def labelled(data):
    graphs = data.graphs
    labels = (np.diff(graphs.indptr) % 3).astype(np.int64)
    return gm.GraphBatch(graphs.offsets, graphs.indptr, graphs.indices, node_labels=labels)


def methods(**parameters):
    small = {"use_node_labels": True, **parameters}
    return [
        "majority class",
        "bag of nodes",
        Method("RF", gm.RandomGraphEmbedding(sampling="uniform"), GRID),
        Method("WL", gm.RandomGraphEmbedding(**small), {**GRID, "wl_iterations": [1, 2]}, True),
        EMDKernel("EMD", n_dimensions=(4,)),
    ]


def with_graph_replaced(batch, index, graph):
    return gm.as_graph_batch([graph if i == index else batch[i] for i in range(len(batch))])


def test_leave_one_out_is_what_leaving_out_gives():
    rng = np.random.default_rng(0)
    target = np.arange(20) % 3
    wanted = np.where(target[:, None] == np.arange(3), 1.0, -1.0)
    for n_columns in (8, 50):  # by either Gram matrix
        features = rng.random((20, n_columns)) + 0.5 * wanted[:, [0]]
        found = leave_one_out_ridge(features, target)
        unit = (features**2).sum() / 20
        best = (-1.0, -np.inf)
        for strength in 10.0 ** np.arange(-7, 3):
            left_out = np.empty((20, 3))
            for i in range(20):
                others = np.arange(20) != i
                ridge = Ridge(strength * unit, fit_intercept=False, solver="svd")
                left_out[i] = ridge.fit(features[others], wanted[others]).predict(features[[i]])[0]
            accuracy = (left_out.argmax(axis=1) == target).mean()
            best = max(best, (accuracy, -((left_out - wanted) ** 2).mean()))
        assert found.accuracy == best[0]
        assert found.minus_error == pytest.approx(best[1], rel=1e-6)


@pytest.mark.parametrize("n_columns", [6, 25, 90])  # by columns, by rows, by rows
@pytest.mark.parametrize("n_classes", [2, 4])
def test_machines_are_those_of_liblinear(n_columns, n_classes):
    rng = np.random.default_rng(n_columns)
    target = np.arange(60) % n_classes
    x = rng.random((60, n_columns)) + 0.15 * target[:, None] * rng.random(n_columns)
    train, test = np.flatnonzero(np.arange(60) % 4), np.arange(0, 60, 4)
    length = np.sqrt((x[train] ** 2).sum(axis=1).mean())
    for scale in (1.0, 1e-6):
        machines = LinearSVMs(scale * x, len(train), arrays_on("cpu"))
        found = machines.predictions(train, test, target, SVM_C)
        for C, classes in zip(SVM_C[:5], found, strict=False):  # more takes LIBLINEAR too long
            plain = LinearSVC(C=C, dual=False, fit_intercept=False, tol=1e-9, max_iter=100_000)
            expected = plain.fit(x[train] / length, target[train]).predict(x[test] / length)
            assert (classes == expected).all()


def test_machines_settle_where_rounding_outweighs_a_large_c():
    """Rows that are all but equal, of opposite classes, as duplicates among graphs give."""
    rng = np.random.default_rng(0)
    x = 1 + 1e-5 * rng.standard_normal((60, 40))
    x = np.concatenate([x, x + 1e-12 * rng.standard_normal(x.shape)])
    target = np.arange(120) // 60
    train, test = np.arange(0, 120, 2), np.arange(1, 120, 2)
    found = LinearSVMs(x, len(train), arrays_on("cpu")).predictions(train, test, target, SVM_C)
    assert len(found) == len(SVM_C)


def test_the_minimum_has_no_gradient():
    """Solutions, not only the classes they predict: w = 2 C sum of y_i (1 - y_i w.x_i)+ x_i."""
    from graphmover.evaluation.svm import _Columns, _minima, _Rows

    rng = np.random.default_rng(0)
    x = rng.standard_normal((80, 30))
    signs = np.where(x[:, 0] + 0.5 * rng.standard_normal(80) > 0, 1.0, -1.0)
    arrays = arrays_on("cpu")
    strengths = (1e-2, 1.0, 1e3, 1e6)
    by_columns = _minima(_Columns(x, arrays), signs, strengths)
    by_rows = _minima(_Rows(x @ x.T, arrays), signs, strengths)
    for C, w, coefficients in zip(strengths, by_columns, by_rows, strict=True):
        short = np.maximum(0, 1 - signs * (x @ w))
        assert w == pytest.approx(2 * C * (signs * short) @ x, rel=1e-6, abs=1e-8)
        assert coefficients @ x == pytest.approx(w, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("sampling", ["anchor", "uniform"])
def test_no_test_graph_influences_a_random_graph_or_a_choice(labelled, data, sampling):
    """Replace a test graph by quite another: in its folds nothing is chosen differently."""
    other = gm.Graph(3, [(0, 1), (1, 2)], node_labels=[0, 1, 7])
    changed = with_graph_replaced(labelled, 17, other)
    embedding = gm.RandomGraphEmbedding(sampling=sampling)
    tried = [Method("m", embedding, GRID), EMDKernel("k", n_dimensions=(2, 4))]
    results = [
        evaluate(graphs, data.target, tried, n_components=24, n_folds=4)
        for graphs in (labelled, changed)
    ]
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=1, random_state=0)
    splits = list(folds.split(data.target, data.target))
    [fold] = [number for number, (_, test) in enumerate(splits) if 17 in test]
    for place in (fold, 4 + fold):  # of either method
        rows = [result.folds[place] for result in results]
        for row in rows:
            del row["seconds"], row["accuracy"]
        assert rows[0] == rows[1]
    parts = [train for train, _ in splits]
    point = Point(9, 4, 0)
    distances = []
    for graphs in (labelled, changed):
        columns = RandomColumns(graphs, embedding, parts, 24, seed=0)
        columns.compute(point, 24, None, range(4))
        distances.append(columns.of_fold(fold, point, 24))
    others = np.arange(60) != 17
    assert (distances[0][others] == distances[1][others]).all()
    assert (distances[0][17] != distances[1][17]).any()


def test_random_graphs_of_a_fold_are_those_of_its_training_part(data):
    """Each anchor's distances are those to a set of nodes of one training graph."""
    part = np.arange(0, 60, 2)
    columns = RandomColumns(data.graphs, gm.RandomGraphEmbedding(), [part], 20, seed=0)
    point = Point(5, 4, 0)
    columns.compute(point, 20, None, [0])
    assert len({graph for _, graph in columns._sources}) > 5
    used = [columns._sources[column][1] for column in columns._columns_of_fold[0]]
    assert set(used) <= set(part)
    nodes = gm.embed_nodes(data.graphs, 4)
    number, graph = columns._sources[columns._columns_of_fold[0][7]]
    rng = np.random.default_rng([0, 1, number])
    anchor = gm.sample_random_graphs(nodes[graph], 1, max_random_nodes=5, random_state=rng)
    expected = gm.earth_movers_distance(nodes, anchor)[:, 0]
    assert (columns.of_fold(0, point, 20)[:, 7] == expected).all()


def test_results_depend_on_no_number_of_threads_and_smaller_runs_are_parts(labelled, data):
    def rows(n_jobs, **options):
        result = evaluate(labelled, data.target, methods(), n_folds=3, n_jobs=n_jobs, **options)
        return [{k: v for k, v in row.items() if k != "seconds"} for row in result.folds]

    both = rows(2, n_components=[8, 32], n_repeats=2)
    assert both == rows(None, n_components=[8, 32], n_repeats=2)
    small = [row for row in rows(None, n_components=8) if row["method"] in ("RF", "WL")]
    assert small == [row for row in both if row["n_components"] == 8 and row["repeat"] == 0]


def test_the_summary_adds_up(labelled, data):
    result = evaluate(labelled, data.target, methods(), n_components=16, n_folds=3, n_repeats=2)
    frame = result.to_pandas()
    assert frame.astype(object).where(frame.notna(), None).to_dict("records") == result.folds
    for score in result.summary():
        own = frame[frame.method == score["method"]]
        assert score["mean"] == pytest.approx(own.accuracy.mean())
        assert score["fold_std"] == pytest.approx(own.accuracy.std())
        assert score["std"] == pytest.approx(own.groupby("repeat").accuracy.mean().std())
        assert (score["repeats"], score["folds"]) == (2, 3)
    by_name = {score["method"]: score for score in result.summary()}
    assert 0.1 < by_name["majority class"]["mean"] < 0.2  # six classes of ten
    assert by_name["bag of nodes"]["mean"] < 0.5 < by_name["RF"]["mean"]
    assert sum(by_name["WL"]["choices"]["max_random_nodes"].values()) == 6
    assert by_name["EMD"]["negative_share"] >= 0
    json.dumps(result.summary())


def test_an_estimator_keeps_its_parameters(data):
    embedding = gm.RandomGraphEmbedding(24, max_random_nodes=7, gamma=2.5, wl_iterations=1)
    row = evaluate(data.graphs, data.target, [embedding], n_folds=3).folds[0]
    chosen = ("n_components", "max_random_nodes", "n_dimensions", "wl_iterations", "gamma")
    assert [row[name] for name in chosen] == [24, 7, 4, 1, 2.5]
    assert not hasattr(embedding, "random_graphs_")


def test_the_full_search_tries_every_machine(data):
    method = Method("m", gm.RandomGraphEmbedding(), GRID)
    options = {"n_components": 16, "n_folds": 3}
    full = evaluate(data.graphs, data.target, [method], selection="svm", **options)
    short = evaluate(data.graphs, data.target, [method], **options)
    for searched, chosen in zip(full.folds, short.folds, strict=True):
        assert searched["inner_accuracy"] >= chosen["inner_accuracy"]
        assert searched["ridge_strength"] is None


def test_the_best_with_all_random_graphs_is_chosen(data):
    """Also where the first of them tell less: no look at a part decides between finalists."""
    grid = {"max_random_nodes": [2, 30], "gamma": [0.1, 1.0, 10.0]}
    method = Method("m", gm.RandomGraphEmbedding(use_node_labels=False), grid)
    chosen = evaluate(data.graphs, data.target, [method], n_components=300, n_folds=3).folds
    parts = [fold.train for fold in _split(data.target, 3, 1, 0)]
    columns = RandomColumns(data.graphs, method.embedding, parts, 300, seed=0)
    for row, (number, train) in zip(chosen, enumerate(parts), strict=True):
        judged = {}
        for point in method.points():
            columns.compute(point, 300, None, [number])
            distances = columns.of_fold(number, point, 300)[train]
            for gamma in (0.1, 1.0, 10.0):
                features = np.exp(-gamma / np.median(distances[:, :128]) * distances)
                choice = leave_one_out_ridge(features, data.target[train])
                judged[point.max_random_nodes, gamma] = choice.accuracy, choice.minus_error
        assert row["selection_accuracy"] == max(judged.values())[0]
        assert judged[row["max_random_nodes"], row["gamma"]] == pytest.approx(max(judged.values()))


def test_a_look_lets_settings_of_every_depth_go_on():
    def setting(size, depths):
        return Setting(tuple(Point(size, 4, depth) for depth in range(depths)), 1.0, ())

    settings = [setting(size, depths) for depths in (1, 2) for size in (3, 6, 9)]
    choices = [Choice(accuracy, 0.0, None) for accuracy in (0.7, 0.9, 0.8, 0.5, 0.5, 0.6)]
    assert _best(settings, choices, 4) == [settings[i] for i in (1, 2, 3, 5)]


def test_tables_are_kept_while_there_is_room(data):
    embedding = gm.RandomGraphEmbedding(use_node_labels=False)
    columns = RandomColumns(data.graphs, embedding, [np.arange(40)], 16, seed=3)
    points = [Point(size, 4, 0) for size in (3, 6, 9)]
    for point in points:
        columns.compute(point, 16, None, [0])
    before = [columns.of_fold(0, point, 16) for point in points]
    one = max(table.nbytes for table in columns._tables.values())
    columns.forget(points[:2], room=2 * one)
    assert [key[0] for key in columns._tables] == points[1:]
    columns.compute(points[1], 16, None, [0])  # needed again
    columns.forget([])
    assert [key[0] for key in columns._tables] == points[1:]
    columns.compute(points[0], 16, None, [0])
    for point, table in zip(points, before, strict=True):
        assert np.array_equal(columns.of_fold(0, point, 16), table)


def test_numbers_may_be_numpys_and_given_twice(data):
    grid = {"max_random_nodes": np.arange(3, 7, 3), "gamma": np.array([0.3, 1.0])}
    method = Method("m", gm.RandomGraphEmbedding(), grid)
    numbers = [np.int64(8), 4, 8]
    found = evaluate(data.graphs, data.target, [method], n_components=numbers, n_folds=3)
    assert [row["n_components"] for row in found.folds] == [4, 8] * 3
    kernels = KernelMatrices("k", {h: np.eye(60) for h in np.arange(2.0)})
    assert len(evaluate(data.graphs, data.target, [kernels], n_folds=3).summary()) == 1


def test_an_estimators_name_tells_what_it_does(labelled, data):
    embedding = gm.RandomGraphEmbedding
    names = {
        "RGE(ASG)+labels, D_max = 20, d = 4": embedding(4),
        "RGE(ASG), D_max = 20, d = 4": embedding(4, use_node_labels=False),
        "RGE(ASG)+labels of depth 2, D_max = 20, d = 4": embedding(4, wl_iterations=2),
        "RGE(RF), D_max = 20, d = 4": embedding(4, sampling="uniform"),
        "RGE(ASG)+labels, D_max = 9, d = 4, node_mass = equal, gamma = 2": embedding(
            4, max_random_nodes=9, node_mass="equal", gamma=2
        ),
    }
    found = evaluate(labelled, data.target, names.values(), n_folds=2).summary()
    assert [row["method"] for row in found] == list(names)


def test_functions_are_told_apart_by_what_they_compute():
    def degrees(graphs):
        return np.diff(graphs.indptr)[:, None] * 1.0

    def method(function):
        return Method("m", gm.RandomGraphEmbedding(node_embedding=function)).fingerprint

    assert method(degrees) == method(degrees)
    assert " at 0x" not in repr(_code_of(degrees))
    assert method(lambda graphs: 3 * degrees(graphs)) != method(lambda graphs: 2 * degrees(graphs))


def test_the_kernel_of_all_distances():
    nodes = gm.embed_nodes(gm.make_graph_families(70, random_state=1).graphs, 4)
    D = gm.earth_movers_distance(nodes, nodes)
    J = np.eye(70) - 1 / 70
    assert emd_kernel(nodes) == pytest.approx(-0.5 * J @ D @ J, abs=1e-12)
    assert negative_part(np.diag([1.0, -1.0])) == (1, 0.5)
    empty = gm.embed_nodes([gm.Graph(2, [(0, 1)]), gm.Graph(0, [])], 2)
    with pytest.raises(ValueError, match="graph 1 has no nodes"):
        emd_kernel(empty)


def test_kernels_of_ones_own(data):
    """The EMD kernel by hand is the one by name; a useless one is not chosen."""
    kernel = emd_kernel(gm.embed_nodes(data.graphs, 4))
    useless = np.eye(60)
    mine = KernelMatrices("mine", {"useless": useless, "distances": kernel})
    found = evaluate(data.graphs, data.target, [mine, EMDKernel("EMD", n_dimensions=(4,))])
    own, known = found.folds[:10], found.folds[10:]
    assert [row["kernel"] for row in own] == ["distances"] * 10
    assert [row["accuracy"] for row in own] == [row["accuracy"] for row in known]
    assert {row["n_dimensions"] for row in known} == {4}
    assert mine.fingerprint != KernelMatrices("mine", {"distances": kernel}).fingerprint


@pytest.mark.parametrize(
    "matrices, message",
    [
        ({}, "'k' has no kernel matrix"),
        ({1: np.eye(60), 2: np.eye(59)}, r"matrix 2 of 'k' has the shape \(59, 59\)"),
        ({1: np.diag([1.0] * 59 + [np.nan])}, r"matrix 1 of 'k' has nan at \[59, 59\]"),
        ({1: np.triu(np.ones((60, 60)))}, r"not symmetric: 1.0 at \[0, 1\], 0.0 at \[1, 0\]"),
        ({1: np.eye(7)}, "'k' has kernels of 7 graphs, expected 60"),
    ],
)
def test_bad_kernels_are_refused(data, matrices, message):
    with pytest.raises(ValueError, match=message):
        evaluate(data.graphs, data.target, [KernelMatrices("k", matrices)])


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_is_there(), reason="no GPU, or no CuPy")
def test_a_gpu_evaluates_alike(labelled, data):
    options = {"n_components": [16, 128], "n_folds": 3}
    rows = []
    for device in ("cpu", "cuda"):
        found = evaluate(labelled, data.target, methods(), device=device, **options)
        rows.append([{**row, "seconds": 0} for row in found.folds])
    for row, same in zip(*rows, strict=True):
        for name, value in row.items():
            number = isinstance(value, float)
            assert same[name] == (pytest.approx(value, rel=1e-6) if number else value), name


def test_graphs_without_nodes_are_scored_not_drawn(data):
    graphs = with_graph_replaced(data.graphs, 3, gm.Graph(0, []))
    method = Method("m", gm.RandomGraphEmbedding(), {})
    found = evaluate(graphs, data.target, [method], n_components=16, n_folds=3)
    assert len(found.folds) == 3


def test_bags_count_labels_or_degrees():
    path = gm.Graph(3, [(0, 1), (1, 2)])
    star = gm.Graph(4, [(0, 1), (0, 2), (0, 3)])
    counts = bags_of_nodes(gm.as_graph_batch([path, star]))
    assert counts.tolist() == [[2, 1, 0], [3, 0, 1]]
    named = gm.Graph(3, [(0, 1)], node_labels=["C", "N", "C"])
    assert sorted(bags_of_nodes(gm.as_graph_batch([named]))[0]) == [1, 2]


def _evaluate_slowly(graphs, target, path):
    evaluate(graphs, target, methods(), n_components=32, n_folds=3, n_repeats=3, journal=path)


@pytest.mark.parametrize("seen", [' finalist"', " finalist 1", "RF .*inner_accuracy"])
def test_a_killed_evaluation_goes_on(labelled, data, tmp_path, seen):
    """Whether settings were being looked at, finalists judged or the best of them scored."""
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
    with open(path, "a") as file:
        file.write('{"key": "RF')  # what a kill may leave of a line
    _evaluate_slowly(labelled, data.target, path)
    finished = path.read_text().splitlines(keepends=True)
    folds = [line for line in kept if line.endswith("\n") and " finalist" not in line]
    assert 3 < len(folds) < len(finished) == 1 + 5 * 9  # finalists are of no use any more
    assert finished[: len(folds)] == folds
    options = {"n_components": 32, "n_folds": 3}
    resumed = evaluate(labelled, data.target, methods(), n_repeats=3, journal=path, **options)
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
        evaluate(labelled[::-1], data.target, methods(), journal=path, **options)
    options = {"n_components": 32, "n_folds": 4, "random_state": 1}
    with pytest.raises(
        ValueError, match=r"n_folds=3 not n_folds=4 and random_state=0 not random_state=1: name"
    ):
        evaluate(labelled, data.target, methods(), journal=path, **options)


def test_another_rule_of_choosing_computes_its_own_methods_anew(data, tmp_path, monkeypatch):
    path = tmp_path / "folds.jsonl"
    options = {"n_components": 8, "n_folds": 3, "journal": path}
    chosen = [
        "majority class",
        "bag of nodes",
        Method("mine", gm.RandomGraphEmbedding()),
        EMDKernel("EMD"),
    ]
    evaluate(data.graphs, data.target, chosen, **options)
    before = path.read_text()
    monkeypatch.setattr(EMDKernel, "range_of_c", (2.0,))
    found = evaluate(data.graphs, data.target, chosen, **options)
    added = path.read_text().removeprefix(before).splitlines()
    assert len(added) == 3
    assert all('"EMD ' in line for line in added)
    assert {row["C"] for row in found.folds if row["method"] == "EMD"} == {2.0}


def test_progress_tells_the_time_left_on_standard_error(data, capsys):
    options = {"n_components": 8, "n_folds": 3, "progress": True}
    evaluate(data.graphs, data.target, [Method("mine", gm.RandomGraphEmbedding())], **options)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "mine: distances" in shown.err
    assert "3/3 [00:" in shown.err


def test_depths_side_by_side_are_blocks_of_features(labelled, data):
    """WL-RGE's features of depths 0 and 1 are those of two embeddings beside each other."""
    embedding = gm.RandomGraphEmbedding(use_node_labels=True)
    method = Method("m", embedding, {"wl_iterations": [1]}, stack_depths=True)
    part = np.arange(40)
    columns = RandomColumns(labelled, embedding, [part], 16, seed=3)
    for point in method.points():
        columns.compute(point, 16, None, [0])
    [setting] = settings_of(method, columns, 16, Fold(0, part, np.arange(40, 60), 0))
    assert setting.row()["wl_iterations"] == 1
    tables = [columns.of_fold(0, Point(20, 4, depth), 16) for depth in (0, 1)]
    for distances, block in zip(tables, setting.features(tables), strict=True):
        gamma = 1 / np.median(distances[part])
        assert block == pytest.approx(np.exp(-gamma * distances) / 4, rel=1e-12)


def test_depths_that_share_distances_have_them_wide_enough(labelled, data):
    """A small R may choose one depth and a large one another: both need depth 0."""
    grid = {"wl_iterations": [1, 2], "gamma": [0.3, 3.0]}
    method = Method("m", gm.RandomGraphEmbedding(use_node_labels=True), grid, stack_depths=True)
    found = evaluate(labelled, data.target, [method], n_components=[2, 4, 8, 64], n_folds=5)
    depths = {(row["n_components"], row["wl_iterations"]) for row in found.folds}
    assert {depth for _, depth in depths} == {1, 2}
    alone = evaluate(labelled, data.target, [method], n_components=64, n_folds=5)
    wide = [row for row in found.folds if row["n_components"] == 64]
    assert [row["accuracy"] for row in wide] == [row["accuracy"] for row in alone.folds]


def test_paper_methods_have_the_papers_grids():
    found = paper_methods()
    assert repr(found["RGE(ASG)"]) == "Method('RGE(ASG)', 150 settings)"
    assert {p.max_random_nodes for p in found["RGE(RF)"].points()} == set(range(3, 31, 3))
    depths = {tuple(p.wl_iterations for p in block) for block in found["WL-RGE(ASG)"].blocks()}
    assert depths == {tuple(range(last + 1)) for last in (1, 2, 3, 4)}


@pytest.mark.parametrize(
    "options, message",
    [
        ({"y": np.linspace(0, 1, 60)}, r"y\[1\] is 0.01.*, expected a class"),
        ({"y": np.r_[np.arange(59) % 2, np.nan]}, r"y\[59\] is nan, expected a class"),
        ({"y": np.arange(60) % 2 * 1j}, "y has the type complex128"),
        ({"y": np.zeros(60, int)}, "y has 1 classes"),
        ({"y": np.r_[np.zeros(59, int), 1]}, "class 1 has 1 graphs, expected 10 .* n_folds=10"),
        ({"y": [None, *range(59)]}, r"y\[0\] is None"),
        ({"y": ["a", "b"] * 29 + ["a", np.nan]}, r"y\[59\] is nan, expected a class"),
        ({"y": pd.Series(["a", "b"] * 29 + ["a", pd.NA], dtype="string")}, r"y\[59\] is <NA>"),
        ({"y": [np.inf, *[0.0, 1.0] * 29, 1.0]}, r"y\[0\] is inf, expected a class"),
        ({"y": ["a", "b"] * 29 + [0, 1]}, "y has strings and numbers"),
        ({"y": None}, r"y is a NoneType of the shape \(\), expected \(60,\)"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0"),
        ({"device": "gpu", "methods": ["majority class"]}, "device must be one of"),
        (
            {"methods": ["majority class", "WL-RGE(ASG)"]},
            r"'WL-RGE\(ASG\)' needs node labels, but not all graphs have them",
        ),
        (
            {"methods": ["majority class", KernelMatrices("k", {"a": np.eye(3)})]},
            "'k' has kernels of 3 graphs, expected 60",
        ),
        ({"methods": []}, "methods is empty"),
        ({"y": np.zeros(7, int)}, r"y has the shape \(7,\), expected \(60,\)"),
        ({"methods": ["GCN"]}, r"majority class, .* WL-RGE\(ASG\), EMD, .*got 'GCN'"),
        ({"selection": "luck"}, "selection must be one of ridge, svm, got 'luck'"),
        ({"n_components": 0}, "n_components must be at least 1, got 0"),
        ({"n_components": []}, "n_components is empty"),
        (
            {"methods": [gm.RandomGraphEmbedding(4)] * 2},
            r"two methods are called 'RGE\(ASG\), D_max",
        ),
        (
            {"y": np.arange(60) < 3, "n_folds": 2},
            "class True has 3 graphs, expected 4 or more with n_folds=2: take n_folds=3, or",
        ),
        ({"n_repeats": 0}, "n_repeats must be at least 1"),
        ({"journal": os.path.join("no", "j")}, "there is no folder no"),
    ],
)
def test_bad_input_is_refused(data, options, message):
    arguments = {"y": data.target, **options}
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        evaluate(data.graphs, **arguments)


def test_bad_methods_are_refused():
    with pytest.raises(TypeError, match="kernel matrix 'a' of 'k' is a csr_matrix, expected"):
        KernelMatrices("k", {"a": csr_matrix(np.eye(3))})
    with pytest.raises(TypeError, match=r"kernel matrix 'a' of 'k' is a ndarray, expected .* real"):
        KernelMatrices("k", {"a": np.eye(3) * 1j})
    for wrong in (4, []):
        with pytest.raises(ValueError, match=r"the n_dimensions of 'e' are .*, expected a list"):
            EMDKernel("e", n_dimensions=wrong)
    with pytest.raises(TypeError, match=r"has gamma=<generator .*, expected a list"):
        Method("m", gm.RandomGraphEmbedding(), {"gamma": (g for g in [1, 2])})
    with pytest.raises(TypeError, match="nodes is a list, expected what embed_nodes returns"):
        emd_kernel([])


def test_kernels_may_be_called_by_strings_and_numbers(data):
    counts = bags_of_nodes(data.graphs)
    kernels = KernelMatrices("k", {"counts": counts @ counts.T, 2: np.eye(60)})
    found = evaluate(data.graphs, data.target, [kernels], n_folds=3)
    found.folds[0]["kernel"] = 2
    assert list(found.summary()[0]["choices"]["kernel"]) == ["2", "counts"]


def test_whole_numbers_stay_whole_in_pandas(data):
    methods = ["majority class", gm.RandomGraphEmbedding(8)]
    frame = evaluate(data.graphs, data.target, methods, n_folds=3).to_pandas()
    assert frame["n_components"].dtype == "Int64"
    assert frame["n_components"].isna().sum() == 3


def test_a_damaged_journal_is_named_with_its_line(data, tmp_path):
    path = tmp_path / "j.jsonl"
    evaluate(data.graphs, data.target, ["majority class"], n_folds=3, journal=path)
    lines = path.read_text().splitlines()
    for damaged in ("", "\0\0", '{"key": "a"}', "7"):
        path.write_text("\n".join([*lines[:2], damaged, *lines[3:]]) + "\n")
        with pytest.raises(ValueError, match=r"j\.jsonl, line 3, is damaged: delete the line"):
            evaluate(data.graphs, data.target, ["majority class"], n_folds=3, journal=path)
    path.write_text("\n".join([lines[0][:-5], *lines[1:]]) + "\n")
    with pytest.raises(ValueError, match="another evaluation, in another format"):
        evaluate(data.graphs, data.target, ["majority class"], n_folds=3, journal=path)


def test_two_evaluations_share_a_journal(tmp_path):
    """What another process has added is kept when finalists are dropped."""
    one, other = (Journal(tmp_path / "j.jsonl", {"n_folds": 3}) for _ in range(2))
    one.add("a", 1)
    one.add("a finalist", 0)
    other.add("b", 2)
    one.drop(lambda key: key.endswith("finalist"))
    again = Journal(tmp_path / "j.jsonl", {"n_folds": 3})
    assert (again["a"], again["b"], "a finalist" in again) == (1, 2, False)


def test_classes_may_be_whole_floats(data):
    found = evaluate(data.graphs, (data.target % 2).astype(float), ["majority class"])
    assert repr(found) == "Evaluation(majority class: 50.0 %)"


def test_things_that_are_nearly_right_are_told(data, tmp_path):
    with pytest.raises(TypeError, match=r"methods is 'EMD', expected a list"):
        evaluate(data.graphs, data.target, "EMD")
    with pytest.raises(TypeError, match="n_dimensions=4, expected a list of values"):
        Method("m", gm.RandomGraphEmbedding(), {"n_dimensions": 4})
    with pytest.raises(ValueError, match='gamma "scale", expected numbers'):
        Method("m", gm.RandomGraphEmbedding(), {"gamma": ["scale"]})
    with pytest.raises(TypeError, match="'k' are a ndarray, expected a mapping from names"):
        KernelMatrices("k", np.eye(3))
    (tmp_path / "vectors.csv").write_text("1,2\n")
    with pytest.raises(ValueError, match=r"vectors.csv is there already, and is no journal"):
        evaluate(data.graphs, data.target, journal=tmp_path / "vectors.csv")


def test_bad_grids_are_refused(data):
    embedding = gm.RandomGraphEmbedding()
    with pytest.raises(ValueError, match="the grid of 'm' has 'depth', not one of"):
        Method("m", embedding, {"depth": [1]})
    with pytest.raises(ValueError, match="the grid of 'm' has no values of 'gamma'"):
        Method("m", embedding, {"gamma": []})
    with pytest.raises(ValueError, match="n_dimensions must be a whole number of at least 1"):
        Method("m", embedding, {"n_dimensions": [0]})
    with pytest.raises((TypeError, ValueError), match="max_random_nodes must be a whole number"):
        Method("m", embedding, {"max_random_nodes": [3.7]})
    with pytest.raises(TypeError, match="grid of 'm' is None, expected a mapping"):
        Method("m", embedding, None)
    with pytest.raises(TypeError, match=r"expected Method\(name, estimator\), got"):
        Method(embedding, "m")
    with pytest.raises((TypeError, ValueError), match="gamma must be"):
        Method("m", gm.RandomGraphEmbedding(gamma="auto"))
    with pytest.raises(TypeError, match="n_components must be a whole number, got '16'"):
        evaluate(data.graphs, data.target, ["EMD"], n_components="16")
