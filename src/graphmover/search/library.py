"""The graphs that are searched: their nodes and distances to pivots, prepared for each back end."""

from __future__ import annotations

from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.backends import BACKENDS, AnyBackend
from graphmover.backends.cuda import DeviceNodes, distances_on_device
from graphmover.backends.cuda import PreparedTree as TreeOnDevice
from graphmover.backends.fitted import DistancesToRandomGraphs, ground_of
from graphmover.backends.rows import distances_between
from graphmover.backends.threads import Prepared as PreparedSide
from graphmover.backends.threads import PreparedTree
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.nodes.input_warnings import UnknownLabels
from graphmover.nodes.labels import coarsest_labels, n_without_any_of
from graphmover.search.bounds import Sketches, raise_to_bounds, rounding_of, sketches
from graphmover.search.on_device import (
    DeviceSketches,
    raise_to_bounds_on_device,
    sketches_on_device,
)
from graphmover.transport.cpu.engine import bytes_of_large_pair
from graphmover.transport.ground import (
    Ground,
    GroundDistance,
    TreeDistance,
    default_ground_distance,
)
from graphmover.transport.tree.histograms import (
    Histograms,
    LabelIndex,
    histograms,
    histograms_of_index,
)
from graphmover.transport.tree.search import Lists, index_pays, lists_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: More random graphs than these are of no use as pivots: what they exclude, others exclude too.
MOST_PIVOTS = 64

#: About how long a pair and an arc between two of its nodes take to solve where graphs are small,
#: and the steps of a search by bounds take for a query.
_PAIR_SECONDS = 150e-9
_ARC_SECONDS = 10e-9
_SEARCH_SECONDS = 320e-6

#: Bytes for one pair of graphs of which there is a warning.
_MUCH_MEMORY = 10**9

#: How many of the largest graphs have their equal nodes merged to tell this memory.
_MERGED = 16


class Library:
    """Embedded graphs that are searched.

    Parameters
    ----------
    to_random_graphs : DistancesToRandomGraphs
        How nodes are embedded and compared. The first random graphs are the pivots.
    nodes : NodeEmbeddings
    pivots : ndarray of shape (graphs, pivots)
        Distances to the pivots.
    """

    def __init__(
        self, to_random_graphs: DistancesToRandomGraphs, nodes: NodeEmbeddings, pivots: Floats
    ) -> None:
        self.recipe = to_random_graphs.recipe
        self.ground: Ground | None = ground_of(self.recipe, to_random_graphs.random_graphs)
        self.to_pivots = DistancesToRandomGraphs(
            self.recipe, to_random_graphs.random_graphs[: pivots.shape[1]]
        )
        self.nodes, self.pivots = nodes, pivots
        self._prepared: dict[str, Prepared] = {}
        self._sketches: Sketches | None = None
        self._device_sketches: DeviceSketches | None = None
        self._labels: Ints | None = None  # all of them, increasing

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def has_closed_form(self) -> bool:
        """Whether distances are those of labels alone, which need no solver."""
        return isinstance(self.ground, TreeDistance)

    @property
    def rounding(self) -> float | None:
        """What rounding may add to any distance; None: nothing, they are quotients of integers."""
        return None if self.has_closed_form else rounding_of(self.nodes)

    def large_pair(self) -> tuple[int, int, int] | None:
        """Return how many nodes its two largest graphs have, and the bytes that solving them takes.

        Equal nodes count as one, in the graphs that are largest before. None if this is little
        memory.
        """
        counts = self.nodes.node_counts
        order = np.argsort(-counts, kind="stable")[:_MERGED].tolist()
        if self.has_closed_form or len(order) < 2:
            return None
        most = int(counts[order[0]])
        large = [*takewhile(lambda graph: _is_large(most, int(counts[graph])), order)]
        if len(large) < 2:
            return None
        merged = BACKENDS["cpu"].prepare(self.nodes[np.array(large)], self.ground)
        assert isinstance(merged, PreparedSide)
        m, n = np.sort(np.diff(merged.side.offsets))[-2:].tolist()
        return (n, m, bytes_of_large_pair(n, m)) if _is_large(n, m) else None

    def unknown_labels(self) -> UnknownLabels:
        """Return a count of queries that have no label in common with any of the graphs."""
        is_refined = self.nodes.labels is not None and self.nodes.labels.ndim == 1
        return UnknownLabels(
            uses_node_labels=bool(self.recipe.use_node_labels),
            wl_iterations=self.recipe.wl_iterations if is_refined else 0,
            among="the graphs that are searched",
        )

    def n_unknown(self, nodes: NodeEmbeddings, nearest: Floats) -> int:
        """Return how many graphs have no label in common with any, given their least distances.

        Only if that is what labels alone cost at most, labels need to be compared.
        """
        if nodes.labels is None or self.nodes.labels is None:
            return 0
        least = 1.0
        if not self.has_closed_form:
            ground, n_labels = self._ground_of(nodes)
            least = ground.floor + ground.per_label * n_labels
        far = np.flatnonzero(np.isfinite(nearest) & (nearest >= least * (1 - 1e-9)))
        if not len(far):
            return 0
        own = nodes[far]
        return self._n_unknown(own, own.offsets)

    def knows_labels_of(self, nodes: NodeEmbeddings) -> bool:
        """Tell whether graphs have no labels, or one in common with any of the library."""
        if nodes.labels is None or self.nodes.labels is None or not len(nodes.points):
            return True
        return not self._n_unknown(nodes, np.array([0, len(nodes.points)]))

    def _n_unknown(self, nodes: NodeEmbeddings, offsets: NDArray[np.int64]) -> int:
        """Return how many groups of nodes have no label in common with any graph."""
        assert nodes.labels is not None
        assert self.nodes.labels is not None
        if self._labels is None:
            self._labels = np.unique(coarsest_labels(self.nodes.labels))
        return n_without_any_of(self._labels, nodes.labels, offsets)

    def with_more(self, nodes: NodeEmbeddings, pivots: Floats) -> Library:
        """Return a library with further graphs, given their distances to the pivots."""
        return Library(
            self.to_pivots,
            NodeEmbeddings.concatenate([self.nodes, nodes]),
            np.concatenate([self.pivots, pivots]),
        )

    def prepared_for(self, backend: AnyBackend) -> Prepared:
        """Return what a back end needs of the graphs; it is kept."""
        if backend.name not in self._prepared:
            graphs = backend.prepare(self.nodes, self.ground)
            labels = lists = None
            if not self.has_closed_form and self.nodes.has_labels:
                labels = backend.prepare(_labels_alone(self.nodes), TreeDistance())
            if isinstance(graphs, PreparedTree):
                of_graphs = histograms_of_index(graphs.labels)
                lists = lists_of(graphs.labels, of_graphs)
                if not index_pays(graphs.labels, of_graphs, lists):
                    lists = None
            self._prepared[backend.name] = Prepared(graphs, labels, lists, _is_quick(graphs))
        return self._prepared[backend.name]

    def lower_bounds(self, backend: AnyBackend, nodes: NodeEmbeddings, pivots: Floats) -> Floats:
        """Return lower bounds on the distances of graphs to all graphs of the library.

        The bounds to graphs without nodes are infinite. The graphs themselves have nodes.
        """
        if self._sketches is None:
            self._sketches = sketches(self.nodes, self.pivots)
        out = np.zeros((len(nodes), len(self)))
        labels = self.prepared_for(backend).labels
        if labels is not None:
            alone = _labels_alone(nodes)
            backend.distances(backend.take(alone), labels, None, out)
        ground, n_labels = self._ground_of(nodes)
        raise_to_bounds(sketches(nodes, pivots), self._sketches, ground, n_labels, out)
        out[:, self.nodes.node_counts == 0] = np.inf
        return out

    def lower_bounds_on_device(
        self, nodes: NodeEmbeddings, pivots: Floats, n_jobs: int | None
    ) -> Any:
        """Return the same bounds in the memory of a GPU."""
        import cupy

        backend = BACKENDS["cuda"]
        if self._device_sketches is None:
            of_graphs = sketches(self.nodes, self.pivots, n_jobs)
            is_empty = self.nodes.node_counts == 0
            self._device_sketches = sketches_on_device(of_graphs, is_empty)
        labels = self.prepared_for(backend).labels
        if labels is None:
            out = cupy.zeros((len(nodes), len(self)))
        else:
            assert isinstance(labels, TreeOnDevice)
            there = backend.take(_labels_alone(nodes))
            assert isinstance(there, DeviceNodes)
            out = distances_on_device(there, labels)
        of_nodes = sketches(nodes, pivots)
        raise_to_bounds_on_device(of_nodes, self._device_sketches, *self._ground_of(nodes), out)
        return out

    def _ground_of(self, nodes: NodeEmbeddings) -> tuple[GroundDistance, int]:
        """Return the ground distance of transport, and how many labels nodes have."""
        assert not isinstance(self.ground, TreeDistance)
        n_labels = 0 if nodes.labels is None else int(np.prod(nodes.labels.shape[1:]))
        return self.ground or default_ground_distance(nodes.n_dimensions), n_labels

    def distances_to_pivots(
        self, backend: AnyBackend, nodes: NodeEmbeddings, n_jobs: int | None
    ) -> Floats:
        """Return the distances of graphs to the pivots."""
        prepared = self.to_pivots.prepared_for(backend)
        return distances_between(backend, nodes, prepared, self.pivots.shape[1], n_jobs=n_jobs)

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {
            "_prepared": {},
            "_sketches": None,
            "_device_sketches": None,
            "_labels": None,
        }


def _is_large(n: int, m: int) -> bool:
    return bytes_of_large_pair(n, m) > _MUCH_MEMORY


class Prepared(NamedTuple):
    """A library on a back end."""

    graphs: object
    labels: object | None  # the same graphs as labels alone, for a bound
    lists: Lists | None  # on the CPU, if the distance has a closed form and an index pays
    is_quick: bool  # all pairs take less time than a search by bounds


def _is_quick(graphs: object) -> bool:
    """Whether all pairs of a graph like these take less time than a search by bounds.

    So they do on the CPU where graphs are small, once equal nodes are merged, and few. Their sizes
    decide, not a clock, so that the answer is always the same.
    """
    if not isinstance(graphs, PreparedSide):
        return False
    n_graphs, n_nodes = len(graphs.side.totals), len(graphs.side.points)
    n_arcs = n_nodes * n_nodes / max(1, n_graphs)
    return n_graphs * _PAIR_SECONDS + n_arcs * _ARC_SECONDS < _SEARCH_SECONDS


def histograms_of(nodes: NodeEmbeddings, index: LabelIndex) -> Histograms:
    """Return the label histograms of embedded graphs."""
    return histograms(np, index, nodes.labels, nodes.masses, nodes.offsets)


def _labels_alone(nodes: NodeEmbeddings) -> NodeEmbeddings:
    points = np.zeros((len(nodes.points), 0))
    return NodeEmbeddings._trusted(points, nodes.masses, nodes.offsets, nodes.labels)
