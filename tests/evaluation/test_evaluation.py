import json
import os

import numpy as np
import pandas as pd
import pytest
from evaluation_cases import methods
from scipy.sparse import csr_matrix

import graphmover as gm
from graphmover._utils.cuda import gpu_available
from graphmover.evaluation import (
    EMDKernel,
    Method,
    PrecomputedKernels,
    emd_kernel,
    evaluate,
    paper_methods,
)
from graphmover.evaluation.fingerprints import code_of


@pytest.mark.slow
def test_results_do_not_depend_on_threads_nor_on_larger_runs(labelled, data):
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


def test_an_embedding_is_named_after_its_parameters(labelled, data):
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


def test_functions_are_identified_by_their_code():
    def degrees(graphs):
        return np.diff(graphs.indptr)[:, None] * 1.0

    def method(function):
        return Method("m", gm.RandomGraphEmbedding(node_embedding=function)).fingerprint

    assert method(degrees) == method(degrees)
    assert " at 0x" not in repr(code_of(degrees))
    assert method(lambda graphs: 3 * degrees(graphs)) != method(lambda graphs: 2 * degrees(graphs))


def test_numpy_numbers_and_repeated_numbers_are_accepted(data):
    grid = {"max_random_nodes": np.arange(3, 7, 3), "gamma": np.array([0.3, 1.0])}
    method = Method("m", gm.RandomGraphEmbedding(), grid)
    numbers = [np.int64(8), 4, 8]
    found = evaluate(data.graphs, data.target, [method], n_components=numbers, n_folds=3)
    assert [row["n_components"] for row in found.folds] == [4, 8] * 3
    kernels = PrecomputedKernels("k", {h: np.eye(60) for h in np.arange(2.0)})
    assert len(evaluate(data.graphs, data.target, [kernels], n_folds=3).summary()) == 1


def test_paper_methods_have_the_papers_grids():
    found = paper_methods()
    assert repr(found["RGE(ASG)"]) == "Method('RGE(ASG)', 150 candidates)"
    assert {p.max_random_nodes for p in found["RGE(RF)"].search_space.hyperparameters()} == set(
        range(3, 31, 3)
    )
    depths = {
        tuple(p.wl_iterations for p in block) for block in found["WL-RGE(ASG)"].search_space.stacks
    }
    assert depths == {tuple(range(last + 1)) for last in (1, 2, 3, 4)}


def test_progress_shows_the_time_left_on_standard_error(data, capsys, terminal):
    options = {"n_components": 8, "n_folds": 3, "progress": True}
    evaluate(data.graphs, data.target, [Method("mine", gm.RandomGraphEmbedding())], **options)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "mine: distances" in shown.err
    assert "3/3 [00:" in shown.err


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_available(), reason="no GPU, or no CuPy")
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


def test_integers_stay_integers_in_pandas(data):
    methods = ["majority class", gm.RandomGraphEmbedding(8)]
    frame = evaluate(data.graphs, data.target, methods, n_folds=3).to_pandas()
    assert frame["n_components"].dtype == "Int64"
    assert frame["n_components"].isna().sum() == 3


def test_classes_may_be_integral_floats(data):
    found = evaluate(data.graphs, (data.target % 2).astype(float), ["majority class"])
    assert repr(found) == "Evaluation(majority class: 50.0 %)"


@pytest.mark.parametrize(
    "options, message",
    [
        (
            {"y": np.linspace(0, 1, 60), "task": "classification"},
            r"y\[1\] is 0.01.*, expected a class",
        ),
        ({"y": np.r_[np.arange(59) % 2, np.nan]}, r"y\[59\] is nan, expected a class"),
        ({"y": np.arange(60) % 2 * 1j}, "y has the type complex128"),
        ({"y": np.zeros(60, int)}, "y has only one class, expected 2 or more"),
        ({"y": np.r_[np.zeros(59, int), 1]}, "only class 0 has 2 graphs or more, but a training"),
        ({"y": np.arange(60)}, 'largest class, 0, has 1 graph, .*, or task="regression" if these'),
        ({"y": list("abcd") * 15, "n_folds": 20}, "class, a, has 15 .*: use fewer folds$"),
        ({"y": [None, *range(59)]}, r"y\[0\] is None"),
        ({"y": ["a", "b"] * 29 + ["a", np.nan]}, r"y\[59\] is nan, expected a class"),
        ({"y": pd.Series(["a", "b"] * 29 + ["a", pd.NA], dtype="string")}, r"y\[59\] is <NA>"),
        ({"y": [np.inf, *[0.0, 1.0] * 29, 1.0]}, r"y\[0\] is inf, expected a class"),
        ({"y": ["a", "b"] * 29 + [0, 1]}, "y has strings and numbers"),
        ({"y": ["a", "b"] * 29 + [b"a", b"b"]}, "y has strings and bytes"),
        ({"y": None}, "y is None: pass a class or value for each graph, or a Dataset"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0"),
        ({"device": "gpu", "methods": ["majority class"]}, "device must be one of"),
        (
            {"methods": ["majority class", "WL-RGE(ASG)"]},
            r"'WL-RGE\(ASG\)' needs node labels, but not all graphs have them",
        ),
        (
            {"methods": ["majority class", PrecomputedKernels("k", {"a": np.eye(3)})]},
            "'k' has kernels of 3 graphs, expected 60",
        ),
        ({"methods": []}, "methods is empty"),
        ({"y": np.zeros(7, int)}, r"y has the shape \(7,\), expected \(60,\)"),
        ({"methods": ["mean value"]}, "got 'mean value', which task=\"regression\" has"),
        ({"methods": ["GCN"]}, r"majority class, .* WL-RGE\(ASG\), EMD, .*got 'GCN'"),
        ({"task": "ranking"}, "task must be one of auto, classification, regression, got 'rank"),
        ({"metrics": ["f1"]}, "metrics must be among accuracy, .* for classification, got 'f1'"),
        ({"metrics": "r2"}, "metrics must be among accuracy, .* for classification, got 'r2'"),
        ({"metrics": []}, "metrics must be one or more of accuracy, .*, roc_auc, got none"),
        ({"selection": "luck"}, "selection must be one of ridge, svm, got 'luck'"),
        ({"n_components": 0}, "n_components must be at least 1, got 0"),
        ({"n_components": []}, "n_components is empty"),
        (
            {"methods": [gm.RandomGraphEmbedding(4)] * 2},
            r"two methods are called 'RGE\(ASG\), D_max",
        ),
        ({"n_repeats": 0}, "n_repeats must be at least 1"),
        ({"checkpoint": os.path.join("no", "j")}, "there is no folder no"),
    ],
)
def test_bad_input_raises(data, options, message):
    arguments = {"y": data.target, **options}
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        evaluate(data.graphs, **arguments)


@pytest.mark.parametrize("y", [[0.5, None, 1.5, np.nan], ["a", None, "b", pd.NA]])
def test_missing_targets_are_named_with_a_remedy(y):
    graphs = gm.as_graph_batch([gm.Graph(2, [(0, 1)])] * 4, ids=["p", "q", "r", "s"])
    message = (
        r"^y\[1\], of the graph with the id q, is None, expected a .*\. 2 of 4 graphs have no "
        r"target: drop such rows from the source, or on the command line add --errors skip, or in "
    )
    with pytest.raises(ValueError, match=message):
        evaluate(graphs, y, n_folds=2)


def test_a_data_set_has_its_own_target(data):
    own = evaluate(data, methods=["majority class"], n_folds=3)
    assert repr(own) == repr(evaluate(*data, ["majority class"], n_folds=3))
    other = evaluate(data, data.target % 2, ["majority class"], n_folds=3)
    assert repr(other) == "Evaluation(majority class: 50.0 %)"
    with pytest.raises(ValueError, match="the data set none has no target: pass y"):
        evaluate(gm.Dataset("none", data.graphs))


def test_the_default_is_that_of_the_command_line(data):
    rows = evaluate(data, n_folds=2, n_components=[4, 8]).summary()
    assert [row["method"] for row in rows] == [
        "majority class",
        "bag of nodes",
        "GraphVectorizer + LogisticRegression, R = 4",
        "GraphVectorizer + LogisticRegression, R = 8",
    ]
    [*_, last] = evaluate(data, n_folds=2, n_components=4).summary()
    assert last["method"] == "GraphVectorizer + LogisticRegression"
    assert last["mean"] == rows[2]["mean"]
    values = data.graphs.node_counts / 7
    [*_, last] = evaluate(data, values, n_folds=2, n_components=4).summary()
    assert last["method"] == "GraphVectorizer + Ridge"


def test_bad_methods_raise():
    with pytest.raises(TypeError, match="kernel matrix 'a' of 'k' is a csr_matrix, expected"):
        PrecomputedKernels("k", {"a": csr_matrix(np.eye(3))})
    with pytest.raises(TypeError, match=r"kernel matrix 'a' of 'k' is a ndarray, expected .* real"):
        PrecomputedKernels("k", {"a": np.eye(3) * 1j})
    for wrong in (4, []):
        with pytest.raises(ValueError, match=r"the n_dimensions of 'e' are .*, expected a list"):
            EMDKernel("e", n_dimensions=wrong)
    with pytest.raises(TypeError, match=r"has gamma=<generator .*, expected a list"):
        Method("m", gm.RandomGraphEmbedding(), {"gamma": (g for g in [1, 2])})
    with pytest.raises(TypeError, match="nodes is a list, expected what embed_nodes returns"):
        emd_kernel([])


def test_plausible_mistakes_raise_with_a_remedy(data, tmp_path):
    with pytest.raises(TypeError, match=r"methods is 'EMD', expected a list"):
        evaluate(data.graphs, data.target, "EMD")
    with pytest.raises(TypeError, match="n_dimensions=4, expected a list of values"):
        Method("m", gm.RandomGraphEmbedding(), {"n_dimensions": 4})
    with pytest.raises(ValueError, match=r"gamma \['scale'\], expected numbers"):
        Method("m", gm.RandomGraphEmbedding(), {"gamma": ["scale"]})
    with pytest.raises(TypeError, match="'k' are a ndarray, expected a mapping from names"):
        PrecomputedKernels("k", np.eye(3))
    (tmp_path / "vectors.csv").write_text("1,2\n")
    with pytest.raises(ValueError, match=r"vectors.csv exists and is not a checkpoint"):
        evaluate(data.graphs, data.target, checkpoint=tmp_path / "vectors.csv")


def test_bad_grids_raise(data):
    embedding = gm.RandomGraphEmbedding()
    with pytest.raises(ValueError, match="the grid of 'm' has 'depth', expected one of"):
        Method("m", embedding, {"depth": [1]})
    with pytest.raises(ValueError, match="the grid of 'm' has no values of 'gamma'"):
        Method("m", embedding, {"gamma": []})
    with pytest.raises(ValueError, match=r"n_dimensions must be an? .* of at least 1"):
        Method("m", embedding, {"n_dimensions": [0]})
    with pytest.raises((TypeError, ValueError), match=r"max_random_nodes must be an? "):
        Method("m", embedding, {"max_random_nodes": [3.7]})
    with pytest.raises(TypeError, match="grid of 'm' is None, expected a mapping"):
        Method("m", embedding, None)
    with pytest.raises(TypeError, match=r"expected Method\(name, estimator\), got"):
        Method(embedding, "m")
    with pytest.raises((TypeError, ValueError), match="gamma must be"):
        Method("m", gm.RandomGraphEmbedding(gamma="auto"))
    with pytest.raises(TypeError, match="n_components must be an integer, got '16'"):
        evaluate(data.graphs, data.target, ["EMD"], n_components="16")


def test_one_long_class_does_not_set_the_size_of_all():
    """As fixed-width text, these classes would take 160 GB."""
    from graphmover.evaluation.target import encoded_target

    y = ["b", "a"] * 20_000
    y[:5] = ["x" * 1_000_000] * 5
    target = encoded_target(y, len(y), n_folds=10)
    assert [name[:2] for name in target.classes] == ["a", "b", "xx"]
    assert target.values[:7].tolist() == [2, 2, 2, 2, 2, 0, 1]
    assert len(target.notes[0]) < 300
