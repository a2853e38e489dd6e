"""Algorithm 1, line 2: the node embedding methods, the paper's and others, one entry each.

Nothing slow is imported before a method is used: the command line reads the names from here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from graphmover.graphs.batch import GraphBatch

    Floats = NDArray[np.float64]

    #: A name from the registry, a user's own function, or None: no coordinates.
    NodeEmbedding = str | Callable[[GraphBatch], Sequence[ArrayLike]] | None

#: One thread walks from about this many edges at a time.
_CHUNK_EDGES = 2**16


class Work(NamedTuple):
    """What a method is given."""

    batch: GraphBatch
    degrees: Floats
    n_dimensions: int
    n_jobs: int | None = None
    progress: str | None = None  # the title of a progress bar
    first_index: int = 0  # the number of the first graph, in messages


class Method(NamedTuple):
    """A node embedding method: one row of coordinates per node, graph after graph."""

    points: Callable[[Work], Floats]
    #: The same on a GPU, as an array there; None: points are computed on the CPU and uploaded.
    points_on_gpu: Callable[[Work], Floats] | None = None
    #: Whether all coordinates lie in [0, 1]. Others are divided by their range in the training
    #: set, so that labels weigh the same with every method.
    in_unit_cube: bool = False


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
    """Use the kernel for small graphs; larger ones are solved on the CPU."""
    import cupy
    import numpy as np

    from graphmover._utils.segments import ranges
    from graphmover.nodes.laplacian import DENSE_NODES
    from graphmover.nodes.laplacian.cuda import most_nodes, smallest_eigenvectors

    batch, counts = work.batch, work.batch.node_counts
    points: Floats = smallest_eigenvectors(
        batch.offsets,
        batch.indptr,
        batch.indices,
        batch.edge_weights,
        work.degrees,
        work.n_dimensions,
    )
    medium = np.flatnonzero((counts > most_nodes()) & (counts <= DENSE_NODES))
    large = np.flatnonzero(counts > DENSE_NODES)  # one at a time: a solver's error names the graph
    for graphs in (medium, *large[:, np.newaxis]):
        if len(graphs):
            nodes = ranges(batch.offsets[graphs], counts[graphs])
            some = work._replace(
                batch=batch[graphs],
                degrees=work.degrees[nodes],
                first_index=work.first_index + int(graphs[0]),
            )
            points[cupy.asarray(nodes)] = cupy.asarray(_laplacian(some))
    return points


def _return_probability(work: Work) -> Floats:
    import numpy as np

    from graphmover._utils.parallel import for_each_chunk, single_threaded_blas
    from graphmover.nodes.walks import return_probabilities

    batch = work.batch
    points = np.zeros((batch.n_nodes, work.n_dimensions))
    weights = np.empty(0) if batch.edge_weights is None else batch.edge_weights

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


#: Every method by the name that ``node_embedding`` takes.
NODE_EMBEDDINGS: dict[str, Method] = {
    "laplacian": Method(_laplacian, _laplacian_on_gpu, in_unit_cube=True),
    "return-probability": Method(_return_probability, in_unit_cube=True),
    "degree": Method(_log_degree),
}
