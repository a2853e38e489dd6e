"""What graphs carry and an embedding ignores is said."""

import re
import warnings

import numpy as np
import pytest
from graph_zoo import random_graph

import graphmover as gm
from graphmover.cli.words import in_words_of_options


def graphs_with(**columns):
    rng = np.random.default_rng(0)
    return [random_graph(rng, n, **columns) for n in (4, 6, 5)]


def said(graphs, **parameters):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gm.RandomGraphEmbedding(4, random_state=0, **parameters).fit(graphs)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    "columns, what, remedy",
    [
        ({"attributes": 2}, "node attributes", "attributes,structure"),
        ({"edge_labels": 2}, "edge labels", "edges,structure"),
        (
            {"attributes": 2, "edge_labels": 2, "labels": 3, "weighted": True},
            "node attributes and edge labels",
            "attributes,labels,edges,structure",
        ),
    ],
)
def test_the_default_says_what_it_ignores(columns, what, remedy):
    graphs = graphs_with(**columns)
    (message,) = said(graphs)
    assert message == (
        f'the graphs carry {what}, which node_embedding="laplacian" does not use: '
        f'node_embedding="{remedy}" does'
    )
    assert not said(graphs, node_embedding=remedy)


def test_nearest_graphs_name_a_parameter_that_they_have():
    graphs = graphs_with(labels=3, weighted=True)
    own = 'node_embedding="labels,structure", smoothing=1'
    remedy = f"embedding=gm.RandomGraphEmbedding({own})"
    expected = (
        f"the graphs carry edge weights, which node_embedding=None does not use: {remedy} does"
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(expected)}$") as warned:
        gm.NearestGraphs(1).fit(graphs)
    assert len(warned) == 1
    assert in_words_of_options(expected).endswith("labels,structure, --smoothing 1 does")
    gm.NearestGraphs(1, embedding=eval(remedy.removeprefix("embedding="))).fit(graphs)


ALL = {"attributes": 2, "edge_labels": 2, "labels": 3, "weighted": True}
REMEDY = 'node_embedding="attributes,labels,edges,structure"'


@pytest.mark.parametrize(
    "parameters, message",
    [
        (
            {"node_embedding": "degree"},
            "node attributes and edge labels, which "
            f'node_embedding="degree" does not use: {REMEDY}',
        ),
        (
            {"node_embedding": "return-probability", "use_node_labels": False},
            "node attributes and edge labels, which "
            f'node_embedding="return-probability" does not use: {REMEDY}',
        ),
        (
            {"node_embedding": "attributes", "node_mass": "equal"},
            "node labels, edge weights and edge labels, which "
            f'node_embedding="attributes" does not use: {REMEDY}, smoothing=1',
        ),
        (
            {"node_embedding": "attributes,labels"},
            f'edge labels, which node_embedding="attributes,labels" does not use: {REMEDY}',
        ),
        (
            {"node_embedding": None, "wl_iterations": 2, "use_edge_labels": "auto"},
            f"node attributes, which node_embedding=None does not use: {REMEDY}",
        ),
        (
            {"sampling": "uniform", "node_embedding": "laplacian"},
            "node attributes, node labels and edge labels, which "
            f'node_embedding="laplacian" does not use: {REMEDY}',
        ),
    ],
)
def test_what_is_chosen_says_what_it_ignores_too(parameters, message):
    assert said(graphs_with(**ALL), **parameters) == [f"the graphs carry {message} does"]


def test_labels_that_uniform_points_have_not():
    graphs = graphs_with(labels=3)
    (message,) = said(graphs, sampling="uniform")
    assert "which points drawn uniformly do not have" in message
    assert not said(graphs, sampling="uniform", use_node_labels=False)


def test_views_of_ones_own_say_what_none_of_them_uses():
    graphs = graphs_with(**ALL)

    def said_by(*transformers):
        views = [(str(number), one) for number, one in enumerate(transformers)]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            gm.GraphVectorizer(views=views, random_state=0).fit(graphs)
        return [str(warning.message) for warning in caught]

    labels = gm.RandomGraphEmbedding(4, node_embedding=None, node_mass="equal")
    (message,) = said_by(labels, gm.GraphSizes())
    assert message == (
        "the graphs carry node attributes, edge weights and edge labels, which no view uses: "
        'views="auto" does'
    )
    rest = gm.RandomGraphEmbedding(4, node_embedding="attributes,edges,structure")
    assert not said_by(labels, rest)
    own = gm.RandomGraphEmbedding(4, node_embedding=_degrees)
    assert not said_by(labels, own)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gm.GraphVectorizer(8, random_state=0).fit(graphs)


def _degrees(batch):
    return [graph.to_scipy().sum(axis=1).reshape(-1, 1) for graph in batch]


def test_edge_attributes():
    batch = gm.GraphBatch.from_edges([3], [2], [(0, 1), (1, 2)], edge_attributes=[1.0, 2.0])
    (message,) = said(batch)
    assert "carry edge attributes, which" in message and '"edges,structure" does' in message


def test_edge_labels_beside_refined_labels():
    graphs = graphs_with(labels=3, edge_labels=2)
    message = (
        "the graphs carry edge labels, which use_edge_labels=False does not use: "
        'use_edge_labels="auto" does, with wl_iterations=1 or more'
    )
    for node_embedding in ("laplacian", None):
        refined = {"node_embedding": node_embedding, "wl_iterations": 2}
        assert said(graphs, **refined) == [message]
        assert not said(graphs, **refined, use_edge_labels="auto")
    assert said(graphs, node_embedding=None) == [message]


def test_nothing_is_said_without_reason():
    assert not said(graphs_with())
    assert not said(graphs_with(labels=3, weighted=True))
    no_columns = [gm.Graph(2, [(0, 1)], node_attributes=np.zeros((2, 0)))]
    no_edges = [gm.Graph(2, [], edge_labels=[])]
    assert not said(no_columns) and not said(no_edges)


def test_labels_that_features_leave_out():
    graphs = graphs_with(labels=3)
    (message,) = said(graphs, node_embedding=["structure", ("laplacian", 2)])
    assert message.startswith(
        'the graphs carry node labels, which node_embedding="structure,laplacian:2.0" does not use'
    )
    for choice in ({"use_node_labels": True}, {"use_node_labels": False}, {"wl_iterations": 1}):
        assert not said(graphs, node_embedding="structure", **choice)
    assert not said(graphs, node_embedding=["laplacian", "degree"])
    assert not said(
        graphs, node_embedding=lambda batch: [np.zeros((n, 1)) for n in batch.node_counts]
    )


def test_the_warning_points_to_the_caller():
    with pytest.warns(UserWarning, match="the graphs carry node attributes") as caught:
        gm.RandomGraphEmbedding(4).fit(graphs_with(attributes=1))
    assert caught[0].filename == __file__


def test_the_warning_points_to_the_caller_of_what_scikit_learn_wraps():
    graphs = [gm.Graph(2, [(0, 1)]), gm.Graph(0, [])]
    for call in (gm.GraphSizes().fit_transform, gm.RandomGraphEmbedding(4).fit_transform):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(graphs)
        assert {one.filename for one in caught} <= {__file__}
    assert caught
