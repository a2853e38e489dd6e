"""The paper, written as plainly as possible: what every engine is compared with.

Nothing here is fast, shares code with the library, or is clever. Distances come from a
linear-programming solver.
"""

import math

import numpy as np
from scipy.optimize import linprog


def adjacency(graph):
    """The matrix A of a graphmover.Graph."""
    matrix = np.zeros((graph.n_nodes, graph.n_nodes))
    for position, (u, v) in enumerate(graph.edges):
        weight = 1.0 if graph.edge_weights is None else graph.edge_weights[position]
        matrix[u, v] = matrix[v, u] = weight
    return matrix


def node_weights(graph):
    """Algorithm 1, line 1: degree over the sum of degrees; equal without any edge."""
    degrees = adjacency(graph).sum(axis=1)
    if degrees.sum() == 0:
        return np.full(graph.n_nodes, 1 / max(graph.n_nodes, 1))
    return degrees / degrees.sum()


def node_points(graph, n_dimensions):
    """Algorithm 1, line 2, with sqrt(diag(P) / m) for an eigenspace of dimension m."""
    a = adjacency(graph)
    degrees = a.sum(axis=1)
    laplacian = np.eye(graph.n_nodes)
    for u in range(graph.n_nodes):
        for v in range(graph.n_nodes):
            if a[u, v] > 0:
                laplacian[u, v] -= a[u, v] / math.sqrt(degrees[u] * degrees[v])
    points = np.zeros((graph.n_nodes, n_dimensions))
    if graph.n_nodes == 0:
        return points
    values, vectors = np.linalg.eigh(laplacian)
    for column in range(min(n_dimensions, graph.n_nodes)):
        first = last = column
        while first > 0 and values[first] - values[first - 1] < 1e-7:
            first -= 1
        while last + 1 < len(values) and values[last + 1] - values[last] < 1e-7:
            last += 1
        basis = vectors[:, first : last + 1]
        projector = basis @ basis.T
        points[:, column] = np.sqrt(np.diag(projector) / basis.shape[1])
    return points


def adjacency_points(graph, n_dimensions, *, scaled):
    """Eigenvectors of A by |eigenvalue|, in each eigenspace the roots of mean squares."""
    values, vectors = np.linalg.eigh(adjacency(graph))
    columns = []
    for k, value in enumerate(values):
        same = np.abs(values - value) < 1e-6
        column = np.sqrt((vectors[:, same] ** 2).mean(axis=1))
        length = math.sqrt(abs(value)) if scaled else 1.0
        columns.append((-round(abs(value), 6), -round(value, 6), k, length * column))
    points = np.zeros((len(values), n_dimensions))
    for k, (*_, column) in enumerate(sorted(columns, key=lambda entry: entry[:3])[:n_dimensions]):
        points[:, k] = column
    return points


def ground_distance(point, other, label=None, other_label=None):
    """Euclidean; at least sqrt(d) where labels differ."""
    distance = math.sqrt(sum((a - b) ** 2 for a, b in zip(point, other, strict=True)))
    return distance if label == other_label else max(distance, math.sqrt(len(point)))


def labelled_ground_distance(point, other, labels, other_labels, floor, per_label):
    """The general rule, for any number of labels of each node."""
    distance = math.sqrt(sum((a - b) ** 2 for a, b in zip(point, other, strict=True)))
    differing = sum(a != b for a, b in zip(labels, other_labels, strict=True))
    return (max(distance, floor) if differing else distance) + per_label * differing


def transport_cost(weights, other_weights, costs):
    """Equation (1) as a linear programme."""
    n, m = costs.shape
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    scale = max(costs.max(), 1e-300)
    solution = linprog(
        costs.ravel() / scale,
        A_eq=np.vstack([rows, columns]),
        b_eq=np.concatenate([weights, other_weights]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert solution.status == 0, solution.message
    return solution.fun * scale


def labelled_costs(x, y, ground):
    """The ground distances between all nodes of two graphs, by label columns."""
    floor, per_label = ground[:2]
    x_columns, y_columns = (
        [()] * len(s.points) if s.labels is None else s.labels.reshape(len(s.points), -1)
        for s in (x, y)
    )
    return np.array(
        [
            [
                labelled_ground_distance(p, q, a, b, floor, per_label)
                for q, b in zip(y.points, y_columns, strict=True)
            ]
            for p, a in zip(x.points, x_columns, strict=True)
        ]
    )


def partial_distance(x, y, ground):
    """Match as much mass of y with mass of x as there is; the rest of y costs ``unmatched``."""
    costs = labelled_costs(x, y, ground)
    n, m = costs.shape
    matched = min(x.masses.sum(), y.masses.sum())
    solution = linprog(
        costs.ravel(),
        A_ub=np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))]),
        b_ub=np.concatenate([x.masses, y.masses]),
        A_eq=np.ones((1, n * m)),
        b_eq=[matched],
        method="highs",
    )
    assert solution.status == 0, solution.message
    rest = y.masses.sum() - matched
    return (solution.fun + rest * ground.unmatched) / y.masses.sum()


def earth_movers_distance(x, y, ground=None):
    """Between two NodeEmbeddings of one graph each; with a ground distance, by label columns."""
    if ground is not None:
        costs = labelled_costs(x, y, ground)
        return transport_cost(x.masses / x.masses.sum(), y.masses / y.masses.sum(), costs)
    x_labels = [None] * len(x.points) if x.labels is None else x.labels
    y_labels = [None] * len(y.points) if y.labels is None else y.labels
    costs = np.array(
        [
            [ground_distance(p, q, a, b) for q, b in zip(y.points, y_labels, strict=True)]
            for p, a in zip(x.points, x_labels, strict=True)
        ]
    )
    return transport_cost(x.masses / x.masses.sum(), y.masses / y.masses.sum(), costs)


def partial_tree_distance(x, y):
    """Match mass of y with mass of x; a further source of cost 1 takes what finds none."""
    x_columns, y_columns = (s.labels.reshape(len(s.points), -1) for s in (x, y))
    costs = np.array([[np.mean(a != b) for b in y_columns] for a in x_columns])
    costs = np.vstack([costs, np.ones(len(y.points))])
    n, m = costs.shape
    solution = linprog(
        costs.ravel(),
        A_ub=np.kron(np.eye(n), np.ones(m))[:-1],
        b_ub=x.masses,
        A_eq=np.kron(np.ones(n), np.eye(m)),
        b_eq=y.masses,
        method="highs",
    )
    assert solution.status == 0, solution.message
    return solution.fun / y.masses.sum()


def wl_partition(graph, labels, iterations, edge_labels=None):
    """Weisfeiler-Lehman with nested tuples in place of codes.

    ``edge_labels`` gives a label for each pair (u, v), as seen from u.
    """
    neighbours = [[] for _ in range(graph.n_nodes)]
    for u, v in graph.edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    for _ in range(iterations):
        labels = [
            (
                labels[v],
                tuple(
                    sorted(
                        labels[w] if edge_labels is None else (edge_labels[v, w], labels[w])
                        for w in neighbours[v]
                    )
                ),
            )
            for v in range(graph.n_nodes)
        ]
    return labels
