import numpy as np
import pytest

import graphmover as gm
from graphmover.evaluation import (
    EMDKernel,
    PrecomputedKernels,
    emd_kernel,
    evaluate,
    negative_part,
    vertex_histograms,
)


def test_the_kernel_of_all_distances():
    nodes = gm.embed_nodes(gm.make_graph_families(70, random_state=1).graphs, 4)
    D = gm.earth_movers_distance(nodes, nodes)
    J = np.eye(70) - 1 / 70
    assert emd_kernel(nodes) == pytest.approx(-0.5 * J @ D @ J, abs=1e-12)
    assert negative_part(np.diag([1.0, -1.0])) == (1, 0.5)
    empty = gm.embed_nodes([gm.Graph(2, [(0, 1)]), gm.Graph(0, [])], 2)
    with pytest.raises(ValueError, match="graph 1 has no nodes"):
        emd_kernel(empty)


@pytest.mark.slow
def test_precomputed_kernels(data):
    """The EMD kernel by hand is the one by name; a useless one is not chosen."""
    kernel = emd_kernel(gm.embed_nodes(data.graphs, 4))
    useless = np.eye(60)
    mine = PrecomputedKernels("mine", {"useless": useless, "distances": kernel})
    found = evaluate(data.graphs, data.target, [mine, EMDKernel("EMD", n_dimensions=(4,))])
    own, known = found.folds[:10], found.folds[10:]
    assert [row["kernel"] for row in own] == ["distances"] * 10
    assert [row["accuracy"] for row in own] == [row["accuracy"] for row in known]
    assert {row["n_dimensions"] for row in known} == {4}
    assert mine.fingerprint != PrecomputedKernels("mine", {"distances": kernel}).fingerprint


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
def test_bad_kernels_raise(data, matrices, message):
    with pytest.raises(ValueError, match=message):
        evaluate(data.graphs, data.target, [PrecomputedKernels("k", matrices)])


def test_kernels_are_named_by_strings_and_numbers(data):
    counts = vertex_histograms(data.graphs)
    kernels = PrecomputedKernels("k", {"counts": counts @ counts.T, 2: np.eye(60)})
    found = evaluate(data.graphs, data.target, [kernels], n_folds=3)
    found.folds[0]["kernel"] = 2
    assert list(found.summary()[0]["choices"]["kernel"]) == ["2", "counts"]


def test_vertex_histograms_count_labels_or_degrees():
    path = gm.Graph(3, [(0, 1), (1, 2)])
    star = gm.Graph(4, [(0, 1), (0, 2), (0, 3)])
    counts = vertex_histograms(gm.as_graph_batch([path, star]))
    assert counts.tolist() == [[2, 1, 0], [3, 0, 1]]
    named = gm.Graph(3, [(0, 1)], node_labels=["C", "N", "C"])
    assert sorted(vertex_histograms(gm.as_graph_batch([named]))[0]) == [1, 2]
