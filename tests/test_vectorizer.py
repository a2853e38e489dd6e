import inspect
import json
import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from graph_zoo import complete, cycle, path, random_graph, renumbered, star
from real_data import real_dataset
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import graphmover as gm
from graphmover.views import automatic_views


def collection(n_graphs=40, largest=15, **what):
    rng = np.random.default_rng(0)
    return gm.as_graph_batch(
        [random_graph(rng, n, **what) for n in rng.integers(3, largest, n_graphs)]
    )


def with_edge_attributes(graphs, width):
    rng = np.random.default_rng(1)
    return [
        gm.Graph(
            graph.n_nodes,
            graph.edges,
            node_labels=graph.node_labels,
            node_attributes=graph.node_attributes,
            edge_attributes=rng.normal(size=(graph.n_edges, width)),
        )
        for graph in graphs
    ]


def with_attributes(graphs, function):
    return [
        gm.Graph(
            graph.n_nodes,
            graph.edges,
            node_labels=graph.node_labels,
            node_attributes=function(graph.node_attributes),
        )
        for graph in graphs
    ]


#: A collection of each kind.
KINDS = {
    "bare": collection(),
    "dense": gm.as_graph_batch([complete(n) for n in range(5, 15)]),
    "hubs": gm.as_graph_batch([star(n) for n in range(8, 18)]),
    "labels": collection(labels=3),
    "edge labels": collection(labels=3, edge_labels=2),
    "weights": collection(weighted=True),
    "attributes": collection(attributes=2),
    "labels and attributes": collection(labels=3, attributes=2, edge_labels=2),
    "labels and many attributes": collection(labels=3, attributes=12),
    "many labels": collection(labels=300),
    "many labels and attributes": collection(labels=300, attributes=2),
    "edge attributes": gm.as_graph_batch(with_edge_attributes(collection(labels=3), 2)),
    "attributes everywhere": gm.as_graph_batch(with_edge_attributes(collection(attributes=3), 2)),
    "nothing but nodes": gm.as_graph_batch([gm.Graph(n, []) for n in range(1, 9)]),
    "one graph": collection(1, labels=2),
    "one node": gm.as_graph_batch([gm.Graph(1, [])]),
    "equal graphs": gm.as_graph_batch([cycle(5)] * 4),
}


@pytest.fixture(scope="module")
def graphs():
    return KINDS["labels and attributes"]


def vectorizer(**parameters):
    return gm.GraphVectorizer(**{"n_components": 16, "random_state": 0} | parameters)


def own_views():
    return [
        ("laplacian", gm.RandomGraphEmbedding(8), 2.0),
        ("refined", gm.RandomGraphEmbedding(4, wl_iterations=2, gamma=0.5, random_state=3)),
        ("sizes", gm.GraphSizes(), 0.5),
    ]


def test_signature_is_the_contract():
    parameters = inspect.signature(gm.GraphVectorizer).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        "n_components": 1024,
        "views": "auto",
        "device": "cpu",
        "n_jobs": None,
        "random_state": None,
        "verbose": False,
    }


@pytest.mark.filterwarnings("ignore:all training graphs look the same")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_collection(kind):
    graphs = KINDS[kind]
    model = vectorizer()
    vectors = model.fit_transform(graphs)
    assert vectors.dtype == np.float64
    assert np.isfinite(vectors).all()
    assert vectors.shape == (len(graphs), len(model.get_feature_names_out()))
    assert (vectors == vectorizer().fit(graphs).transform(graphs)).all()
    assert (vectors == vectorizer(n_jobs=3).fit(graphs).transform(graphs)).all()
    one_by_one = np.vstack([model.transform(graph) for graph in graphs])
    assert (vectors == one_by_one).all()
    # A vector is centred, and 30 long, unless all graphs are equal.
    assert np.abs(vectors.mean(axis=0)).max() < 1e-9
    is_varied = len({(graph.n_nodes, graph.n_edges) for graph in graphs}) > 1
    assert (vectors**2).sum(axis=1).mean() == pytest.approx(900 if is_varied else 0, abs=1e-9)


SHAPE = {"shape": "laplacian"}
WALKS = ["structure", "return-probability"]


@pytest.mark.parametrize(
    "kind, expected",
    [
        ("bare", {"labels": None, "counts": None, "structure": WALKS, **SHAPE}),
        ("dense", {"labels": None, "counts": None, "structure": ["structure"], **SHAPE}),
        ("hubs", {"labels": None, "counts": None, "structure": ["structure"], **SHAPE}),
        ("labels", {"labels": None, "counts": None, "structure": ["structure", "labels"], **SHAPE}),
        (
            "edge labels",
            {"labels": None, "counts": None, "structure": ["structure", "labels"], **SHAPE},
        ),
        ("weights", {"labels": None, "counts": None, "structure": WALKS, **SHAPE}),
        ("attributes", {"attributes": ["ranked-attributes", "degree"], "labels": None}),
        ("labels and attributes", {"attributes": ["ranked-attributes", "labels"], "counts": None}),
        ("many labels", {"labels": None, "counts": None, "structure": ["structure"], **SHAPE}),
        ("many labels and attributes", {"attributes": ["ranked-attributes"], "counts": None}),
        ("labels and many attributes", {"attributes": ["ranked-attributes", "labels"]}),
        (
            "edge attributes",
            {
                "labels": None,
                "counts": None,
                "structure": ["structure", "labels", "edges"],
                **SHAPE,
            },
        ),
        (
            "attributes everywhere",
            {"attributes": ["ranked-attributes", "degree", "edges"], "labels": None},
        ),
    ],
)
def test_the_choice_of_views(kind, expected):
    views = {view.name: view for view in automatic_views(KINDS[kind], 7)}
    assert isinstance(views.pop("sizes").transformer, gm.GraphSizes)
    found = {}
    for name, view in views.items():
        assert view.weight > 0
        assert view.transformer.n_components == (2 if name == "shape" else 7)
        blocks = view.transformer.node_embedding
        if isinstance(blocks, list):
            blocks = [block if isinstance(block, str) else block[0] for block in blocks]
        found[name] = blocks
    assert found == expected
    assert [name for name, _ in vectorizer().fit(KINDS[kind]).views_] == [*views, "sizes"]


def test_labels_count_for_more_where_neighbourhoods_recur():
    edges = [(i, i + 1) for i in range(5)]
    recurring = [gm.Graph(6, edges, node_labels=[i % 2 for i in range(6)]) for _ in range(4)]
    unique = [gm.Graph(6, edges, node_labels=[6 * k + i for i in range(6)]) for k in range(4)]
    deep, plain = (
        {view.name: view for view in automatic_views(gm.as_graph_batch(graphs), 7)}
        for graphs in (recurring, unique)
    )
    assert deep["labels"].transformer.wl_iterations > plain["labels"].transformer.wl_iterations
    assert deep["counts"].transformer.gamma == "2*scale"
    assert plain["counts"].transformer.gamma == "scale"
    assert deep["structure"].weight < plain["structure"].weight
    nothing = automatic_views(gm.as_graph_batch(recurring)[:0], 7)
    assert [view.weight for view in nothing] == [view.weight for view in plain.values()]


def test_regular_graphs_are_told_apart():
    """Circular skip links, in which Weisfeiler-Lehman refinement sees no difference."""
    rng = np.random.default_rng(0)
    skips = np.repeat([2, 3, 4, 7], 3)
    rings = [
        gm.Graph(19, [(i, (i + step) % 19) for i in range(19) for step in (1, skip)])
        for skip in skips.tolist()
    ]
    copies = [renumbered(ring, rng) for ring in rings]
    vectors = vectorizer().fit(rings).transform(copies)
    apart = np.linalg.norm(vectors[:, None] - vectors, axis=2)
    same = skips[:, None] == skips
    assert apart[same].max() < 1e-6
    assert apart[~same].min() > 1


def test_degrees_have_their_share_beside_attributes():
    graphs = KINDS["attributes"]
    view = dict(vectorizer().fit(graphs).views_)["attributes"]
    points = gm.embed_nodes(graphs, node_embedding=view.node_embedding).points
    variances = points.var(axis=0)
    assert variances == pytest.approx([1, 1, 0.15 * 2])
    cycles = [gm.Graph(n, cycle(n).edges, node_attributes=np.eye(n)[:, :2]) for n in (3, 4, 5)]
    view = dict(vectorizer().fit(cycles).views_)["attributes"]
    assert view.node_embedding == ["ranked-attributes"]  # all degrees are equal


def test_labels_in_many_kinds_still_count():
    graphs = list(KINDS["many labels"])
    other = gm.Graph(
        graphs[0].n_nodes,
        graphs[0].edges,
        node_labels=graphs[1].node_labels[:1].repeat(graphs[0].n_nodes),
    )
    vectors = vectorizer().fit(graphs).transform([graphs[0], other])
    assert np.abs(vectors[0] - vectors[1]).max() > 0.1


def test_attributes_among_labels_in_many_kinds():
    fitted = dict(vectorizer().fit(KINDS["many labels and attributes"]).views_)["attributes"]
    assert fitted.uses_node_labels_  # by refinement, not by columns


def test_bonds_tell_molecules_apart(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "x.smi").write_text("CC\nC=C\nC#C\n")
    vectors = vectorizer().fit_transform(gm.read_graphs(tmp_path / "x.smi").graphs)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert np.linalg.norm(vectors[i] - vectors[j]) > 1


def test_graphs_without_nodes_are_zeros(graphs):
    empty = gm.as_graph_batch(gm.Graph(0, []))
    some = gm.GraphBatch.concatenate([graphs, empty])
    for call in (vectorizer().fit, vectorizer().fit_transform, vectorizer().fit(graphs).transform):
        with pytest.warns(UserWarning, match="1 of 41 graphs have no nodes") as told:
            result = call(some)
        assert len(told) == 1
    assert (result[-1] == 0).all()
    assert (result[:-1] == vectorizer().fit_transform(graphs)).all()  # nor do they move a centre
    with pytest.warns(UserWarning, match="1 of 1"):
        assert (vectorizer().fit(graphs).transform(empty) == 0).all()
    with pytest.raises(ValueError, match="no graph has any"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vectorizer().fit(empty)


def test_equal_training_graphs_are_told():
    path = gm.Graph(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    for graphs in ([path], [path] * 5):
        with pytest.warns(UserWarning, match="all training graphs look the same to the m") as told:
            vectors = vectorizer().fit_transform(graphs)
        assert len(told) == 1 and np.abs(vectors).max() < 1e-9


def test_views_to_which_training_graphs_are_equal_are_told():
    ring = gm.Graph(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)])
    triangles = gm.Graph(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])
    vectorizer().fit([ring, triangles])  # labels alone do not tell them apart, others do
    labels = gm.RandomGraphEmbedding(2, node_embedding=None, wl_iterations=3)
    views = [
        ("labels", labels),
        ("triangles", gm.RandomGraphEmbedding(2, node_embedding="structure")),
    ]
    with pytest.warns(UserWarning, match="look the same to the view labels, whose") as told:
        vectorizer(views=views).fit([ring, triangles])
    assert len(told) == 1
    sized = [gm.Graph(n, []) for n in (3, 4)]
    with pytest.warns(UserWarning, match="look the same to the view labels, whose"):
        vectorizer(views=[views[0], ("sizes", gm.GraphSizes())]).fit(sized)


DESCRIPTIONS = {
    "bare": {"labels": "degrees refined 2 times, in shares"},
    "labels": {
        "labels": "node labels refined 3 times, in shares",
        "counts": "node labels refined 3 times, counted",
        "structure": "degrees, triangles, node labels; averaged over neighbours, 2 deep",
        "shape": "eigenvectors of the normalised Laplacian",
        "sizes": "numbers of nodes and edges",
    },
    "edge labels": {"counts": "node labels refined 3 times along edge labels, counted"},
    "attributes": {
        "attributes": "node attributes (ranks where tails are heavy), degrees; averaged over "
        "neighbours, 1 deep",
        "labels": "degrees refined 2 times, in shares",
    },
}


@pytest.mark.parametrize("kind", DESCRIPTIONS)
def test_describe_says_what_views_see(kind, tmp_path):
    from graphmover.views import View, described

    model = vectorizer().fit(KINDS[kind])
    found = model.describe()
    assert dict(found) | DESCRIPTIONS[kind] == dict(found)
    known = {name: described(View(name, view), KINDS[kind]) for name, view in model.views_}
    assert dict(found) == known  # what `graphmover fit` prints
    model.save(tmp_path / "m.npz")
    assert gm.GraphVectorizer.load(tmp_path / "m.npz").describe() == found


def test_describe_says_what_own_views_see(graphs):
    def sizes(batch):
        return [np.full((n, 1), n) for n in batch.node_counts]

    views = [
        *own_views(),
        ("labels", gm.RandomGraphEmbedding(2, node_embedding=None)),
        ("mine", gm.RandomGraphEmbedding(2, node_embedding=sizes, use_node_labels=False)),
        ("both", gm.RandomGraphEmbedding(2, node_embedding=["laplacian", "degree"])),
    ]
    assert gm.GraphVectorizer(views=views, random_state=0).fit(graphs).describe() == [
        ("laplacian", "eigenvectors of the normalised Laplacian; node labels"),
        ("refined", "eigenvectors of the normalised Laplacian; node labels refined 2 times"),
        ("sizes", "numbers of nodes and edges"),
        ("labels", "node labels, in shares"),
        ("mine", "points by sizes"),
        ("both", "eigenvectors of the normalised Laplacian, degrees; node labels"),
    ]


def test_more_components_than_training_graphs():
    model = vectorizer(n_components=100).fit(collection(3, labels=2))
    widths = {name: len(getattr(view, "random_graphs_", "..")) for name, view in model.views_}
    assert widths == {"labels": 3, "counts": 3, "structure": 100, "shape": 25, "sizes": 2}


def test_what_the_graphs_to_transform_lack_is_named(graphs):
    model = vectorizer().fit(graphs)
    kinds = KINDS
    with pytest.raises(ValueError, match="fitted with node labels, but not all of these graphs"):
        model.transform(kinds["attributes"])
    message = r"fitted with edge labels, but .* pass it: as_graph_batch\(graphs, edge_label=...\)"
    with pytest.raises(ValueError, match=message):
        model.transform(collection(labels=3, attributes=2))
    model = vectorizer().fit(kinds["attributes"])
    with pytest.raises(ValueError, match="fitted with node attributes, but not all of these"):
        model.transform(kinds["bare"])
    with pytest.raises(ValueError, match="have 3 columns of attributes, expected 2 as in fit"):
        model.transform(collection(attributes=3))
    with pytest.raises(ValueError, match=r"^graph 0 has 3 columns of attributes"):
        model.transform(collection(attributes=3)[0])
    model = vectorizer().fit(kinds["edge attributes"])
    with pytest.raises(ValueError, match="have 3 columns of edges, expected 2 as in fit"):
        model.transform(with_edge_attributes(collection(labels=3), 3))
    # What fit did not see is nothing to the model.
    model = vectorizer().fit(kinds["bare"])
    bare = [gm.Graph(graph.n_nodes, graph.edges) for graph in graphs]
    assert (model.transform(graphs) == model.transform(bare)).all()


def test_labels_of_another_kind_are_told(tmp_path):
    graphs = KINDS["labels"]
    model = vectorizer().fit(graphs)
    texts = [
        gm.Graph(graph.n_nodes, graph.edges, node_labels=[str(x) for x in graph.node_labels])
        for graph in graphs
    ]
    message = r"40 of 40 graphs have no node label in common .* numbers or strings\?"
    with pytest.warns(UserWarning, match=message):
        assert np.isfinite(model.transform(texts)).all()
    with pytest.warns(UserWarning, match=message):
        model.transform_to(texts, tmp_path / "z.npy", batch_size=7)
    model.transform(texts[:5] + list(graphs))  # no warning: some are known


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_attributes_that_are_not_finite_are_named(value):
    with pytest.raises(ValueError, match=f"node 1 has the attributes .*{value}.*, expected finite"):
        gm.Graph(2, [(0, 1)], node_attributes=[[1.0], [value]])
    batch = gm.as_graph_batch([gm.Graph(2, [(0, 1)], node_attributes=[[1.0], [2.0]])] * 3)
    attributes = batch.node_attributes.copy()
    attributes[3] = value
    batch = gm.GraphBatch(batch.offsets, batch.indptr, batch.indices, node_attributes=attributes)
    with pytest.raises(ValueError, match=f"graph 1, node 1: attribute 0 is {value}, expected"):
        vectorizer().fit(batch)


@pytest.mark.parametrize("scale", [1e12, 1e-12])
def test_the_scale_of_attributes_does_not_matter(graphs, scale):
    bare = with_attributes(graphs, lambda attributes: attributes)
    scaled = with_attributes(graphs, lambda attributes: attributes * scale)
    assert vectorizer().fit_transform(scaled) == pytest.approx(
        vectorizer().fit_transform(bare), abs=1e-9
    )


def test_thousands_of_attributes():
    graphs = collection(8, largest=6, attributes=5000)
    model = vectorizer()
    assert np.isfinite(model.fit_transform(graphs)).all()


def test_scikit_learn_tools(graphs):
    y = np.arange(40) % 2
    model = vectorizer(views=own_views())
    copy = clone(model.fit(graphs))
    assert not hasattr(copy, "views_")
    for (name, view, *weight), (other, same, *its) in zip(model.views, copy.views, strict=True):
        assert (name, weight) == (other, its)
        assert view is not same and view.get_params() == same.get_params()
    for fitted in (vectorizer().fit(graphs), model):
        restored = pickle.loads(pickle.dumps(fitted))
        assert (restored.transform(graphs) == fitted.transform(graphs)).all()
    pipeline = make_pipeline(vectorizer(), LogisticRegression(max_iter=1000))
    for data in (graphs, list(graphs)):
        assert len(cross_val_score(pipeline, data, y, cv=2)) == 2
    grid = {"graphvectorizer__n_components": [2, 8]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(graphs, y)
    assert search.predict(graphs).shape == (40,)
    assert search.best_params_.keys() == grid.keys()
    assert (
        vectorizer().fit(graphs, None).transform(graphs) == vectorizer().fit_transform(graphs, y)
    ).all()


def test_names_of_columns(graphs):
    pytest.importorskip("pandas")
    model = vectorizer(n_components=2).fit(graphs)
    names = list(model.get_feature_names_out())
    expected = ["attributes_0", "attributes_1", "counts_0", "counts_1"]
    assert names == [*expected, "sizes_log_nodes", "sizes_log_edges"]
    frame = vectorizer(n_components=2).set_output(transform="pandas").fit_transform(graphs)
    assert list(frame.columns) == names
    assert (frame.to_numpy() == model.transform(graphs)).all()


def test_graphs_of_networkx():
    networkx = pytest.importorskip("networkx")
    graphs = [networkx.path_graph(n) for n in range(3, 9)]
    for graph in graphs:
        networkx.set_node_attributes(graph, {node: "ab"[node % 2] for node in graph}, "label")
    model = vectorizer()
    vectors = model.fit_transform(graphs)
    same = [
        gm.Graph(n, path(n).edges, node_labels=["ab"[i % 2] for i in range(n)]) for n in range(3, 9)
    ]
    assert (vectors == model.transform(same)).all()


def test_own_views(graphs):
    model = vectorizer(views=own_views())
    # The view "laplacian" need not use node labels, since "refined" does.
    with pytest.warns(UserWarning, match="carry node attributes and edge labels, which no view"):
        vectors = model.fit_transform(graphs)
    assert vectors.shape == (40, 8 + 4 + 2)
    assert model.view_weights_ == {"laplacian": 2.0, "refined": 1.0, "sizes": 0.5}
    refined = gm.RandomGraphEmbedding(4, wl_iterations=2, gamma=0.5, random_state=3)
    alone = refined.fit_transform(graphs)
    part = vectors[:, 8:12]
    centred = alone - alone.mean(axis=0)
    assert part == pytest.approx(centred * np.abs(part).max() / np.abs(centred).max())
    lengths = [np.sqrt((vectors[:, c] ** 2).sum(axis=1).mean()) for c in (slice(8), slice(8, 12))]
    assert lengths[0] == pytest.approx(2 * lengths[1])
    assert not hasattr(model.views[0][1], "random_graphs_")  # clones are fitted
    alone = vectorizer(views=[("sizes", gm.GraphSizes())]).fit_transform(graphs)
    assert alone.shape == (40, 2)


@pytest.mark.parametrize(
    "views, error, message",
    [
        ("all", ValueError, "views must be \"auto\" or a list of .*, got 'all'"),
        ([], ValueError, r"views must be .*, got \[\]"),
        (None, ValueError, "views must be .*, got None"),
        ({"a": gm.GraphSizes()}, ValueError, "views must be .*, got {'a'"),
        ([("a",)], ValueError, r"got \('a',\) in it"),
        (["ab"], ValueError, "got 'ab' in it"),
        ([("a", gm.GraphSizes(), 1, 2)], ValueError, "in it"),
        ([(1, gm.GraphSizes())], ValueError, "views: the name 1 is not a non-empty string"),
        ([("", gm.GraphSizes())], ValueError, "views: the name '' is not a non-empty string"),
        ([("a", Ridge())], TypeError, "views: a is Ridge, expected a RandomGraphEmbedding or Gr"),
        (
            [("a", gm.GraphSizes)],
            TypeError,
            "views: a is the class GraphSizes, expected a Ra",
        ),
        ([("a", gm.GraphSizes(), 0)], ValueError, "weight of a must be a positive number, got 0"),
        ([("a", gm.GraphSizes(), np.nan)], ValueError, "must be a positive number, got nan"),
        ([("a", gm.GraphSizes(), "2")], ValueError, "must be a positive number, got '2'"),
        ([("a", gm.GraphSizes())] * 2, ValueError, "views: a name appears twice in a, a"),
        ([("a", gm.RandomGraphEmbedding(0))], ValueError, "views: a: n_components must be"),
        (
            [("a", gm.RandomGraphEmbedding(sampling="uniform", wl_iterations=2))],
            ValueError,
            "views: a: wl_iterations=2 needs",
        ),
    ],
)
def test_wrong_views_are_named(views, error, message):
    with pytest.raises(error, match=message):
        vectorizer(views=views).fit([path(3)])


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1, got 0"),
        ({"device": "tpu"}, "device must be one of auto, cpu, cuda, got 'tpu'"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"verbose": "x"}, "verbose must be"),
    ],
)
def test_parameters_out_of_range_are_named_in_fit_not_before(parameters, message):
    model = vectorizer(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit([path(3)])


@pytest.mark.parametrize("bad", [None, "graph", 5, [None], [path(3), "x"]])
def test_bad_graphs_are_refused(bad, graphs):
    for method in (
        vectorizer().fit,
        vectorizer().fit_transform,
        vectorizer().fit(graphs).transform,
    ):
        with pytest.raises((TypeError, ValueError)):
            method(bad)


def test_nothing_works_before_fit(tmp_path):
    for call in (vectorizer().transform, vectorizer().get_feature_names_out):
        with pytest.raises(NotFittedError):
            call([path(3)])
    with pytest.raises(NotFittedError):
        vectorizer().save(tmp_path / "model.npz")
    with pytest.raises(NotFittedError):
        vectorizer().transform_to([path(3)], tmp_path / "z.npy")
    assert not list(tmp_path.iterdir())


def test_verbose_shows_progress_and_quiet_does_not(graphs, tmp_path, capfd, terminal):
    vectorizer(verbose=True).fit(graphs).transform(graphs)
    shown = capfd.readouterr()
    assert "training distances" in shown.err
    assert "embedding graphs" in shown.err
    assert shown.out == ""
    vectorizer(verbose=True).fit(graphs).transform_to(graphs, tmp_path / "z.npy", batch_size=20)
    assert "embedding graphs (cpu)" not in capfd.readouterr().err  # one bar for all batches
    vectorizer().fit(graphs).transform(graphs)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("views", ["auto", "own"])
def test_a_loaded_model_is_the_saved_model(tmp_path, graphs, views):
    model = vectorizer(views=views if views == "auto" else own_views()).fit(graphs)
    model.save(tmp_path / "model.npz")
    loaded = gm.GraphVectorizer.load(tmp_path / "model.npz")
    assert (loaded.transform(graphs) == model.transform(graphs)).all()
    assert loaded.view_weights_ == model.view_weights_
    assert list(loaded.get_feature_names_out()) == list(model.get_feature_names_out())
    assert loaded.n_components == 16
    loaded.save(tmp_path / "again.npz")
    again = gm.GraphVectorizer.load(tmp_path / "again.npz")
    assert (again.transform(graphs) == model.transform(graphs)).all()
    with np.load(tmp_path / "model.npz", allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files)


@pytest.mark.filterwarnings("ignore:all training graphs look the same")
def test_a_function_as_node_embedding_cannot_be_saved(tmp_path):
    def zeros(batch):
        return [np.zeros((n, 1)) for n in batch.node_counts]

    view = gm.RandomGraphEmbedding(2, node_embedding=zeros, use_node_labels=False)
    model = vectorizer(views=[("zeros", view)]).fit([path(3), path(4)])
    with pytest.raises(ValueError, match="node_embedding is a callable cannot be saved"):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_models_of_the_other_class_are_named(tmp_path, graphs):
    vectorizer().fit(graphs).save(tmp_path / "v.npz")
    gm.RandomGraphEmbedding(4).fit(graphs).save(tmp_path / "e.npz")
    message = r"v\.npz is a model of GraphVectorizer: load it with GraphVectorizer\.load$"
    with pytest.raises(ValueError, match=message):
        gm.RandomGraphEmbedding.load(tmp_path / "v.npz")
    message = r"e\.npz is a model of RandomGraphEmbedding: load it with RandomGraphEmbedding\.load$"
    with pytest.raises(ValueError, match=message):
        gm.GraphVectorizer.load(tmp_path / "e.npz")


def test_damaged_models_are_named(tmp_path, graphs):
    model = vectorizer(n_components=4).fit(graphs)
    model.save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as file:
        arrays = dict(file)
    views = json.loads(str(arrays["views"]))
    parameters = json.loads(str(arrays["parameters"]))
    prefixed = "view_0_points"
    assert prefixed in arrays
    scales = arrays["scales"]

    def without(name):
        left = {key: parameters[key] for key in parameters if key != name}
        return json.dumps(left)

    for changes in [
        {"format": 2},
        {"views": "{"},
        {"views": "[]"},
        {"views": "5"},
        {"views": "[" * 20_000},
        {"views": json.dumps(views[:-1])},
        {"views": json.dumps([*views, views[-1]])},
        {"views": json.dumps([["", *view[1:]] for view in views])},
        {"views": json.dumps([[view[0], -1.0, view[2]] for view in views])},
        {"views": json.dumps([[view[0], float("nan"), view[2]] for view in views])},
        {"views": json.dumps([[view[0], 10**400, view[2]] for view in views])},
        {"views": json.dumps([view[:2] for view in views])},
        {"views": json.dumps([[*view[:2], True] for view in views])},
        {"views": json.dumps([[*view[:2], False] for view in views])},
        {"views": np.zeros(3)},
        {"centres": arrays["centres"][:-1]},
        {"centres": arrays["centres"][:-1], "scales": scales[:-1]},
        {"centres": arrays["centres"] * np.nan},
        {"centres": arrays["centres"][:, None]},
        {"centres": None},
        {"scales": scales * np.inf},
        {"scales": -scales},
        {"scales": scales * 0},
        {"scales": None},
        {"parameters": "[]"},
        {"parameters": json.dumps(parameters | {"colour": 1})},
        {"parameters": json.dumps(parameters | {"n_components": -1})},
        {"parameters": without("views")},
        {"other": np.zeros(3)},
        {"view_9_points": np.zeros((3, 3))},
        {prefixed: None},
        {prefixed: arrays[prefixed][:-1]},
        {"view_0_gamma": np.array(-1.0)},
        {"view_0_colour": np.zeros(3)},
    ]:
        kept = {name: value for name, value in (arrays | changes).items() if value is not None}
        np.savez(tmp_path / "bad.npz", **kept)
        with pytest.raises(ValueError, match=r"bad\.npz (is|has) "):
            gm.GraphVectorizer.load(tmp_path / "bad.npz")
    content = (tmp_path / "model.npz").read_bytes()
    for damaged in (b"", b"not a model", content[: len(content) // 2]):
        (tmp_path / "bad.npz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"bad\.npz is not a graphmover model"):
            gm.GraphVectorizer.load(tmp_path / "bad.npz")
    with pytest.raises(FileNotFoundError):
        gm.GraphVectorizer.load(tmp_path / "none.npz")


def test_flipped_bits_give_an_error_or_the_same_model(tmp_path):
    graphs = collection(6, labels=2)
    model = vectorizer(n_components=2).fit(graphs)
    model.save(tmp_path / "model.npz")
    content, expected = (tmp_path / "model.npz").read_bytes(), model.transform(graphs)
    rng = np.random.default_rng(0)
    for position in rng.integers(0, len(content), 150):
        flipped = bytearray(content)
        flipped[position] ^= 1 << rng.integers(8)
        (tmp_path / "flipped.npz").write_bytes(flipped)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                loaded = gm.GraphVectorizer.load(tmp_path / "flipped.npz")
        except ValueError:
            continue
        assert (loaded.transform(graphs) == expected).all()


@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "parquet"])
def test_files_hold_what_transform_returns(tmp_path, graphs, ending):
    model = vectorizer().fit(graphs)
    expected = model.transform(graphs)
    written = [tmp_path / f"{size}.{ending}" for size in (1, 7, 100)]
    for file in written:
        assert model.transform_to(graphs, file, batch_size=int(file.stem)) == expected.shape
    if ending == "npy":
        found = np.load(written[1])
    elif ending == "npz":
        found = np.load(written[1])["vectors"]
    elif ending == "csv":
        table = pytest.importorskip("pandas").read_csv(written[1])
        assert list(table.columns) == list(model.get_feature_names_out())
        found = table.to_numpy()
    else:
        table = pytest.importorskip("pyarrow.parquet").read_table(written[1])
        found = np.array(table["vector"].to_pylist())
    assert (
        found == pytest.approx(expected, rel=1e-15)
        if ending == "csv"
        else (found == expected).all()
    )
    if ending in ("npy", "csv"):
        assert len({file.read_bytes() for file in written}) == 1


def test_an_interrupted_file_goes_on_to_the_same_bytes(tmp_path, graphs):
    model = vectorizer().fit(graphs)
    model.transform_to(graphs, tmp_path / "whole.npy", batch_size=5)

    def interrupted():
        yield from graphs[:23]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.transform_to(interrupted(), tmp_path / "z.npy", batch_size=5)
    assert not (tmp_path / "z.npy").exists()
    other = vectorizer(random_state=1).fit(graphs)
    with pytest.raises(ValueError, match="rows of another model"):
        other.transform_to(graphs, tmp_path / "z.npy", batch_size=5)
    model.save(tmp_path / "model.npz")
    loaded = gm.GraphVectorizer.load(tmp_path / "model.npz").set_params(n_jobs=2)
    loaded.transform_to(graphs, tmp_path / "z.npy", batch_size=5)
    assert (tmp_path / "z.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_empty_graphs_in_files_are_zeros_and_one_warning(tmp_path, graphs):
    some = gm.GraphBatch.concatenate([graphs[:3], gm.as_graph_batch([gm.Graph(0, [])] * 2)])
    with pytest.warns(UserWarning, match="2 graphs have no nodes and are embedded as zeros") as w:
        vectorizer().fit(graphs).transform_to(some, tmp_path / "z.npy", batch_size=1)
    assert len(w) == 1
    assert (np.load(tmp_path / "z.npy")[3:] == 0).all()


@pytest.mark.parametrize("kind", ["bare", "labels and attributes", "edge labels", "weights"])
def test_numbering_does_not_matter(kind):
    rng = np.random.default_rng(0)
    model = vectorizer().fit(KINDS[kind])
    same = [renumbered(graph, rng) for graph in KINDS[kind]]
    assert model.transform(same) == pytest.approx(model.transform(KINDS[kind]), abs=1e-8)


def test_a_fit_that_fails_leaves_the_model_as_it_was(graphs):
    model = vectorizer().fit(graphs)
    expected = model.transform(graphs)
    with pytest.raises(ValueError, match="no graph has any"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit([gm.Graph(0, [])])
    assert (model.transform(graphs) == expected).all()


def heads_converge(data):
    """Fit what docs/vectorizer.md names; a ConvergenceWarning is an error."""
    vectors = gm.GraphVectorizer(random_state=0).fit_transform(data.graphs)
    n_classes = len(np.unique(data.target))
    for head in (LogisticRegression(max_iter=1000), LinearSVC(dual=False)):
        assert head.fit(vectors, data.target).score(vectors, data.target) > 0.9
    assert (
        Ridge().fit(vectors, data.graphs.node_counts).score(vectors, data.graphs.node_counts) > 0.9
    )
    assert len(np.unique(KMeans(n_classes, random_state=0).fit_predict(vectors))) == n_classes


@pytest.mark.slow
def test_linear_models_converge_on_families():
    heads_converge(gm.make_graph_families(120, random_state=0))


def test_linear_models_converge_on_mutag():
    heads_converge(real_dataset("MUTAG"))


@pytest.mark.filterwarnings("ignore:all training graphs look the same")
def test_points_of_another_dimension_are_refused(graphs):
    width = 2

    def ones(batch):
        return [np.ones((graph.n_nodes, width)) for graph in batch]

    view = gm.RandomGraphEmbedding(4, node_embedding=ones, use_node_labels=False)
    model = gm.GraphVectorizer(views=[("ones", view)], random_state=0).fit(graphs)
    width = 3
    with pytest.raises(ValueError, match="points of 3 dimensions, expected 2 as in fit"):
        model.transform(graphs)


@pytest.mark.slow
def test_transform_holds_its_result_once():
    """Beyond it, there is a chunk of graphs at a time."""
    graphs = gm.make_graph_families(60, random_state=0).graphs
    vectorizer = gm.GraphVectorizer(512, random_state=0).fit(graphs)
    many = gm.GraphBatch.concatenate([graphs] * 6)
    vectorizer.transform(many[:10])
    tracemalloc.start()
    rows = vectorizer.transform(many)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows.nbytes > 1e6
    assert peak < 1.5 * rows.nbytes
