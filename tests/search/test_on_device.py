"""The search on a GPU without one: NumPy in CuPy's place, the kernel compiled for the CPU."""

import ctypes
import subprocess
import sys
import types

import cuda_simulator
import numpy as np
import pytest

import graphmover as gm
from graphmover import backends
from graphmover._utils.cuda import source
from graphmover.backends import cuda
from graphmover.backends.threads import PreparedTree, ThreadBackend
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.search import library, on_device, queries
from graphmover.search.bounds import Sketches, raise_to_bounds
from graphmover.transport import GroundDistance

HEADER = """
#include <cmath>
using std::fabs;
using std::fmax;
using std::isinf;
#define __global__
#define __launch_bounds__(threads)
struct Index { long x, y; };
static Index threadIdx, blockIdx, blockDim;
extern "C" void place(long x, long y, long thread, long threads) {
  blockIdx = {x, y};
  threadIdx.x = thread;
  blockDim.x = threads;
}
"""


@pytest.fixture(scope="module")
def launch(tmp_path_factory):
    """What `kernel("raise_to_bounds", file="bounds.cu")` returns, on the CPU."""
    compiler = cuda_simulator.compiler()
    if compiler is None:
        pytest.skip("no C++ compiler")
    folder = tmp_path_factory.mktemp("bounds")
    (folder / "bounds.cpp").write_text(HEADER + source("bounds.cu"))
    options = ["-std=c++17", "-O1", "-w", "-shared", "-fPIC"]
    command = [compiler, *options, folder / "bounds.cpp", "-o", folder / "bounds.so"]
    subprocess.run(command, check=True)
    kernel = ctypes.CDLL(str(folder / "bounds.so"))
    ctypes_of = {np.int32: ctypes.c_int, np.int64: ctypes.c_longlong, np.float64: ctypes.c_double}

    def passed(value):
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous
            return ctypes.c_void_p(value.ctypes.data)
        return ctypes_of[type(value)](value.item())

    def run(blocks, threads, arguments):
        for x, y in np.ndindex(blocks):
            for thread in range(*threads):
                kernel.place(*map(ctypes.c_long, (x, y, thread, *threads)))
                kernel.raise_to_bounds(*map(passed, arguments))

    return run


@pytest.fixture
def as_if_on_a_gpu(monkeypatch, launch):
    fake = types.ModuleType("cupy")
    fake.__getattr__ = lambda name: getattr(np, name)
    fake.asnumpy = np.asarray
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setitem(backends.BACKENDS, "cuda", OnTheHost())
    monkeypatch.setattr(backends, "require_gpu", lambda: None)
    monkeypatch.setattr(on_device, "kernel", lambda name, file: launch)
    monkeypatch.setattr(on_device, "free_memory", lambda: 64 * 3000)
    for module in (library, queries):
        monkeypatch.setattr(module, "distances_on_device", distances_on_device)


class OnTheHost(ThreadBackend):
    name = "cuda"

    def take(self, nodes):
        return cuda.DeviceNodes(nodes.points, nodes.masses, nodes.offsets, nodes.labels)

    def prepare(self, random_graphs, ground=None):
        prepared = super().prepare(random_graphs, ground)
        is_tree = isinstance(prepared, PreparedTree)
        return cuda.PreparedTree(*prepared) if is_tree else prepared

    def distances(self, nodes, prepared, finish, out):
        if isinstance(prepared, cuda.PreparedTree):
            prepared = PreparedTree(*prepared)
        if isinstance(nodes, cuda.DeviceNodes):
            arrays = (nodes.points, nodes.masses, nodes.offsets, nodes.labels)
            nodes = NodeEmbeddings._trusted(*arrays)
        super().distances(nodes, prepared, finish, out)


def distances_on_device(nodes, prepared):
    out = np.empty((len(nodes), prepared.labels.n_graphs))
    OnTheHost().distances(nodes, prepared, None, out)
    return out


@pytest.mark.parametrize("ground", [GroundDistance(0.0, 0.3), GroundDistance(0.7, 0.0)])
@pytest.mark.parametrize("d, n_pivots", [(0, 3), (2, 0), (3, 5)])
def test_bounds_are_those_of_the_cpu(as_if_on_a_gpu, ground, d, n_pivots):
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
    on_device.raise_to_bounds_on_device(x, there, ground, 2, found)
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
def test_neighbours_are_those_of_the_cpu(as_if_on_a_gpu, embedding):
    rng = np.random.default_rng(0)
    families = gm.make_graph_families(400, random_state=0, return_X_y=True)[0]
    graphs = [
        gm.Graph(g.n_nodes, g.edges, node_labels=rng.integers(3, size=g.n_nodes)) for g in families
    ]
    nothing = gm.Graph(0, [])
    searched = [*graphs[:350], nothing, graphs[0]]
    asked = [*graphs[345:], nothing]
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
                np.testing.assert_allclose(found, wanted, rtol=1e-9)
    near.kneighbors(graphs[345:])
    assert near.n_pairs_ == 55 * 352
    assert near.n_solved_ <= near.n_pairs_
