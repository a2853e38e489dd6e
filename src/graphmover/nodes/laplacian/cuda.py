"""Laplacian node embeddings of many graphs on a GPU: flat arrays in, points out.

The kernels are in `laplacian.cu`. `cuda_schedule.py` sorts graphs into launches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmover._utils.cuda import (
    free_memory,
    kernel,
    reclaim_memory,
    shared_memory,
    side_streams,
)
from graphmover.nodes.laplacian import cuda_schedule as _schedule

#: Launches in flight at once: a launch of few large graphs leaves most of the device to others.
_STREAMS = 8

#: Shared memory that kernels declare themselves, in bytes, and some to spare.
_DECLARED = 1024


class DeviceSolver:
    """The points of some graphs, (nodes, d) on the device, filled while the host does other work.

    All arrays are on the host; ``weights`` may be None. Graphs of more than ``most_nodes`` nodes
    have points of zero.
    """

    def __init__(
        self,
        offsets: Any,
        indptr: Any,
        indices: Any,
        weights: Any,
        degrees: Any,
        d: int,
        most_nodes: int,
    ) -> None:
        import cupy

        self.points = cupy.zeros((offsets[-1], d))
        self._sizes = np.diff(offsets)
        self._arrays = (
            *map(cupy.asarray, (offsets, indptr, np.asarray(indices, np.int32))),
            None if weights is None else cupy.asarray(weights),
            cupy.asarray(degrees),
            np.int32(d),
        )
        self._unsolved = cupy.zeros(len(self._sizes), np.int32)
        self._available = shared_memory() - _DECLARED
        sizes = np.where(self._sizes <= most_nodes, self._sizes, 0)
        self._launch(_schedule.launches(sizes, d, self._available))

    def _launch(self, schedule: list[_schedule.Launch]) -> None:
        """Launch all kernels; the current stream then waits for them, the host does not."""
        import cupy

        if not schedule:
            return
        n_streams = min(_STREAMS, len(schedule))
        n_processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
        budget = _scratch_budget(schedule) // n_streams
        slots = [_schedule.scratch_slots(launch, n_processors, budget) for launch in schedule]
        needed = [n * launch.scratch_bytes for n, launch in zip(slots, schedule, strict=True)]
        scratch = [
            cupy.empty(max(needed[first::n_streams]), np.uint8) for first in range(n_streams)
        ]
        graphs = cupy.asarray(np.concatenate([launch.graphs for launch in schedule]))
        start = 0
        with side_streams(n_streams) as streams:
            for number, (launch, blocks) in enumerate(zip(schedule, slots, strict=True)):
                stop = start + len(launch.graphs)
                place = "shared" if launch.matrix_in_shared else "scratch"
                name = f"by_reflections_in_{place}_memory"
                arguments = (
                    graphs[start:stop],
                    np.int32(stop - start),
                    *self._arrays,
                    np.int32(launch.few),
                    scratch[number % n_streams],
                    np.int64(launch.scratch_bytes),
                    self.points,
                    self._unsolved,
                )
                with streams[number % n_streams]:
                    kernel(name, self._available, file="laplacian.cu")(
                        (blocks,), (launch.threads,), arguments, shared_mem=launch.shared_bytes
                    )
                start = stop

    def finish(self) -> Any:
        """Wait; solve what is left by Jacobi's method; return the graphs too large for that."""
        left = np.flatnonzero(self._unsolved.get())
        sizes = self._sizes[left]
        most = _schedule.most_nodes_for_rotations(self._available)
        self._rotate(left[sizes <= most])
        return left[sizes > most]

    def _rotate(self, graphs: Any) -> None:
        import cupy

        sizes = self._sizes[graphs]
        for chosen in _schedule.bins(sizes):
            n = int(sizes[chosen].max())
            compiled = kernel("by_rotations", self._available, file="laplacian.cu")
            compiled(
                (len(chosen),),
                (_schedule.threads_for_rotations(n),),
                (
                    cupy.asarray(graphs[chosen].astype(np.int32)),
                    np.int32(len(chosen)),
                    *self._arrays,
                    self.points,
                ),
                shared_mem=_schedule.rotation_bytes(n),
            )


def _scratch_budget(schedule: list[_schedule.Launch]) -> int:
    """The bytes that all launches may take: an eighth of what is free.

    What CuPy's memory pool keeps is reclaimed before a single graph would not fit.
    """
    if max(launch.scratch_bytes for launch in schedule) * _STREAMS > free_memory() // 8:
        reclaim_memory()
    return int(free_memory()) // 8
