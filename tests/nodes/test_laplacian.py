"""The dense and the sparse solver against each other, the oracle and closed forms."""

import math
import subprocess
import sys
from itertools import pairwise

import naive
import numpy as np
import pytest
import scipy.linalg
from graph_zoo import (
    SYMMETRIC,
    complete,
    complete_bipartite,
    cycle,
    disjoint_union,
    hypercube,
    path,
    random_graph,
    renumbered,
    star,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmover as gm
from graphmover.nodes.laplacian import smallest_eigenvectors, solve
from graphmover.nodes.laplacian.eigenspaces import eigenspace, fill_eigenspace
from graphmover.nodes.laplacian.large import chebyshev, cholesky, components, eigenpairs, subspace
from graphmover.nodes.laplacian.large.minimum_degree import minimum_degree
from graphmover.nodes.laplacian.large.operators import AdjacencyPolynomial, PseudoInverse
from graphmover.nodes.laplacian.large.quotient import QuotientGraph


def points(graph, d=6, **parameters):
    batch = gm.as_graph_batch(graph)
    degrees = np.add.reduceat(np.append(batch.adjacency_weights, 0.0), batch.indptr[:-1])
    degrees[np.diff(batch.indptr) == 0] = 0
    arrays = (batch.offsets, batch.indptr, batch.indices, batch.edge_weights, degrees, d)
    return smallest_eigenvectors(*arrays, **{"n_jobs": 1, "progress": None} | parameters)


def dense(graph, d=6):
    return points(graph, d, dense_nodes=10_000)


def sparse(graph, d=6):
    return points(graph, d, dense_nodes=0)


def around_a_hub(copies, piece):
    """Disjoint copies of a graph, the first node of each joined to one hub."""
    n = piece.n_nodes
    edges = [piece.edges + 1 + n * k for k in range(copies)]
    edges.append([(0, 1 + n * k) for k in range(copies)])
    return gm.Graph(1 + n * copies, np.concatenate(edges))


def with_equal_branches(rng, n, weighted):
    """A tree, or almost one, grown by hanging copies of one branch at random nodes."""
    parents, weights = [-1], [0.0]
    while len(parents) < n:
        # A branch is a random tree, a path, or a copy of one that has grown already.
        kind, size = rng.integers(3), int(rng.integers(1, 8))
        shape = [-1] + [i if kind else int(rng.integers(i + 1)) for i in range(size - 1)]
        edge_weights = rng.choice([0.5, 1.0, 3.3], size).tolist()
        if kind == 2 and len(parents) > 3:
            nodes = [int(rng.integers(1, len(parents)))]
            for v in range(nodes[0] + 1, len(parents)):
                if parents[v] in nodes:
                    nodes.append(v)
            if 3 * len(nodes) < n:
                shape = [-1] + [nodes.index(parents[v]) for v in nodes[1:]]
                edge_weights = [weights[v] for v in nodes]
        at = int(rng.integers(len(parents)))
        for _ in range(rng.integers(1, 6)):
            first = len(parents)
            parents += [at if p < 0 else first + p for p in shape]
            weights += edge_weights
    edges = np.column_stack([np.arange(1, len(parents)), parents[1:]])
    chords = rng.integers(0, len(parents), (rng.choice([0, 0, 3]), 2))
    chords = chords[chords[:, 0] != chords[:, 1]]
    weights = weights[1:] + [1.0] * len(chords)
    return gm.Graph(
        len(parents), np.concatenate([edges, chords]), edge_weights=weights if weighted else None
    )


def grid(width, height):
    at = np.arange(width * height).reshape(width, height)
    across = np.column_stack([at[:, :-1].ravel(), at[:, 1:].ravel()])
    down = np.column_stack([at[:-1].ravel(), at[1:].ravel()])
    return gm.Graph(width * height, np.concatenate([across, down]))


def dense_columns(graph, d, most=None):
    """The points of a connected graph by LAPACK; eigenspaces lie within ``most`` eigenvectors."""
    a = graph.to_scipy().toarray()
    scale = a.sum(axis=1) ** -0.5
    values, vectors = scipy.linalg.eigh(
        np.eye(len(a)) - scale[:, np.newaxis] * a * scale,
        subset_by_index=(0, (most or len(a)) - 1),
    )
    ends = np.flatnonzero(np.append(np.diff(values), 1) > solve.SAME_EIGENVALUE_LARGE) + 1
    columns = [
        np.sqrt((vectors[:, first:last] ** 2).mean(axis=1))
        for first, last in pairwise([0, *ends.tolist()])
        for _ in range(first, last)
    ]
    return np.column_stack(columns[:d])


def path_eigenpairs(n):
    """The normalised Laplacian of a path, in closed form: eigenvalues, eigenvectors."""
    degrees = np.full(n, 2.0)
    degrees[[0, -1]] = 1
    angles = np.pi * np.arange(n) / (n - 1)
    vectors = np.sqrt(degrees)[:, np.newaxis] * np.cos(np.outer(np.arange(n), angles))
    return 1 - np.cos(angles), vectors / np.linalg.norm(vectors, axis=0)


def product_of_paths(width, height):
    """A grid with weights such that its Laplacian is the mean of those of its two paths."""
    flat = grid(width, height)
    ends = np.stack(np.unravel_index(flat.edges, (width, height)), axis=-1)
    same_row = ends[:, 0, 0] == ends[:, 1, 0]
    weights = [
        1 + (0 < row < width - 1) if is_in_row else 1 + (0 < column < height - 1)
        for (row, column), is_in_row in zip(ends[:, 0].tolist(), same_row, strict=True)
    ]
    return gm.Graph(flat.n_nodes, flat.edges, edge_weights=weights)


def ring_of_cliques(n_cliques, size):
    edges = disjoint_union(*[complete(size)] * n_cliques).edges
    bridges = [(size * k, size * ((k + 1) % n_cliques) + 1) for k in range(n_cliques)]
    return gm.Graph(n_cliques * size, np.concatenate([edges, bridges]))


#: Spectra full of multiple and of close eigenvalues.
HARD = {
    "path": path(300),
    "cycle": cycle(301),
    "grid": grid(17, 17),
    "hypercube": hypercube(8),
    "star": star(250),
    "complete": complete(120),
    "complete bipartite": complete_bipartite(50, 60),
    "binary tree": gm.Graph(255, [(i, (i - 1) // 2) for i in range(1, 255)]),
    "1,000 triangles": disjoint_union(*[cycle(3)] * 1000),
    "mixed components": disjoint_union(path(80), path(80), star(9), cycle(5), gm.Graph(5, [])),
    "three components": disjoint_union(path(120), grid(12, 10), cycle(90)),
    "edges and isolated nodes": disjoint_union(path(2), path(3), gm.Graph(40, [])),
    "triangles at a hub": around_a_hub(150, cycle(3)),
    "paths at a hub": around_a_hub(70, path(4)),
    "short paths at a hub": around_a_hub(47, path(3)),
    "edges at a hub": around_a_hub(58, path(2)),
    "ring of cliques": ring_of_cliques(40, 7),
}


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 9), st.booleans(), st.booleans()
)
def test_both_solvers_equal_the_oracle(seed, n, d, weighted, large):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 5 * n if large else n, weighted=weighted)
    expected = naive.node_points(graph, d) if graph.n_nodes <= 60 else dense(graph, d)
    assert dense(graph, d) == pytest.approx(expected, abs=1e-8)
    assert sparse(graph, d) == pytest.approx(expected, abs=1e-7)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 120), st.integers(1, 11), st.booleans())
def test_equal_branches_equal_the_oracle_in_any_numbering(seed, n, d, weighted):
    rng = np.random.default_rng(seed)
    graph = with_equal_branches(rng, n, weighted)
    numbering = rng.permutation(graph.n_nodes)
    other = gm.Graph(graph.n_nodes, numbering[graph.edges], edge_weights=graph.edge_weights)
    expected = naive.node_points(graph, d)
    assert sparse(graph, d) == pytest.approx(expected, abs=1e-7)
    assert sparse(other, d)[numbering] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_large_trees_with_equal_branches(seed):
    rng = np.random.default_rng(seed)
    graph = with_equal_branches(rng, 500, weighted=seed % 2 == 1)
    numbering = rng.permutation(graph.n_nodes)
    other = gm.Graph(graph.n_nodes, numbering[graph.edges], edge_weights=graph.edge_weights)
    expected = dense_columns(graph, 8)
    assert np.abs(points(graph, 8) - expected).max() < 1e-7
    assert np.abs(points(other, 8)[numbering] - expected).max() < 1e-7


def test_thousands_of_equal_paths_at_a_hub():
    """Their first eigenvalue has the multiplicity 4,999; block solvers need all its vectors."""
    legs, length = 5_000, 30
    nodes = gm.embed_nodes(around_a_hub(legs, path(length)), 6).points
    leg = np.sin(np.pi / (2 * length) * np.arange(1, length + 1))
    leg *= np.sqrt(np.append(np.full(length - 1, 2.0), 1.0) / length / legs)
    expected = np.append(0.0, np.tile(leg, legs))
    assert np.abs(nodes[:, 1:] - expected[:, np.newaxis]).max() < 1e-9


@pytest.mark.parametrize(
    "graph, n_classes",
    [
        (around_a_hub(90, path(7)), 8),
        (gm.Graph(4095, [(i, (i - 1) // 2) for i in range(1, 4095)]), 12),
        (around_a_hub(50, star(9)), 3),
        (around_a_hub(50, cycle(3)), 3),
        (path(2001), 1001),
    ],
)
def test_equal_branches_are_merged(graph, n_classes):
    batch = gm.as_graph_batch(graph)
    degrees = np.diff(batch.indptr).astype(float)
    classes = components._classes(batch.indptr, batch.indices, np.empty(0), degrees)
    assert len(classes.sizes) == n_classes
    assert np.bincount(classes.of_node).tolist() == classes.sizes.tolist()


def test_branches_of_different_weights_are_not_merged():
    graph = around_a_hub(4, path(5))
    weights = np.ones(graph.n_edges)
    weights[[4, 9]] = 2.0
    graph = gm.Graph(graph.n_nodes, graph.edges, edge_weights=weights)
    batch = gm.as_graph_batch(graph)
    arrays = (batch.indptr, batch.indices, batch.adjacency_weights)
    degrees = np.add.reduceat(batch.adjacency_weights, batch.indptr[:-1])
    different = len({tuple(weights[[*range(4 * k, 4 * k + 4), 16 + k]]) for k in range(4)})
    assert len(components._classes(*arrays, degrees).sizes) == 1 + 5 * different


@pytest.mark.slow
def test_a_tree_whose_gaps_are_near_the_rounding_errors(monkeypatch):
    """Heavy stars on a light chain: residuals of I - Q, of 5e-16, say little at gaps of 1e-9."""
    monkeypatch.setattr(eigenpairs, "filtered_subspace_iteration", None)
    rng = np.random.default_rng(0)
    m = 500
    centres = 4 * np.arange(m)
    leaves = np.column_stack([np.repeat(centres, 3), np.setdiff1d(np.arange(4 * m), centres)])
    edges = np.concatenate([leaves, np.column_stack([centres[:-1], centres[1:]])])
    weights = np.append(5e4 * (0.5 + rng.random(3 * m)), 0.5 + rng.random(m - 1))
    graph = gm.Graph(4 * m, edges, edge_weights=weights)
    numbering = rng.permutation(4 * m)
    nodes = gm.embed_nodes(graph, 6).points
    other = gm.embed_nodes(gm.Graph(4 * m, numbering[edges], edge_weights=weights), 6).points
    assert np.abs(other[numbering] - nodes).max() < 1e-10
    assert np.abs(nodes - dense_columns(graph, 6, most=20)).max() < 1e-5


@pytest.mark.parametrize("width, height", [(23, 14), (97, 41)])
def test_a_grid_in_closed_form(width, height):
    (rows, across), (columns, down) = path_eigenpairs(width), path_eigenpairs(height)
    values = (rows[:, np.newaxis] + columns) / 2
    smallest = np.argsort(values, axis=None)[:6]
    i, j = np.unravel_index(smallest, values.shape)
    expected = np.abs(across[:, np.newaxis, i] * down[np.newaxis, :, j]).reshape(-1, 6)
    graph = product_of_paths(width, height)
    assert points(graph) == pytest.approx(expected, abs=1e-8)
    assert sparse(graph) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("name", [*HARD, *SYMMETRIC])
@pytest.mark.parametrize("d", [1, 6, 11])
def test_hard_spectra_in_any_numbering(name, d):
    graph = (HARD | SYMMETRIC)[name]
    rng = np.random.default_rng(0)
    numbering = rng.permutation(graph.n_nodes)
    edges = numbering[graph.edges] if graph.n_edges else graph.edges
    other = gm.Graph(graph.n_nodes, edges)
    expected = dense(graph, d)
    assert np.linalg.norm(expected, axis=0)[: min(d, graph.n_nodes)] == pytest.approx(1)
    assert dense(other, d)[numbering] == pytest.approx(expected, abs=1e-8)
    assert sparse(graph, d) == pytest.approx(expected, abs=1e-7)
    assert sparse(other, d)[numbering] == pytest.approx(expected, abs=1e-7)


def test_closed_forms_beyond_the_dense_solver():
    n, d = 20_000, 6
    at = np.arange(n)
    ends = np.where((at == 0) | (at == n - 1), 1, 2)
    vectors = np.cos(np.outer(at, math.pi * np.arange(d) / (n - 1))) * np.sqrt(ends)[:, np.newaxis]
    expected = np.abs(vectors) / np.linalg.norm(vectors, axis=0)
    assert gm.embed_nodes(path(n), 6).points == pytest.approx(expected, abs=1e-6)
    even = np.full((n, d), n**-0.5)
    assert gm.embed_nodes(cycle(n), d - 1).points == pytest.approx(even[:, 1:], abs=1e-6)
    assert gm.embed_nodes(hypercube(11), 6).points == pytest.approx(
        np.full((2048, d), 2048**-0.5), abs=1e-6
    )


def test_a_torus_has_eigenvalues_of_multiplicity_four():
    n = 40
    at = np.arange(n * n).reshape(n, n)
    edges = [np.column_stack([at.ravel(), np.roll(at, -1, axis=k).ravel()]) for k in (0, 1)]
    torus = gm.Graph(n * n, np.concatenate(edges))
    assert gm.embed_nodes(torus, 9).points == pytest.approx(np.full((n * n, 9), 1 / n), abs=1e-7)
    assert sparse(grid(30, 20)) == pytest.approx(dense(grid(30, 20)), abs=1e-7)


def test_large_stars_and_bipartite_graphs_need_no_solver():
    n = 50_000
    nodes = gm.embed_nodes(star(n), 3).points
    assert nodes[0] == pytest.approx([0.5**0.5, 0, 0])
    assert nodes[1:, 1] == pytest.approx(np.full(n - 1, (1 / (n - 1)) ** 0.5))
    nodes = gm.embed_nodes(complete_bipartite(2, 3000), 3).points
    assert nodes[:2, 1] == pytest.approx([(0.5 / 3000) ** 0.5] * 2)


def test_each_column_of_many_components_is_the_kernel():
    graph = disjoint_union(*[cycle(3)] * 1000)
    assert gm.embed_nodes(graph, 6).points == pytest.approx(np.full((3000, 6), 3000**-0.5))
    lopsided = disjoint_union(*[star(4)] * 300)
    expected = np.tile(np.sqrt(np.array([3, 1, 1, 1]) / 6 / 300), 300)
    assert gm.embed_nodes(lopsided, 2).points[:, 1] == pytest.approx(expected)


def test_polynomials_and_the_pseudo_inverse_agree(monkeypatch):
    rng = np.random.default_rng(0)
    graph = random_graph(rng, 800)
    by_factorisation = gm.embed_nodes(graph, 6).points
    monkeypatch.setattr("graphmover.nodes.laplacian.large.operators.MAX_FILL", 0)
    assert gm.embed_nodes(graph, 6).points == pytest.approx(by_factorisation, abs=1e-7)
    cube = hypercube(10)
    assert gm.embed_nodes(cube, 6).points == pytest.approx(np.full((1024, 6), 1 / 32), abs=1e-7)


def test_eigenspaces_end_at_gaps():
    values = np.array([0.0, 0.05, 0.1, 0.3, 0.9])
    multiplicities = np.array([1, 2, 1, 4, 1])
    assert eigenspace(values, multiplicities, 0, 0.06) == (3, 4)  # a chain counts as one
    assert eigenspace(values, multiplicities, 3, 0.06) == (4, 4)
    assert eigenspace(values, multiplicities, 4, 0.06) == (5, 1)
    columns = np.zeros((3, 3))
    following = fill_eigenspace(np.array([4.0, 16.0]), 4, np.array([0, 1, 0]), 1, columns)
    assert following == 3
    assert columns.tolist() == [[0, 1, 1], [0, 2, 2], [0, 1, 1]]


@pytest.mark.parametrize("degree", [1, 2, 5, 12])
def test_filters_are_chebyshev_polynomials(degree):
    rng = np.random.default_rng(0)
    batch = gm.as_graph_batch(grid(7, 6))
    weights, degrees = np.ones(len(batch.indices)), np.diff(batch.indptr).astype(float)
    graph = QuotientGraph(
        batch.indptr, batch.indices, weights, np.sqrt(degrees), np.zeros(len(degrees))
    )
    values, vectors = np.linalg.eigh(graph.dense_laplacian())
    values, vectors = values[1:], vectors[:, 1:]
    block, cut = vectors @ rng.standard_normal((len(values), 3)), 0.4
    polynomial = AdjacencyPolynomial(graph)
    pseudo_inverse = PseudoInverse.within_budget(graph)
    for operator in (polynomial, pseudo_inverse):
        t = np.array([operator.chebyshev_argument(value, cut) for value in values])
        assert np.abs(t[values >= cut]).max() <= 1 + 1e-12
        growth = np.polynomial.Chebyshev.basis(degree)(t)[:, np.newaxis]
        expected = vectors @ (growth * (vectors.T @ block))
        assert operator.filtered(block, cut, degree) == pytest.approx(expected, rel=1e-9)
    half, middle = chebyshev.interval(cut)
    one, work = np.empty(len(block)), np.empty((2, len(block)))
    chebyshev.filter_vector(polynomial.matrix, half, middle, degree, block[:, 0].copy(), one, work)
    assert one == pytest.approx(polynomial.filtered(block, cut, degree)[:, 0], rel=1e-9)
    assert chebyshev.evaluate(degree, 1.5) == pytest.approx(
        np.polynomial.Chebyshev.basis(degree)(1.5)
    )
    assert chebyshev.inverse(degree, chebyshev.evaluate(degree, 1.5)) == pytest.approx(1.5)


def test_minimum_degree_orderings_are_permutations_within_their_budget():
    rng = np.random.default_rng(0)
    for graph in (path(50), star(30), grid(9, 8), hypercube(6), random_graph(rng, 90)):
        batch = gm.as_graph_batch(graph)
        order = minimum_degree(batch.indptr, batch.indices, 10_000)[0]
        assert sorted(order) == list(range(graph.n_nodes))
        fill = eliminated_entries(graph, order.tolist())
        assert len(minimum_degree(batch.indptr, batch.indices, 2 * fill)[0]) == graph.n_nodes
        assert len(minimum_degree(batch.indptr, batch.indices, fill - 1)[0]) == 0
    assert eliminated_entries(path(50), list(range(50))) == 49


@pytest.mark.parametrize("name", ["path", "grid", "hypercube", "binary tree", "ring of cliques"])
def test_factors_solve_linear_systems(name):
    graph = HARD[name]
    batch = gm.as_graph_batch(graph)
    order, starts, entries = minimum_degree(batch.indptr, batch.indices, 100_000)
    weights = np.ones(len(batch.indices))
    factors = cholesky.factor(batch.indptr, batch.indices, weights, order, starts, entries)
    matrix = np.diag(np.diff(batch.indptr).astype(float)) - graph.to_scipy().toarray()
    scale = np.sqrt(np.diag(matrix))
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(graph.n_nodes), np.empty(graph.n_nodes)
    x -= scale * (scale @ x) / (scale @ scale)
    cholesky.solve(factors, scale, x, y, np.empty(graph.n_nodes))
    assert matrix @ (y / scale) / scale == pytest.approx(x, abs=1e-10)


def eliminated_entries(graph, order):
    """The entries of the Cholesky factor, counted by eliminating nodes one by one."""
    neighbours = {u: set() for u in range(graph.n_nodes)}
    for u, v in graph.edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    total = 0
    for u in order:
        total += len(neighbours[u])
        for v in neighbours[u]:
            neighbours[v] |= neighbours[u] - {v}
            neighbours[v].discard(u)
    return total


def test_errors_of_the_solvers_name_the_graph(monkeypatch):
    monkeypatch.setattr(eigenpairs, "MOST_PRODUCTS", 2)
    with pytest.raises(np.linalg.LinAlgError, match=r"graph 2: no eigenvectors found: the residu"):
        gm.embed_nodes([path(3), path(4), grid(30, 30)], 6)
    with pytest.raises(np.linalg.LinAlgError, match=r"graph 7: "):
        gm.embed_nodes(grid(30, 30), 6, first_index=7)
    monkeypatch.undo()
    monkeypatch.setattr(subspace, "BLOCK_ENTRIES", 1)
    with pytest.raises(np.linalg.LinAlgError, match=r"graph 0: .*more than \d+ eigenvalues near"):
        gm.embed_nodes(around_a_hub(400, cycle(5)), 6)


@pytest.mark.slow
def test_weights_of_other_graphs_change_no_bit():
    """A batch has weights for all graphs or for none: those of a graph without are 1."""
    complete = gm.Graph(60, [(i, j) for i in range(60) for j in range(i)])
    graphs = [complete, star(50), around_a_hub(400, cycle(5)), grid(20, 30), *HARD.values()]
    weighted = gm.Graph(3, [(0, 1)], edge_weights=[2.5])
    batch = gm.as_graph_batch([weighted, *graphs])
    assert batch.edge_weights is not None
    np.testing.assert_array_equal(points(batch)[3:], points(gm.as_graph_batch(graphs)))


def test_other_graphs_and_threads_change_no_bit():
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, n) for n in [*rng.integers(1, 80, 60), 300, 600, 700]]
    batch = gm.as_graph_batch([*graphs, *HARD.values()])
    alone = np.concatenate([points(graph) for graph in batch])
    assert (points(batch) == alone).all()
    assert (points(batch, n_jobs=2) == alone).all()
    backwards = gm.embed_nodes(batch[::-1], 6)
    assert all(
        (backwards[len(batch) - 1 - i].points == own.points).all()
        for i, own in enumerate(gm.embed_nodes(batch, 6))
    )


@pytest.mark.slow
def test_compiled_code_from_the_cache_finds_lapack_again():
    program = (
        "import numpy as np, graphmover as gm;"
        "from graphmover.nodes.laplacian.small import dense;"
        "g = gm.Graph(40, [(i, j) for i in range(40) for j in range(i) if (i * j + i) % 7 < 2]);"
        "x = gm.embed_nodes(g, 6).points;"
        "print(repr(x.sum()), sum(dense.embed.stats.cache_hits.values()))"
    )
    outputs = [subprocess.check_output([sys.executable, "-c", program]).split() for _ in range(2)]
    graph = gm.Graph(40, [(i, j) for i in range(40) for j in range(i) if (i * j + i) % 7 < 2])
    expected = naive.node_points(graph, 6).sum()
    for total, _ in outputs:
        assert float(total.decode().removeprefix("np.float64(").rstrip(")")) == pytest.approx(
            expected
        )
    assert int(outputs[1][1]) == 1


def test_large_graphs_report_progress(caplog, monkeypatch):
    monkeypatch.setattr(solve, "_REPORTED_NODES", 600)
    gm.embed_nodes(grid(30, 30), 6, progress="embedding nodes")
    assert "graph 0 (900 nodes): solving by sparse Cholesky factorisation" in caplog.text
    assert "times the error allowed after" in caplog.text


def test_accepted_errors_are_within_the_promise():
    """Renumbering may change 1e-6: each of two errors, residual over gap, may be half of it."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        gaps = 10.0 ** rng.uniform(np.log10(solve.SAME_EIGENVALUE_LARGE), -1, 8)
        values = np.cumsum(np.concatenate([[1e-3], gaps]))
        residuals = 10.0 ** rng.uniform(-17, -13, 9)
        count, error = subspace.pairs_up_to_a_gap(values, residuals, 5, 1e-9)
        largest = max(
            residuals[i] / min(gaps[i], gaps[i - 1] if i else np.inf) for i in range(count)
        )
        if error <= subspace.LEAST_ACCURACY:
            assert largest <= 5e-7
        else:
            assert largest > subspace.LEAST_ACCURACY or error == np.inf


@pytest.mark.slow
def test_renumbering_where_eigenvalues_almost_agree():
    n = 1500
    edges = [(i, (i + 1) % n) for i in range(n)]
    graph = gm.Graph(n, edges, edge_weights=[1.3] + [1.0] * (n - 1))
    degrees = np.array([2.3, 2.3] + [2.0] * (n - 2))
    matrix = np.eye(n)
    for (u, v), weight in zip(edges, graph.edge_weights, strict=True):
        matrix[u, v] = matrix[v, u] = -weight / np.sqrt(degrees[u] * degrees[v])
    gaps = np.diff(np.linalg.eigvalsh(matrix)[:7])
    assert (gaps > 1e-9).all()
    assert gaps.min() < 1e-8
    rng = np.random.default_rng(0)
    numbering = rng.permutation(n)
    other = gm.Graph(n, numbering[graph.edges], edge_weights=graph.edge_weights)
    ours, theirs = gm.embed_nodes(graph, 6).points, gm.embed_nodes(other, 6).points
    assert theirs[numbering] == pytest.approx(ours, abs=1e-6)


def test_renumbering_large_graphs():
    rng = np.random.default_rng(3)
    graph = random_graph(rng, 1500)
    by_row = lambda rows: rows[np.lexsort(rows.round(5).T)]  # noqa: E731
    other = renumbered(graph, rng)
    ours, theirs = gm.embed_nodes(graph, 6), gm.embed_nodes(other, 6)
    assert by_row(theirs.points) == pytest.approx(by_row(ours.points), abs=1e-6)
