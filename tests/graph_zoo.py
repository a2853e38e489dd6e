"""Graphs with closed forms, symmetries and every kind of degeneracy."""

import numpy as np

import graphmover as gm


def path(n):
    return gm.Graph(n, [(i, i + 1) for i in range(n - 1)])


def cycle(n):
    return gm.Graph(n, [(i, (i + 1) % n) for i in range(n)])


def complete(n):
    return gm.Graph(n, [(i, j) for i in range(n) for j in range(i)])


def star(n):
    return gm.Graph(n, [(0, i) for i in range(1, n)])


def complete_bipartite(a, b):
    return gm.Graph(a + b, [(i, a + j) for i in range(a) for j in range(b)])


def hypercube(dimension):
    n = 2**dimension
    return gm.Graph(n, [(i, i ^ (1 << bit)) for i in range(n) for bit in range(dimension)])


def disjoint_union(*graphs):
    edges, shift = [], 0
    for graph in graphs:
        edges.extend((graph.edges + shift).tolist())
        shift += graph.n_nodes
    return gm.Graph(shift, edges)


SYMMETRIC = {
    "cycle": cycle(12),
    "hypercube": hypercube(4),
    "complete": complete(9),
    "complete bipartite": complete_bipartite(3, 5),
    "star": star(8),
    "path": path(10),
    "two triangles and a square": disjoint_union(cycle(3), cycle(3), cycle(4)),
    "isolated nodes beside a star": disjoint_union(star(5), gm.Graph(3, [])),
    "no edges": gm.Graph(4, []),
    "one node": gm.Graph(1, []),
    "one edge": path(2),
}


def renumbered(graph, rng):
    """The same graph with its nodes renumbered, its edges shuffled, turned and repeated."""
    new = rng.permutation(graph.n_nodes)
    order = rng.permutation(graph.n_edges)
    edges = new[graph.edges[order]] if graph.n_edges else graph.edges
    weights = None if graph.edge_weights is None else np.tile(graph.edge_weights[order], 2)
    old = np.argsort(new)
    return gm.Graph(
        graph.n_nodes,
        np.concatenate([edges, edges[:, ::-1]]),
        node_labels=None if graph.node_labels is None else graph.node_labels[old],
        node_attributes=None if graph.node_attributes is None else graph.node_attributes[old],
        edge_weights=weights,
        edge_labels=None if graph.edge_labels is None else np.tile(graph.edge_labels[order], 2),
    )


def random_graph(rng, n, *, labels=0, weighted=False, attributes=0, edge_labels=0):
    edges = np.argwhere(np.triu(rng.random((n, n)) < 3 / max(n, 3), 1))
    return gm.Graph(
        n,
        edges,
        node_labels=rng.integers(0, labels, n) if labels else None,
        edge_weights=rng.random(len(edges)) * 5 if weighted else None,
        node_attributes=rng.normal(size=(n, attributes)) if attributes else None,
        edge_labels=rng.integers(0, edge_labels, len(edges)) if edge_labels else None,
    )


def random_nodes(rng, n_graphs, largest, *, d=3, labels=0, grid=0, most_mass=4, scale=1.0):
    """Random embeddings; ``grid`` > 0 puts points on few places, so that costs tie."""
    sizes = rng.integers(1, largest + 1, n_graphs)
    total = sizes.sum()
    points = rng.integers(0, grid, (total, d)) / grid if grid else rng.random((total, d))
    masses = rng.integers(0, most_mass + 1, total)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    masses[offsets[:-1]] += 1  # no graph without mass
    codes = rng.integers(0, labels, total) if labels else None
    return gm.NodeEmbeddings(points * scale, masses, offsets, codes)
