"""NearestGraphs finds what all pairs solved find, in the manners of scikit-learn."""

import pickle
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_data import real_dataset
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline

import graphmover as gm
from graphmover.search import library as searched

EMBEDDINGS = {
    "default": None,
    "paper": gm.RandomGraphEmbedding(16),
    "depths": gm.RandomGraphEmbedding(16, wl_iterations=2, wl_depths="all", label_weight=0.5),
    "refined": gm.RandomGraphEmbedding(16, wl_iterations=1, max_random_nodes=None),
    "structure": gm.RandomGraphEmbedding(
        16, node_embedding="structure", smoothing=1, node_mass="equal", use_node_labels=False
    ),
    "labels": gm.RandomGraphEmbedding(
        16, node_embedding=None, wl_iterations=2, wl_depths="all", max_random_nodes=None
    ),
}


def all_distances(near, graphs):
    """Every pair solved by the engine."""
    fitted = near.embedding_
    nodes = fitted_nodes(fitted, graphs)
    return gm.earth_movers_distance(nodes, near.nodes_, ground=near.ground_)


def fitted_nodes(embedding, graphs):
    from graphmover.nodes.embed import embed_batch

    return embed_batch(gm.as_graph_batch(graphs), embedding._to_random_graphs.recipe)


def in_order(row, rounding=1e-12):
    """Graphs by distance, ties by index: what follows by no more than rounding is a tie."""
    ties = []
    for graph in np.argsort(row, kind="stable").tolist():
        last = row[ties[-1][-1]] if ties else None
        if ties and (row[graph] == last or row[graph] - last <= 2e-10 * last + rounding):
            ties[-1].append(graph)
        else:
            ties.append([graph])
    least = [row[tie[0]] for tie in ties for _ in tie]
    return np.array(least), np.array([graph for tie in ties for graph in sorted(tie)])


def brute_force(distances, n_neighbors, excluded=False):
    found = []
    for itself, row in enumerate(distances):
        graphs = np.arange(len(row))
        if excluded:
            graphs = graphs[graphs != itself]
        values, order = in_order(row[graphs])
        found.append((values[:n_neighbors], graphs[order][:n_neighbors]))
    return tuple(np.array(part) for part in zip(*found, strict=True))


def assert_exact(near, queries, n_neighbors):
    distances, indices = near.kneighbors(queries, n_neighbors)
    expected, order = brute_force(all_distances(near, queries), n_neighbors)
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_allclose(distances, expected, rtol=1e-9, atol=1e-12)


def random_graphs(rng, n_graphs, *, most_nodes=12, n_labels=3):
    graphs = []
    for _ in range(n_graphs):
        n = int(rng.integers(1, most_nodes))
        edges = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.3]
        graphs.append(gm.Graph(n, edges, node_labels=rng.integers(n_labels, size=n).tolist()))
    return graphs


@contextmanager
def always(*, bounds):
    """Search by bounds and the index of labels, or solve all pairs, whatever takes less time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searched, "_SEARCH_SECONDS", 0.0 if bounds else np.inf)
        patch.setattr(searched, "index_pays", lambda *_: bounds)
        yield


@pytest.mark.parametrize("bounds", [True, False])
@pytest.mark.parametrize("name", EMBEDDINGS)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_neighbors=st.integers(1, 30))
def test_equals_brute_force_on_random_graphs(name, bounds, seed, n_neighbors):
    rng = np.random.default_rng(seed)
    graphs = random_graphs(rng, 60)
    graphs += [graphs[i] for i in rng.integers(60, size=20)]  # ties
    near = gm.NearestGraphs(embedding=EMBEDDINGS[name], random_state=0).fit(graphs)
    with always(bounds=bounds):
        assert_exact(near, random_graphs(rng, 4) + graphs[:2], n_neighbors)


@pytest.mark.parametrize("bounds", [True, False])
@pytest.mark.parametrize("name", ["paper", "depths", "structure", "labels"])
def test_copies_with_other_numbers_stand_in_the_order_of_their_indices(name, bounds):
    """They are equally far, although rounding sets their distances apart."""
    rng = np.random.default_rng(0)
    graphs = random_graphs(rng, 30, most_nodes=20)
    copies = []
    for graph in graphs * 3:
        places = rng.permutation(graph.n_nodes)
        labels = graph.node_labels[np.argsort(places)]
        copies.append(gm.Graph(graph.n_nodes, places[graph.edges], node_labels=labels))
    near = gm.NearestGraphs(embedding=EMBEDDINGS[name], random_state=0).fit(copies)
    with always(bounds=bounds):
        for n_neighbors in (2, 10):
            distances, indices = near.kneighbors(graphs, n_neighbors)
            later, step = np.diff(indices, axis=1) > 0, np.diff(distances, axis=1)
            assert (step >= 0).all() and (later | (step > 1e-9)).all()
            assert (step == 0).mean() > 0.4  # ties have one distance
            assert_exact(near, graphs, n_neighbors)
        _, indices = near.radius_neighbors(graphs, 1e-7)
        for number, found in enumerate(indices):
            assert (np.diff(found) > 0).all() and {number, number + 30} <= set(found.tolist())


def test_sizes_decide_whether_all_pairs_are_solved():
    graphs = gm.make_graph_families(90, random_state=0).graphs
    small = gm.NearestGraphs(3, embedding=gm.RandomGraphEmbedding(8), random_state=0)
    small.fit([gm.Graph(2, [(0, 1)])] * 90).kneighbors(graphs[:4])
    assert small.n_solved_ == small.n_pairs_ == 4 * 90
    small.kneighbors()
    assert small.n_solved_ == small.n_pairs_ == 90 * 89
    large = gm.NearestGraphs(3, embedding=gm.RandomGraphEmbedding(8), random_state=0).fit(graphs)
    large.kneighbors(graphs[:4])
    assert large.n_solved_ < large.n_pairs_


def test_labels_are_looked_up_where_that_reads_less():
    rng = np.random.default_rng(0)
    few = random_graphs(rng, 200, n_labels=2) * 20
    many = random_graphs(rng, 200, n_labels=1000) * 20
    for graphs, is_looked_up in ((few, False), (many, True)):
        near = gm.NearestGraphs(1, embedding=EMBEDDINGS["labels"], random_state=0).fit(graphs)
        assert_exact(near, graphs[:20], 1)
        assert (near.n_solved_ < near.n_pairs_) == is_looked_up


@pytest.mark.parametrize("name", ["MUTAG", "ENZYMES", "IMDB-BINARY"])
def test_equals_brute_force_on_real_graphs(name):
    data = real_dataset(name)
    graphs = data.graphs[np.random.default_rng(0).permutation(len(data.graphs))]
    for embedding in (None, gm.RandomGraphEmbedding(32, use_node_labels="auto")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # attributes that the paper's embedding ignores
            near = gm.NearestGraphs(embedding=embedding, random_state=0).fit(graphs[20:])
        assert_exact(near, graphs[:20], 10)
        if embedding is not None:
            assert near.n_solved_ < 0.6 * near.n_pairs_


@pytest.mark.parametrize("name", ["paper", "labels"])
@pytest.mark.parametrize("bounds", [True, False])
def test_a_graph_is_not_its_own_neighbour_unless_it_is_asked_for(name, bounds):
    with always(bounds=bounds):
        check_own_neighbours(EMBEDDINGS[name])


def check_own_neighbours(embedding):
    graphs = gm.make_graph_families(40, random_state=0).graphs
    near = gm.NearestGraphs(3, embedding=embedding, random_state=0).fit(graphs)
    distances, indices = near.kneighbors()
    expected, order = brute_force(all_distances(near, graphs), 3, excluded=True)
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_allclose(distances, expected, rtol=1e-9)
    assert near.n_pairs_ == 40 * 39
    np.testing.assert_array_equal(near.kneighbors(graphs, 1)[1][:, 0], np.arange(40))


@pytest.mark.parametrize("bounds", [True, False])
@pytest.mark.parametrize("name", ["default", "paper", "depths", "labels"])
def test_within_a_radius(name, bounds):
    with always(bounds=bounds):
        check_radius(name)


def check_radius(name):
    graphs = gm.make_graph_families(60, random_state=1).graphs
    near = gm.NearestGraphs(embedding=EMBEDDINGS[name], random_state=0).fit(graphs)
    everything = all_distances(near, graphs[:9])
    radius = float(np.quantile(everything, 0.2))
    distances, indices = near.radius_neighbors(graphs[:9], radius)
    for row, found, where in zip(everything, distances, indices, strict=True):
        inside = np.flatnonzero(row <= radius)
        np.testing.assert_array_equal(where, inside[in_order(row[inside])[1]])
        np.testing.assert_allclose(found, row[where], rtol=1e-9)
    graph = near.radius_neighbors_graph(graphs[:9], radius, mode="distance")
    np.testing.assert_array_equal(graph.indptr, np.cumsum([0, *map(len, indices)]))
    assert near.radius_neighbors(graphs[:2], 0.0, return_distance=False)[1].tolist() == [1]


@pytest.mark.parametrize("bounds", [True, False])
def test_graphs_without_nodes_are_infinitely_far(bounds):
    with always(bounds=bounds):
        check_empty_graphs()


def check_empty_graphs():
    empty = gm.Graph(0, [])
    graphs = [empty, *random_graphs(np.random.default_rng(0), 20, n_labels=1), empty]
    for embedding in (gm.RandomGraphEmbedding(4), EMBEDDINGS["labels"]):
        with pytest.warns(UserWarning, match="no nodes"):
            near = gm.NearestGraphs(22, embedding=embedding, random_state=0).fit(graphs)
        with pytest.warns(UserWarning, match="no nodes"):
            distances, indices = near.kneighbors([graphs[1], empty])
        assert indices[0, -2:].tolist() == [0, 21]
        assert np.isinf(distances[0, -2:]).all() and np.isfinite(distances[0, :-2]).all()
        assert np.isinf(distances[1]).all() and indices[1].tolist() == list(range(22))
        assert np.isinf(near.kneighbors(n_neighbors=21)[0][0]).all()


@pytest.mark.parametrize("bounds", [True, False])
@pytest.mark.parametrize("name", ["default", "paper", "depths", "labels"])
def test_labels_that_no_graph_has_are_told(name, bounds):
    """Numbers are not the strings that the model was fitted with: all graphs are equally far."""
    graphs = random_graphs(np.random.default_rng(0), 40)
    named = [
        gm.Graph(g.n_nodes, g.edges, node_labels=[f"l{label}" for label in g.node_labels])
        for g in graphs
    ]
    near = gm.NearestGraphs(3, embedding=EMBEDDINGS[name], random_state=0).fit(named)
    near.add([*named[:1], gm.Graph(1, [], node_labels=["new"])])  # no warning
    with always(bounds=bounds):
        near.kneighbors(named[:9])  # no warning
        near.kneighbors([gm.Graph(2, [(0, 1)], node_labels=["new", "newer"])])
        near.radius_neighbors(named[:9], 0.1)
        words = "3 of 5 graphs have no node label in common with the graphs that are searched"
        with pytest.warns(UserWarning, match=words):
            near.kneighbors(named[:2] + graphs[:3])
        words = "12 of 12 graphs have no node label in common with the graphs that are searched"
        with pytest.warns(UserWarning, match=words) as warned:
            near.add(graphs[:12])
        assert len(warned) == 1
        near.add(graphs[12:24])  # no warning: now they are known


def test_added_graphs_are_found_as_if_they_had_been_there():
    graphs = gm.make_graph_families(60, random_state=0).graphs
    embedding = gm.RandomGraphEmbedding(16, random_state=0).fit(graphs[:30])
    frozen = FrozenEstimator(embedding)
    at_once = gm.NearestGraphs(5, embedding=frozen).fit(graphs)
    step_by_step = gm.NearestGraphs(5, embedding=frozen).fit(graphs[:25])
    step_by_step.kneighbors(graphs[:3])
    step_by_step.add(graphs[25:26]).add([]).add(graphs[26:])
    assert step_by_step.n_samples_fit_ == 60
    for one, other in zip(at_once.kneighbors(), step_by_step.kneighbors(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert at_once.embedding_ is embedding


def test_ids_follow():
    graphs = gm.make_graph_families(20, random_state=0).graphs
    named = graphs.with_ids([f"g{i}" for i in range(20)])
    near = gm.NearestGraphs(1).fit(named[:10])
    assert near.ids_[near.kneighbors(named[3:5], return_distance=False)[:, 0]].tolist() == [
        "g3",
        "g4",
    ]
    near.add(graphs[10:12]).add(named[12:])
    assert near.ids_.tolist() == [f"g{i}" for i in range(10)] + [None] * 2 + list(named.ids[12:])
    numbered = graphs.with_ids(range(20))
    assert gm.NearestGraphs(1).fit(numbered[:10]).add(numbered[10:]).ids_.dtype == np.int64
    assert gm.NearestGraphs(1).fit(graphs).ids_ is None


def test_threads_and_pickles_change_no_bit():
    graphs = gm.make_graph_families(80, random_state=0).graphs
    near = gm.NearestGraphs(5, embedding=EMBEDDINGS["depths"], random_state=0).fit(graphs)
    once = near.kneighbors(graphs[:40])
    n_solved = near.n_solved_
    for other in (near.set_params(n_jobs=2), pickle.loads(pickle.dumps(near))):
        again = other.kneighbors(graphs[:40])
        np.testing.assert_array_equal(once[0], again[0])
        np.testing.assert_array_equal(once[1], again[1])
        assert other.n_solved_ == n_solved
    with pytest.raises(Exception, match="not fitted"):
        clone(near).kneighbors(graphs)


def test_neighbour_graphs_serve_scikit_learn():
    graphs, families = gm.make_graph_families(90, random_state=0, return_X_y=True)
    near = gm.NearestGraphs(8, random_state=0)
    classifier = make_pipeline(near, KNeighborsClassifier(5, metric="precomputed"))
    assert classifier.fit(graphs[:60], families[:60]).score(graphs[60:], families[60:]) > 0.8
    distances = near.fit(graphs).kneighbors_graph(n_neighbors=8, mode="distance")
    assert distances.shape == (90, 90) and (distances.getnnz(axis=1) == 8).all()
    ones = near.kneighbors_graph(graphs[:3], 2)
    assert ones.data.tolist() == [1.0] * 6
    tsne = TSNE(metric="precomputed", init="random", perplexity=2, max_iter=250, random_state=0)
    assert tsne.fit_transform(near.fit_transform(graphs)).shape == (90, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda near, graphs: near.kneighbors(graphs, 21), "n_neighbors <= n_samples_fit, but"),
        (lambda near, graphs: near.kneighbors(n_neighbors=20), "n_samples_fit - 1"),
        (lambda near, graphs: near.kneighbors(graphs, 0), "at least 1, got 0"),
        (lambda near, graphs: near.radius_neighbors(graphs, -1.0), "non-negative number, got -1"),
        (lambda near, graphs: near.radius_neighbors(graphs, "far"), "non-negative number, got 'f"),
        (lambda near, graphs: near.kneighbors_graph(graphs, mode="cosine"), "'cosine'"),
        (lambda near, graphs: near.set_params(n_neighbors=0).fit(graphs), "n_neighbors must be"),
        (lambda near, graphs: near.set_params(device="tpu").fit(graphs), "tpu"),
        (lambda near, graphs: near.fit([]), "graphs"),
        (
            lambda near, graphs: near.set_params(
                embedding=gm.RandomGraphEmbedding(partial=True)
            ).fit(graphs),
            "partial=True.* are not a metric",
        ),
    ],
)
def test_errors_name_the_culprit(call, message):
    graphs = gm.make_graph_families(20, random_state=0).graphs
    near = gm.NearestGraphs(2, random_state=0).fit(graphs)
    with pytest.raises(ValueError, match=message):
        call(near, graphs)


def test_only_embeddings_are_taken():
    graphs = gm.make_graph_families(5, random_state=0).graphs
    with pytest.raises(TypeError, match="got GraphVectorizer"):
        gm.NearestGraphs(embedding=gm.GraphVectorizer()).fit(graphs)


def test_memory_for_a_pair_is_told(monkeypatch):
    monkeypatch.setattr(searched, "_MUCH_MEMORY", 24 * 320**2)  # a pair of 320 nodes
    path, longer = (gm.Graph(n, [(i, i + 1) for i in range(n - 1)]) for n in (250, 330))
    star = gm.Graph(400, [(0, i) for i in range(1, 400)])  # 2 nodes, once equal ones are merged
    gm.NearestGraphs(1).fit([path, path, longer, star])  # no warning
    words = r"graphs of 330 and 330 nodes .* up to 0\.0 GB .*: embedding=gm\.RandomGraphEmbedding\("
    with pytest.warns(UserWarning, match=words) as warned:
        gm.NearestGraphs(1).fit([path, longer, star, longer])
    assert len(warned) == 1
    remedy = str(warned[0].message).partition("embedding=")[2]
    gm.NearestGraphs(1, embedding=eval(remedy)).fit([longer, longer])  # no warning


def test_memory_for_a_pair_is_told_of_added_graphs_too(monkeypatch):
    monkeypatch.setattr(searched, "_MUCH_MEMORY", 24 * 320**2)
    path, long, longer = (path_of(n) for n in (250, 330, 350))
    near = gm.NearestGraphs(1).fit([path, long])
    with pytest.warns(UserWarning, match="graphs of 350 and 330 nodes"):
        near.add([longer])
    near.add([path])  # no second warning
    with pytest.warns(UserWarning, match="graphs of 350 and 350 nodes"):
        near.add([longer])


def test_memory_for_a_pair_is_told_only_where_the_cpu_solves_it(monkeypatch):
    monkeypatch.setattr(searched, "_MUCH_MEMORY", 24 * 320**2)
    long = path_of(330)
    gm.NearestGraphs(1, exact=False).fit([long, long]).add([long])  # no warning
    near = gm.NearestGraphs(1, device="cuda")
    assert near._pair_to_tell(library_of([long, long])) is None
    assert near.set_params(device="cpu")._pair_to_tell(library_of([long, long])) is not None


def test_few_graphs_are_merged_to_tell_the_memory_for_a_pair(monkeypatch):
    monkeypatch.setattr(searched, "_MUCH_MEMORY", 24 * 320**2)
    library = library_of([path_of(2000), *[path_of(100)] * 40, path_of(330)])
    backend, merged = searched.BACKENDS["cpu"], []
    prepare = type(backend).prepare

    def counted(self, nodes, ground):
        merged.append(len(nodes))
        return prepare(self, nodes, ground)

    monkeypatch.setattr(type(backend), "prepare", counted)
    assert library.large_pair()[:2] == (2000, 330)
    assert merged == [16]


def path_of(n):
    return gm.Graph(n, [(i, i + 1) for i in range(n - 1)])


def library_of(graphs):
    return gm.NearestGraphs(1, exact=False, random_state=0).fit(graphs)._library


def test_no_queries():
    near = gm.NearestGraphs(2).fit(gm.make_graph_families(5, random_state=0).graphs)
    distances, indices = near.kneighbors([])
    assert distances.shape == indices.shape == (0, 2)
    assert near.n_solved_ == near.n_pairs_ == 0


def test_vectors_alone_state_their_recall():
    graphs = gm.make_graph_families(120, random_state=0).graphs
    exact = gm.NearestGraphs(5, random_state=0).fit(graphs)
    rough = gm.NearestGraphs(5, exact=False, random_state=0).fit(graphs)
    found, expected = rough.kneighbors()[1], exact.kneighbors()[1]
    recall = np.mean([np.isin(a, b).mean() for a, b in zip(expected, found, strict=True)])
    assert 0.3 < rough.recall_ < 1 and abs(rough.recall_ - recall) < 0.1
    assert rough.n_solved_ == 0
    vectors = rough.embedding_.transform(graphs[:4])
    index = NearestNeighbors().fit(rough.embedding_.transform(graphs))
    np.testing.assert_allclose(rough.kneighbors(graphs[:4])[0], index.kneighbors(vectors)[0])
    assert len(rough.radius_neighbors(graphs[:4], 0.1)[0]) == 4
    assert rough.add(graphs[:2]).kneighbors(graphs[:1], 2)[1].tolist() == [[0, 120]]


def test_by_vectors_graphs_without_nodes_are_infinitely_far_too():
    graphs = gm.make_graph_families(30, random_state=0).graphs
    near = gm.NearestGraphs(5, exact=False, random_state=0).fit(graphs)
    empty = gm.Graph(0, [])
    for n_empty in (0, 2):  # among those that are searched
        with pytest.warns(UserWarning, match="no nodes") as warned:
            distances, indices = near.kneighbors([graphs[1], empty])
        assert len(warned) == 1
        assert np.isfinite(distances[0]).all() and indices[0, 0] == 1
        assert np.isinf(distances[1]).all() and indices[1].tolist() == [0, 1, 2, 3, 4]
        with pytest.warns(UserWarning, match="no nodes"):
            found = near.radius_neighbors([graphs[1], empty], 1e3)[1]
        assert sorted(found[0]) == list(range(30)) and not len(found[1])
        with pytest.warns(UserWarning, match="no nodes"):
            distances, indices = near.kneighbors([graphs[1], empty], 30 + n_empty)
        assert np.isinf(distances[0]).sum() == n_empty
        assert indices[0, 30:].tolist() == [30, 31][:n_empty]
        if not n_empty:
            with pytest.warns(UserWarning, match="no nodes"):
                near.add([empty, empty])
    distances, indices = near.kneighbors()
    assert np.isinf(distances[30:]).all() and np.isfinite(distances[:30]).all()
    assert indices[31].tolist() == [0, 1, 2, 3, 4]


class ReadOnlyIndex(NearestNeighbors):
    """An index whose answers may not be changed."""

    def kneighbors(self, *arguments, **named):
        return frozen(super().kneighbors(*arguments, **named))

    def radius_neighbors(self, *arguments, **named):
        return frozen(super().radius_neighbors(*arguments, **named))


def frozen(found):
    for array in found:
        array.setflags(write=False)
    return found


@pytest.mark.filterwarnings("ignore:.* have no nodes")
@pytest.mark.parametrize("index", [None, ReadOnlyIndex()])
def test_by_vectors_graphs_without_nodes_take_no_places(tmp_path, index):
    def ring(label, n=6):
        return gm.Graph(n, [(i, (i + 1) % n) for i in range(n)], node_labels=[label] * n)

    empty = gm.Graph(0, [], node_labels=[])
    first = [empty, ring("A"), ring("A", 5), empty, *[ring("B", n) for n in range(4, 9)]]
    more = [empty, *[ring("B", n) for n in range(9, 14)]]
    is_empty = np.array([not graph.n_nodes for graph in first + more])
    embedding = gm.RandomGraphEmbedding(64, node_embedding=None, gamma=3, random_state=0)
    settings = {"embedding": embedding, "exact": False, "index": index}
    near = gm.NearestGraphs(5, **settings).fit(first).add(more)
    searched = [near, gm.NearestGraphs(5, **settings).fit(first + more)]
    if index is None:
        near.save(tmp_path / "vectors.index")
        searched.append(gm.NearestGraphs.load(tmp_path / "vectors.index"))
    exact = gm.NearestGraphs(5, embedding=embedding).fit(first + more)
    for rough in searched:
        assert 0.7 < rough.recall_ <= 1
        for queries in ([ring("A"), empty, ring("B", 4)], None):
            wanted = [5, 12, 15 - (queries is None)]
            for n in wanted:
                distances, indices = rough.kneighbors(queries, n)
                expected = exact.kneighbors(queries, n)
                assert distances.shape == indices.shape == expected[1].shape
                assert (np.isinf(distances) == np.isinf(expected[0])).all()
                assert (np.diff(distances.clip(max=9)) >= 0).all()
                is_far = np.isinf(distances)
                assert (indices[is_far] == expected[1][is_far]).all()
                assert (is_empty[indices] <= is_far).all()
                assert all(len(set(row)) == n for row in indices.tolist())
            for radius in (9.0, np.inf):
                found = rough.radius_neighbors(queries, radius)
                same = exact.radius_neighbors(queries, radius)
                for far, some, others in zip(*found, same[1], strict=True):
                    assert sorted(some) == sorted(others)
                    assert (np.diff(far.clip(max=9)) >= 0).all()
    assert near.kneighbors([ring("A")], 2)[1].tolist() == [[1, 2]]


@pytest.mark.filterwarnings("ignore:.* have no nodes")
def test_by_vectors_among_graphs_without_nodes_alone():
    path, empty = gm.Graph(2, [(0, 1)]), gm.Graph(0, [])
    fitted = FrozenEstimator(gm.RandomGraphEmbedding(8, random_state=0).fit([path] * 3))
    for graphs in ([empty] * 3, [empty, path, empty]):
        near = gm.NearestGraphs(2, embedding=fitted, exact=False).fit(graphs)
        exact = gm.NearestGraphs(2, embedding=fitted).fit(graphs)
        for queries in (None, [empty], [path, empty]):
            found, expected = near.kneighbors(queries), exact.kneighbors(queries)
            assert found[1].tolist() == expected[1].tolist()
            assert (np.isinf(found[0]) == np.isinf(expected[0])).all()
        assert near.recall_ == 1


def test_any_index_of_vectors_serves():
    graphs = gm.make_graph_families(40, random_state=0).graphs
    index = NearestNeighbors(algorithm="ball_tree", metric="manhattan")
    near = gm.NearestGraphs(3, exact=False, index=index, random_state=0).fit(graphs)
    assert near.index_.metric == "manhattan"
    assert near.kneighbors(graphs[:2])[1][:, 0].tolist() == [0, 1]
    with pytest.raises(ValueError, match="needs exact=False"):
        gm.NearestGraphs(index=index).fit(graphs)
    with pytest.raises(ValueError, match="pickle the estimator"):
        near.save("library.index")


def test_an_index_of_vectors_is_saved(tmp_path):
    graphs = gm.make_graph_families(50, random_state=0).graphs
    near = gm.NearestGraphs(3, exact=False, random_state=0).fit(graphs[:40])
    near.save(tmp_path / "vectors.index")
    loaded = gm.NearestGraphs.load(tmp_path / "vectors.index")
    assert not loaded.exact and loaded.recall_ == near.recall_
    for one, other in zip(
        near.kneighbors(graphs[40:]), loaded.kneighbors(graphs[40:]), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    one, other = near.add(graphs[40:]).kneighbors(), loaded.add(graphs[40:]).kneighbors()
    np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("carried", ["edge_labels", "edge_attributes"])
def test_what_edges_alone_carry_is_compared_by_default(carried):
    rng = np.random.default_rng(0)
    edges = [[k, (k + 1) % 6] for k in range(6)]
    kinds = np.arange(20) % 2
    values = {
        "edge_labels": [np.full(6, kind) for kind in kinds],
        "edge_attributes": [kind + 0.1 * rng.random((6, 1)) for kind in kinds],
    }[carried]
    graphs = gm.as_graph_batch([gm.Graph(6, edges, **{carried: own}) for own in values])
    near = gm.NearestGraphs(5, random_state=0).fit(graphs)  # and no warning: warnings are errors
    assert (kinds[near.kneighbors()[1]] == kinds[:, np.newaxis]).all()
