"""Collections on a GPU: `transport/side.py` with CuPy, and the tables that transport.cu reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphmover.transport.side import ROUNDED_TOTAL, label_columns, merge_nodes, running_sums


@dataclass(frozen=True)
class DeviceSide:
    """A prepared collection; `Side` in problem.cuh has the first nine arrays in this order."""

    points: Any  # (nodes, d)
    coarse: Any  # (nodes, d rounded up to a multiple of 4) single precision
    masses: Any  # (nodes,) positive integers
    rounded: Any  # (nodes,) the same, rounded to a total of ROUNDED_TOTAL
    offsets: Any  # (graphs + 1,) 32 bits
    labels: Any  # (nodes, k)
    low: Any  # (graphs, d) the smallest coordinates of a graph
    high: Any  # (graphs, d) the largest
    totals: Any  # (graphs,) the mass of a graph
    sizes: Any  # (graphs,) numbers of nodes, on the host
    host_totals: Any  # (graphs,) the totals, on the host
    table: Any  # the addresses of these arrays, on the device

    @property
    def n_dimensions(self):
        """The dimension of the points."""
        return self.points.shape[1]

    @property
    def n_labels(self):
        """The number of label columns."""
        return self.labels.shape[1]


def prepare(points: Any, masses: Any, offsets: Any, labels: Any) -> Any:
    """Merge equal nodes, drop nodes without mass, order by content: host arrays to a side."""
    import cupy

    kept = slice(offsets[0], offsets[-1])  # only the nodes that the offsets span
    labels = label_columns(np, labels, len(points))
    return prepare_on_device(
        cupy.asarray(points[kept]),
        cupy.asarray(masses[kept]),
        np.asarray(offsets) - offsets[0],
        cupy.asarray(labels[kept]),
    )


def prepare_on_device(points: Any, masses: Any, offsets: Any, labels: Any) -> Any:
    """The same for arrays on the device, except for the offsets, which are on the host."""
    import cupy

    if not points.shape[1]:  # labels alone: all in one place
        points = cupy.zeros((len(points), 1))
    labels = label_columns(cupy, labels, len(points))
    numbers = cupy.arange(len(points))
    graphs = cupy.searchsorted(cupy.asarray(offsets), numbers, side="right") - 1
    return _side(merge_nodes(cupy, points, masses, labels, graphs, len(offsets) - 1))


def _side(nodes):
    import cupy

    from graphmover._utils.cuda import kernel

    n_graphs, d = len(nodes.offsets) - 1, nodes.points.shape[1]
    sums = running_sums(cupy, nodes.masses)
    totals = cupy.diff(sums[nodes.offsets])
    # Running sums are rounded, as on the CPU, so that their total is exact.
    running = sums[1:] - sums[nodes.offsets[:-1]][nodes.graphs]
    upto = (running / totals[nodes.graphs] * ROUNDED_TOTAL).astype(np.int64)
    rounded = cupy.diff(upto, prepend=0)
    starts = nodes.offsets[:-1][totals > 0]
    rounded[starts] = upto[starts]
    coarse = cupy.zeros((len(nodes.points), -(-d // 4) * 4), np.float32)
    coarse[:, :d] = nodes.points
    low, high = cupy.zeros((2, n_graphs, d))
    offsets = nodes.offsets.astype(np.int32)
    points, labels = cupy.ascontiguousarray(nodes.points), cupy.ascontiguousarray(nodes.labels)
    if n_graphs:
        arguments = (points, offsets, np.int32(n_graphs), np.int32(d), low, high)
        kernel("extents")((-(-n_graphs // 4),), (128,), arguments)
    arrays = (points, coarse, nodes.masses, rounded, offsets, labels, low, high, totals)
    table = cupy.asarray(np.array([array.data.ptr for array in arrays], np.uint64))
    sizes = cupy.diff(offsets).get().astype(np.int64)
    return DeviceSide(*arrays, sizes, totals.get(), table)
