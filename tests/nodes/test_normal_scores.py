"""Attributes with heavy tails by their ranks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata

import graphmover as gm
from graphmover.nodes.blocks import means_and_deviations
from graphmover.nodes.normal_scores import fitted_knots


def knots_of(columns):
    return fitted_knots(columns, *means_and_deviations(columns))


def graphs_with(columns, size=10):
    """Paths of ``size`` nodes."""
    edges = [(i, i + 1) for i in range(size - 1)]
    return [
        gm.Graph(size, edges, node_attributes=columns[first : first + size])
        for first in range(0, len(columns), size)
    ]


def test_scores_are_normal_quantiles_of_ranks():
    rng = np.random.default_rng(0)
    heavy = rng.standard_cauchy((3000, 1))
    expected = norm.ppf((rankdata(heavy) - 0.5) / 3000)
    found = knots_of(heavy).replace(heavy)[:, 0]
    inner = np.abs(expected) < 2.5
    assert_allclose(found[inner], expected[inner], atol=0.06)  # the spacing of knots
    assert_allclose([found.min(), found.max()], [expected.min(), expected.max()])
    assert (np.argsort(found, kind="stable") == np.argsort(heavy[:, 0], kind="stable")).all()


def test_ties_have_the_middle_of_their_ranks():
    counts = np.repeat([0.0, 1.0, 50.0], [80, 15, 5])[:, np.newaxis]
    found = knots_of(counts).replace(counts)
    assert_allclose(found[[0, 80, 95], 0], norm.ppf([0.4, 0.875, 0.975]))


def test_light_tails_and_constants_stay():
    rng = np.random.default_rng(1)
    columns = np.column_stack(
        [
            rng.random(500),
            rng.normal(size=500),
            np.full(500, 7.0),
            1e9 + rng.integers(0, 2, 500) * 1e-7,  # rounding errors, as good as constant
        ]
    )
    knots = knots_of(columns)
    assert not len(knots.values)
    assert_array_equal(knots.replace(columns), columns)


def test_values_outside_the_training_range_have_the_outermost_score():
    rng = np.random.default_rng(2)
    heavy = rng.standard_cauchy((200, 1))
    knots = knots_of(heavy)
    ends = knots.replace(np.array([[-1e300], [heavy.min()], [heavy.max()], [1e300]]))[:, 0]
    assert ends[0] == ends[1] and ends[2] == ends[3]


def test_the_order_of_values_is_all_that_counts():
    rng = np.random.default_rng(3)
    heavy = rng.standard_cauchy((120, 2))  # so few that every value is a knot
    embedding = gm.RandomGraphEmbedding(16, node_embedding="ranked-attributes", random_state=0)
    expected = embedding.fit_transform(graphs_with(heavy))
    assert_allclose(embedding.fit_transform(graphs_with(np.sinh(np.cbrt(heavy)) * 1e12)), expected)
    standardised = embedding.set_params(node_embedding="attributes")
    assert not np.allclose(standardised.fit_transform(graphs_with(heavy)), expected, atol=1e-3)


def test_without_heavy_tails_ranked_attributes_are_attributes():
    columns = np.random.default_rng(4).normal(size=(200, 3))
    first, second = (
        gm.RandomGraphEmbedding(16, node_embedding=name, random_state=0)
        for name in ("attributes", "ranked-attributes")
    )
    graphs = graphs_with(columns)
    assert_array_equal(first.fit_transform(graphs), second.fit_transform(graphs))


@pytest.fixture
def fitted():
    columns = np.random.default_rng(5).standard_cauchy((200, 3))
    columns[:, 1] = np.arange(200) % 7
    graphs = graphs_with(columns)
    blocks = ["ranked-attributes", "structure"]
    return gm.RandomGraphEmbedding(16, node_embedding=blocks, random_state=0).fit(graphs), graphs


def test_scores_are_saved_with_the_model(fitted, tmp_path):
    model, graphs = fitted
    model.save(tmp_path / "model.npz")
    loaded = gm.RandomGraphEmbedding.load(tmp_path / "model.npz")
    assert_array_equal(loaded.transform(graphs[:3]), model.transform(graphs)[:3])


def test_damaged_scores_are_refused(fitted, tmp_path):
    fitted[0].save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as file:
        arrays = dict(file)
    for name, change in (
        ("knot_offsets", lambda offsets: offsets[1:]),
        ("knot_offsets", lambda offsets: offsets[::-1].copy()),
        ("knot_offsets", lambda offsets: offsets + 1),
        ("knot_values", lambda values: values[1:]),
        ("knot_values", lambda values: values[::-1].copy()),
        ("knot_values", lambda values: values * np.nan),
        ("knot_scores", lambda scores: scores * 0),
    ):
        np.savez(tmp_path / "bad.npz", **arrays | {name: change(arrays[name])})
        with pytest.raises(ValueError, match="is a damaged graphmover model"):
            gm.RandomGraphEmbedding.load(tmp_path / "bad.npz")


def test_graphs_without_attributes_are_refused(fitted):
    with pytest.raises(ValueError, match="the model was fitted with node attributes"):
        fitted[0].transform([gm.Graph(3, [(0, 1)])])
