"""Nearest graphs in the closed form: rare labels first, so that most graphs are never touched.

The distance is 1 minus what two graphs have in common, the mean over depths of the overlaps of
their histograms. The labels of a query are looked up in the index from the rarest to the most
common, as engines for text do (MaxScore; Turtle and Flood 1995). While a share R of the query's
mass is left, a graph with an overlap of c so far has one of at most c + R, so graphs that were not
met yet are at least 1 - R away. As soon as k graphs are known to be nearer, the common labels,
whose lists are long, need not be looked up. Distances of candidates are summed as in `cpu.py`, in
the same order, to the same bit.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from graphmover._utils.compiling import notify_if_compiling
from graphmover._utils.jit import JIT, JIT_NO_ALLOCATION, njit
from graphmover.transport.tree.histograms import Histograms, LabelIndex

#: The share of a query's mass that is looked up before the first distances are computed.
_FIRST_SHARE = 0.25

#: The distance of one pair takes as long as this many entries of lists.
_PAIR = 25

#: Distances that are computed before the candidates left are compared with them again.
_AT_A_TIME = 32

#: Bounds are compared with a slack: rounding never excludes a graph.
_SLACK = 1e-9

#: If more than this share of all graphs are candidates, it is faster to compute all distances.
_MOST_CANDIDATES = 0.15

#: An entry of a row that holds the masses of all graphs takes this share of the time of a list's.
_DENSE_ENTRY = 0.25

#: And one that the search reads, as many times as long: it keeps track of the graphs that it meets.
_SCATTERED = 3.0

#: Whether the index pays is found out with so many of its graphs and neighbours of each.
_SAMPLE = 32
_SAMPLE_NEIGHBORS = 10

Lists = namedtuple(
    "Lists",
    [
        "n_depths",  # the number of label columns
        "totals",  # (graphs,) the mass of a graph
        "offsets",  # (labels + 1,) the graphs with label l are offsets[l] to offsets[l + 1]
        "graphs",  # (entries,) these graphs
        "shares",  # (entries,) the share of their mass, of all depths, with this label
        "starts",  # (graphs + 1,) the labels of graph g are starts[g] to starts[g + 1]
        "labels",  # (entries,) these labels, increasing
        "amounts",  # (entries,) the graph's masses with them
    ],
)

Wanted = namedtuple(
    "Wanted",
    [
        "labels",  # (entries,) of the query
        "masses",  # (entries,) its masses with them
        "total",  # all its mass
        "n_neighbors",  # how many are wanted; 0: all within the radius
        "radius",
        "excluded",  # a graph that is no neighbour; -1: none
    ],
)

#: Tables that searches one after another share: zeros in between.
Workspace = namedtuple(
    "Workspace",
    [
        "overlaps",  # (graphs,) the share of the mass of all depths found in common
        "masses",  # (labels,) the query's mass with each label
        "touched",  # (graphs,) those with an overlap
        "found",  # (graphs,) those whose distances were computed
        "distances",  # (graphs,) these distances
        "work",  # (1,) entries of lists that were read since, or what takes as long
    ],
)


def lists_of(index: LabelIndex, of_graphs: Histograms) -> Lists:
    """Return an index and the histograms of the same graphs as the kernel takes them."""
    offsets, labels, amounts, _ = of_graphs
    shares = index.masses / (index.n_depths * index.totals[index.graphs])
    lists = (index.totals, index.offsets, index.graphs, shares)
    return Lists(index.n_depths, *lists, offsets, labels, amounts)


def workspace_for(lists: Lists) -> Workspace:
    """Return tables for searches one after another."""
    n = len(lists.totals)
    touched, found = np.empty((2, n + 1), np.int64)
    return Workspace(
        np.zeros(n), np.zeros(len(lists.offsets) - 1), touched, found, np.empty(n), np.zeros(1)
    )


class Found(NamedTuple):
    """The neighbours of several graphs, nearest first, ties by index."""

    starts: Any  # (queries + 1,) those of query q are starts[q] to starts[q + 1]
    indices: Any  # (neighbours,)
    distances: Any  # (neighbours,)
    n_computed: Any  # (queries,) distances that were computed; -1: bounds exclude too few graphs


def nearest(
    x: Histograms,
    lists: Lists,
    n_neighbors: int,
    radius: float,
    excluded: Any,
    workspace: Workspace,
) -> Found:
    """Return the neighbours of all graphs of x, except where it is faster to compute all distances.

    ``n_neighbors`` 0 means all within the radius. ``excluded`` has a graph for each of x that is
    not its neighbour, or -1.
    """
    arguments = (tuple(x), lists, n_neighbors, float(radius), excluded, workspace)
    if getattr(_nearest, "signatures", False):
        return Found(*_nearest(*arguments))
    with notify_if_compiling(_nearest, "the search by labels"):  # not loaded yet
        return Found(*_nearest(*arguments))


def index_pays(index: LabelIndex, of_graphs: Histograms, lists: Lists) -> bool:
    """Whether a search reads less than computing all distances does, for some of the graphs.

    It counts what is read, and takes no time, so that the answer is always the same.
    """
    n_graphs = len(lists.totals)
    chosen = np.unique(np.linspace(0, n_graphs - 1, min(_SAMPLE, n_graphs)).astype(np.int64))
    lengths = np.where(index.row_of < 0, np.diff(lists.offsets), _DENSE_ENTRY * n_graphs)
    with_search = all_distances = 0.0
    space = workspace_for(lists)
    for graph in chosen:
        entries = slice(of_graphs.offsets[graph], of_graphs.offsets[graph + 1])
        one = Histograms(
            np.array([0, entries.stop - entries.start]),
            of_graphs.ids[entries],
            of_graphs.masses[entries],
            of_graphs.totals[graph : graph + 1],
        )
        space.work[0] = 0.0
        found = nearest(one, lists, _SAMPLE_NEIGHBORS, np.inf, np.array([graph]), space)
        every = 2 * n_graphs + lengths[one.ids].sum()  # with the choice of the nearest
        all_distances += every
        with_search += _SCATTERED * space.work[0] + (every if found.n_computed[0] < 0 else 0.0)
    return with_search < all_distances


@njit(**JIT)
def _nearest(x, lists, k, radius, excluded, space):  # type: ignore[no-untyped-def]
    offsets, labels, masses, totals = x
    n_queries = len(totals)
    starts, n_computed = np.zeros(n_queries + 1, np.int64), np.full(n_queries, -1)
    indices, distances = np.empty(n_queries * k, np.int64), np.empty(n_queries * k)
    for query in range(n_queries):
        entries = slice(offsets[query], offsets[query + 1])
        wanted = Wanted(labels[entries], masses[entries], totals[query], k, radius, excluded[query])
        start = starts[query]
        starts[query + 1] = start
        if totals[query] == 0:
            continue
        n_found = _candidates(lists, wanted, space)
        n_computed[query] = n_found
        if n_found <= 0:
            continue
        order = _order(space.distances[:n_found], space.found[:n_found], k, radius)
        stop = start + len(order)
        if stop > len(indices):
            indices = _with_room(indices, 2 * stop)
            distances = _with_room(distances, 2 * stop)
        for place in range(len(order)):
            indices[start + place] = space.found[order[place]]
            distances[start + place] = space.distances[order[place]]
        starts[query + 1] = stop
    return starts, indices, distances, n_computed


@njit(**JIT)
def _order(distances, indices, k, radius):  # type: ignore[no-untyped-def]
    """Return the places of the k nearest, or of all within the radius, nearest first."""
    by_index = np.argsort(indices)
    order = by_index[np.argsort(distances[by_index], kind="mergesort")]
    return order[:k] if k else order[: (distances <= radius).sum()]


@njit(**JIT)
def _with_room(array, size):  # type: ignore[no-untyped-def]
    larger = np.empty(size, array.dtype)
    larger[: len(array)] = array
    return larger


@njit(**JIT)
def _candidates(lists, wanted, space):  # type: ignore[no-untyped-def]
    """Return how many distances were computed, or -1 if too many graphs are candidates."""
    for entry in range(len(wanted.labels)):
        space.masses[wanted.labels[entry]] = wanted.masses[entry]
    n_touched, n_found = _search(lists, wanted, space)
    for t in range(n_touched):
        space.overlaps[space.touched[t]] = 0.0
    for entry in range(len(wanted.labels)):
        space.masses[wanted.labels[entry]] = 0.0
    return n_found


@njit(**JIT)
def _search(lists, wanted, space):  # type: ignore[no-untyped-def]
    labels, k = wanted.labels, wanted.n_neighbors
    lengths = lists.offsets[labels + 1] - lists.offsets[labels]
    order = np.argsort(lengths)
    scale = 1 / (lists.n_depths * wanted.total)
    left = wanted.masses.sum() * scale  # of labels that were not looked up
    first = left - _FIRST_SHARE
    reach = np.inf if k else wanted.radius * (1 + _SLACK)
    n_touched, n_found, since_count = 0, 0, 0
    for place in range(len(order) + 1):
        if k and n_found == 0 and left <= first and n_touched > 2 * k:
            n_found = _compute_best(lists, wanted, space, n_touched, 2 * k)
            reach = np.partition(space.distances[:n_found], k - 1)[k - 1] * (1 + _SLACK)
        least = 1 - reach - left - _SLACK  # a graph with less in common so far is too far
        is_last = place == len(order)
        if least > 0 and (is_last or since_count >= n_touched):
            n_candidates = _count(space, n_touched, least)
            since_count = 0
            if is_last or n_candidates * _PAIR <= n_touched + lengths[order[place]]:
                if n_candidates > max(_MOST_CANDIDATES * len(lists.totals), 4 * k):
                    break
                n_found = _compute_rest(lists, wanted, space, n_touched, n_found, left, reach)
                return n_touched, n_found
        if not is_last:
            entry = order[place]
            n_touched = _look_up(lists, wanted, space, entry, n_touched)
            left -= wanted.masses[entry] * scale
            since_count += lengths[entry]
    return n_touched, -1


@njit(**JIT_NO_ALLOCATION)
def _look_up(lists, wanted, space, entry, n_touched):  # type: ignore[no-untyped-def]
    """Add what all graphs have in common with the query at one label."""
    label = wanted.labels[entry]
    space.work[0] += lists.offsets[label + 1] - lists.offsets[label]
    share = wanted.masses[entry] / (lists.n_depths * wanted.total)
    overlaps, touched, graphs, shares = space.overlaps, space.touched, lists.graphs, lists.shares
    for place in range(lists.offsets[label], lists.offsets[label + 1]):
        graph = graphs[place]
        before = overlaps[graph]
        touched[n_touched] = graph
        n_touched += before == 0
        overlaps[graph] = before + min(share, shares[place])
    return n_touched


@njit(**JIT_NO_ALLOCATION)
def _count(space, n_touched, least):  # type: ignore[no-untyped-def]
    """Count the graphs with at least this overlap."""
    count = 0
    space.work[0] += n_touched
    for t in range(n_touched):
        count += space.overlaps[space.touched[t]] >= least
    return count


@njit(**JIT)
def _compute_best(lists, wanted, space, n_touched, n_wanted):  # type: ignore[no-untyped-def]
    """Compute the distances of the graphs with the largest overlaps, and of all that tie."""
    touched = space.touched[:n_touched]
    overlaps = space.overlaps[touched]
    least = np.partition(overlaps, n_touched - n_wanted)[n_touched - n_wanted]
    n_found = 0
    for t in range(n_touched):
        if overlaps[t] >= least and n_found < n_wanted:
            n_found = _compute(lists, wanted, space, touched[t], n_found)
    return n_found


@njit(**JIT)
def _compute_rest(lists, wanted, space, n_touched, n_found, left, reach):  # type: ignore[no-untyped-def]
    """Compute the distances of candidates, those with the largest overlaps first."""
    k = wanted.n_neighbors
    for place in range(n_found):  # no distance is computed twice
        space.overlaps[space.found[place]] *= -1
    chosen = np.empty(n_touched, np.int64)
    n_chosen = 0
    for t in range(n_touched):
        graph = space.touched[t]
        if space.overlaps[graph] >= 1 - reach - left - _SLACK:
            chosen[n_chosen] = graph
            n_chosen += 1
    chosen = chosen[:n_chosen]
    chosen = chosen[np.argsort(-space.overlaps[chosen])]
    for place in range(n_chosen):
        if k and place % _AT_A_TIME == 0 and n_found >= k:
            reach = np.partition(space.distances[:n_found], k - 1)[k - 1] * (1 + _SLACK)
        if space.overlaps[chosen[place]] < 1 - reach - left - _SLACK:
            break
        n_found = _compute(lists, wanted, space, chosen[place], n_found)
    return n_found


@njit(**JIT_NO_ALLOCATION)
def _compute(lists, wanted, space, graph, n_found):  # type: ignore[no-untyped-def]
    """Compute the distance of a graph, unless it is excluded."""
    if graph == wanted.excluded:
        return n_found
    space.work[0] += _PAIR
    total, scale = lists.totals[graph], wanted.total
    common = 0.0
    for place in range(lists.starts[graph], lists.starts[graph + 1]):
        mass = space.masses[lists.labels[place]]
        if mass > 0:
            a, b = mass * total, lists.amounts[place] * scale
            common += a if a < b else b
    whole = lists.n_depths * (total * scale)
    rest = whole - common
    space.found[n_found] = graph
    space.distances[n_found] = (rest if rest > 0 else 0.0) / whole
    return n_found + 1
