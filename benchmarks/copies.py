"""Molecules of the TU sets, and any number of renumbered and perturbed copies of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import graphmover as gm
from graphmover._utils.parallel import number_of_threads
from graphmover._utils.segments import offsets_from_counts

SETS = ("AIDS", "BZR", "MUTAG", "NCI1", "NCI109", "PTC", "PTC_MR")

#: Node labels of TU sets that their files explain.
SYMBOLS = {
    "AIDS": "C O N Cl F S Se P Na I Co Br Li Si Mg Cu As B Pt Ru K Pd Au Te W Rh Zn Bi Pb Ge Sb Sn "
    "Ga Hg Ho Tl Ni Tb",
    "MUTAG": "C N O F I Cl Br",
    "PTC_MR": "In P O N Na C Cl S Br F K Cu Zn I Ba Sn Pb Ca",
}

#: Copies that are made at a time, with a seed of their own.
_AT_A_TIME = 20_000


def plain(batch: gm.GraphBatch, labels) -> gm.GraphBatch:
    """Return the same graphs with node labels alone."""
    return gm.GraphBatch(batch.offsets, batch.indptr, batch.indices, node_labels=labels)


def tu_molecules() -> gm.GraphBatch:
    """Return the sets one after another; labels of those without symbols are their own."""
    parts = []
    for name in SETS:
        batch = gm.load_dataset(name).graphs
        if name in SYMBOLS:
            symbols = np.array(SYMBOLS[name].split(), dtype=object)
            labels = symbols[batch.node_labels]
        else:
            labels = np.array([f"{name} {label}" for label in batch.node_labels], dtype=object)
        parts.append(plain(batch, labels))
    return gm.GraphBatch.concatenate(parts)


def numbered(batch: gm.GraphBatch) -> gm.GraphBatch:
    """Return the same graphs with numbers as labels, which large arrays hold better."""
    return plain(batch, np.unique(batch.node_labels.astype(str), return_inverse=True)[1])


def perturbed_copies(originals: gm.GraphBatch, n_graphs: int, seed: int = 0) -> gm.GraphBatch:
    """Return copies of graphs drawn at random, none of which has fewer than four nodes.

    The nodes of each are renumbered, an edge is removed, another pair of nodes joined, and a label
    replaced by that of another node.
    """
    originals = originals[np.flatnonzero(originals.node_counts > 3)]
    counts = [min(_AT_A_TIME, n_graphs - start) for start in range(0, n_graphs, _AT_A_TIME)]
    seeds = np.random.SeedSequence(seed).spawn(len(counts))

    def copies(count, seed):
        rng = np.random.default_rng(seed)
        return _perturbed(originals[rng.integers(len(originals), size=count)], rng)

    with ThreadPoolExecutor(number_of_threads(-1)) as pool:
        return gm.GraphBatch.concatenate(list(pool.map(copies, counts, seeds)))


def _perturbed(graphs: gm.GraphBatch, rng: np.random.Generator) -> gm.GraphBatch:
    n, counts, firsts = graphs.n_nodes, graphs.node_counts, graphs.offsets[:-1]
    graph_of_node = np.repeat(np.arange(len(graphs)), counts)

    def drawn(counts):
        return (rng.random(len(counts)) * counts).astype(np.int64)

    new = np.empty(n, np.int64)
    new[np.argsort(graph_of_node + rng.random(n))] = np.arange(n)
    labels = np.empty_like(graphs.node_labels)
    labels[new] = graphs.node_labels
    labels[firsts + drawn(counts)] = labels[firsts + drawn(counts)]

    here = np.repeat(np.arange(n), np.diff(graphs.indptr))
    there = graphs.indices + firsts[graph_of_node[here]]
    once = here < there
    edge_counts = graphs.edge_counts
    dropped = offsets_from_counts(edge_counts)[:-1] + drawn(edge_counts)
    kept = np.ones(once.sum(), bool)
    kept[dropped[edge_counts > 0]] = False
    first = drawn(counts)
    second = (first + 1 + drawn(counts - 1)) % counts
    u = np.concatenate([new[here[once][kept]], firsts + first])
    v = np.concatenate([new[there[once][kept]], firsts + second])
    entries = np.unique(np.concatenate([u << 32 | v, v << 32 | u]))
    here, there = entries >> 32, entries & (2**32 - 1)
    return gm.GraphBatch(
        graphs.offsets - graphs.offsets[0],
        offsets_from_counts(np.bincount(here, minlength=n)),
        (there - firsts[graph_of_node[here]]).astype(np.int32),
        node_labels=labels,
    )
