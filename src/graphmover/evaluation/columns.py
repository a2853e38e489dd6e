"""Distances to random graphs, computed once for all folds, with no leak from test folds.

Every column has a graph it is drawn from and a generator of its own. A fold sees only the first R
columns whose graph is in its training set: they are distributed as if drawn from that set, and no
test graph can influence any of them. So a hundred folds share one computation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.segments import offsets_from_counts
from graphmover.embedding import RandomGraphEmbedding
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.embeddings import NodeEmbeddings, embed_nodes
from graphmover.nodes.registry import scale_to_unit_cube
from graphmover.random_graphs import anchor_nodes, sample_random_graphs
from graphmover.transport import earth_movers_distance

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Hyperparameters(NamedTuple):
    """What distances depend on, apart from the parameters that a method fixes."""

    max_random_nodes: int
    n_dimensions: int
    wl_iterations: int


class FoldDistances:
    """The distances of all graphs to the random graphs of every fold.

    Parameters
    ----------
    graphs : GraphBatch
    embedding : RandomGraphEmbedding
        Its parameters hold, except for the `Hyperparameters`; it is not fitted.
    training_sets : sequence of ndarray
        The training graphs of each fold.
    n_columns : int
        How many random graphs a fold needs.
    seed : int
    device : str
        The device that computes distances.
    """

    def __init__(
        self,
        graphs: GraphBatch,
        embedding: RandomGraphEmbedding,
        training_sets: Sequence[Indices],
        n_columns: int,
        seed: int,
        device: str = "cpu",
    ) -> None:
        self._graphs, self._embedding, self._seed, self._device = graphs, embedding, seed, device
        self._training_sets, self._n_columns = training_sets, n_columns
        self._tables: dict[tuple[Hyperparameters, tuple[float, ...]], Any] = {}
        self._unneeded: dict[Hyperparameters, None] = {}
        self._embedded: dict[tuple[int, int], NodeEmbeddings] = {}
        self._anchors: dict[tuple[int, int], tuple[Indices, Indices]] = {}
        self._ranges: dict[tuple[int, int], tuple[float, ...]] = {}
        self._sources: list[tuple[int, int]] = []
        self._columns_of_fold: list[Indices] = []
        self._anchored = embedding.sampling == "anchor"
        if self._anchored:
            self._draw_sources()

    def _draw_sources(self) -> None:
        """Draw a graph for each column, until every fold has enough in its training set."""
        allowed = np.zeros((len(self._training_sets), len(self._graphs)), bool)
        for fold, train in enumerate(self._training_sets):
            allowed[fold, train] = self._graphs.node_counts[train] > 0
        if not allowed.any(axis=1).all():
            fold = int(np.argmin(allowed.any(axis=1)))
            raise ValueError(f"no training graph of fold {fold} has nodes to draw from")
        rng = np.random.default_rng([self._seed, 0])
        drawn: list[int] = []
        while (allowed[:, drawn].sum(axis=1) < self._n_columns).any():
            drawn += [int(rng.integers(len(self._graphs))) for _ in range(self._n_columns // 4 + 1)]
        # Graphs without nodes change neither the number of a column nor its generator.
        numbered = [(n, graph) for n, graph in enumerate(drawn) if self._graphs.node_counts[graph]]
        graphs = [graph for _, graph in numbered]
        self._columns_of_fold = [np.flatnonzero(row[graphs])[: self._n_columns] for row in allowed]
        self._sources = numbered[: max(int(columns[-1]) for columns in self._columns_of_fold) + 1]

    def of_fold(
        self,
        fold: int,
        hyperparameters: Hyperparameters,
        n_columns: int,
        rows: Indices | None = None,
    ) -> Any:
        """Return the distances of some graphs, or of all, to the fold's first random graphs."""
        table = self._tables[hyperparameters, self._ranges[fold, hyperparameters.n_dimensions]]
        if not self._anchored:
            return table[:, :n_columns] if rows is None else table[rows, :n_columns]
        columns = self._columns_of_fold[fold][:n_columns]
        return table[:, columns] if rows is None else table[np.ix_(rows, columns)]

    def compute(
        self,
        hyperparameters: Hyperparameters,
        n_columns: int,
        n_jobs: int | None,
        folds: Iterable[int],
        to_device: Callable[[Floats], Any] = np.asarray,
    ) -> None:
        """Compute what `of_fold` returns, and copy it to where it is needed."""
        nodes = self._nodes(hyperparameters, n_jobs)
        n_dimensions = hyperparameters.n_dimensions
        self._unneeded.pop(hyperparameters, None)
        width = self._n_drawn(n_columns) if self._anchored else n_columns
        for fold in folds:
            if (fold, n_dimensions) not in self._ranges:
                train = self._training_sets[fold]
                self._ranges[fold, n_dimensions] = self._training_range(nodes, train)
            key = (hyperparameters, self._ranges[fold, n_dimensions])
            if key not in self._tables or self._tables[key].shape[1] < width:
                scaled = nodes.divided_by(key[1][0])
                graphs = self._random_graphs(scaled, key[1], hyperparameters, n_columns)
                self._tables[key] = to_device(
                    earth_movers_distance(scaled, graphs, n_jobs=n_jobs, device=self._device)
                )

    def release(self, unneeded: Iterable[Hyperparameters], cache_bytes: int = 0) -> None:
        """Free distances that are not needed now, oldest first, until the rest fits the cache."""
        self._unneeded |= dict.fromkeys(unneeded)
        while self._unneeded and sum(t.nbytes for t in self._tables.values()) > cache_bytes:
            oldest = next(iter(self._unneeded))
            del self._unneeded[oldest]
            self._tables = {key: table for key, table in self._tables.items() if key[0] != oldest}

    def _nodes(self, hyperparameters: Hyperparameters, n_jobs: int | None) -> NodeEmbeddings:
        embedding = self._embedding
        key = (hyperparameters.n_dimensions, hyperparameters.wl_iterations)
        if key not in self._embedded:
            labels = embedding.use_node_labels
            self._embedded[key] = embed_nodes(
                self._graphs,
                hyperparameters.n_dimensions,
                node_embedding=embedding.node_embedding,
                node_mass=embedding.node_mass,
                use_node_labels=labels if self._anchored else False,
                wl_iterations=hyperparameters.wl_iterations,
                n_jobs=n_jobs,
            )
        return self._embedded[key]

    def _training_range(self, nodes: NodeEmbeddings, train: Indices) -> tuple[float, ...]:
        """Return all that distances know of the training nodes: few folds differ in it."""
        points = nodes[train].points
        scale = scale_to_unit_cube(self._embedding.node_embedding, points)
        if self._anchored:
            return (scale,)
        # Rounded: folds whose ranges differ by rounding errors alone share distances.
        low, high = (float(f"{end / scale:.12g}") for end in (points.min(), points.max()))
        return (scale, low, high)

    def _random_graphs(
        self,
        nodes: NodeEmbeddings,
        training_range: tuple[float, ...],
        hyperparameters: Hyperparameters,
        n_columns: int,
    ) -> NodeEmbeddings:
        if not self._anchored:
            ends = np.repeat(np.array(training_range[1:])[:, np.newaxis], nodes.n_dimensions, 1)
            return sample_random_graphs(
                NodeEmbeddings(ends, np.ones(2, np.int64), [0, 2]),
                n_columns,
                max_random_nodes=hyperparameters.max_random_nodes,
                sampling="uniform",
                random_state=np.random.default_rng([self._seed, 1]),
            )
        chosen, offsets = self._anchor_nodes(nodes, hyperparameters.max_random_nodes, n_columns)
        return NodeEmbeddings(
            nodes.points[chosen],
            np.ones(len(chosen), np.int64),
            offsets,
            None if nodes.labels is None else nodes.labels[chosen],
        )

    def _anchor_nodes(
        self, nodes: NodeEmbeddings, most: int, n_columns: int
    ) -> tuple[Indices, Indices]:
        """Draw the nodes of all columns: the same nodes for every embedding and labelling."""
        if (most, n_columns) not in self._anchors:
            drawn = []
            for number, graph in self._sources[: self._n_drawn(n_columns)]:
                rng = np.random.default_rng([self._seed, 1, number])
                size = rng.integers(1, most + 1)
                first, last = nodes.offsets[graph], nodes.offsets[graph + 1]
                drawn.append(anchor_nodes(rng, first, last, size))
            offsets = offsets_from_counts([len(part) for part in drawn])
            self._anchors[most, n_columns] = np.concatenate(drawn), offsets
        return self._anchors[most, n_columns]

    def _n_drawn(self, n_columns: int) -> int:
        """Return how many columns are needed for every fold to have ``n_columns``."""
        return max(int(columns[n_columns - 1]) for columns in self._columns_of_fold) + 1
