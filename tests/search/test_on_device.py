"""The search on a simulated GPU."""

import numpy as np
import pytest
import simulated_gpu

import graphmover as gm
from graphmover.search import on_device
from graphmover.search.bounds import Sketches, raise_to_bounds
from graphmover.transport import GroundDistance


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(on_device, "_MOST_PAIRS", 60)
    with simulated_gpu.installed() as cupy:
        yield cupy


@pytest.mark.parametrize("ground", [GroundDistance(0.0, 0.3), GroundDistance(0.7, 0.0)])
@pytest.mark.parametrize("d, n_pivots", [(0, 3), (2, 0), (3, 5)])
def test_bounds_are_those_of_the_cpu(gpu, ground, d, n_pivots):
    rng = np.random.default_rng(0)

    def drawn(n):
        return Sketches(rng.random((n, n_pivots)), rng.random((n, d, 4)), 1e-9 * rng.random(n))

    x, y = drawn(13), drawn(300)
    shares = rng.random((13, 300))
    expected, found = shares.copy(), shares.copy()
    raise_to_bounds(x, y, ground, 2, expected)
    is_empty = rng.random(300) < 0.1
    expected[:, is_empty] = np.inf
    there = on_device.sketches_on_device(y, is_empty)
    found = gpu.asarray(found)
    on_device.raise_to_bounds_on_device(x, there, ground, 2, found)
    found = found.get()
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize(
    "embedding",
    [
        None,
        gm.RandomGraphEmbedding(16),
        gm.RandomGraphEmbedding(16, wl_iterations=2, wl_depths="all", label_weight=0.5),
        gm.RandomGraphEmbedding(
            16, node_embedding=None, wl_iterations=2, wl_depths="all", max_random_nodes=None
        ),
    ],
    ids=["default", "paper", "depths", "labels"],
)
def test_neighbours_are_those_of_the_cpu(gpu, embedding):
    rng = np.random.default_rng(0)
    families = gm.make_graph_families(24, random_state=0, return_X_y=True)[0]
    graphs = [
        gm.Graph(g.n_nodes, g.edges, node_labels=rng.integers(3, size=g.n_nodes)) for g in families
    ]
    nothing = gm.Graph(0, [])
    searched = [*graphs[:20], nothing, graphs[0]]
    asked = [*graphs[18:], nothing]
    near = gm.NearestGraphs(5, radius=0.4, embedding=embedding, n_jobs=2, random_state=0)
    with pytest.warns(UserWarning, match="no nodes"):
        near.fit(searched)

    def results():
        return [
            *near.kneighbors(asked),
            *near.kneighbors(),
            *near.kneighbors(asked, len(searched)),
            *map(np.concatenate, near.radius_neighbors(asked)),
        ]

    with pytest.warns(UserWarning, match="no nodes"):
        expected = results()
        near.set_params(device="cuda")
        for found, wanted in zip(results(), expected, strict=True):
            assert found.shape == wanted.shape
            if wanted.dtype.kind == "i":
                np.testing.assert_array_equal(found, wanted)
            else:
                np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    near.kneighbors(graphs[18:])
    assert near.n_pairs_ == 6 * 22
    assert near.n_solved_ <= near.n_pairs_
