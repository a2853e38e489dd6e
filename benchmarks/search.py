"""How much of the work of a search the bounds spare: NearestGraphs beside all pairs solved.

Both use the same engine in one thread, and the same embedded nodes; times are CPU times, so that
other work on the machine does not matter. Results are compared query by query: indices must be
equal, and distances to 1e-9.

    python benchmarks/search.py molecules --embedding default --queries 1000
    python benchmarks/search.py molecules --embedding depths --queries 1000
    python benchmarks/search.py PROTEINS --embedding depths --queries 100
    python benchmarks/search.py molecules --embedding depths --queries 30 --peer
    python benchmarks/search.py copies --graphs 100000 --embedding depths --queries 20

"molecules" are the TU sets of molecules and the NCI file of RDKit together. The labels of AIDS,
MUTAG, PTC_MR and RDKit are atom symbols. What the numbers of BZR, NCI1, NCI109 and PTC stand for
is not documented, so labels of these sets equal no label of another set. "copies" are renumbered
copies of these, each with an edge or two and a label changed. `million.py` searches more of them.
"default" is what NearestGraphs takes for the graphs by itself.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from copies import perturbed_copies, plain, tu_molecules

import graphmover as gm
from graphmover.backends import BACKENDS
from graphmover.backends.rows import distances_between
from graphmover.nodes.embed import embed_batch
from graphmover.search.cascade import Limit
from graphmover.search.selection import nearest_in_rows
from graphmover.transport.cpu.engine import kernels

EMBEDDINGS: dict[str, dict[str, Any] | None] = {
    "default": None,
    "depths": dict(wl_iterations=2, wl_depths="all"),
    "paper": dict(),
    "structure": dict(
        node_embedding="structure", node_mass="equal", smoothing=2, use_node_labels=False
    ),
}

BLOCK = 50


def embedding_named(name: str) -> gm.RandomGraphEmbedding | None:
    """Return what NearestGraphs gets as its embedding; None is its own choice."""
    settings = EMBEDDINGS[name]
    return None if settings is None else gm.RandomGraphEmbedding(64, random_state=0, **settings)


def molecules() -> gm.GraphBatch:
    parts = [tu_molecules()]
    try:
        from rdkit import RDConfig
    except ImportError:
        print("without RDKit's NCI file: RDKit is not installed")
    else:
        file = Path(RDConfig.RDDataDir) / "NCI" / "first_5K.smi"
        if file.exists():
            batch = gm.read_graphs(file, errors="skip", skipped=[]).graphs
            parts.append(plain(batch, batch.node_labels))
        else:
            print("without RDKit's NCI file: the wheel does not hold it")
    return gm.GraphBatch.concatenate(parts)


def measured(function, *arguments, **options):
    start = time.process_time()
    result = function(*arguments, **options)
    return result, time.process_time() - start


def brute_force(graphs, recipe, near, n_neighbors):
    """Embed the queries, solve all pairs, with the library prepared once, and take the nearest."""
    backend = BACKENDS["cpu"]
    prepared = near._library.prepared_for(backend).graphs
    every = distances_between(backend, embed_batch(graphs, recipe), prepared, near.n_samples_fit_)
    limit = Limit(n_neighbors, rounding=near._library.rounding)
    found = nearest_in_rows(every, limit, None)
    return np.array([one.distances for one in found]), np.array([one.indices for one in found])


def with_pot(query, near, n_neighbors):
    """POT's solver in a loop, with the relaxed problem (RWMD) to exclude candidates.

    Candidates are sorted by the distance of centroids, as the literature on the word mover's
    distance does (Kusner et al. 2015).
    """
    import ot
    from scipy.spatial.distance import cdist

    nodes, per_label = near.nodes_, near.ground_.per_label
    weights = nodes.weights
    centres = np.add.reduceat(nodes.points * weights[:, None], nodes.offsets[:-1])
    here = query.weights @ query.points
    found, n_solved = [], 0
    for graph in np.argsort(np.linalg.norm(centres - here, axis=1)):
        rows = slice(nodes.offsets[graph], nodes.offsets[graph + 1])
        costs = cdist(query.points, nodes.points[rows])
        costs += per_label * (query.labels[:, None] != nodes.labels[None, rows]).sum(axis=2)
        a, b = query.weights, weights[rows]
        if len(found) >= n_neighbors:
            relaxed = max(a @ costs.min(axis=1), b @ costs.min(axis=0))
            if relaxed > found[n_neighbors - 1]:
                continue
        n_solved += 1
        found = sorted([*found, ot.emd2(a, b / b.sum() * a.sum(), costs)])[:n_neighbors]
    return found, n_solved


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graphs_of", help='"molecules", "copies", or the name of a TU set')
    parser.add_argument("--embedding", choices=EMBEDDINGS, default="depths")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--neighbors", type=int, default=10)
    parser.add_argument("--graphs", type=int, default=100_000, help='how many "copies"')
    parser.add_argument("--no-brute-force", action="store_true")
    parser.add_argument("--peer", action="store_true", help="POT beside it (depths alone)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    if options.graphs_of == "copies":
        graphs = perturbed_copies(molecules(), options.graphs)
    elif options.graphs_of == "molecules":
        graphs = molecules()
    else:
        graphs = gm.load_dataset(options.graphs_of).graphs
        graphs = plain(graphs, graphs.node_labels)
    graphs = graphs[rng.permutation(len(graphs))]
    n_queries = min(options.queries, len(graphs) // 5)
    queries, library = graphs[:n_queries], graphs[n_queries:]
    embedding = embedding_named(options.embedding)
    for _, load in kernels():  # what is compiled in between would count as the time of a search
        load()
    settings = {"embedding": embedding, "random_state": 0}
    gm.NearestGraphs(5, **settings).fit(library[:300]).kneighbors(queries[:20])
    near = gm.NearestGraphs(options.neighbors, **settings)
    _, seconds = measured(near.fit, library)
    print(
        f"{options.graphs_of}, {options.embedding}: {len(library)} graphs of "
        f"{library.n_nodes / len(library):.0f} nodes, fitted in {seconds:.1f} s", flush=True,
    )  # fmt: skip
    _, seconds = measured(near.kneighbors, queries[:1])
    print(f"prepared in {seconds:.1f} s", flush=True)
    recipe = near.embedding_._to_random_graphs.recipe
    totals = dict.fromkeys(("search", "brute", "peer", "solved", "pairs", "peer solved"), 0.0)
    same = True
    for start in range(0, n_queries, BLOCK):
        block = queries[start : start + BLOCK]
        (distances, indices), seconds = measured(near.kneighbors, block)
        totals["search"] += seconds
        totals["solved"] += near.n_solved_
        totals["pairs"] += near.n_pairs_
        if not options.no_brute_force:
            (expected, order), seconds = measured(
                brute_force, block, recipe, near, options.neighbors
            )
            totals["brute"] += seconds
            same &= bool((order == indices).all() and np.allclose(expected, distances, rtol=1e-9))
        if options.peer:
            nodes = embed_batch(block, recipe)
            for query, row in zip(nodes, distances, strict=True):
                (found, n_solved), seconds = measured(with_pot, query, near, options.neighbors)
                totals["peer"] += seconds
                totals["peer solved"] += n_solved
                assert np.allclose(found, row, rtol=1e-6)
        done = start + len(block)
        share, each = totals["solved"] / totals["pairs"], 1e3 / done
        line = f"{done} queries: {100 * share:.2f} % solved, {totals['search'] * each:.2f} ms each"
        if totals["brute"]:
            line += (
                f"; all pairs {totals['brute'] * each:.2f} ms each, "
                f"{totals['brute'] / totals['search']:.1f} times as long, "
                f"{'identical' if same else 'DIFFERENT'}"
            )
        if options.peer:
            line += (
                f"; POT with RWMD {totals['peer'] * each:.0f} ms each, "
                f"{100 * totals['peer solved'] / totals['pairs']:.1f} % solved, "
                f"{totals['peer'] / totals['search']:.0f} times as long"
            )
        print(line, flush=True)


if __name__ == "__main__":
    main()
