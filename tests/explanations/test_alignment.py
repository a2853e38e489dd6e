"""Alignments: optimal plans whose parts add up to the distance, for every kind of embedding."""

import importlib.util

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_data import real_dataset

import graphmover as gm
from graphmover.backends.fitted import ground_of
from graphmover.explanations.costs import general_rule, split_costs
from graphmover.nodes.embed import embed_batch

LABELS_ALONE = {"node_embedding": None, "wl_iterations": 2, "wl_depths": "all"}
BLOCKS = ["ranked-attributes", ("labels", 2.0), "edges", "structure", "laplacian"]

#: Embeddings of every kind of cost, and the kinds.
EMBEDDINGS = {
    "paper": ({}, {"coordinates", "labels"}),
    "no labels": ({"use_node_labels": False}, {"coordinates"}),
    "walks, refined": (
        {"node_embedding": "return-probability", "wl_iterations": 2},
        {"coordinates", "labels"},
    ),
    "all depths": ({"wl_depths": "all", "wl_iterations": 2}, {"coordinates", "labels"}),
    "labels alone": (LABELS_ALONE, {"labels"}),
    "labels counted": (
        LABELS_ALONE | {"partial": True, "node_mass": "equal"},
        {"labels", "unmatched"},
    ),
    "paper counted": ({"partial": True}, {"coordinates", "labels", "unmatched"}),
    "blocks": (
        {"node_embedding": BLOCKS, "smoothing": 1},
        {"coordinates", "labels", "attributes", "edges"},
    ),
    "blocks, depths, counted": (
        {
            "node_embedding": BLOCKS,
            "wl_depths": "all",
            "wl_iterations": 1,
            "label_weight": 0.7,
            "partial": True,
            "node_mass": "equal",
        },
        {"coordinates", "labels", "attributes", "edges", "unmatched"},
    ),
}


def random_graphs(rng, n_graphs=8, most=12):
    graphs = []
    for _ in range(n_graphs):
        n = int(rng.integers(2, most + 1))
        upper = np.argwhere(np.triu(rng.random((n, n)) < 0.4, 1))
        edges = np.concatenate([upper, [[0, 1]]])
        graphs.append(
            gm.Graph(
                n,
                edges,
                node_labels=rng.integers(0, 3, n),
                node_attributes=rng.normal(size=(n, 2)),
                edge_labels=rng.integers(0, 2, len(edges)),
            )
        )
    return gm.as_graph_batch(graphs)


@pytest.fixture(scope="module")
def graphs():
    return random_graphs(np.random.default_rng(0))


def fitted(graphs, **options):
    return gm.RandomGraphEmbedding(6, random_state=0, **options).fit(graphs)


def assert_adds_up(alignment, distance):
    assert alignment.distance == pytest.approx(distance, rel=1e-9, abs=1e-12)
    assert sum(alignment.costs.values()) == pytest.approx(distance, rel=1e-9, abs=1e-12)
    assert all(cost >= 0 for cost in alignment.costs.values())
    for detail in (False, True):
        frame = alignment.to_frame(detail=detail)
        assert frame["cost"].sum() == pytest.approx(distance, rel=1e-9, abs=1e-12)
        parts = frame.drop(
            columns=["a", "b", "a_label", "b_label", "flow", "distance", "cost"], errors="ignore"
        )
        assert parts.sum(axis=1).to_numpy() == pytest.approx(frame["cost"], abs=1e-12)
        assert frame["cost"].is_monotonic_decreasing


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_parts_add_up_to_the_distance(graphs, name):
    options, kinds = EMBEDDINGS[name]
    embedding = fitted(graphs, **options)
    recipe = embedding._to_random_graphs.recipe
    nodes = embed_batch(graphs, recipe)
    ground = ground_of(recipe, nodes, partial=bool(options.get("partial")))
    distances = gm.earth_movers_distance(nodes, nodes, ground=ground)
    seen = set()
    for i in range(len(graphs)):
        for j in (i, (i + 1) % 8, (i + 3) % 8):
            alignment = gm.explain(graphs[i], graphs[j], embedding)
            assert_adds_up(alignment, distances[i, j])
            seen |= set(alignment.costs)
    assert seen == kinds


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_plans_have_the_right_marginals(graphs, name):
    options, _ = EMBEDDINGS[name]
    embedding = fitted(graphs, **options)
    nodes = embed_batch(graphs, embedding._to_random_graphs.recipe)
    for i, j in ((0, 1), (1, 0), (2, 5)):
        alignment, x, y = gm.explain(graphs[i], graphs[j], embedding), nodes[i], nodes[j]
        out, into = alignment.unmatched_a.copy(), alignment.unmatched_b.copy()
        np.add.at(out, alignment.nodes_a, alignment.flow)
        np.add.at(into, alignment.nodes_b, alignment.flow)
        assert into == pytest.approx(y.weights, abs=1e-12)
        total = y.masses.sum() if options.get("partial") else x.masses.sum()
        assert out == pytest.approx(x.masses / total, abs=1e-12)


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_a_column_of_distances_is_explained(graphs, name):
    options, _ = EMBEDDINGS[name]
    embedding = fitted(graphs, **options)
    distances = embedding.distances(graphs)
    for i, r in ((0, 0), (3, 5), (4, 2)):
        with_graphs = gm.explain(graphs[i], r, embedding, training_graphs=graphs)
        assert_adds_up(with_graphs, distances[i, r])
        assert_adds_up(gm.explain(graphs[i], r, embedding), distances[i, r])
        drawn = embedding.random_graphs_[r]
        source = graphs[int(drawn.source_graphs[0])]
        assert (with_graphs.b.node_labels == source.node_labels[drawn.source_nodes]).all()


@pytest.mark.filterwarnings("ignore:.* no node label in common")  # as with the seed 396886
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(EMBEDDINGS)))
def test_any_graphs_add_up(seed, name):
    graphs = random_graphs(np.random.default_rng(seed), 4, 8)
    embedding = fitted(graphs, **EMBEDDINGS[name][0])
    distances = embedding.distances(graphs)
    for i, r in ((0, 0), (1, 3)):
        if r < distances.shape[1]:
            assert_adds_up(gm.explain(graphs[i], r, embedding), distances[i, r])


def test_shares_of_a_euclidean_distance_are_integrals_of_its_gradient(graphs):
    """Each block's share is what the gradient adds along the straight line."""
    embedding = fitted(graphs, node_embedding=["attributes", ("structure", 2.0)])
    recipe = embedding._to_random_graphs.recipe
    nodes = embed_batch(graphs, recipe)
    x, y = nodes[0], nodes[1]
    rule = general_rule(None, x)
    parts = split_costs(recipe, rule, x, y, (np.array([0]), np.array([1])))
    start, end = x.points[0], y.points[1]
    steps = (np.arange(2000) + 0.5) / 2000
    along = start + steps[:, None] * (end - start) - start
    gradient = along / np.linalg.norm(along, axis=1, keepdims=True)
    moved = (gradient * (end - start)).mean(axis=0)
    by_name = {part.name: float(values[0]) for part, values in parts.items()}
    assert by_name["attributes"] == pytest.approx(moved[:2].sum(), rel=1e-9)
    assert by_name["structure"] == pytest.approx(moved[2:].sum(), rel=1e-9)
    assert sum(by_name.values()) == pytest.approx(naive.ground_distance(start, end, None, None))


def test_labels_of_each_depth_are_told_apart():
    one = gm.Graph(3, [(0, 1), (1, 2)], node_labels=["C", "C", "O"])
    other = gm.Graph(3, [(0, 1), (1, 2)], node_labels=["C", "C", "N"])
    embedding = fitted([one, other], **LABELS_ALONE, node_mass="equal")
    alignment = gm.explain(one, other, embedding)
    frame = alignment.to_frame(detail=True).set_index("a")
    third = 1 / 9  # a third of the mass, at one of three depths
    assert frame.loc[2, "labels"] == pytest.approx(third)
    assert frame["labels after 1 iteration"].sort_index().to_numpy() == pytest.approx(
        [0, third, third]
    )
    assert frame["labels after 2 iterations"].to_numpy() == pytest.approx([third] * 3)


def test_a_renumbered_copy_is_matched_at_no_cost(graphs):
    graph = graphs[2]
    order = np.random.default_rng(1).permutation(graph.n_nodes)  # node i becomes order[i]
    back = np.argsort(order)
    copy = gm.Graph(
        graph.n_nodes,
        order[graph.edges],
        node_labels=graph.node_labels[back],
        node_attributes=graph.node_attributes[back],
        edge_labels=graph.edge_labels,
    )
    for options, _ in EMBEDDINGS.values():
        alignment = gm.explain(graph, copy, fitted(graphs, **options))
        assert alignment.distance == pytest.approx(0, abs=1e-7)
        labels = graph.node_labels[alignment.nodes_a] == copy.node_labels[alignment.nodes_b]
        assert labels.all() or not fitted(graphs, **options).uses_node_labels_


def test_views_and_pipelines(graphs):
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline

    vectorizer = gm.GraphVectorizer(8, random_state=0).fit(graphs)
    names = [name for name, _ in vectorizer.views_ if name != "sizes"]
    for name in names:
        alignment = gm.explain(graphs[0], 2, vectorizer, view=name)
        view = dict(vectorizer.views_)[name]
        assert_adds_up(alignment, view.distances(graphs[:1])[0, 2])
    first = gm.explain(graphs[0], graphs[1], vectorizer)
    assert first.distance == gm.explain(graphs[0], graphs[1], vectorizer, view=names[0]).distance
    pipeline = make_pipeline(vectorizer, RidgeClassifier())
    pipeline.fit(graphs, np.arange(8) % 2)
    assert gm.explain(graphs[0], graphs[1], pipeline).distance == first.distance
    halves = gm.RandomGraphDistances(6, random_state=0).fit(graphs)
    whole = fitted(graphs)
    assert gm.explain(graphs[0], 1, halves).distance == gm.explain(graphs[0], 1, whole).distance


def _has_rdkit():
    return importlib.util.find_spec("rdkit") is not None


def test_neighbours_are_explained(graphs):
    near = gm.NearestGraphs(2, random_state=0).fit(graphs)
    distances, indices = near.kneighbors(graphs[:3])
    for i in range(3):
        for distance, j in zip(distances[i], indices[i].tolist(), strict=True):
            alignment = near.explain(graphs[i], j, graphs)
            assert_adds_up(alignment, distance)
            assert_adds_up(near.explain(graphs[i], j), distance)
            assert_adds_up(gm.explain(graphs[i], graphs[j], near), distance)
            assert (alignment.b.node_labels == graphs[j].node_labels).all()
    molecules = gm.as_graph_batch(["CCO", "CCN", "CCC"]) if _has_rdkit() else None
    if molecules is not None:
        found = gm.NearestGraphs(1).fit(molecules).explain("CCO", 0, molecules)
        assert found.distance == 0
    for number in (8, -1):
        with pytest.raises(ValueError, match=rf"there is no graph {number} among 8 \(0 to 7\)"):
            near.explain(graphs[0], number)
    with pytest.raises(TypeError, match="the number of a graph must be an integer"):
        near.explain(graphs[0], 1.5)
    with pytest.raises(ValueError, match="these are not the graphs that were searched"):
        near.explain(graphs[0], 1, graphs[:3])


def test_wrong_use_is_named(graphs):
    embedding = fitted(graphs)
    empty = gm.Graph(0, [])
    with pytest.raises(ValueError, match=r"a must be one graph, got 8; choose one: a\[0\]"):
        gm.explain(graphs, graphs[0], embedding)
    with pytest.raises(ValueError, match="b has no nodes"):
        gm.explain(graphs[0], empty, embedding)
    for number in (6, -1):
        message = rf"there is no random graph {number} among 6 \(0 to 5\)"
        with pytest.raises(ValueError, match=message):
            gm.explain(graphs[0], number, embedding)
    with pytest.raises(TypeError, match="embedding must be a fitted RandomGraphEmbedding"):
        gm.explain(graphs[0], graphs[1], "laplacian")
    with pytest.raises(ValueError, match="This RandomGraphEmbedding instance is not fitted"):
        gm.explain(graphs[0], graphs[1], gm.RandomGraphEmbedding())
    with pytest.raises(ValueError, match="view='labels' is for a GraphVectorizer"):
        gm.explain(graphs[0], graphs[1], embedding, view="labels")
    vectorizer = gm.GraphVectorizer(4, random_state=0).fit(graphs)
    with pytest.raises(ValueError, match="there is no view 'sizes' with random graphs: "):
        gm.explain(graphs[0], graphs[1], vectorizer, view="sizes")
    with pytest.raises(ValueError, match="fitted with node labels, but not all of these graphs"):
        gm.explain(gm.Graph(2, [(0, 1)]), graphs[1], embedding)
    with pytest.raises(ValueError, match="pass those that the model was fitted to"):
        gm.explain(graphs[0], 0, embedding, training_graphs=graphs[:1])
    small = gm.as_graph_batch([gm.Graph(1, [])] * 8)
    with pytest.raises(ValueError, match="which has fewer nodes"):
        gm.explain(graphs[0], 0, embedding, training_graphs=small)


@pytest.mark.parametrize("name", ["MUTAG", "ENZYMES", "IMDB-BINARY"])
def test_real_graphs(name):
    graphs = real_dataset(name).graphs[:60]
    vectorizer = gm.GraphVectorizer(16, random_state=0).fit(graphs)
    for view, embedding in vectorizer.views_:
        if view != "sizes":
            distances = embedding.distances(graphs[:4])
            for i in range(4):
                assert_adds_up(gm.explain(graphs[i], 3, vectorizer, view=view), distances[i, 3])
