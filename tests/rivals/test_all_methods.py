"""Every method of the catalogue can be built, and knows what it needs."""

from importlib.util import find_spec

import numpy as np
import pytest
from graph_zoo import cycle, path, star

import graphmover as gm
from graphmover.evaluation import EvaluationMethod, evaluate
from graphmover.rivals import Feather, compare
from graphmover.rivals.catalogue import RIVALS, known_rivals
from graphmover.rivals.compare import (
    QUICK,
    USUAL,
    Comparison,
    chosen_methods,
    draw,
    verdict,
)
from graphmover.rivals.cost import Cost


def stars_and_cycles(**columns):
    graphs = [(star if k % 2 else cycle)(5 + k // 2) for k in range(24)]
    return gm.as_graph_batch(graphs), np.arange(24) % 2


def test_what_graphs_lack_is_said():
    graphs, _ = stars_and_cycles()
    assert RIVALS["V-OA"].misfit(graphs) == "needs node labels"
    assert RIVALS["WWL+attributes"].misfit(graphs) == "needs node attributes"
    assert RIVALS["ECFP"].misfit(graphs) == "needs SMILES"
    assert RIVALS["GIN"].misfit(graphs, regression=True) == "predicts classes, not values"
    assert RIVALS["WL-ST"].misfit(graphs) is None
    assert RIVALS["ECFP"].misfit(gm.as_graph_batch(["CCO", "CC"])) is None


def test_a_library_that_is_not_installed_is_said(monkeypatch):
    from graphmover.rivals import catalogue

    monkeypatch.setattr(catalogue, "find_spec", lambda name: None)
    graphs, _ = stars_and_cycles()
    assert RIVALS["DGK"].misfit(graphs) == "needs gensim, which is not installed"


def skip_without_library(name):
    if any(find_spec(module) is None for module in RIVALS[name].library):
        pytest.skip(f"needs {RIVALS[name].library}")


@pytest.mark.parametrize("name", RIVALS)
def test_every_method_is_one_that_evaluate_takes(name):
    skip_without_library(name)
    rival = RIVALS[name]
    graphs, _ = stars_and_cycles()
    method = rival.method(graphs)
    assert isinstance(method, EvaluationMethod)
    assert method.name == name
    if rival.cost != "training":
        assert isinstance(rival.method(graphs, regression=True), EvaluationMethod)


@pytest.mark.parametrize("name", ["WL-ST", "WL-OA", "SP", "FEATHER", "OA-E(A)", "DGK"])
def test_easy_classes_are_told_apart(name):
    skip_without_library(name)
    graphs, classes = stars_and_cycles()
    method = RIVALS[name].method(graphs)
    assert evaluate(graphs, classes, [method], n_folds=3).summary()[0]["mean"] > 0.9


def test_the_learning_rate_of_a_network_is_chosen_on_the_training_set():
    skip_without_library("DGCNN")
    search = RIVALS["DGCNN"].build()
    search.estimator.set_params(hidden=8, epochs=2, random_state=0)
    graphs, classes = stars_and_cycles()
    search.fit(graphs, classes)
    assert search.best_params_["learning_rate"] in RIVALS["DGCNN"].grid["learning_rate"]
    assert len(search.cv_results_["params"]) == len(RIVALS["DGCNN"].grid["learning_rate"])


@pytest.mark.parametrize("name", ["majority class", "WL-ST", "FEATHER"])
def test_values_are_predicted_too(name):
    graphs, classes = stars_and_cycles()
    method = RIVALS[name].method(graphs, regression=True)
    values = classes + 0.25  # not integral: regression
    score = evaluate(graphs, values, [method], n_folds=3).summary()[0]["mean"]
    assert score > (-1 if name == "majority class" else 0.8)


def test_the_usual_methods_depend_on_the_data():
    graphs, _ = stars_and_cycles()
    usual, left_out = chosen_methods(graphs, None, quick=False, regression=False)
    names = {rival.name for rival in usual}
    assert names | set(left_out) == set(USUAL)
    assert {"V-OA", "SP+labels", "WWL+attributes", "ECFP"} <= set(left_out)
    quick, left_out = chosen_methods(graphs, None, quick=True, regression=False)
    assert {rival.name for rival in quick} <= set(QUICK)
    assert left_out["SP"] == left_out["WWL"] == "is not quick"


def test_large_collections_leave_out_what_takes_long():
    many = gm.as_graph_batch([path(2)] * 3001)
    _, left_out = chosen_methods(many, None, quick=False, regression=False)
    assert left_out["WWL"] == "compares all pairs of 3,001 graphs"
    large = gm.as_graph_batch([star(10_001)])
    _, left_out = chosen_methods(large, None, quick=False, regression=False)
    assert left_out["SP"] == "visits 100,020,001 pairs of nodes"
    [named], _ = chosen_methods(many, ["WWL"], quick=False, regression=False)
    assert named.name == "WWL"


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match=r"a method must be one of 'GraphVectorizer', .*got 'WL'"):
        known_rivals(["WL"])


def row(method, mean, seconds, behind=None, standard_error=None):
    return {
        "method": method,
        "mean": mean,
        "fit_seconds": seconds,
        "transform_seconds": 0.0,
        "behind": behind,
        "standard_error": standard_error,
    }


def test_a_cheaper_method_within_a_standard_error_is_named():
    best = row("slow", 0.9, 10.0)
    near, far = row("near", 0.89, 1.0, 0.01, 0.02), row("far", 0.8, 0.1, 0.1, 0.02)
    assert verdict([best], "accuracy") == "slow is best (90.0 %)."
    assert verdict([best, far], "accuracy") == "slow is best (90.0 %)."
    expected = (
        "slow is best (90.0 %); near is as good (1.0 +- 2.0 points behind) and 10 times as fast."
    )
    assert verdict([best, near, far], "accuracy") == expected
    unsure, worse = row("unsure", 0.88, 1.0, 0.02, 0.04), row("worse", 0.85, 0.1, 0.05, 0.06)
    assert verdict([best, unsure, worse], "accuracy") == (
        "slow is best (90.0 %); unsure may be as good (2.0 +- 4.0 points behind: more repetitions "
        "would tell) and 10 times as fast."
    )
    assert verdict([best, near, unsure, worse], "accuracy") == expected
    assert verdict([], "accuracy") == "No method finished."
    fast = row("fast", 0.9, 0.004, 0.0, 0.01)
    assert verdict([best, fast], "accuracy").endswith("and 2,500 times as fast.")


def test_the_picture_has_what_was_scored_and_timed(tmp_path):
    rows = [row("slow", 0.9, 10.0), row("GraphVectorizer", 0.8, 1.0), row("worse", 0.7, 2.0)]
    rows += [row("majority class", 0.5, None), row("failed", None, 1.0)]
    draw(Comparison(rows, {}, "accuracy", ""), tmp_path / "figure.svg")
    drawn = (tmp_path / "figure.svg").read_text()
    assert all(f"<!-- {name} -->" in drawn for name in ("slow", "GraphVectorizer", "worse"))
    assert "majority" not in drawn
    assert "failed" not in drawn
    draw(Comparison([], {}, "r2", ""), tmp_path / "empty.svg")


def test_an_estimator_that_fails_leaves_the_others(monkeypatch):
    graphs, kinds = stars_and_cycles()

    def fail(self, batch):
        raise ArithmeticError("no luck today")

    monkeypatch.setattr(Feather, "_rows", fail)
    monkeypatch.setattr(compare, "cost_of", lambda *args, **kwargs: Cost(1.0, 1.0, 1.0, None))
    found = compare.compare(graphs, kinds, ["bag of nodes", "FEATHER"], n_folds=2)
    [best, failed] = found.rows
    assert best["method"] == "bag of nodes" and best["mean"] is not None
    assert failed["method"] == "FEATHER" and failed["mean"] is None
    assert "'FEATHER' failed in fold" in failed["note"] and "no luck today" in failed["note"]
