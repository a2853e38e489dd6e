"""Every route from graphs to distances takes the same two steps, behind one protocol."""

import pickle

import numpy as np
import pytest
from graph_zoo import random_graph

import graphmover as gm
from graphmover import backends
from graphmover.backends import BACKENDS, backend_for
from graphmover.backends.protocol import Backend
from graphmover.backends.threads import ThreadBackend
from graphmover.transport.cpu import engine


class OpaqueNodes:
    """Nodes that offer what the protocol asks for, as those on a device do, and no arrays."""

    def __init__(self, nodes):
        self._nodes = nodes

    def __len__(self):
        return len(self._nodes)

    def __getitem__(self, key):
        assert isinstance(key, slice)
        return OpaqueNodes(self._nodes[key])

    def divided_by(self, scale):
        return OpaqueNodes(self._nodes.divided_by(scale))

    def nodes_at(self, places):
        return self._nodes.nodes_at(places)

    offsets = property(lambda self: self._nodes.offsets)
    n_dimensions = property(lambda self: self._nodes.n_dimensions)
    node_counts = property(lambda self: self._nodes.node_counts)
    has_labels = property(lambda self: self._nodes.has_labels)
    extent = property(lambda self: self._nodes.extent)


class DeviceLike(Backend[OpaqueNodes, tuple]):
    """A back end of one's own: the CPU behind a wall."""

    name = "cpu"
    inside = ThreadBackend()

    def nodes(self, batch, recipe, **options):
        return OpaqueNodes(self.inside.nodes(batch, recipe, **options))

    def take(self, nodes):
        return OpaqueNodes(nodes)

    def prepare(self, random_graphs, ground=None):
        return ("prepared", self.inside.prepare(random_graphs, ground))

    def distances(self, nodes, prepared, finish, out):
        assert prepared[0] == "prepared"
        self.inside.distances(nodes._nodes, prepared[1], finish, out)

    def chunking(self, node_counts, prepared, n_jobs):
        return self.inside.chunking(node_counts, prepared[1], n_jobs)


@pytest.fixture(scope="module")
def graphs():
    rng = np.random.default_rng(0)
    return gm.as_graph_batch([random_graph(rng, n, labels=3) for n in rng.integers(3, 15, 40)])


@pytest.mark.parametrize(
    "options",
    [{}, {"sampling": "uniform"}, {"node_embedding": "degree"}, {"wl_iterations": 1, "gamma": 2.0}],
)
def test_all_routes_and_back_ends_give_the_same_bits(graphs, options, monkeypatch, tmp_path):
    def results():
        model = gm.RandomGraphEmbedding(12, random_state=0, **options)
        features = model.fit_transform(graphs)
        nodes = gm.embed_nodes(
            graphs,
            node_embedding=model.node_embedding_,
            use_node_labels=model.uses_node_labels_,
            wl_iterations=model.wl_iterations_,
        ).divided_by(model.node_scale_)
        distances = gm.earth_movers_distance(nodes, model.random_graphs_)
        assert (model.distances(graphs) == distances).all()
        assert (model.transform(graphs) == features).all()
        model.transform_to(graphs, tmp_path / "z.npy", batch_size=7)
        assert (np.load(tmp_path / "z.npy") == features).all()
        (tmp_path / "z.npy").unlink()
        return features

    expected = results()
    monkeypatch.setitem(BACKENDS, "cpu", DeviceLike())
    assert (results() == expected).all()


def test_random_graphs_are_prepared_once_per_fit_or_load(graphs, monkeypatch, tmp_path):
    model = gm.RandomGraphEmbedding(12, random_state=0).fit(graphs)
    model.save(tmp_path / "model.npz")
    sizes, prepare = [], engine.prepare

    def counting(points, masses, offsets, labels):
        sizes.append(len(offsets) - 1)
        return prepare(points, masses, offsets, labels)

    monkeypatch.setattr(engine, "prepare", counting)
    monkeypatch.setattr("graphmover.backends.threads._CHUNK_NODES", 50)
    for _ in range(3):
        model.transform(graphs)
    assert 12 not in sizes  # they were prepared by fit
    loaded = gm.RandomGraphEmbedding.load(tmp_path / "model.npz")
    for _ in range(3):
        loaded.transform(graphs)
    assert sizes.count(12) == 1
    again = gm.RandomGraphEmbedding(12, random_state=1).fit(graphs)
    again.transform(graphs)
    assert sizes.count(12) == 2


def test_what_is_prepared_is_not_pickled(graphs):
    model = gm.RandomGraphEmbedding(12, random_state=0).fit(graphs)
    fitted = pickle.dumps(model)
    model.transform(graphs)
    assert pickle.dumps(model) == fitted
    assert (pickle.loads(fitted).transform(graphs) == model.transform(graphs)).all()


def test_unknown_devices_are_named():
    with pytest.raises(ValueError, match="device must be one of auto, cpu, cuda, got 'tpu'"):
        backend_for("tpu", 1)
    assert backend_for("auto", 1).name == "cpu"


def test_auto_is_the_gpu_from_ten_thousand_problems_on(monkeypatch):
    monkeypatch.setattr(backends, "gpu_available", lambda: True)
    assert backend_for("auto", 9_999).name == "cpu"
    assert backend_for("auto", 10_000).name == "cuda"


def test_ctrl_c_gives_device_memory_back(graphs, monkeypatch):
    released = []

    class WithMemory(DeviceLike):
        def chunking(self, node_counts, prepared, n_jobs):
            chunking = super().chunking(node_counts, prepared, n_jobs)
            return chunking._replace(release=lambda: released.append(True))

    def interrupted(*_):
        raise KeyboardInterrupt

    model = gm.RandomGraphEmbedding(12, random_state=0).fit(graphs)
    monkeypatch.setattr("graphmover._utils.progress.Bar.advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.transform(graphs)
    assert not released
    monkeypatch.setitem(BACKENDS, "cpu", WithMemory())
    fresh = pickle.loads(pickle.dumps(model))  # what the other back end prepared is not for this
    with pytest.raises(KeyboardInterrupt):
        fresh.transform(graphs)
    assert released
