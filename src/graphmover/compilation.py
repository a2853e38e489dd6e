"""Compile all kernels ahead of time, for container images and continuous integration.

Kernels other than the transport engine's are compiled by using them, on small graphs of every kind
that takes its own code path.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from graphmover._utils.jit import KERNELS
from graphmover._utils.messages import logger
from graphmover._utils.progress import progress_bar
from graphmover.backends.threads import ThreadBackend
from graphmover.datasets.numbers import read_table
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embed import embed_nodes
from graphmover.search.bounds import raise_to_bounds, sketches
from graphmover.search.cascade import Limit
from graphmover.search.selection import nearest_in_rows
from graphmover.transport.cpu import engine
from graphmover.transport.cpu.relaxed import relaxed_distances
from graphmover.transport.ground import TreeDistance, default_ground_distance
from graphmover.transport.tree.histograms import histograms, index_labels
from graphmover.transport.tree.search import lists_of, nearest, workspace_for


def compile_all(*, progress: bool = True) -> Path | None:
    """Compile all CPU kernels that are not cached yet, and return the cache folder.

    From then on, no process that uses the same cache compiles anything. The cache is the folder
    that the environment variable NUMBA_CACHE_DIR names, or else the package's own folder, or else
    the user's cache folder.

    Parameters
    ----------
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    Path or None
        The folder that holds the compiled code; None if no folder is writable.

    Examples
    --------
    >>> import graphmover as gm
    >>> folder = gm.compile_all(progress=False)
    """
    steps = list(_steps())
    with progress_bar("compiling" if progress else None, len(steps), unit="part") as bar:
        for what, load in steps:
            bar.note(what)
            load()
            bar.advance()
    folder = _cache_folder()
    if folder is not None:
        logger.info("compiled code is in %s", folder)
    return folder


def _steps() -> Iterator[tuple[str, Callable[[], object]]]:
    yield "the reader of numbers", _read_numbers
    yield "the Laplacian solver", partial(embed_nodes, _small())
    yield "the Laplacian solver for large graphs", _embed_large_graphs
    for what in ("return-probability", "structure", "edges"):
        yield f"node embedding {what}", partial(embed_nodes, _small(), node_embedding=what)
    yield "the average over neighbours", partial(embed_nodes, _small(), smoothing=1)
    yield from engine.kernels()
    yield "the closed form for labels", _compare_labels
    yield "bounds of a search", _bound_distances
    yield "the search by labels", _search_labels
    yield "the search of all pairs", _search_all_pairs


def _read_numbers() -> None:
    read_table([b"1\n"], "integer")
    read_table([b"1.5\n"], "real")


def _small() -> GraphBatch:
    edges = [[0, 1], [1, 2], [2, 0], [2, 3]]
    return GraphBatch.from_edges([4], [4], edges, node_labels=[0, 1, 0, 1], edge_labels=[0, 1] * 2)


def _embed_large_graphs() -> None:
    """Reach every solver: trees, equal branches, long and short graphs, multiple eigenvalues."""
    n = 600
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    cycle = np.concatenate([path, [[n - 1, 0]]])
    rungs = np.column_stack([np.arange(n - 20), np.arange(20, n)])
    chords = np.random.default_rng(0).integers(n, size=(4 * n, 2))
    binary_tree = np.column_stack([np.arange(1, n), (np.arange(1, n) - 1) // 2])
    lopsided = np.column_stack([np.arange(1, n), np.arange(1, n) * 2 // 3])
    ladder, pieces = np.concatenate([cycle, rungs]), path[path[:, 0] % 6 > 0]
    for edges in (path, cycle, ladder, pieces, chords, binary_tree, lopsided):
        embed_nodes(GraphBatch.from_edges([n], [len(edges)], edges))


def _compare_labels() -> None:
    backend, nodes = ThreadBackend(), embed_nodes(_small(), node_embedding=None, wl_depths="all")
    prepared = backend.prepare(nodes, TreeDistance(False))
    backend.distances(nodes, prepared, None, np.empty((1, 1)))


def _bound_distances() -> None:
    nodes, ground = embed_nodes(_small()), default_ground_distance(4)
    known = sketches(nodes, np.zeros((1, 1)))
    raise_to_bounds(known, known, ground, 1, np.zeros((1, 1)))
    side = ThreadBackend().prepare(nodes).side  # type: ignore[union-attr]
    zero = np.zeros(1, np.int64)
    relaxed_distances(side, side, zero, zero, ground, np.full(1, np.inf))


def _search_labels() -> None:
    nodes = embed_nodes(_small(), node_embedding=None, wl_depths="all")
    index = index_labels(np, nodes.labels, nodes.masses, nodes.offsets)
    found = histograms(np, index, nodes.labels, nodes.masses, nodes.offsets)
    lists = lists_of(index, found)
    nearest(found, lists, 1, np.inf, np.full(1, -1), workspace_for(lists))


def _search_all_pairs() -> None:
    nearest_in_rows(np.zeros((1, 1)), Limit(1), None)


def _cache_folder() -> Path | None:
    """Return the folder above those of all kernels that were used."""
    folders = {kernel.stats.cache_path for kernel in KERNELS if kernel.signatures} - {None}
    return Path(os.path.commonpath(folders)) if folders else None
