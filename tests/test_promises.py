"""The promises of the design, one test each, on real and on highly symmetric graphs.

1 exact, 2 invariant, 3 deterministic, 4 positive semi-definite, 5 bounded memory,
6 bad input named (tests of each module), 7 no global state.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import real_dataset
from graph_zoo import SYMMETRIC, renumbered

import graphmover as gm

COLLECTIONS = ["symmetric", "MUTAG", "PTC", "ENZYMES"]
VARIANTS = [
    {"sampling": "uniform"},
    {"use_node_labels": False},
    {"use_node_labels": "auto"},
    {"wl_iterations": 2},
]


def collection(name, size=60):
    if name == "symmetric":
        return gm.as_graph_batch(list(SYMMETRIC.values()))
    graphs = real_dataset(name).graphs
    return graphs[np.random.default_rng(0).permutation(len(graphs))[:size]]


def fitted(graphs, **parameters):
    return gm.RandomGraphEmbedding(**{"n_components": 32, "random_state": 0} | parameters).fit(
        graphs
    )


@pytest.mark.parametrize("name", COLLECTIONS)
def test_1_exact(name):
    import naive

    graphs = collection(name, size=6)
    model = fitted(graphs, n_components=8)
    nodes = gm.embed_nodes(graphs, use_node_labels=model.uses_node_labels_)
    distances = model.distances(graphs)
    for i, x in enumerate(nodes):
        for j, y in enumerate(model.random_graphs_):
            expected = naive.earth_movers_distance(x, y)
            assert distances[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)
            plan, _ = gm.transport_plan(x, y)
            assert plan.sum(axis=1) == pytest.approx(x.weights, abs=1e-14)
            assert plan.sum(axis=0) == pytest.approx(y.weights, abs=1e-14)


@pytest.mark.parametrize("name", COLLECTIONS)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_2_invariant(name, variant):
    graphs = collection(name)
    rng = np.random.default_rng(1)
    model = fitted(graphs, **variant)
    expected = model.distances(graphs)
    order = rng.permutation(len(graphs))
    others = [renumbered(graphs[int(i)], rng) for i in order]
    assert np.abs(model.distances(others) - expected[order]).max() < 1e-8
    assert np.abs(model.transform(others) - model.transform(graphs)[order]).max() < 1e-8
    # Where nothing is renumbered, order and batching change no bit.
    assert (model.distances(graphs[order]) == expected[order]).all()
    assert (np.vstack([model.distances(graph) for graph in graphs[:5]]) == expected[:5]).all()


@pytest.mark.parametrize("name", COLLECTIONS)
def test_3_deterministic(name, monkeypatch):
    graphs = collection(name)
    expected = fitted(graphs).transform(graphs)
    for n_jobs in (2, 3):
        model = gm.RandomGraphEmbedding(32, random_state=0, n_jobs=n_jobs)
        assert (model.fit_transform(graphs) == expected).all()
    monkeypatch.setattr("graphmover.backends.threads._CHUNK_NODES", 7)
    monkeypatch.setattr("graphmover.backends.threads._CHUNK_PAIRS", 11)
    assert (fitted(graphs, n_jobs=2).transform(graphs) == expected).all()


@pytest.mark.parametrize("name", COLLECTIONS)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_4_positive_semi_definite(name, variant):
    graphs = collection(name)
    kernel = fitted(graphs, **variant).kernel(graphs)
    values = np.linalg.eigvalsh((kernel + kernel.T) / 2)
    assert values[0] > -1e-10 * values[-1]
    assert np.abs(kernel - kernel.T).max() <= 1e-15 * values[-1]


def test_5_bounded_memory():
    """Four times the graphs must not take more memory beyond the input and Z."""
    program = """
import resource, sys
import numpy as np
import graphmover as gm
one = gm.make_graph_families(2_000, random_state=0).graphs
model = gm.RandomGraphEmbedding(8, gamma=1.0, random_state=0).fit(one[:100])
many = gm.GraphBatch.concatenate([one] * int(sys.argv[1]))
model.transform(one[:500])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.transform(many)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    grown = [
        int(subprocess.check_output([sys.executable, "-c", program, times])) for times in ("1", "8")
    ]
    embedded_nodes = 7 * 2_000 * 45 * 6 * 8 / 1024  # what keeping all node embeddings would add
    output = 7 * 2_000 * 8 * 8 / 1024
    assert grown[1] - grown[0] < output + embedded_nodes / 4


@pytest.mark.parametrize("name", ["MUTAG"])
def test_7_no_global_state(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    networkx = pytest.importorskip("networkx")
    graphs = [graph.to_networkx() for graph in collection(name)[:10]]
    copies = [graph.copy() for graph in graphs]
    state, environment = np.random.get_state()[1].copy(), dict(os.environ)  # noqa: NPY002
    gm.RandomGraphEmbedding(8, n_jobs=2).fit_transform(graphs)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
    assert dict(os.environ) == environment
    assert not list(tmp_path.iterdir())
    for graph, copy in zip(graphs, copies, strict=True):
        assert networkx.utils.graphs_equal(graph, copy)


def test_7_blas_threads_are_what_they_were():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    from graphmover._utils.parallel import single_threaded_blas

    def blas():
        info = threadpoolctl.threadpool_info()
        return [library["num_threads"] for library in info if library["user_api"] == "blas"]

    before = blas()
    with single_threaded_blas():
        with single_threaded_blas():
            assert set(blas()) <= {1}
        assert set(blas()) <= {1}
    assert blas() == before
