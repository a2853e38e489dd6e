"""An NVIDIA GPU: nodes stay on the device until their distances are known.

What a chunk needs is uploaded once, and its rows of the result come back once. CuPy's arrays
have no types of their own: they answer to NumPy's interface, and are annotated so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphmover._utils.cuda import free_memory, release_memory
from graphmover._utils.parallel import for_each_chunk
from graphmover._utils.segments import offsets_from_counts, ranges
from graphmover.backends.protocol import Backend, Chunking, Floats, Ints
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embed import embedded_arrays, node_points
from graphmover.nodes.embeddings import FlatNodes, NodeEmbeddings
from graphmover.nodes.masses import require_counts
from graphmover.nodes.recipe import NodeRecipe
from graphmover.nodes.registry import Work
from graphmover.transport.cuda import engine, schedule
from graphmover.transport.cuda.side import DeviceSide, prepare_on_device
from graphmover.transport.ground import Ground, GroundDistance, TreeDistance
from graphmover.transport.tree import cuda as tree
from graphmover.transport.tree.histograms import Histograms, LabelIndex, histograms, index_labels

#: Threads that prepare chunks: while one waits for the device, another works on the host.
_THREADS = 3


@dataclass(frozen=True, slots=True)
class DeviceNodes(FlatNodes):
    """What `NodeEmbeddings` holds, on the device but for the offsets."""

    points: Floats
    masses: Ints
    offsets: Ints  # on the host
    labels: Ints | None

    def divided_by(self, scale: float) -> DeviceNodes:
        """Return the same graphs with all coordinates divided by a number."""
        if scale == 1:
            return self
        return DeviceNodes(self.points / scale, self.masses, self.offsets, self.labels)

    def nodes_at(self, places: Ints) -> tuple[Floats, Ints | None]:
        """Return the points and labels of some nodes on the host."""
        import cupy

        there = cupy.asarray(places)
        labels = None if self.labels is None else cupy.asnumpy(self.labels[there])
        if not self.n_dimensions:
            return np.zeros((len(places), 0)), labels
        return cupy.asnumpy(self.points[there]), labels

    def on_host(self, graphs: Ints) -> NodeEmbeddings:
        """Return some graphs on the host."""
        import cupy

        counts = self.node_counts[graphs]
        places = ranges(self.offsets[graphs], counts)
        points, labels = self.nodes_at(places)
        masses = cupy.asnumpy(self.masses[cupy.asarray(places)])
        return NodeEmbeddings._trusted(points, masses, offsets_from_counts(counts), labels)

    def __getitem__(self, key: slice) -> DeviceNodes:
        """Select consecutive graphs, which share memory with these."""
        start, stop, _ = key.indices(len(self))
        offsets = self.offsets[start : stop + 1]
        nodes = slice(int(offsets[0]), int(offsets[-1]))
        labels = None if self.labels is None else self.labels[nodes]
        return DeviceNodes(self.points[nodes], self.masses[nodes], offsets - offsets[0], labels)


class Prepared(NamedTuple):
    """Random graphs on the device, ready for the engine."""

    side: DeviceSide
    ground: GroundDistance | None


class PreparedTree(NamedTuple):
    """Random graphs on the device, ready for the closed form."""

    labels: LabelIndex
    ground: TreeDistance


class CudaBackend(Backend[DeviceNodes, Prepared | PreparedTree]):
    """CUDA kernels, through CuPy."""

    name = "cuda"

    def nodes(
        self,
        batch: GraphBatch,
        recipe: NodeRecipe,
        *,
        n_jobs: int | None = None,
        progress: str | None = None,
        first_index: int = 0,
    ) -> DeviceNodes:
        """Algorithm 1, lines 1-2, in chunks that fit the device."""
        parts: dict[int, DeviceNodes] = {}

        def embed(rows: slice) -> None:
            parts[rows.start] = _embed(batch[rows], recipe, first_index + rows.start)

        work, most = schedule.chunking(batch.node_counts, recipe.n_columns, free_memory())
        if work.sum() <= most and progress is None:
            return _embed(batch, recipe, first_index)
        alone = threading.current_thread() is not threading.main_thread()
        for_each_chunk(
            embed,
            work,
            most=most,
            n_jobs=1 if alone else _THREADS,
            progress=progress,
            release=release_memory,
        )
        return _joined([parts[start] for start in sorted(parts)], batch.offsets)

    def take(self, nodes: NodeEmbeddings) -> DeviceNodes:
        """Upload nodes."""
        import cupy

        labels = None if nodes.labels is None else cupy.asarray(nodes.labels)
        return DeviceNodes(
            cupy.asarray(nodes.points), cupy.asarray(nodes.masses), nodes.offsets, labels
        )

    def prepare(
        self, random_graphs: NodeEmbeddings, ground: Ground | None = None
    ) -> Prepared | PreparedTree:
        """Upload the random graphs, and merge equal nodes or index their labels."""
        if isinstance(ground, TreeDistance):
            index = _index(self.take(random_graphs))
            if ground.partial:
                require_counts(index.totals)
            return PreparedTree(index, ground)
        return Prepared(_side(self.take(random_graphs), ground), ground)

    def distances(
        self,
        nodes: DeviceNodes,
        prepared: Prepared | PreparedTree,
        finish: Callable[[Floats], object] | None,
        out: Floats,
    ) -> None:
        """Equation (1)."""
        result = distances_on_device(nodes, prepared)
        if finish is not None:
            finish(result)
        result.get(out=out)

    def bounds_of_pairs(
        self,
        x: Prepared | PreparedTree,
        y: Prepared | PreparedTree,
        rows: Ints,
        columns: Ints,
        most: Floats,
    ) -> Floats:
        """Bound distances by 0: here, solving takes no longer than better bounds would."""
        return np.zeros(len(rows))

    def distances_of_pairs(
        self,
        x: Prepared | PreparedTree,
        y: Prepared | PreparedTree,
        rows: Ints,
        columns: Ints,
    ) -> Floats:
        """Equation (1) for chosen pairs."""
        assert isinstance(x, Prepared) and isinstance(y, Prepared)
        found: Floats = engine.distances_of_pairs(x.side, y.side, rows, columns, y.ground)
        return found

    def chunking(
        self, node_counts: Ints, prepared: Prepared | PreparedTree, n_jobs: int | None
    ) -> Chunking:
        """Cut graphs into chunks that fit the device; ``n_jobs`` does not concern it."""
        if isinstance(prepared, PreparedTree):
            index, free = prepared.labels, free_memory()
            node_bytes = 400 + tree.BYTES_PER_LABEL * index.n_depths
            work, most = schedule.chunking(node_counts, index.n_graphs, free, node_bytes)
            return Chunking(work, most, _THREADS, release_memory)
        work, most = schedule.chunking(node_counts, len(prepared.side.sizes), free_memory())
        return Chunking(work, most, _THREADS, release_memory)


def distances_on_device(nodes: DeviceNodes, prepared: Prepared | PreparedTree) -> Any:
    """Equation (1): a row per graph, which stays on the device."""
    if isinstance(prepared, PreparedTree):
        found = _histograms(nodes, prepared.labels)
        partial = prepared.ground.partial
        if partial:
            require_counts(found.totals)
        return tree.distances_on_device(found, prepared.labels, partial=partial)
    side = _side(nodes, prepared.ground)
    return engine.distances_on_device(side, prepared.side, prepared.ground)


def _embed(batch: GraphBatch, recipe: NodeRecipe, first_index: int) -> DeviceNodes:
    import cupy

    points, masses, labels = embedded_arrays(batch, recipe, _points, first_index=first_index)
    codes = None if labels is None else cupy.asarray(labels)
    nodes = DeviceNodes(points, cupy.asarray(masses), batch.offsets, codes)
    return nodes.divided_by(recipe.scale)


def _points(work: Work, recipe: NodeRecipe) -> Floats:
    """Return the points on the device, computed there if the method can."""
    import cupy

    on_gpu = recipe.method and recipe.method.points_on_gpu
    if on_gpu is None or recipe.smoothing:
        points: Floats = cupy.asarray(node_points(work, recipe))
        return points
    return on_gpu(work)


def _joined(parts: list[DeviceNodes], offsets: Ints) -> DeviceNodes:
    import cupy

    if len(parts) == 1:
        return parts[0]
    labels = [part.labels for part in parts if part.labels is not None]
    return DeviceNodes(
        cupy.concatenate([part.points for part in parts]),
        cupy.concatenate([part.masses for part in parts]),
        offsets,
        cupy.concatenate(labels) if labels else None,
    )


def _side(nodes: DeviceNodes, ground: GroundDistance | None) -> DeviceSide:
    side: DeviceSide = prepare_on_device(nodes.points, nodes.masses, nodes.offsets, nodes.labels)
    if ground is not None and ground.partial:
        require_counts(side.host_totals)
    return side


def _index(nodes: DeviceNodes) -> LabelIndex:
    import cupy

    return index_labels(cupy, nodes.labels, nodes.masses, nodes.offsets)


def _histograms(nodes: DeviceNodes, index: LabelIndex) -> Histograms:
    import cupy

    return histograms(cupy, index, nodes.labels, nodes.masses, nodes.offsets)
