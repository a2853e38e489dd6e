"""Distances to random graphs, computed once for all folds, with no leak from test folds.

Every column has a graph it is drawn from and a generator of its own. A fold sees only the first R
columns whose graph is in its training set: they are distributed as if drawn from that set, and no
test graph can influence any of them. So a hundred folds share one computation. Only where points
are standardised over the training nodes does each fold have its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover._utils.segments import ranges
from graphmover.backends import backend_for
from graphmover.backends.fitted import DistancesToRandomGraphs
from graphmover.embedding import RandomGraphEmbedding
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.blocks import Block, digest_of
from graphmover.nodes.embeddings import NodeEmbeddings, Nodes
from graphmover.nodes.recipe import NodeRecipe
from graphmover.random_graphs import anchor_nodes, random_graphs_at, uniform_random_graphs

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Hyperparameters(NamedTuple):
    """What distances depend on, apart from the parameters that a method fixes."""

    max_random_nodes: int | None  # None: whole graphs
    n_dimensions: int
    wl_iterations: int


class _Fit(NamedTuple):
    """What distances depend on in the training nodes of a fold: few folds differ in it."""

    scale: float
    extent: tuple[float, float] | None  # needed for uniform random graphs
    blocks: str  # a hash of the blocks of node features


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
        self._graphs, self._embedding, self._seed = graphs, embedding, seed
        self._backend = backend_for(device, len(graphs) * n_columns)
        self._training_sets, self._n_columns = training_sets, n_columns
        self._tables: dict[tuple[Hyperparameters, _Fit], Any] = {}
        self._unneeded: dict[Hyperparameters, None] = {}
        self._embedded: dict[tuple[int, int], Nodes] = {}
        self._anchors: dict[tuple[int, int], list[Indices]] = {}
        self._fits: dict[tuple[int, int], _Fit] = {}
        self._blocks: dict[tuple[int, int], tuple[Block, ...] | None] = {}
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
        table = self._tables[hyperparameters, self._fits[fold, hyperparameters.n_dimensions]]
        if not self._anchored:
            return table[:, :n_columns] if rows is None else table[rows, :n_columns]
        columns = self._columns(fold, hyperparameters, n_columns)
        return table[:, columns] if rows is None else table[np.ix_(rows, columns)]

    def sources(self, fold: int, hyperparameters: Hyperparameters, n_columns: int) -> Indices:
        """Return the graph that each of the fold's first random graphs is drawn from."""
        columns = self._columns(fold, hyperparameters, n_columns)
        if hyperparameters.max_random_nodes is None:
            return self._whole_graphs[0][columns]
        return np.array([graph for _, graph in self._sources], np.int64)[columns]

    def _columns(self, fold: int, hyperparameters: Hyperparameters, n_columns: int) -> Indices:
        whole = hyperparameters.max_random_nodes is None
        of_fold = self._whole_graphs[1] if whole else self._columns_of_fold
        return of_fold[fold][:n_columns]

    @cached_property
    def _whole_graphs(self) -> tuple[Indices, list[Indices]]:
        """The graphs that are random graphs themselves, and the columns of each fold.

        No graph appears twice: a fold has no more columns than training graphs.
        """
        order = np.random.default_rng([self._seed, 2]).permutation(len(self._graphs))
        order = order[self._graphs.node_counts[order] > 0]
        return order, [np.flatnonzero(np.isin(order, train)) for train in self._training_sets]

    def compute(
        self,
        hyperparameters: Hyperparameters,
        n_columns: int,
        n_jobs: int | None,
        folds: Iterable[int],
        to_device: Callable[[Floats], Any] = np.asarray,
    ) -> None:
        """Compute what `of_fold` returns, and copy it to where it is needed."""
        n_dimensions = hyperparameters.n_dimensions
        self._unneeded.pop(hyperparameters, None)
        width = self._n_drawn(n_columns, hyperparameters) if self._anchored else n_columns
        for fold in folds:
            train = self._training_sets[fold]
            recipe = self._fitted_recipe(hyperparameters, fold, n_jobs)
            if (fold, n_dimensions) not in self._fits:
                self._fits[fold, n_dimensions] = self._fit(hyperparameters, recipe, train, n_jobs)
            fit = self._fits[fold, n_dimensions]
            key = (hyperparameters, fit)
            if key not in self._tables or self._tables[key].shape[1] < width:
                recipe = recipe._replace(scale=fit.scale)
                scaled = self._nodes(hyperparameters, recipe, n_jobs).divided_by(recipe.scale)
                graphs = self._random_graphs(scaled, fit, hyperparameters, n_columns)
                partial = bool(self._embedding.partial)
                to_graphs = DistancesToRandomGraphs(recipe, graphs, partial=partial)
                self._tables[key] = to_device(
                    to_graphs.of_nodes(scaled, self._backend, n_jobs=n_jobs)
                )

    def release(self, unneeded: Iterable[Hyperparameters], cache_bytes: int = 0) -> None:
        """Free distances that are not needed now, oldest first, until the rest fits the cache."""
        self._unneeded |= dict.fromkeys(unneeded)
        while self._unneeded and sum(t.nbytes for t in self._tables.values()) > cache_bytes:
            oldest = next(iter(self._unneeded))
            del self._unneeded[oldest]
            self._tables = {key: table for key, table in self._tables.items() if key[0] != oldest}

    def _recipe(self, hyperparameters: Hyperparameters) -> NodeRecipe:
        parameters = self._embedding.get_params(deep=False)
        parameters["n_dimensions"] = hyperparameters.n_dimensions
        parameters["wl_iterations"] = hyperparameters.wl_iterations
        if not self._anchored:
            parameters["use_node_labels"] = False
        return NodeRecipe.of_parameters(parameters)

    def _fitted_recipe(
        self, hyperparameters: Hyperparameters, fold: int, n_jobs: int | None
    ) -> NodeRecipe:
        """Return the recipe fitted to the training graphs of a fold, except for its scale."""
        recipe = self._recipe(hyperparameters)
        if not recipe.is_composed:
            return recipe
        key = (fold, hyperparameters.n_dimensions)
        if key not in self._blocks:
            train = self._graphs[self._training_sets[fold]]
            self._blocks[key] = recipe.fitted_to(train, n_jobs).blocks
        return recipe._replace(blocks=self._blocks[key])

    def _nodes(
        self, hyperparameters: Hyperparameters, recipe: NodeRecipe, n_jobs: int | None
    ) -> Nodes:
        """Return the nodes of all graphs, which stay where distances are computed."""
        recipe = recipe._replace(scale=1.0)
        if recipe.is_composed:  # those of every fold would not fit memory
            return self._backend.nodes(self._graphs, recipe, n_jobs=n_jobs)
        key = (hyperparameters.n_dimensions, hyperparameters.wl_iterations)
        if key not in self._embedded:
            self._embedded[key] = self._backend.nodes(self._graphs, recipe, n_jobs=n_jobs)
        return self._embedded[key]

    def _fit(
        self,
        hyperparameters: Hyperparameters,
        recipe: NodeRecipe,
        train: Indices,
        n_jobs: int | None,
    ) -> _Fit:
        blocks = digest_of(recipe.blocks)
        if self._anchored and recipe.is_on_scale:
            return _Fit(1.0, None, blocks)
        nodes = self._nodes(hyperparameters, recipe, n_jobs)
        places = ranges(nodes.offsets[train], nodes.node_counts[train])
        points, _ = nodes.nodes_at(places)
        extent = float(points.min()), float(points.max())
        scale = recipe.scaled_to(extent).scale
        if self._anchored:
            return _Fit(scale, None, blocks)
        # Rounded: folds whose ranges differ by rounding errors alone share distances.
        low, high = (float(f"{end / scale:.12g}") for end in extent)
        return _Fit(scale, (low, high), blocks)

    def _random_graphs(
        self,
        nodes: Nodes,
        fit: _Fit,
        hyperparameters: Hyperparameters,
        n_columns: int,
    ) -> NodeEmbeddings:
        most = hyperparameters.max_random_nodes
        if most is None:
            order, _ = self._whole_graphs
            return nodes.on_host(order[: self._n_drawn(n_columns, hyperparameters)])
        if self._anchored:
            return random_graphs_at(nodes, self._anchor_nodes(nodes, most, n_columns))
        assert fit.extent is not None
        rng = np.random.default_rng([self._seed, 1])
        return uniform_random_graphs(fit.extent, nodes.n_dimensions, n_columns, most, rng)

    def _anchor_nodes(self, nodes: Nodes, most: int, n_columns: int) -> list[Indices]:
        """Draw the nodes of all columns: the same nodes for every embedding and labelling."""
        if (most, n_columns) not in self._anchors:
            drawn = []
            width = self._n_drawn(n_columns, Hyperparameters(most, 0, 0))
            for number, graph in self._sources[:width]:
                rng = np.random.default_rng([self._seed, 1, number])
                size = rng.integers(1, most + 1)
                first, last = nodes.offsets[graph], nodes.offsets[graph + 1]
                drawn.append(anchor_nodes(rng, first, last, size))
            self._anchors[most, n_columns] = drawn
        return self._anchors[most, n_columns]

    def _n_drawn(self, n_columns: int, hyperparameters: Hyperparameters) -> int:
        """Return how many columns are needed for every fold to have its first ``n_columns``."""
        folds = range(len(self._training_sets))
        return max(int(self._columns(f, hyperparameters, n_columns)[-1]) for f in folds) + 1
