"""Kernels with a grid, the clipped spectrum, and paired differences."""

import numpy as np
import pytest
from graph_zoo import cycle, star
from sklearn.svm import SVC

import graphmover as gm
from graphmover.evaluation import EMDKernel, KernelGrid, evaluate, kernels, paired_difference
from graphmover.evaluation.kernels import centred, clipped
from graphmover.rivals import BagOfWLLabels, VertexHistogram


@pytest.fixture(scope="module")
def families():
    return gm.make_graph_families(48, random_state=0, return_X_y=True)


def test_inner_folds_choose_from_the_grid():
    graphs = [(star if k % 2 else cycle)(5 + k // 2) for k in range(24)]
    method = KernelGrid("WL", BagOfWLLabels(), {"iterations": [0, 1]})
    result = evaluate(graphs, np.arange(24) % 2, [method], n_folds=3)
    # Without labels depth 0 says the size alone, which is the same for both.
    assert {row["kernel"] for row in result.folds} == {"iterations=1"}
    assert result.summary()[0]["mean"] == 1.0


def test_a_checkpoint_knows_the_grid(families, tmp_path):
    file = tmp_path / "folds.checkpoint"
    for depths in ([0], [1], [1]):
        method = KernelGrid("WL", BagOfWLLabels(), {"iterations": depths})
        result = evaluate(*families, [method], n_folds=2, checkpoint=file)
        assert {row["kernel"] for row in result.folds} == {f"iterations={depths[0]}"}


def test_values_are_predicted_too(families):
    graphs, _ = families
    sizes = graphs.node_counts + 0.5
    method = KernelGrid("nodes", VertexHistogram(), normalise=False)
    assert evaluate(graphs, sizes, [method], n_folds=3).summary()[0]["mean"] > 0.9


def test_bad_grids_are_refused():
    with pytest.raises(ValueError, match="the grid of 'WL' has 'h', expected parameters of BagOf"):
        KernelGrid("WL", BagOfWLLabels(), {"h": [1]})
    with pytest.raises(ValueError, match=r"the grid of 'WL' has \[\], expected a list of values"):
        KernelGrid("WL", BagOfWLLabels(), {"iterations": []})
    with pytest.raises(TypeError, match="has a GraphSizes, expected an estimator with a method"):
        KernelGrid("WL", gm.GraphSizes())


def test_the_positive_part_projects_unseen_rows_the_same_way():
    rng = np.random.default_rng(0)
    kernel = rng.normal(size=(12, 12))
    kernel = kernel + kernel.T
    train = np.arange(9)
    fitted, unseen = clipped(kernel[np.ix_(train, train)], kernel[:, train])
    assert np.linalg.eigvalsh(fitted).min() > -1e-9
    assert np.allclose(unseen[train], fitted)  # training rows as unseen ones
    positive = centred(np.cov(rng.normal(size=(9, 30))))
    assert np.allclose(clipped(positive, positive)[0], positive)


def test_the_clipped_kernel_is_a_method_of_its_own(families, tmp_path):
    methods = [EMDKernel("EMD", n_dimensions=[4])]
    methods.append(EMDKernel("clipped", n_dimensions=[4], positive_part=True))
    result = evaluate(*families, methods, n_folds=3)
    scores = {row["method"]: row["mean"] for row in result.summary()}
    assert min(scores.values()) > 0.5
    assert methods[0].fingerprint != methods[1].fingerprint


def rows(scores):
    return [{"repeat": k // 5, "fold": k % 5, "accuracy": score} for k, score in enumerate(scores)]


def test_paired_differences_are_those_of_shared_folds():
    rng = np.random.default_rng(0)
    ours, theirs = rng.random(10), rng.random(15)
    found = paired_difference(rows(ours), rows(theirs))
    differences = ours - theirs[:10]
    assert found.folds == 10
    assert found.mean == pytest.approx(differences.mean())
    expected = np.sqrt(differences.var(ddof=1) * (1 / 10 + 1 / 4))
    assert found.standard_error == pytest.approx(expected)
    assert paired_difference(rows(ours), []) is None
    assert paired_difference(rows(ours[:1]), rows(ours)).standard_error is None
    assert paired_difference(rows(ours), rows(ours)).is_level


def test_no_larger_c_is_tried_after_one_that_does_not_converge(monkeypatch):
    fits = []
    fit = SVC.fit
    monkeypatch.setattr(SVC, "fit", lambda self, *data: fits.append(self.C) or fit(self, *data))
    # Classes at random in the plane: no line separates them, so a large C takes many steps.
    points = np.random.default_rng(0).normal(size=(80, 2))
    target = np.arange(80) % 2
    graphs = np.arange(80)
    monkeypatch.setattr(kernels, "MOST_STEPS", 200)
    grid = (1e-3, 1e3, 1e4, 1e5)
    found = kernels.KernelSVMs(points @ points.T, grid).predictions(graphs, graphs, target, grid)
    assert fits == [1e-3, 1e3]
    assert len(found) == 4 and found[1] is found[2] is found[3]
