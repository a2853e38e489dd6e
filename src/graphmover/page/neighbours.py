"""The nearest graphs of each graph, and how they are matched."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.progress import Bar
from graphmover._utils.segments import offsets_from_counts
from graphmover.explanations.costs import KINDS, general_rule, split_costs
from graphmover.graphs.batch import GraphBatch
from graphmover.neighbors import NearestGraphs
from graphmover.transport import transport_plan

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: A node that is matched with none: it has no mass.
NONE = 255


class Neighbours(NamedTuple):
    """The k nearest graphs of each graph, by exact distance; none of graphs without nodes."""

    indices: Ints  # (graphs, k) -1: none
    distances: Floats  # (graphs, k)
    parts: Floats  # (graphs, k, kinds) the distance, split
    kinds: list[str]
    match_offsets: Ints  # (graphs * k + 1,) where the matches of a pair begin
    matches: Ints  # for each node of the neighbour: the node of the graph it has most from


def nearest(
    batch: GraphBatch,
    n_neighbors: int,
    is_drawn: NDArray[np.bool_],
    *,
    n_jobs: int | None,
    seed: int,
    device: str,
    bar: Bar,
) -> Neighbours:
    """Find the nearest graphs, and match the nodes of those that are drawn."""
    filled = np.flatnonzero(batch.node_counts)
    k = min(n_neighbors, len(filled) - 1)
    indices = np.full((len(batch), max(k, 0)), -1)
    distances, parts = np.zeros(indices.shape), np.zeros((*indices.shape, len(KINDS)))
    counts, matches = np.zeros(indices.size, np.int64), [np.zeros(0, np.int64)]
    if k < 1:
        offsets = np.zeros(indices.size + 1, np.int64)
        return Neighbours(indices, distances, parts, list(KINDS), offsets, matches[0])
    near = NearestGraphs(k, n_jobs=n_jobs, random_state=seed, device=device)
    near.fit(batch[filled])
    distances[filled], found = near.kneighbors()
    indices[filled] = filled[found]
    nodes, recipe = near.nodes_, near.embedding_._to_random_graphs.recipe
    rule = general_rule(near.ground_, nodes)
    place_of = np.full(len(batch), -1)
    place_of[filled] = np.arange(len(filled))
    seen = [False] * len(KINDS)
    for graph in filled.tolist():
        x = nodes[int(place_of[graph])]
        for place in range(k):
            other = int(indices[graph, place])
            if not (is_drawn[graph] and is_drawn[other]):
                continue
            y = nodes[int(place_of[other])]
            plan, _ = transport_plan(x, y, ground=rule)
            i, j = (ends.astype(np.int64) for ends in np.nonzero(plan))
            for part, values in split_costs(recipe, rule, x, y, (i, j)).items():
                kind = KINDS.index(part.kind)
                parts[graph, place, kind] += plan[i, j] @ values
                seen[kind] = True
            matched = plan.argmax(axis=0)
            matched[plan.sum(axis=0) == 0] = NONE
            counts[graph * k + place] = len(matched)
            matches.append(matched)
        bar.advance()
    chosen = [kind for kind, is_seen in zip(KINDS, seen, strict=True) if is_seen]
    kept = parts[:, :, np.flatnonzero(seen)]
    offsets = offsets_from_counts(counts)
    return Neighbours(indices, distances, kept, chosen, offsets, np.concatenate(matches))
