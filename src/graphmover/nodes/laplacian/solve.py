"""Which solver takes which graph, in threads."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.compiling import notify_if_compiling
from graphmover._utils.jit import NO_WEIGHTS
from graphmover._utils.messages import tell
from graphmover._utils.parallel import for_each_chunk, single_threaded_blas
from graphmover.nodes.laplacian.large.components import embed_large
from graphmover.nodes.laplacian.small.dense import embed
from graphmover.nodes.laplacian.small.lapack import tridiagonalisation

#: Graphs of up to this many nodes are solved as dense matrices.
DENSE_NODES = 350

#: Components of larger graphs are solved densely up to this many classes of twins. The limit is
#: lower because all of their eigenvectors are computed, unlike in `small/dense.py`.
DENSE_CLASSES = 150

#: Eigenvalues (in [0, 2]) that differ by less count as one, in graphs of up to DENSE_NODES nodes:
#: at smaller distances, rounding errors of 1e-15 would rotate eigenvectors by more than 1e-8.
SAME_EIGENVALUE = 1e-7

#: The same in larger graphs, whose eigenvalues are closer: rotations stay below 1e-6.
SAME_EIGENVALUE_LARGE = 1e-9

#: One thread takes about this many entries of Laplacians at a time.
_CHUNK = 2**18

#: Graphs of this many nodes report the solver's progress, where progress is shown.
_REPORTED_NODES = 20_000


def smallest_eigenvectors(
    offsets: NDArray[np.int64],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    degrees: NDArray[np.float64],
    n_dimensions: int,
    *,
    n_jobs: int | None,
    progress: str | None,
    first_index: int = 0,
    dense_nodes: int = DENSE_NODES,
) -> NDArray[np.float64]:
    """Return the points of all nodes; a graph of fewer than d nodes has zeros in the last columns.

    The arrays are those of a `GraphBatch`, with one degree per node. ``first_index`` is the
    number of the first graph in error messages.
    """
    points = np.zeros((len(degrees), n_dimensions))
    given = NO_WEIGHTS if weights is None else weights
    counts = np.diff(offsets)
    dsytrd = tridiagonalisation()

    def solve(chunk: slice) -> None:
        _embed_small(
            chunk.start,
            chunk.stop,
            dense_nodes,
            offsets,
            indptr,
            indices,
            given,
            degrees,
            SAME_EIGENVALUE,
            dsytrd,
            points,
        )
        for index in range(chunk.start, chunk.stop):
            if counts[index] > dense_nodes:
                solve_large(index)

    def solve_large(index: int) -> None:
        first, last = offsets[index : index + 2]
        weighted = (given[indptr[first] : indptr[last]] != 1.0).any()
        tolerance = SAME_EIGENVALUE if counts[index] <= DENSE_NODES else SAME_EIGENVALUE_LARGE
        name = f"graph {first_index + index}"

        def report(message: str) -> None:
            if counts[index] >= _REPORTED_NODES:
                shown = progress is not None
                tell("%s (%d nodes): %s", name, counts[index], message, shown=shown)

        try:
            embed_large(
                indptr[first : last + 1],
                indices,
                given if weighted else NO_WEIGHTS,
                degrees[first:last],
                tolerance,
                min(dense_nodes, DENSE_CLASSES),
                report,
                points[first:last],
            )
        except np.linalg.LinAlgError as error:
            raise np.linalg.LinAlgError(f"{name}: no eigenvectors found: {error}") from error

    with single_threaded_blas():
        work = (counts + 1) ** 2
        for_each_chunk(solve, work, most=_CHUNK, n_jobs=n_jobs, progress=progress)
    return points


_loaded = threading.Event()


def _embed_small(*arguments: object) -> None:
    """Call the compiled loop; print a message if it is being compiled, the first time ever."""
    if _loaded.is_set():
        embed(*arguments)
        return
    with notify_if_compiling(embed, "the Laplacian solver"):
        embed(*arguments)
    _loaded.set()
