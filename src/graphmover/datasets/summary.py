"""Statistics of a collection of graphs, read batch by batch."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmover.embedding import RandomGraphEmbedding
from graphmover.graphs.adjacency import adjacency
from graphmover.graphs.arrays import DirectionWarning
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.dataset import Dataset
from graphmover.io.formats import iter_batches, with_progress
from graphmover.io.other_columns import other_columns
from graphmover.nodes.input_warnings import CARRIED, carries, unused_by
from graphmover.nodes.labels import label_codes
from graphmover.views import automatic_views, described, seen_by

_SHOWN_IDS = 3


@dataclass
class Spread:
    """Sum, minimum, maximum and mean of one number per graph."""

    total: int = 0
    least: int = 0
    most: int = 0
    mean: float = 0.0

    def add(self, values: NDArray[np.int64], n_before: int) -> None:
        """Add further values."""
        if not len(values):
            return
        least = int(values.min())
        self.least = min(least, self.least) if n_before else least
        self.most = max(self.most, int(values.max()))
        self.total += int(values.sum())
        self.mean = self.total / (n_before + len(values))


@dataclass
class Summary:
    """The result of `summarise`.

    Attributes
    ----------
    graphs : int
    nodes, edges, components : Spread
        Numbers per graph.
    node_labels : int
        How many different labels nodes have; 0: none.
    node_attributes : int
        Numbers per node.
    edge_weights : bool
        Whether any edge has a weight other than 1.
    edge_labels : int
        How many different labels edges have; 0: none.
    edge_attributes : int
        Numbers per edge.
    directed : bool
        Whether any graph had edges in only one direction.
    keeps_direction : bool
        Whether edge labels hold directions; otherwise such edges count in both.
    ids : int
        How many graphs have an id.
    first_ids : list of str or int
        A few of them.
    other_columns : list of str
        Columns or attributes of a file's graphs, beside id and target, that are not read.
    target : dict or None
        ``{"classes": {name: graphs}}``, the most frequent first; or for real values
        ``{"least": float, "most": float, "mean": float}``.
    node_histogram, degree_histogram : dict
        How many graphs have how many nodes, and how many nodes have how many neighbours.
    views : dict of str to str
        The views that `GraphVectorizer` chooses for the first batch, and what each sees.
    used : dict of str to list of str
        What the graphs carry, by the first batch, and the views that use it.
    unused_by_default : list of str
        What of this `RandomGraphEmbedding` does not use by default.
    """

    graphs: int = 0
    nodes: Spread = field(default_factory=Spread)
    edges: Spread = field(default_factory=Spread)
    components: Spread = field(default_factory=Spread)
    node_labels: int = 0
    node_attributes: int = 0
    edge_weights: bool = False
    edge_labels: int = 0
    edge_attributes: int = 0
    directed: bool = False
    keeps_direction: bool = False
    ids: int = 0
    first_ids: list[str | int] = field(default_factory=list)
    other_columns: list[str] = field(default_factory=list)
    target: dict[str, Any] | None = None
    node_histogram: dict[str, int] = field(default_factory=dict)
    degree_histogram: dict[str, int] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    used: dict[str, list[str]] = field(default_factory=dict)
    unused_by_default: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return a dictionary of plain values, for JSON."""
        return asdict(self)


def summarise(source: Any, *, progress: bool = False, **options: Any) -> Summary:
    """Summarise a collection of graphs.

    Parameters
    ----------
    source, options
        What `iter_batches` takes.
    progress : bool
        Show a progress bar on standard error.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.datasets.summary import summarise
    >>> summary = summarise([gm.Graph(3, [(0, 1)]), gm.Graph(2, [(0, 1)])])
    >>> summary.nodes.total, summary.components.most
    (5, 2)
    >>> summary.degree_histogram
    {'0': 1, '1': 4}
    """
    with _noting_directions() as directions:
        batches = iter_batches(source, **options)
        title = "reading graphs" if progress else None
        summary = _summarised(with_progress(batches, source, title), source)
    summary.directed |= bool(directions)
    chosen = {name: options.get(name) for name in ("target_column", "id_column")}
    summary.other_columns = other_columns(source, **chosen)
    return summary


@contextmanager
def _noting_directions() -> Iterator[list[warnings.WarningMessage]]:
    """Collect the warnings of lost directions, and pass on all others."""
    directions: list[warnings.WarningMessage] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield directions
    for warning in caught:
        if issubclass(warning.category, DirectionWarning):
            directions.append(warning)
        else:
            warnings.warn(warning.message, stacklevel=4)


def _summarised(batches: Iterator[Dataset], source: Any) -> Summary:
    summary = Summary()
    node_labels: set[int] = set()
    edge_labels: set[int] = set()
    classes: Counter[str] = Counter()
    sizes: Counter[int] = Counter()
    degrees: Counter[int] = Counter()
    values: list[NDArray[np.float64]] = []
    for batch in batches:
        graphs = batch.graphs
        if not summary.graphs:
            views = automatic_views(graphs, n_components=1)
            summary.views = {view.name: described(view, graphs) for view in views}
            summary.used = {
                what: [view.name for view in views if what in seen_by(view, graphs)]
                for what in CARRIED
                if carries(graphs, what)
            }
            summary.unused_by_default = unused_by(RandomGraphEmbedding().get_params(), graphs)
        summary.nodes.add(graphs.node_counts, summary.graphs)
        summary.edges.add(graphs.edge_counts, summary.graphs)
        summary.components.add(_component_counts(graphs), summary.graphs)
        summary.graphs += len(graphs)
        if graphs.ids is not None:
            named = [value for value in graphs.ids.tolist() if value is not None]
            summary.ids += len(named)
            summary.first_ids += named[: _SHOWN_IDS - len(summary.first_ids)]
        directions = graphs.directions
        if directions is not None and (directions != 3).any():
            summary.directed = summary.keeps_direction = True
        summary.edge_weights |= graphs.edge_weights is not None
        node_labels |= _distinct(graphs.node_labels)
        edge_labels |= _distinct(graphs.edge_labels)
        if graphs.node_attributes is not None:
            summary.node_attributes = graphs.node_attributes.shape[1]
        if graphs.edge_attributes is not None:
            summary.edge_attributes = graphs.edge_attributes.shape[1]
        _count(sizes, graphs.node_counts)
        _count(degrees, np.diff(graphs.indptr))
        if batch.target is not None and len(batch.target):
            kind, n_axes = batch.target.dtype.kind, batch.target.ndim
            if kind == "f" or (kind in "iu" and n_axes > 1):
                values.append(batch.target[np.isfinite(batch.target)])
            else:
                classes.update(map(str, batch.target.tolist()))
    if not summary.graphs:
        raise ValueError(f"{source} holds no graphs")
    summary.node_labels, summary.edge_labels = len(node_labels), len(edge_labels)
    summary.node_histogram, summary.degree_histogram = _ranges(sizes), _ranges(degrees)
    if classes:
        summary.target = {"classes": dict(sorted(classes.items(), key=_by_count_and_name))}
    elif sum(map(len, values)):
        summary.target = _spread_of(np.concatenate(values))
    return summary


def _by_count_and_name(class_and_count: tuple[str, int]) -> tuple[int, float, str]:
    """Sort the most frequent first, and equally frequent ones by number or name."""
    name, count = class_and_count
    is_number = name.lstrip("-").isdecimal()
    return -count, float(name) if is_number else math.inf, name


def _distinct(labels: NDArray[Any] | None) -> set[int]:
    return set() if labels is None else set(np.unique(label_codes(labels)).tolist())


def _spread_of(values: NDArray[np.float64]) -> dict[str, float]:
    return {
        "least": float(values.min()),
        "most": float(values.max()),
        "mean": float(values.mean()),
    }


def _component_counts(graphs: GraphBatch) -> NDArray[np.int64]:
    from scipy.sparse.csgraph import connected_components

    _, component_of_node = connected_components(adjacency(graphs), directed=False)
    _, first_nodes = np.unique(component_of_node, return_index=True)
    graph_of_node = np.repeat(np.arange(len(graphs)), graphs.node_counts)
    return np.bincount(graph_of_node[first_nodes], minlength=len(graphs))


def _count(counter: Counter[int], values: NDArray[np.int64]) -> None:
    """Count values by the power of two at or below them; 0 has its own bin."""
    powers = np.frexp(values.astype(np.float64))[1]
    for power, count in enumerate(np.bincount(powers).tolist()):
        if count:
            counter[power] += count


def _ranges(counter: Counter[int]) -> dict[str, int]:
    """Name the ranges: 0, 1, 2-3, 4-7, ..."""
    named = {}
    for power in range(min(counter, default=0), max(counter, default=-1) + 1):
        low, high = (0, 0) if power == 0 else (2 ** (power - 1), 2**power - 1)
        named[str(low) if low == high else f"{low}-{high}"] = counter[power]
    return named
