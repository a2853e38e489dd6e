"""Laplacian node embeddings: graphmover against loops over numpy, scipy and networkx.

    python benchmarks/node_embedding.py                 # all sections
    python benchmarks/node_embedding.py small threads   # some of them

graphmover's time includes everything from the batch to the embedding; numpy and scipy start from
the Laplacian matrices, and compute eigenvectors only. ``eigsh`` is scipy's Lanczos method on
D^-1/2 A D^-1/2; LOBPCG is scipy's, preconditioned by pyamg where that is installed. All run on
one thread. Each ratio is taken within a round on the same graphs; tables show medians. Real data
comes from the folder in GRAPHMOVER_DATA.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import resource
import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse import coo_array, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh, lobpcg
from threadpoolctl import threadpool_limits

import graphmover as gm
from graphmover.nodes import laplacian
from graphmover.nodes.laplacian.large import components

D = 6
SMALL = ("NCI1", "ENZYMES", "IMDB-BINARY")
LARGE = ("COLLAB", "DD", "REDDIT-BINARY")


def seconds(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    work()
    return clock() - start


def adjacency(n: int, edges: Any) -> Any:
    """Return a simple, undirected graph as a sparse matrix of ones."""
    edges = np.asarray(edges)
    edges = edges[edges[:, 0] != edges[:, 1]]
    both = np.concatenate([edges, edges[:, ::-1]])
    matrix = coo_array((np.ones(len(both)), both.T), shape=(n, n)).tocsr()
    matrix.data[:] = 1.0
    matrix.sort_indices()
    return matrix


def batch_of(matrix: Any) -> Any:
    """Return one graph from its adjacency matrix, without copying it edge by edge."""
    return gm.GraphBatch(
        np.array([0, matrix.shape[0]]),
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
    )


def largest_component(matrix: Any) -> Any:
    _, labels = connected_components(matrix, directed=False)
    kept = np.flatnonzero(labels == np.bincount(labels).argmax())
    return csr_array(matrix[kept][:, kept])


def random_sparse(rng: np.random.Generator, n: int) -> Any:
    """Draw 2n random edges between n nodes."""
    return adjacency(n, rng.integers(0, n, (2 * n, 2)))


def connected_random(rng: np.random.Generator, n: int) -> Any:
    """Return the largest component of a random sparse graph."""
    return largest_component(random_sparse(rng, n))


def regular(rng: np.random.Generator, n: int) -> Any:
    """Two random cycles through all nodes: an expander of degree 4."""
    cycles = [rng.permutation(n) for _ in range(2)]
    return adjacency(n, np.concatenate([np.column_stack([c, np.roll(c, 1)]) for c in cycles]))


def tree(rng: np.random.Generator, n: int) -> Any:
    parents = (rng.random(n - 1) * np.arange(1, n)).astype(np.int64)
    return adjacency(n, np.column_stack([np.arange(1, n), parents]))


def uniform_tree(rng: np.random.Generator, n: int) -> Any:
    """Decode a random Pruefer sequence: all labelled trees have the same probability."""
    sequence = rng.integers(0, n, n - 2).tolist()
    lacks = (np.bincount(sequence, minlength=n) + 1).tolist()  # edges that a node still lacks
    edges = []
    first = leaf = lacks.index(1)
    for v in sequence:
        edges.append((leaf, v))
        lacks[v] -= 1
        if lacks[v] == 1 and v < first:
            leaf = v
        else:
            first = leaf = lacks.index(1, first + 1)
    edges.append((leaf, n - 1))
    return adjacency(n, edges)


def spider(legs: int, length: int) -> Any:
    """Equal paths, each hung at one hub by its first node."""
    at = np.arange(legs * length).reshape(legs, length) + 1
    along = np.column_stack([at[:, :-1].ravel(), at[:, 1:].ravel()])
    hung = np.column_stack([np.zeros(legs, np.int64), at[:, 0]])
    return adjacency(legs * length + 1, np.concatenate([along, hung]))


def complete_tree(n: int, children: int) -> Any:
    at = np.arange(1, n)
    return adjacency(n, np.column_stack([at, (at - 1) // children]))


def caterpillar(n: int, legs: int) -> Any:
    """Hang so many leaves at each node of a path."""
    body = np.arange(n // (legs + 1))
    along = np.column_stack([body[:-1], body[1:]])
    leaves = np.column_stack([np.repeat(body, legs), len(body) + np.arange(len(body) * legs)])
    return adjacency(len(body) * (legs + 1), np.concatenate([along, leaves]))


def broom(n: int) -> Any:
    """End a path in a star of the same size."""
    at = np.arange(1, n)
    return adjacency(n, np.column_stack([at, np.minimum(at - 1, n // 2)]))


def star_of_stars(stars: int, leaves: int) -> Any:
    at = np.arange(1, 1 + stars * (leaves + 1))
    centres = (at - 1) // (leaves + 1) * (leaves + 1) + 1
    return adjacency(len(at) + 1, np.column_stack([at, np.where(at == centres, 0, centres)]))


def grid(width: int, height: int) -> Any:
    at = np.arange(width * height).reshape(width, height)
    across = np.column_stack([at[:, :-1].ravel(), at[:, 1:].ravel()])
    down = np.column_stack([at[:-1].ravel(), at[1:].ravel()])
    return adjacency(width * height, np.concatenate([across, down]))


def road(rng: np.random.Generator, n: int) -> Any:
    """Take a third of the edges out of a square grid; return its largest component."""
    side = int(np.sqrt(n))
    matrix = coo_array(grid(side, side))
    once = matrix.row < matrix.col
    edges = np.column_stack([matrix.row, matrix.col])[once]
    return largest_component(adjacency(side * side, edges[rng.random(len(edges)) < 2 / 3]))


def walk_matrix(matrix: Any) -> Any:
    scale = diags_array(1 / np.sqrt(matrix.sum(axis=1)))
    return csr_array(scale @ matrix @ scale)


def dense_laplacians(batch: Any) -> list[Any]:
    result = []
    for graph in batch:
        a = graph.to_scipy().toarray()
        degrees = np.maximum(a.sum(axis=1), 1)
        result.append(np.eye(len(a)) - a / np.sqrt(np.outer(degrees, degrees)))
    return result


def embed(batch: Any, n_jobs: int = 1) -> Any:
    return gm.embed_nodes(batch, D, use_node_labels=False, n_jobs=n_jobs)


def small(rounds: int) -> None:
    """Many small graphs on one thread."""
    import networkx as nx
    from netlsd.util import eigenvalues_auto

    print(
        "| graphs | mean n | us a graph | scipy eigh, 6 vectors | numpy eigh | networkx | "
        "NetLSD, values only |\n|---|---|---|---|---|---|---|"
    )
    for name in SMALL:
        batch = gm.load_dataset(name).graphs
        matrices = dense_laplacians(batch)
        drawn = [graph.to_networkx() for graph in batch[:100]]
        rows = []
        for _ in range(rounds):
            own = seconds(lambda: embed(batch))
            subset = seconds(
                lambda: [
                    scipy.linalg.eigh(m, subset_by_index=(0, min(D, len(m)) - 1)) for m in matrices
                ]
            )
            full = seconds(lambda: [np.linalg.eigh(m) for m in matrices])
            layout = seconds(lambda: [nx.spectral_layout(graph, dim=2) for graph in drawn])
            spectra = seconds(lambda: [eigenvalues_auto(m) for m in matrices])
            times = (subset, full, layout / 100 * len(batch), spectra)
            rows.append((own, *(their / own for their in times)))
        own, *ratios = (median(column) for column in zip(*rows, strict=True))
        print(
            f"| {name} | {batch.node_counts.mean():.0f} | {1e6 * own / len(batch):.1f} | "
            + " | ".join(f"{ratio:.1f}" for ratio in ratios)
            + " |",
            flush=True,
        )
    print()


def threads(rounds: int) -> None:
    """Compare two threads with one; on a busy machine, look at the best round."""
    print("| graphs | 2 threads, times 1: median | best |\n|---|---|---|")
    for name in SMALL:
        batch = gm.GraphBatch.concatenate([gm.load_dataset(name).graphs] * 8)
        one = embed(batch)
        assert (embed(batch, n_jobs=2).points == one.points).all()
        ratios = [
            seconds(lambda: embed(batch)) / seconds(lambda: embed(batch, n_jobs=2))
            for _ in range(rounds)
        ]
        print(f"| {name} | {median(ratios):.2f} | {max(ratios):.2f} |", flush=True)
    print()


def crossover(rounds: int) -> None:
    """Compare the dense and the sparse solver on the same graph."""
    rng = np.random.default_rng(0)
    kinds = {"tree": tree, "road": road, "random": connected_random, "regular": regular}
    print("| n | " + " | ".join(f"{kind}: dense, sparse ms" for kind in kinds) + " |")
    print("|---|" + "---|" * len(kinds))
    for n in (100, 200, 300, 350, 400, 500, 700, 1000, 2000):
        cells = []
        for make in kinds.values():
            batch = batch_of(make(rng, n))
            degrees = np.diff(batch.indptr).astype(np.float64)
            arrays = (batch.offsets, batch.indptr, batch.indices, None, degrees, D)
            took = []
            for most in (10**6, 0):
                run = lambda most=most: laplacian.smallest_eigenvectors(  # noqa: E731
                    *arrays, n_jobs=1, progress=None, dense_nodes=most
                )
                run()
                took.append(min(seconds(run) for _ in range(rounds)))
            cells.append(f"{1e3 * took[0]:.1f}, {1e3 * took[1]:.1f}")
        print(f"| {n} | " + " | ".join(cells) + " |", flush=True)
    print()


def sizes(rounds: int) -> None:
    """Many random sparse graphs of one size: the time must not jump where the solver changes."""
    rng = np.random.default_rng(0)
    print("| n | graphs | ms a graph, 1 thread | 2 threads | eigsh, times 1 thread |")
    print("|---|---|---|---|---|")
    for n in (8, 16, 32, 64, 128, 256, 340, 360, 512, 1024, 2048, 4096, 8192, 16384):
        number = max(4, min(1000, 60_000 // n))
        matrices = [random_sparse(rng, n) for _ in range(number)]
        batch = gm.GraphBatch.concatenate([batch_of(matrix) for matrix in matrices])
        took = [min(seconds(lambda j=j: embed(batch, j)) for _ in range(3)) for j in (1, 2)]
        cells = [f"{1e3 * seconds_ / number:.2f}" for seconds_ in took]
        largest = [largest_component(matrix) for matrix in matrices[:20]] if n >= 256 else []
        peer = seconds(lambda largest=largest: [by_eigsh(matrix) for matrix in largest]) / 20
        ratio = f"{peer / took[0] * number:.1f}" if largest and number >= 20 else ""
        print(f"| {n} | {number} | {cells[0]} | {cells[1]} | {ratio} |", flush=True)
    print()


def by_eigsh(matrix: Any) -> Any:
    return eigsh(walk_matrix(matrix), D, which="LA", v0=np.ones(matrix.shape[0]))


def by_lobpcg(matrix: Any) -> Any:
    import pyamg

    n = matrix.shape[0]
    normalised = csr_array(eye_array(n) - walk_matrix(matrix))
    hierarchy = pyamg.smoothed_aggregation_solver(normalised + 1e-8 * eye_array(n))
    start = np.random.default_rng(0).standard_normal((n, D + 4))
    return lobpcg(
        normalised, start, M=hierarchy.aspreconditioner(), tol=1e-8, maxiter=500, largest=False
    )


def products(messages: str) -> int:
    """Sum the products that a solver reports; each run of Lanczos' method counts from 0."""
    in_all = re.findall(r"after (\d+) products, \d+ vectors", messages)
    if in_all:  # subspace iteration counts from the sum of all runs
        return int(in_all[-1])
    counts = [int(count) for count in re.findall(r"after (\d+) products", messages)]
    return sum(before for before, after in pairwise([*counts, 0]) if after <= before)


def growth(rounds: int) -> None:
    """Random sparse graphs from 20,000 to 1,000,000 nodes, once each, in seconds of one core."""
    kinds = {"random, m = 2n": random_sparse, "its largest component": connected_random}
    kinds |= {"road": road, "tree": tree, "regular of degree 4": regular}
    print(
        "| graph | n | edges | seconds | since the first | products | peak GB | eigsh | "
        "LOBPCG + pyamg |\n|---|---|---|---|---|---|---|---|---|"
    )
    for kind, make in kinds.items():
        first = None
        for n in (20_500, 100_000, 300_000, 1_000_000):
            if make is regular and n == 1_000_000:
                continue
            matrix = make(np.random.default_rng(0), n)
            batch = batch_of(matrix)
            with contextlib.redirect_stderr(io.StringIO()) as messages:
                took = seconds(
                    lambda: gm.embed_nodes(batch, D, progress="embedding"), time.process_time
                )
            first = first or (batch.n_edges, took)
            slope = (
                ""
                if first[0] == batch.n_edges
                else (f"m^{np.log(took / first[1]) / np.log(batch.n_edges / first[0]):.2f}")
            )
            peers = ["", ""]
            if n == 20_500 and make is not random_sparse:
                with threadpool_limits(1):
                    peers[0] = f"{seconds(lambda: by_eigsh(matrix), time.process_time) / took:.1f}"
                    if HAS_PYAMG:
                        peers[1] = (
                            f"{seconds(lambda: by_lobpcg(matrix), time.process_time) / took:.1f}"
                        )
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(
                f"| {kind} | {matrix.shape[0]} | {batch.n_edges} | {took:.1f} | {slope} | "
                f"{products(messages.getvalue())} | {peak:.1f} | {peers[0]} | {peers[1]} |",
                flush=True,
            )
    print()


def branches(rounds: int) -> None:
    """Trees, many with equal branches, once each, in seconds of one core."""
    rng = np.random.default_rng(0)
    print("| graph | n | classes | seconds | products |\n|---|---|---|---|---|")
    cases: dict[str, Callable[[], Any]] = {
        "300 paths of 30 nodes at a hub": lambda: spider(300, 30),
        "1,000 paths of 30 nodes at a hub": lambda: spider(1_000, 30),
        "5,000 paths of 30 nodes at a hub": lambda: spider(5_000, 30),
        "complete binary tree": lambda: complete_tree(100_000, 2),
        "complete ternary tree": lambda: complete_tree(100_000, 3),
        "caterpillar": lambda: caterpillar(100_000, 3),
        "broom": lambda: broom(100_000),
        "star of stars": lambda: star_of_stars(300, 333),
    }
    for n in (100_000, 1_000_000, 2_000_000):
        cases[f"random attachment, {n} nodes"] = lambda n=n: tree(rng, n)
        cases[f"uniform (Pruefer), {n} nodes"] = lambda n=n: uniform_tree(rng, n)
    for name, make in cases.items():
        batch = batch_of(make())
        with contextlib.redirect_stderr(io.StringIO()) as messages:
            took = seconds(
                lambda: gm.embed_nodes(batch, D, progress="embedding"), time.process_time
            )
        degrees = np.diff(batch.indptr).astype(np.float64)
        classes = components._classes(batch.indptr, batch.indices, np.empty(0), degrees)
        print(
            f"| {name} | {batch.n_nodes} | {len(classes.sizes)} | {took:.2f} | "
            f"{products(messages.getvalue())} |",
            flush=True,
        )
    print()


def hard(rounds: int) -> None:
    """Graphs with closed forms: the largest error of any coordinate."""
    print("| graph | n | seconds | error |\n|---|---|---|---|")
    for name, matrix, expected in closed_forms():
        batch = batch_of(matrix)
        start = time.perf_counter()
        points = embed(batch).points
        took = time.perf_counter() - start
        error = np.abs(points - expected).max()
        print(f"| {name} | {matrix.shape[0]} | {took:.2f} | {error:.0e} |", flush=True)
    print()


def closed_forms() -> Any:
    for n in (1_000, 10_000, 50_000):
        k, at = np.arange(D), np.arange(n)
        vectors = np.cos(np.outer(at, np.pi * k / (n - 1)))
        vectors *= np.sqrt(np.where((at == 0) | (at == n - 1), 1, 2))[:, np.newaxis]
        path = adjacency(n, np.column_stack([at[:-1], at[1:]]))
        yield "path", path, np.abs(vectors) / np.linalg.norm(vectors, axis=0)
    for n in (1_000, 20_000):
        at = np.arange(n)
        yield (
            "cycle",
            adjacency(n, np.column_stack([at, np.roll(at, -1)])),
            np.full((n, D), n**-0.5),
        )
    for bits in (10, 16):
        n = 2**bits
        at = np.arange(n)
        edges = np.concatenate([np.column_stack([at, at ^ (1 << b)]) for b in range(bits)])
        yield "hypercube", adjacency(n, edges), np.full((n, D), n**-0.5)
    n = 100_000
    star = adjacency(n, np.column_stack([np.zeros(n - 1, np.int64), np.arange(1, n)]))
    expected = np.full((n, D), np.sqrt((1 - 1 / (n - 1)) / (n - 2)))
    expected[0, 1:] = 0
    expected[:, 0] = np.sqrt(np.where(np.arange(n) == 0, n - 1, 1) / (2 * (n - 1)))
    yield "star", star, expected
    n = 300_000
    at = np.arange(n)
    triangles = adjacency(n, np.column_stack([at, at // 3 * 3 + (at + 1) % 3]))
    yield "triangles", triangles, np.full((n, D), n**-0.5)


def real(rounds: int) -> None:
    print("| graphs | number | largest | seconds, 1 thread | 2 threads |\n|---|---|---|---|---|")
    for name in LARGE:
        batch = gm.load_dataset(name).graphs
        took = [median(seconds(lambda: embed(batch, j)) for _ in range(3)) for j in (1, 2)]
        print(
            f"| {name} | {len(batch)} | {batch.node_counts.max()} | {took[0]:.1f} | "
            f"{took[1]:.1f} |",
            flush=True,
        )
    print()


def preferential(rng: np.random.Generator, n: int) -> Any:
    """Join each new node to random ends of two earlier edges, which makes hubs."""
    drawn = rng.random(2 * n)
    ends = np.zeros(4 * n, np.int64)
    for edge in range(2 * n):
        ends[2 * edge] = edge // 2
        ends[2 * edge + 1] = ends[int(drawn[edge] * (2 * edge + 1))]
    return adjacency(n, ends.reshape(-1, 2))


def walks(rounds: int) -> None:
    """Node embeddings without eigenvectors, seconds on one thread."""
    print("| graphs | largest degree | degree | return probabilities |\n|---|---|---|---|")
    batches = {}
    if os.environ.get("GRAPHMOVER_DATA"):
        batches = {name: gm.load_dataset(name).graphs for name in LARGE}
    for n in (10_000, 100_000, 1_000_000):
        batches[f"preferential attachment, {n} nodes"] = batch_of(
            preferential(np.random.default_rng(0), n)
        )
    for name, batch in batches.items():
        took = [
            seconds(
                lambda what=what, batch=batch: gm.embed_nodes(
                    batch, D, node_embedding=what, use_node_labels=False
                )
            )
            for what in ("degree", "return-probability")
        ]
        hub = np.diff(batch.indptr).max()
        print(f"| {name} | {hub} | {took[0]:.2f} | {took[1]:.2f} |", flush=True)
    print()


try:
    import pyamg  # noqa: F401

    HAS_PYAMG = True
except ImportError:
    HAS_PYAMG = False

SECTIONS = {
    "small": small,
    "threads": threads,
    "crossover": crossover,
    "sizes": sizes,
    "hard": hard,
    "branches": branches,
    "real": real,
    "walks": walks,
    "growth": growth,
}
NEEDS_DATA = ("small", "threads", "real")


def main() -> None:
    parser = argparse.ArgumentParser(description="Laplacian node embeddings, as ratios.")
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}; all by default")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    embed(gm.Graph(2, [(0, 1)]))
    embed(gm.Graph(600, [(i, 7 * i % 600) for i in range(600)]))
    gm.embed_nodes(gm.Graph(2, [(0, 1)]), node_embedding="return-probability")
    embed(gm.as_graph_batch(gm.Graph(600, [(i, i + 1) for i in range(599)])))
    embed(batch_of(tree(np.random.default_rng(0), 2000)))
    for section in arguments.sections or SECTIONS:
        if section in NEEDS_DATA and not os.environ.get("GRAPHMOVER_DATA"):
            print(f"{section}: skipped, GRAPHMOVER_DATA is not set\n")
            continue
        print(f"## {section}\n")
        with threadpool_limits(1):
            SECTIONS[section](arguments.rounds)


if __name__ == "__main__":
    main()
