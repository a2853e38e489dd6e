"""Algorithm 1, line 2: the node embedding methods, the paper's and others, one entry each.

Nothing slow is imported before a method is used: the command line reads the names from here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from graphmover.graphs.batch import GraphBatch

    Floats = NDArray[np.float64]

    #: A name from the registry, or several, some with a weight; a user's own function; or None.
    NodeEmbedding = (
        str | Sequence[str | tuple[str, float]] | Callable[[GraphBatch], Sequence[ArrayLike]] | None
    )

#: One thread walks from about this many edges at a time.
_CHUNK_EDGES = 2**16

#: Weights beyond this would take points to where squares overflow.
_MOST_WEIGHT = 1e100


class Work(NamedTuple):
    """What a method is given."""

    batch: GraphBatch
    degrees: Floats
    n_dimensions: int
    n_jobs: int | None = None
    progress: str | None = None  # the title of a progress bar
    first_index: int = 0  # the number of the first graph, in messages
    known_labels: NDArray[np.int64] | None = None  # codes of the labels of fit, increasing
    n_columns: int | None = None  # the number of columns in fit; None: in fit itself


class Method(NamedTuple):
    """A node embedding method: one row of coordinates per node, graph after graph."""

    points: Callable[[Work], Floats]
    #: The same on a GPU, as an array there; None: points are computed on the CPU and uploaded.
    points_on_gpu: Callable[[Work], Floats] | None = None
    #: Whether all coordinates lie in [0, 1]. Others are divided by their range in the training
    #: set, so that labels weigh the same with every method.
    in_unit_cube: bool = False
    #: Whether columns describe what nodes carry or count, in units of their own. They are not
    #: divided by their range, and "auto" then leaves labels out of the ground distance.
    is_feature: bool = False
    #: Whether columns are centred and divided by their standard deviation over the training nodes.
    is_standardised: bool = False
    #: Whether columns with heavy tails are replaced by their normal scores before that.
    is_ranked: bool = False
    #: What it uses of what graphs carry beside their edges.
    uses: tuple[str, ...] = ("edge weights",)
    #: What it describes, in words, unless its name says so.
    in_words: str = ""


def _laplacian(work: Work) -> Floats:
    from graphmover.nodes.laplacian import smallest_eigenvectors

    return smallest_eigenvectors(
        work.batch.offsets,
        work.batch.indptr,
        work.batch.indices,
        work.batch.edge_weights,
        work.degrees,
        work.n_dimensions,
        n_jobs=work.n_jobs,
        progress=work.progress,
        first_index=work.first_index,
    )


def _laplacian_on_gpu(work: Work) -> Floats:
    """Use the kernels up to DENSE_NODES; meanwhile the CPU solves larger graphs."""
    import cupy
    import numpy as np

    from graphmover._utils.segments import ranges
    from graphmover.nodes.laplacian import DENSE_NODES
    from graphmover.nodes.laplacian.cuda import DeviceSolver

    batch, counts = work.batch, work.batch.node_counts

    def on_cpu(graphs: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
        nodes = ranges(batch.offsets[graphs], counts[graphs])
        some = work._replace(
            batch=batch[graphs],
            degrees=work.degrees[nodes],
            first_index=work.first_index + int(graphs[0]),
        )
        return nodes, _laplacian(some)

    solver = DeviceSolver(
        batch.offsets,
        batch.indptr,
        batch.indices,
        batch.edge_weights,
        work.degrees,
        work.n_dimensions,
        DENSE_NODES,
    )
    large = np.flatnonzero(counts > DENSE_NODES)
    # One at a time: a solver's error names the graph.
    solved = [on_cpu(graphs) for graphs in large[:, np.newaxis]]
    left = solver.finish()
    if len(left):
        solved.append(on_cpu(left))
    points: Floats = solver.points
    if solved:
        nodes = np.concatenate([nodes for nodes, _ in solved])
        points[cupy.asarray(nodes)] = cupy.asarray(np.concatenate([found for _, found in solved]))
    return points


def _return_probability(work: Work) -> Floats:
    import numpy as np

    from graphmover._utils.jit import NO_WEIGHTS
    from graphmover._utils.parallel import for_each_chunk, single_threaded_blas
    from graphmover.nodes.walks import return_probabilities

    batch = work.batch
    points = np.zeros((batch.n_nodes, work.n_dimensions))
    weights = NO_WEIGHTS if batch.edge_weights is None else batch.edge_weights

    def walk(rows: slice) -> None:
        return_probabilities(
            rows.start,
            rows.stop,
            batch.offsets,
            batch.indptr,
            batch.indices,
            weights,
            work.degrees,
            points,
        )

    sizes = batch.node_counts + batch.edge_counts + 1
    with single_threaded_blas():
        for_each_chunk(walk, sizes, most=_CHUNK_EDGES, n_jobs=work.n_jobs, progress=work.progress)
    return points


def _log_degree(work: Work) -> Floats:
    import numpy as np

    return np.log1p(work.degrees)[:, np.newaxis]


def _structure(work: Work) -> Floats:
    import numpy as np

    from graphmover._utils.parallel import for_each_chunk
    from graphmover.nodes.structure import degrees_and_triangles

    batch = work.batch
    columns = np.empty((batch.n_nodes, 3))

    def count(rows: slice) -> None:
        degrees_and_triangles(
            rows.start,
            rows.stop,
            batch.offsets,
            batch.indptr,
            batch.indices,
            work.degrees,
            columns,
        )

    sizes = batch.node_counts + batch.edge_counts + 1
    for_each_chunk(count, sizes, most=_CHUNK_EDGES, n_jobs=work.n_jobs, progress=work.progress)
    return columns


def _attributes(work: Work) -> Floats:
    from graphmover.nodes.carried import attribute_columns

    return attribute_columns(work.batch, work.first_index)


def _labels(work: Work) -> Floats:
    from graphmover.nodes.carried import label_columns

    return label_columns(work.batch, work.known_labels)


def _edges(work: Work) -> Floats:
    from graphmover.nodes.carried_by_edges import edge_columns

    assert work.known_labels is not None
    return edge_columns(
        work.batch, work.degrees, work.known_labels, work.n_columns, work.first_index
    )


_OF_ATTRIBUTES = Method(
    _attributes,
    is_feature=True,
    is_standardised=True,
    uses=("node attributes",),
    in_words="node attributes",
)

#: Every method by the name that ``node_embedding`` takes.
NODE_EMBEDDINGS: dict[str, Method] = {
    "laplacian": Method(
        _laplacian,
        _laplacian_on_gpu,
        in_unit_cube=True,
        in_words="eigenvectors of the normalised Laplacian",
    ),
    "return-probability": Method(
        _return_probability,
        in_unit_cube=True,
        in_words="return probabilities of random walks",
    ),
    "degree": Method(_log_degree, in_words="degrees"),
    "attributes": _OF_ATTRIBUTES,
    "ranked-attributes": _OF_ATTRIBUTES._replace(
        is_ranked=True, in_words="node attributes (ranks where tails are heavy)"
    ),
    "labels": Method(_labels, is_feature=True, uses=("node labels",), in_words="node labels"),
    "edges": Method(
        _edges,
        is_feature=True,
        is_standardised=True,
        uses=("edge labels", "edge attributes", "edge weights"),
        in_words="labels and attributes of edges",
    ),
    "structure": Method(
        _structure, is_feature=True, is_standardised=True, in_words="degrees, triangles"
    ),
}


#: The methods that need node attributes.
OF_ATTRIBUTES = frozenset(
    name for name, method in NODE_EMBEDDINGS.items() if "node attributes" in method.uses
)


def named_blocks(node_embedding: object) -> tuple[tuple[str, float], ...]:
    """Return the methods whose columns stand side by side, with their weights.

    Raises
    ------
    ValueError
        An entry is not the name of a method, a weight is not positive, or a name appears
        twice.

    Examples
    --------
    >>> from graphmover.nodes.registry import named_blocks
    >>> named_blocks("attributes,labels:4") == named_blocks(["attributes", ("labels", 4)])
    True
    """
    if isinstance(node_embedding, str):
        parts: list[object] = [_name_and_weight(part) for part in node_embedding.split(",")]
    elif isinstance(node_embedding, list | tuple):
        parts = list(node_embedding)
    else:
        raise ValueError(f"{node_embedding!r} is not a list of names")
    blocks = tuple(_checked_block(part) for part in parts)
    if not blocks or len({name for name, _ in blocks}) < len(blocks):
        raise ValueError("expected at least one name, and no name twice")
    return blocks


def _name_and_weight(text: str) -> object:
    name, colon, weight = text.partition(":")
    return (name.strip(), float(weight)) if colon else name.strip()


def _checked_block(part: object) -> tuple[str, float]:
    name, weight = part if isinstance(part, list | tuple) and len(part) == 2 else (part, 1.0)
    if not isinstance(name, str) or name not in NODE_EMBEDDINGS:
        raise ValueError(f"{name!r} is not a node embedding method")
    try:
        number = math.nan if isinstance(weight, str | bool) else float(weight)
    except (TypeError, OverflowError):
        number = math.nan
    if not 0 < number <= _MOST_WEIGHT:
        raise ValueError(f"{weight!r} is not a positive weight")
    return name, number


def text_of(node_embedding: object) -> str:
    """Return methods as text, such as "attributes,labels:4.0"; a single name is that name."""
    blocks = named_blocks(node_embedding)
    return ",".join(name if weight == 1 else f"{name}:{weight!r}" for name, weight in blocks)
