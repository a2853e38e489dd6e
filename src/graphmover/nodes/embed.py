"""Algorithm 1, lines 1-2: a graph becomes a weighted set of points.

A node's point is, in the paper, its row in the absolute values of the d eigenvectors of the
normalised Laplacian with the smallest eigenvalues (`laplacian/`); `registry.py` lists the other
methods, `blocks.py` puts several side by side, `smoothing.py` averages over neighbours. Its
mass is its degree, or the same for all nodes (`masses.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.checks import require_integer
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.interop import as_graph_batch
from graphmover.nodes.attributes_as_labels import ReadAsLabels
from graphmover.nodes.blocks import composed_points
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.nodes.labels import wl_labels
from graphmover.nodes.masses import node_degrees, node_masses
from graphmover.nodes.recipe import NodeRecipe
from graphmover.nodes.registry import Work
from graphmover.nodes.smoothing import smoothed
from graphmover.parameters import require_allowed

if TYPE_CHECKING:
    from graphmover.nodes.registry import NodeEmbedding

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def embed_nodes(
    graphs: Any,
    n_dimensions: int = 4,
    *,
    node_embedding: NodeEmbedding = "laplacian",
    node_mass: Literal["degree", "equal"] = "degree",
    use_node_labels: bool | Literal["auto"] = "auto",
    wl_iterations: int = 0,
    wl_depths: Literal["last", "all"] = "last",
    use_edge_labels: bool | Literal["auto"] = False,
    attributes_as_labels: Literal["none", "nodes", "edges", "both"] = "none",
    smoothing: int = 0,
    n_jobs: int | None = None,
    progress: str | None = None,
    first_index: int = 0,
) -> NodeEmbeddings:
    """Embed the nodes of every graph: a point, a mass and perhaps a label each.

    Parameters
    ----------
    graphs : GraphBatch or anything `as_graph_batch` takes
    n_dimensions : int
        The paper's d: the number of eigenvectors, or of random-walk steps. A graph with fewer
        nodes than eigenvectors has zeros in the coordinates it lacks.
    node_embedding : str, list of str and (str, float) pairs, callable or None
        The node embedding method. None: no coordinates, labels alone. "laplacian": the absolute
        values of the normalised Laplacian's eigenvectors with the smallest eigenvalues, as in the
        paper.
        "return-probability": the probabilities that a random walk is back after 1 to d steps.
        "degree": log(1 + degree) alone, one dimension. "attributes": the node attributes.
        "ranked-attributes": the same, but columns with heavy tails (a kurtosis above 4) by the
        normal scores of their ranks. "structure": log(1 + degree), the local clustering
        coefficient and log(1 + number of triangles). Columns of these three have mean 0 and
        standard deviation 1 over the nodes of all graphs given.
        "labels": a column per node label, 1 or 0.
        "edges": the mean over a node's edges of their labels, a column each, and of their
        attributes, also with mean 0 and standard deviation 1.
        A list puts the columns of several side by side, each multiplied by its weight:
        ``["attributes", ("labels", 4)]``, or as text ``"attributes,labels:4"``.
        A callable takes a `GraphBatch` and returns a list of arrays of real numbers, one row
        per node; it may be given the graphs in parts, so each graph's array must not depend on
        the others.
    node_mass : {"degree", "equal"}
        "degree": the sum of a node's edge weights, as in the paper. "equal": 1.
    use_node_labels : bool or "auto"
        Whether labels are carried along; "auto": if the graphs have them, and the points are
        not made of "attributes", "labels", "edges" or "structure".
    wl_iterations : int
        Weisfeiler-Lehman iterations on the labels. If labels are not used, or there are
        none, more than 0 iterations refine one common label: structure alone.
    wl_depths : {"last", "all"}
        "last": the labels after all iterations. "all": a column of labels for each number of
        iterations from 0 to ``wl_iterations``.
    use_edge_labels : bool or "auto"
        Whether edge labels enter the iterations; "auto": if the graphs have them.
    attributes_as_labels : {"none", "nodes", "edges", "both"}
        Whose attributes are read as labels, in place of any labels: equal vectors become equal
        labels.
    smoothing : int
        How many times points are averaged with their neighbours':
        x <- (x + weighted mean of the neighbours' x) / 2. All depths are put side by side and
        divided by sqrt(smoothing + 1).
    n_jobs : int or None
        Threads; None is 1, -1 is all cores. The result does not depend on it.
    progress : str or None
        The title of a progress bar on standard error; None shows none. With one, solvers of
        graphs of 20,000 nodes and more report their progress.
    first_index : int
        The number of the first graph, in error messages.

    Returns
    -------
    NodeEmbeddings
        With masses by degree isolated nodes have mass 0, unless the graph has no edges at
        all: then all its nodes have the same mass.

    Raises
    ------
    numpy.linalg.LinAlgError
        The eigenvectors of a graph, which the message names, were not found: they are never
        returned with larger residuals than stated in docs/node_embedding.md.

    Examples
    --------
    >>> import graphmover as gm
    >>> triangle = gm.Graph(3, [(0, 1), (1, 2), (2, 0)])
    >>> gm.embed_nodes(triangle, n_dimensions=2).points.round(3)
    array([[0.577, 0.577],
           [0.577, 0.577],
           [0.577, 0.577]])
    """
    require_integer("n_dimensions", n_dimensions, least=1)
    require_integer("wl_iterations", wl_iterations, least=0)
    require_allowed("use_node_labels", use_node_labels)
    require_allowed("node_embedding", node_embedding)
    require_allowed("node_mass", node_mass)
    require_allowed("wl_depths", wl_depths)
    require_allowed("use_edge_labels", use_edge_labels)
    require_allowed("attributes_as_labels", attributes_as_labels)
    require_allowed("smoothing", smoothing)
    recipe = NodeRecipe(
        n_dimensions,
        node_embedding,
        node_mass,
        use_node_labels,
        wl_iterations,
        wl_depths=wl_depths,
        use_edge_labels=use_edge_labels,
        smoothing=int(smoothing),
        read=ReadAsLabels.of_choice(attributes_as_labels),
    )
    batch = as_graph_batch(graphs)
    recipe = recipe.fitted_to(batch, n_jobs)
    return embed_batch(batch, recipe, n_jobs=n_jobs, progress=progress, first_index=first_index)


def embed_batch(
    batch: GraphBatch,
    recipe: NodeRecipe,
    *,
    n_jobs: int | None = None,
    progress: str | None = None,
    first_index: int = 0,
) -> NodeEmbeddings:
    """Embed the nodes of a batch by a recipe, on the CPU."""
    points, masses, labels = embedded_arrays(
        batch, recipe, node_points, n_jobs=n_jobs, progress=progress, first_index=first_index
    )
    return NodeEmbeddings._trusted(points, masses, batch.offsets, labels).divided_by(recipe.scale)


def embedded_arrays(
    batch: GraphBatch,
    recipe: NodeRecipe,
    points: Callable[[Work, NodeRecipe], Floats],
    *,
    n_jobs: int | None = None,
    progress: str | None = None,
    first_index: int = 0,
) -> tuple[Floats, Ints, Ints | None]:
    """Return the points, masses and labels of all nodes, before points are divided by the scale.

    ``points`` computes the points, on the CPU as `node_points` does, or on a GPU; masses and
    labels are on the host.
    """
    batch = recipe.read.of(batch, first_index)
    labels = node_codes(batch, recipe)
    degrees = node_degrees(batch, first_index)
    work = Work(batch, degrees, recipe.n_dimensions, n_jobs, progress, first_index)
    return points(work, recipe), node_masses(batch, degrees, recipe.node_mass), labels


def node_codes(batch: GraphBatch, recipe: NodeRecipe) -> Ints | None:
    """Return the refined labels of all nodes as codes, or None if there are none."""
    has_labels = batch.node_labels is not None
    wanted = recipe.use_node_labels
    wanted = has_labels and recipe.takes_labels if isinstance(wanted, str) else bool(wanted)
    if wanted and not has_labels and batch.n_nodes:
        raise ValueError("use_node_labels=True, but not all graphs have node labels")
    if not wanted:
        if not recipe.wl_iterations:
            if recipe.node_embedding is None and batch.n_nodes:
                raise ValueError(
                    "node_embedding=None compares labels alone, but not all graphs have node "
                    "labels: give labels, or wl_iterations of at least 1 for structure"
                )
            return None
        batch = GraphBatch(
            batch.offsets, batch.indptr, batch.indices, edge_labels=batch.edge_labels
        )
    along = recipe.use_edge_labels
    along = batch.edge_labels is not None if isinstance(along, str) else bool(along)
    depths: Any = recipe.wl_depths
    return wl_labels(batch, recipe.wl_iterations, depths=depths, use_edge_labels=along)


def node_points(work: Work, recipe: NodeRecipe) -> Floats:
    """Return the points of all nodes, graph after graph, without the recipe's scale."""
    return smoothed(work, _own_points(work, recipe), recipe.smoothing)


def _own_points(work: Work, recipe: NodeRecipe) -> Floats:
    """Return the points before they are averaged with their neighbours'."""
    function = recipe.node_embedding
    if function is None:
        return np.zeros((work.batch.n_nodes, 0))
    if callable(function):
        return _checked_points(function(work.batch), work.batch, work.first_index)
    if recipe.method is not None:
        return recipe.method.points(work)
    assert recipe.blocks is not None
    return composed_points(work, recipe.blocks)


def _checked_points(parts: object, batch: GraphBatch, first_index: int) -> Floats:
    """Check and concatenate what a user's own node embedding returned."""
    if not isinstance(parts, list | tuple):
        raise TypeError(
            f"node_embedding must return a list of arrays, one per graph, got "
            f"{type(parts).__name__}"
        )
    if len(parts) != len(batch):
        raise ValueError(f"node_embedding returned {len(parts)} arrays for {len(batch)} graphs")
    tables = []
    width = None
    for index, (part, n_nodes) in enumerate(zip(parts, batch.node_counts.tolist(), strict=True)):
        name = f"graph {first_index + index}: node_embedding returned"
        table = np.asarray(part)
        if table.dtype.kind not in "biuf":
            raise TypeError(f"{name} an array of {table.dtype}, expected real numbers")
        width = table.shape[1] if width is None and table.ndim == 2 else width
        if table.shape != (n_nodes, width) or not width:
            expected = f"({n_nodes}, {'dimensions' if width is None else width})"
            raise ValueError(f"{name} an array of the shape {table.shape}, expected {expected}")
        large = ~(np.abs(table.astype(np.float64)) <= 1e150)
        if large.any():
            raise ValueError(
                f"{name} the value {table[large][0]}, expected finite numbers of at most 1e150"
            )
        tables.append(table.astype(np.float64))
    return np.concatenate(tables)
