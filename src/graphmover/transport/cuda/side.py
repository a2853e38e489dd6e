"""Collections on a GPU: what `_problem.py`'s `prepare` does, with CuPy, and its layout there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphmover._utils.hashing import GOLDEN

#: Where two totals have no common multiple of at most 62 bits, masses are rounded to this one.
_ROUNDED_TOTAL = 2**53


@dataclass(frozen=True)
class DeviceSide:
    """A prepared collection; `Side` in transport.cu has the arrays in this order."""

    points: Any  # (nodes, d)
    coarse: Any  # (nodes, d rounded up to a multiple of 4) single precision
    masses: Any  # (nodes,) positive whole numbers
    rounded: Any  # (nodes,) the same, rounded to a total of _ROUNDED_TOTAL
    offsets: Any  # (graphs + 1,) 32 bits
    labels: Any  # (nodes,) or None
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


def upload(points, masses, offsets, labels):
    """Flat arrays of a collection to the device; only the nodes that the offsets span."""
    import cupy

    kept = slice(offsets[0], offsets[-1])
    return (
        cupy.asarray(points[kept]),
        cupy.asarray(masses[kept]),
        np.asarray(offsets) - offsets[0],
        cupy.asarray(labels[kept]) if len(labels) else None,
    )


def prepare(points: Any, masses: Any, offsets: Any, labels: Any) -> Any:
    """Merge equal nodes, drop nodes without mass, order by content: host arrays to a side."""
    return prepare_on_device(*upload(points, masses, offsets, labels))


def prepare_on_device(points: Any, masses: Any, offsets: Any, labels: Any) -> Any:
    """The same for arrays on the device, except for the offsets, which are on the host."""
    import cupy

    n_graphs = len(offsets) - 1
    nodes = cupy.arange(len(points))
    graphs = cupy.searchsorted(cupy.asarray(offsets), nodes, side="right") - 1
    heavy = cupy.flatnonzero(masses > 0)
    points = points[heavy] + 0.0  # no negative zeros
    masses, graphs = masses[heavy], graphs[heavy]
    labels = None if labels is None else labels[heavy]
    order = cupy.lexsort(cupy.stack([_content_codes(points, labels), graphs.astype(np.uint64)]))
    points, masses, graphs = points[order], masses[order], graphs[order]
    labels = None if labels is None else labels[order]
    first = cupy.ones(len(order), bool)
    first[1:] = (graphs[1:] != graphs[:-1]) | (points[1:] != points[:-1]).any(axis=1)
    if labels is not None:
        first[1:] |= labels[1:] != labels[:-1]
    starts = cupy.flatnonzero(first)
    graphs = graphs[starts]
    sums = _sums_before(masses)
    masses = cupy.diff(sums[cupy.append(starts, len(order))])
    offsets = _sums_before(cupy.bincount(graphs, minlength=n_graphs)[:n_graphs])
    return _side(
        points[starts], masses, offsets, None if labels is None else labels[starts], graphs
    )


def _side(points, masses, offsets, labels, graphs):
    import cupy

    from graphmover._utils.cuda import kernel

    n_graphs, d = len(offsets) - 1, points.shape[1]
    sums = _sums_before(masses)
    totals = cupy.diff(sums[offsets])
    # Running sums are rounded, as on the CPU: so the sum of all is exact.
    running = sums[1:] - sums[offsets[:-1]][graphs]
    upto = (running / totals[graphs] * _ROUNDED_TOTAL).astype(np.int64)
    rounded = cupy.diff(upto, prepend=0)
    starts = offsets[:-1][totals > 0]
    rounded[starts] = upto[starts]
    coarse = cupy.zeros((len(points), -(-d // 4) * 4), np.float32)
    coarse[:, :d] = points
    low, high = cupy.zeros((2, n_graphs, d))
    offsets = offsets.astype(np.int32)
    points = cupy.ascontiguousarray(points)
    if n_graphs:
        arguments = (points, offsets, np.int32(n_graphs), np.int32(d), low, high)
        kernel("extents")((-(-n_graphs // 4),), (128,), arguments)
    arrays = (points, coarse, masses, rounded, offsets, labels, low, high, totals)
    addresses = [0 if array is None else array.data.ptr for array in arrays]
    table = cupy.asarray(np.array(addresses, np.uint64))
    sizes = cupy.diff(offsets).get().astype(np.int64)
    return DeviceSide(*arrays, sizes, totals.get(), table)


def _sums_before(values):
    """Running sums that begin with 0; those of 64-bit numbers may wrap, differences are right."""
    import cupy

    sums = cupy.zeros(len(values) + 1, np.int64)
    cupy.cumsum(values, out=sums[1:])
    return sums


def _content_codes(points, labels):
    """The hash of `_problem.py`: a 64-bit code of each node."""
    import cupy

    code = cupy.zeros(len(points), np.uint64) if labels is None else labels.view(np.uint64).copy()
    for column in cupy.ascontiguousarray(points.T).view(np.uint64):
        code = (code ^ column) * GOLDEN
        code ^= code >> np.uint64(32)
    return code
