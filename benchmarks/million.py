"""A million molecules: indexed and searched, on a GPU or on all cores.

The library holds perturbed copies of the molecules of the TU sets (`copies.py`), the queries are
further ones. The neighbours of some queries are compared with brute force by the CPU engine, on
all cores: distances to 1e-9, and indices except where distances are as good as equal.

    python benchmarks/million.py --device cuda
    python benchmarks/million.py --graphs 100000 --embeddings depths

"default" is what NearestGraphs takes for graphs with labels: labels at all depths, in closed form.
"depths" adds the paper's coordinates, so that each distance is a transport problem. The index is
ready when the first search has prepared what the engine needs; its bytes are those of nodes and
distances to pivots, as `save` writes them.
"""

from __future__ import annotations

import argparse
import threading
import time
import warnings

import numpy as np
import psutil
from copies import numbered, perturbed_copies, tu_molecules
from search import embedding_named

import graphmover as gm
from graphmover.backends import BACKENDS
from graphmover.search.cascade import Limit
from graphmover.search.selection import nearest_in_rows


class Peak:
    """The most memory that this process holds while something runs, read 20 times a second."""

    def __enter__(self):
        self.bytes, self._stop = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self):
        own = psutil.Process()
        while not self._stop.wait(0.05):
            self.bytes = max(self.bytes, own.memory_info().rss)

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start


def gigabytes(n_bytes):
    return f"{n_bytes / 1e9:.2f} GB"


def bytes_of(nodes):
    arrays = (nodes.points, nodes.masses, nodes.offsets, nodes.labels)
    return sum(array.nbytes for array in arrays if array is not None)


def on_device(device):
    """Return what CuPy's memory pool has taken from the device, in words."""
    if device != "cuda":
        return ""
    import cupy

    return f", device {gigabytes(cupy.get_default_memory_pool().total_bytes())}"


def compared(near, queries, found, device):
    """Compare neighbours with those of all pairs solved by the CPU engine; return what differs."""
    distances, indices = found
    backend = BACKENDS[device]
    there = backend.nodes(queries, near.embedding_._to_random_graphs.recipe)
    nodes = there.on_host(np.arange(len(queries)))
    every = gm.earth_movers_distance(near.nodes_, nodes, ground=near.ground_, n_jobs=-1).T
    limit = Limit(indices.shape[1], rounding=near._library.rounding)
    nearest = nearest_in_rows(np.ascontiguousarray(every), limit, None)
    expected = np.array([one.distances for one in nearest])
    order = np.array([one.indices for one in nearest])
    np.testing.assert_allclose(distances, expected, rtol=1e-9, atol=1e-12)
    # A neighbour in another place is one that is as far, to rounding.
    own = np.take_along_axis(every, indices, axis=1)
    np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-12)
    return int((order != indices).sum())


def all_pairs(near, queries):
    """Return the seconds that all distances of some queries take on the device."""
    backend = BACKENDS["cuda"]
    nodes = backend.nodes(queries, near.embedding_._to_random_graphs.recipe)
    out = np.empty((len(queries), near.n_samples_fit_))
    prepared = near._library.prepared_for(backend).graphs
    return timed(backend.distances, nodes, prepared, None, out)[1]


def measure(name, graphs, queries, options):
    settings = {
        "embedding": embedding_named(name),
        "device": options.device,
        "n_jobs": -1,
        "random_state": 0,
    }
    near = gm.NearestGraphs(options.neighbors, **settings)
    # Kernels are compiled first.
    near.fit(graphs[:5000]).kneighbors(queries[:50])
    with Peak() as peak:
        _, fitted = timed(near.fit, graphs)
        _, prepared = timed(near.kneighbors, queries[:1])
        size = bytes_of(near.nodes_) + near._library.pivots.nbytes
        print(
            f"{name}: indexed in {fitted + prepared:.1f} s (fit {fitted:.1f}, prepared "
            f"{prepared:.1f}); {gigabytes(size)}, {size / len(graphs):.0f} bytes a graph",
            flush=True,
        )
        found, seconds = timed(near.kneighbors, queries)
        share = near.n_solved_ / near.n_pairs_
        _, one = timed(near.kneighbors, queries[1:2])
    print(
        f"{name}: {len(queries)} queries in {seconds:.2f} s, {1e3 * seconds / len(queries):.2f} ms "
        f"each; one alone {1e3 * one:.0f} ms; solved {100 * share:.4f} % of pairs, "
        f"{share * len(graphs):.0f} a query; peak: host {gigabytes(peak.bytes)}"
        f"{on_device(options.device)}; nearest at {found[0][:, 0].mean():.3f}, "
        f"last at {found[0][:, -1].mean():.3f} on average",
        flush=True,
    )
    if not options.verify:
        return
    some = slice(options.verify)
    first = (found[0][some], found[1][some])
    n_other, seconds = timed(compared, near, queries[some], first, options.device)
    print(
        f"{name}: {options.verify} queries verified by all {options.verify * len(graphs)} pairs on "
        f"the CPU in {seconds:.1f} s: distances equal to 1e-9, {n_other} of {first[1].size} "
        f"neighbours in another order of equals",
        flush=True,
    )
    if options.device == "cuda":
        seconds = all_pairs(near, queries[some])
        print(
            f"{name}: all pairs of {options.verify} queries on the device: "
            f"{1e3 * seconds / options.verify:.0f} ms each",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--graphs", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--neighbors", type=int, default=10)
    parser.add_argument("--verify", type=int, default=5, help="queries to solve all pairs of")
    parser.add_argument("--embeddings", nargs="+", default=["default", "depths"])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    molecules, seconds = timed(lambda: numbered(tu_molecules()))
    print(f"{len(molecules)} molecules, read in {seconds:.1f} s", flush=True)
    n_graphs = options.graphs + options.queries
    copies, seconds = timed(perturbed_copies, molecules, n_graphs)
    print(
        f"{n_graphs} copies of {copies.n_nodes / n_graphs:.1f} nodes in {seconds:.1f} s", flush=True
    )
    for name in options.embeddings:
        measure(name, copies[options.queries :], copies[: options.queries], options)


if __name__ == "__main__":
    main()
