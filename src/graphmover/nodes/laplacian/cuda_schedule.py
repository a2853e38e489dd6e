"""The launch schedule of `cuda.py`: graphs of similar sizes, and the memory each launch needs.

Where the tables of a graph go depends on its size, on d and on the device alone, so that its
points do not depend on the other graphs. Nothing here needs a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

#: Graphs from one of these sizes, exclusive, to the next, inclusive, share a launch. The last is
#: beyond DENSE_NODES.
_EDGES: tuple[int, ...] = (
    0,
    *range(8, 64, 8),
    *range(64, 128, 16),
    *range(128, 257, 32),
    304,
    352,
)

#: Pairs (nodes, threads): the threads of a block for graphs of up to that many nodes.
_THREADS = ((16, 32), (48, 64), (96, 128), (144, 256), (208, 512), (2**31, 1024))
_THREADS_FOR_ROTATIONS = ((16, 32), (40, 64), (64, 128), (2**31, 256))

#: Eigenvectors beyond d that have a place in shared memory, where any have.
_SPARE = 2

#: Threads that a multiprocessor runs at once: further blocks wait, and need no memory.
_RESIDENT = 2048


@dataclass(frozen=True)
class Launch:
    """Some graphs of up to n nodes, solved by one kernel."""

    graphs: NDArray[np.int32]
    n: int
    d: int
    matrix_in_shared: bool  # or in scratch memory
    few: int  # up to this many eigenvectors are in shared memory, more in scratch memory

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return next(threads for most, threads in _THREADS if self.n <= most)

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block: `by_reflections` in laplacian.cu."""
        matrix = _matrix_bytes(self.n) if self.matrix_in_shared else 0
        return _table_bytes(self.n, self.d) + matrix + _vector_bytes(self.n, self.few)

    @property
    def scratch_bytes(self) -> int:
        """Scratch memory of a block."""
        matrix = 0 if self.matrix_in_shared else _matrix_bytes(self.n)
        return matrix + _vector_bytes(self.n, most_vectors(self.n, self.d))


def launches(sizes: NDArray[np.int64], d: int, available: int) -> list[Launch]:
    """Return the launches for all graphs that have nodes, the largest first.

    ``available`` is the shared memory that a block can have.
    """
    last = _last_in_shared(d, available)
    schedule = []
    for chosen in bins(sizes, last):
        n = _upper_edge(int(sizes[chosen].max()), last)
        in_shared = n <= last
        room = available - _table_bytes(n, d) - in_shared * _matrix_bytes(n)
        few = min(d + _SPARE, most_vectors(n, d))
        few = few if _vector_bytes(n, few) <= room else 0
        schedule.append(Launch(chosen.astype(np.int32), n, d, in_shared, few))
    return schedule[::-1]


def bins(sizes: NDArray[np.int64], *further_edges: int) -> Iterator[NDArray[np.int64]]:
    """Yield the graphs that have nodes in bins of similar sizes, the largest of a bin first."""
    edges = np.unique([*_EDGES, *further_edges])
    order = np.argsort(-sizes, kind="stable")
    ends = np.searchsorted(-sizes[order], -edges, side="left")
    for stop, start in pairwise(ends.tolist()):
        if start < stop:
            yield order[start:stop]


def scratch_slots(launch: Launch, n_processors: int, budget: int) -> int:
    """How many blocks work at once in scratch memory of about ``budget`` bytes."""
    fitting = max(1, budget // launch.scratch_bytes)
    return int(min(len(launch.graphs), n_processors * _RESIDENT // launch.threads, fitting))


def most_vectors(n: int, d: int) -> int:
    """The most eigenvectors that are computed one by one, as in laplacian.cu."""
    return min(n, max(d, 28, 3 * n // 10) + 4)


def rotation_bytes(n: int) -> int:
    """Shared memory, in bytes, of the block for a graph of n nodes by Jacobi's method."""
    places = (n + 1) // 2
    return 8 * (2 * n * (n + 1) + n) + 24 * places + 4 * n


def most_nodes_for_rotations(available: int) -> int:
    """The largest n whose two matrices fit the shared memory of a block."""
    return _largest(rotation_bytes, available)


def threads_for_rotations(n: int) -> int:
    """The threads of a block by Jacobi's method."""
    return next(threads for most, threads in _THREADS_FOR_ROTATIONS if n <= most)


def _last_in_shared(d: int, available: int) -> int:
    """The largest n whose matrix is in shared memory, with few eigenvectors where these fit."""

    def n_bytes(n: int) -> int:
        few = min(d + _SPARE, most_vectors(n, d))
        vectors = _vector_bytes(n, few)
        # With many dimensions, vectors would drive the matrix out: it is read more often.
        return _table_bytes(n, d) + _matrix_bytes(n) + min(vectors, available // 4)

    return _largest(n_bytes, available)


def _largest(n_bytes: Callable[[int], int], available: int) -> int:
    n = 0
    while n_bytes(n + 1) <= available:
        n += 1
    return n


def _upper_edge(n: int, further_edge: int) -> int:
    """The largest size of the bin that has graphs of n nodes."""
    return min(edge for edge in (*_EDGES, further_edge) if edge >= n)


def _table_bytes(n: int, d: int) -> int:
    return 8 * (7 * n + 3 * most_vectors(n, d) + 1)


def _matrix_bytes(n: int) -> int:
    return 8 * n * n


def _vector_bytes(n: int, count: int) -> int:
    """Eigenvectors and the factors of inverse iteration: `Vectors` in inverse_iteration.cuh."""
    cells = n * (count | 1)
    return 40 * cells + -(-cells // 8) * 8 if count else 0
